/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.c - where a model could run: bounds, room, machines and money.
 *
 * A model is looked at once per batch; each machine's roofline then bounds
 * every layer.  Nothing here is a prediction: a real engine is slower, and
 * the reports say so.
 */
#include "arena.h"
#include "hardware.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

enum {
	N_BATCHES = 11,       /* 1, 2, 4 ... 1024 times the batch asked for */
	HOURS_PER_MONTH = 730 /* 8760 / 12 */
};

struct layer_work {
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
	double train_flops, train_bytes;
	enum sl_dtype main_dtype; /* of most operations */
};

struct placement {
	const struct sl_graph *graph;
	const struct sl_hardware_options *how;
	struct sl__arena *arena;
	struct look looks[N_BATCHES];
	size_t n_looks;
};

/* ---------------------------------------------------------------- looking */

static void
take_layer(struct look *look, const struct sl_layer *layer, double *by_dtype)
{
	const struct sl_cost *c = &layer->cost;
	struct layer_work *work = &look->layers[look->n_layers++];

	work->operations = (double)sl_cost_operations(c);
	work->n_bytes = (double)c->weight_bytes + (double)c->read_bytes +
			(double)c->written_bytes;
	work->dtype = layer->dtype;
	if ((unsigned)layer->dtype < SL_N_DTYPES)
		by_dtype[layer->dtype] += work->operations;
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
	for (size_t i = 0; i < seen->n_layers; i++)
		take_layer(look, &seen->layers[i], by_dtype);
	look->main_dtype = SL_DTYPE_F32;
	for (int d = 0; d < SL_N_DTYPES; d++) {
		if (by_dtype[d] > by_dtype[look->main_dtype])
			look->main_dtype = (enum sl_dtype)d;
	}
	look->batch = seen->batch;
	look->once_bytes = (double)seen->memory.parameter_bytes +
			   (double)seen->memory.interface_bytes;
	look->needs_bytes = (double)seen->memory.parameter_bytes +
			    (double)seen->memory.live_bytes;
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
		sizes.batch = (sizes.batch ? sizes.batch : 1) * factor;
	rc = sl_inspect(&seen, p->graph, &how, err);
	if (rc)
		return rc;
	rc = take_look(p, &p->looks[p->n_looks], seen, err);
	sl_inspection_free(seen);
	p->n_looks += !rc;
	return rc;
}

/* A model whose batch is fixed is looked at once. */
static enum sl_status
look_at_batches(struct placement *p, struct sl_error *err)
{
	enum sl_status rc = look_at(p, 0, err);

	for (int i = 1; !rc && i < N_BATCHES; i++) {
		struct sl_error fixed;

		rc = look_at(p, INT64_C(1) << i, &fixed);
		if (rc == SL_E_DATA)
			return SL_OK;
		if (rc && err)
			*err = fixed;
	}
	return rc;
}

/* --------------------------------------------------------------- bounding */

static double
peak_of(const struct sl_hardware *h, enum sl_dtype dtype)
{
	enum sl_dtype used = sl__hardware_dtype(h, dtype);

	return used ? h->peak_ops_per_s[used] : (double)NAN;
}

/* Seconds of one batch, layer by layer. */
static double
bound_of(const struct sl_hardware *h, const struct look *look,
	 double *compute_share)
{
	double total = 0, by_compute = 0;

	for (size_t i = 0; i < look->n_layers; i++) {
		const struct layer_work *w = &look->layers[i];
		double arithmetic = w->operations / peak_of(h, w->dtype);
		double traffic = w->n_bytes / h->bandwidth_bytes_per_s;

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

	for (size_t i = 0; i < look->n_layers; i++)
		arithmetic += look->layers[i].operations /
			      peak_of(h, look->layers[i].dtype);
	return fmax(arithmetic, look->once_bytes / h->bandwidth_bytes_per_s);
}

static int
has_room(const struct sl_hardware *h, double n_bytes)
{
	return h->memory_bytes <= 0 || n_bytes <= h->memory_bytes;
}

/* ------------------------------------------------------- rate and latency */

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

	if (!has_room(h, look->needs_bytes))
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
	}
	if (row->best_batch && p->how->rate_per_s > 0)
		row->cost_per_month = row->n_machines *
				      row->hardware->price_per_hour *
				      HOURS_PER_MONTH;
}

/* --------------------------------------------------------------- training */

static void
find_training(const struct placement *p, struct sl_hardware_row *row)
{
	const struct look *look = &p->looks[0];
	const struct sl_hardware *h = row->hardware;
	double epochs = p->how->n_epochs > 0 ? p->how->n_epochs : 1;
	double n_steps = p->how->n_samples * epochs / (double)look->batch;

	row->train_bytes = look->train_bytes;
	row->train_fits = has_room(h, look->train_bytes);
	row->train_hours = n_steps * look->train_flops /
			   peak_of(h, look->main_dtype) / 3600;
	row->train_cost = row->train_hours * h->price_per_hour;
}

