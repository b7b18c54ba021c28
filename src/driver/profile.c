/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c - a model run, measured and explained.
 *
 * Evidence is gathered in this order, each part from a file of src/experiment:
 * iterations; memory; experiments on what takes long; ablations.  What it means
 * is worked out here and in files that fill one part of the result each.
 */
#include "analysis/advice.h"
#include "analysis/amdahl.h"
#include "analysis/bottleneck.h"
#include "analysis/counter_check.h"
#include "analysis/ledger.h"
#include "analysis/memory_use.h"
#include "analysis/operation_graph.h"
#include "analysis/operations.h"
#include "analysis/parts.h"
#include "analysis/roofline_place.h"
#include "analysis/training_phases.h"
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "base/thread.h"
#include "cost/traffic.h"
#include "driver/asked_operation.h"
#include "driver/profile_part.h"
#include "driver/training_subject.h"
#include "experiment/ablate.h"
#include "experiment/calibrate.h"
#include "experiment/step_counters.h"
#include "experiment/diagnose.h"
#include "experiment/timed_iterations.h"
#include "experiment/live_tensors.h"
#include "experiment/try_plans.h"
#include "graph/shapes.h"
#include "machine/ceiling_probes.h"
#include "result/fact_list.h"
#include "result/groups.h"
#include "result/request.h"
#include "result/step_evidence.h"
#include "stats/distribution.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

struct profiler {
	const struct sl_graph *graph;
	struct sl_profile_options how;        /* defaults filled in */
	struct sl__plan_options_storage plan; /* that these name */
	struct sl__runner_hooks control;      /* from these */
	struct sl__arena *arena;              /* of the result */
	struct sl__arena scratch;
	struct sl_profile *out;
	struct sl__subject_model subject;
	struct sl__timed_iterations iterations;
	struct sl__residence residence;
	struct sl__ceiling_probes *probes;     /* NULL: no ceilings */
	struct sl__calibration calibration;    /* empty: none */
	const struct sl__layer_origin *origin; /* NULL: the graph is a model */
	unsigned char *is_asked; /* about, by node; NULL: none is */
	const struct sl_training_options *training; /* of a training step */
	const struct sl__watched_training *watched; /* that made them; NULL */
	int is_judged;                              /* a verdict is asked for */
	struct sl__training_subject trained;        /* its trainer */
	uint64_t start_ns;
	uint64_t measuring_ns; /* when the time for measuring began */
};

/*
 * One budget: what each part of measuring may take of it.  What a part leaves
 * over is there for those after it; a part that is not asked for leaves all.
 */
#define ITERATIONS_SHARE  0.30
#define MEMORY_SHARE      0.10
#define EXPERIMENTS_SHARE 0.30
#define ABLATION_SHARE    0.10
#define TRIALS_SHARE      0.20

/* What experiments and ablation may take of their time when few rounds were
 * made in it. */
#define OVERRUN 2.0

/* Where no time is said: all of it, planning included, but for measuring as
 * much at least. */
#define USUAL_TOTAL_S 5.5
#define USUAL_LEAST_S 2.5

/* Before the iterations, and as often after them: the interval of a ceiling
 * needs 36 probes, of which three are made at a time. */
enum { N_PROBE_RUNS = 6 };

static enum sl_status
take_options(struct sl_profile_options *out,
	     struct sl__plan_options_storage *plan,
	     const struct sl_profile_options *options, struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(out, sizeof(*out), options,
					     "sl_profile_options", err);

	if (!rc)
		rc = sl__plan_options_copy(plan, &out->plan, err);
	if (rc)
		return rc;
	out->precision = out->precision == 0 ? 0.01 : out->precision;
	out->hot_share = out->hot_share == 0 ? 0.9 : out->hot_share;
	out->seed = out->seed ? out->seed : 1;
	out->trace_iterations = out->trace_iterations ? out->trace_iterations
						      : 3;
	if (!(out->time_s >= 0) || out->time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				out->time_s);
	if (!(out->precision > 0) || out->precision >= 1 ||
	    !(out->hot_share > 0) || out->hot_share > 1)
		return sl__fail(err, SL_E_USAGE,
				"precision and hot share lie between 0 and 1");
	if (out->trace_iterations > SL__ITERATIONS_SLOW)
		return sl__fail(err, SL_E_USAGE,
				"at most %d slow iterations are kept whole",
				SL__ITERATIONS_SLOW);
	return SL_OK;
}

