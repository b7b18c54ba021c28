/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.c - how samples of a data set become inputs of a model.
 *
 * A model says what it takes: sizes, or names of sizes that are left open.
 * Samples fit where each known size is theirs, or where the sizes are all known
 * and have as many elements: 8x8 pixels are 1x8x8 and 64.
 */
#include "data/feed.h"
#include "base/dtype.h"
#include "base/status.h"
#include "graph/tensor.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { USUAL_BATCH = 32 };

/* "1x8x8", with a name or ? for what is open. */
static const char *
shape_text(struct sl__arena *arena, const int64_t *dims, size_t rank)
{
	char text[128] = "";
	size_t n = 0;

	for (size_t i = 0; i < rank && n < sizeof(text); i++)
		n += (size_t)(dims[i] < 0 ? snprintf(text + n, sizeof(text) - n,
						     "%s?", i ? "x" : "")
					  : snprintf(text + n, sizeof(text) - n,
						     "%s%lld", i ? "x" : "",
						     (long long)dims[i]));
	return sl__arena_string(arena, rank ? text : "scalar");
}

/* Elements of one sample; 0: a size is open. */
static uint64_t
count(const int64_t *dims, size_t rank)
{
	uint64_t n = 1;

	for (size_t i = 0; i < rank; i++) {
		if (dims[i] < 0 ||
		    __builtin_mul_overflow(n, (uint64_t)dims[i], &n))
			return 0;
	}
	return n;
}

/* The next size that is not 1, from *at on; -1: there is none. */
static int64_t
next_size(const int64_t *dims, size_t rank, size_t *at)
{
	while (*at < rank && dims[*at] == 1)
		++*at;
	return *at < rank ? dims[(*at)++] : -1;
}

static size_t
n_of_size(const int64_t *dims, size_t rank, int64_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < rank; i++)
		n += dims[i] == size;
	return n;
}

int
sl__feed_is_transposed(const int64_t *dims, size_t rank, const int64_t *others,
		       size_t n_others)
{
	size_t i = 0, k = 0;
	int differ = 0;
	int64_t a, b;

	do {
		a = next_size(dims, rank, &i);
		b = next_size(others, n_others, &k);
		differ |= a != b;
		if (a >= 0 &&
		    n_of_size(dims, rank, a) != n_of_size(others, n_others, a))
			return 0;
	} while (a >= 0 && b >= 0);
	return differ && a < 0 && b < 0;
}

static int
is_same(const struct sl__type *type, const struct sl_data_input *sample)
{
	if ((size_t)type->rank != sample->rank + 1)
		return 0;
	for (size_t i = 0; i < sample->rank; i++) {
		if (type->dims[i + 1] >= 0 &&
		    type->dims[i + 1] != sample->dims[i])
			return 0;
	}
	return 1;
}

/* Which dimension, where there are as many. */
static enum sl_status
refuse_shape(const struct sl__feed_input *in, const struct sl__type *type,
	     const struct sl_data_input *sample, const char *name,
	     struct sl_error *err)
{
	for (size_t i = 0;
	     (size_t)type->rank == sample->rank + 1 && i < sample->rank; i++) {
		if (type->dims[i + 1] >= 0 &&
		    type->dims[i + 1] != sample->dims[i])
			return sl__fail(
				err, SL_E_DATA,
				"input '%.100s' of the model has %lld in "
				"dimension %zu, samples of %.100s have %lld: "
				"%s is expected, they are %s",
				in->name, (long long)type->dims[i + 1], i + 1,
				name, (long long)sample->dims[i], in->shape,
				in->sample_shape);
	}
	return sl__fail(err, SL_E_DATA,
			"input '%.100s' of the model takes samples of %s, "
			"those of %.100s are %s",
			in->name, in->shape, name, in->sample_shape);
}

static int
converts(enum sl_dtype to, enum sl_dtype from)
{
	return from == SL_DTYPE_I64
		       ? sl__dtype_family(to) != SL__DTYPE_OTHER
		       : to == SL_DTYPE_F32 || to == SL_DTYPE_F64 ||
				 to == SL_DTYPE_F16 || to == SL_DTYPE_BF16;
}

/* What the inputs have in common. */
struct feeding {
	struct sl__feed *feed;
	const struct sl_data_source *source;
	struct sl__arena *arena;
};

static enum sl_status
fit_input(const struct feeding *f, struct sl__feed_input *in,
	  struct sl_input_shape *shape, const struct sl__type *type,
	  struct sl_error *err)
{
	const struct sl_data_source *source = f->source;
	struct sl__feed *feed = f->feed;
	struct sl__arena *arena = f->arena;
	const struct sl_data_input *sample = &source->inputs[in->data_input];
	size_t rank = type->rank > 0 ? (size_t)type->rank - 1 : 0;
	int64_t *dims = sl__arena_array(arena, rank + 1, sizeof(*dims));

