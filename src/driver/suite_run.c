/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite_run.c - a described set of benchmarks, run as one experiment.
 *
 * A repetition plans all cells anew and runs rounds of them in random order
 * (src/experiment/suite_rounds.c); cells that do not fit into the memory
 * together run in batches.  The figure of a repetition is a median over rounds,
 * that of a cell the median over repetitions.  These go on for a while, because
 * what changes a figure most (the clock of a shared machine, which CPUs a
 * hypervisor gives) lasts for seconds: processes of their own would see no more
 * of it.  The interval says where another run would come out
 * (src/stats/another_run.h).  suite_record.c keeps what is finished, so that a
 * suite that was killed goes on where it was.
 */
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/pages.h"
#include "base/reading.h"
#include "base/status.h"
#include "driver/suite_cells.h"
#include "machine/platform.h"
#include "sleuth/inspecting.h"
#include "stats/another_run.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	MULTI_SAMPLES = 8,           /* of a query, as in MLPerf */
	OFFLINE_SAMPLES = 16,        /* as `load` has it */
	SPACER_LINES_MOST = 1 << 14, /* of 64 bytes */
	CELLS_MOST = 4096
};

static int
is_interrupted(const struct sl__suite_run *r)
{
	return r->how.interrupt && *r->how.interrupt;
}

static enum sl_status
take_options(struct sl__suite_run *r, const struct sl_suite_options *options,
	     struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(&r->how, sizeof(r->how), options,
					     "sl_suite_options", err);

	if (rc)
		return rc;
	if (!r->how.name)
		r->how.name = "suite";
	if (!r->how.memory_bytes)
		r->how.memory_bytes = sl__platform_free_bytes("") / 2;
	return SL_OK;
}

/* The model of that name, opened once. */
static enum sl_status
find_model(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	   struct sl_error *err)
{
	const struct sl_graph_options how = {.struct_size = sizeof(how),
					     .seed = r->file.seed,
					     .allocator = r->how.allocator};
	struct sl__suite_model *m;
	struct sl_error why;
	enum sl_status rc;

	for (size_t i = 0; i < r->n_models; i++) {
		c->model = &r->models[i];
		if (strcmp(c->model->name, c->variant->model) == 0)
			return SL_OK;
	}
	m = c->model = &r->models[r->n_models++];
	m->name = c->variant->model;
	rc = sl_graph_open(&m->graph, m->name, &how, &why);
	if (rc == SL_E_NOMEM)
		return sl__fail_nomem(err);
	return rc ? sl__arena_copy_text(r->arena, &m->failed, why.text, err)
		  : SL_OK;
}

static int64_t
samples_of_query(const struct sl__suite_section *s, enum sl_scenario scenario)
{
	if (s->batch > 0)
		return (int64_t)s->batch;
	return scenario == SL_SCENARIO_MULTI     ? MULTI_SAMPLES
	       : scenario == SL_SCENARIO_OFFLINE ? OFFLINE_SAMPLES
						 : 1;
}

static enum sl_status
make_columns(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	     struct sl_error *err)
{
	size_t n = r->n_most;
	double *x = sl__arena_array(&r->scratch, n, 3 * sizeof(*x));

	if (!x)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < 3 * n; i++)
		x[i] = (double)NAN;
	c->ns = x;
	c->ratios = x + n;
	c->joules = x + 2 * n;
	return SL_OK;
}

static enum sl_status
describe_cell(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	      enum sl_scenario scenario, struct sl_error *err)
{
	struct sl_suite_cell *out = c->out;
	const struct sl_graph *graph;
	enum sl_status rc = find_model(r, c, err);

	if (rc)
		return rc;
	graph = c->model->graph;
	out->scenario = scenario;
	out->batch = samples_of_query(c->section, scenario);
	out->dtype = SL_DTYPE_F32;
	out->failed = c->model->failed;
	out->time_ns = out->ratio = out->accuracy = sl__no_estimate();
	out->accuracy_absent = "no data is given";
	rc = sl__arena_copy_text(r->arena, &out->name, c->section->name, err);
	if (!rc)
		rc = sl__arena_copy_text(r->arena, &out->variant,
					 c->variant->name, err);
	if (!rc)
		rc = sl__arena_copy_text(r->arena, &out->model,
					 c->variant->model, err);
	if (!rc)
		rc = sl__arena_copy_text(r->arena, &out->source,
					 graph ? graph->source : "", err);
	return rc ? rc : make_columns(r, c, err);
}

