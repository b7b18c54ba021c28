/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_weights.c - the numbers of a model that is built.
 *
 * Weights are a rule that makes them, seeded by the model's seed and their
 * own name, so that a layer's numbers do not depend on what else the model
 * has.  Lists of sizes and single numbers are named after what they hold and
 * made once.
 */
#include "base/status.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { NAME_BYTES = 512 };

/* Says what sl__tensor_compute_size() did not like. */
static void
fail_measure(struct sl_builder *b, const char *name, const struct sl__tensor *t)
{
	char sizes[128] = "";

	for (size_t d = 0; d < t->rank; d++) {
		size_t used = strlen(sizes);

		if (t->dims[d] < 0) {
			sl__builder_fail(b, SL_E_USAGE,
					 "'%.200s': dimension %zu is negative "
					 "or known by name only",
					 name, d);
			return;
		}
		snprintf(sizes + used, sizeof(sizes) - used, "%s%lld",
			 d ? " x " : "", (long long)t->dims[d]);
	}
	sl__builder_fail(b, SL_E_USAGE,
			 "'%.200s' is too large: %s of %s are more bytes than "
			 "64 bits count",
			 name, sizes, sl_dtype_text(t->dtype));
}

/* A tensor of the graph without numbers yet; NULL after a failure. */
struct sl__tensor *
sl__builder_new_tensor(struct sl_builder *b, const char *name,
		       enum sl_dtype dtype, size_t rank, const int64_t *dims)
{
	struct sl__tensor *t;
	int64_t *copy;

	if (sl__builder_check_rank(b, name, rank))
		return NULL;
	t = sl__arena_alloc(&b->graph->arena, sizeof(*t));
	copy = sl__arena_array(&b->graph->arena, rank, sizeof(*copy));
	if (!t || !copy) {
		sl__builder_nomem(b);
		return NULL;
	}
	if (rank)
		memcpy(copy, dims, rank * sizeof(*copy));
	t->dtype = dtype;
	t->rank = rank;
	t->dims = copy;
	if (sl__tensor_compute_size(t))
		return t;
	fail_measure(b, name, t);
	return NULL;
}

static int
add_parameter(struct sl_builder *b, const char *name,
	      const struct sl__tensor *tensor)
{
	int id = tensor && name ? sl__builder_add_value(b, name) : -1;

	if (id < 0)
		return -1;
	b->graph->values[id].kind = SL_VALUE_PARAMETER;
	b->graph->values[id].tensor = tensor;
	return sl__builder_infer_shapes(b, id);
}

/* Each name has numbers of its own: FNV-1a over the name, from the seed. */
static uint64_t
seed_of(uint64_t seed, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ seed * 0x9e3779b97f4a7c15u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return hash;
}

void
sl_builder_dtype(struct sl_builder *b, enum sl_dtype dtype)
{
	if (dtype != SL_DTYPE_F32 && dtype != SL_DTYPE_F16 &&
	    dtype != SL_DTYPE_BF16)
		sl__builder_fail(b, SL_E_USAGE,
				 "weights are f32, f16 or bf16, not %s",
				 sl_dtype_text(dtype));
	else
		b->dtype = dtype;
}

int
sl_builder_weight(struct sl_builder *b, const char *name, size_t rank,
		  const int64_t *dims, double mean, double deviation)
{
	struct sl__tensor_generator *g;
	struct sl__tensor *t;
	const char *full;

	if (b->failed)
		return -1;
	if (!isfinite(mean) || !isfinite(deviation) || deviation < 0)
		return sl__builder_fail(b, SL_E_USAGE,
					"weight '%.200s': mean and deviation "
					"must be numbers",
					name);
	full = sl__builder_unique_scoped_name(b, name);
	if (!full)
		return -1;
	t = sl__builder_new_tensor(b, full, b->dtype, rank, dims);
	g = sl__arena_alloc(&b->graph->arena, sizeof(*g));
	if (!t || !g)
		return t ? sl__builder_nomem(b) : -1;
	g->kind = deviation > 0 ? SL__TENSOR_GENERATOR_NORMAL
				: SL__TENSOR_GENERATOR_CONSTANT;
	g->seed = seed_of(b->seed, full);
	g->mean = mean;
	g->scale = deviation;
	t->generator = g;
	return add_parameter(b, full, t);
}

