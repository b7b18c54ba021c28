/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subject.c - a model made ready to be experimented on: its sizes and inputs.
 *
 * Sizes come from files, where there are some.  Where the batch is said beside
 * a folder, what its files hold is repeated along the batch.
 */
#include "experiment/subject.h"
#include "base/clock.h"
#include "base/dtype.h"
#include "base/file_mapping.h"
#include "base/status.h"
#include "ops/ref.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

/* How often a dimension of a file is repeated to be the batch. */
static enum sl_status
count_copies(struct sl__subject_model *s, const char *input, int64_t size,
	     struct sl_error *err)
{
	int64_t n = size > 0 ? s->batch / size : 0;

	if (n < 1 || s->batch % size || (s->n_copies && s->n_copies != n))
		return sl__error_set_hint(
			err,
			sl__fail(err, SL_E_DATA,
				 "batch %lld: what the files hold can "
				 "only be repeated, and input '%.200s' "
				 "has %lld",
				 (long long)s->batch, input, (long long)size),
			SL_HINT_SIZE);
	s->n_copies = n;
	return SL_OK;
}

static int
has_no_name(const struct sl__subject_model *s, size_t i, size_t k)
{
	uint32_t id = s->graph->blocks[0].inputs[i];
	const struct sl__value *v = &s->graph->values[id];
	int64_t size = v->declared.dims[k];

	return sl__is_symbol(size) &&
	       s->graph->symbols[size - SL__SYMBOL_BASE].is_unnamed;
}

/*
 * The first dimension of an input that is the batch: the one of that symbol
 * or, where the batch has no name and so none that other inputs could share,
 * one without a name that is as large in its file.
 */
static int
batch_dimension(const struct sl__subject_model *s, size_t i)
{
	const struct sl__tensor *t = s->inputs->contents[i];
	const struct sl__tensor *first = s->inputs->contents[0];
	uint32_t id = s->graph->blocks[0].inputs[i];
	const struct sl__type *d = &s->graph->values[id].declared;
	int64_t symbol = sl__shapes_batch_symbol(s->graph);

	if (!symbol || d->rank != (int)t->rank)
		return -1;
	for (int k = 0; k < d->rank; k++) {
		if (d->dims[k] == symbol)
			return k;
	}
	for (int k = 0; first && first->rank && k < d->rank; k++) {
		if (has_no_name(s, 0, 0) && has_no_name(s, i, (size_t)k) &&
		    t->dims[k] == first->dims[0])
			return k;
	}
	return -1;
}

static enum sl_status
shape_of(struct sl__subject_model *s, size_t i, struct sl_input_shape *out,
	 struct sl_error *err)
{
	const struct sl__tensor *t = s->inputs->contents[i];
	uint32_t id = s->graph->blocks[0].inputs[i];
	const struct sl__type *d = &s->graph->values[id].declared;
	int batch = s->batch ? batch_dimension(s, i) : -1;
	int64_t *dims = sl__arena_array(&s->scratch, t->rank, sizeof(*dims));
	enum sl_status rc = SL_OK;

	if (!dims)
		return sl__fail_nomem(err);
	out->input = s->graph->values[id].name;
	out->dims = dims;
	out->rank = t->rank;
	for (size_t k = 0; !rc && k < t->rank; k++) {
		dims[k] = t->dims[k];
		if (batch < 0 || d->dims[k] != d->dims[batch])
			continue;
		rc = count_copies(s, out->input, t->dims[k], err);
		dims[k] = s->batch;
	}
	return rc;
}

/* Shapes of all inputs that have a file in the folder, besides those that
 * are said. */
static enum sl_status
take_shapes(struct sl__subject_model *s, struct sl_sizes *sizes,
	    struct sl_error *err)
{
	size_t n = sizes->n_shapes;
	struct sl_input_shape *shapes =
		sl__arena_realloc_array(&s->scratch, sizes->shapes, n,
					n + s->inputs->n, sizeof(*shapes));
	enum sl_status rc = SL_OK;

