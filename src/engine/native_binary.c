/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_binary.c - operators of several inputs that are broadcast together.
 *
 * 'functions' has a row for each operator: what it does to rows of two
 * operands, in f32 and in int64 (compute/binary_rows.h); other types are
 * converted piece by piece.  The loops of all operands are joined as far as
 * they go (iteration_space.h), so that what is left is rows in which an operand
 * either advances or stays.  Results lie in the order of the first input that
 * has all of their elements, blocks of channels included.  Operators of more
 * than two inputs take one pass for each after the first.
 */
/*
 * native_binary.c - operators of several inputs that are broadcast together.
 *
 * 'functions' has a row for each operator: what it does to rows of two
 * operands (compute/binary_rows.h), in f32 and in int64; other types are converted piece by piece. The
 * loops of all operands are joined as far as they go (iteration_space.h), so
 * that what is left is rows in which an operand either advances or stays.
 *  Results lie in the order of the first input that has all of their elements,
 * blocks of channels included.  Operators of more than two inputs take one pass
 * for each after the first.
 */
#include "base/dtype.h"
#include "compute/binary_rows.h"
#include "compute/element_conversion.h"
#include "engine/strided_layout.h"

#include <string.h>

#include "base/banned.h"

struct function {
	const char *kernel;
	sl__binary_chooser *real;  /* NULL: has none */
	sl__binary_chooser *whole; /* likewise */
	int cost; /* how many times as long as moving its operands takes */
};

#define BOTH(name, cost)                                  \
	{                                                 \
#name, sl__real_##name##_rows_for,        \
			sl__whole_##name##_rows_for, cost \
	}

static const struct function functions[SL__N_OPS] = {
	[SL__OP_ONNX_Add] = BOTH(add, 1),
	[SL__OP_ONNX_And] = {"and", NULL, sl__whole_and_rows_for, 1},
	[SL__OP_ONNX_BitShift] = {"shift", NULL, sl__whole_left_rows_for, 1},
	[SL__OP_ONNX_BitwiseAnd] = {"and", NULL, sl__whole_and_rows_for, 1},
	[SL__OP_ONNX_BitwiseOr] = {"or", NULL, sl__whole_or_rows_for, 1},
	[SL__OP_ONNX_BitwiseXor] = {"xor", NULL, sl__whole_xor_rows_for, 1},
	[SL__OP_ONNX_Div] = BOTH(div, 1),
	[SL__OP_ONNX_Equal] = BOTH(equal, 1),
	[SL__OP_ONNX_Greater] = BOTH(greater, 1),
	[SL__OP_ONNX_GreaterOrEqual] = BOTH(greater_equal, 1),
	[SL__OP_ONNX_Less] = BOTH(less, 1),
	[SL__OP_ONNX_LessOrEqual] = BOTH(less_equal, 1),
	[SL__OP_ONNX_Max] = BOTH(max, 1),
	[SL__OP_ONNX_Mean] = {"mean", sl__real_add_rows_for, NULL, 1},
	[SL__OP_ONNX_Min] = BOTH(min, 1),
	[SL__OP_ONNX_Mod] = BOTH(mod, 10),
	[SL__OP_ONNX_Mul] = BOTH(mul, 1),
	[SL__OP_ONNX_Or] = {"or", NULL, sl__whole_or_rows_for, 1},
	[SL__OP_ONNX_PRelu] = {"prelu", sl__real_prelu_rows_for, NULL, 1},
	[SL__OP_ONNX_Pow] = {"pow", sl__real_pow_rows_for, NULL, 10},
	[SL__OP_ONNX_Sub] = BOTH(sub, 1),
	[SL__OP_ONNX_Sum] = BOTH(add, 1),
	[SL__OP_ONNX_SwiGLU] = {"swiglu", sl__real_swiglu_rows_for, NULL, 2},
	[SL__OP_ONNX_Xor] = {"xor", NULL, sl__whole_xor_rows_for, 1},
	[SL__OP_MS_BiasGelu] = {"bias_gelu", sl__real_bias_gelu_rows_for, NULL,
				3},
	[SL__OP_MS_FastGelu] = {"bias_tanh_gelu",
				sl__real_bias_tanh_gelu_rows_for, NULL, 3},
};

