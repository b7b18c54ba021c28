/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_few_bits.c - rows times a constant matrix of 4 or 8 bits
 * (MatMulNBits), by compute/few_bits.h.  Where the model lets rows be 8 bits
 * too (accuracy_level 4), they are.
 */
#include "compute/few_bits.h"
#include "engine/node_steps.h"
#include "graph/op_rules.h"

#include "base/banned.h"

enum { BYTES_PER_THREAD = 512 * 1024 }; /* below, a second is not worth it */

enum { AT_A, AT_B, AT_SCALES, AT_Y, AT_ROWS, AT_CODES, AT_FIRST, AT_END };

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct sl__few_bits *g = step->state;

	(void)err;
	g->a = (const float *)(const void *)step->at[AT_A];
	g->b = step->at[AT_B];
	g->scales_of_blocks = (const float *)(const void *)step->at[AT_SCALES];
	g->y = (float *)(void *)step->at[AT_Y];
	g->rows = (float *)(void *)step->at[AT_ROWS];
	if (g->tasks[0]) {
		g->codes = (signed char *)step->at[AT_CODES];
		g->first = (int32_t *)(void *)step->at[AT_FIRST];
	}
	sl__few_bits_run(g, step->n_threads);
	return SL_OK;
}

static int
has_type(const struct sl__planner *pl, uint32_t value, enum sl_dtype dtype,
	 int64_t n)
{
	return value != SL__NONE &&
	       sl__plan_value_type(pl, value)->dtype == dtype &&
	       (int64_t)sl__plan_value_n_elements(pl, value) == n;
}

/* Zero points and bias, where there are any. */
static int
read_optional(struct sl__few_bits *g, struct sl__planner *pl,
	      const struct sl__node *node)
{
	uint32_t zeros = sl__plan_node_input(node, 3);
	uint32_t bias = sl__plan_node_input(node, 5);
	const struct sl__tensor *t;

	if (zeros != SL__NONE) {
		t = sl__plan_constant_tensor(pl, zeros);
		if (!t ||
		    !has_type(pl, zeros, SL_DTYPE_U8, g->n * g->zeros_row))
			return 0;
		g->zeros = t->bytes;
	}
	if (bias != SL__NONE) {
		t = sl__plan_constant_tensor(pl, bias);
		if (!t || !has_type(pl, bias, SL_DTYPE_F32, g->n))
			return 0;
		g->bias = (const float *)(const void *)t->bytes;
	}
	return sl__plan_node_input(node, 4) == SL__NONE;
}

static int
read_node(struct sl__few_bits *g, struct sl__planner *pl,
	  const struct sl__node *node)
{
	int64_t bits = sl__attribute_int(node, "bits", 4);
	int64_t block = sl__attribute_int(node, "block_size", 0);
	uint32_t a = sl__plan_node_input(node, 0);

	g->n = sl__attribute_int(node, "N", 0);
	g->k = sl__attribute_int(node, "K", 0);
	g->is_4_bits = bits == 4;
	if ((bits != 4 && bits != 8) || block < SL__FEW_BITS_BLOCK ||
	    block > 1024 || (block & (block - 1)) || g->n < 1 || g->k < 1 ||
	    a == SL__NONE ||
	    sl__plan_value_type(pl, a)->dtype != SL_DTYPE_F32 ||
	    !sl__plan_constant_tensor(pl, sl__plan_node_input(node, 1)))
		return 0;
	/* 4 lets rows be 8 bits. */
	sl__few_bits_init(g, block,
			  sl__attribute_int(node, "accuracy_level", 0) == 4);
	g->n_rows = (int64_t)sl__plan_value_n_elements(pl, a) / g->k;
	return g->n_rows > 0 &&
	       has_type(pl, sl__plan_node_input(node, 1), SL_DTYPE_U8,
			g->n * g->row_bytes) &&
	       has_type(pl, sl__plan_node_input(node, 2), SL_DTYPE_F32,
			g->n * g->n_blocks) &&
	       read_optional(g, pl, node);
}

/* MatMulNBits. */
int
sl__make_few_bits(struct sl__planner *pl, const struct sl__node *node)
{
	struct sl__few_bits *g = sl__plan_alloc_state(pl, sizeof(*g));
	uint32_t operands[AT_END], n = AT_CODES;
	struct sl__step *step;
	uint64_t n_elements;

	if (!g || !read_node(g, pl, node))
		return 0;
	n_elements = (uint64_t)(g->n_rows * sl__few_bits_row_elements(g));
	operands[AT_A] =
		sl__plan_input_buffer(pl, sl__plan_node_input(node, 0), NULL);
	operands[AT_B] = sl__plan_constant_in_own_pages(
		pl, sl__plan_node_input(node, 1));
	operands[AT_SCALES] = sl__plan_constant_in_own_pages(
		pl, sl__plan_node_input(node, 2));
	operands[AT_ROWS] = sl__plan_workspace(pl, 4 * n_elements);
	if (g->tasks[0]) {
		operands[AT_CODES] = sl__plan_workspace(pl, n_elements);
		operands[AT_FIRST] = sl__plan_workspace(pl, n_elements);
		n = AT_END;
	}
	operands[AT_Y] =
		sl__plan_output_buffer(pl, sl__plan_node_output(node, 0), NULL);
	step = sl__plan_add_step(pl, operands, n,
				 g->tasks[0] ? "few-bits:vnni" : "few-bits",
				 run, g);
	step->n_threads = sl__threads_at_most(step->n_threads,
					      g->n * g->row_bytes * g->n_rows /
						      BYTES_PER_THREAD);
	return 1;
}
