/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - a model under load: the scenarios of MLPerf, one rate of arrivals,
 * or the highest that holds a latency limit.
 *
 * A search halves the range of rates with short runs, which go by the share of
 * late queries, and then confirms what it found with a longer run of its own:
 * only that one is a verdict.
 */
#include "base/clock.h"
#include "base/option_struct.h"
#include "base/reading.h"
#include "base/status.h"
#include "driver/load_figures.h"
#include "experiment/subject.h"
#include "machine/energy_meter.h"
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	MULTI_SAMPLES = 8,    /* of a query, as in MLPerf */
	OFFLINE_SAMPLES = 16, /* enough for most models on a CPU */
	BATCH_MOST = 1 << (SL__LOAD_BATCHES_MOST - 1),
	WARMUP_RUNS = 2,
	TIMED_RUNS = 9,    /* the median of nine has an interval */
	PROBES_MOST = 12,  /* of a search, confirmations included */
	QUERIES_LEAST = 20 /* that a probe expects: none once in 10^9 */
};

/* Shares of the time of a search: each probe, and each confirmation. */
static const double PROBE_SHARE = 0.06, CONFIRM_SHARE = 0.3;

struct loader {
	struct sl_load_options how; /* defaults filled in */
	struct sl__plan_options_storage plan;
	const struct sl_graph *graph;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_load *out;
	struct sl__subject_model subjects[SL__LOAD_BATCHES_MOST];
	size_t n_subjects;
	struct sl_load_batch *batches;
	size_t n_repeats; /* runs of a query: of a model with a fixed batch */
	struct sl__load_server server;
	struct sl__energy_meter meter;
	uint64_t start_ns;
};

static enum sl_status
check_numbers(const struct sl_load_options *how, struct sl_error *err)
{
	int is_server = how->scenario == SL_SCENARIO_SERVER;

	if ((unsigned)how->scenario >= SL_N_SCENARIOS)
		return sl__fail(err, SL_E_USAGE, "scenario %d is not known",
				(int)how->scenario);
	if (!(how->time_s > 0) || how->time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				how->time_s);
	if (!(how->limit_s >= 0) || !(how->rate_per_s >= 0) ||
	    how->limit_s > 1e6 || how->rate_per_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"a limit or rate is 0 to 1e6, not %g s, %g",
				how->limit_s, how->rate_per_s);
	if (!(how->percentile >= 0.5) || how->percentile > 0.9999)
		return sl__fail(err, SL_E_USAGE,
				"a limit is for a percentile of 50 to 99.99, "
				"not %g",
				100 * how->percentile);
	if (how->batch_most > BATCH_MOST)
		return sl__fail(err, SL_E_USAGE,
				"at most %d queries are served together",
				(int)BATCH_MOST);
	if (is_server && !(how->rate_per_s > 0) && !(how->limit_s > 0))
		return sl__fail(err, SL_E_USAGE,
				"a server needs a rate of queries, or a "
				"latency limit to find the highest rate for");
	if (!is_server && (how->rate_per_s > 0 || how->batch_most > 1))
		return sl__fail(err, SL_E_USAGE,
				"queries arrive at a rate, and wait for each "
				"other, in the server scenario only");
	return SL_OK;
}

static enum sl_status
take_options(struct loader *l, const struct sl_load_options *options,
	     struct sl_error *err)
{
	struct sl_load_options *how = &l->how;
	enum sl_status rc = sl__options_copy(how, sizeof(*how), options,
					     "sl_load_options", err);

	if (!rc)
		rc = sl__plan_options_copy(&l->plan, &how->plan, err);
	if (rc)
		return rc;
	how->plan = &l->plan.plan;
	l->plan.plan.sizes = &l->plan.sizes;
	if (how->percentile == 0)
		how->percentile = how->scenario == SL_SCENARIO_SINGLE ? 0.9
								      : 0.99;
	if (how->time_s == 0)
		how->time_s = how->scenario != SL_SCENARIO_SERVER ? 10
			      : how->rate_per_s > 0               ? 20
								  : 60;
	if (!how->batch_most)
		how->batch_most = 1;
	if (!how->seed)
		how->seed = 1;
	if (how->interrupt)
		l->plan.plan.interrupt = how->interrupt;
	return check_numbers(how, err);
}

static enum sl_status
serve(size_t batch, void *ctx, struct sl_error *err)
{
	struct loader *l = ctx;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < l->n_repeats; i++)
		rc = sl_plan_run(l->subjects[batch].plan, err);
	return rc;
}

/* Runs a batch untimed, then a few times; the first run ever is kept. */
static enum sl_status
calibrate(struct loader *l, size_t batch, struct sl_error *err)
{
	double times[TIMED_RUNS];
	size_t n = 0;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && n < TIMED_RUNS; i++) {
		uint64_t begin = sl__clock_now_ns(NULL);
		double ns;

		rc = serve(batch, l, err);
		ns = (double)(sl__clock_now_ns(NULL) - begin);
		if (!i && !batch)
			l->out->latency.first_ns = ns;
		if (i >= WARMUP_RUNS)
			times[n++] = ns;
	}
	if (!rc)
		l->batches[batch].time_ns = sl__median_estimate(times, n);
	return rc;
}

