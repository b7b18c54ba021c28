/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single_run.c - a model planned and run once, its outputs looked at.
 *
 * Sizes come from files, where there are some.  Where the batch is said beside
 * a folder, what its files hold is repeated along the batch, and so is what
 * the outputs are compared with.
 */
#include "clock.h"
#include "comparing.h"
#include "dtype.h"
#include "inputs.h"
#include "map.h"
#include "mapping.h"
#include "npy.h"
#include "onnx_read.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"

struct runner {
	const struct sl_graph *graph;
	const struct sl_run_options *options;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_run *out;
	struct sl__inputs *inputs;  /* of the folder, or NULL */
	struct sl_plan_options how; /* of the plan */
	struct sl_plan *plan;
	int64_t batch;    /* to which the folder is repeated; 0 */
	int64_t n_copies; /* of what it holds, then */
	struct sl__compared_model model;
	struct sl__map written; /* files, with the values they are of */
};

/* ------------------------------------------------------------------- sizes */

/* How often a dimension of a file is repeated to be the batch. */
static enum sl_status
count_copies(struct runner *r, const char *input, int64_t size,
	     struct sl_error *err)
{
	int64_t n = size > 0 ? r->batch / size : 0;

	if (n < 1 || r->batch % size || (r->n_copies && r->n_copies != n))
		return sl__fail(err, SL_E_DATA,
				"--batch %lld: what the files hold can only be "
				"repeated, and input '%.200s' has %lld",
				(long long)r->batch, input, (long long)size);
	r->n_copies = n;
	return SL_OK;
}

/* A dimension that the file does not name is known as INPUT.K. */
static int
has_no_name(const struct runner *r, size_t i, size_t k)
{
	uint32_t id = r->graph->blocks[0].inputs[i];
	const struct sl__value *v = &r->graph->values[id];
	int64_t size = v->declared.dims[k];
	char name[512];

	snprintf(name, sizeof(name), "%.480s.%zu", v->name, k);
	return sl__is_symbol(size) &&
	       !strcmp(name, r->graph->symbols[size - SL__SYMBOL_BASE].name);
}

/*
 * The first dimension of an input that is the batch: the one of that symbol
 * or, where the batch has no name and so none that other inputs could share,
 * one without a name that is as large in its file.
 */
static int
batch_dimension(const struct runner *r, size_t i)
{
	const struct sl__tensor *t = r->inputs->contents[i];
	const struct sl__tensor *first = r->inputs->contents[0];
	uint32_t id = r->graph->blocks[0].inputs[i];
	const struct sl__type *d = &r->graph->values[id].declared;
	int64_t symbol = sl__shapes_batch_symbol(r->graph);

	if (!symbol || d->rank != (int)t->rank)
		return -1;
	for (int k = 0; k < d->rank; k++) {
		if (d->dims[k] == symbol)
			return k;
	}
	for (int k = 0; first && first->rank && k < d->rank; k++) {
		if (has_no_name(r, 0, 0) && has_no_name(r, i, (size_t)k) &&
		    t->dims[k] == first->dims[0])
			return k;
	}
	return -1;
}

static enum sl_status
shape_of(struct runner *r, size_t i, struct sl_input_shape *out,
	 struct sl_error *err)
{
	const struct sl__tensor *t = r->inputs->contents[i];
	uint32_t id = r->graph->blocks[0].inputs[i];
	const struct sl__type *d = &r->graph->values[id].declared;
	int batch = r->batch ? batch_dimension(r, i) : -1;
	int64_t *dims = sl__arena_array(&r->scratch, t->rank, sizeof(*dims));
	enum sl_status rc = SL_OK;

	if (!dims)
		return sl__fail_nomem(err);
	out->input = r->graph->values[id].name;
	out->dims = dims;
	out->rank = t->rank;
	for (size_t k = 0; !rc && k < t->rank; k++) {
		dims[k] = t->dims[k];
		if (batch < 0 || d->dims[k] != d->dims[batch])
			continue;
		rc = count_copies(r, out->input, t->dims[k], err);
		dims[k] = r->batch;
	}
	return rc;
}

/* Shapes of all inputs that have a file in the folder, besides those that
 * are said. */