/* A cell for each variant in each scenario of each section; the first of each
 * scenario is the baseline of the others. */
static enum sl_status
make_cells(struct sl__suite_run *r, struct sl_error *err)
{
	size_t n = 0, k = 0;
	struct sl_suite_cell *list;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < r->file.n_sections; i++)
		n += r->file.sections[i].n_variants *
		     r->file.sections[i].n_scenarios;
	if (n > CELLS_MOST)
		return sl__fail(err, SL_E_DATA, "%zu cells: at most %d", n,
				(int)CELLS_MOST);
	list = sl__arena_array(r->arena, n, sizeof(*list));
	r->cells = sl__arena_array(&r->scratch, n, sizeof(*r->cells));
	r->models = sl__arena_array(&r->scratch, n, sizeof(*r->models));
	if (!list || !r->cells || !r->models)
		return sl__fail_nomem(err);
	r->out->cells = list;
	r->out->n_cells = r->n_cells = n;
	for (size_t i = 0; i < r->file.n_sections; i++) {
		const struct sl__suite_section *s = &r->file.sections[i];
		size_t first = k;

		for (size_t j = 0; j < s->n_scenarios; j++) {
			for (size_t v = 0; !rc && v < s->n_variants; v++, k++) {
				struct sl__suite_run_cell *c = &r->cells[k];

				c->section = s;
				c->variant = &s->variants[v];
				c->out = &list[k];
				c->first = first + v;
				list[k].baseline = k - v;
				rc = describe_cell(r, c, s->scenarios[j], err);
			}
		}
	}
	return rc;
}

/* A failure stays with its cell. */
static enum sl_status
note_failure(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	     const struct sl_error *why, struct sl_error *err)
{
	if (why->status == SL_E_INTERRUPTED && is_interrupted(r))
		return SL_OK;
	return sl__arena_copy_text(r->arena, &c->out->failed, why->text, err);
}

/* How the model is run, and what it became. */
static const struct sl_graph *
make_plan_options(struct sl__suite_run *r, struct sl__suite_run_cell *c,
		  struct sl_plan_options *plan)
{
	const struct sl_variant *v = r->cells[c->first].changed;

	*plan = v ? v->plan
		  : (struct sl_plan_options){.struct_size = sizeof(*plan),
					     .n_threads =
						     (int)c->section->threads};
	plan->interrupt = r->how.interrupt;
	plan->allocator = r->how.allocator;
	plan->sizes = NULL;
	sl__shared_tuning_cache_use(&r->choices, plan);
	return v ? v->graph : c->model->graph;
}

/* What does not change from repetition to repetition. */
static enum sl_status
describe_plan(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	      struct sl_error *err)
{
	const struct sl_inspect_options how = {.struct_size = sizeof(how),
					       .brief = 1,
					       .sizes = &c->subject.sizes};
	const struct sl_plan *plan = c->subject.plan;
	struct sl_suite_cell *out = c->out;
	struct sl_plan_memory memory;
	struct sl_inspection *model;
	enum sl_status rc;

	if (out->choices)
		return SL_OK;
	sl_plan_memory(plan, &memory);
	out->memory_bytes = memory.planned_bytes + memory.weight_bytes +
			    memory.mapped_bytes;
	out->n_threads = sl_plan_n_threads(plan);
	out->dtype = plan->options.dtype ? plan->options.dtype : SL_DTYPE_F32;
	out->choices = sl__plan_choices_hash(plan, r->arena);
	if (!out->choices)
		return sl__fail_nomem(err);
	rc = sl_inspect(&model, c->subject.graph, &how, err);
	if (rc)
		return rc;
	out->batch = model->batch;
	out->size_bytes = model->parameters.n_bytes;
	sl_inspection_free(model);
	return SL_OK;
}

