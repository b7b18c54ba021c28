/* SPDX-License-Identifier: Apache-2.0 */
/* repeated_work.h - arithmetic that a decoder without cache does again. */
#ifndef SL_REPEATED_WORK_H
#define SL_REPEATED_WORK_H

#include <stdint.h>

/* FLOPs of one pass over n tokens: constant + linear n + quadratic n^2.  What
 * is done for every token is linear, products of attention are quadratic. */
struct sl__work_law {
	double constant, linear, quadratic;
};

/* The law through counts at 'first' and the next three sizes; 0 where no such
 * law gives all four. */
int sl__work_law_of(struct sl__work_law *out, const double flops[4],
		    int64_t first);

/* A pass that computes all n tokens. */
double sl__work_pass(const struct sl__work_law *law, int64_t n);

/* The part of it that belongs to the newest token: its own rows of linear
 * layers, and one query against n keys.  The rest is what the pass before did
 * already, and queries against a key that their mask hides. */
double sl__work_newest(const struct sl__work_law *law, int64_t n);

/* The share of a pass over n tokens that a cache saves, 0 to 1. */
double sl__repeated_share(const struct sl__work_law *law, int64_t n);

/* Passes of first to last tokens, all together; 0 where last < first. */
double sl__work_passes(const struct sl__work_law *law, int64_t first,
		       int64_t last);

/* The same of their newest tokens alone. */
double sl__work_newests(const struct sl__work_law *law, int64_t first,
			int64_t last);

#endif
