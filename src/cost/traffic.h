/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.h - how many bytes each step moves between caches, predicted.
 *
 * The idea.  A cache of M bytes keeps what was touched last.  A step finds
 * what it reads there if no more than M distinct bytes were touched since
 * these bytes were last touched; if more were, they have to come from beyond.
 * What a step writes goes back there if more than M distinct bytes are
 * touched before somebody touches it again.  Passes repeat, so that before the
 * first step comes the last one: weights stay in a cache that holds all of a
 * pass, and come anew in every pass where none does.
 *
 * Steps touch addresses, not tensors: a result that is written where another
 * one was finds those lines in the cache.  A step is taken to walk through all
 * its operands side by side, from front to end.  Of an operand at a part f of
 * its way there were touched since: what lay behind that part in the step that
 * touched it last, all of the steps in between, and what lies before it in the
 * step under way.  That grows or shrinks evenly with f, and where it crosses M
 * a part of the operand is still there.
 *
 * A matrix product or convolution whose operands exceed the cache has to fetch
 * some of them again.  No order of n multiply-adds does with less than
 * 2 n / sqrt(S) - 2 S elements in a cache of S of them; of a convolution whose
 * window covers each input R times, 2 n / sqrt(R S) - 2 S.  The larger of this
 * and of the above is predicted.
 *
 * It is a view from below: that a plain store reads its line first is left
 * out, as are lines that several cores hold, and what kernels fetch twice out
 * of clumsiness.  It is from above where a cache keeps old lines on purpose
 * while new ones stream through.
 */
#ifndef SL_TRAFFIC_H
#define SL_TRAFFIC_H

#include "base/arena.h"
#include "sleuth/profiling.h"

/* A stretch of memory that a step reads, writes or both. */
struct sl__traffic_operand {
	uint64_t start, n_bytes;
	int is_read, is_written;
};

/* Products of which each finds its operands for itself; n_multiply_adds 0:
 * the step makes none. */
struct sl__matmuls {
	double n;               /* of them: batches, groups */
	double n_multiply_adds; /* of all */
	double n_covers;        /* R: how often a window covers an input, at
				   least 1; 1 of a matrix product */
	double element_bytes;
};

struct sl__traffic_step {
	const struct sl__traffic_operand *operands;
	size_t n_operands;
	struct sl__matmuls products;
};

/* Between a cache and what lies beyond it. */
struct sl__cache_boundary {
	double capacity_bytes; /* of all that threads can use of it */
	double own_bytes;      /* of which one thread has so much to itself */
};

/* What one call of a step moves over a boundary.  The two ways have wires of
 * their own: the longer one takes the time. */
struct sl__cache_traffic {
	double in_bytes;    /* come nearer */
	double back_bytes;  /* were written, and leave sooner or later */
	double least_bytes; /* the longer way, products left out, scaled down
			       so that all steps together move what no way
			       to choose what a cache keeps can avoid */
};

/* out[i * n_boundaries + k] is what step i moves over boundary k; steps run
 * one after the other, again and again.  Takes (steps + operands) *
 * log(steps), and 'scratch' of that order.  SL_E_NOMEM. */
enum sl_status sl__traffic_predict(struct sl__cache_traffic *out,
				   const struct sl__traffic_step *steps,
				   size_t n_steps,
				   const struct sl__cache_boundary *boundaries,
				   size_t n_boundaries,
				   struct sl__arena *scratch) SL_CHECKED;

struct sl_plan;

/* Fills traffic[] of all operations that ran, from the plan and the ceilings'
 * sizes of caches; nothing where there are none.  Only what was not counted
 * is predicted: measured_bytes is absent. */
enum sl_status sl__profile_predict_traffic(struct sl_profile *profile,
					   const struct sl_plan *plan,
					   struct sl__arena *scratch,
					   struct sl_error *err) SL_CHECKED;

#endif