static enum sl_status
take_shapes(struct runner *r, struct sl_sizes *sizes, struct sl_error *err)
{
	size_t n = sizes->n_shapes;
	struct sl_input_shape *shapes =
		sl__arena_array(&r->scratch, n + r->inputs->n, sizeof(*shapes));
	enum sl_status rc = SL_OK;

	if (!shapes)
		return sl__fail_nomem(err);
	if (sizes->batch && !sl__shapes_batch_symbol(r->graph))
		return sl__fail(err, SL_E_DATA,
				"the model's batch is fixed: --batch cannot "
				"change it");
	if (n)
		memcpy(shapes, sizes->shapes, n * sizeof(*shapes));
	r->batch = sizes->batch;
	for (size_t i = 0; !rc && i < r->inputs->n; i++) {
		if (r->inputs->contents[i])
			rc = shape_of(r, i, &shapes[n++], err);
	}
	/* Where no file has the batch, it is bound as it would be without. */
	if (r->n_copies)
		sizes->batch = 0;
	sizes->shapes = shapes;
	sizes->n_shapes = n;
	return rc;
}

/* The shape of an input's own file, besides the shapes that are said. */
static enum sl_status
add_shape_of_file(struct runner *r, const struct sl_input_file *input,
		  struct sl_input_shape *out, struct sl_error *err)
{
	struct sl__mapping file = {0};
	struct sl__tensor t;
	int64_t *dims = NULL;
	enum sl_status rc;

	rc = sl__plan_read_file(&t, &file, &r->scratch, input->path, err);
	if (!rc) {
		dims = sl__arena_array(&r->scratch, t.rank, sizeof(*dims));
		if (!dims)
			rc = sl__fail_nomem(err);
		else if (t.rank)
			memcpy(dims, t.dims, t.rank * sizeof(*dims));
		out->input = input->input;
		out->dims = dims;
		out->rank = t.rank;
	}
	sl__mapping_close(&file);
	return rc;
}

static enum sl_status
take_file_shapes(struct runner *r, struct sl_sizes *sizes, struct sl_error *err)
{
	size_t n = sizes->n_shapes;
	struct sl_input_shape *shapes = sl__arena_array(
		&r->scratch, n + r->options->n_inputs, sizeof(*shapes));
	enum sl_status rc = SL_OK;

	if (!shapes)
		return sl__fail_nomem(err);
	if (n)
		memcpy(shapes, sizes->shapes, n * sizeof(*shapes));
	for (size_t i = 0; !rc && i < r->options->n_inputs; i++) {
		const struct sl_input_file *file = &r->options->inputs[i];

		/* A name that is no input is told when it is to be set. */
		if (sl_graph_find_input(r->graph, file->input) != SL_NO_VALUE)
			rc = add_shape_of_file(r, file, &shapes[n++], err);
	}
	sizes->shapes = shapes;
	sizes->n_shapes = n;
	return rc;
}

/* The folder, in which inputs that have a file of their own need none. */
static enum sl_status
open_folder(struct runner *r, const char *folder, struct sl_error *err)
{
	unsigned char *is_left_out =
		sl__arena_alloc(&r->scratch, r->graph->blocks[0].n_inputs + 1);

	if (!is_left_out)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < r->graph->blocks[0].n_inputs; i++) {
		uint32_t id = r->graph->blocks[0].inputs[i];
		const char *name = r->graph->values[id].name;

		for (size_t k = 0; k < r->options->n_inputs; k++)
			is_left_out[i] |=
				!strcmp(r->options->inputs[k].input, name);
	}
	return sl__inputs_open_but(&r->inputs, r->graph, folder, is_left_out,
				   r->how.allocator, err);
}

/* The sizes that files give, besides those that are said. */
static enum sl_status
find_sizes(struct runner *r, struct sl_sizes *sizes, struct sl_error *err)
{
	const char *folder = r->options->check_folder
				     ? r->options->check_folder
				     : r->options->inputs_folder;
	enum sl_status rc = SL_OK;

	if (folder) {
		rc = open_folder(r, folder, err);
		if (!rc)
			rc = take_shapes(r, sizes, err);
		sizes->inputs_folder = NULL;
	}
	return rc ? rc : take_file_shapes(r, sizes, err);
}

/* ------------------------------------------------------------------ inputs */

