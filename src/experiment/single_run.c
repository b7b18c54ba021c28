/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single_run.c - a model planned and run once, its outputs looked at.
 *
 * With a folder to check against, sizes come from its files.  Where the
 * batch is said too, what the files hold is repeated along the batch, and so
 * is what the outputs are compared with.
 */
#include "clock.h"
#include "comparing.h"
#include "dtype.h"
#include "inputs.h"
#include "mapping.h"
#include "npy.h"
#include "onnx_read.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"

enum { PATH_MOST = 4096 };

struct runner {
	const struct sl_graph *graph;
	const struct sl_run_options *options;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_run *out;
	struct sl__inputs *inputs; /* of the folder, or NULL */
	struct sl_plan *plan;
};

/* ------------------------------------------------------------------- sizes */

/* The symbol that --batch binds; 0: the model has none. */
static int64_t
batch_symbol(const struct sl_graph *graph)
{
	const struct sl__block *b = &graph->blocks[0];
	const struct sl__type *t;

	if (!b->n_inputs)
		return 0;
	t = &graph->values[b->inputs[0]].declared;
	return t->rank > 0 && sl__is_symbol(t->dims[0]) ? t->dims[0] : 0;
}

static enum sl_status
shape_of(const struct runner *r, size_t i, struct sl_input_shape *out,
	 struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__tensor *t = r->inputs->contents[i];
	uint32_t id = r->graph->blocks[0].inputs[i];
	const struct sl__type *d = &r->graph->values[id].declared;
	int64_t batch = r->options->plan.sizes->batch;
	int64_t *dims = sl__arena_array(arena, t->rank, sizeof(*dims));

	if (!dims)
		return sl__fail_nomem(err);
	for (size_t k = 0; k < t->rank; k++) {
		dims[k] = t->dims[k];
		if (batch && d->rank == (int)t->rank &&
		    d->dims[k] == batch_symbol(r->graph))
			dims[k] = batch;
	}
	out->input = r->graph->values[id].name;
	out->dims = dims;
	out->rank = t->rank;
	return SL_OK;
}

/* Shapes of all inputs that have a file in the folder. */
static enum sl_status
take_shapes(struct runner *r, struct sl_sizes *sizes, struct sl_error *err)
{
	struct sl_input_shape *shapes =
		sl__arena_array(&r->scratch, r->inputs->n, sizeof(*shapes));
	size_t n = 0;
	enum sl_status rc = SL_OK;

	if (!shapes)
		return sl__fail_nomem(err);
	if (sizes->batch && !batch_symbol(r->graph))
		return sl__fail(err, SL_E_DATA,
				"the model's batch is fixed: --batch cannot "
				"change it");
	for (size_t i = 0; !rc && i < r->inputs->n; i++) {
		if (r->inputs->contents[i])
			rc = shape_of(r, i, &shapes[n++], &r->scratch, err);
	}
	sizes->batch = 0;
	sizes->inputs_folder = NULL;
	sizes->shapes = shapes;
	sizes->n_shapes = n;
	return rc;
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

	rc = sl__datum_tensor(out, t->dtype, t->rank, dims,
			      r->options->plan.allocator, err);
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
	sl__datum_clear(&datum, r->options->plan.allocator);
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
	return rc ? rc : sl_plan_fill_inputs(r->plan, r->out->seed, err);
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
		sl__comparing_of(r->graph, id, r->options->tolerance);
	struct sl__mapping file = {0};
	struct sl__tensor want;
	char path[PATH_MOST];
	enum sl_status rc;

	snprintf(path, sizeof(path), "%s/output_%zu.pb",
		 r->options->check_folder, k);
	rc = sl__mapping_open(&file, path, err);
	if (rc)
		return rc;
	rc = sl__onnx_read_tensor(&want, &r->scratch, file.bytes, file.n_bytes,
				  err);
	rc = sl__within(err, rc, path);
	if (!rc && got->kind != SL__TYPE_TENSOR)
		out->why = "is no tensor";
	else if (!rc)
		rc = sl__compare_output(out, &how, &got->tensor, &want,
					r->arena, err);
	sl__mapping_close(&file);
	r->out->is_ok &= out->is_ok;
	return rc;
}

static enum sl_status
save_output(struct runner *r, const char *name, const struct sl__datum *got,
	    struct sl_error *err)
{
	char path[PATH_MOST], file[512];

	snprintf(file, sizeof(file), "%s", name);
	for (char *c = file; *c; c++) {
		if (*c == '/')
			*c = '_';
	}
	snprintf(path, sizeof(path), "%s/%s.npy", r->options->output_folder,
		 file);
	if (got->kind != SL__TYPE_TENSOR)
		return sl__fail(err, SL_E_ABSENT,
				"output '%.200s' is no tensor: it cannot be "
				"written as .npy",
				name);
	return sl__npy_write(&got->tensor, path, r->options->plan.allocator,
			     err);
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
		rc = save_output(r, out->name, &got, err);
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

static enum sl_status
perform(struct runner *r, struct sl_error *err)
{
	const char *folder = r->options->check_folder
				     ? r->options->check_folder
				     : r->options->inputs_folder;
	struct sl_plan_options how = r->options->plan;
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	uint64_t start = sl__clock_now_ns(NULL);
	enum sl_status rc = SL_OK;

	if (how.sizes)
		sizes = *how.sizes;
	if (folder)
		rc = sl__inputs_open(&r->inputs, r->graph, folder,
				     how.allocator, err);
	if (!rc && folder)
		rc = take_shapes(r, &sizes, err);
	how.sizes = &sizes;
	how.struct_size = sizeof(how);
	if (!rc)
		rc = sl_plan_new(&r->plan, r->graph, &how, err);
	if (!rc)
		rc = set_inputs(r, err);
	if (rc)
		return rc;
	r->out->plan_ns = (double)(sl__clock_now_ns(NULL) - start);
	return run_once(r, err);
}

enum sl_status
sl_run(struct sl_run **out, const struct sl_graph *graph,
       const struct sl_run_options *options, struct sl_error *err)
{
	static const struct sl_sizes usual = {.struct_size = sizeof(usual)};
	struct sl_run_options mine = {.struct_size = sizeof(mine)};
	struct runner r = {.graph = graph, .options = &mine};
	enum sl_status rc;

	*out = NULL;
	if (options && options->struct_size != sizeof(*options))
		return sl__fail(err, SL_E_USAGE,
				"sl_run_options: struct_size is wrong");
	if (options)
		mine = *options;
	if (!mine.plan.sizes)
		mine.plan.sizes = &usual;
	r.out = sl__boxed_new(&r.arena, mine.plan.allocator, sizeof(*r.out));
	if (!r.out)
		return sl__fail_nomem(err);
	sl__arena_init(&r.scratch, mine.plan.allocator);
	r.out->name = sl__arena_string(r.arena, graph->name);
	r.out->source = sl__arena_string(r.arena, graph->source);
	r.out->dtype = mine.plan.dtype ? mine.plan.dtype : SL_DTYPE_F32;
	r.out->tolerance = mine.tolerance;
	rc = r.out->name && r.out->source ? perform(&r, err)
					  : sl__fail_nomem(err);
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