static enum sl_status
open_cell(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	  struct sl_error *err)
{
	struct sl_plan_options plan;
	struct sl__subject_model_options how = {.plan = &plan,
						.folder = c->section->inputs,
						.seed = r->file.seed,
						.interrupt = r->how.interrupt};
	const struct sl_graph *graph = make_plan_options(r, c, &plan);
	const struct sl_variant *v = r->cells[c->first].changed;
	struct sl_error why = {0};
	int64_t batch = samples_of_query(c->section, c->out->scenario);

	if (v && v->sizes.batch > 0)
		batch = v->sizes.batch;
	c->sizes = (struct sl_sizes){.struct_size = sizeof(c->sizes),
				     .batch = batch > 1 ? batch : 0,
				     .seq = (int64_t)c->section->seq,
				     .inputs_folder = c->section->inputs};
	plan.sizes = &c->sizes;
	if (sl__subject_model_open(&c->subject, graph, &how, &why))
		return note_failure(r, c, &why, err);
	return describe_plan(r, c, err);
}

static void
close_cells(struct sl__suite_run *r)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		sl__subject_model_close(&r->cells[i].subject);
		r->cells[i].arm = NULL;
	}
}

static int
is_to_run(const struct sl__suite_run_cell *c, size_t repetition)
{
	return !c->out->failed && isnan(c->ns[repetition]);
}

/*
 * Opens cells from *next on, in their order, as many as fit into the memory
 * together but at least one; *next becomes the first that did not fit.
 */
static enum sl_status
open_batch(struct sl__suite_run *r, size_t repetition, size_t *next,
	   struct sl__suite_arm *arms, size_t *n, struct sl_error *err)
{
	uint64_t sum = 0;
	enum sl_status rc = SL_OK;

	*n = 0;
	for (; !rc && *next < r->n_cells && !is_interrupted(r); ++*next) {
		struct sl__suite_run_cell *c = &r->cells[*next];

		if (!is_to_run(c, repetition))
			continue;
		/* What it takes is known after the first time. */
		if (*n && sum + c->out->memory_bytes > r->how.memory_bytes)
			break;
		rc = open_cell(r, c, err);
		if (rc || !c->subject.plan)
			continue;
		sum += c->out->memory_bytes;
		if (*n && sum > r->how.memory_bytes) {
			sl__subject_model_close(&c->subject);
			break;
		}
		c->arm = &arms[(*n)++];
		*c->arm = (struct sl__suite_arm){.plan = c->subject.plan,
						 .ns = c->arm->ns};
	}
	return rc;
}

/* The median over rounds of the ratio to the baseline, which ran in the same
 * rounds or in another batch. */
static double
ratio_to_baseline(const struct sl__suite_run *r,
		  const struct sl__suite_run_cell *c, size_t repetition,
		  double *scratch)
{
	const struct sl__suite_run_cell *b = &r->cells[c->out->baseline];

	if (!b->arm)
		return c->ns[repetition] / b->ns[repetition];
	for (size_t i = 0; i < r->out->n_rounds; i++)
		scratch[i] = c->arm->ns[i] / b->arm->ns[i];
	return sl__median_in_place(scratch, r->out->n_rounds);
}

/* Figures of a repetition, of cells that ran all its rounds. */
static enum sl_status
note_batch(struct sl__suite_run *r, size_t repetition, double *scratch,
	   struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < r->n_cells; i++) {
		struct sl__suite_run_cell *c = &r->cells[i];

		if (!c->arm)
			continue;
		if (c->arm->failure.status) {
			rc = note_failure(r, c, &c->arm->failure, err);
			c->arm = NULL;
			continue;
		}
		memcpy(scratch, c->arm->ns,
		       r->out->n_rounds * sizeof(*scratch));
		c->ns[repetition] =
			sl__median_in_place(scratch, r->out->n_rounds);
		c->joules[repetition] =
			c->arm->joules / (double)c->arm->n_metered;
	}
	for (size_t i = 0; !rc && i < r->n_cells; i++) {
		struct sl__suite_run_cell *c = &r->cells[i];

		if (c->arm)
			c->ratios[repetition] =
				ratio_to_baseline(r, c, repetition, scratch);
	}
	return rc;
}

