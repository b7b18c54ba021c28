/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_constant.c - Constant: a number of the model in a node's attribute.
 *
 * Its value carries a tensor like an initializer does, so that nothing
 * downstream can tell the two apart; inferring it is looking at the tensor.
 */
#include "base/status.h"
#include "ops/ref.h"

#include "base/banned.h"

/* A tensor over an attribute's own array. */
static enum sl_status
wrap(const struct sl__tensor **out, const struct sl__attribute *a,
     struct sl__arena *arena, struct sl_error *err)
{
	struct sl__tensor *t = sl__arena_alloc(arena, sizeof(*t));
	int64_t *dims = sl__arena_array(arena, 1, sizeof(*dims));
	int is_list = a->kind == SL__ATTRIBUTE_INTS ||
		      a->kind == SL__ATTRIBUTE_FLOATS ||
		      a->kind == SL__ATTRIBUTE_STRINGS;

	if (!t || !dims)
		return sl__fail_nomem(err);
	dims[0] = (int64_t)a->n;
	t->rank = is_list ? 1 : 0;
	t->dims = dims;
	if (a->ints) {
		t->dtype = SL_DTYPE_I64;
		t->bytes = (const unsigned char *)a->ints;
	} else if (a->floats) {
		t->dtype = SL_DTYPE_F32;
		t->bytes = (const unsigned char *)a->floats;
	} else {
		t->dtype = SL_DTYPE_STRING;
		t->strings = a->strings;
	}
	if (!sl__tensor_compute_size(t))
		return sl__fail(err, SL_E_DATA, "a constant beyond all sizes");
	*out = t;
	return SL_OK;
}

enum sl_status
sl__constant_tensor(const struct sl__tensor **out, const struct sl__node *node,
		    struct sl__arena *arena, struct sl_error *err)
{
	static const char *const names[] = {"value_int",    "value_ints",
					    "value_float",  "value_floats",
					    "value_string", "value_strings"};
	const struct sl__attribute *a = sl__attribute_find(node, "value");

	*out = NULL;
	if (!a)
		a = sl__attribute_find(node, "sparse_value");
	if (a && a->kind == SL__ATTRIBUTE_TENSOR) {
		*out = a->tensor;
		return SL_OK;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		a = sl__attribute_find(node, names[i]);
		if (a && (a->ints || a->floats || a->strings))
			return wrap(out, a, arena, err);
	}
	return SL_OK;
}

enum sl_status
sl__ref_constant(struct sl__kernel_call *ev)
{
	const struct sl__tensor *tensor;
	struct sl__runtime_value held = {0};

	if (sl__ref_keep_status(ev, sl__constant_tensor(&tensor, ev->node,
							ev->scratch, ev->err)))
		return ev->failure;
	if (!tensor)
		return sl__ref_reject(ev, "it holds no number");
	if (!sl__ref_keep_status(ev, sl__runtime_value_load(&held, tensor,
							    ev->allocator,
							    ev->err)))
		sl__ref_output_copy(ev, 0, &held);
	sl__runtime_value_clear(&held, ev->allocator);
	return ev->failure;
}
