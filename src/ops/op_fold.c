/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_fold.c - contents that are moved, followed by the operator's own kernel.
 *
 * A kernel that moves elements does not look at them: symbols go through it
 * as the words of 8 bytes that they are.  What says where elements go must
 * hold none.
 */
#include "ops/list_input.h"
#include "ops/op_row.h"
#include "ops/ref.h"

#include "base/banned.h"

/* Which inputs are moved and which say where, by bit; those that a kernel does
 * not look at, because inference has found the sizes, are neither. */
struct row {
	enum sl__op_id id;
	unsigned moved, places;
};

static const struct row rows[] = {
	{SL__OP_ONNX_Compress, 1u << 0, 1u << 1},
	{SL__OP_ONNX_Concat, ~0u, 0},
	{SL__OP_ONNX_Expand, 1u << 0, 0},
	{SL__OP_ONNX_Gather, 1u << 0, 1u << 1},
	{SL__OP_ONNX_NonZero, 0, 1u << 0},
	{SL__OP_ONNX_Pad, 1u << 0 | 1u << 2, 1u << 1 | 1u << 3},
	{SL__OP_ONNX_Range, 0, 7},
	{SL__OP_ONNX_Slice, 1u << 0, ~1u},
	{SL__OP_ONNX_Split, 1u << 0, 1u << 1},
	{SL__OP_ONNX_Tile, 1u << 0, 0},
	{SL__OP_ONNX_Transpose, 1u << 0, 0},
	{SL__OP_ONNX_Unique, 0, 1u << 0},
};

int
sl__known_has_no_symbols(const struct sl__known_contents *known)
{
	for (size_t i = 0; known->ints && i < known->n; i++) {
		if (sl__is_symbol(known->ints[i]))
			return 0;
	}
	return 1;
}

/*
 * A few integers beside others that are known: each becomes a symbol, so that
 * a shape put together from both keeps the sizes that are known.
 */
static const struct sl__known_contents *
some_integers(struct sl__rule_context *call, size_t i)
{
	const struct sl__type *type = sl__in_type(call, i);
	struct sl__known_contents *made;
	int64_t *ints;

	if (type->kind != SL__TYPE_TENSOR || type->rank != 1 ||
	    type->dims[0] < 0 || type->dims[0] > 8 ||
	    (type->dtype != SL_DTYPE_I64 && type->dtype != SL_DTYPE_I32))
		return NULL;
	made = sl__arena_alloc(&call->shapes->arena, sizeof(*made));
	ints = sl__sizes_alloc(call, (size_t)type->dims[0]);
	if (!made || !ints)
		return NULL;
	made->n = (size_t)type->dims[0];
	for (size_t k = 0; k < made->n; k++)
		ints[k] = sl__size_new_unknown(call->shapes);
	made->ints = ints;
	return made;
}

/* Contents of input i as the kernel may see them; NULL: it may not. */
static const struct sl__known_contents *
seen(struct sl__rule_context *call, const struct row *row, size_t i)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, i);
	uint64_t n;

	if (!known && row->id == SL__OP_ONNX_Concat)
		known = some_integers(call, i);
	if (!known || !sl__type_elements(sl__in_type(call, i), &n) ||
	    n != known->n ||
	    (i < 32 && row->places >> i & 1 &&
	     !sl__known_has_no_symbols(known)))
		return NULL;
	return known;
}

/* 'content' holds n words of 8 bytes. */
static void
set_words(struct sl__runtime_value *content, const struct sl__type *type,
	  enum sl_dtype dtype, const void *words, size_t n)
{
	content->kind = SL__TYPE_TENSOR;
	content->tensor = (struct sl__tensor){.dtype = dtype,
					      .rank = (size_t)type->rank,
					      .dims = type->dims,
					      .n_elements = n,
					      .n_bytes = 8 * n,
					      .bytes = words};
}