/* Memory of a size that chance decides: plans lie elsewhere than before. */
static enum sl_status
take_spacer(struct sl__pages **out, const struct sl__suite_run *r,
	    size_t repetition, struct sl_error *err)
{
	enum sl_status rc = sl__pages_new(out, r->how.allocator, err);
	struct sl__rng rng;

	if (rc)
		return rc;
	sl__rng_init(&rng, r->file.seed + repetition);
	return sl__pages_alloc(
		       *out, 64 * (1 + sl__rng_below(&rng, SPACER_LINES_MOST)))
		       ? SL_OK
		       : sl__fail_nomem(err);
}

static void
tell(const struct sl__suite_run *r, const char *what, size_t n_done,
     double share)
{
	double s = (double)(sl__clock_now_ns(NULL) - r->start_ns) / 1e9;
	const struct sl_progress now = {what, n_done, share,
					share > 0 ? s / share - s : (double)NAN,
					(double)NAN};

	if (r->how.progress)
		r->how.progress(&now, r->how.progress_ctx);
}

static enum sl_status
run_repetition(struct sl__suite_run *r, size_t repetition,
	       struct sl__suite_arm *arms, size_t *order, double *scratch,
	       struct sl_error *err)
{
	struct sl__suite_rounds_options how = {
		.n_rounds = r->out->n_rounds,
		.order = order,
		.monitor = &r->monitor,
		.meter = &r->meter,
		.control = {.interrupt = r->how.interrupt}};
	struct sl__pages *spacer = NULL;
	size_t next = 0, n_batches = 0;
	enum sl_status rc = take_spacer(&spacer, r, repetition, err);

	while (!rc && next < r->n_cells && !is_interrupted(r)) {
		size_t n, n_rounds = 0;

		rc = open_batch(r, repetition, &next, arms, &n, err);
		how.seed = r->file.seed + 1000 * repetition + n_batches;
		if (!rc && n && !is_interrupted(r))
			rc = sl__suite_rounds_run(arms, n, &how, &n_rounds,
						  err);
		if (!rc && n_rounds == how.n_rounds) {
			for (size_t i = 0; i < r->n_cells; i++) {
				if (r->cells[i].arm)
					r->cells[i].out->batch_nth = n_batches;
			}
			n_batches++;
			rc = note_batch(r, repetition, scratch, err);
			if (!rc)
				rc = sl__suite_partial_keep(r, err);
		}
		close_cells(r);
	}
	if (n_batches > r->out->n_batches)
		r->out->n_batches = n_batches;
	sl__pages_free(spacer);
	return rc;
}

/* Cells whose repetitions an earlier run made all have no plan yet. */
static enum sl_status
describe_rest(struct sl__suite_run *r, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < r->n_cells && !is_interrupted(r); i++) {
		struct sl__suite_run_cell *c = &r->cells[i];

		if (!c->out->failed && !c->out->choices)
			rc = open_cell(r, c, err);
		sl__subject_model_close(&c->subject);
	}
	return rc;
}

static int
has_working_cell(const struct sl__suite_run *r)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		if (!r->cells[i].out->failed)
			return 1;
	}
	return 0;
}

/* Whether repetition i is to be made, or was by an earlier run. */
static int
goes_on(const struct sl__suite_run *r, size_t i)
{
	return i < r->n_most && !is_interrupted(r) && has_working_cell(r) &&
	       (i < r->n_least || i < r->out->n_resumed ||
		r->measured_s < r->out->asked_s);
}

static double
seconds_since(uint64_t begin_ns)
{
	return (double)(sl__clock_now_ns(NULL) - begin_ns) / 1e9;
}

