/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.h - a training run as far as it came, in a file. */
#ifndef SL_CHECKPOINT_H
#define SL_CHECKPOINT_H

#include "base/arena.h"
#include "sleuth/training_runs.h"

/* Sums since the last point of the curve. */
struct sl__train_window {
	double loss;
	uint64_t n_steps, n_targets, n_correct;
};

/*
 * Everything that the rest of a run depends on, to the bit.  Invariants:
 * 'settings' are words NAME=VALUE with a space between, the same in every run
 * that would go on alike; 'best' is NULL where no validation was made.
 */
struct sl__checkpoint {
	const char *settings;
	uint64_t n_threads, n_steps;
	double elapsed_s;
	struct sl__train_window window;
	double best_loss; /* of the validation split */
	uint64_t best_step, n_worse_epochs;
	struct sl_train_point *curve, *validation;
	size_t n_curve, n_validation;
	unsigned char *states, *best; /* of n_state_bytes each */
	size_t n_state_bytes;
};

/* The file is as it was, or whole. */
enum sl_status sl__checkpoint_write(const struct sl__checkpoint *checkpoint,
				    const char *path,
				    struct sl_error *err) SL_CHECKED;

/* Storage is from 'arena'.  SL_E_DATA for what is no checkpoint, or one that is
 * cut off or damaged. */
enum sl_status sl__checkpoint_read(struct sl__checkpoint *out, const char *path,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/* SL_E_DATA with the first setting in which two runs differ. */
enum sl_status sl__checkpoint_compare(const struct sl__checkpoint *checkpoint,
				      const char *settings,
				      struct sl_error *err) SL_CHECKED;

#endif
