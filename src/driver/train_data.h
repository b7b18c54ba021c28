/* SPDX-License-Identifier: Apache-2.0 */
/* train_data.h - batches of a data set as inputs of a trainer. */
#ifndef SL_TRAIN_DATA_H
#define SL_TRAIN_DATA_H

#include "base/arena.h"
#include "driver/trainer.h"
#include "sleuth/data_sets.h"

/* How many samples a step takes at a time, and how often. */
struct sl__batch_sizes {
	int64_t batch;
	uint64_t n_micro; /* 0: 1 */
};

/* Which inputs of the model samples go to, and as what sizes: 'sizes' and
 * inputs[] have those of a batch, by input of the data set. */
struct sl__train_data {
	const struct sl_data_source *source;
	int64_t batch; /* of a micro-batch */
	uint64_t n_micro;
	struct sl_sizes sizes;                 /* of a micro-batch */
	struct sl_input_shape *shapes, *whole; /* of one, of all of them */
};

/* Samples of a step where nobody asks for another number: the model's own batch
 * where it is fixed. */
int64_t sl__train_data_usual_batch(const struct sl_graph *graph);

/* SL_E_DATA says which dimension does not fit.  Samples may have other sizes
 * than the model's input where that has as many elements.  Storage is from
 * 'arena'. */
enum sl_status sl__train_data_bind(struct sl__train_data *out,
				   const struct sl_graph *graph,
				   const struct sl_data_source *source,
				   struct sl__batch_sizes batch,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/* Whether a trainer takes the labels; SL_E_DATA says why it does not. */
enum sl_status sl__train_data_check(const struct sl__train_data *data,
				    struct sl_trainer *trainer,
				    struct sl_error *err) SL_CHECKED;

/* The inputs of a batch, and what it is compared with: the labels unless
 * 'target' is something else. */
enum sl_status sl__train_data_set_with(const struct sl__train_data *data,
				       struct sl_trainer *trainer,
				       const struct sl_batch *batch,
				       const struct sl_array *target,
				       struct sl_error *err) SL_CHECKED;
enum sl_status sl__train_data_set(const struct sl__train_data *data,
				  struct sl_trainer *trainer,
				  const struct sl_batch *batch,
				  struct sl_error *err) SL_CHECKED;

/* After a step: how many labels there were, and how many of them have the
 * highest score. */
enum sl_status sl__train_data_score(const struct sl_trainer *trainer,
				    const struct sl_batch *batch,
				    uint64_t *n_targets, uint64_t *n_correct,
				    struct sl_error *err) SL_CHECKED;

#endif