/* Powers that are products or roots. */
static struct function
power_of(struct sl__planner *pl, const struct sl__node *node,
	 const struct function *usual)
{
	static const struct {
		double exponent;
		struct function f;
	} powers[] = {
		{0.5, {"root", sl__real_root_rows_for, NULL, 1}},
		{1, {"copy", sl__real_first_rows_for, NULL, 1}},
		{2, {"square", sl__real_square_rows_for, NULL, 1}},
		{3, {"cube", sl__real_cube_rows_for, NULL, 1}},
	};
	const struct sl__tensor *t =
		sl__plan_constant_tensor(pl, sl__plan_node_input(node, 1));
	double exponent;

	if (!t || t->n_elements != 1 || !sl__tensor_doubles(t, 0, 1, &exponent))
		return *usual;
	for (size_t i = 0; i < sizeof(powers) / sizeof(*powers); i++) {
		/* The same number, not one that is near. */
		if (exponent >= powers[i].exponent &&
		    exponent <= powers[i].exponent)
			return powers[i].f;
	}
	return *usual;
}

static struct function
function_of(struct sl__planner *pl, const struct sl__node *node)
{
	struct function f = functions[node->op - sl__ops];

	if (sl__is_op(node, SL__OP_ONNX_Mod) &&
	    sl__attribute_int(node, "fmod", 0)) {
		f.real = sl__real_fmod_rows_for;
		f.whole = sl__whole_fmod_rows_for;
	}
	if (sl__is_op(node, SL__OP_ONNX_BitShift) &&
	    !strcmp(sl__attribute_string(node, "direction", "LEFT"), "RIGHT"))
		f.whole = sl__whole_right_rows_for;
	if (sl__is_op(node, SL__OP_ONNX_Pow))
		return power_of(pl, node, &f);
	return f;
}

/* result = f(left, right); operand numbers are the step's. */
struct pass {
	sl__binary_function *f;
	float knob;
	struct sl__iteration_space space; /* result, left, right */
	uint32_t at[3];
	enum sl_dtype types[3];
};

struct binary {
	int is_real;
	uint32_t n_passes;
	struct pass *passes;
	struct pass *pass; /* that is running */
	unsigned char **at;
};

/* One row in pieces that are converted. */
static void
run_converted(const struct binary *b, const struct sl__binary_rows *r)
{
	const enum sl_dtype *types = b->pass->types;
	union sl__conversion_block pieces[3];
	struct sl__binary_rows piece = *r;
	size_t sizes[3];

	for (int k = 0; k < 3; k++)
		sizes[k] = sl_dtype_bits(types[k]) / 8;
	piece.n_rows = 1;
	piece.a = &pieces[1];
	piece.b = &pieces[2];
	piece.y = &pieces[0];
	for (int64_t i = 0; i < r->n; i += SL__CONVERSION_BLOCK) {
		piece.n = r->n - i < SL__CONVERSION_BLOCK
				  ? r->n - i
				  : SL__CONVERSION_BLOCK;
		sl__conversion_block_load(&pieces[1], b->is_real, types[1],
					  (const unsigned char *)r->a +
						  (size_t)(i * r->a_step) *
							  sizes[1],
					  r->a_step ? piece.n : 1);
		sl__conversion_block_load(&pieces[2], b->is_real, types[2],
					  (const unsigned char *)r->b +
						  (size_t)(i * r->b_step) *
							  sizes[2],
					  r->b_step ? piece.n : 1);
		b->pass->f(&piece);
		sl__conversion_block_store(
			&pieces[0], b->is_real, types[0],
			(unsigned char *)r->y + (size_t)i * sizes[0], piece.n);
	}
}

static int
is_converted(const struct binary *b)
{
	enum sl_dtype own = b->is_real ? SL_DTYPE_F32 : SL_DTYPE_I64;

	for (int k = 0; k < 3; k++) {
		if (b->pass->types[k] != own)
			return 1;
	}
	return 0;
}

