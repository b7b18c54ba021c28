/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.c - what can be computed before the model runs.
 *
 * Contents that inference already follows (sizes and what is made of them)
 * are taken from there; a node all of whose inputs are constants is run by
 * the reference kernels.  Left alone are random numbers, control flow, what
 * would make constants much larger than what they come from, and weights
 * that are stored as integers: quantized kernels want them so.  So are nodes
 * that fail, which fail again, by their names, if ever they run, and those
 * that other passes have added: only nodes of the model are evaluated.
 */
#include "base/dtype.h"
#include "ops/evaluate.h"
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include <string.h>

#include "base/banned.h"

/* A folded constant may have this many bytes, or as many as its inputs. */
enum { GROWN_BYTES_MOST = 1 << 20 };

/* Scales of a tensor by channel are some thousand numbers. */
enum { SMALL_BYTES_MOST = 1 << 16 };

struct folding {
	struct sl__rewrite *rw;
	struct sl__evaluator *evaluator; /* made when it is needed */
	int keeps_quantized;
	int is_small; /* what has more bytes is left */
};

static int
is_random(const struct sl__rewrite *rw, uint32_t id)
{
	static const enum sl__op_id ops[] = {
		SL__OP_ONNX_RandomNormal,     SL__OP_ONNX_RandomUniform,
		SL__OP_ONNX_RandomNormalLike, SL__OP_ONNX_RandomUniformLike,
		SL__OP_ONNX_Bernoulli,        SL__OP_ONNX_Multinomial,
		SL__OP_ONNX_Dropout};

	return sl__rewrite_node_is_any_op(rw, id, ops,
					  sizeof(ops) / sizeof(*ops));
}

static uint64_t
bytes_of(const struct sl__rewrite *rw, const uint32_t *values, uint32_t n)
{
	uint64_t sum = 0, bytes;

	for (uint32_t i = 0; i < n; i++) {
		if (values[i] != SL__NONE &&
		    sl__type_bytes(&rw->types[values[i]], &bytes))
			sum += bytes;
	}
	return sum;
}

static int
is_foldable(const struct folding *f, const struct sl__node *node)
{
	const struct sl__rewrite *rw = f->rw;
	uint64_t made;

	if (!node->op || node->op->ref == sl__ref_none ||
	    sl__op_is_control_flow(node->op) ||
	    sl__is_op(node, SL__OP_ONNX_Constant))
		return 0;
	if (f->keeps_quantized && sl__is_op(node, SL__OP_ONNX_DequantizeLinear))
		return 0;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE &&
		    !sl__tensor_constant_read(rw, node->inputs[i]))
			return 0;
	}
	made = bytes_of(rw, node->outputs, node->n_outputs);
	if (f->is_small && made + bytes_of(rw, node->inputs, node->n_inputs) >
				   SMALL_BYTES_MOST)
		return 0;
	return made <= GROWN_BYTES_MOST ||
	       made <= bytes_of(rw, node->inputs, node->n_inputs);
}

/* A tensor of the new graph's own; strings are not folded. */
static void
keep(struct folding *f, uint32_t value, const struct sl__tensor *from)
{
	struct sl__tensor copy = *from;
	unsigned char *bytes =
		sl__rewrite_alloc(f->rw, (size_t)from->n_bytes + 64, 1);

	if (!bytes)
		return;
	bytes += 64 - (uintptr_t)bytes % 64;
	if (from->n_bytes)
		memcpy(bytes, from->bytes, (size_t)from->n_bytes);
	copy.bytes = bytes;
	copy.is_mapped = 0;
	sl__rewrite_value_to_constant(f->rw, value, &copy);
}

static int
is_followed(const struct sl__rewrite *rw, uint32_t value)
{
	const struct sl__known_contents *known;
	uint64_t n;

	if (value >= rw->from->n_values || rw->to->values[value].tensor)
		return 0;
	known = rw->shapes->known[value];
	if (!known || !sl__type_elements(&rw->types[value], &n) ||
	    n != known->n ||
	    sl__dtype_family(rw->types[value].dtype) == SL__DTYPE_OTHER)
		return 0;
	for (size_t i = 0; known->ints && i < known->n; i++) {
		if (sl__is_symbol(known->ints[i]))
			return 0;
	}
	return known->ints || known->floats;
}

