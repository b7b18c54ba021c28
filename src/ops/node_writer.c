/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_writer.c - appends nodes to a graph under construction.
 *
 * Every node is inferred as it is added, so that types and small contents of
 * all values are known to whoever adds the next one.
 */
#include "ops/node_writer.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

/* The version of ONNX's operator set whose rules the nodes follow: axes of
 * reductions are inputs, Softmax takes one axis. */
enum { OPSET_VERSION = 21 };

static int
is_done(struct sl__node_writer *w, enum sl_status rc)
{
	if (!w->rc)
		w->rc = rc;
	return !w->rc;
}

void
sl__node_writer_fail(struct sl__node_writer *w, enum sl_status status,
		     const char *text)
{
	if (!w->rc)
		w->rc = sl__fail(w->err, status, "%s", text);
}

/* A copy in the graph's arena; NULL: a failure. */
static void *
copy(struct sl__node_writer *w, const void *from, size_t n, size_t n_bytes)
{
	void *to = w->rc ? NULL : sl__arena_array(&w->graph->arena, n, n_bytes);

	if (!to && !w->rc)
		w->rc = sl__fail_nomem(w->err);
	if (to && n)
		memcpy(to, from, n * n_bytes);
	return to;
}

static void
set(struct sl__node_writer *w, const struct sl__attribute *a)
{
	for (size_t i = 0; i < w->n_attributes; i++) {
		if (!strcmp(w->attributes[i].name, a->name)) {
			w->attributes[i] = *a;
			return;
		}
	}
	if (w->n_attributes == SL__NODE_WRITER_ATTRIBUTES)
		sl__node_writer_fail(w, SL_E_ABSENT,
				     "a node has more attributes than there is "
				     "room for");
	else
		w->attributes[w->n_attributes++] = *a;
}

static void
set_values(struct sl__node_writer *w, const char *name,
	   enum sl__attribute_kind kind, const void *values, size_t n,
	   size_t n_bytes)
{
	struct sl__attribute a = {.name = name, .kind = kind};

	sl__attribute_set_values(&a, copy(w, values, n, n_bytes), n);
	set(w, &a);
}

void
sl__node_writer_set_int(struct sl__node_writer *w, const char *name,
			int64_t value)
{
	set_values(w, name, SL__ATTRIBUTE_INT, &value, 1, sizeof(value));
}

void
sl__node_writer_set_ints(struct sl__node_writer *w, const char *name,
			 const int64_t *values, size_t n)
{
	set_values(w, name, SL__ATTRIBUTE_INTS, values, n, sizeof(*values));
}

void
sl__node_writer_set_float(struct sl__node_writer *w, const char *name,
			  double value)
{
	float single = (float)value;

	set_values(w, name, SL__ATTRIBUTE_FLOAT, &single, 1, sizeof(single));
}

void
sl__node_writer_set_string(struct sl__node_writer *w, const char *name,
			   const char *value)
{
	set_values(w, name, SL__ATTRIBUTE_STRING, &value, 1, sizeof(value));
}

void
sl__node_writer_copy_attributes(struct sl__node_writer *w,
				const struct sl__node *from)
{
	for (size_t i = 0; i < from->n_attributes; i++)
		set(w, &from->attributes[i]);
}

static uint32_t
add_value(struct sl__node_writer *w, const char *name)
{
	uint32_t id = 0;

	if (w->rc)
		return 0;
	is_done(w, sl__graph_add_value(w->graph, &id, name, 0, w->err));
	return w->rc ? 0 : id;
}

