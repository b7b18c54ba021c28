/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals.h - when queries arrive, decided before the first of them. */
#ifndef SL_ARRIVALS_H
#define SL_ARRIVALS_H

#include "base/rng.h"

/*
 * Fills due_ns[0..cap-1] with the arrivals of a Poisson process of per_s > 0 a
 * second before time_s: independent exponential gaps, whatever the server does.
 * Returns how many there are; cap: as many as there is room for.
 */
size_t sl__arrivals_poisson(uint64_t *due_ns, size_t cap, double per_s,
			    double time_s, struct sl__rng *rng);

/* Room that such a process outgrows once in 10^9 times: the mean and six
 * standard deviations, and 16 for a mean of next to nothing. */
size_t sl__arrivals_cap(double per_s, double time_s);

#endif