/* The file's numbers repeated to the plan's sizes. */
static enum sl_status
repeat(const struct runner *r, const struct sl__tensor *t, const int64_t *dims,
       struct sl__datum *out, struct sl_error *err)
{
	size_t width = sl_dtype_bits(t->dtype) / 8;
	int64_t at[SL__RANK_MOST] = {0}, strides[SL__RANK_MOST];
	enum sl_status rc;
	uint64_t i = 0;
	int more;

	rc = sl__datum_tensor(out, t->dtype, t->rank, dims, r->how.allocator,
			      err);
	if (rc)
		return rc;
	(void)sl__ref_strides(strides, t->rank, t->dims);
	more = out->tensor.n_elements > 0 && t->n_elements > 0;
	while (more) {
		int64_t from = 0;

		for (size_t d = 0; d < t->rank; d++)
			from += at[d] % t->dims[d] * strides[d];
		memcpy(out->bytes + i++ * width,
		       t->bytes + (uint64_t)from * width, width);
		more = sl__ref_next(at, t->rank, dims, NULL, NULL, 0);
	}
	return SL_OK;
}

static enum sl_status
give_from_folder(struct runner *r, size_t i, struct sl_error *err)
{
	const struct sl__tensor *t = r->inputs->contents[i];
	uint32_t id = r->graph->blocks[0].inputs[i];
	const struct sl__type *type = &r->plan->current->shapes->types[id];
	struct sl__datum datum = {0};
	int is_repeated = 0;
	enum sl_status rc = SL_OK;

	for (size_t k = 0; type->rank == (int)t->rank && k < t->rank; k++)
		is_repeated |= type->dims[k] != t->dims[k];
	if (is_repeated && t->bytes && sl_dtype_bits(t->dtype) >= 8)
		rc = repeat(r, t, type->dims, &datum, err);
	else
		sl__datum_borrow(&datum, t);
	if (!rc)
		rc = sl__plan_give(r->plan, i, &datum, err);
	sl__datum_clear(&datum, r->how.allocator);
	return rc;
}

static enum sl_status
set_inputs(struct runner *r, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; r->inputs && !rc && i < r->inputs->n; i++) {
		if (r->inputs->contents[i])
			rc = give_from_folder(r, i, err);
	}
	for (size_t i = 0; !rc && i < r->options->n_inputs; i++)
		rc = sl_plan_load_input(r->plan, r->options->inputs[i].input,
					r->options->inputs[i].path, err);
	for (size_t i = 0; !rc && i < r->graph->blocks[0].n_inputs; i++) {
		if (!r->plan->given[i].is_set)
			r->out->seed = r->options->seed ? r->options->seed : 1;
	}
	return rc;
}

/* ----------------------------------------------------------------- outputs */

static void
summarize(struct sl_run_output *out, const struct sl__tensor *t)
{
	double x, sum = 0;
	uint64_t n = 0;

	out->min = out->max = out->mean = (double)NAN;
	if (sl__dtype_family(t->dtype) == SL__DTYPE_OTHER)
		return;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		if (!sl__tensor_doubles(t, i, 1, &x))
			return;
		if (isnan(x)) {
			out->n_nan++;
			continue;
		}
		out->min = n && out->min < x ? out->min : x;
		out->max = n && out->max > x ? out->max : x;
		sum += x;
		n++;
	}
	if (n)
		out->mean = sum / (double)n;
}

static enum sl_status
check_output(struct runner *r, size_t k, const struct sl__datum *got,
	     struct sl_error *err)
{
	struct sl_run_output *out = &r->out->outputs[k];
	uint32_t id = r->graph->blocks[0].outputs[k];
	struct sl__comparing how =
		sl__comparing_of(&r->model, id, r->options->tolerance);
	const char *path = sl__arena_format(&r->scratch, "%s/output_%zu.pb",
					    r->options->check_folder, k);
	struct sl__mapping file = {0};
	struct sl__datum want;
	enum sl_status rc;

	if (!path)
		return sl__fail_nomem(err);
	how.n_copies = r->n_copies;
	rc = sl__mapping_open(&file, path, err);
	if (rc)
		return rc;
	rc = sl__onnx_read_datum(&want, &r->graph->values[id].declared,
				 &r->scratch, file.bytes, file.n_bytes, err);
	rc = sl__within(err, rc, path);
	if (!rc)
		rc = sl__compare_output(out, &how, got, &want, r->arena, err);
	sl__mapping_close(&file);
	r->out->is_ok &= out->is_ok;
	return rc;
}

