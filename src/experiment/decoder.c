/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder.c - a model that makes tokens: what its inputs are, and filling
 * them for one step after another.
 *
 * States are known from the graph: inputs that an output renews.  One that is
 * longer afterwards, in one dimension, is a cache.  Of the other inputs, names
 * tell positions and masks, and the first list of integers that is neither is
 * the tokens.
 */
#include "experiment/decoder.h"
#include "base/dtype.h"
#include "base/rng.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

static const struct sl__value *
value_of(const struct sl__decoder *d, size_t i)
{
	return &d->graph->values[d->inputs[i].value];
}

/* Lists of integers, one for each sample. */
static int
is_list(const struct sl__value *v)
{
	return v->declared.kind == SL__TYPE_TENSOR &&
	       (v->declared.dtype == SL_DTYPE_I64 ||
		v->declared.dtype == SL_DTYPE_I32) &&
	       (v->declared.rank == 1 || v->declared.rank == 2);
}

/* What the name says; TOKENS where it says nothing. */
static enum sl__decoder_input_role
role_by_name(const char *name)
{
	if (strstr(name, "mask"))
		return SL__DECODER_INPUT_MASK;
	if (strstr(name, "position") || strstr(name, "pos_ids"))
		return SL__DECODER_INPUT_POSITIONS;
	if (strstr(name, "type_id") || strstr(name, "segment"))
		return SL__DECODER_INPUT_TYPES;
	return SL__DECODER_INPUT_TOKENS;
}

/* The output that renews a state; SIZE_MAX: none. */
static size_t
renewal_of(const struct sl_graph *graph, uint32_t value)
{
	const struct sl__block *model = &graph->blocks[0];

	for (size_t k = 0; k < model->n_outputs; k++) {
		if (graph->values[model->outputs[k]].old_state == value)
			return k;
	}
	return SIZE_MAX;
}

static enum sl_status
fail_input(const struct sl__value *v, struct sl_error *err)
{
	return sl__fail(err, SL_E_DATA,
			"input '%.200s' is not understood: those of a decoder "
			"are tokens, their positions, a mask of one number a "
			"token, and states that an output renews",
			v->name);
}

static enum sl_status
find_role(struct sl__decoder *d, size_t i, struct sl_error *err)
{
	struct sl__decoder_input *in = &d->inputs[i];
	const struct sl__value *v = value_of(d, i);

	in->grows = -1;
	in->output = renewal_of(d->graph, in->value);
	if (v->declared.kind != SL__TYPE_TENSOR || v->declared.rank < 0 ||
	    v->declared.rank > SL__DECODER_RANK_MOST)
		return fail_input(v, err);
	if (v->kind == SL_VALUE_STATE && in->output != SIZE_MAX) {
		in->role = SL__DECODER_INPUT_STATE;
		return SL_OK;
	}
	in->role = role_by_name(v->name);
	if (in->role == SL__DECODER_INPUT_MASK)
		return v->declared.rank <= 2 ? SL_OK : fail_input(v, err);
	if (!is_list(v) ||
	    (in->role == SL__DECODER_INPUT_TOKENS && i != d->tokens))
		return fail_input(v, err);
	return SL_OK;
}

static enum sl_status
find_tokens(struct sl__decoder *d, struct sl_error *err)
{
	const struct sl__type *t;

	d->tokens = SIZE_MAX;
	for (size_t i = 0; i < d->n_inputs && d->tokens == SIZE_MAX; i++) {
		const struct sl__value *v = value_of(d, i);

		if (v->kind == SL_VALUE_INPUT && is_list(v) &&
		    role_by_name(v->name) == SL__DECODER_INPUT_TOKENS)
			d->tokens = i;
	}
	if (d->tokens == SIZE_MAX)
		return sl__fail(err, SL_E_USAGE,
				"it is no decoder: no input takes tokens, "
				"which would be lists of whole numbers");
	t = &value_of(d, d->tokens)->declared;
	if (sl__is_symbol(t->dims[t->rank - 1]))
		d->seq_symbol = t->dims[t->rank - 1];
	if (t->rank == 2 && sl__is_symbol(t->dims[0]))
		d->batch_symbol = t->dims[0];
	d->vocabulary =
		sl__gather_table_rows(d->graph, d->inputs[d->tokens].value);
	return SL_OK;
}

/* The one dimension in which a value differs from what renews it; -1. */
static int
growing_dimension(const struct sl__type *old, const struct sl__type *new)
{
	int found = -1;

	if (old->rank < 0 || old->rank != new->rank)
		return -1;
	for (int k = 0; k < old->rank; k++) {
		if (old->dims[k] == new->dims[k])
			continue;
		if (found >= 0)
			return -1;
		found = k;
	}
	return found;
}

