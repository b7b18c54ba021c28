/* SPDX-License-Identifier: Apache-2.0 */
/* load_figures.c - what a run under load says. */
#include "driver/load_figures.h"
#include "base/status.h"
#include "stats/distribution.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>

#include "base/banned.h"

const char *
sl_scenario_text(enum sl_scenario scenario)
{
	static const char *const words[] = {"single", "multi", "server",
					    "offline"};

	return (unsigned)scenario < SL_N_SCENARIOS ? words[scenario]
						   : "unknown";
}

const char *
sl_load_verdict_text(enum sl_load_verdict verdict)
{
	static const char *const words[] = {"no limit", "holds", "fails",
					    "undecided", "invalid"};

	return (unsigned)verdict <= SL_LOAD_INVALID ? words[verdict]
						    : "unknown";
}

static enum sl_load_verdict
verdict_of(const struct sl_load *load, struct sl__load_run *run,
	   const struct sl__limit_evidence *e)
{
	struct sl__limit_evidence on_time;

	if (load->is_overloaded)
		return SL_LOAD_FAILS;
	if (isnan(load->limit_ns))
		return SL_LOAD_UNLIMITED;
	if (e->log_e_holds >= log(20))
		return SL_LOAD_HOLDS;
	if (e->log_e_fails < log(20))
		return SL_LOAD_UNDECIDED;
	sl__load_run_evidence(&on_time, run, load->limit_ns,
			      1 - load->percentile, 1);
	return on_time.log_e_fails >= log(20) ? SL_LOAD_FAILS : SL_LOAD_INVALID;
}

void
sl__load_judge(struct sl_load *load, struct sl__load_run *run)
{
	double q = 1 - load->percentile, n;
	struct sl__limit_evidence e = {.n_late = 0};

	if (!isnan(load->limit_ns))
		sl__load_run_evidence(&e, run, load->limit_ns, q, 0);
	n = (double)(run->n_served > e.n_late ? run->n_served : e.n_late);
	load->is_overloaded = load->scenario == SL_SCENARIO_SERVER &&
			      sl__load_is_overloaded(run);
	load->n_late = e.n_late;
	load->late_share = (double)e.n_late / n;
	load->n_independent = e.n_independent;
	load->log_e_holds = e.log_e_holds;
	load->log_e_fails = e.log_e_fails;
	load->verdict = verdict_of(load, run, &e);
	load->needs_n = 0;
	if (load->verdict == SL_LOAD_UNDECIDED && load->late_share < q)
		load->needs_n = (size_t)sl__limit_needs_n(
			q, fmin(e.n_independent / n, 1));
}

/* How many waited when query i arrived, itself left out; *begun are those
 * before it that had been begun by then. */
static size_t
depth_at(const struct sl__load_run *run, size_t i, size_t *begun)
{
	while (*begun < i && *begun < run->n_served &&
	       run->begin_ns[*begun] <= run->due_ns[i])
		(*begun)++;
	return i - *begun;
}

/* Queries from *next on that arrived before end_ns; what those of them that
 * were served took, and how many waited; returns the sum of that. */
static size_t
fill_stretch(struct sl_load_stretch *s, const struct sl__load_run *run,
	     double end_ns, size_t *next, size_t *begun)
{
	size_t sum = 0;

	s->median_ns = s->max_ns = (double)NAN;
	for (; *next < run->n_arrived && (double)run->due_ns[*next] < end_ns;
	     (*next)++) {
		size_t depth = depth_at(run, *next, begun);

		if (depth > s->depth_most)
			s->depth_most = depth;
		sum += depth;
		if (*next < run->n_served)
			run->scratch[s->n++] = run->latency_ns[*next];
	}
	if (s->n) {
		s->median_ns = sl__median_in_place(run->scratch, s->n);
		s->max_ns = run->scratch[s->n - 1];
	}
	return sum;
}

static enum sl_status
draw_over_time(struct sl_load *load, const struct sl__load_run *run,
	       struct sl__arena *arena, struct sl_error *err)
{
	struct sl_load_stretch *list = sl__arena_array(
		arena, SL__LOAD_STRETCHES, sizeof(struct sl_load_stretch));
	double each_s = run->elapsed_s / SL__LOAD_STRETCHES;
	size_t next = 0, begun = 0, sum = 0;