/* NAME.npy in the folder; SL_E_DATA where that file is another output's. */
static enum sl_status
find_path(struct runner *r, uint32_t value, const char **path,
	  struct sl_error *err)
{
	const char *name = r->graph->values[value].name;
	char *made = sl__arena_format(&r->scratch, "%s/%s.npy",
				      r->options->output_folder, name);
	const size_t *other;

	*path = made;
	if (!made)
		return sl__fail_nomem(err);
	for (char *c = made + strlen(r->options->output_folder) + 1; *c; c++) {
		if (*c == '/')
			*c = '_';
	}
	other = sl__map_find(&r->written, made);
	if (other && *other != value)
		return sl__fail(err, SL_E_DATA,
				"outputs '%.100s' and '%.100s' would be "
				"written to one file, %.200s",
				r->graph->values[*other].name, name, made);
	return sl__map_put(&r->written, made, value, err);
}

static enum sl_status
save_output(struct runner *r, uint32_t value, const struct sl__datum *got,
	    struct sl_error *err)
{
	const char *path;
	enum sl_status rc = find_path(r, value, &path, err);

	if (rc)
		return rc;
	if (got->kind != SL__TYPE_TENSOR)
		return sl__fail(err, SL_E_ABSENT,
				"output '%.200s' is no tensor: it cannot be "
				"written as .npy",
				r->graph->values[value].name);
	return sl__npy_write(&got->tensor, path, r->how.allocator, err);
}

static enum sl_status
take_output(struct runner *r, size_t k, struct sl_error *err)
{
	struct sl_run_output *out = &r->out->outputs[k];
	uint32_t id = r->graph->blocks[0].outputs[k];
	struct sl__datum got;
	int64_t *dims;
	enum sl_status rc;

	out->name = sl__arena_string(r->arena, r->graph->values[id].name);
	rc = sl__plan_result(r->plan, k, &got, err);
	if (rc)
		return rc;
	dims = sl__arena_array(r->arena, got.tensor.rank, sizeof(*dims));
	if (!out->name || !dims)
		return sl__fail_nomem(err);
	out->n_elements = got.n_items;
	out->min = out->max = out->mean = (double)NAN;
	if (got.kind == SL__TYPE_TENSOR) {
		if (got.tensor.rank)
			memcpy(dims, got.tensor.dims,
			       got.tensor.rank * sizeof(*dims));
		out->dtype = got.tensor.dtype;
		out->rank = got.tensor.rank;
		out->dims = dims;
		out->n_elements = got.tensor.n_elements;
		summarize(out, &got.tensor);
	}
	if (r->options->output_folder)
		rc = save_output(r, id, &got, err);
	if (!rc && r->options->check_folder)
		rc = check_output(r, k, &got, err);
	return rc;
}

/* ------------------------------------------------------------------ result */

static enum sl_status
take_steps(struct runner *r, struct sl_error *err)
{
	struct sl_run *out = r->out;

	out->n_steps = sl_plan_n_steps(r->plan);
	out->steps =
		sl__arena_array(r->arena, out->n_steps, sizeof(*out->steps));
	if (!out->steps)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < out->n_steps; i++) {
		struct sl_step *s = &out->steps[i];
		size_t *covers;

		(void)sl_plan_step(r->plan, i, s);
		s->name = sl__arena_string(r->arena, s->name);
		s->type = sl__arena_string(r->arena, s->type);
		s->kernel = sl__arena_string(r->arena, s->kernel);
		covers =
			sl__arena_array(r->arena, s->n_covers, sizeof(*covers));
		if (!s->name || !s->type || !s->kernel || !covers)
			return sl__fail_nomem(err);
		if (s->n_covers)
			memcpy(covers, s->covers,
			       s->n_covers * sizeof(*covers));
		s->covers = covers;
		out->n_reference += s->path == SL_PATH_REFERENCE ||
				    s->path == SL_PATH_STEPWISE;
	}
	return SL_OK;
}