	if (!shapes)
		return sl__fail_nomem(err);
	if (sizes->batch && !sl__shapes_batch_symbol(s->graph))
		return sl__error_set_hint(
			err,
			sl__fail(err, SL_E_DATA, "the model's batch is fixed"),
			SL_HINT_BATCH);
	s->batch = sizes->batch;
	for (size_t i = 0; !rc && i < s->inputs->n; i++) {
		if (s->inputs->contents[i])
			rc = shape_of(s, i, &shapes[n++], err);
	}
	/* Where no file has the batch, it is bound as it would be without. */
	if (s->n_copies)
		sizes->batch = 0;
	sizes->shapes = shapes;
	sizes->n_shapes = n;
	return rc;
}

/* The shape of an input's own file, besides the shapes that are said. */
static enum sl_status
add_shape_of_file(struct sl__subject_model *s,
		  const struct sl_input_file *input, struct sl_input_shape *out,
		  struct sl_error *err)
{
	struct sl__file_mapping file = {0};
	struct sl__tensor t;
	int64_t *dims = NULL;
	enum sl_status rc;

	rc = sl__plan_read_tensor_file(&t, &file, &s->scratch, input->path,
				       err);
	if (!rc) {
		dims = sl__arena_realloc_array(&s->scratch, t.dims, t.rank,
					       t.rank, sizeof(*dims));
		if (!dims)
			rc = sl__fail_nomem(err);
		out->input = input->input;
		out->dims = dims;
		out->rank = t.rank;
	}
	sl__file_mapping_close(&file);
	return rc;
}

static enum sl_status
take_file_shapes(struct sl__subject_model *s, struct sl_sizes *sizes,
		 struct sl_error *err)
{
	size_t n = sizes->n_shapes;
	struct sl_input_shape *shapes = sl__arena_realloc_array(
		&s->scratch, sizes->shapes, n, n + s->options.n_inputs,
		sizeof(*shapes));
	enum sl_status rc = SL_OK;

	if (!shapes)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < s->options.n_inputs; i++) {
		const struct sl_input_file *file = &s->options.inputs[i];

		/* A name that is no input is told when it is to be set. */
		if (sl_graph_find_input(s->graph, file->input) != SL_NO_VALUE)
			rc = add_shape_of_file(s, file, &shapes[n++], err);
	}
	sizes->shapes = shapes;
	sizes->n_shapes = n;
	return rc;
}

/* The folder, in which inputs that have a file of their own need none. */
static enum sl_status
open_folder(struct sl__subject_model *s, const char *folder,
	    struct sl_error *err)
{
	unsigned char *is_left_out =
		sl__arena_alloc(&s->scratch, s->graph->blocks[0].n_inputs + 1);

	if (!is_left_out)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < s->graph->blocks[0].n_inputs; i++) {
		uint32_t id = s->graph->blocks[0].inputs[i];
		const char *name = s->graph->values[id].name;

		for (size_t k = 0; k < s->options.n_inputs; k++)
			is_left_out[i] |=
				!strcmp(s->options.inputs[k].input, name);
	}
	return sl__input_files_open_except(&s->inputs, s->graph, folder,
					   is_left_out, s->how.allocator, err);
}

/* The sizes that files give, besides those that are said. */
static enum sl_status
find_sizes(struct sl__subject_model *s, struct sl_sizes *sizes,
	   struct sl_error *err)
{
	const char *folder = s->options.folder;
	enum sl_status rc = SL_OK;

	if (folder) {
		rc = open_folder(s, folder, err);
		if (!rc)
			rc = take_shapes(s, sizes, err);
		sizes->inputs_folder = NULL;
	}
	return rc ? rc : take_file_shapes(s, sizes, err);
}

/* The file's numbers repeated to the plan's sizes. */
static enum sl_status
repeat(const struct sl__subject_model *s, const struct sl__tensor *t,
       const int64_t *dims, struct sl__runtime_value *out, struct sl_error *err)
{
	size_t width = sl_dtype_bits(t->dtype) / 8;
	int64_t at[SL__RANK_MOST] = {0}, strides[SL__RANK_MOST];
	enum sl_status rc;
	uint64_t i = 0;
	int more;

	rc = sl__runtime_value_alloc_tensor(out, t->dtype, t->rank, dims,
					    s->how.allocator, err);
	if (rc)
		return rc;
	(void)sl__row_major_strides(strides, t->rank, t->dims);
	more = out->tensor.n_elements > 0 && t->n_elements > 0;
	while (more) {
		int64_t from = 0;

		for (size_t d = 0; d < t->rank; d++)
			from += at[d] % t->dims[d] * strides[d];
		memcpy(out->bytes + i++ * width,
		       t->bytes + (uint64_t)from * width, width);
		more = sl__strided_position_next(at, t->rank, dims, NULL, NULL,
						 0);
	}
	return SL_OK;
}

