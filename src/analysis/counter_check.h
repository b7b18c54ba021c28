/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_check.h - verdicts held against what the CPU's counters counted.
 *
 * Verdicts come from experiments; counters can confirm or shake them, never
 * make one.  Up to three witnesses are heard on an operation:
 *
 *   lines    bytes per second in lines from a memory, as a share of what it
 *            gives.  For a verdict of that memory: from 50 % on; against it:
 *            below 10 %.  For compute: all below 50 %, DRAM among them; against
 *            any verdict but memory: one of them from 80 % on.
 *   stalls   share of cycles in which nothing was retired.  For memory: from
 *            50 % on; against it: below 15 %.  For compute: below 40 %; against
 *            it: from 70 % on.
 *   pace     instructions per cycle.  For memory: below 1; against it: from 2
 *            on.  For compute: from 1.5 on; against it: below 0.5.
 *
 * An operation that reaches half of the arithmetic ceiling needs no pace:
 * instructions on tiles or wide vectors are few, so neither stalls nor pace
 * speak against compute there.  A counter that had less than a fifth of the
 * time says nothing, and neither does one whose lines exceed what the memory
 * gives by a quarter: it counts something else.
 *
 * Each witness against takes 15 % off the confidence.  Where two of them speak
 * against a verdict and none for it, or its confidence falls below what a
 * verdict takes (SL__PROBABILITY_LEAST), it is withdrawn: unknown, confidence
 * 0.  Plain loops are known without any witness.
 */
#ifndef SL_COUNTER_CHECK_H
#define SL_COUNTER_CHECK_H

#include "base/arena.h"
#include "result/plan_counter_values.h"

/* Hands what was counted to the profile and the operations that were;
 * 'counted' and what it points to last as long as the profile. */
void sl__profile_attach_counts(struct sl_profile *profile,
			       const struct sl__plan_counter_values *counted);

/* What the counters of an operation say; NaN where they do not. */
struct sl__counter_rates {
	double per_cycle;      /* instructions */
	double stalled;        /* share of cycles */
	double bytes_per_s[3]; /* in lines from L2, L3, DRAM */
	double share[3];       /* of what these give */
};
void sl__counter_rates_of(struct sl__counter_rates *out,
			  const struct sl_operation *op,
			  const struct sl_profile *profile);

/* Checks the operation's judgement, which may be 'judgement'; nothing where it
 * has no counts.  Facts are from 'arena'. */
enum sl_status sl__judgement_cross_check(struct sl_judgement *judgement,
					 const struct sl_operation *op,
					 const struct sl_profile *profile,
					 struct sl__arena *arena,
					 struct sl_error *err) SL_CHECKED;

/* Fills measured_bytes of all traffic that was predicted: lines counted, or
 * why there are none. */
void sl__profile_fill_counted_traffic(struct sl_profile *profile);

#endif