/* The share of the work that is done. */
static double
share_done(const struct sl__suite_run *r, size_t i)
{
	double by_number = (double)i / (double)r->n_least;

	return r->out->asked_s > 0
		       ? fmin(by_number, r->measured_s / r->out->asked_s)
		       : by_number;
}

static enum sl_status
run_repetitions(struct sl__suite_run *r, struct sl_error *err)
{
	size_t i, n_rounds = r->out->n_rounds;
	struct sl__suite_arm *arms =
		sl__arena_array(&r->scratch, r->n_cells, sizeof(*arms));
	size_t *order =
		sl__arena_array(&r->scratch, r->n_cells, sizeof(*order));
	double *ns = sl__arena_array(&r->scratch, r->n_cells + 1,
				     n_rounds * sizeof(*ns));
	enum sl_status rc = SL_OK;

	if (!arms || !order || !ns)
		return sl__fail_nomem(err);
	for (i = 0; i < r->n_cells; i++)
		arms[i].ns = ns + (i + 1) * n_rounds;
	for (i = 0; !rc && goes_on(r, i); i++) {
		uint64_t begin = sl__clock_now_ns(NULL);

		tell(r, "measuring", i, share_done(r, i));
		rc = run_repetition(r, i, arms, order, ns, err);
		if (i >= r->out->n_resumed)
			r->measured_s += seconds_since(begin);
	}
	if (i > r->out->n_repetitions)
		r->out->n_repetitions = i;
	if (!rc)
		rc = sl__suite_partial_write(r, err);
	return rc ? rc : describe_rest(r, err);
}

/* The accuracy of a cell, or why there is none. */
static enum sl_status
evaluate_cell(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	      const struct sl_dataset *data, struct sl_error *err)
{
	struct sl_plan_options plan;
	struct sl_evaluate_options how = {.struct_size = sizeof(how),
					  .plan = &plan,
					  .interrupt = r->how.interrupt,
					  .allocator = r->how.allocator};
	const struct sl_graph *graph = make_plan_options(r, c, &plan);
	struct sl_suite_cell *out = c->out;
	struct sl_evaluation *found;
	struct sl_error why;
	enum sl_status rc = sl_evaluate(&found, graph, data, &how, &why);

	if (rc == SL_E_NOMEM)
		return sl__fail_nomem(err);
	if (rc)
		return sl__arena_copy_text(r->arena, &out->accuracy_absent,
					   why.text, err);
	c->has_accuracy = !found->is_partial;
	out->accuracy_absent = found->is_partial ? "interrupted" : NULL;
	if (c->has_accuracy) {
		out->accuracy = found->accuracy;
		out->accuracy_kind = found->kind;
	}
	sl_evaluation_free(found);
	return SL_OK;
}

/* The model of a cell as its variant has it, and its accuracy. */
static enum sl_status
prepare_cell(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	     const struct sl_dataset *data, struct sl_error *err)
{
	struct sl_plan_options plan;
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .plan = &plan,
					 .data = data,
					 .seed = r->file.seed,
					 .interrupt = r->how.interrupt,
					 .allocator = r->how.allocator};
	const struct sl_graph *graph = make_plan_options(r, c, &plan);
	struct sl_error why = {0};
	enum sl_status rc = SL_OK;

	if (c->variant->changes &&
	    sl_variant_new(&c->changed, graph, c->variant->changes, &how, &why))
		rc = why.status == SL_E_NOMEM ? sl__fail_nomem(err)
					      : note_failure(r, c, &why, err);
	if (!rc && !c->out->failed && data && !c->has_accuracy &&
	    !is_interrupted(r))
		rc = evaluate_cell(r, c, data, err);
	return rc;
}

/* All variants of a section, with its data. */
static enum sl_status
prepare_section(struct sl__suite_run *r, const struct sl__suite_section *s,
		struct sl_error *err)
{
	const struct sl_dataset_options how = {.struct_size = sizeof(how),
					       .labels = s->labels,
					       .seed = r->file.seed,
					       .allocator = r->how.allocator};
	struct sl_dataset *data = NULL;
	struct sl_error why = {0};
	enum sl_status rc = SL_OK;