void
sl__node_writer_add_outputs(struct sl__node_writer *w, enum sl__op_id op,
			    const uint32_t *inputs, size_t n_inputs,
			    uint32_t *outputs, size_t n_outputs)
{
	const struct sl__op *row = &sl__ops[op];
	struct sl__node node = {.name = "",
				.domain = row->domain,
				.type = row->type,
				.version = row->domain[0] ? 1 : OPSET_VERSION,
				.phase = w->phase,
				.forward = w->forward,
				.inputs = inputs,
				.n_inputs = (uint32_t)n_inputs,
				.outputs = outputs,
				.n_outputs = (uint32_t)n_outputs,
				.n_attributes = w->n_attributes};
	uint32_t id;

	for (size_t k = 0; k < n_outputs; k++) {
		if (outputs[k] != SL__NONE)
			outputs[k] = add_value(w, "");
	}
	node.attributes =
		copy(w, w->attributes, w->n_attributes, sizeof(*w->attributes));
	w->n_attributes = 0;
	if (w->name[0] && !w->rc) {
		node.name = sl__arena_format(&w->graph->arena, "%s.%s", w->name,
					     row->type);
		if (!node.name)
			w->rc = sl__fail_nomem(w->err);
	}
	if (w->rc ||
	    !is_done(w, sl__graph_add_node(w->graph, &id, &node, w->err)) ||
	    !is_done(w, sl__shapes_extend(w->shapes, w->err)))
		return;
	is_done(w, sl__infer_node(w->shapes, id, w->err));
}

uint32_t
sl__node_writer_add(struct sl__node_writer *w, enum sl__op_id op,
		    const uint32_t *inputs, size_t n_inputs)
{
	uint32_t output = 0;

	sl__node_writer_add_outputs(w, op, inputs, n_inputs, &output, 1);
	return output;
}

