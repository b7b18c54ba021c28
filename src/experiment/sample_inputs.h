/* SPDX-License-Identifier: Apache-2.0 */
/* sample_inputs.h - samples of the training split, or synthetic ones, as
 * inputs of plans. */
#ifndef SL_SAMPLE_INPUTS_H
#define SL_SAMPLE_INPUTS_H

#include "data/feed.h"
#include "engine/plan.h"

/*
 * Set i of n_sets is a batch of samples, spread evenly over the split; without
 * data it is synthetic inputs of the sizes that a plan has.
 */
struct sl__sample_inputs {
	const struct sl_data_source *data; /* NULL: synthetic inputs */
	struct sl__feed feed;              /* of data */
	size_t n_samples, n_sets;
	uint64_t seed; /* of synthetic inputs: 1,000 apart for each set */
	void **sample; /* inputs of one, and its labels */
	int64_t *labels;
};

/*
 * Takes n_samples of the training split, 'batch' at a time where the model
 * leaves that open, or n_samples synthetic inputs where 'data' is NULL.
 * Storage is 'arena', and data must outlive it.  SL_E_DATA where data and
 * model do not fit.  n_samples is from 1 to what the split has.
 */
enum sl_status sl__sample_inputs_init(struct sl__sample_inputs *s,
				      const struct sl_graph *graph,
				      int64_t batch, struct sl__arena *arena,
				      struct sl_error *err) SL_CHECKED;

/* Makes the options of a plan those that the inputs need; 'sizes' is filled
 * and pointed to where there is data. */
void sl__sample_inputs_size(const struct sl__sample_inputs *s,
			    struct sl_plan_options *plan,
			    struct sl_sizes *sizes);

/* Gives a plan of these sizes the inputs of set i. */
enum sl_status sl__sample_inputs_set(const struct sl__sample_inputs *s,
				     struct sl_plan *plan, size_t i,
				     struct sl_error *err) SL_CHECKED;

#endif