static size_t
samples_of_query(const struct loader *l)
{
	if (l->how.plan->sizes->batch > 0)
		return (size_t)l->how.plan->sizes->batch;
	return l->how.scenario == SL_SCENARIO_MULTI     ? MULTI_SAMPLES
	       : l->how.scenario == SL_SCENARIO_OFFLINE ? OFFLINE_SAMPLES
							: 1;
}

/* A plan for so many queries at once, with inputs, tried. */
static enum sl_status
open_batch(struct loader *l, size_t n_queries, struct sl_error *err)
{
	struct sl_load *out = l->out;
	struct sl_sizes sizes = *l->how.plan->sizes;
	struct sl_plan_options plan = *l->how.plan;
	const struct sl__subject_model_options how = {
		.plan = &plan,
		.folder = l->how.inputs_folder,
		.seed = l->how.seed,
		.interrupt = l->how.interrupt,
	};
	size_t k = l->n_subjects;
	enum sl_status rc;

	plan.sizes = &sizes;
	if (n_queries * out->n_samples > 1 && !out->is_batch_fixed)
		sizes.batch = (int64_t)(n_queries * out->n_samples);
	rc = sl__subject_model_open(&l->subjects[k], l->graph, &how, err);
	if (rc)
		return rc;
	l->n_subjects++;
	l->server.batches[k] = l->batches[k].n_queries = n_queries;
	l->server.n_batches = l->n_subjects;
	return calibrate(l, k, err);
}

static enum sl_status
open_server(struct loader *l, struct sl_error *err)
{
	struct sl_load *out = l->out;
	enum sl_status rc = SL_OK;

	l->batches = sl__arena_array(l->arena, SL__LOAD_BATCHES_MOST,
				     sizeof(*l->batches));
	if (!l->batches)
		return sl__fail_nomem(err);
	out->n_samples = samples_of_query(l);
	/* What a model with a fixed batch cannot take at once runs in turn. */
	out->is_batch_fixed = !sl__shapes_batch_symbol(l->graph) &&
			      l->how.plan->sizes->batch == 0 &&
			      l->how.batch_most == 1;
	l->n_repeats = out->is_batch_fixed ? out->n_samples : 1;
	l->server.serve = serve;
	l->server.ctx = l;
	for (size_t n = 1; !rc && n <= l->how.batch_most; n *= 2)
		rc = open_batch(l, n, err);
	if (rc)
		return rc;
	out->batches = l->batches;
	out->n_batches = l->n_subjects;
	out->dtype = l->subjects[0].plan->options.dtype;
	out->n_threads = sl_plan_n_threads(l->subjects[0].plan);
	for (size_t i = 0; i < l->n_subjects; i++)
		out->capacity_per_s = fmax(out->capacity_per_s,
					   1e9 * (double)l->server.batches[i] /
						   l->batches[i].time_ns.value);
	return SL_OK;
}

static enum sl_status
run_once(struct loader *l, struct sl__load_run *run, double rate_per_s,
	 double time_s, struct sl_error *err)
{
	struct sl_load *out = l->out;
	double each_ns = l->batches[0].time_ns.value;
	const struct sl__load_run_options how = {
		.rate_per_s = rate_per_s,
		/* A schedule of as many queries as there is room for. */
		.time_s = rate_per_s > 0
				  ? fmin(time_s, 0.99 * SL__LOAD_QUERIES_MOST /
							 rate_per_s)
				  : time_s,
		/* Runs may turn out to be faster than those before. */
		.n_most = (size_t)fmin(4e9 * time_s / each_ns + 64,
				       SL__LOAD_QUERIES_MOST),
		.limit_ns = isnan(out->limit_ns) ? 0 : out->limit_ns,
		.late_share = 1 - out->percentile,
		.seed = l->how.seed + out->n_probes,
		.control = {.interrupt = l->how.interrupt,
			    .progress = l->how.progress,
			    .progress_ctx = l->how.progress_ctx},
	};
	enum sl_status rc =
		sl__load_run(run, &l->server, &how, &l->scratch, err);

	if (rc)
		return rc;
	out->rate_per_s = rate_per_s > 0 ? rate_per_s : (double)NAN;
	out->scheduled_per_s = rate_per_s > 0
				       ? (double)run->n_scheduled / how.time_s
				       : (double)NAN;
	sl__load_judge(out, run);
	return SL_OK;
}

/* One rate, noted; *holds by the verdict or, while that is open, by the share
 * of late queries. */
static enum sl_status
probe(struct loader *l, struct sl__load_run *run, struct sl_load_probe *p,
      int *holds, struct sl_error *err)
{
	struct sl_load *out = l->out;
	enum sl_status rc;

	sl__arena_clear(&l->scratch);
	rc = run_once(l, run, p->rate_per_s, p->time_s, err);
	if (rc)
		return rc;
	p->time_s = run->elapsed_s;
	p->n_served = run->n_served;
	p->n_late = out->n_late;
	p->verdict = out->verdict;
	out->n_probes++;
	*holds = out->verdict == SL_LOAD_HOLDS ||
		 (out->verdict == SL_LOAD_UNDECIDED &&
		  out->late_share <= 1 - out->percentile);
	return SL_OK;
}