static enum sl_status
find_growth(struct sl__decoder *d, struct sl_error *err)
{
	const struct sl__shapes_options how = {.free_sizes = SL__UNBOUND_KEEP,
					       .allocator = &d->allocator};
	const uint32_t *outputs = d->graph->blocks[0].outputs;
	struct sl__shapes *shapes;
	enum sl_status rc = sl__shapes_new(&shapes, d->graph, &how, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < d->n_inputs; i++) {
		struct sl__decoder_input *in = &d->inputs[i];

		if (in->role != SL__DECODER_INPUT_STATE)
			continue;
		in->grows =
			growing_dimension(&shapes->types[in->value],
					  &shapes->types[outputs[in->output]]);
		d->has_cache |= in->grows >= 0;
	}
	sl__shapes_free(shapes);
	return SL_OK;
}

static enum sl_status
check_lengths(const struct sl__decoder *d, struct sl_error *err)
{
	const struct sl__value *v = value_of(d, d->tokens);
	int64_t n = v->declared.dims[v->declared.rank - 1];

	if (!d->seq_symbol && !(d->has_cache && n == 1))
		return sl__fail(err, SL_E_USAGE,
				"it cannot generate: input '%.200s' always "
				"takes %lld tokens",
				v->name, (long long)n);
	for (size_t i = 0; i < d->n_inputs; i++) {
		const struct sl__decoder_input *in = &d->inputs[i];

		v = value_of(d, i);
		if (in->grows >= 0 &&
		    !sl__is_symbol(v->declared.dims[in->grows]))
			return sl__fail(err, SL_E_USAGE,
					"it cannot generate: state '%.200s' "
					"always holds %lld tokens",
					v->name,
					(long long)v->declared.dims[in->grows]);
	}
	return SL_OK;
}

static enum sl_status
check_batch(struct sl__decoder *d, struct sl_error *err)
{
	const struct sl__type *t = &value_of(d, d->tokens)->declared;
	int64_t fixed = t->rank == 2 && !d->batch_symbol ? t->dims[0] : 1;

	if (d->batch && !d->batch_symbol && d->batch != fixed)
		return sl__fail(err, SL_E_DATA,
				"the model's batch is fixed: it is %lld",
				(long long)fixed);
	d->batch = d->batch ? d->batch : fixed;
	return SL_OK;
}

static enum sl_status
find_roles(struct sl__decoder *d, struct sl_error *err)
{
	enum sl_status rc = find_tokens(d, err);

	for (size_t i = 0; !rc && i < d->n_inputs; i++)
		rc = find_role(d, i, err);
	if (!rc)
		rc = find_growth(d, err);
	if (!rc)
		rc = check_batch(d, err);
	return rc ? rc : check_lengths(d, err);
}

enum sl_status
sl__decoder_open(struct sl__decoder *d, const struct sl_graph *graph,
		 int64_t batch, uint64_t seed, struct sl__arena *arena,
		 struct sl_error *err)
{
	const struct sl__block *model = &graph->blocks[0];
	size_t n = model->n_inputs;

	memset(d, 0, sizeof(*d));
	d->graph = graph;
	d->allocator = arena->allocator;
	d->batch = batch;
	d->seed = seed;
	d->inputs = sl__arena_array(arena, n, sizeof(*d->inputs));
	d->shapes = sl__arena_array(arena, n, sizeof(*d->shapes));
	d->dims = sl__arena_array(arena, n, sizeof(*d->dims));
	if (!d->inputs || !d->shapes || !d->dims)
		return sl__fail_nomem(err);
	d->n_inputs = n;
	for (size_t i = 0; i < n; i++)
		d->inputs[i].value = model->inputs[i];
	return find_roles(d, err);
}

void
sl__decoder_close(struct sl__decoder *d)
{
	for (size_t i = 0; i < d->n_inputs; i++)
		sl__runtime_value_clear(&d->inputs[i].kept, &d->allocator);
	d->n_inputs = 0;
}

int
sl__decoder_takes_whole_prompt(const struct sl__decoder *d)
{
	return d->seq_symbol != 0;
}

/* The size of a dimension; -1: it is not understood. */
static int64_t
size_of(const struct sl__decoder *d, size_t i, int k, const int64_t n[2])
{
	const struct sl__decoder_input *in = &d->inputs[i];
	const struct sl__type *t = &value_of(d, i)->declared;
	int64_t size = t->dims[k];

	if (!sl__is_symbol(size))
		return size;
	if (k == in->grows)
		return n[0];
	if (size == d->batch_symbol)
		return d->batch;
	if (size == d->seq_symbol)
		return n[1];
	if (in->role != SL__DECODER_INPUT_STATE && k == t->rank - 1)
		return in->role == SL__DECODER_INPUT_MASK ? n[0] + n[1] : n[1];
	if (strstr(d->graph->symbols[size - SL__SYMBOL_BASE].name, "batch"))
		return d->batch;
	return -1;
}

enum sl_status
sl__decoder_sizes(struct sl__decoder *d, int64_t n_past, int64_t n_new,
		  struct sl_sizes *out, struct sl_error *err)
{
	const int64_t n[2] = {n_past, n_new};