static void
run_rows(const struct binary *b, struct sl__binary_rows *r)
{
	const enum sl_dtype *types = b->pass->types;
	int64_t n_rows = r->n_rows;

	if (!is_converted(b)) {
		b->pass->f(r);
		return;
	}
	r->n_rows = 1;
	for (int64_t row = 0; row < n_rows; row++) {
		run_converted(b, r);
		r->a = (const unsigned char *)r->a +
		       r->a_row * (int64_t)(sl_dtype_bits(types[1]) / 8);
		r->b = (const unsigned char *)r->b +
		       r->b_row * (int64_t)(sl_dtype_bits(types[2]) / 8);
		r->y = (unsigned char *)r->y +
		       r->y_row * (int64_t)(sl_dtype_bits(types[0]) / 8);
	}
}

static unsigned char *
place(const struct binary *b, int k, int64_t offset)
{
	const struct pass *pass = b->pass;

	return b->at[pass->at[k]] +
	       offset * (int64_t)(sl_dtype_bits(pass->types[k]) / 8);
}

/* Rows of a loop that goes on are taken together. */
static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct binary *b = ctx;
	const struct sl__iteration_space *l = &b->pass->space;
	int last = l->rank - 1;
	struct sl__space_position p;
	int64_t first, end;
	struct sl__binary_rows r = {.knob = b->pass->knob};

	r.a_step = l->strides[1][last] != 0;
	r.b_step = l->strides[2][last] != 0;
	sl__parallel_range(last ? sl__space_n_positions(l, last) : l->dims[0],
			   rank, n_ranks, &first, &end);
	if (first == end)
		return;
	sl__space_seek(l, last ? last : 1, first, &p);
	while (first < end) {
		int64_t left = last ? l->dims[last - 1] - p.at[last - 1] : 1;

		r.n_rows = left < end - first ? left : end - first;
		r.n = last ? l->dims[last] : end - first;
		r.y = place(b, 0, p.offsets[0]);
		r.a = place(b, 1, p.offsets[1]);
		r.b = place(b, 2, p.offsets[2]);
		if (last) {
			r.y_row = l->strides[0][last - 1];
			r.a_row = l->strides[1][last - 1];
			r.b_row = l->strides[2][last - 1];
		} else {
			r.n_rows = 1;
		}
		first += last ? r.n_rows : r.n;
		run_rows(b, &r);
		if (first < end)
			sl__space_seek(l, last, first, &p);
	}
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct binary *b = step->state;

	(void)err;
	for (uint32_t i = 0; i < b->n_passes; i++) {
		b->pass = &b->passes[i];
		sl__parallel_run(step->n_threads, run_part, b);
	}
	return SL_OK;
}

enum { INPUTS_MOST = 32 };

/* What is known of a node while its step is made. */
struct plan {
	struct sl__planner *pl;
	const struct sl__node *node;
	const struct sl__type *out;
	uint32_t n;                                    /* inputs */
	const struct sl__layout *layout;               /* of the result */
	struct sl__strided_layout strided;             /* in it */
	const struct sl__layout *layouts[INPUTS_MOST]; /* of inputs */
	struct sl__strided_layout strided_layouts[INPUTS_MOST];
};

static int
is_whole_size(const struct plan *p, uint32_t i)
{
	const struct sl__type *type =
		sl__plan_value_type(p->pl, p->node->inputs[i]);

	if (type->rank != p->out->rank)
		return 0;
	for (int d = 0; d < type->rank; d++) {
		if (type->dims[d] != p->out->dims[d])
			return 0;
	}
	return 1;
}

/* Whether elements lie in the same order, of whatever type. */
static int
is_same_order(const struct plan *p, const struct sl__strided_layout *a,
	      const struct sl__strided_layout *b)
{
	if (a->axis != b->axis || a->block != b->block ||
	    a->is_padded != b->is_padded)
		return 0;
	for (int d = 0; d < p->out->rank; d++) {
		if (p->out->dims[d] != 1 && a->strides[d] != b->strides[d])
			return 0;
	}
	return 1;
}