	if (s->data && sl_dataset_open(&data, s->data, &how, &why) &&
	    why.status == SL_E_NOMEM)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < r->n_cells; i++) {
		struct sl__suite_run_cell *c = &r->cells[i];
		struct sl__suite_run_cell *first = &r->cells[c->first];

		if (c->section != s || c->out->failed)
			continue;
		if (why.status)
			rc = note_failure(r, c, &why, err);
		else if (c == first && !is_interrupted(r))
			rc = prepare_cell(r, c, data, err);
		c->out->failed = first->out->failed;
		c->out->accuracy = first->out->accuracy;
		c->out->accuracy_kind = first->out->accuracy_kind;
		c->out->accuracy_absent = first->out->accuracy_absent;
	}
	sl_dataset_close(data);
	return rc;
}

static enum sl_status
prepare_all(struct sl__suite_run *r, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < r->file.n_sections; i++) {
		tell(r, "preparing", i, (double)i / (double)r->file.n_sections);
		rc = prepare_section(r, &r->file.sections[i], err);
	}
	return rc ? rc : sl__suite_partial_write(r, err);
}

/* The median of those of x[0..n-1] that are there, and where that of another
 * run would lie. */
static struct sl_estimate
median_of(double *x, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isnan(x[i]))
			x[k++] = x[i];
	}
	return k ? sl__another_run_estimate(x, k) : sl__no_estimate();
}

/* A time is judged by its interval; all others are exact. */
static enum sl_gate
judge(const struct sl_suite_cell *c, const struct sl_suite_limit *l)
{
	if (isnan(l->value))
		return SL_GATE_UNDECIDED;
	if (l->metric == SL_GATE_ACCURACY)
		return l->value >= l->limit ? SL_GATE_OK : SL_GATE_REGRESSED;
	if (l->metric != SL_GATE_TIME)
		return l->value <= l->limit ? SL_GATE_OK : SL_GATE_REGRESSED;
	return c->time_ns.hi <= l->limit  ? SL_GATE_OK
	       : c->time_ns.lo > l->limit ? SL_GATE_REGRESSED
					  : SL_GATE_UNDECIDED;
}

static enum sl_status
judge_limits(struct sl__suite_run *r, struct sl__suite_run_cell *c,
	     struct sl_error *err)
{
	struct sl_suite_cell *out = c->out;
	struct sl_suite_limit *l =
		sl__arena_array(r->arena, SL_N_GATE_METRICS, sizeof(*l));
	const double values[SL_N_GATE_METRICS] = {
		[SL_GATE_TIME] = out->time_ns.value,
		[SL_GATE_MEMORY] = (double)out->memory_bytes,
		[SL_GATE_SIZE] = (double)out->size_bytes,
		[SL_GATE_ACCURACY] = out->accuracy.value,
	};

	if (!l)
		return sl__fail_nomem(err);
	out->limits = l;
	for (unsigned m = 0; m < SL_N_GATE_METRICS; m++) {
		enum sl_gate verdict;

		if (!(c->section->limits[m] > 0))
			continue;
		*l = (struct sl_suite_limit){
			.metric = m,
			.limit = c->section->limits[m],
			.value = out->failed || !out->time_ns.n ? (double)NAN
								: values[m]};
		verdict = l->verdict = judge(out, l);
		if (verdict == SL_GATE_REGRESSED ||
		    (verdict == SL_GATE_UNDECIDED &&
		     r->out->verdict == SL_GATE_OK))
			r->out->verdict = verdict;
		out->n_limits++;
		l++;
	}
	return SL_OK;
}

