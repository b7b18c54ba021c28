/* SPDX-License-Identifier: Apache-2.0 */
/* distil.h - a model trained on what another one computes. */
#ifndef SL_DISTIL_H
#define SL_DISTIL_H

#include "base/arena.h"
#include "sleuth/training_runs.h"

struct sl__distil_options {
	const struct sl_dataset *data; /* its training split; labels do not
					  matter */
	uint64_t n_epochs;
	int n_threads;
	uint64_t seed;
	void (*progress)(const struct sl_train_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};

struct sl__distilled {
	struct sl_graph *graph; /* the student, trained: the caller's */
	double error;           /* root mean square of what the last epoch's
				   outputs differ by from the teacher's, over
				   the teacher's own */
};

/*
 * Trains the student so that its first output becomes the teacher's, on the
 * same inputs: least squares of what they give, see distil.c.  Both graphs must
 * outlive the result.  SL_E_DATA where their outputs have other sizes and where
 * the data does not fit; SL_E_INTERRUPTED; otherwise fails as sl_train() does.
 */
enum sl_status sl__distil(struct sl__distilled *out,
			  const struct sl_graph *student,
			  const struct sl_graph *teacher,
			  const struct sl__distil_options *options,
			  struct sl_error *err) SL_CHECKED;

#endif