/* A repeated operand in blocks that is in order all the same: it has but its
 * channels. */
static int
is_plain_in_blocks(const struct plan *p, uint32_t i,
		   const struct sl__strided_layout *strided)
{
	const struct sl__type *type =
		sl__plan_value_type(p->pl, p->node->inputs[i]);

	if (strided->axis != 1 || strided->is_padded)
		return 0;
	for (int d = 2; d < type->rank; d++) {
		if (type->dims[d] != 1)
			return 0;
	}
	return 1;
}

/* In which layout input i is read, given the result's. */
static int
choose_input(struct plan *p, uint32_t i)
{
	uint32_t value = p->node->inputs[i];
	const struct sl__layout *own = sl__plan_value_layout(p->pl, value);
	int is_known = sl__strided_layout_of(p->pl, value, own,
					     &p->strided_layouts[i]) &&
		       sl__number_class_of(p->strided_layouts[i].dtype);

	p->layouts[i] = own;
	if (is_known && is_whole_size(p, i) &&
	    is_same_order(p, &p->strided_layouts[i], &p->strided))
		return 1;
	if (is_known && own && !is_whole_size(p, i) &&
	    is_plain_in_blocks(p, i, &p->strided_layouts[i])) {
		enum sl_dtype dtype = p->strided_layouts[i].dtype;

		if (!sl__strided_layout_of(p->pl, value, NULL,
					   &p->strided_layouts[i]))
			return 0;
		p->strided_layouts[i].dtype = dtype;
		return 1;
	}
	p->layouts[i] = is_whole_size(p, i) ? p->layout : NULL;
	return sl__strided_layout_of(p->pl, value, p->layouts[i],
				     &p->strided_layouts[i]) &&
	       sl__number_class_of(p->strided_layouts[i].dtype);
}

/* The result's layout and those of inputs; 0: not in this layout. */
static int
choose_layouts(struct plan *p, const struct sl__layout *layout)
{
	p->layout = layout;
	if (!sl__strided_layout_of(p->pl, p->node->outputs[0], layout,
				   &p->strided))
		return 0;
	for (uint32_t i = 0; i < p->n; i++) {
		if (!choose_input(p, i))
			return 0;
	}
	return 1;
}

/* The layout of the first input of all elements that is not row-major f32;
 * where another is f32, the result is. */
static const struct sl__layout *
interceptor(const struct plan *p)
{
	const struct sl__layout *found = NULL;

	/* A comparison's result is of another type. */
	if (sl__number_class_of(p->out->dtype) != SL__NUMBER_CLASS_REAL)
		return NULL;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct sl__layout *layout =
			sl__plan_value_layout(p->pl, p->node->inputs[i]);

		if (!is_whole_size(p, i))
			continue;
		if (layout && (!found || sl__layout_is_dense(found)))
			found = layout;
	}
	for (uint32_t i = 0; found && i < p->n; i++) {
		if (is_whole_size(p, i) && sl__layout_is_dense(found) &&
		    !sl__plan_value_layout(p->pl, p->node->inputs[i]))
			return NULL;
	}
	return found;
}

/* Where the sizes of an input begin among those of the result: at the end of
 * it, or, in old versions, where the attribute says. */
static int
first_dim(const struct plan *p, const struct sl__type *type)
{
	int64_t axis = sl__attribute_int(p->node, "axis", 0);
	int rank = p->out->rank;

	if (p->node->domain[0] || p->node->version >= 7 || type->rank == rank)
		return rank - type->rank;
	if (sl__is_op(p->node, SL__OP_ONNX_PRelu))
		return type->rank == 1 && rank > 1 &&
				       type->dims[0] == p->out->dims[1]
			       ? 1
			       : rank - type->rank;
	if (!sl__attribute_find(p->node, "axis"))
		return rank - type->rank;
	axis = axis < 0 ? axis + rank : axis;
	return axis < 0 || axis > rank - type->rank ? -1 : (int)axis;
}