static enum sl_status
summarize(struct sl__suite_run *r, struct sl_error *err)
{
	struct sl_suite *out = r->out;
	size_t n = out->n_repetitions;
	enum sl_status rc = SL_OK;
	size_t n_running = 0;

	out->n_done = n;
	out->verdict = SL_GATE_OK;
	for (size_t i = 0; !rc && i < r->n_cells; i++) {
		struct sl__suite_run_cell *c = &r->cells[i];
		struct sl_estimate joules = median_of(c->joules, n);

		if (!c->out->failed) {
			c->out->time_ns = median_of(c->ns, n);
			c->out->ratio = median_of(c->ratios, n);
			n_running += c->out->time_ns.n > 0;
			if (c->out->time_ns.n < out->n_done)
				out->n_done = c->out->time_ns.n;
		}
		c->out->energy_j = r->meter.absent ? sl__absent(r->meter.absent)
				   : joules.n      ? sl__present(joules.value)
					      : sl__absent("no repetition was "
							   "finished");
		rc = judge_limits(r, c, err);
	}
	out->stopped_by = is_interrupted(r) ? SL_STOP_INTERRUPT : SL_STOP_RUNS;
	if (!rc && is_interrupted(r) && !n_running)
		rc = sl__fail(err, SL_E_INTERRUPTED,
			      "interrupted before the first repetition ended");
	return rc;
}

static enum sl_status
run_suite(struct sl__suite_run *r, const char *text, size_t n_bytes,
	  struct sl_error *err)
{
	struct sl_suite *out = r->out;
	enum sl_status rc =
		sl__suite_file_read(&r->file, text, n_bytes, &r->scratch, err);

	if (rc)
		return sl__error_prefix(err, rc, r->how.name);
	r->n_least = r->how.n_repetitions ? r->how.n_repetitions
					  : r->file.n_repetitions;
	r->n_most = r->how.n_repetitions ? r->how.n_repetitions
					 : r->file.n_most;
	out->asked_s = r->how.n_repetitions ? 0 : r->file.time_s;
	out->n_repetitions = r->n_least;
	out->n_rounds = r->file.n_rounds;
	out->seed = r->file.seed;
	out->memory_bytes = r->how.memory_bytes;
	rc = sl__arena_copy_text(r->arena, &out->name, r->how.name, err);
	if (!rc)
		rc = make_cells(r, err);
	if (!rc)
		rc = sl__suite_facts_find(r, text, n_bytes, err);
	if (!rc)
		rc = sl__suite_partial_read(r, err);
	if (!rc)
		rc = sl__energy_open(&r->meter, "", r->arena, err);
	if (!rc)
		rc = prepare_all(r, err);
	sl__monitor_open(&r->monitor, NULL);
	if (!rc)
		rc = run_repetitions(r, err);
	sl__monitor_close(&r->monitor, &out->noise);
	if (!rc)
		rc = summarize(r, err);
	if (!rc)
		rc = sl__suite_lock_compare(r, err);
	out->elapsed_s = (double)(sl__clock_now_ns(NULL) - r->start_ns) / 1e9;
	return rc;
}

enum sl_status
sl_suite_run(struct sl_suite **out, const char *text, size_t n_bytes,
	     const struct sl_suite_options *options, struct sl_error *err)
{
	struct sl__suite_run r = {.meter = {.fd = -1}};
	enum sl_status rc;

	*out = NULL;
	rc = take_options(&r, options, err);
	if (rc)
		return rc;
	r.start_ns = sl__clock_now_ns(NULL);
	r.out = sl__arena_object_new(&r.arena, r.how.allocator, sizeof(*r.out));
	if (!r.out)
		return sl__fail_nomem(err);
	sl__arena_init(&r.scratch, r.how.allocator);
	sl__shared_tuning_cache_open(&r.choices);
	rc = run_suite(&r, text, n_bytes, err);
	close_cells(&r);
	for (size_t i = 0; i < r.n_cells; i++)
		sl_variant_free(r.cells[i].changed);
	for (size_t i = 0; i < r.n_models; i++)
		sl_graph_free(r.models[i].graph);
	sl__shared_tuning_cache_close(&r.choices);
	sl__energy_close(&r.meter);
	sl__arena_release(&r.scratch);
	*out = sl__arena_object_free_on_error(r.out, rc);
	return rc;
}

void
sl_suite_free(struct sl_suite *suite)
{
	sl__arena_object_free(suite);
}
