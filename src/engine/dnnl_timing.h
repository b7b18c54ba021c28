/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_timing.h - how long a primitive or a program takes. */
#ifndef SL_DNNL_TIMING_H
#define SL_DNNL_TIMING_H

#include "engine/dnnl_layout.h"
#include "timing/covariates.h"

/* What trials share, zeroed at the start but for dnnl. */
struct sl__dnnl_timer {
	struct sl__dnnl_context *dnnl;
	struct sl__pages *pages; /* of 'sweep' */
	unsigned char *sweep;    /* read between runs, so that caches are cold,
				    where no line can be flushed; NULL: not
				    needed yet, or not to be had */
	int was_asked;           /* for it */
	unsigned sum;
	size_t n_runs, n_waited; /* all runs; those with a wait for a CPU */
	/* For tests; NULL: those of the machine. */
	struct sl__measurement_sources with;
	int (*flush)(const void *bytes, size_t n_bytes);
};

void sl__dnnl_timer_release(struct sl__dnnl_timer *timer); /* NULL is fine */

/* What is timed: a program that is ready to run, or a primitive.  'more' are
 * operands that the descriptor does not list: those of post-operations. */
struct sl__dnnl_trial {
	struct sl__program *program;
	const_dnnl_primitive_desc_t pd;
	const struct sl__dnnl_extra_operand {
		int arg;
		const_dnnl_memory_desc_t md;
	} * more;
	size_t n_more;
};

/*
 * The least of a few runs on memory of its own.  Large weights are not in the
 * cache when a run begins, as they are not in a model.  Runs in which the
 * process had to wait for a CPU are made up for, within limits.  Ends early,
 * with what it has, where that is far more than 'best_ns', which it cannot
 * beat then.
 */
enum sl_status sl__dnnl_time_primitive(uint64_t *elapsed_ns,
				       struct sl__dnnl_timer *timer,
				       const struct sl__dnnl_trial *trial,
				       uint64_t best_ns,
				       struct sl_error *err) SL_CHECKED;

/* Runs two of them by turns: what disturbs one disturbs the other.  Each time
 * becomes the least of what it was and of these runs. */
enum sl_status sl__dnnl_time_interleaved(uint64_t elapsed_ns[2],
					 struct sl__dnnl_timer *timer,
					 const struct sl__dnnl_trial trials[2],
					 struct sl_error *err) SL_CHECKED;

#endif