static int
add_input(const struct plan *p, uint32_t i, struct sl__iteration_space *l)
{
	const struct sl__type *type =
		sl__plan_value_type(p->pl, p->node->inputs[i]);
	struct sl__space_operand operand = {first_dim(p, type), type->rank,
					    type->dims, &p->strided_layouts[i]};

	if (type->rank > p->out->rank || operand.first < 0)
		return 0;
	for (int d = 0; d < type->rank; d++) {
		if (type->dims[d] != 1 &&
		    type->dims[d] != p->out->dims[operand.first + d])
			return 0;
	}
	return sl__space_add_operand(l, &operand, p->strided.axis,
				     p->strided.block);
}

static void
add_result(const struct plan *p, struct sl__iteration_space *l)
{
	struct sl__space_operand operand = {0, p->out->rank, p->out->dims,
					    &p->strided};

	(void)sl__space_add_operand(l, &operand, p->strided.axis,
				    p->strided.block);
}

/* All padded alike: the loop goes over everything that is stored. */
static int
flat_space(const struct plan *p, uint32_t left, uint32_t right,
	   struct sl__iteration_space *l)
{
	int64_t n = (int64_t)(sl__layout_bytes(p->layout) * 8 /
			      sl_dtype_bits(p->strided.dtype));

	if (!is_whole_size(p, left) || !is_whole_size(p, right))
		return 0;
	sl__space_init(l, 1, &n);
	l->n = 3;
	for (int k = 0; k < 3; k++)
		l->strides[k][0] = 1;
	return 1;
}

/* The loops of a pass; 'left' is p->n for the result itself. */
static int
make_space(const struct plan *p, uint32_t left, uint32_t right,
	   struct sl__iteration_space *l)
{
	int last;

	if (p->strided.is_padded)
		return flat_space(p, left == p->n ? 0 : left, right, l);
	if (p->out->rank + 1 > SL__SPACE_RANK_MAX)
		return 0;
	sl__space_init(l, p->out->rank, p->out->dims);
	if (p->strided.axis >= 0)
		sl__space_block_axis(l, p->strided.axis, p->strided.block);
	add_result(p, l);
	if (left == p->n)
		add_result(p, l);
	else if (!add_input(p, left, l))
		return 0;
	if (!add_input(p, right, l))
		return 0;
	sl__space_sort_loops(l);
	sl__space_merge_loops(l);
	last = l->rank - 1;
	return l->strides[1][last] <= 1 && l->strides[2][last] <= 1;
}

static int
keeps_zero(const struct binary *b, const struct pass *pass)
{
	float a = 0, c = 0, y = 1;
	struct sl__binary_rows r = {1, 1, &a, &c, &y,        1,
				    1, 1, 1,  1,  pass->knob};

	if (!b->is_real)
		return 0;
	pass->f(&r);
	return y == 0;
}

/* Operands of the step: inputs in order, then the result. */
static int
make_passes(struct plan *p, const struct function *f, struct binary *b)
{
	sl__binary_function *usual = b->is_real ? f->real() : f->whole();

	for (uint32_t i = 0; i < b->n_passes; i++) {
		struct pass *pass = &b->passes[i];
		uint32_t left = i ? p->n : 0, right = p->n > 1 ? i + 1 : 0;

		pass->f = usual;
		pass->knob = (float)sl__attribute_float(p->node, "alpha", 1);
		if (p->n == 1 && !sl__is_op(p->node, SL__OP_ONNX_Pow))
			pass->f = b->is_real ? sl__real_first_rows_for()
					     : sl__whole_first_rows_for();
		if (sl__is_op(p->node, SL__OP_ONNX_Mean) &&
		    i + 1 == b->n_passes && p->n > 1) {
			pass->f = sl__real_scaled_add_rows_for();
			pass->knob = 1 / (float)p->n;
		}
		if (!make_space(p, left, right, &pass->space) ||
		    (p->strided.is_padded && !keeps_zero(b, pass)))
			return 0;
		pass->at[0] = p->n;
		pass->at[1] = left;
		pass->at[2] = right;
		pass->types[0] = p->strided.dtype;
		pass->types[1] = left == p->n ? p->strided.dtype
					      : p->strided_layouts[left].dtype;
		pass->types[2] = p->strided_layouts[right].dtype;
	}
	return 1;
}

