/* SPDX-License-Identifier: Apache-2.0 */
/* proportion.h - how often something happens, with an exact interval. */
#ifndef SL_PROPORTION_H
#define SL_PROPORTION_H

#include "sleuth/basics.h"

/*
 * k of n with the Clopper-Pearson (1934) interval of confidence 1 - alpha:
 * the rates that a two-sided binomial test at alpha does not reject.  Covers
 * at least nominally for any n >= 1; NaN with needs_n 1 for n == 0.  Assumes
 * independent trials.
 */
struct sl_estimate sl__proportion(size_t k, size_t n, double alpha);

#endif
