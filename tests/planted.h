/* SPDX-License-Identifier: Apache-2.0 */
/* planted.h - results made by hand, for the tests of reports. */
#ifndef SL_TEST_PLANTED_H
#define SL_TEST_PLANTED_H

#include "sleuth.h"

#include <math.h>

static inline struct sl_estimate
planted_estimate(double value, double lo, double hi)
{
	struct sl_estimate e = {value, lo, hi, 42, 0, SL_METHOD_ORDER};

	return e;
}

static inline struct sl_estimate
planted_refusal(double value, size_t needs_n)
{
	struct sl_estimate e = {value, (double)NAN, (double)NAN,
				42,    needs_n,     SL_METHOD_NONE};

	return e;
}

/* 42 times around 'ms' milliseconds; p95 and p99 are refused. */
static inline struct sl_latency
planted_latency(double ms)
{
	double ns = 1e6 * ms;
	struct sl_latency l = {
		.n = 42,
		.min_ns = 0.95 * ns,
		.max_ns = 1.5 * ns,
		.std_ns = 0.05 * ns,
		.mad_ns = 0.01 * ns,
		.skewness = 2.5,
		.mean = planted_estimate(1.01 * ns, 0.99 * ns, 1.03 * ns),
		.median = planted_estimate(ns, 0.99 * ns, 1.02 * ns),
		.p90 = planted_estimate(1.2 * ns, 1.1 * ns, 1.3 * ns),
		.p95 = planted_refusal(1.3 * ns, 72),
		.p99 = planted_refusal(1.5 * ns, 368),
		.first_ns = 2 * ns,
		.warmup = SL_WARMUP_WARMING,
		.n_warmup = 3,
		.n_outliers_low = 1,
		.n_outliers_high = 2,
		.autocorrelation = 0.125,
		.minimum_detectable = 0.025,
	};

	return l;
}

/* Four of 80 slots disturbed; steal and throttling not visible. */
static inline struct sl_noise
planted_noise(void)
{
	struct sl_noise noise = {
		.n_slots = 80,
		.n_disturbed = 4,
		.involuntary_switches = {7, NULL},
		.run_delay_share = {0.015, NULL},
		.steal_share = {(double)NAN, "no /proc/stat"},
		.migrations = {2, NULL},
		.neighbour_share = {0.25, NULL},
		.frequency_drift = {0, NULL},
		.throttle_events = {(double)NAN, "no such counter"},
	};

	return noise;
}

/* B against A with this ratio, give or take 2 %. */
static inline struct sl_comparison
planted_comparison(const char *a, const char *b, double ratio,
		   enum sl_verdict verdict)
{
	struct sl_comparison c = {
		.a = a,
		.b = b,
		.ratio = planted_estimate(ratio, 0.98 * ratio, 1.02 * ratio),
		.speedup = 1 / ratio,
		.cpu_ratio = planted_refusal(ratio, 6),
		.memory_ratio = {2, NULL},
		.verdict = verdict,
		.gate = verdict == SL_VERDICT_FASTER ? SL_GATE_OK
						     : SL_GATE_UNDECIDED,
		.margin = 0.01,
		.n_rounds = 42,
		.n_disturbed = 5,
		.n_left_out = 3,
		.log_e = 3.5,
		.minimum_detectable = 0.02,
		.decided_after_s = verdict == SL_VERDICT_UNDECIDED ? (double)NAN
								   : 1.5,
	};

	return c;
}

#endif
