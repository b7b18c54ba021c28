/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - a model planned and run once, its outputs looked at.
 *
 * Where inputs from files are repeated along a batch, so is what the outputs
 * are compared with.
 */
#include "base/clock.h"
#include "base/dtype.h"
#include "base/map.h"
#include "base/file_mapping.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "experiment/output_check.h"
#include "experiment/subject.h"
#include "model/npy.h"
#include "model/onnx_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

struct runner {
	const struct sl_graph *graph;
	const struct sl_run_options *options;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_run *out;
	const struct sl_allocator *allocator;
	struct sl__subject_model subject;
	struct sl_plan *plan; /* the subject's */
	struct sl__model_precision model;
	struct sl__map written; /* files, with the values they are of */
};

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
check_output(struct runner *r, size_t k, const struct sl__runtime_value *got,
	     struct sl_error *err)
{
	struct sl_run_output *out = &r->out->outputs[k];
	uint32_t id = r->graph->blocks[0].outputs[k];
	struct sl__output_tolerance how = sl__output_tolerance_choose(
		&r->model, id, r->options->tolerance);
	const char *path = sl__arena_format(&r->scratch, "%s/output_%zu.pb",
					    r->options->check_folder, k);
	struct sl__file_mapping file = {0};
	struct sl__runtime_value want;
	enum sl_status rc;

	if (!path)
		return sl__fail_nomem(err);
	how.n_copies = r->subject.n_copies;
	rc = sl__file_mapping_open(&file, path, err);
	if (rc)
		return rc;
	rc = sl__onnx_read_runtime_value(&want, &r->graph->values[id].declared,
					 &r->scratch, file.bytes, file.n_bytes,
					 err);
	rc = sl__error_prefix(err, rc, path);
	if (!rc)
		rc = sl__output_compare(out, &how, got, &want, r->arena, err);
	sl__file_mapping_close(&file);
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
save_output(struct runner *r, uint32_t value,
	    const struct sl__runtime_value *got, struct sl_error *err)
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
	return sl__npy_write(&got->tensor, path, r->allocator, err);
}

static enum sl_status
take_output(struct runner *r, size_t k, struct sl_error *err)
{
	struct sl_run_output *out = &r->out->outputs[k];
	uint32_t id = r->graph->blocks[0].outputs[k];
	struct sl__runtime_value got;
	int64_t *dims;
	enum sl_status rc;

	out->name = sl__arena_string(r->arena, r->graph->values[id].name);
	rc = sl__plan_output_value(r->plan, k, &got, err);
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
	r->out->choices = sl__plan_choices_hash(r->plan, r->arena);
	if (!rc && !r->out->choices)
		rc = sl__fail_nomem(err);
	return rc ? rc : take_steps(r, err);
}

static enum sl_status
perform(struct runner *r, struct sl_error *err)
{
	struct sl__subject_model_options how = {
		.plan = r->options->plan,
		.inputs = r->options->inputs,
		.n_inputs = r->options->n_inputs,
		.folder = r->options->check_folder ? r->options->check_folder
						   : r->options->inputs_folder,
		.seed = r->options->seed,
	};
	enum sl_status rc;

	r->out->name = sl__arena_string(r->arena, r->graph->name);
	r->out->source = sl__arena_string(r->arena, r->graph->source);
	r->out->tolerance = r->options->tolerance;
	if (!r->out->name || !r->out->source)
		return sl__fail_nomem(err);
	rc = sl__subject_model_open(&r->subject, r->graph, &how, err);
	if (rc)
		return rc;
	r->plan = r->subject.plan;
	r->out->dtype = r->plan->options.dtype;
	r->out->seed = r->subject.seed;
	r->out->plan_ns = r->subject.plan_ns;
	return run_once(r, err);
}

enum sl_status
sl_run(struct sl_run **out, const struct sl_graph *graph,
       const struct sl_run_options *options, struct sl_error *err)
{
	struct sl_run_options how;
	struct sl__plan_options_storage plan;
	struct runner r = {.graph = graph, .options = &how};
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_run_options", err);

	*out = NULL;
	if (!rc)
		rc = sl__plan_options_copy(&plan, &how.plan, err);
	if (rc)
		return rc;
	r.allocator = plan.plan.allocator;
	r.out = sl__arena_object_new(&r.arena, r.allocator, sizeof(*r.out));
	if (!r.out)
		return sl__fail_nomem(err);
	sl__arena_init(&r.scratch, r.allocator);
	sl__map_init(&r.written, &r.scratch);
	r.model = sl__model_precision(graph);
	rc = perform(&r, err);
	sl__subject_model_close(&r.subject);
	sl__arena_release(&r.scratch);
	*out = sl__arena_object_free_on_error(r.out, rc);
	return rc;
}

void
sl_run_free(struct sl_run *run)
{
	sl__arena_object_free(run);
}