static int
is_interrupted(const struct profiler *p)
{
	return p->how.interrupt && *p->how.interrupt;
}

/* Then what would help is not asked for either. */
static int
is_brief(const struct profiler *p)
{
	return (p->how.flags & SL_PROFILE_BRIEF) == SL_PROFILE_BRIEF;
}

static enum sl_status
inspect(struct profiler *p, struct sl_error *err)
{
	struct sl_inspect_options how = {
		.struct_size = sizeof(how),
		.sizes = &p->subject.sizes,
		.allocator = p->how.allocator,
	};
	struct sl_inspection *model;
	enum sl_status rc = sl_inspect(&model, p->graph, &how, err);

	if (rc)
		return rc;
	p->out->model = model;
	p->out->batch = model->batch;
	p->out->n_nodes = p->trained.trainer ? p->subject.plan->graph->n_nodes
					     : model->n_nodes;
	return SL_OK;
}

/* What is known of the machine goes into the result, so that a page of it does
 * not depend on where it is rendered.  Nothing kept is no failure. */
static enum sl_status
describe_machine(struct profiler *p, struct sl_error *err)
{
	struct sl_machine *machine;
	struct sl_error why;

	if (!sl_machine_open_cached(&machine, NULL, &why))
		p->out->machine = machine;
	else if (why.status == SL_E_NOMEM)
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
keep_request(struct profiler *p, struct sl_error *err)
{
	const struct sl_graph *graph = p->graph;
	const struct sl__layer_origin own = {
		.model = graph->is_builtin ? graph->name : graph->source,
		.plan = p->how.plan,
	};
	const struct sl__layer_origin *from = p->origin ? p->origin : &own;

	return sl__request_from_options(&p->out->request, from->model,
					from->layer, from->plan, p->arena, err);
}

struct sl__subject_model_options
sl__profile_subject_options(const struct sl_profile_options *how)
{
	return (struct sl__subject_model_options){
		.plan = how->plan,
		.inputs = how->inputs,
		.n_inputs = how->n_inputs,
		.folder = how->inputs_folder,
		.seed = how->seed,
		.interrupt = how->interrupt,
	};
}

static enum sl_status
open_subject(struct profiler *p, const struct sl__subject_model_options *how,
	     struct sl_error *err)
{
	enum sl_status rc;

	sl__residence_begin(&p->residence);
	rc = p->training
		     ? sl__training_subject_open(&p->trained, &p->subject,
						 p->training, &p->how, p->arena,
						 err)
		     : sl__subject_model_open(&p->subject, p->graph, how, err);
	if (!rc)
		sl__residence_pause(&p->residence);
	return rc;
}

static void
take_watched(struct profiler *p)
{
	p->trained = p->watched->subject;
	p->subject.plan = p->trained.trainer->plan->plan;
	p->subject.sizes = p->trained.inputs.sizes;
	p->subject.plan_ns = p->watched->plan_ns;
	p->residence = *p->watched->residence;
	p->iterations = *p->watched->iterations;
}

static enum sl_status
prepare(struct profiler *p, struct sl_error *err)
{
	struct sl__subject_model_options how =
		sl__profile_subject_options(&p->how);
	struct sl_profile *out = p->out;
	enum sl_status rc;

	out->name = sl__arena_string(p->arena, p->graph->name);
	out->source = sl__arena_string(p->arena, p->graph->source);
	if (!out->name || !out->source)
		return sl__fail_nomem(err);
	rc = keep_request(p, err);
	if (!rc && p->how.why)
		rc = sl__asked_nodes(&p->is_asked, p->graph, p->how.why,
				     &p->scratch, err);
	if (rc)
		return rc;
	p->subject.graph = p->graph;
	if (p->watched)
		take_watched(p);
	else
		rc = open_subject(p, &how, err);
	if (rc)
		return rc;
	out->dtype = p->subject.plan->options.dtype;
	out->n_threads = sl_plan_n_threads(p->subject.plan);
	out->choices = sl__plan_choices_hash(p->subject.plan, p->arena);
	if (!out->choices)
		return sl__fail_nomem(err);
	out->plan_ns = p->subject.plan_ns;
	out->seed = p->how.seed;
	rc = describe_machine(p, err);
	return rc ? rc : inspect(p, err);
}

static double
elapsed_s(uint64_t since_ns)
{
	return (double)(sl__clock_now_ns(NULL) - since_ns) / 1e9;
}

/* Planning is over, and so is a first calibration of the machine. */
static void
start_budget(struct profiler *p)
{
	if (p->how.time_s == 0)
		p->how.time_s = fmax(USUAL_TOTAL_S - elapsed_s(p->start_ns),
				     USUAL_LEAST_S);
	p->measuring_ns = sl__clock_now_ns(NULL);
}

static double
left_s(const struct profiler *p)
{
	return fmax(0, p->how.time_s - elapsed_s(p->measuring_ns));
}

/* Of the budget, for the iterations. */
static double
iterations_s(const struct profiler *p)
{
	double all = ITERATIONS_SHARE + MEMORY_SHARE;
	int is_alike = p->training && !p->trained.loader;

	if (p->is_judged)
		all += TRIALS_SHARE + (is_alike ? 0 : EXPERIMENTS_SHARE);
	if (!(p->how.flags & SL_PROFILE_NO_ABLATION))
		all += ABLATION_SHARE;
	return p->how.time_s * ITERATIONS_SHARE / all;
}

static enum sl_status
take_iterations(struct profiler *p, struct sl_error *err)
{
	struct sl__timed_iterations_options how = {
		.time_s = iterations_s(p),
		.precision = p->how.precision,
		.n_warmup = p->how.n_warmup,
		.n_runs = p->how.n_runs,
		.n_slowest = p->how.trace_iterations,
		.seed = p->how.seed,
		.feed = p->trained.loader ? sl__training_subject_feed : NULL,
		.feed_ctx = &p->trained,
		.control = p->control,
	};
	uint64_t before = sl__arena_bytes(&p->scratch);
	enum sl_status rc;

	if (p->watched)
		return SL_OK;
	sl__residence_resume(&p->residence);
	rc = sl__timed_iterations_run(&p->iterations, p->subject.plan, &how,
				      &p->scratch, err);
	sl__residence_end(&p->residence);
	/* A fixed number of them takes nothing from what follows. */
	if (p->how.n_runs)
		p->measuring_ns = sl__clock_now_ns(NULL) -
				  (uint64_t)(iterations_s(p) * 1e9);
	/* Their columns are no part of the model. */
	sl__residence_exclude_bytes(&p->residence,
				    sl__arena_bytes(&p->scratch) - before);
	return rc;
}

/* None where its share of the time cannot do: it runs each step twice or
 * more. */
static uint64_t
tracking_deadline(const struct profiler *p)
{
	double budget_ns = fmin(left_s(p), MEMORY_SHARE * p->how.time_s) * 1e9;

	if (2 * p->out->latency.median.value > budget_ns)
		budget_ns = 0;
	return sl__clock_now_ns(NULL) + (uint64_t)budget_ns;
}

/* The tracker runs after the iterations: it disturbs caches, and needs copies.
 */
static enum sl_status
take_memory(struct profiler *p, struct sl_error *err)
{
	struct sl__tensor_lifetimes tracking;
	struct sl__memory_sources sources = {
		.plan = p->subject.plan,
		.tracking = &tracking,
		.residence = &p->residence,
		.parameters_bytes = p->out->model->memory.parameter_bytes,
	};
	struct sl__live_tensors_options how = {.interrupt = p->how.interrupt,
					       .deadline_ns =
						       tracking_deadline(p)};
	enum sl_status rc = sl__live_tensors_track_or_absent(
		&tracking, p->subject.plan, &how, &p->scratch, err);

	if (!rc)
		rc = sl__memory_use_of(&p->out->memory, &sources, p->arena,
				       err);
	if (!rc)
		rc = sl__profile_fill_live_memory(p->out, p->arena, err);
	if (!rc && p->trained.trainer) {
		struct sl__kept_activation largest =
			sl__training_attribute_memory(p->out,
						      p->trained.trainer->plan);

		rc = sl__training_find(p->out, &largest, p->arena, err);
	}
	return rc;
}

/* A machine that cannot be probed has no ceilings, and says why. */
static enum sl_status
open_background(struct profiler *p, struct sl_error *err)
{
	struct sl__ceiling_probes_options how = {
		.dtype = p->out->dtype,
		.n_threads = (size_t)p->out->n_threads,
		.allocator = p->how.allocator,
	};
	struct sl_error why;

	if (p->how.flags & SL_PROFILE_NO_CEILINGS) {
		p->out->ceilings.absent = "not asked for";
		return SL_OK;
	}
	if (!sl__ceiling_probes_open(&p->probes, &how, &why))
		return SL_OK;
	if (why.status == SL_E_NOMEM)
		return sl__fail_nomem(err);
	return sl__arena_copy_text(p->arena, &p->out->ceilings.absent, why.text,
				   err);
}

/* What known kernels answer here, the first time measured; once kept it is
 * read in no time.  An interrupt leaves it empty. */
static enum sl_status
calibrate(struct profiler *p, struct sl_error *err)
{
	const struct sl__calibrate_options how = {
		.probes = p->probes,
		.n_threads = p->out->n_threads,
		.allocator = p->how.allocator,
		.control = p->control,
	};
	enum sl_status rc;

	if (p->how.flags & SL_PROFILE_NO_DIAGNOSIS || !p->probes)
		return SL_OK;
	rc = sl__calibrate(&p->calibration, &how, p->arena, err);
	if (rc != SL_E_INTERRUPTED)
		return rc;
	p->calibration.n = 0;
	return SL_OK;
}

static void
probe_background(struct profiler *p)
{
	for (int i = 0; p->probes && i < N_PROBE_RUNS; i++) {
		if (is_interrupted(p))
			return;
		sl__ceiling_probes_run(p->probes);
	}
}

static void
take_ceilings(struct profiler *p)
{
	struct sl_ceilings *out = &p->out->ceilings;

	if (!p->probes)
		return;
	probe_background(p);
	sl__ceiling_probes_ceilings(p->probes, out);
	out->step_ns = sl__thread_wake_ns(p->out->n_threads);
}

/* The series behind the latency, with what is known of each time. */
static enum sl_status
keep_samples(struct profiler *p, struct sl_error *err)
{
	const struct sl__timed_iterations *iterations = &p->iterations;
	struct sl_latency *latency = &p->out->latency;
	size_t n = iterations->bare.n;
	struct sl_sample *samples =
		sl__arena_array(p->arena, n, sizeof(*samples));

	if (!samples)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		samples[i] = (struct sl_sample){
			.ns = iterations->bare.x[i],
			.round = i * iterations->bare.stride,
			.is_warmup = i<latency->n_warmup,
				       .is_disturbed = iterations->hit.x[i]> 0};
	latency->samples = samples;
	latency->n_samples = n;
	return SL_OK;
}

static enum sl_status
judge_latency(struct profiler *p, struct sl_error *err)
{
	const struct sl__timed_iterations *iterations = &p->iterations;
	struct sl_profile *out = p->out;
	struct sl__rng rng;
	struct sl__distribution_options how = {
		.alpha = 0.05,
		.samples_per_slot = 1,
		.n_warmup = (p->how.n_warmup + iterations->bare.stride - 1) /
			    iterations->bare.stride,
		.warmup_is_fixed = p->how.n_warmup > 0,
		.rng = &rng,
	};
	enum sl_status rc;

	sl__rng_init(&rng, p->how.seed);
	out->calls_per_sample = iterations->calls_per_sample;
	out->n_timed = iterations->n_rounds * iterations->calls_per_sample;
	out->sample_stride = iterations->bare.stride;
	out->noise = iterations->noise;
	out->stopped_by = iterations->stopped_by;
	out->latency.first_ns = iterations->first_ns;
	rc = sl__distribution_summarize(&out->latency, iterations->bare.x,
					iterations->bare.n, &how, &p->scratch,
					err);
	return rc ? rc : keep_samples(p, err);
}

static enum sl_status
explain(struct profiler *p, struct sl_error *err)
{
	struct sl__operation_sources sources = {
		.graph = p->subject.plan->graph,
		.plan = p->subject.plan,
		.model = p->out->model,
		.iterations = &p->iterations,
	};
	enum sl_status rc = judge_latency(p, err);

	if (!rc)
		rc = sl__ledger_of(&p->out->ledger, &p->iterations, &p->scratch,
				   err);
	if (!rc)
		rc = sl__operations_of(p->out, &sources, p->arena, err);
	if (!rc)
		rc = sl__operation_graph(p->out, sources.plan->current,
					 p->arena, err);
	if (!rc)
		p->out->ledger.open = sl__ledger_residual_cause(p->out);
	if (!rc)
		rc = sl__profile_fill_network_parts(p->out, p->subject.plan,
						    &p->scratch, err);
	if (!rc && p->trained.trainer)
		rc = sl__training_subject_attribute(
			&p->trained, p->out, &p->iterations, p->arena, err);
	if (!rc)
		rc = sl__profile_fill_groups(p->out, p->arena, err);
	if (!rc)
		rc = sl__profile_fill_timelines(p->out, &p->iterations,
						p->arena, err);
	if (!rc) {
		sl__profile_fill_op_dtypes(p->out);
		rc = sl__profile_predict_traffic(p->out, p->subject.plan,
						 &p->scratch, err);
	}
	if (!rc) {
		sl__roofline_place(p->out);
		rc = sl__profile_flag_impossible(p->out, p->arena, err);
	}
	if (!rc)
		sl__profile_fill_rates(p->out);
	return rc;
}

/* All of the last cache; 0: not known. */
static uint64_t
last_cache_bytes(const struct sl_ceilings *ceilings)
{
	if (ceilings->n_levels < 2)
		return 0;
	return ceilings->levels[ceilings->n_levels - 2].size_bytes *
	       ceilings->n_threads;
}

/* What the CPU's counters say about what takes long; 'why' they are not asked,
 * or NULL. */
static enum sl_status
count(struct profiler *p, const size_t *steps, const char *why,
      struct sl_error *err)
{
	struct sl_profile *out = p->out;
	struct sl__step_counters_options how = {
		.steps = steps,
		.n_steps = out->n_hot,
		.iteration_ns = out->latency.median.value,
		.control = p->control,
	};
	struct sl__plan_counter_values counted;
	enum sl_status rc = SL_OK;

	if (why)
		sl__step_counters_set_absent(&counted, why);
	else
		rc = sl__step_counters_measure(&counted, &p->subject, &how,
					       p->arena, err);
	if (rc)
		return rc;
	sl__profile_attach_counts(out, &counted);
	sl__profile_fill_counted_traffic(out);
	return SL_OK;
}

static enum sl_status
judge_without(struct profiler *p, struct sl_error *err)
{
	enum sl_status rc =
		count(p, NULL, "no experiments on operations were made", err);

	if (!rc)
		rc = sl__profile_judge_bottlenecks(p->out, NULL, NULL, p->arena,
						   err);
	if (!p->is_judged)
		p->out->verdict = (struct sl_finding){0};
	return rc;
}

/* What two rounds of experiments take, the fewest that say anything: each runs
 * the model in place, warm, cold, at twice the batch, and on one thread with
 * and without a hog. */
static double
experiments_least_s(const struct profiler *p)
{
	double iterations = 5 + 2 * p->out->n_threads;

	return 2 * iterations * p->out->latency.median.value / 1e9;
}

/* Says how much time would have done. */
static enum sl_status
remark_no_time(struct profiler *p, struct sl_error *err)
{
	struct sl_profile *out = p->out;
	double all_s = experiments_least_s(p) /
		       (EXPERIMENTS_SHARE + ABLATION_SHARE + TRIALS_SHARE);
	struct sl__facts remarks;

	sl__facts_init(&remarks, p->arena, out->remarks, out->n_remarks);
	sl__facts_add(&remarks,
		      (struct sl_fact){SL_FACT_NO_TIME, {ceil(all_s)}, {NULL}});
	out->remarks = remarks.list;
	out->n_remarks = remarks.n;
	return remarks.has_failed ? sl__fail_nomem(err) : SL_OK;
}

/* What the batches of a training step cost, and computing activations again. */
static enum sl_status
compare_feeds(struct profiler *p, struct sl_error *err)
{
	struct sl__feed_rounds_options how = {
		.plan = p->subject.plan,
		.time_s = p->is_judged ? left_s(p) / 2 : 0,
		.iteration_ns = p->out->latency.median.value,
		.seed = p->how.seed,
		.control = p->control,
	};
	enum sl_status rc;

	if (!p->trained.trainer || is_interrupted(p))
		return SL_OK;
	rc = sl__training_subject_compare_keeping(&p->trained, &p->subject,
						  p->out, &how, p->arena, err);
	if (rc || !p->trained.loader || !p->is_judged)
		return rc == SL_E_INTERRUPTED ? SL_OK : rc;
	how.time_s = left_s(p);
	rc = sl__training_subject_compare_feeds(&p->trained, p->out, &how,
						p->arena, err);
	return rc == SL_E_INTERRUPTED ? SL_OK : rc;
}

/* Experiments on what takes long, and what they mean. */
static enum sl_status
diagnose(struct profiler *p, struct sl_error *err)
{
	struct sl_profile *out = p->out;
	size_t steps[SL__HOT_MOST];
	struct sl__diagnose_options how = {
		.steps = steps,
		.probes = p->probes,
		.cache_bytes = last_cache_bytes(&out->ceilings),
		.hot_share = p->how.hot_share,
		.time_s = fmin(left_s(p) / OVERRUN,
			       EXPERIMENTS_SHARE * p->how.time_s),
		.seed = p->how.seed,
		.control = p->control,
	};
	struct sl__step_responses diagnosis;
	size_t asked = sl__asked_operation(out, p->subject.plan, p->is_asked);
	enum sl_status rc;

	if (p->how.flags & SL_PROFILE_NO_DIAGNOSIS || !p->probes ||
	    is_interrupted(p))
		return judge_without(p, err);
	if (experiments_least_s(p) > left_s(p)) {
		rc = remark_no_time(p, err);
		return rc ? rc : judge_without(p, err);
	}
	out->n_hot = sl__hot_count(out, p->how.hot_share);
	for (size_t i = 0; i < out->n_hot; i++)
		steps[i] = out->operations[out->by_time[i]].step;
	how.n_steps = out->n_hot;
	if (asked < out->n_operations && asked >= out->n_hot) {
		how.n_steps += out->n_hot < SL__HOT_MOST;
		steps[how.n_steps - 1] =
			out->operations[out->by_time[asked]].step;
	}
	rc = sl__diagnose(&diagnosis, &p->subject, &how, p->arena, err);
	if (rc == SL_E_INTERRUPTED) {
		out->n_hot = 0;
		return judge_without(p, err);
	}
	if (!rc)
		rc = count(p, steps, NULL, err);
	return rc ? rc
		  : sl__profile_judge_bottlenecks(
			    out, &diagnosis, &p->calibration, p->arena, err);
}

/* Predicted limits, and those measured with operations left out. */
static enum sl_status
ablate(struct profiler *p, struct sl_error *err)
{
	struct sl_profile *out = p->out;
	struct sl__ablate_options how = {
		.time_s = fmax(0, left_s(p) - TRIALS_SHARE * p->how.time_s) /
			  OVERRUN,
		.iteration_ns = out->latency.median.value,
		.reading_ns = p->iterations.reading_ns,
		.seed = p->how.seed,
		.control = p->control,
	};
	const char *why = p->how.flags & SL_PROFILE_NO_ABLATION
				  ? "not asked for"
			  : is_interrupted(p) ? "interrupted"
					      : NULL;
	struct sl__amdahl_rows amdahl;
	enum sl_status rc =
		sl__amdahl_rows_predict(&amdahl, out, p->arena, err);

	if (!rc && !why)
		rc = sl__ablate(amdahl.targets, amdahl.n, p->subject.plan, &how,
				p->arena, err);
	if (rc)
		return rc;
	sl__amdahl_rows_add_ablation(&amdahl, why);
	out->amdahl = amdahl.rows;
	out->n_amdahl = amdahl.n;
	return SL_OK;
}

/* Changes that are cheap to try are tried before they are advised. */
static enum sl_status
advise(struct profiler *p, struct sl_error *err)
{
	struct sl__plan_trial trials[SL__ADVICE_TRIALS];
	const struct sl__advice_sources sources = {
		.n_cpus = sl__thread_n_cpus(),
		.has_fixed_batch = !sl__shapes_batch_symbol(p->graph),
		.trials = trials,
		.n_trials =
			sl__advice_trials(trials, p->out, sl__thread_n_cpus()),
	};
	const struct sl__try_plans_options how = {
		.time_s = left_s(p),
		.iteration_ns = p->out->latency.median.value,
		.seed = p->how.seed,
		.control = p->control,
	};
	enum sl_status rc = SL_OK;

	if (!(p->how.flags & SL_PROFILE_NO_DIAGNOSIS) && !is_interrupted(p))
		rc = sl__try_plans(trials, sources.n_trials, &p->subject, &how,
				   p->arena, err);
	return rc && rc != SL_E_INTERRUPTED
		       ? rc
		       : sl__advise(p->out, &sources, p->arena, err);
}

static enum sl_status
profile(struct profiler *p, struct sl_error *err)
{
	enum sl_status rc = prepare(p, err);

	if (!rc)
		rc = open_background(p, err);
	if (!rc)
		rc = calibrate(p, err);
	if (!rc) {
		start_budget(p);
		probe_background(p);
		rc = take_iterations(p, err);
	}
	if (!rc) {
		take_ceilings(p);
		rc = explain(p, err);
	}
	if (!rc)
		rc = take_memory(p, err);
	if (!rc)
		rc = compare_feeds(p, err);
	if (!rc)
		rc = diagnose(p, err);
	if (!rc)
		rc = ablate(p, err);
	if (!rc && p->training && p->is_judged)
		rc = sl__advise_training(p->out, p->arena, err);
	else if (!rc && !is_brief(p) && !p->training &&
		 !sl__profile_is_disturbed(p->out))
		rc = advise(p, err);
	if (is_interrupted(p))
		p->out->stopped_by = SL_STOP_INTERRUPT;
	p->out->elapsed_s = elapsed_s(p->start_ns);
	return rc;
}

/* What 'p' asks for: its graph, and where that is from or how it is trained. */
static enum sl_status
run_profiler(struct sl_profile **out, struct profiler *p,
	     const struct sl_profile_options *options, struct sl_error *err)
{
	enum sl_status rc;

	*out = NULL;
	rc = take_options(&p->how, &p->plan, options, err);
	if (rc)
		return rc;
	p->is_judged = !(p->how.flags &
			 (SL_PROFILE_NO_DIAGNOSIS | SL_PROFILE_NO_CEILINGS));
	if (p->training)
		p->how.flags |= SL_PROFILE_NO_DIAGNOSIS |
				SL_PROFILE_NO_ABLATION;
	p->control =
		(struct sl__runner_hooks){.interrupt = p->how.interrupt,
					  .progress = p->how.progress,
					  .progress_ctx = p->how.progress_ctx};
	p->start_ns = sl__clock_now_ns(NULL);
	p->out = sl__arena_object_new(&p->arena, p->how.allocator,
				      sizeof(*p->out));
	if (!p->out)
		return sl__fail_nomem(err);
	sl__arena_init(&p->scratch, p->how.allocator);
	rc = profile(p, err);
	sl__ceiling_probes_close(p->probes);
	if (p->training)
		p->subject.plan = NULL; /* the trainer's */
	if (!p->watched)
		sl__training_subject_close(&p->trained);
	sl__subject_model_close(&p->subject);
	sl__arena_release(&p->scratch);
	if (rc) {
		sl_profile_free(p->out);
		return rc;
	}
	*out = p->out;
	return SL_OK;
}

enum sl_status
sl__profile_part(struct sl_profile **out, const struct sl_graph *graph,
		 const struct sl_profile_options *options,
		 const struct sl__layer_origin *origin, struct sl_error *err)
{
	struct profiler p = {.graph = graph, .origin = origin};

	return run_profiler(out, &p, options, err);
}

enum sl_status
sl_profile_training(struct sl_profile **out, const struct sl_graph *graph,
		    const struct sl_training_options *training,
		    const struct sl_profile_options *options,
		    struct sl_error *err)
{
	static const struct sl_training_options usual =
		SL_TRAINING_OPTIONS_INIT;
	struct profiler p = {.graph = graph,
			     .training = training ? training : &usual};

	return run_profiler(out, &p, options, err);
}

enum sl_status
sl__profile_watched(struct sl_profile **out, const struct sl_graph *graph,
		    const struct sl__watched_training *watched,
		    const struct sl_profile_options *options,
		    struct sl_error *err)
{
	struct profiler p = {.graph = graph,
			     .training = watched->training,
			     .watched = watched};

	return run_profiler(out, &p, options, err);
}

enum sl_status
sl_profile_forward(struct sl_profile **out, const struct sl_graph *graph,
		   const struct sl_profile_options *options,
		   struct sl_error *err)
{
	return sl__profile_part(out, graph, options, NULL, err);
}

void
sl_profile_free(struct sl_profile *profile)
{
	if (!profile)
		return;
	sl_inspection_free((struct sl_inspection *)(uintptr_t)profile->model);
	sl_machine_free((struct sl_machine *)(uintptr_t)profile->machine);
	sl__arena_object_free(profile);
}

size_t
sl_top_operations(const struct sl_profile *profile, size_t n,
		  const struct sl_operation **list)
{
	if (n > profile->n_operations)
		n = profile->n_operations;
	for (size_t i = 0; i < n; i++)
		list[i] = &profile->operations[profile->by_time[i]];
	return n;
}
