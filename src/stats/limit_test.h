/* SPDX-License-Identifier: Apache-2.0 */
/* limit_test.h - whether a share of latencies exceeds what a limit allows. */
#ifndef SL_LIMIT_TEST_H
#define SL_LIMIT_TEST_H

#include <stddef.h>

/*
 * k of n queries were late, and at most the share q may be, 0 < q < 1.  For
 * independent queries that are late with probability r,
 *
 *   E = integral over s of (s/q)^k ((1-s)/(1-q))^(n-k) dBeta(s; 1/2, 1/2)
 *
 * with s, the alternatives, below q for the null r >= q, and above q for the
 * null r <= q, is a supermartingale of mean at most 1 under that null: each
 * factor's mean is linear in r, 1 at r = q, and falls into the null.  So
 * P(E >= 1/alpha at any time) <= alpha (Ville 1939), however often one looks.
 * Returns ln E; n and k need not be whole.
 */
double sl__limit_log_e_holds(double n, double k, double q); /* not r >= q */
double sl__limit_log_e_fails(double n, double k, double q); /* not r <= q */

/* Latencies in the order of arrival.  begins[i] is set where query i found the
 * server idle: a busy period begins, which knows nothing of those before. */
struct sl__latency_series {
	const double *x;
	const unsigned char *begins;
	size_t n;
};

/* What a series says of a limit. */
struct sl__limit_evidence {
	size_t n_late, n_periods;
	double n_independent; /* queries that n are worth */
	double log_e_holds, log_e_fails;
};

/* So many independent queries at least prove that a limit holds: with fewer, in
 * simulated queues, they are not known to be as many. */
enum { SL__LIMIT_INDEPENDENT_LEAST = 100 };

/*
 * Latencies in a queue depend on each other: late ones come together, and of
 * queues exactly at their limit, at a load of 0.7 and looked at as they go, the
 * bare test lets 3 of 4 pass.  So n and k are divided by the variance of "late" summed over busy
 * periods (Crane and Iglehart 1975) over that of independent ones, or by what
 * batch means say; the same of "above the quantile", for 0.5 to 0.95, counts
 * where it is more, as few queries are late, or none.  For "holds" n is not
 * worth more than it has busy periods, and below SL__LIMIT_INDEPENDENT_LEAST
 * log_e_holds is -inf.  This is for one look at the end of a series, not for a
 * look after each query.  scratch[] is twice as long as the series.
 */
void sl__limit_evidence_of(struct sl__limit_evidence *out,
			   const struct sl__latency_series *series,
			   double limit, double q, double *scratch);

/* How many queries, each worth 'share' of an independent one, prove that a
 * limit holds when none of them is late, at alpha 0.05. */
double sl__limit_needs_n(double q, double share);

/*
 * LoadGen's early stopping: the smallest h with P(Bin(h + t, 1 - p) <= t) <=
 * 0.01, so many in time prove the percentile p where t are late.
 */
size_t sl__early_stopping_in_time(size_t t, double p);

#endif
