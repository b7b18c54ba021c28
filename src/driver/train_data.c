/* SPDX-License-Identifier: Apache-2.0 */
/* train_data.c - batches of a data set as inputs of a trainer. */
#include "driver/train_data.h"
#include "base/status.h"
#include "data/feed.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { SHAPE_BYTES = 96, USUAL_BATCH = 32 };

/* "1x8x8"; sizes that are known by name as '?'. */
static const char *
shape_text(char *text, const int64_t *dims, size_t rank)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t d = 0; d < rank && used + 24 < SHAPE_BYTES; d++) {
		if (dims[d] < 0)
			used += (size_t)snprintf(text + used,
						 SHAPE_BYTES - used, "%s?",
						 d ? "x" : "");
		else
			used += (size_t)snprintf(
				text + used, SHAPE_BYTES - used, "%s%lld",
				d ? "x" : "", (long long)dims[d]);
	}
	return rank ? text : "a single number";
}

/* Elements of one sample; -1 where a size is known by name only. */
static int64_t
count(const int64_t *dims, size_t rank)
{
	int64_t n = 1;

	for (size_t d = 0; d < rank; d++) {
		if (dims[d] < 0)
			return -1;
		n *= dims[d];
	}
	return n;
}

/* Sizes of a sample in the model's input: its own where they are all known and
 * as many elements, else the sample's, where they agree. */
static int
fit_dims(int64_t *out, const struct sl__type *type,
	 const struct sl_data_input *input)
{
	size_t rank = (size_t)type->rank - 1;

	if (count(type->dims + 1, rank) >= 0) {
		memcpy(out, type->dims + 1, rank * sizeof(*out));
		return count(out, rank) == count(input->dims, input->rank) &&
		       !sl__feed_is_transposed(out, rank, input->dims,
					       input->rank);
	}
	if (rank != input->rank)
		return 0;
	for (size_t d = 0; d < rank; d++) {
		out[d] = input->dims[d];
		if (type->dims[d + 1] >= 0 && type->dims[d + 1] != out[d])
			return 0;
	}
	return 1;
}

int64_t
sl__train_data_usual_batch(const struct sl_graph *graph)
{
	const struct sl__type *type;

	if (!sl_graph_n_inputs(graph))
		return USUAL_BATCH;
	type = &graph->values[sl_graph_input(graph, 0)].declared;
	return type->kind == SL__TYPE_TENSOR && type->rank > 0 &&
			       type->dims[0] > 0
		       ? type->dims[0]
		       : USUAL_BATCH;
}

/* Both shapes, and the first dimension that differs where there are as many:
 * the batch is dimension 0. */
static enum sl_status
refuse_shape(const struct sl__value *value, const struct sl_data_input *input,
	     const char *data, struct sl_error *err)
{
	const int64_t *dims = value->declared.dims + 1;
	size_t rank = (size_t)value->declared.rank - 1;
	char wanted[SHAPE_BYTES], given[SHAPE_BYTES], where[64] = "";

	if (sl__feed_is_transposed(dims, rank, input->dims, input->rank))
		snprintf(where, sizeof(where), ": transpose it");
	for (size_t d = 0;
	     !*where && rank > 1 && rank == input->rank && d < rank; d++) {
		if (dims[d] < 0 || dims[d] == input->dims[d])
			continue;
		snprintf(where, sizeof(where),
			 ": dimension %zu is %lld, not %lld", d + 1,
			 (long long)input->dims[d], (long long)dims[d]);
		break;
	}
	return sl__fail(err, SL_E_DATA,
			"input '%.100s' of the model takes %s; a sample of "
			"%.100s has %s%s",
			value->name, shape_text(wanted, dims, rank), data,
			shape_text(given, input->dims, input->rank), where);
}

static enum sl_status
bind_input(struct sl__train_data *t, size_t i, const struct sl__value *value,
	   struct sl__arena *arena, struct sl_error *err)
{
	const struct sl_data_input *input = &t->source->inputs[i];
	const struct sl__type *type = &value->declared;
	int64_t *dims, *whole;

	if (type->kind != SL__TYPE_TENSOR || type->rank < 1)
		return sl__fail(err, SL_E_DATA,
				"the sizes of input '%.100s' are not known",
				value->name);
	if (type->dtype != input->dtype)
		return sl__fail(err, SL_E_DATA,
				"input '%.100s' of the model is of type %s; "
				"%.100s has %s",
				value->name, sl_dtype_text(type->dtype),
				t->source->name, sl_dtype_text(input->dtype));
	if (type->dims[0] >= 0 && type->dims[0] != t->batch)
		return sl__fail(err, SL_E_DATA,
				"input '%.100s' of the model takes batches of "
				"%lld, not %lld",
				value->name, (long long)type->dims[0],
				(long long)t->batch);
	dims = sl__arena_array(arena, (size_t)type->rank, 2 * sizeof(*dims));
	if (!dims)
		return sl__fail_nomem(err);
	whole = dims + type->rank;
	dims[0] = t->batch;
	if (!fit_dims(dims + 1, type, input))
		return refuse_shape(value, input, t->source->name, err);
	t->shapes[i] = (struct sl_input_shape){
		.input = value->name, .dims = dims, .rank = (size_t)type->rank};
	memcpy(whole, dims, (size_t)type->rank * sizeof(*dims));
	whole[0] *= (int64_t)t->n_micro;
	t->whole[i] = t->shapes[i];
	t->whole[i].dims = whole;
	return SL_OK;
}