	for (size_t i = 0; i < d->n_inputs; i++) {
		const struct sl__value *v = value_of(d, i);

		d->shapes[i].input = v->name;
		d->shapes[i].dims = d->dims[i];
		d->shapes[i].rank = (size_t)v->declared.rank;
		for (int k = 0; k < v->declared.rank; k++) {
			d->dims[i][k] = size_of(d, i, k, n);
			if (d->dims[i][k] < 0)
				return sl__fail(err, SL_E_DATA,
						"dimension %d of input "
						"'%.200s' is not understood: "
						"it is neither the batch nor "
						"a number of tokens",
						k, v->name);
		}
	}
	memset(out, 0, sizeof(*out));
	out->struct_size = sizeof(*out);
	out->shapes = d->shapes;
	out->n_shapes = d->n_inputs;
	return SL_OK;
}

double
sl__decoder_state_bytes(const struct sl__decoder *d, int64_t n_past)
{
	const int64_t n[2] = {n_past, 1};
	double sum = 0;

	for (size_t i = 0; i < d->n_inputs; i++) {
		const struct sl__type *t = &value_of(d, i)->declared;
		double bytes = sl_dtype_bits(t->dtype) / 8.0;

		if (d->inputs[i].grows < 0)
			continue;
		for (int k = 0; k < t->rank; k++)
			bytes *= (double)size_of(d, i, k, n);
		sum += bytes;
	}
	return sum;
}

static int64_t
token_at(const struct sl__decoder *d, int64_t row, int64_t place)
{
	struct sl__rng rng;

	if (d->vocabulary < 1)
		return 0;
	sl__rng_init(&rng, d->seed + (uint64_t)(row << 32) + (uint64_t)place);
	return (int64_t)sl__rng_below(&rng, (uint64_t)d->vocabulary);
}

/* Tokens, positions and masks are rows of numbers, one row a sample. */
static void
fill_rows(const struct sl__decoder *d, size_t i, const struct sl_array *array,
	  unsigned char *data, int64_t n_past)
{
	int64_t n = array->rank ? array->dims[array->rank - 1] : 1;

	for (uint64_t e = 0; e < array->n_elements; e++) {
		int64_t row = (int64_t)e / n, at = (int64_t)e % n;
		int64_t x = 0;
		double real;

		if (d->inputs[i].role == SL__DECODER_INPUT_TOKENS)
			x = token_at(d, row, n_past + at);
		else if (d->inputs[i].role == SL__DECODER_INPUT_POSITIONS)
			x = n_past + at;
		else if (d->inputs[i].role == SL__DECODER_INPUT_MASK)
			x = 1;
		real = (double)x;
		if (sl__dtype_family(array->dtype) == SL__DTYPE_FLOAT)
			sl__store_doubles(data, array->dtype, e, 1, &real);
		else
			sl__store_integers(data, array->dtype, e, 1, &x);
	}
}

static void
fill_state(const struct sl__decoder *d, size_t i, const struct sl_array *array,
	   unsigned char *data, int64_t n_past)
{
	const struct sl__tensor *kept = &d->inputs[i].kept.tensor;
	struct sl__rng rng;

	if (d->kept_context && d->kept_context == n_past &&
	    kept->n_bytes == array->n_bytes) {
		if (kept->n_bytes)
			memcpy(data, kept->bytes, (size_t)kept->n_bytes);
		return;
	}
	sl__rng_init(&rng, d->seed + i);
	for (uint64_t e = 0; e < array->n_elements; e++) {
		double x = d->inputs[i].grows < 0 ? 0 : sl__rng_normal(&rng);

		sl__store_doubles(data, array->dtype, e, 1, &x);
	}
}

enum sl_status
sl__decoder_set_inputs(struct sl__decoder *d, struct sl_plan *plan,
		       int64_t n_past, struct sl_error *err)
{
	for (size_t i = 0; i < d->n_inputs; i++) {
		struct sl_array array;
		void *data;
		enum sl_status rc = sl_plan_input(plan, value_of(d, i)->name,
						  &array, &data, err);

		if (rc)
			return rc;
		if (d->inputs[i].role == SL__DECODER_INPUT_STATE)
			fill_state(d, i, &array, data, n_past);
		else
			fill_rows(d, i, &array, data, n_past);
	}
	return SL_OK;
}

enum sl_status
sl__decoder_keep_state(struct sl__decoder *d, struct sl_plan *plan,
		       int64_t context, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	d->kept_context = 0;
	for (size_t i = 0; !rc && i < d->n_inputs; i++) {
		struct sl__decoder_input *in = &d->inputs[i];
		struct sl__runtime_value now;

		if (in->role != SL__DECODER_INPUT_STATE)
			continue;
		rc = sl__plan_output_value(plan, in->output, &now, err);
		if (!rc)
			rc = sl__runtime_value_copy(&in->kept, &now,
						    &d->allocator, err);
	}
	d->kept_context = rc ? 0 : context;
	return rc;
}
