/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h - how samples of a data set become inputs of a model. */
#ifndef SL_FEED_H
#define SL_FEED_H

#include "base/arena.h"
#include "graph/graph.h"
#include "sleuth/data_sets.h"

/* One input of the model. */
struct sl__feed_input {
	const char *name;
	enum sl_dtype dtype;
	size_t data_input; /* of the data set, that it takes */
	size_t n_elements; /* of a sample */
	int is_reshaped;   /* sizes differ, elements are as many */
	const char *shape; /* of a sample, as the model takes it: "1x8x8" */
	const char *sample_shape; /* as the data set has it */
};

/* All of them; shapes[] are theirs, with the batch, as struct sl_sizes has
 * them. */
struct sl__feed {
	int64_t batch;
	const struct sl__feed_input *inputs;
	const struct sl_input_shape *shapes;
	size_t n;
};

/*
 * Finds for each input of the model that of the data set: the one of its name,
 * or the only one.  Where the model leaves the batch open it is 'batch', where
 * it leaves other sizes open they are the sample's.  SL_E_DATA says what was
 * expected.
 */
enum sl_status sl__feed_new(struct sl__feed *out, const struct sl_graph *graph,
			    const struct sl_data_source *source, int64_t batch,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

/* Whether one shape is the other with its sizes in another order, those of 1
 * aside: images with their channels last for a model that has them first. */
int sl__feed_is_transposed(const int64_t *dims, size_t rank,
			   const int64_t *others, size_t n_others);

/* Writes n elements of a sample (F32 or I64) as an input of type 'dtype' that
 * sl__feed_new() accepted, from element 'first' on. */
void sl__feed_store(void *to, enum sl_dtype dtype, uint64_t first,
		    const void *sample, enum sl_dtype sample_dtype, size_t n);

#endif
