/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_place.h - operations under the machine's roofs. */
#ifndef SL_ROOFLINE_PLACE_H
#define SL_ROOFLINE_PLACE_H

#include "sleuth.h"

/*
 * Fills dtype, level, bound_ns, roof and ceiling_share of every operation and
 * the ceilings' ridge, from times, work and ceilings.  Without ceilings what
 * needs them is NaN and NULL.
 *
 * The bound of a call is the longer of its executed operations at the peak of
 * their type and its bytes at the bandwidth of the fastest memory of which
 * each thread's part holds its part of the working set.  A call that is faster
 * than that memory was served in part by a faster one, which is its roof then.
 */
void sl__roofline_place(struct sl_profile *profile);

/*
 * Fills the rates of a profile whose operations are placed, checked (see
 * physics.h) and given their parts.  What was found impossible is left out:
 * rates and bounds are then at least so much.
 */
void sl__roofline_rate(struct sl_profile *profile);

/* The measured peak of a type; NULL: none. */
const struct sl_estimate *sl__roofline_peak(const struct sl_ceilings *ceilings,
					    enum sl_dtype dtype);

#endif