	in->dtype = type->dtype;
	in->n_elements = (size_t)count(sample->dims, sample->rank);
	in->shape = shape_text(arena, type->dims ? type->dims + 1 : NULL, rank);
	in->sample_shape = shape_text(arena, sample->dims, sample->rank);
	if (!dims || !in->shape || !in->sample_shape)
		return sl__fail_nomem(err);
	if (type->kind != SL__TYPE_TENSOR || type->rank < 1)
		return sl__fail(err, SL_E_DATA,
				"input '%.100s' of the model has no dimension "
				"for the batch",
				in->name);
	if (!converts(in->dtype, sample->dtype))
		return sl__fail(err, SL_E_DATA,
				"input '%.100s' of the model takes %s, samples "
				"of %.100s are %s",
				in->name, sl_dtype_text(in->dtype),
				source->name, sl_dtype_text(sample->dtype));
	if (!is_same(type, sample)) {
		if (count(type->dims + 1, rank) != in->n_elements)
			return refuse_shape(in, type, sample, source->name,
					    err);
		if (sl__feed_is_transposed(type->dims + 1, rank, sample->dims,
					   sample->rank))
			return sl__fail(err, SL_E_DATA,
					"input '%.100s' of the model takes "
					"samples of %s, those of %.100s are "
					"%s: transpose them",
					in->name, in->shape, source->name,
					in->sample_shape);
		in->is_reshaped = 1;
	}
	if (type->dims[0] >= 0 && feed->batch && type->dims[0] != feed->batch)
		return sl__fail(err, SL_E_DATA,
				"input '%.100s' of the model has a fixed batch "
				"of %lld, not %lld",
				in->name, (long long)type->dims[0],
				(long long)feed->batch);
	if (!feed->batch)
		feed->batch = type->dims[0] >= 0 ? type->dims[0] : USUAL_BATCH;
	memcpy(dims + 1, in->is_reshaped ? type->dims + 1 : sample->dims,
	       rank * sizeof(*dims));
	dims[0] = feed->batch;
	*shape = (struct sl_input_shape){in->name, dims, rank + 1};
	return SL_OK;
}

/* Which input of the data set has this name; the only one has any. */
static enum sl_status
find_data(size_t *out, const char *name, size_t n_model_inputs,
	  const struct sl_data_source *source, struct sl_error *err)
{
	for (*out = 0; *out < source->n_inputs; ++*out) {
		if (!strcmp(source->inputs[*out].name, name))
			return SL_OK;
	}
	*out = 0;
	if (source->n_inputs == 1 && n_model_inputs == 1)
		return SL_OK;
	return sl__fail(err, SL_E_DATA,
			"%.100s has nothing for input '%.100s' of the model",
			source->name, name);
}

enum sl_status
sl__feed_new(struct sl__feed *out, const struct sl_graph *graph,
	     const struct sl_data_source *source, int64_t batch,
	     struct sl__arena *arena, struct sl_error *err)
{
	size_t n = sl_graph_n_inputs(graph);
	struct sl__feed_input *inputs =
		sl__arena_array(arena, n, sizeof(*inputs));
	struct sl_input_shape *shapes =
		sl__arena_array(arena, n, sizeof(*shapes));
	const struct feeding f = {out, source, arena};
	enum sl_status rc = SL_OK;

	*out = (struct sl__feed){batch, inputs, shapes, n};
	if (!inputs || !shapes)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < n; i++) {
		const struct sl__value *v =
			&graph->values[sl_graph_input(graph, i)];

		inputs[i].name = v->name;
		rc = find_data(&inputs[i].data_input, v->name, n, source, err);
		if (!rc)
			rc = fit_input(&f, &inputs[i], &shapes[i], &v->declared,
				       err);
	}
	return rc;
}

void
sl__feed_store(void *to, enum sl_dtype dtype, uint64_t first,
	       const void *sample, enum sl_dtype sample_dtype, size_t n)
{
	const struct sl__tensor from = {.dtype = sample_dtype,
					.n_elements = n,
					.n_stored = n,
					.bytes = sample};
	double x;

	if (dtype == sample_dtype) {
		size_t size = sl_dtype_bits(dtype) / 8;

		memcpy((char *)to + first * size, sample, n * size);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (sl__tensor_doubles(&from, i, 1, &x))
			sl__store_doubles(to, dtype, first + i, 1, &x);
	}
}
