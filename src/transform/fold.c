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
#include "base/status.h"
#include "ops/evaluate.h"
#include "transform/optimize.h"

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
is_random(const struct sl__node *node)
{
	return sl__is_op(node, SL__OP_ONNX_RandomNormal) ||
	       sl__is_op(node, SL__OP_ONNX_RandomUniform) ||
	       sl__is_op(node, SL__OP_ONNX_RandomNormalLike) ||
	       sl__is_op(node, SL__OP_ONNX_RandomUniformLike) ||
	       sl__is_op(node, SL__OP_ONNX_Bernoulli) ||
	       sl__is_op(node, SL__OP_ONNX_Multinomial) ||
	       sl__is_op(node, SL__OP_ONNX_Dropout);
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

	if (!node->op || node->op->ref == sl__ref_none || is_random(node) ||
	    sl__is_control(node->op) || sl__is_op(node, SL__OP_ONNX_Constant))
		return 0;
	if (f->keeps_quantized && sl__is_op(node, SL__OP_ONNX_DequantizeLinear))
		return 0;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (node->inputs[i] != SL__NONE &&
		    !sl__rewrite_tensor(rw, node->inputs[i]))
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
static enum sl_status
keep(struct folding *f, uint32_t value, const struct sl__tensor *from,
     struct sl_error *err)
{
	struct sl__arena *arena = &f->rw->to->arena;
	struct sl__tensor copy = *from;
	unsigned char *bytes;

	bytes = sl__arena_alloc(arena, (size_t)from->n_bytes + 64);
	if (!bytes)
		return sl__fail_nomem(err);
	bytes += 64 - (uintptr_t)bytes % 64;
	if (from->n_bytes)
		memcpy(bytes, from->bytes, (size_t)from->n_bytes);
	copy.bytes = bytes;
	copy.is_mapped = 0;
	return sl__rewrite_make_constant(f->rw, value, &copy, err);
}

static int
is_followed(const struct sl__rewrite *rw, uint32_t value)
{
	const struct sl__known *known;
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

static enum sl_status
take_followed(struct folding *f, uint32_t value, struct sl_error *err)
{
	const struct sl__known *known = f->rw->shapes->known[value];
	const struct sl__type *type = &f->rw->types[value];
	struct sl__tensor made = {.dtype = type->dtype,
				  .rank = (size_t)type->rank,
				  .dims = type->dims};
	unsigned char *bytes;

	if (!sl__tensor_measure(&made))
		return SL_OK;
	bytes = sl__arena_alloc(&f->rw->to->arena, (size_t)made.n_bytes);
	if (!bytes)
		return sl__fail_nomem(err);
	if (known->ints)
		sl__store_integers(bytes, type->dtype, 0, known->n,
				   known->ints);
	else
		sl__store_doubles(bytes, type->dtype, 0, known->n,
				  known->floats);
	made.bytes = bytes;
	return sl__rewrite_make_constant(f->rw, value, &made, err);
}

/* Whether every output of the node follows; takes them if so. */
static enum sl_status
fold_followed(struct folding *f, uint32_t id, int *is_folded,
	      struct sl_error *err)
{
	const struct sl__node *node = &f->rw->nodes[id].node;
	enum sl_status rc = SL_OK;

	*is_folded = 0;
	for (uint32_t k = 0; k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE &&
		    !is_followed(f->rw, node->outputs[k]))
			return SL_OK;
	}
	for (uint32_t k = 0; !rc && k < node->n_outputs; k++) {
		if (node->outputs[k] != SL__NONE)
			rc = take_followed(f, node->outputs[k], err);
	}
	*is_folded = 1;
	return rc;
}

static enum sl_status
compute(struct folding *f, uint32_t id, int *is_folded, struct sl_error *err)
{
	const struct sl__node *node = &f->rw->nodes[id].node;
	const struct sl__datum *made;
	enum sl_status rc = SL_OK;

	*is_folded = 0;
	if (!f->evaluator)
		rc = sl__evaluator_new(&f->evaluator, f->rw->from,
				       &f->rw->allocator, err);
	if (rc)
		return rc;
	f->evaluator->keeps_all = 1;
	/* The original node runs, on what its inputs are by now. */
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		uint32_t input = f->rw->from->nodes[id].inputs[i];
		const struct sl__tensor *t =
			sl__rewrite_tensor(f->rw, node->inputs[i]);

		if (t && t->generator && input != node->inputs[i])
			return SL_OK;
		if (t && !t->generator)
			sl__evaluator_lend(f->evaluator, input, t);
	}
	rc = sl__evaluate_node(f->evaluator, id, err);
	if (rc == SL_E_DATA || rc == SL_E_ABSENT)
		return SL_OK;
	for (uint32_t k = 0; !rc && k < node->n_outputs; k++) {
		if (node->outputs[k] == SL__NONE)
			continue;
		made = &f->evaluator->values[node->outputs[k]];
		if (made->kind != SL__TYPE_TENSOR || !made->tensor.bytes)
			return SL_OK; /* sequences and strings stay nodes */
	}
	for (uint32_t k = 0; !rc && k < node->n_outputs; k++) {
		if (node->outputs[k] == SL__NONE)
			continue;
		made = &f->evaluator->values[node->outputs[k]];
		rc = keep(f, node->outputs[k], &made->tensor, err);
		sl__datum_clear(&f->evaluator->values[node->outputs[k]],
				&f->evaluator->allocator);
	}
	*is_folded = 1;
	return rc;
}

static enum sl_status
fold_node(struct folding *f, uint32_t id, struct sl_error *err)
{
	const struct sl__redraft *row = &f->rw->nodes[id];
	int is_folded = 0;
	enum sl_status rc = SL_OK;

	if (row->is_gone || row->node.block || is_random(&row->node) ||
	    sl__is_op(&row->node, SL__OP_ONNX_Constant))
		return SL_OK;
	rc = fold_followed(f, id, &is_folded, err);
	if (!rc && !is_folded && is_foldable(f, &row->node))
		rc = compute(f, id, &is_folded, err);
	if (!rc && is_folded)
		sl__rewrite_remove(f->rw, id);
	return rc;
}

static enum sl_status
fold_all(struct folding *f, struct sl_error *err)
{
	const struct sl__block *block = &f->rw->from->blocks[0];
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < block->n_nodes; i++)
		rc = fold_node(f, block->nodes[i], err);
	sl__evaluator_free(f->evaluator);
	return rc;
}

enum sl_status
sl__pass_fold(struct sl__rewrite *rw, struct sl_error *err)
{
	return fold_all(&(struct folding){.rw = rw, .keeps_quantized = 1}, err);
}

enum sl_status
sl__fold_small(struct sl__rewrite *rw, struct sl_error *err)
{
	return fold_all(&(struct folding){.rw = rw,
					  .keeps_quantized = 1,
					  .is_small = 1},
			err);
}

/* After quantized weights have found their kernels: the rest too. */
enum sl_status
sl__pass_fold_weights(struct sl__rewrite *rw, struct sl_error *err)
{
	return fold_all(&(struct folding){.rw = rw}, err);
}
