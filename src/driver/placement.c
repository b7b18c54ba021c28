/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.c - where a model could run: bounds, room, machines and money.
 *
 * A model is looked at once per batch; each machine's roofline then bounds
 * every layer.  Nothing here is a prediction: a real engine is slower, and
 * the reports say so.
 */
#include "base/arena.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "machine/hardware.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum {
	N_BATCHES = 11,       /* 1, 2, 4 ... 1024 times the batch asked for */
	HOURS_PER_MONTH = 730 /* 8760 / 12 */
};

struct layer_work {
	const char *name; /* of the first look alone; else NULL */
	double operations, n_bytes;
	enum sl_dtype dtype;
};

/* The model at one batch. */
struct look {
	int64_t batch;
	struct layer_work *layers;
	size_t n_layers;
	double once_bytes; /* weights, inputs and outputs */
	double needs_bytes;
	size_t n_unknown_values, n_unknown_nodes;
	double train_flops, train_bytes;
	enum sl_dtype main_dtype; /* of most operations */
};

struct placement {
	const struct sl_graph *graph;
	const struct sl_hardware_options *how;
	struct sl__arena *arena;
	struct look looks[N_BATCHES];
	size_t n_looks;
	const char *limit; /* why there are no more */
};

static int
take_layer(struct placement *p, struct look *look, const struct sl_layer *layer,
	   double *by_dtype)
{
	const struct sl_cost *c = &layer->cost;
	struct layer_work *work = &look->layers[look->n_layers++];

	work->operations = (double)sl_cost_operations(c);
	work->n_bytes = (double)c->weight_bytes + (double)c->read_bytes +
			(double)c->written_bytes;
	work->dtype = layer->dtype;
	if ((unsigned)layer->dtype < SL_N_DTYPES)
		by_dtype[layer->dtype] += work->operations;
	if (p->n_looks)
		return 1;
	work->name = sl__arena_string(p->arena, layer->name);
	return work->name != NULL;
}

static enum sl_status
take_look(struct placement *p, struct look *look,
	  const struct sl_inspection *seen, struct sl_error *err)
{
	enum sl_optimizer optimizer = p->how->optimizer ? p->how->optimizer
							: SL_OPTIMIZER_ADAM;
	double by_dtype[SL_N_DTYPES] = {0};

	look->layers = sl__arena_array(p->arena, seen->n_layers,
				       sizeof(*look->layers));
	if (!look->layers)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < seen->n_layers; i++) {
		if (!take_layer(p, look, &seen->layers[i], by_dtype))
			return sl__fail_nomem(err);
	}
	look->main_dtype = SL_DTYPE_F32;
	for (int d = 0; d < SL_N_DTYPES; d++) {
		if (by_dtype[d] > by_dtype[look->main_dtype])
			look->main_dtype = (enum sl_dtype)d;
	}
	look->batch = seen->batch;
	look->once_bytes = (double)seen->memory.once_bytes;
	look->needs_bytes = (double)seen->memory.parameter_bytes +
			    (double)seen->memory.live_bytes;
	look->n_unknown_values = seen->memory.n_unknown;
	look->n_unknown_nodes = (size_t)seen->coverage.unknown.n_nodes;
	look->train_flops = (double)seen->training.total_flops;
	look->train_bytes = (double)seen->training.peak_bytes[optimizer];
	return SL_OK;
}

/* Looks at 'factor' times the batch asked for (0: as asked). */
static enum sl_status
look_at(struct placement *p, int64_t factor, struct sl_error *err)
{
	static const struct sl_sizes usual = {.struct_size = sizeof(usual)};
	struct sl_sizes sizes = p->how->sizes ? *p->how->sizes : usual;
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .sizes = &sizes,
					 .brief = 1,
					 .allocator = p->how->allocator};
	struct sl_inspection *seen;
	enum sl_status rc;

	if (factor)
		sizes.batch = p->looks[0].batch * factor;
	rc = sl_inspect(&seen, p->graph, &how, err);
	if (rc)
		return rc;
	rc = take_look(p, &p->looks[p->n_looks], seen, err);
	sl_inspection_free(seen);
	p->n_looks += !rc;
	return rc;
}

/* A model may fix its batch, or take no more than so many: the looking ends
 * there, and why is remembered. */
static enum sl_status
look_at_batches(struct placement *p, struct sl_error *err)
{
	enum sl_status rc = look_at(p, 0, err);

	for (int i = 1; !rc && i < N_BATCHES; i++) {
		struct sl_error limit;

		if (p->looks[0].batch > INT64_MAX >> i)
			return SL_OK;
		rc = look_at(p, INT64_C(1) << i, &limit);
		if (rc == SL_E_DATA) {
			return sl__arena_copy_text(p->arena, &p->limit,
						   limit.text, err);
		}
		if (rc && err)
			*err = limit;
	}
	return rc;
}

