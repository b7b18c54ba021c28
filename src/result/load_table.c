/* SPDX-License-Identifier: Apache-2.0 */
/* load_table.c - fields of a model under load. */
#include "result/tables.h"
#include "result/words.h"
#include "sleuth/loading.h"

#include <math.h>

#include "base/banned.h"

#define MS .unit = SL__NS_PER_MS

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_load, name, "name", "of the model"),
	SL__F(TEXT, sl_load, source, "source", "path, or zoo"),
};
static SL__RECORD(model, "model", sl_load, model_fields, 0);

static const struct sl__field plan_fields[] = {
	SL__F(WORD, sl_load, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_load, n_threads, "threads", "that it runs on"),
};
static SL__RECORD(plan, "plan", sl_load, plan_fields, 0);

SL__WHY(no_schedule, sl_load, l,
	l->scenario == SL_SCENARIO_SERVER
		? NULL
		: "the next query comes when one is served")
SL__WHY(never_idle, sl_load, l,
	l->scenario != SL_SCENARIO_SERVER
		? "the next query comes when one is served"
	: l->lateness_p50.n ? NULL
			    : "the server was never idle")

static const struct sl__field lateness_fields[] = {
	SL__F(WHOLE, sl_load, lateness_p50.n, "n",
	      "queries that found the server idle"),
	SL__F(NUMBER, sl_load, lateness_p50.value, "p50_ms", "percentile", MS,
	      .why = never_idle),
	SL__F(INTERVAL, sl_load, lateness_p50, "p50_ci95_ms",
	      "its 95 % interval", MS, .why = never_idle),
	SL__F(QUANTILE, sl_load, lateness_p90, "p90_ms", "percentile", MS,
	      .why = never_idle),
	SL__F(INTERVAL, sl_load, lateness_p90, "p90_ci95_ms",
	      "its 95 % interval", MS, .why = never_idle),
	SL__F(QUANTILE, sl_load, lateness_p99, "p99_ms", "percentile", MS,
	      .why = never_idle),
	SL__F(INTERVAL, sl_load, lateness_p99, "p99_ci95_ms",
	      "its 95 % interval", MS, .why = never_idle),
	SL__F(NUMBER, sl_load, lateness_max_ns, "max_ms", "the longest", MS,
	      .why = never_idle),
};
static SL__RECORD(lateness, "load.lateness", sl_load, lateness_fields, 0);

static const struct sl__field queue_fields[] = {
	SL__F(NUMBER, sl_load, depth_mean, "depth_mean",
	      "queries that waited when one arrived"),
	SL__F(WHOLE, sl_load, depth_most, "depth_most", "likewise, the most"),
	SL__F(NUMBER, sl_load, busy_share, "busy_share",
	      "of the time, serving"),
	SL__F(BOOLEAN, sl_load, is_overloaded, "overloaded",
	      "arrivals outran the server: more were left at the last arrival "
	      "than three times the root of their number"),
};
static SL__RECORD(queue, "load.queue", sl_load, queue_fields, 0);

SL__WHY(no_limit, sl_load, l, isnan(l->limit_ns) ? "no limit" : NULL)
SL__WHY(not_needed, sl_load, l,
	isnan(l->limit_ns)                   ? "no limit"
	: l->verdict != SL_LOAD_UNDECIDED    ? "decided"
	: l->late_share >= 1 - l->percentile ? "too many are late"
					     : NULL)

static const struct sl__field slo_fields[] = {
	SL__F(NUMBER, sl_load, percentile, "percentile",
	      "share of queries that must stay within the limit"),
	SL__F(NUMBER, sl_load, limit_ns, "limit_ms", "of the latency", MS,
	      .absent = "no limit"),
	SL__F(WHOLE, sl_load, n_late, "late", "queries beyond it"),
	SL__F(NUMBER, sl_load, late_share, "late_share", "of all"),
	SL__F(NUMBER, sl_load, n_independent, "independent_queries",
	      "that they are worth: in a queue late ones come together",
	      .why = no_limit),
	SL__F(EXTENDED, sl_load, log_e_holds, "log_e_holds",
	      "logarithm of the e-value for \"holds\"; 3 proves it at 5 %",
	      .why = no_limit),
	SL__F(EXTENDED, sl_load, log_e_fails, "log_e_fails",
	      "the same for \"fails\"", .why = no_limit),
	SL__F(WHOLE, sl_load, needs_n, "needs_queries",
	      "about so many, none late, would prove that it holds",
	      .why = not_needed),
};
static SL__RECORD(slo, "load.slo", sl_load, slo_fields, 0);

static const struct sl__field batch_fields[] = {
	SL__F(WHOLE, sl_load_batch, n_queries, "queries", "served together"),
	SL__F(WHOLE, sl_load_batch, n_runs, "runs", "under load"),
	SL__F_TIME(sl_load_batch, time_ns, "median",
		   "of running it, before the load", NULL),
};
static SL__RECORD(batch, "load.batches", sl_load_batch, batch_fields, 0);

SL__WHY(no_query, sl_load_stretch, s, s->n ? NULL : "no query arrived")

static const struct sl__field stretch_fields[] = {
	SL__F(NUMBER, sl_load_stretch, at_s, "at_ms", "its middle",
	      .factor = 1e3),
	SL__F(WHOLE, sl_load_stretch, n, "queries", "that arrived in it"),
	SL__F(NUMBER, sl_load_stretch, median_ns, "median_ms",
	      "of their latencies", MS, .why = no_query, .is_left_out = 1),
	SL__F(NUMBER, sl_load_stretch, max_ns, "max_ms", "the longest", MS,
	      .why = no_query, .is_left_out = 1),
	SL__F(WHOLE, sl_load_stretch, depth_most, "depth_most",
	      "queries that waited, the most"),
};
static SL__RECORD(stretch, "load.over_time", sl_load_stretch, stretch_fields,
		  0);