	if (!list)
		return sl__fail_nomem(err);
	for (size_t k = 0; k < SL__LOAD_STRETCHES; k++) {
		struct sl_load_stretch *s = &list[k];

		s->at_s = ((double)k + 0.5) * each_s;
		sum += fill_stretch(s, run, 1e9 * (double)(k + 1) * each_s,
				    &next, &begun);
		if (s->depth_most > load->depth_most)
			load->depth_most = s->depth_most;
	}
	load->depth_mean = (double)sum / (double)run->n_arrived;
	load->over_time = list;
	load->n_over_time = SL__LOAD_STRETCHES;
	return SL_OK;
}

static void
find_lateness(struct sl_load *load, const struct sl__load_run *run)
{
	size_t n = 0;

	load->lateness_max_ns = (double)NAN;
	for (size_t i = 0;
	     load->scenario == SL_SCENARIO_SERVER && i < run->n_served; i++) {
		if (run->begins[i])
			run->scratch[n++] = sl__load_lateness_ns(run, i);
	}
	load->lateness_p50 = load->lateness_p90 = load->lateness_p99 =
		sl__no_estimate();
	if (!n)
		return;
	sl__sort(run->scratch, n);
	load->lateness_p50 = sl__quantile_estimate(run->scratch, n, .5, .05);
	load->lateness_p90 = sl__quantile_estimate(run->scratch, n, .9, .05);
	load->lateness_p99 = sl__quantile_estimate(run->scratch, n, .99, .05);
	load->lateness_max_ns = run->scratch[n - 1];
}

static void
hold_against_rules(struct sl_load *load)
{
	struct sl_load_rules *r = &load->rules;

	r->duration_s = SL__LOADGEN_SECONDS;
	r->n_queries =
		sl__early_stopping_in_time(load->n_late, load->percentile) +
		load->n_late;
	if (load->scenario == SL_SCENARIO_OFFLINE)
		r->n_queries = SL__LOADGEN_OFFLINE_SAMPLES / load->n_samples;
	/* Where no limit says which are late, an estimate of the percentile
	 * stands on one that is beyond it. */
	else if (isnan(load->limit_ns))
		r->n_queries =
			1 + sl__early_stopping_in_time(1, load->percentile);
	r->has_duration = load->load_s >= r->duration_s;
	r->has_queries = load->n_served >= r->n_queries;
}

static enum sl_status
describe_latency(struct sl_load *load, const struct sl__load_run *run,
		 struct sl__arena *arena, struct sl_error *err)
{
	struct sl__rng rng;
	struct sl__distribution_options how = {.alpha = 0.05,
					       .samples_per_slot = 1,
					       .warmup_is_fixed = 1,
					       .rng = &rng};
	double first_ns = load->latency.first_ns;
	struct sl__arena scratch;
	enum sl_status rc;

	sl__arena_init(&scratch, &arena->allocator);
	sl__rng_init(&rng, load->seed);
	rc = sl__distribution_summarize(&load->latency, run->latency_ns,
					run->n_served, &how, &scratch, err);
	load->latency.first_ns = first_ns;
	sl__arena_release(&scratch);
	for (size_t i = 0; i < run->n_served; i++)
		run->scratch[i] = run->latency_ns[i];
	sl__sort(run->scratch, run->n_served);
	load->p999 =
		sl__quantile_estimate(run->scratch, run->n_served, .999, .05);
	return rc;
}

enum sl_status
sl__load_summarize(struct sl_load *load, const struct sl__load_run *run,
		   struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc = describe_latency(load, run, arena, err);

	if (!rc)
		rc = draw_over_time(load, run, arena, err);
	if (rc)
		return rc;
	find_lateness(load, run);
	load->n_scheduled = load->scenario == SL_SCENARIO_SERVER
				    ? run->n_scheduled
				    : run->n_served;
	load->n_served = run->n_served;
	load->n_unserved = run->n_arrived - run->n_served;
	load->load_s = run->elapsed_s;
	load->achieved_per_s = (double)run->n_served / run->elapsed_s;
	load->busy_share = run->busy_s / run->elapsed_s;
	load->noise = run->noise;
	load->stopped_by = run->stopped_by;
	hold_against_rules(load);
	return SL_OK;
}