/* Seconds of arithmetic of one layer; nothing where the machine has no figure
 * for its type, so that a bound stays one. */
static double
arithmetic_of(const struct sl_hardware *h, const struct layer_work *w)
{
	enum sl_dtype used = sl__hardware_compute_dtype(h, w->dtype);

	return used ? w->operations / h->peak_ops_per_s[used] : 0;
}

/* Seconds of one batch, layer by layer; NaN where the machine does not compute
 * in the type that the model is in. */
static double
bound_of(const struct sl_hardware *h, const struct look *look,
	 double *compute_share)
{
	double total = 0, by_compute = 0;

	if (!sl__hardware_compute_dtype(h, look->main_dtype))
		total = (double)NAN;
	for (size_t i = 0; i < look->n_layers; i++) {
		double arithmetic = arithmetic_of(h, &look->layers[i]);
		double traffic =
			look->layers[i].n_bytes / h->bandwidth_bytes_per_s;

		total += fmax(arithmetic, traffic);
		if (arithmetic >= traffic)
			by_compute += arithmetic;
	}
	if (compute_share)
		*compute_share = total > 0 ? by_compute / total : (double)NAN;
	return total;
}

static double
floor_of(const struct sl_hardware *h, const struct look *look)
{
	double arithmetic = 0;

	if (!sl__hardware_compute_dtype(h, look->main_dtype))
		return (double)NAN;
	for (size_t i = 0; i < look->n_layers; i++)
		arithmetic += arithmetic_of(h, &look->layers[i]);
	return fmax(arithmetic, look->once_bytes / h->bandwidth_bytes_per_s);
}

/* The layers of the first look, one by one. */
static enum sl_status
list_operations(const struct placement *p, struct sl_hardware_row *row,
		struct sl_error *err)
{
	const struct look *look = &p->looks[0];
	const struct sl_hardware *h = row->hardware;
	struct sl_hardware_operation *rows =
		sl__arena_array(p->arena, look->n_layers, sizeof(*rows));

	if (!rows)
		return sl__fail_nomem(err);
	row->operations = rows;
	for (size_t i = 0; row->dtype && i < look->n_layers; i++) {
		double arithmetic = arithmetic_of(h, &look->layers[i]);
		double traffic =
			look->layers[i].n_bytes / h->bandwidth_bytes_per_s;

		if (!(fmax(arithmetic, traffic) > 0))
			continue;
		rows[row->n_operations].name = look->layers[i].name;
		rows[row->n_operations].bound_s = fmax(arithmetic, traffic);
		rows[row->n_operations].is_compute = arithmetic >= traffic;
		row->n_operations++;
	}
	return SL_OK;
}

/* 1, 0, or -1 where that is not known: *why says so. */
static int
has_room(const struct sl_hardware *h, const struct look *look, double n_bytes,
	 const char **why)
{
	*why = NULL;
	if (h->memory_bytes <= 0)
		*why = "its memory is not given";
	else if (n_bytes > h->memory_bytes)
		return 0;
	else if (look->n_unknown_values)
		*why = "the size of some values is not known";
	return *why ? -1 : 1;
}

static int
may_run(const struct sl_hardware *h, const struct look *look)
{
	const char *why;

	return has_room(h, look, look->needs_bytes, &why) != 0;
}

/* How one batch would hold the rate; n_machines 0 when it does not. */
struct service {
	double bound_s, wait_s, n_machines, cost;
};

static struct service
serve(const struct placement *p, const struct sl_hardware *h,
      const struct look *look)
{
	double rate = p->how->rate_per_s, b = (double)look->batch;
	struct service s = {.bound_s = bound_of(h, look, NULL)};

	if (!may_run(h, look) || isnan(s.bound_s))
		return s;
	s.n_machines = rate > 0 ? fmax(1, ceil(rate * s.bound_s / b)) : 1;
	s.wait_s = rate > 0 ? (b - 1) * s.n_machines / rate : 0;
	if (p->how->latency_s > 0 && s.bound_s + s.wait_s > p->how->latency_s)
		s.n_machines = 0;
	/* Without a price the number of machines stands for it. */
	s.cost = s.n_machines *
		 (isnan(h->price_per_hour) ? 1 : h->price_per_hour);
	/* Without a rate the cheapest sample wins. */
	if (rate <= 0)
		s.cost *= s.bound_s / b;
	return s;
}

