/* SPDX-License-Identifier: Apache-2.0 */
/* memory_use.h - what a plan and its runs take, from the block to the pages. */
#ifndef SL_MEMORY_USE_H
#define SL_MEMORY_USE_H

#include "base/arena.h"
#include "memory/residence.h"
#include "result/tensor_lifetime.h"
#include "sleuth/profiling.h"

/* What the figures are made from; all borrowed. */
struct sl__memory_sources {
	const struct sl_plan *plan;
	const struct sl__tensor_lifetimes *tracking;
	const struct sl__residence *residence; /* paused first when the plan was
						  made; ended after its runs,
						  before the tracker's */
	uint64_t parameters_bytes;             /* as the model stores them */
};

/*
 * Fills all of 'out'; what it points to is from 'arena'.  Of a plan that found
 * weights made, by another plan of the graph that is alive, the figures are
 * those it would have alone: packed, reserved, touched and predicted bytes have
 * these weights, and the base, which had them too, has not.
 */
enum sl_status sl__memory_use_of(struct sl_memory_use *out,
				 const struct sl__memory_sources *sources,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

/* Tells the rest of the profile, whose memory is filled: what was alive while
 * each operation ran (they are by step), and what cannot be. */
enum sl_status sl__profile_fill_live_memory(struct sl_profile *profile,
					    struct sl__arena *arena,
					    struct sl_error *err) SL_CHECKED;

/*
 * Checks live <= planned <= reserved, which is the sum of its parts, the
 * tracker against the bound, and what was touched against what must have been;
 * fills efficiency or, where something cannot be, impossible.
 */
enum sl_status sl__memory_use_judge(struct sl_memory_use *use,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

#endif