static const struct sl__field probe_fields[] = {
	SL__F(NUMBER, sl_load_probe, rate_per_s, "rate_per_s", "tried"),
	SL__F(NUMBER, sl_load_probe, time_s, "time_ms", "that it took",
	      .factor = 1e3),
	SL__F(WHOLE, sl_load_probe, n_served, "served", "queries"),
	SL__F(WHOLE, sl_load_probe, n_late, "late", "beyond the limit"),
	SL__F(WORD, sl_load_probe, verdict, "verdict",
	      "of this run; undecided goes by the share of late queries",
	      .words = &sl__words_load_verdict),
	SL__F(BOOLEAN, sl_load_probe, is_confirmation, "confirmation",
	      "a longer run of the rate that was found"),
};
static SL__RECORD(probe, "load.search", sl_load_probe, probe_fields, 0);

static const struct sl__field rules_fields[] = {
	SL__F(NUMBER, sl_load_rules, duration_s, "duration_ms",
	      "that a run lasts at least", .factor = 1e3),
	SL__F(BOOLEAN, sl_load_rules, has_duration, "has_duration",
	      "it lasted so long"),
	SL__F(WHOLE, sl_load_rules, n_queries, "queries",
	      "that it serves at least: early stopping, with as many late "
	      "ones; offline 24,576 samples"),
	SL__F(BOOLEAN, sl_load_rules, has_queries, "has_queries",
	      "it served so many"),
};
static SL__RECORD(rules, "load.loadgen", sl_load_rules, rules_fields, 0);

static const struct sl__field under_fields[] = {
	SL__F(WORD, sl_load, scenario, "scenario", "of MLPerf",
	      .words = &sl__words_scenario),
	SL__F(WORD, sl_load, verdict, "verdict", "whether the limit holds",
	      .words = &sl__words_load_verdict),
	SL__F(NUMBER, sl_load, rate_per_s, "target_per_s",
	      "queries that arrive in a second, as asked for or found",
	      .why = no_schedule),
	SL__F(NUMBER, sl_load, scheduled_per_s, "scheduled_per_s",
	      "in the schedule that was drawn", .why = no_schedule),
	SL__F(NUMBER, sl_load, achieved_per_s, "achieved_per_s",
	      "queries served in a second"),
	SL__F(NUMBER, sl_load, capacity_per_s, "capacity_per_s",
	      "queries in a second, were one always there"),
	SL__F_ESTIMATE(sl_load, samples_per_s, "samples_per_s",
		       "while it runs the largest batch", NULL),
	SL__F(WHOLE, sl_load, n_samples, "samples_per_query", "in each"),
	SL__F(BOOLEAN, sl_load, is_batch_fixed, "one_by_one",
	      "the model's batch is fixed: samples of a query ran in turn"),
	SL__F(WHOLE, sl_load, n_scheduled, "scheduled", "queries"),
	SL__F(WHOLE, sl_load, n_served, "served", "queries"),
	SL__F(WHOLE, sl_load, n_unserved, "unserved",
	      "queries that arrived and still waited at the end"),
	SL__F(QUANTILE, sl_load, p999, "p99_9_ms", "percentile of the latency",
	      MS),
	SL__F(INTERVAL, sl_load, p999, "p99_9_ci95_ms", "its 95 % interval",
	      MS),
	SL__F_GROUP(&lateness, "lateness",
		    "how late queries were handed to an idle server; part of "
		    "the latency"),
	SL__F_GROUP(&queue, "queue", "queries that waited"),
	SL__F_GROUP(&slo, "slo", "the latency limit"),
	SL__F_LIST(LIST, sl_load, batches, n_batches, "batches",
		   "queries that were served together", .of = &batch),
	SL__F_LIST(LIST, sl_load, probes, n_probes, "search",
		   "rates that were tried, in order", .of = &probe,
		   .is_flat = 1),
	SL__F_LIST(LIST, sl_load, over_time, n_over_time, "over_time",
		   "queries by when they arrived", .of = &stretch,
		   .is_flat = 1),
	SL__F(OBJECT, sl_load, rules, "loadgen",
	      "what MLPerf's LoadGen asks for", .of = &rules),
	SL__F(READING, sl_load, energy_j, "energy_j",
	      "of the CPU package, while it was measured"),
	SL__F(NUMBER, sl_load, load_s, "load_ms", "under load, at this rate",
	      .factor = 1e3),
};
static SL__RECORD(under, "load", sl_load, under_fields, 0);

static const struct sl__field load_fields[] = {
	SL__F_GROUP(&model, "model", "that was put under load"),
	SL__F_GROUP(&plan, "plan", "how it was run"),
	SL__F(OBJECT, sl_load, latency, "latency",
	      "of the queries served, since each was to arrive",
	      .of = &sl__table_latency),
	SL__F_GROUP(&under, "load", "queries, and how they were served"),
	SL__F(OBJECT, sl_load, noise, "noise", "what disturbed the measurement",
	      .of = &sl__table_noise),
	SL__F_ENDING(sl_load),
};

static void
settle_load(void *record)
{
	struct sl_load *l = record;

	l->p999.n = l->n_served;
	l->lateness_p90.n = l->lateness_p99.n = l->lateness_p50.n;
}

SL__RECORD(sl__table_load, "load", sl_load, load_fields, .settle = settle_load);
