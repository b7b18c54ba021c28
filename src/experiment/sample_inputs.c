/* SPDX-License-Identifier: Apache-2.0 */
/* sample_inputs.c - samples of the training split, or synthetic ones, as
 * inputs of plans. */
#include "experiment/sample_inputs.h"
#include "base/status.h"

#include "base/banned.h"

/* Room for one sample. */
static enum sl_status
make_sample(struct sl__sample_inputs *s, struct sl__arena *arena,
	    struct sl_error *err)
{
	const struct sl_data_source *d = s->data;

	s->sample = sl__arena_array(arena, d->n_inputs, sizeof(*s->sample));
	s->labels = sl__arena_array(arena, d->n_labels, sizeof(*s->labels));
	if (!s->sample || !s->labels)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < d->n_inputs; i++) {
		size_t n = 1;

		for (size_t k = 0; k < d->inputs[i].rank; k++)
			n *= (size_t)d->inputs[i].dims[k];
		s->sample[i] = sl__arena_array(
			arena, n, sl_dtype_bits(d->inputs[i].dtype) / 8);
		if (!s->sample[i])
			return sl__fail_nomem(err);
	}
	return SL_OK;
}

enum sl_status
sl__sample_inputs_init(struct sl__sample_inputs *s,
		       const struct sl_graph *graph, int64_t batch,
		       struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc;

	s->n_sets = s->n_samples;
	if (!s->data)
		return SL_OK;
	if (s->n_samples < (size_t)batch)
		batch = (int64_t)s->n_samples;
	rc = sl__feed_new(&s->feed, graph, s->data, batch, arena, err);
	if (rc)
		return rc;
	s->n_sets = (s->n_samples + (size_t)s->feed.batch - 1) /
		    (size_t)s->feed.batch;
	return make_sample(s, arena, err);
}

void
sl__sample_inputs_size(const struct sl__sample_inputs *s,
		       struct sl_plan_options *plan, struct sl_sizes *sizes)
{
	if (!s->data)
		return;
	*sizes = (struct sl_sizes)SL_SIZES_INIT;
	sizes->shapes = s->feed.shapes;
	sizes->n_shapes = s->feed.n;
	plan->sizes = sizes;
}

/* Sample k of a batch; 'index' counts the samples that are taken. */
static enum sl_status
store_sample(const struct sl__sample_inputs *s, struct sl_plan *plan, size_t k,
	     size_t index, struct sl_error *err)
{
	size_t all = s->data->n_samples[SL_SPLIT_TRAIN];
	enum sl_status rc = s->data->fill(s->data->ctx, SL_SPLIT_TRAIN,
					  index * all / s->n_samples, s->sample,
					  s->labels, err);

	for (size_t j = 0; !rc && j < s->feed.n; j++) {
		const struct sl__feed_input *in = &s->feed.inputs[j];
		struct sl_array array;
		void *to;

		rc = sl_plan_input(plan, in->name, &array, &to, err);
		if (!rc)
			sl__feed_store(to, array.dtype, k * in->n_elements,
				       s->sample[in->data_input],
				       s->data->inputs[in->data_input].dtype,
				       in->n_elements);
	}
	return rc;
}

/* The last sample fills up the last batch. */
enum sl_status
sl__sample_inputs_set(const struct sl__sample_inputs *s, struct sl_plan *plan,
		      size_t i, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	if (!s->data) {
		for (size_t k = 0; k < plan->graph->blocks[0].n_inputs; k++)
			plan->given[k].is_set = 0;
		return sl_plan_fill_inputs(plan, s->seed + 1000 * i, err);
	}
	for (size_t k = 0; !rc && k < (size_t)s->feed.batch; k++) {
		size_t index = i * (size_t)s->feed.batch + k;

		rc = store_sample(
			s, plan, k,
			index < s->n_samples ? index : s->n_samples - 1, err);
	}
	return rc;
}