/*
 * Halves the range below the capacity until it is a twentieth of that, then
 * confirms the highest rate that held; one that fails there is lowered by a
 * tenth.
 */
static enum sl_status
search(struct loader *l, struct sl__load_run *run, struct sl_error *err)
{
	struct sl_load *out = l->out;
	struct sl_load_probe *probes =
		sl__arena_array(l->arena, PROBES_MOST, sizeof(*probes));
	double low = 0, high = out->capacity_per_s, rate = 0.7 * high;
	double spent_s = 0;
	enum sl_status rc = SL_OK;
	int holds = 0;

	if (!probes)
		return sl__fail_nomem(err);
	out->probes = probes;
	while (!rc && out->n_probes < PROBES_MOST && !holds) {
		struct sl_load_probe *p = &probes[out->n_probes];
		int confirms = high - low < 0.05 * out->capacity_per_s;

		p->is_confirmation = confirms;
		p->rate_per_s = rate;
		/* For some queries at least, however short the time. */
		p->time_s = fmax(l->how.time_s * (confirms ? CONFIRM_SHARE
							   : PROBE_SHARE),
				 QUERIES_LEAST / rate);
		rc = probe(l, run, p, &holds, err);
		spent_s += p->time_s;
		if (rc || run->stopped_by == SL_STOP_INTERRUPT)
			return rc;
		if (confirms && !holds && spent_s > l->how.time_s)
			return SL_OK;
		if (confirms) {
			rate *= 0.9;
			continue;
		}
		*(holds ? &low : &high) = rate;
		holds = 0;
		rate = (low + high) / 2;
		if (high - low < 0.05 * out->capacity_per_s)
			rate = fmax(low, 0.02 * out->capacity_per_s);
	}
	return rc;
}

static enum sl_status
measure(struct loader *l, struct sl_error *err)
{
	struct sl_load *out = l->out;
	struct sl__load_run run;
	double before_j = sl__energy_joules(&l->meter);
	enum sl_status rc;

	if (l->how.scenario == SL_SCENARIO_SERVER && l->how.rate_per_s == 0)
		rc = search(l, &run, err);
	else
		rc = run_once(l, &run, l->how.rate_per_s, l->how.time_s, err);
	if (rc)
		return rc;
	out->energy_j =
		l->meter.absent
			? sl__absent(l->meter.absent)
			: sl__present(sl__energy_joules(&l->meter) - before_j);
	for (size_t i = 0; i < l->n_subjects; i++)
		l->batches[i].n_runs = run.n_runs[i];
	out->samples_per_s = sl__rate_estimate(
		(double)(out->n_samples * l->server.batches[l->n_subjects - 1]),
		&l->batches[l->n_subjects - 1].time_ns);
	return sl__load_summarize(out, &run, l->arena, err);
}

static enum sl_status
load_model(struct loader *l, struct sl_error *err)
{
	struct sl_load *out = l->out;
	enum sl_status rc;

	out->scenario = l->how.scenario;
	out->seed = l->how.seed;
	out->percentile = l->how.percentile;
	out->limit_ns = l->how.limit_s > 0 ? l->how.limit_s * 1e9 : (double)NAN;
	rc = sl__arena_copy_text(l->arena, &out->name, l->graph->name, err);
	if (!rc)
		rc = sl__arena_copy_text(l->arena, &out->source,
					 l->graph->source, err);
	if (!rc)
		rc = open_server(l, err);
	if (!rc)
		rc = sl__energy_open(&l->meter, "", l->arena, err);
	if (!rc)
		rc = measure(l, err);
	out->elapsed_s = (double)(sl__clock_now_ns(NULL) - l->start_ns) / 1e9;
	return rc;
}

enum sl_status
sl_load(struct sl_load **out, const struct sl_graph *graph,
	const struct sl_load_options *options, struct sl_error *err)
{
	struct loader l = {.graph = graph, .meter = {.fd = -1}};
	enum sl_status rc;

	*out = NULL;
	rc = take_options(&l, options, err);
	if (rc)
		return rc;
	l.start_ns = sl__clock_now_ns(NULL);
	l.out = sl__arena_object_new(&l.arena, l.how.allocator, sizeof(*l.out));
	if (!l.out)
		return sl__fail_nomem(err);
	sl__arena_init(&l.scratch, l.how.allocator);
	rc = load_model(&l, err);
	sl__energy_close(&l.meter);
	for (size_t i = 0; i < l.n_subjects; i++)
		sl__subject_model_close(&l.subjects[i]);
	sl__arena_release(&l.scratch);
	*out = sl__arena_object_free_on_error(l.out, rc);
	return rc;
}

void
sl_load_free(struct sl_load *load)
{
	sl__arena_object_free(load);
}
