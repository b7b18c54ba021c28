/* SPDX-License-Identifier: Apache-2.0 */
/* latency_table.c - fields of a series of times, its noise, a comparison. */
#include "result/tables.h"
#include "result/words.h"

#include "base/banned.h"

#define MS .unit = SL__NS_PER_MS

SL__WHY(too_few_for_spread, sl_latency, l, l->n < 2 ? "needs n >= 2" : NULL)
SL__WHY(too_few_for_lag, sl_latency, l, l->n < 3 ? "needs n >= 3" : NULL)

static const struct sl__field warmup_fields[] = {
	SL__F(WORD, sl_latency, warmup, "class",
	      "how the series begins; none: it never became steady; unknown: "
	      "too few times",
	      .words = &sl__words_warmup),
	SL__F(WHOLE, sl_latency, n_warmup, "n", "times left out"),
};
static SL__RECORD(warmup, "warmup", sl_latency, warmup_fields, 0);

static const struct sl__field outlier_fields[] = {
	SL__F(WHOLE, sl_latency, n_outliers_low, "low",
	      "by 0.6745·|x − median| / MAD > 3.5, each side with its own "
	      "MAD; labelled, not removed"),
	SL__F(WHOLE, sl_latency, n_outliers_high, "high", "likewise"),
};
static SL__RECORD(outliers, "outliers", sl_latency, outlier_fields, 0);

static const struct sl__field sample_fields[] = {
	SL__F(NUMBER, sl_sample, ns, "ms", "the time", MS),
	SL__F(WHOLE, sl_sample, round, "round", "in which it was taken"),
	SL__F(BOOLEAN, sl_sample, is_warmup, "warmup",
	      "before the steady state"),
	SL__F(BOOLEAN, sl_sample, is_disturbed, "disturbed",
	      "something else ran meanwhile"),
};
static SL__RECORD(sample, "latency.samples", sl_sample, sample_fields, 0);

static const struct sl__field latency_fields[] = {
	SL__F(WHOLE, sl_latency, n, "n",
	      "times in the steady state; all below is over these"),
	SL__F(NUMBER, sl_latency, median.value, "median_ms", "the median", MS),
	SL__F(INTERVAL, sl_latency, median, "ci95_ms", "its 95 % interval", MS),
	SL__F(WORD, sl_latency, median.method, "method",
	      "how the interval was found: order statistics (independent "
	      "times), block bootstrap (correlated ones), batch means (more "
	      "than 5000 correlated ones), none (refused)",
	      .words = &sl__words_method),
	SL__F(NUMBER, sl_latency, mean.value, "mean_ms", "the mean", MS),
	SL__F(INTERVAL, sl_latency, mean, "mean_ci95_ms", "its 95 % interval",
	      MS),
	SL__F(NUMBER, sl_latency, std_ns, "std_ms",
	      "standard deviation, n − 1 below", MS, .why = too_few_for_spread),
	SL__F(NUMBER, sl_latency, min_ns, "min_ms", "the shortest", MS),
	SL__F(NUMBER, sl_latency, max_ns, "max_ms", "the longest", MS),
	SL__F(NUMBER, sl_latency, mad_ns, "mad_ms",
	      "median of the distances from the median, not scaled", MS),
	SL__F(NUMBER, sl_latency, skewness, "skewness",
	      "adjusted Fisher-Pearson G1",
	      .absent = "needs n >= 3 and values that differ"),
	SL__F(NUMBER, sl_latency, median.value, "p50_ms",
	      "the median under its other name", MS),
	SL__F(QUANTILE, sl_latency, p90, "p90_ms", "percentile", MS),
	SL__F(INTERVAL, sl_latency, p90, "p90_ci95_ms", "its 95 % interval",
	      MS),
	SL__F(QUANTILE, sl_latency, p95, "p95_ms", "percentile", MS),
	SL__F(INTERVAL, sl_latency, p95, "p95_ci95_ms", "its 95 % interval",
	      MS),
	SL__F(QUANTILE, sl_latency, p99, "p99_ms", "percentile", MS),
	SL__F(INTERVAL, sl_latency, p99, "p99_ci95_ms", "its 95 % interval",
	      MS),
	SL__F(NUMBER, sl_latency, first_ns, "first_ms",
	      "the cold first call or run; among the n only for commands "
	      "without warm-up",
	      MS),
	SL__F_GROUP(&warmup, "warmup", "times before the steady state"),
	SL__F_GROUP(&outliers, "outliers", "times far from the others"),
	SL__F(NUMBER, sl_latency, autocorrelation, "autocorrelation", "lag 1",
	      .why = too_few_for_lag),
	SL__F(NUMBER, sl_latency, minimum_detectable, "minimum_detectable",
	      "smallest relative change that a second series like this would "
	      "show with 80 % power",
	      .absent = "the median has no interval"),
	SL__F_LIST(LIST, sl_latency, samples, n_samples, "samples",
		   "in order, warm-up first, thinned where there were too many",
		   .of = &sample, .is_flat = 1, .is_left_out = 1),
};