/* A constant whose numbers are copied under a name that is taken. */
static int
add_constant(struct sl_builder *b, const char *full, struct sl__tensor *t,
	     const void *values)
{
	unsigned char *bytes;

	if (!t)
		return -1;
	bytes = sl__arena_alloc(&b->graph->arena, (size_t)t->n_bytes);
	if (!bytes)
		return sl__builder_nomem(b);
	if (t->n_bytes)
		memcpy(bytes, values, (size_t)t->n_bytes);
	t->bytes = bytes;
	return add_parameter(b, full, t);
}

static int
named_constant(struct sl_builder *b, const char *name, enum sl_dtype dtype,
	       size_t rank, const int64_t *dims, const void *values)
{
	const char *full = sl__builder_unique_scoped_name(b, name);

	return full ? add_constant(b, full,
				   sl__builder_new_tensor(b, full, dtype, rank,
							  dims),
				   values)
		    : -1;
}

int
sl_builder_integers(struct sl_builder *b, const char *name, size_t rank,
		    const int64_t *dims, const int64_t *values)
{
	return named_constant(b, name, SL_DTYPE_I64, rank, dims, values);
}

int
sl_builder_floats(struct sl_builder *b, const char *name, size_t rank,
		  const int64_t *dims, const float *values)
{
	return named_constant(b, name, SL_DTYPE_F32, rank, dims, values);
}

/* The constant of that name, which says what it holds; made once. */
static int
shared_constant(struct sl_builder *b, const char *name, enum sl_dtype dtype,
		size_t rank, int64_t n, const void *values)
{
	const size_t *found = sl__map_find(&b->constants, name);
	const char *full;
	int id;

	if (found)
		return (int)*found;
	full = sl__builder_unique_name(b, name);
	if (!full)
		return -1;
	id = add_constant(b, full,
			  sl__builder_new_tensor(b, full, dtype, rank, &n),
			  values);
	if (id < 0 ||
	    sl__builder_keep_status(
		    b, sl__map_put(&b->constants, name, (size_t)id, &b->err)))
		return -1;
	return id;
}

int
sl__builder_constant_list(struct sl_builder *b, size_t n, const int64_t *values)
{
	char name[NAME_BYTES] = "integers";
	size_t used = strlen(name);

	if (b->failed)
		return -1;
	for (size_t i = 0; i < n && used < sizeof(name); i++)
		used += (size_t)snprintf(name + used, sizeof(name) - used,
					 "_%lld", (long long)values[i]);
	return shared_constant(b, name, SL_DTYPE_I64, 1, (int64_t)n, values);
}

/* A number in 16 bits, as weights are made. */
static uint16_t
half_of(enum sl_dtype dtype, double value)
{
	const struct sl__tensor_generator g = {
		.kind = SL__TENSOR_GENERATOR_CONSTANT, .mean = value};
	struct sl__tensor one = {.dtype = dtype, .generator = &g};
	uint16_t half = 0;

	if (sl__tensor_compute_size(&one))
		sl__tensor_byte_range(&one, 0, sizeof(half), &half);
	return half;
}

int
sl__builder_constant_scalar(struct sl_builder *b, float value)
{
	char name[64];
	uint16_t half;

	if (b->failed)
		return -1;
	if (b->dtype == SL_DTYPE_F32) {
		snprintf(name, sizeof(name), "number_%.9g", (double)value);
		return shared_constant(b, name, b->dtype, 0, 1, &value);
	}
	half = half_of(b->dtype, (double)value);
	snprintf(name, sizeof(name), "number_%.9g_%s", (double)value,
		 sl_dtype_text(b->dtype));
	return shared_constant(b, name, b->dtype, 0, 1, &half);
}

int
sl__builder_constant_integer(struct sl_builder *b, int64_t value)
{
	char name[64];

	if (b->failed)
		return -1;
	snprintf(name, sizeof(name), "integer_%lld", (long long)value);
	return shared_constant(b, name, SL_DTYPE_I64, 0, 1, &value);
}