static void
find_service(const struct placement *p, struct sl_hardware_row *row)
{
	double least = (double)INFINITY;

	for (size_t i = 0; i < p->n_looks; i++) {
		struct service s = serve(p, row->hardware, &p->looks[i]);

		if (s.n_machines < 1 || s.cost >= least)
			continue;
		least = s.cost;
		row->best_batch = p->looks[i].batch;
		row->best_bound_s = s.bound_s;
		row->best_wait_s = s.wait_s;
		row->n_machines = s.n_machines;
		row->best_per_million = row->hardware->price_per_hour / 3600 *
					s.bound_s / (double)p->looks[i].batch *
					1e6;
	}
	if (row->best_batch && p->how->rate_per_s > 0)
		row->cost_per_month = row->n_machines *
				      row->hardware->price_per_hour *
				      HOURS_PER_MONTH;
}

static void
find_training(const struct placement *p, struct sl_hardware_row *row)
{
	const struct look *look = &p->looks[0];
	const struct sl_hardware *h = row->hardware;
	double epochs = p->how->n_epochs > 0 ? p->how->n_epochs : 1;
	double n_steps = p->how->n_samples * epochs / (double)look->batch;
	const char *why;

	row->train_bytes = look->train_bytes;
	row->train_fits = has_room(h, look, look->train_bytes, &why);
	if (row->dtype)
		row->train_hours = n_steps * look->train_flops /
				   h->peak_ops_per_s[row->dtype] / 3600;
	if (row->train_fits)
		row->train_cost = row->train_hours * h->price_per_hour;
}

static enum sl_status
fill_row(const struct placement *p, struct sl_hardware_row *row,
	 const struct sl_hardware *h, struct sl_error *err)
{
	const struct look *look = &p->looks[0];

	row->hardware = h;
	row->dtype_model = look->main_dtype;
	row->dtype = sl__hardware_compute_dtype(h, look->main_dtype);
	if (!row->dtype) {
		row->no_bound =
			sl__arena_format(p->arena, "it does not compute in %s",
					 sl_dtype_text(row->dtype_model));
		if (!row->no_bound)
			return sl__fail_nomem(err);
	}
	row->bound_s = bound_of(h, look, &row->compute_share);
	row->floor_s = floor_of(h, look);
	row->needs_bytes = look->needs_bytes;
	row->fits = has_room(h, look, look->needs_bytes, &row->fits_absent);
	row->cost_per_million = row->fits ? h->price_per_hour / 3600 *
						    row->bound_s /
						    (double)look->batch * 1e6
					  : (double)NAN;
	row->n_machines = row->cost_per_month = row->best_per_million =
		row->train_hours = row->train_cost = (double)NAN;
	if (p->how->rate_per_s > 0 || p->how->latency_s > 0)
		find_service(p, row);
	if (p->how->n_samples > 0)
		find_training(p, row);
	return list_operations(p, row, err);
}

/* The machine of a kind on which a sample costs least (takes least, where a
 * price is missing); NULL: none of that kind has room. */
static const struct sl_hardware *
best_of_kind(const struct sl_hardware *const *hardware, size_t n,
	     const char *kind, const struct look *look, int by_price,
	     double *least)
{
	const struct sl_hardware *best = NULL;

	*least = (double)INFINITY;
	for (size_t i = 0; i < n; i++) {
		const struct sl_hardware *h = hardware[i];
		double cost;

		if (strcmp(h->kind, kind) || !may_run(h, look) ||
		    (by_price && isnan(h->price_per_hour)))
			continue;
		cost = bound_of(h, look, NULL) *
		       (by_price ? h->price_per_hour : 1);
		if (cost < *least) {
			*least = cost;
			best = h;
		}
	}
	return best;
}

/* Whether the best GPU beats the best CPU at one batch; -1: there are not
 * both. */
static int
compare_kinds(const struct look *look,
	      const struct sl_hardware *const *hardware, size_t n, int by_price,
	      const struct sl_hardware **best)
{
	double cpu_cost, gpu_cost;

	best[0] = best_of_kind(hardware, n, "cpu", look, by_price, &cpu_cost);
	best[1] = best_of_kind(hardware, n, "gpu", look, by_price, &gpu_cost);
	return best[0] && best[1] ? gpu_cost < cpu_cost : -1;
}

/* At which batches the best GPU beats the best CPU: from one on, or not at all
 * larger ones that were looked at. */
