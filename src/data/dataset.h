/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.h - a data set of any origin. */
#ifndef SL_DATASET_H
#define SL_DATASET_H

#include "base/arena.h"
#include "sleuth/data_sets.h"

/*
 * Invariants: 'origin' is where samples come from, with two splits, train and
 * test.  'source' is what users see: the validation split is taken from the
 * origin's training samples, by an order that the seed gives.  All that either
 * points to lives in the arena, or is the caller's (sl_dataset_new()).
 */
struct sl_dataset {
	struct sl_data_source source, origin;
	uint64_t seed;
	struct sl__arena *arena;
};

/* Fills data->origin, whose storage comes from data->arena. */
void sl__digits_open(struct sl_dataset *data);

/* Likewise for a name such as "reverse:8"; *is_one is 0 for any other. */
enum sl_status sl__sequence_task_open(struct sl_dataset *data, const char *name,
				      uint64_t seed, int *is_one,
				      struct sl_error *err) SL_CHECKED;

/* Likewise from a CSV file, and another with the test split; NULL: none. */
enum sl_status sl__csv_open(struct sl_dataset *data, const char *path,
			    const char *test, struct sl_error *err) SL_CHECKED;

/* Likewise from files of NumPy, .npz, or .npy and another with the labels, and
 * from two of IDX. */
enum sl_status sl__arrays_open(struct sl_dataset *data, const char *path,
			       const struct sl_dataset_options *o,
			       struct sl_error *err) SL_CHECKED;

/* Likewise from a file of text. */
enum sl_status sl__text_open(struct sl_dataset *data, const char *path,
			     const struct sl_dataset_options *o,
			     struct sl_error *err) SL_CHECKED;

/* In capitals or not. */
int sl__name_ends_in(const char *name, const char *end);

#endif