static void
fill_row(const struct placement *p, struct sl_hardware_row *row,
	 const struct sl_hardware *h)
{
	const struct look *look = &p->looks[0];

	row->hardware = h;
	row->dtype = sl__hardware_dtype(h, look->main_dtype);
	row->bound_s = bound_of(h, look, &row->compute_share);
	row->floor_s = floor_of(h, look);
	row->needs_bytes = look->needs_bytes;
	row->fits = has_room(h, look->needs_bytes);
	row->cost_per_million = h->price_per_hour / 3600 * row->bound_s /
				(double)look->batch * 1e6;
	row->n_machines = row->cost_per_month = row->train_hours =
		row->train_cost = (double)NAN;
	if (p->how->rate_per_s > 0 || p->how->latency_s > 0)
		find_service(p, row);
	if (p->how->n_samples > 0)
		find_training(p, row);
}

/* --------------------------------------------------------------- crossing */

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

		if (strcmp(h->kind, kind) || !has_room(h, look->needs_bytes) ||
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

/* From which batch on the best GPU beats the best CPU. */
static const char *
find_crossing(const struct placement *p,
	      const struct sl_hardware *const *hardware, size_t n, int by_price)
{
	const struct sl_hardware *cpu = NULL, *gpu = NULL;
	const char *less = by_price ? "costs less a sample" : "can be faster";
	double cpu_cost, gpu_cost;

	for (size_t i = 0; i < p->n_looks; i++) {
		const struct look *look = &p->looks[i];

		cpu = best_of_kind(hardware, n, "cpu", look, by_price,
				   &cpu_cost);
		gpu = best_of_kind(hardware, n, "gpu", look, by_price,
				   &gpu_cost);
		if (!cpu || !gpu)
			return NULL;
		if (gpu_cost < cpu_cost)
			return sl__arena_format(
				p->arena,
				"%s (GPU) %s than %s (CPU) from batch %lld on.",
				gpu->id, less, cpu->id, (long long)look->batch);
	}
	if (!cpu || !gpu)
		return NULL;
	return sl__arena_format(p->arena,
				"%s (CPU) %s than %s (GPU) up to batch %lld.",
				cpu->id, less, gpu->id,
				(long long)p->looks[p->n_looks - 1].batch);
}

static void
find_cheapest(struct sl_hardware_report *report)
{
	double least = (double)INFINITY;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct sl_hardware_row *row = &report->rows[i];

		if (row->best_batch && row->cost_per_month < least) {
			least = row->cost_per_month;
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

static int
compare_bounds(const void *a, const void *b)
{
	const struct sl_hardware_row *x = a, *y = b;

	if (x->bound_s != y->bound_s)
		return x->bound_s < y->bound_s ? -1 : 1;
	return strcmp(x->hardware->id, y->hardware->id);
}

static enum sl_status
place(struct placement *p, struct sl_hardware_report *report,
      const struct sl_hardware *const *hardware, size_t n, struct sl_error *err)
{
	struct sl_hardware_row *rows =
		sl__arena_array(p->arena, n, sizeof(*rows));
	enum sl_status rc = rows ? look_at_batches(p, err)
				 : sl__fail_nomem(err);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		fill_row(p, &rows[i], hardware[i]);
	qsort(rows, n, sizeof(*rows), compare_bounds);
	note_question(report, p->how);
	report->rows = rows;
	report->n_rows = n;
	report->batch = p->looks[0].batch;
	find_cheapest(report);
	report->crossing = find_crossing(p, hardware, n, 1);
	if (!report->crossing)
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
	static const struct sl_hardware_options usual = {.struct_size =
								 sizeof(usual)};
	struct placement p = {
		graph, options ? options : &usual, NULL, {{0}}, 0};
	struct sl_hardware_report *report;
	enum sl_status rc;

	*out = NULL;
	if (p.how->struct_size != sizeof(*p.how))
		return sl__fail(err, SL_E_USAGE,
				"options of another version of the library");
	report = sl__boxed_new(&p.arena, p.how->allocator, sizeof(*report));
	if (!report)
		return sl__fail_nomem(err);
	rc = place(&p, report, hardware, n, err);
	if (rc) {
		sl__boxed_free(report);
		return rc;
	}
	*out = report;
	return SL_OK;
}

void
sl_hardware_report_free(struct sl_hardware_report *report)
{
	sl__boxed_free(report);
}