/* All figures are over the same times. */
static void
settle_latency(void *record)
{
	struct sl_latency *l = record;

	l->mean.n = l->median.n = l->p90.n = l->p95.n = l->p99.n = l->n;
}

SL__RECORD(sl__table_latency, "latency", sl_latency, latency_fields,
	   .settle = settle_latency);

static const struct sl__field noise_fields[] = {
	SL__F(WHOLE, sl_noise, n_slots, "slots", "stretches between readings"),
	SL__F(WHOLE, sl_noise, n_disturbed, "disturbed", "of these"),
	SL__F(READING, sl_noise, involuntary_switches, "involuntary_switches",
	      "times that the scheduler took the CPU away"),
	SL__F(READING, sl_noise, run_delay_share, "run_delay_share",
	      "time spent runnable but waiting for a CPU, of the wall time"),
	SL__F(READING, sl_noise, steal_share, "steal_share",
	      "taken by the hypervisor, of all CPU time"),
	SL__F(READING, sl_noise, migrations, "migrations", "changes of CPU"),
	SL__F(READING, sl_noise, neighbour_share, "neighbour_share",
	      "CPU time used by others, of what the machine has"),
	SL__F(READING, sl_noise, frequency_drift, "frequency_drift",
	      "spread of a short probe whose time depends on the core's clock "
	      "alone: (p90 − p10) / p50"),
	SL__F(READING, sl_noise, throttle_events, "throttle_events",
	      "thermal throttlings"),
};
SL__RECORD(sl__table_noise, "noise", sl_noise, noise_fields, 0);

static const struct sl__field accuracy_delta_fields[] = {
	SL__F(NUMBER, sl_comparison, accuracy_delta.value, "value",
	      "as a share"),
	SL__F(INTERVAL, sl_comparison, accuracy_delta, "ci95",
	      "its 95 % interval"),
	SL__F(WHOLE, sl_comparison, accuracy_delta.n, "n", "samples"),
};
static SL__RECORD(accuracy_delta, "comparison.accuracy_delta", sl_comparison,
		  accuracy_delta_fields, 0);

SL__WHY(no_accuracy, sl_comparison, c,
	c->accuracy_delta.n ? NULL : "nothing here has an accuracy")

static const struct sl__field comparison_fields[] = {
	SL__F(TEXT, sl_comparison, a, "a", "name of the baseline"),
	SL__F(TEXT, sl_comparison, b, "b", "name of the other"),
	SL__F(NUMBER, sl_comparison, ratio.value, "ratio",
	      "time B / time A, median over rounds"),
	SL__F(INTERVAL, sl_comparison, ratio, "ci95",
	      "its interval, valid however often it is looked at"),
	SL__F(NUMBER, sl_comparison, speedup, "speedup", "1 / ratio"),
	SL__F_ESTIMATE(sl_comparison, cpu_ratio, "cpu_ratio",
		       "the same of CPU time", NULL),
	SL__F(READING, sl_comparison, memory_ratio, "memory_ratio",
	      "peak memory A / peak memory B"),
	SL__F_GROUP(&accuracy_delta, "accuracy_delta",
		    "of models, on data: accuracy B - A over the same samples",
		    .why = no_accuracy),
	SL__F(WORD, sl_comparison, verdict, "verdict",
	      "B against A; same: within the margin",
	      .words = &sl__words_verdict),
	SL__F(WORD, sl_comparison, gate, "gate",
	      "is B worse by more than the margin?", .words = &sl__words_gate),
	SL__F(NUMBER, sl_comparison, margin, "margin",
	      "the change that does not matter"),
	SL__F(WHOLE, sl_comparison, n_rounds, "rounds", "rounds that count"),
	SL__F(WHOLE, sl_comparison, n_left_out, "left_out",
	      "further rounds that do not, because something disturbed them; "
	      "the rule cannot tell A from B"),
	SL__F(WHOLE, sl_comparison, n_disturbed, "disturbed",
	      "disturbed rounds, counted or not"),
	SL__F(NUMBER, sl_comparison, log_e, "log_e",
	      "natural logarithm of the e-value against \"no change\""),
	SL__F(NUMBER, sl_comparison, minimum_detectable, "minimum_detectable",
	      "relative change, margin included, that as many rounds again "
	      "would find with 80 % power",
	      .absent = "too few rounds"),
	SL__F(NUMBER, sl_comparison, decided_after_s, "decided_after_ms",
	      "when the verdict fell", .factor = 1e3, .absent = "undecided"),
};

static void
settle_comparison(void *record)
{
	struct sl_comparison *c = record;

	c->ratio.n = c->n_rounds;
}

SL__RECORD(sl__table_comparison, "comparison", sl_comparison, comparison_fields,
	   .settle = settle_comparison);
