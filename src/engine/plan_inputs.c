/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_inputs.c - inputs of a plan from files, and synthetic ones.
 *
 * A synthetic integer must be one that the model can use: where it chooses a
 * row of a table, any row of the table; a mask is all ones.
 */
#include "base/file_mapping.h"
#include "base/rng.h"
#include "base/status.h"
#include "engine/plan.h"
#include "model/inputs.h"
#include "model/npy.h"
#include "model/onnx_read.h"

#include <string.h>
#include <strings.h>

#include "base/banned.h"

static int
ends_in(const char *text, const char *ending)
{
	size_t n = strlen(text), m = strlen(ending);

	return n >= m && !strcasecmp(text + n - m, ending);
}

enum sl_status
sl__plan_read_tensor_file(struct sl__tensor *out, struct sl__file_mapping *file,
			  struct sl__arena *arena, const char *path,
			  struct sl_error *err)
{
	enum sl_status rc = sl__file_mapping_open(file, path, err);

	if (rc)
		return rc; /* names the path itself */
	if (ends_in(path, ".npy"))
		rc = sl__npy_read(out, arena, file->bytes, file->n_bytes, err);
	else if (ends_in(path, ".pb"))
		rc = sl__onnx_read_tensor(out, arena, file->bytes,
					  file->n_bytes, err);
	else
		rc = sl__fail(err, SL_E_USAGE,
			      "inputs are read from .npy and .pb files");
	return sl__error_prefix(err, rc, path);
}

enum sl_status
sl_plan_load_input(struct sl_plan *plan, const char *name, const char *path,
		   struct sl_error *err)
{
	size_t input = sl__plan_find_input(plan, name, err);
	struct sl__file_mapping file = {0};
	struct sl__arena arena;
	struct sl__tensor tensor = {0};
	struct sl__runtime_value content;
	enum sl_status rc;

	if (input == SIZE_MAX)
		return SL_E_DATA;
	sl__arena_init(&arena, plan->options.allocator);
	rc = sl__plan_read_tensor_file(&tensor, &file, &arena, path, err);
	if (!rc) {
		sl__runtime_value_borrow(&content, &tensor);
		rc = sl__error_prefix(
			err, sl__plan_set_input(plan, input, &content, err),
			path);
	}
	sl__file_mapping_close(&file);
	sl__arena_release(&arena);
	return rc;
}

enum sl_status
sl_plan_load_inputs(struct sl_plan *plan, const char *folder,
		    struct sl_error *err)
{
	struct sl__input_files *inputs;
	struct sl__runtime_value content;
	enum sl_status rc;

	rc = sl__input_files_open(&inputs, plan->graph, folder,
				  plan->options.allocator, err);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < inputs->n; i++) {
		content = inputs->values[i];
		if (inputs->contents[i])
			sl__runtime_value_borrow(&content, inputs->contents[i]);
		if (content.kind != SL__TYPE_UNKNOWN)
			rc = sl__plan_set_input(plan, i, &content, err);
	}
	sl__input_files_close(inputs);
	return rc;
}

enum { DEPTH_MOST = 8 }; /* nodes followed from an input to a table */

static int64_t
table_rows(const struct sl_graph *g, uint32_t value, int depth)
{
	int64_t rows = 0;

	for (size_t n = 0; depth < DEPTH_MOST && n < g->n_nodes; n++) {
		const struct sl__node *node = &g->nodes[n];
		const struct sl__tensor *t;
		int64_t axis, found = 0;

		if (sl__is_op(node, SL__OP_ONNX_Gather) &&
		    node->inputs[1] == value) {
			t = g->values[node->inputs[0]].tensor;
			axis = sl__attribute_int(node, "axis", 0);
			if (t && axis >= 0 && (size_t)axis < t->rank)
				found = t->dims[axis];
		} else if (node->n_inputs && node->inputs[0] == value &&
			   node->n_outputs && node->op &&
			   (node->op->cost == sl__cost_view ||
			    sl__is_op(node, SL__OP_ONNX_Cast))) {
			found = table_rows(g, node->outputs[0], depth + 1);
		}
		if (found > 0 && (!rows || found < rows))
			rows = found;
	}
	return rows;
}

int64_t
sl__gather_table_rows(const struct sl_graph *graph, uint32_t value)
{
	return table_rows(graph, value, 0);
}

static int
is_mask(const char *name)
{
	return strstr(name, "mask") || strstr(name, "Mask");
}

static double
number_for(const struct sl__value *v, enum sl_dtype dtype, int64_t rows,
	   struct sl__rng *rng)
{
	if (v->kind == SL_VALUE_STATE)
		return 0;
	if (is_mask(v->name) || dtype == SL_DTYPE_BOOL)
		return 1;
	if (!sl__ref_dtype_is_integer(dtype))
		return sl__rng_normal(rng);
	if (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8)
		return (double)sl__rng_below(rng, 128);
	return rows ? (double)sl__rng_below(rng, (uint64_t)rows) : 0;
}

/* A complex number is made up as two real ones. */
static enum sl_dtype
part_of(enum sl_dtype dtype)
{
	if (dtype == SL_DTYPE_C128)
		return SL_DTYPE_F64;
	return dtype == SL_DTYPE_C64 ? SL_DTYPE_F32 : dtype;
}

static enum sl_status
fill_input(struct sl_plan *plan, size_t input, uint64_t seed,
	   struct sl_error *err)
{
	struct sl__program *p = plan->current;
	uint32_t id = plan->graph->blocks[0].inputs[input];
	const struct sl__value *v = &plan->graph->values[id];
	const struct sl__type *type = &p->shapes->types[id];
	enum sl_dtype dtype = part_of(type->dtype);
	struct sl__rng rng;
	int64_t rows;
	uint64_t n;

	if (p->inputs[input] == SL__NONE || !sl__type_elements(type, &n))
		return sl__fail(err, SL_E_USAGE,
				"input '%.200s' must be given: it is no tensor "
				"of numbers whose sizes are known",
				v->name);
	sl__rng_init(&rng, seed + input);
	rows = sl__gather_table_rows(plan->graph, id);
	n *= dtype == type->dtype ? 1 : 2;
	for (uint64_t i = 0; i < n; i++) {
		double x = number_for(v, dtype, rows, &rng);

		sl__store_doubles(p->buffers[p->inputs[input]].data, dtype, i,
				  1, &x);
	}
	plan->given[input].is_set = 1;
	return SL_OK;
}

enum sl_status
sl_plan_fill_inputs(struct sl_plan *plan, uint64_t seed, struct sl_error *err)
{
	enum sl_status rc = sl__plan_select_program(plan, err);

	for (size_t i = 0; !rc && i < plan->graph->blocks[0].n_inputs; i++) {
		if (!plan->given[i].is_set)
			rc = fill_input(plan, i, seed ? seed : 1, err);
	}
	return rc;
}