uint32_t
sl__node_writer_output(struct sl__node_writer *w, uint32_t id, uint32_t k)
{
	struct sl__node *node = &w->graph->nodes[id];
	uint32_t n = node->n_outputs > k ? node->n_outputs : k + 1, *outputs;

	if (k < node->n_outputs && node->outputs[k] != SL__NONE)
		return node->outputs[k];
	outputs =
		w->rc ? NULL
		      : sl__arena_array(&w->graph->arena, n, sizeof(*outputs));
	if (!outputs) {
		is_done(w, sl__fail_nomem(w->err));
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		outputs[i] = i < node->n_outputs ? node->outputs[i] : SL__NONE;
	outputs[k] = add_value(w, "");
	if (w->rc)
		return 0;
	node->outputs = outputs;
	node->n_outputs = n;
	w->graph->values[outputs[k]].producer = id;
	if (is_done(w, sl__shapes_extend(w->shapes, w->err)))
		is_done(w, sl__infer_node(w->shapes, id, w->err));
	return outputs[k];
}

uint32_t
sl__node_writer_add_input(struct sl__node_writer *w, const char *name,
			  const struct sl__type *type, enum sl_value_kind kind)
{
	struct sl__block *main = &w->graph->blocks[0];
	uint32_t id = add_value(w, name);
	uint32_t *inputs = w->rc ? NULL
				 : sl__arena_realloc_array(
					   &w->graph->arena, main->inputs,
					   main->n_inputs, main->n_inputs + 1,
					   sizeof(*inputs));
	const int64_t *dims =
		copy(w, type->dims, (size_t)type->rank, sizeof(*dims));

	if (w->rc || !inputs) {
		is_done(w, sl__fail_nomem(w->err));
		return 0;
	}
	inputs[main->n_inputs++] = id;
	main->inputs = inputs;
	w->graph->values[id].declared = *type;
	w->graph->values[id].declared.dims = dims;
	w->graph->values[id].kind = SL_VALUE_INPUT;
	is_done(w, sl__shapes_extend(w->shapes, w->err));
	w->graph->values[id].kind = kind;
	return id;
}

/* A constant of these bytes. */
static uint32_t
add_constant(struct sl__node_writer *w, struct sl__tensor *like,
	     const void *bytes)
{
	int is_sized = sl__tensor_compute_size(like);
	struct sl__tensor *t;
	uint32_t id = add_value(w, "");

	like->dims = copy(w, like->dims, like->rank, sizeof(*like->dims));
	like->bytes = copy(w, bytes, is_sized ? (size_t)like->n_bytes : 0, 1);
	t = copy(w, like, 1, sizeof(*like));
	if (w->rc)
		return 0;
	w->graph->values[id].tensor = t;
	w->graph->values[id].kind = SL_VALUE_PARAMETER;
	is_done(w, sl__shapes_extend(w->shapes, w->err));
	return id;
}

uint32_t
sl__node_writer_integers(struct sl__node_writer *w, const int64_t *values,
			 size_t n)
{
	const int64_t dims[] = {(int64_t)n};
	struct sl__tensor like = {
		.dtype = SL_DTYPE_I64, .rank = 1, .dims = dims};

	return add_constant(w, &like, values);
}

uint32_t
sl__node_writer_scalar(struct sl__node_writer *w, enum sl_dtype dtype,
		       double value)
{
	struct sl__tensor like = {.dtype = dtype};
	unsigned char bytes[16] = {0};

	sl__store_doubles(bytes, dtype, 0, 1, &value);
	return add_constant(w, &like, bytes);
}

struct sl__type
sl__node_writer_type(struct sl__node_writer *w, uint32_t value)
{
	const struct sl__type *type = &w->shapes->types[value];
	uint64_t n;

	if (!w->rc && !sl__type_elements(type, &n))
		w->rc = sl__fail(w->err, SL_E_DATA,
				 "the sizes of '%.200s' are not known",
				 w->graph->values[value].name);
	return w->rc ? (struct sl__type){.kind = SL__TYPE_TENSOR,
					 .dtype = SL_DTYPE_F32}
		     : *type;
}

uint32_t
sl__node_writer_reshape(struct sl__node_writer *w, uint32_t value,
			const int64_t *dims, int rank)
{
	struct sl__type type = sl__node_writer_type(w, value);

	if (w->rc ||
	    (type.rank == rank &&
	     (!rank || !memcmp(type.dims, dims, (size_t)rank * sizeof(*dims)))))
		return value;
	sl__node_writer_set_int(w, "allowzero", 1);
	return SL__ADD_NODE(w, ONNX_Reshape, value,
			    sl__node_writer_integers(w, dims, (size_t)rank));
}

uint32_t
sl__node_writer_reshape_like(struct sl__node_writer *w, uint32_t value,
			     uint32_t like)
{
	struct sl__type type = sl__node_writer_type(w, like);

	return sl__node_writer_reshape(w, value, type.dims, type.rank);
}

uint32_t
sl__node_writer_fill_like(struct sl__node_writer *w, uint32_t like,
			  double number)
{
	struct sl__type type = sl__node_writer_type(w, like);

	return SL__ADD_NODE(
		w, ONNX_Expand, sl__node_writer_scalar(w, type.dtype, number),
		sl__node_writer_integers(w, type.dims, (size_t)type.rank));
}

uint32_t
sl__node_writer_sum(struct sl__node_writer *w, uint32_t value,
		    const int64_t *axes, size_t n, int is_kept)
{
	uint32_t list;

	if (n == 0)
		return value;
	list = sl__node_writer_integers(w, axes, n);
	sl__node_writer_set_int(w, "keepdims", is_kept);
	return SL__ADD_NODE(w, ONNX_ReduceSum, value, list);
}

uint32_t
sl__node_writer_sum_like(struct sl__node_writer *w, uint32_t value,
			 uint32_t like)
{
	struct sl__type from = sl__node_writer_type(w, value);
	struct sl__type to = sl__node_writer_type(w, like);
	int64_t axes[SL__RANK_MOST];
	int more = from.rank - to.rank;
	size_t n = 0;

	for (int d = 0; !w->rc && d < from.rank; d++) {
		if (d < more || (to.dims[d - more] == 1 && from.dims[d] != 1))
			axes[n++] = d;
	}
	if (w->rc)
		return value;
	return sl__node_writer_reshape_like(
		w, sl__node_writer_sum(w, value, axes, n, n != (size_t)more),
		like);
}

uint32_t
sl__node_writer_scale(struct sl__node_writer *w, uint32_t value, double factor)
{
	enum sl_dtype dtype = sl__node_writer_type(w, value).dtype;

	return SL__ADD_NODE(w, ONNX_Mul, value,
			    sl__node_writer_scalar(w, dtype, factor));
}