static int
set_inputs(struct sl__rule_context *call, const struct row *row,
	   struct sl__kernel_call *ev, const struct sl__runtime_value **inputs)
{
	for (uint32_t i = 0; i < call->node->n_inputs; i++) {
		const struct sl__known_contents *known;
		struct sl__runtime_value *content;

		if (!sl__has_in(call, i) ||
		    !(i >= 32 || (row->moved | row->places) >> i & 1))
			continue;
		known = seen(call, row, i);
		content = known ? sl__ref_scratch(ev, 1, sizeof(*content))
				: NULL;
		if (!content)
			return 0;
		set_words(content, sl__in_type(call, i),
			  known->ints ? SL_DTYPE_I64 : SL_DTYPE_F64,
			  known->ints ? (const void *)known->ints
				      : known->floats,
			  known->n);
		inputs[i] = content;
	}
	return 1;
}

/* Storage for output k, whose sizes inference has found. */
static int
set_output(struct sl__rule_context *call, struct sl__kernel_call *ev, size_t k)
{
	const struct sl__type *type = sl__out_type_or_null(call, k);
	uint64_t n;

	if (!sl__type_elements(type, &n) || n > SL__KNOWN_MOST)
		return 0;
	ev->outputs[k]->bytes = sl__ref_scratch(ev, (size_t)n, 8);
	if (!ev->outputs[k]->bytes)
		return 0;
	set_words(ev->outputs[k], type,
		  sl__ref_dtype_is_integer(type->dtype) ? SL_DTYPE_I64
							: SL_DTYPE_F64,
		  ev->outputs[k]->bytes, (size_t)n);
	return 1;
}

static int
is_any_known(struct sl__rule_context *call)
{
	for (uint32_t i = 0; i < call->node->n_inputs; i++) {
		const struct sl__known_contents *known =
			sl__in_known_contents(call, i);

		if (known && known->n)
			return 1;
	}
	return 0;
}

static void *
alloc_scratch(size_t n_bytes, void *scratch)
{
	return sl__arena_alloc(scratch, n_bytes);
}

static void
free_scratch(void *block, void *scratch)
{
	(void)scratch;
	(void)block;
}

struct sl__runtime_value **
sl__fold_known_by_kernel(struct sl__rule_context *call,
			 struct sl__arena *scratch, int is_sized)
{
	const struct row *row = SL__OP_ROW_OF(call->node, rows);
	const struct sl_allocator allocator = {alloc_scratch, free_scratch,
					       scratch};
	struct sl__kernel_call ev = {.node = call->node,
				     .scratch = scratch,
				     .allocator = &allocator};
	const struct sl__runtime_value **inputs =
		sl__ref_scratch(&ev, call->node->n_inputs, sizeof(*inputs));
	struct sl__runtime_value **outputs =
		sl__ref_scratch(&ev, call->node->n_outputs, sizeof(*outputs));
	int follows = !ev.failure && set_inputs(call, row, &ev, inputs);

	ev.inputs = inputs;
	ev.outputs = outputs;
	for (uint32_t k = 0; follows && k < call->node->n_outputs; k++) {
		if (!sl__out_type_or_null(call, k))
			continue;
		outputs[k] = sl__ref_scratch(&ev, 1, sizeof(**outputs));
		follows = outputs[k] && (!is_sized || set_output(call, &ev, k));
	}
	if (follows && sl__ref_run_kernel(&ev, NULL))
		follows = 0;
	if (ev.failure == SL_E_NOMEM)
		sl__rule_nomem(call);
	return follows ? outputs : NULL;
}

enum sl_status
sl__fold_moved(struct sl__rule_context *call)
{
	struct sl__arena scratch;
	struct sl__runtime_value **outputs;

	if (!is_any_known(call))
		return SL_OK;
	sl__arena_init(&scratch, &call->shapes->arena.allocator);
	outputs = sl__fold_known_by_kernel(call, &scratch, 1);
	for (uint32_t k = 0; outputs && k < call->node->n_outputs; k++) {
		const struct sl__runtime_value *out = outputs[k];
		int is_whole = out && out->tensor.dtype == SL_DTYPE_I64;

		/* A kernel that finds other sizes makes its own storage. */
		if (out && !out->block)
			sl__out_set_known_contents(
				call, k,
				is_whole ? (const void *)out->bytes : NULL,
				is_whole ? NULL : (const void *)out->bytes,
				(size_t)out->tensor.n_elements);
	}
	sl__arena_release(&scratch);
	return call->failure;
}