enum sl_status
sl__train_data_bind(struct sl__train_data *out, const struct sl_graph *graph,
		    const struct sl_data_source *source,
		    struct sl__batch_sizes batch, struct sl__arena *arena,
		    struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	*out = (struct sl__train_data){
		.source = source,
		.batch = batch.batch,
		.n_micro = batch.n_micro ? batch.n_micro : 1,
		.sizes = {.struct_size = sizeof(out->sizes)},
		.shapes = sl__arena_array(arena, source->n_inputs,
					  sizeof(*out->shapes)),
		.whole = sl__arena_array(arena, source->n_inputs,
					 sizeof(*out->whole))};
	if (!out->shapes || !out->whole)
		return sl__fail_nomem(err);
	if (sl_graph_n_inputs(graph) != source->n_inputs)
		return sl__fail(err, SL_E_DATA,
				"the model has %zu input%s, %.100s has %zu",
				sl_graph_n_inputs(graph),
				sl_graph_n_inputs(graph) == 1 ? "" : "s",
				source->name, source->n_inputs);
	for (size_t i = 0; !rc && i < source->n_inputs; i++) {
		size_t v = sl_graph_find_input(graph, source->inputs[i].name);

		if (v == SL_NO_VALUE)
			v = sl_graph_input(graph, i);
		rc = bind_input(out, i, &graph->values[v], arena, err);
	}
	out->sizes.shapes = out->shapes;
	out->sizes.n_shapes = source->n_inputs;
	return rc;
}

enum sl_status
sl__train_data_check(const struct sl__train_data *data,
		     struct sl_trainer *trainer, struct sl_error *err)
{
	const struct sl_data_source *s = data->source;
	const struct sl__training_graph *t = trainer->plan->training;
	struct sl_array target;
	uint64_t n_samples = (uint64_t)data->batch * data->n_micro;
	enum sl_status rc = sl_plan_input(trainer->plan->plan, "target",
					  &target, NULL, err);

	if (rc)
		return rc;
	if (!t->n_classes)
		return sl__fail(err, SL_E_USAGE,
				"%.100s has classes: the loss is "
				"cross-entropy or nll",
				s->name);
	if (target.n_elements != n_samples * s->n_labels)
		return sl__fail(
			err, SL_E_DATA,
			"output '%.100s' has scores for %llu "
			"position%s of a sample; %.100s has %zu "
			"label%s%s",
			t->graph->values[t->output].name,
			(unsigned long long)(target.n_elements / n_samples),
			target.n_elements == n_samples ? "" : "s", s->name,
			s->n_labels, s->n_labels == 1 ? "" : "s",
			(int64_t)s->n_labels == t->n_classes
				? " (one-hot? a label is the number of its "
				  "class)"
				: "");
	if (s->n_classes > t->n_classes)
		return sl__fail(err, SL_E_DATA,
				"%.100s has %lld classes; output '%.100s' has "
				"scores for %lld%s",
				s->name, (long long)s->n_classes,
				t->graph->values[t->output].name,
				(long long)t->n_classes,
				t->n_classes > 1 &&
						s->n_classes == t->n_classes + 1
					? " (classes count from 0)"
					: "");
	return SL_OK;
}

enum sl_status
sl__train_data_set_with(const struct sl__train_data *data,
			struct sl_trainer *trainer,
			const struct sl_batch *batch,
			const struct sl_array *target, struct sl_error *err)
{
	enum sl_status rc = SL_OK;
	struct sl_array a;

	for (size_t i = 0; !rc && i < data->source->n_inputs; i++) {
		a = batch->inputs[i];
		a.rank = data->whole[i].rank;
		a.dims = data->whole[i].dims;
		rc = sl_trainer_set_input(trainer, data->whole[i].input, &a,
					  err);
	}
	return rc ? rc : sl_trainer_set_input(trainer, "target", target, err);
}

enum sl_status
sl__train_data_set(const struct sl__train_data *data,
		   struct sl_trainer *trainer, const struct sl_batch *batch,
		   struct sl_error *err)
{
	return sl__train_data_set_with(data, trainer, batch, &batch->labels,
				       err);
}

/* Adds the labels of one micro-batch, and those that are right, to the sums. */
static void
score(const struct sl__tensor *scores, uint64_t n_classes,
      const int64_t *labels, uint64_t n_labels, uint64_t *n_targets,
      uint64_t *n_correct)
{
	uint64_t n_apart = 1;
	const float *x;

	/* Scores of one label lie n_apart from each other: classes are the
	 * second dimension of images, else the last. */
	for (size_t d = 2; scores->rank != 3 && d < scores->rank; d++)
		n_apart *= (uint64_t)scores->dims[d];
	for (uint64_t k = 0; k < n_labels; k++) {
		uint64_t best = 0;

		if (labels[k] < 0)
			continue;
		x = (const float *)(const void *)scores->bytes +
		    k / n_apart * n_classes * n_apart + k % n_apart;
		for (uint64_t c = 1; c < n_classes; c++) {
			if (x[c * n_apart] > x[best * n_apart])
				best = c;
		}
		++*n_targets;
		*n_correct += best == (uint64_t)labels[k];
	}
}

enum sl_status
sl__train_data_score(const struct sl_trainer *trainer,
		     const struct sl_batch *batch, uint64_t *n_targets,
		     uint64_t *n_correct, struct sl_error *err)
{
	const struct sl__training_graph *t = trainer->plan->training;
	const int64_t *labels = batch->labels.data;
	uint64_t n_labels = batch->labels.n_elements / t->n_outputs;

	*n_targets = *n_correct = 0;
	for (size_t i = 0; i < t->n_outputs; i++) {
		struct sl__tensor scores;
		enum sl_status rc = sl__training_plan_value(
			trainer->plan, t->outputs[i], &scores, err);

		if (rc)
			return rc;
		if (scores.dtype == SL_DTYPE_F32)
			score(&scores, (uint64_t)t->n_classes,
			      labels + i * n_labels, n_labels, n_targets,
			      n_correct);
	}
	return SL_OK;
}