static struct sl_fact
find_crossing(const struct placement *p,
	      const struct sl_hardware *const *hardware, size_t n, int by_price)
{
	const struct sl_hardware *last[2] = {NULL, NULL}, *first[2] = {0};
	int64_t from = 0, to = 0;
	int is_steady = 1;

	for (size_t i = 0; i < p->n_looks; i++) {
		const struct sl_hardware *best[2];
		int wins = compare_kinds(&p->looks[i], hardware, n, by_price,
					 best);

		if (wins < 0)
			break;
		to = p->looks[i].batch;
		memcpy(last, best, sizeof(last));
		if (wins && !from) {
			from = to;
			memcpy(first, best, sizeof(first));
		}
		is_steady = is_steady && (wins || !from);
	}
	if (!to)
		return (struct sl_fact){.kind = SL_FACT_NONE};
	if (!from)
		return (struct sl_fact){SL_FACT_CPU_WINS,
					{by_price, (double)to},
					{last[0]->id, last[1]->id}};
	if (is_steady && to > from)
		return (struct sl_fact){SL_FACT_GPU_FROM,
					{by_price, (double)from, (double)to},
					{first[1]->id, first[0]->id}};
	return (struct sl_fact){SL_FACT_GPU_AT,
				{by_price, (double)from, is_steady},
				{first[1]->id, first[0]->id}};
}

static void
find_cheapest(struct sl_hardware_report *report)
{
	double least = (double)INFINITY;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct sl_hardware_row *row = &report->rows[i];
		double cost = report->rate_per_s > 0 ? row->cost_per_month
						     : row->best_per_million;

		if (row->best_batch && cost < least) {
			least = cost;
			report->cheapest = row->hardware->id;
		}
	}
}

static void
note_question(struct sl_hardware_report *report,
	      const struct sl_hardware_options *how)
{
	report->rate_per_s = how->rate_per_s;
	report->latency_s = how->latency_s;
	report->n_samples = how->n_samples;
	report->n_epochs = how->n_epochs > 0 ? how->n_epochs : 1;
	report->optimizer = how->optimizer ? how->optimizer : SL_OPTIMIZER_ADAM;
	report->hours_per_month = HOURS_PER_MONTH;
}

/* 0: has room; 1: has none; 2: has no bound. */
static int
class_of(const struct sl_hardware_row *row)
{
	return isnan(row->bound_s) ? 2 : !row->fits;
}

static int
compare_bounds(const void *a, const void *b)
{
	const struct sl_hardware_row *x = a, *y = b;

	if (class_of(x) != class_of(y))
		return class_of(x) - class_of(y);
	if (x->bound_s < y->bound_s || x->bound_s > y->bound_s)
		return x->bound_s < y->bound_s ? -1 : 1;
	return strcmp(x->hardware->id, y->hardware->id);
}

static enum sl_status
place(struct placement *p, struct sl_hardware_report *report,
      const struct sl_hardware *const *hardware, size_t n, struct sl_error *err)
{
	struct sl_hardware_row *rows =
		sl__arena_array(p->arena, n, sizeof(*rows));
	enum sl_status rc;

	if (!rows)
		return sl__fail_nomem(err);
	rc = look_at_batches(p, err);
	for (size_t i = 0; !rc && i < n; i++)
		rc = fill_row(p, &rows[i], hardware[i], err);
	if (rc)
		return rc;
	qsort(rows, n, sizeof(*rows), compare_bounds);
	note_question(report, p->how);
	report->rows = rows;
	report->n_rows = n;
	report->batch = p->looks[0].batch;
	report->largest_batch = p->looks[p->n_looks - 1].batch;
	report->batch_limit = p->limit;
	report->n_unknown_nodes = p->looks[0].n_unknown_nodes;
	report->n_unknown_values = p->looks[0].n_unknown_values;
	find_cheapest(report);
	report->crossing = find_crossing(p, hardware, n, 1);
	if (!report->crossing.kind)
		report->crossing = find_crossing(p, hardware, n, 0);
	return SL_OK;
}

enum sl_status
sl_hardware_report(struct sl_hardware_report **out,
		   const struct sl_graph *graph,
		   const struct sl_hardware *const *hardware, size_t n,
		   const struct sl_hardware_options *options,
		   struct sl_error *err)
{
	struct sl_hardware_options how;
	struct sl_sizes sizes;
	struct placement p = {graph, &how, NULL, {{0}}, 0, NULL};
	struct sl_hardware_report *report;
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_hardware_options", err);

	*out = NULL;
	if (!rc)
		rc = sl__sizes_copy(&sizes, &how.sizes, err);
	if (rc)
		return rc;
	report = sl__arena_object_new(&p.arena, how.allocator, sizeof(*report));
	if (!report)
		return sl__fail_nomem(err);
	rc = place(&p, report, hardware, n, err);
	*out = sl__arena_object_free_on_error(report, rc);
	return rc;
}

void
sl_hardware_report_free(struct sl_hardware_report *report)
{
	sl__arena_object_free(report);
}