static enum sl_status
run_once(struct runner *r, struct sl_error *err)
{
	uint64_t start = sl__clock_now_ns(NULL);
	enum sl_status rc = sl_plan_run(r->plan, err);

	if (rc)
		return rc;
	r->out->run_ns = (double)(sl__clock_now_ns(NULL) - start);
	r->out->n_outputs = r->graph->blocks[0].n_outputs;
	r->out->outputs = sl__arena_array(r->arena, r->out->n_outputs,
					  sizeof(*r->out->outputs));
	if (!r->out->outputs)
		return sl__fail_nomem(err);
	r->out->is_checked = r->options->check_folder != NULL;
	r->out->is_ok = 1;
	for (size_t k = 0; !rc && k < r->out->n_outputs; k++)
		rc = take_output(r, k, err);
	sl_plan_memory(r->plan, &r->out->memory);
	r->out->n_threads = sl_plan_n_threads(r->plan);
	return rc ? rc : take_steps(r, err);
}

/* Makes the plan and sets its inputs; what the clock sees is planning. */
static enum sl_status
prepare(struct runner *r, const struct sl_sizes *sizes, struct sl_error *err)
{
	uint64_t start = sl__clock_now_ns(NULL), end;
	enum sl_status rc;

	r->how.sizes = sizes;
	rc = sl_plan_new(&r->plan, r->graph, &r->how, err);
	end = sl__clock_now_ns(NULL);
	r->out->plan_ns = (double)(end - start);
	if (!rc)
		rc = set_inputs(r, err);
	/* An input may still have brought other sizes. */
	start = sl__clock_now_ns(NULL);
	if (!rc)
		rc = sl__plan_settle(r->plan, err);
	end = sl__clock_now_ns(NULL);
	r->out->plan_ns += (double)(end - start);
	return rc ? rc : sl_plan_fill_inputs(r->plan, r->out->seed, err);
}

static enum sl_status
perform(struct runner *r, struct sl_error *err)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	enum sl_status rc;

	r->out->name = sl__arena_string(r->arena, r->graph->name);
	r->out->source = sl__arena_string(r->arena, r->graph->source);
	r->out->dtype = r->how.dtype ? r->how.dtype : SL_DTYPE_F32;
	r->out->tolerance = r->options->tolerance;
	if (!r->out->name || !r->out->source)
		return sl__fail_nomem(err);
	if (r->how.sizes)
		sizes = *r->how.sizes;
	rc = find_sizes(r, &sizes, err);
	if (!rc)
		rc = prepare(r, &sizes, err);
	return rc ? rc : run_once(r, err);
}

/* struct_size of both option structs; they may be NULL. */
static enum sl_status
take_options(struct runner *r, struct sl_run_options *mine,
	     const struct sl_run_options *options, struct sl_error *err)
{
	r->options = mine;
	mine->struct_size = sizeof(*mine);
	r->how.struct_size = sizeof(r->how);
	if (options && options->struct_size != sizeof(*options))
		return sl__fail(err, SL_E_USAGE,
				"sl_run_options: struct_size is wrong");
	if (options)
		*mine = *options;
	if (mine->plan && mine->plan->struct_size != sizeof(r->how))
		return sl__fail(err, SL_E_USAGE,
				"sl_plan_options: struct_size is wrong");
	if (mine->plan)
		r->how = *mine->plan;
	if (r->how.sizes && r->how.sizes->struct_size != sizeof(*r->how.sizes))
		return sl__fail(err, SL_E_USAGE,
				"sl_sizes: struct_size is wrong");
	return SL_OK;
}

enum sl_status
sl_run(struct sl_run **out, const struct sl_graph *graph,
       const struct sl_run_options *options, struct sl_error *err)
{
	struct sl_run_options mine = {0};
	struct runner r = {.graph = graph};
	enum sl_status rc;

	*out = NULL;
	rc = take_options(&r, &mine, options, err);
	if (rc)
		return rc;
	r.out = sl__boxed_new(&r.arena, r.how.allocator, sizeof(*r.out));
	if (!r.out)
		return sl__fail_nomem(err);
	sl__arena_init(&r.scratch, r.how.allocator);
	sl__map_init(&r.written, &r.scratch);
	r.model = sl__compared_model(graph);
	rc = perform(&r, err);
	sl_plan_free(r.plan);
	sl__inputs_close(r.inputs);
	sl__arena_release(&r.scratch);
	if (rc) {
		sl_run_free(r.out);
		return rc;
	}
	*out = r.out;
	return SL_OK;
}

void
sl_run_free(struct sl_run *run)
{
	sl__boxed_free(run);
}
