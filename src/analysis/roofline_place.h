/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_place.h - operations under the machine's roofs. */
#ifndef SL_ROOFLINE_PLACE_H
#define SL_ROOFLINE_PLACE_H

#include "base/arena.h"
#include "sleuth/profiling.h"

/* Fills the dtype of every operation, as sl__roofline_place() does; traffic
 * is predicted with it. */
void sl__profile_fill_op_dtypes(struct sl_profile *profile);

/*
 * Fills dtype, level, bound_ns, roof and ceiling_share of every operation and
 * the ceilings' ridge, from times, work, traffic and ceilings.  Without
 * ceilings what needs them is NaN and NULL.
 *
 * The bound of a call is the longest of its executed operations at the peak of
 * their type; its bytes at the bandwidth of the fastest memory of which each
 * thread's part holds its part of the working set; and, where traffic was
 * predicted, the least that comes from each memory because others pushed it
 * out of all nearer ones, at that memory's bandwidth.  A call that is faster
 * than a memory was served in part by a faster one, which is its roof then.
 * What is not counted has no bound.
 */
void sl__roofline_place(struct sl_profile *profile);

/*
 * Fills the rates of a profile whose operations are placed, checked (see
 * below) and given their parts.  What was found impossible is left out:
 * rates and bounds are then at least so much.
 */
void sl__profile_fill_rates(struct sl_profile *profile);

/* A rate that the machine does not exceed, so that what follows from it is a
 * bound: the upper end of a ceiling's interval, its value where it has none.
 * NaN: not measured.  'ceiling' may be NULL. */
double sl__roofline_ceiling_upper(const struct sl_estimate *ceiling);

/* That of the smallest memory that holds so many bytes, by the threads'
 * parts. */
double sl__roofline_bandwidth_at_size(const struct sl_ceilings *ceilings,
				      double n_bytes);

/*
 * Looks at a placed profile (see roofline_place.h) for figures that this
 * machine cannot reach.  An operation is flagged when its executed operations a
 * second, or its bytes, at the upper bound of its median time are above the
 * upper bound of the peak of its type, or of the fastest cache: 'impossible'
 * says so with the likely cause, ceiling_share and bound_ns become NaN.  Where
 * the type is not known only the highest peak counts.  All that is found, the
 * sum of operations above the wall included, is listed in profile->impossible.
 * Nominal rates above the peak, as Winograd's, are a remark.
 */
enum sl_status sl__profile_flag_impossible(struct sl_profile *profile,
					   struct sl__arena *arena,
					   struct sl_error *err) SL_CHECKED;

#endif
