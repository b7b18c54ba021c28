/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_epilogue.c - what follows a matmul, on its elements while near. */
#include "engine/gemm_epilogue.h"
#include "compute/vector_gates.h"
#include "engine/node_steps.h"

#include "base/banned.h"

/* Elements of one row that are worked on together. */
enum { CHUNK = 256 };

#define EACH(value)                       \
	for (int64_t i = 0; i < n; i++) { \
		float v = x[i];           \
                                          \
		x[i] = (value);           \
	}                                 \
	break

SL__INLINE void
change_body(const struct sl__post_op *post_op, const float *operand, int64_t n,
	    float *x)
{
	float a = post_op->alpha, b = post_op->beta;

	switch (post_op->kind) {
	case SL__POST_OP_ADD:
		EACH(v + operand[i]);
	case SL__POST_OP_MUL:
		EACH(v * operand[i]);
	case SL__POST_OP_RELU:
		EACH(v < 0 ? 0 : v);
	case SL__POST_OP_LEAKY_RELU:
		EACH(v < 0 ? a * v : v);
	case SL__POST_OP_CLIP:
		EACH(sl__clip(v, a, b));
	case SL__POST_OP_SIGMOID:
		EACH(sl__sigmoid(v));
	case SL__POST_OP_TANH:
		EACH(sl__tanh(v));
	case SL__POST_OP_ELU:
		EACH(v < 0 ? a * (sl__exp(v) - 1) : v);
	case SL__POST_OP_HARD_SIGMOID:
		EACH(sl__clip(a * v + b, 0, 1));
	case SL__POST_OP_HARD_SWISH:
		EACH(sl__hard_swish(v));
	case SL__POST_OP_SILU:
		EACH(sl__swish(v, a));
	case SL__POST_OP_GELU:
		EACH(sl__gelu(v));
	case SL__POST_OP_GELU_TANH:
		EACH(sl__tanh_gelu(v));
	case SL__POST_OP_LINEAR:
		EACH(a * v + b);
	case SL__N_POST_OPS:
	default:
		break;
	}
}
SL__VECTOR_TARGETS(change, change_body,
		   (const struct sl__post_op *post_op, const float *operand,
		    int64_t n, float *x),
		   (post_op, operand, n, x))

uint32_t
sl__epilogue_add_operands(struct sl__epilogue *out, struct sl__planner *pl,
			  const struct sl__gemm *p, uint32_t *operands,
			  uint32_t n)
{
	out->p = p;
	out->change = change_for();
	for (int i = 0; i < p->n_epilogue; i++) {
		uint32_t value = p->epilogue[i].value;
		const struct sl__layout *layout;

		if (value == SL__NONE)
			continue;
		layout = p->epilogue[i].layout
				 ? p->epilogue[i].layout
				 : sl__plan_find_bf16_layout(pl, value);
		out->is_bf16[i] =
			layout ? sl__layout_dtype(layout) == SL_DTYPE_BF16
			       : sl__plan_value_type(pl, value)->dtype ==
					 SL_DTYPE_BF16;
		out->at[i] = n;
		operands[n++] = sl__plan_input_buffer(pl, value, layout);
	}
	return n;
}

/* Where a row of the result begins in an operand. */
static int64_t
offset_of(const struct sl__gemm *p, const struct sl__epilogue_op *end,
	  int64_t row)
{
	int64_t at = 0;

	for (int d = p->rank; d-- > 0;) {
		at += row % p->dims[d] * end->strides[d];
		row /= p->dims[d];
	}
	return at;
}

/* n elements of an operand as f32: in place, or copied. */
static const float *
fetch(const unsigned char *bytes, int is_bf16, int64_t step, int64_t n,
      float *copy)
{
	const float *wide = (const float *)(const void *)bytes;
	const uint16_t *narrow = (const uint16_t *)(const void *)bytes;

	if (!is_bf16 && step == 1)
		return wide;
	for (int64_t i = 0; i < n; i++)
		copy[i] = is_bf16 ? sl__from_bf16(narrow[i * step])
				  : wide[i * step];
	return copy;
}

static void
apply_chunk(const struct sl__epilogue *e, unsigned char *const *at, int64_t row,
	    int64_t first, int64_t n, float *x)
{
	float copy[CHUNK];

	for (int i = 0; i < e->p->n_epilogue; i++) {
		const struct sl__epilogue_op *end = &e->p->epilogue[i];
		const float *operand = NULL;

		if (end->value != SL__NONE) {
			int64_t from =
				offset_of(e->p, end, row) + first * end->column;

			operand = fetch(at[e->at[i]] +
						from * (e->is_bf16[i] ? 2 : 4),
					e->is_bf16[i], end->column, n, copy);
		}
		e->change(&end->post_op, operand, n, x);
	}
}

void
sl__epilogue_apply(const struct sl__epilogue *e, unsigned char *const *at,
		   int64_t row, int64_t first, int64_t n, float *x)
{
	for (int64_t i = 0; e->p->n_epilogue && i < n; i += CHUNK)
		apply_chunk(e, at, row, first + i,
			    n - i < CHUNK ? n - i : CHUNK, x + i);
}

struct ends_step {
	struct sl__epilogue epilogue;
	unsigned char **at;
};

static void
run_part(int rank, int n, void *ctx)
{
	const struct ends_step *e = ctx;
	const struct sl__gemm *p = e->epilogue.p;
	float *y = (float *)(void *)e->at[0];
	int64_t row, end;

	sl__parallel_range(sl__gemm_n_rows(p), rank, n, &row, &end);
	for (; row < end; row++)
		sl__epilogue_apply(&e->epilogue, e->at, row, 0, p->n,
				   y + row * p->n);
}

void
sl__plan_gemm_epilogue(struct sl__planner *pl, const struct sl__gemm *p,
		       uint32_t buffer)
{
	enum { ELEMENTS_PER_THREAD = 16384 };
	uint32_t operands[SL__EPILOGUE_MAX + 1] = {buffer}, n;
	struct ends_step *e = sl__plan_alloc_state(pl, sizeof(*e));
	struct sl__step *step;

	if (!e)
		return;
	n = sl__epilogue_add_operands(&e->epilogue, pl, p, operands, 1);
	step = sl__plan_add_parallel_step(pl, operands, n, "loops", run_part,
					  e);
	step->n_threads = sl__threads_at_most(pl->program->n_threads,
					      sl__gemm_n_rows(p) * p->n /
						      ELEMENTS_PER_THREAD);
	e->at = step->at;
}