static int
open_plan(struct plan *p, const struct function *f, struct binary *b)
{
	enum sl__number_class numbers;

	p->n = p->node->n_inputs;
	if (p->n > 1 && p->node->inputs[p->n - 1] == SL__NONE)
		p->n--;
	if (p->n < 1 || p->n > INPUTS_MOST)
		return 0;
	/* What has become of a known power takes one input. */
	if (sl__is_op(p->node, SL__OP_ONNX_Pow) &&
	    f->real != sl__real_pow_rows_for)
		p->n = 1;
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->node->inputs[i] == SL__NONE)
			return 0;
	}
	p->out = sl__plan_value_type(p->pl, p->node->outputs[0]);
	numbers = sl__number_class_of(
		sl__plan_value_type(p->pl, p->node->inputs[0])->dtype);
	/* Sums of short reals are rounded once, which passes do not. */
	if (p->n > 2 && p->out->dtype != SL_DTYPE_F32 &&
	    numbers == SL__NUMBER_CLASS_REAL)
		return 0;
	for (uint32_t i = 0; i < p->n; i++) {
		if (sl__number_class_of(
			    sl__plan_value_type(p->pl, p->node->inputs[i])
				    ->dtype) != numbers)
			return 0;
	}
	b->is_real = numbers == SL__NUMBER_CLASS_REAL;
	b->n_passes = p->n > 1 ? p->n - 1 : 1;
	return sl__plan_value_n_elements(p->pl, p->node->outputs[0]) &&
	       (b->is_real ? f->real != NULL
			   : numbers == SL__NUMBER_CLASS_WHOLE &&
				     f->whole != NULL);
}

/* An input that the result may be written over: of all its elements, in its
 * order, and no other input lies there. */
static uint32_t
find_over(const struct plan *p, const uint32_t *at)
{
	const struct sl__buffer *buffers = p->pl->program->buffers;

	for (uint32_t i = 0; i < p->n; i++) {
		int is_free =
			is_whole_size(p, i) &&
			p->strided_layouts[i].dtype == p->strided.dtype &&
			is_same_order(p, &p->strided_layouts[i], &p->strided) &&
			(i == 0 || p->n == 2);

		for (uint32_t k = 0; k < p->n; k++)
			is_free &= k == i ||
				   buffers[at[k]].base != buffers[at[i]].base;
		if (is_free)
			return at[i];
	}
	return SL__NONE;
}

static void
add_step(struct plan *p, struct binary *b, const struct function *f)
{
	uint32_t at[INPUTS_MOST + 1], over;
	struct sl__step *step;

	for (uint32_t i = 0; i < p->n; i++)
		at[i] = sl__plan_input_buffer(p->pl, p->node->inputs[i],
					      p->layouts[i]);
	over = p->pl->rc ? SL__NONE : find_over(p, at);
	at[p->n] = over == SL__NONE
			   ? sl__plan_output_buffer(p->pl, p->node->outputs[0],
						    p->layout)
			   : sl__plan_output_in_place(p->pl,
						      p->node->outputs[0],
						      p->layout, over);
	step = sl__plan_add_step(p->pl, at, p->n + 1, f->kernel, run, b);
	step->n_threads = sl__threads_for_bytes(
		step->n_threads, step->n_bytes * (uint64_t)f->cost);
	b->at = step->at;
}

int
sl__make_binary(struct sl__planner *pl, const struct sl__node *node)
{
	struct plan p = {.pl = pl, .node = node};
	struct function f = function_of(pl, node);
	struct binary *b = sl__plan_alloc_state(pl, sizeof(*b));

	if (!b || !open_plan(&p, &f, b))
		return 0;
	b->passes = sl__plan_alloc_state(pl, b->n_passes * sizeof(*b->passes));
	if (!b->passes ||
	    (!(choose_layouts(&p, interceptor(&p)) && make_passes(&p, &f, b)) &&
	     !(choose_layouts(&p, NULL) && make_passes(&p, &f, b))))
		return 0;
	add_step(&p, b, &f);
	return 1;
}