static void
take_followed(struct folding *f, uint32_t value)
{
	const struct sl__known_contents *known = f->rw->shapes->known[value];
	const struct sl__type *type = &f->rw->types[value];
	struct sl__tensor made = {.dtype = type->dtype,
				  .rank = (size_t)type->rank,
				  .dims = type->dims};
	unsigned char *bytes;

	if (!sl__tensor_compute_size(&made))
		return;
	bytes = sl__rewrite_alloc(f->rw, (size_t)made.n_bytes, 1);
	if (!bytes)
		return;
	if (known->ints)
		sl__store_integers(bytes, type->dtype, 0, known->n,
				   known->ints);
	else
		sl__store_doubles(bytes, type->dtype, 0, known->n,
				  known->floats);
	made.bytes = bytes;
	sl__rewrite_value_to_constant(f->rw, value, &made);
}

/* Whether every output of the node follows; takes them if so. */
static int
fold_followed(struct folding *f, uint32_t id)
{
	const struct sl__node *node = &f->rw->nodes[id].node;

	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE &&
		    !is_followed(f->rw, node->outputs[k]))
			return 0;
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			take_followed(f, node->outputs[k]);
	}
	return 1;
}

/* Runs the original node on what its inputs are by now; 0 where it does not
 * run. */
static int
run_node(struct folding *f, uint32_t id)
{
	struct sl__rewrite *rw = f->rw;
	const struct sl__node *node = &rw->nodes[id].node;
	enum sl_status rc;

	if (!f->evaluator)
		rw->rc = sl__evaluator_new(&f->evaluator, rw->from,
					   &rw->allocator, rw->err);
	if (rw->rc)
		return 0;
	f->evaluator->keeps_all = 1;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		uint32_t input = rw->from->nodes[id].inputs[i];
		const struct sl__tensor *t =
			sl__tensor_constant_read(rw, node->inputs[i]);

		if (t && t->generator && input != node->inputs[i])
			return 0;
		if (t && !t->generator)
			sl__evaluator_set_tensor(f->evaluator, input, t);
	}
	rc = sl__evaluate_node(f->evaluator, id, rw->err);
	if (rc && rc != SL_E_DATA && rc != SL_E_ABSENT)
		rw->rc = rc;
	return !rc;
}

static int
compute(struct folding *f, uint32_t id)
{
	const struct sl__node *node = &f->rw->nodes[id].node;
	struct sl__runtime_value *made;

	if (!run_node(f, id))
		return 0;
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] == SL__NONE)
			continue;
		made = &f->evaluator->values[node->outputs[k]];
		if (made->kind != SL__TYPE_TENSOR || !made->tensor.bytes)
			return 0; /* sequences and strings stay nodes */
	}
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] == SL__NONE)
			continue;
		made = &f->evaluator->values[node->outputs[k]];
		keep(f, node->outputs[k], &made->tensor);
		sl__runtime_value_clear(made, &f->evaluator->allocator);
	}
	return 1;
}

static void
fold_all(struct folding *f)
{
	struct sl__rewrite *rw = f->rw;
	const uint32_t *order = sl__rewrite_node_order(rw);

	for (size_t i = 0; !rw->rc && i < rw->n_nodes; i++) {
		uint32_t id = order[i];
		const struct sl__mutable_node *row = &rw->nodes[id];

		if (row->is_gone || id >= rw->from->n_nodes ||
		    is_random(rw, id) ||
		    sl__is_op(&row->node, SL__OP_ONNX_Constant))
			continue;
		if (fold_followed(f, id) ||
		    (is_foldable(f, &row->node) && compute(f, id)))
			sl__rewrite_remove_node(rw, id);
	}
	sl__evaluator_free(f->evaluator);
}

void
sl__pass_fold(struct sl__rewrite *rw)
{
	fold_all(&(struct folding){.rw = rw, .keeps_quantized = 1});
}

void
sl__fold_small_constants(struct sl__rewrite *rw)
{
	fold_all(&(struct folding){
		.rw = rw, .keeps_quantized = 1, .is_small = 1});
}

/* After quantized weights have found their kernels: the rest too. */
void
sl__pass_fold_weights(struct sl__rewrite *rw)
{
	fold_all(&(struct folding){.rw = rw});
}