static enum sl_status
give_from_folder(struct sl__subject_model *s, size_t i, struct sl_error *err)
{
	const struct sl__tensor *t = s->inputs->contents[i];
	uint32_t id = s->graph->blocks[0].inputs[i];
	const struct sl__type *type = &s->plan->current->shapes->types[id];
	struct sl__runtime_value content = {0};
	int is_repeated = 0;
	enum sl_status rc = SL_OK;

	for (size_t k = 0; type->rank == (int)t->rank && k < t->rank; k++)
		is_repeated |= type->dims[k] != t->dims[k];
	if (is_repeated && t->bytes && sl_dtype_bits(t->dtype) >= 8)
		rc = repeat(s, t, type->dims, &content, err);
	else
		sl__runtime_value_borrow(&content, t);
	if (!rc)
		rc = sl__plan_set_input(s->plan, i, &content, err);
	sl__runtime_value_clear(&content, s->how.allocator);
	return rc;
}

static enum sl_status
set_inputs(struct sl__subject_model *s, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; s->inputs && !rc && i < s->inputs->n; i++) {
		if (s->inputs->contents[i])
			rc = give_from_folder(s, i, err);
		else if (s->inputs->values[i].kind != SL__TYPE_UNKNOWN)
			rc = sl__plan_set_input(s->plan, i,
						&s->inputs->values[i], err);
	}
	for (size_t i = 0; !rc && i < s->options.n_inputs; i++)
		rc = sl_plan_load_input(s->plan, s->options.inputs[i].input,
					s->options.inputs[i].path, err);
	for (size_t i = 0; !rc && i < s->graph->blocks[0].n_inputs; i++) {
		if (!s->plan->given[i].is_set)
			s->seed = s->options.seed ? s->options.seed : 1;
	}
	return rc;
}

/* Makes the plan and sets its inputs; what the clock sees is planning. */
static enum sl_status
prepare(struct sl__subject_model *s, struct sl_error *err)
{
	uint64_t start = sl__clock_now_ns(NULL);
	enum sl_status rc;

	s->how.sizes = &s->sizes;
	rc = sl_plan_new(&s->plan, s->graph, &s->how, err);
	s->plan_ns = (double)(sl__clock_now_ns(NULL) - start);
	if (rc || s->options.is_only_planned)
		return rc;
	rc = set_inputs(s, err);
	/* An input may still have brought other sizes. */
	start = sl__clock_now_ns(NULL);
	if (!rc)
		rc = sl__plan_select_program(s->plan, err);
	s->plan_ns += (double)(sl__clock_now_ns(NULL) - start);
	return rc ? rc : sl_plan_fill_inputs(s->plan, s->seed, err);
}

static void
take_options(struct sl__subject_model *s)
{
	s->how.struct_size = sizeof(s->how);
	s->sizes.struct_size = sizeof(s->sizes);
	if (s->options.plan)
		s->how = *s->options.plan;
	if (s->options.interrupt)
		s->how.interrupt = s->options.interrupt;
	if (s->how.sizes)
		s->sizes = *s->how.sizes;
}

enum sl_status
sl__subject_model_open(struct sl__subject_model *out,
		       const struct sl_graph *graph,
		       const struct sl__subject_model_options *options,
		       struct sl_error *err)
{
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	out->graph = graph;
	out->options = *options;
	take_options(out);
	sl__arena_init(&out->scratch, out->how.allocator);
	rc = find_sizes(out, &out->sizes, err);
	if (!rc)
		rc = prepare(out, err);
	if (rc)
		sl__subject_model_close(out);
	return rc;
}

void
sl__subject_model_close(struct sl__subject_model *s)
{
	sl_plan_free(s->plan);
	sl__input_files_close(s->inputs);
	sl__arena_release(&s->scratch);
	memset(s, 0, sizeof(*s));
}
