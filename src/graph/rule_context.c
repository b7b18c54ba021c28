/* SPDX-License-Identifier: Apache-2.0 */
/* rule_context.c - what an operator's rules see of a node, and say about it. */
#include "base/dtype.h"
#include "base/status.h"
#include "graph/graph_construction.h"
#include "graph/infer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

int
sl__has_in(const struct sl__rule_context *call, size_t i)
{
	if (i >= call->node->n_inputs)
		return 0;
	return call->types ? call->types[i].kind != SL__TYPE_UNKNOWN
			   : call->node->inputs[i] != SL__NONE;
}

const struct sl__type *
sl__in_type(const struct sl__rule_context *call, size_t i)
{
	if (!sl__has_in(call, i))
		return NULL;
	return call->types ? &call->types[i]
			   : &call->shapes->types[call->node->inputs[i]];
}

int
sl__in_rank(const struct sl__rule_context *call, size_t i)
{
	const struct sl__type *type = sl__in_type(call, i);

	return type && type->kind == SL__TYPE_TENSOR ? type->rank : -1;
}

enum sl_dtype
sl__in_dtype(const struct sl__rule_context *call, size_t i)
{
	const struct sl__type *type = sl__in_type(call, i);

	return type ? type->dtype : SL_DTYPE_NONE;
}

const char *
sl__in_shape_text(const struct sl__rule_context *call, size_t i)
{
	return sl__has_in(call, i)
		       ? sl__type_text(call->shapes, sl__in_type(call, i))
		       : "none";
}

const struct sl__known_contents *
sl__in_known_contents(const struct sl__rule_context *call, size_t i)
{
	if (!sl__has_in(call, i))
		return NULL;
	return call->types ? sl__known_contents_if_small(call->shapes,
							 call->tensors[i])
			   : sl__shapes_known_contents(call->shapes,
						       call->node->inputs[i]);
}

int
sl__in_integers(const struct sl__rule_context *call, size_t i,
		const int64_t **values, size_t *n)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, i);

	if (!known || !known->ints || sl__in_rank(call, i) > 1)
		return 0;
	for (size_t k = 0; k < known->n; k++) {
		if (sl__is_symbol(known->ints[k]))
			return 0;
	}
	*values = known->ints;
	*n = known->n;
	return 1;
}

const struct sl__attribute *
sl__attribute_find(const struct sl__node *node, const char *name)
{
	for (size_t i = 0; i < node->n_attributes; i++) {
		if (!strcmp(node->attributes[i].name, name))
			return &node->attributes[i];
	}
	return NULL;
}

int64_t
sl__attribute_int(const struct sl__node *node, const char *name,
		  int64_t otherwise)
{
	const struct sl__attribute *a = sl__attribute_find(node, name);

	return a && a->kind == SL__ATTRIBUTE_INT ? a->ints[0] : otherwise;
}

void
sl__attribute_set_values(struct sl__attribute *a, const void *values, size_t n)
{
	a->n = n;
	if (a->kind == SL__ATTRIBUTE_INT || a->kind == SL__ATTRIBUTE_INTS)
		a->ints = values;
	else if (a->kind == SL__ATTRIBUTE_FLOAT ||
		 a->kind == SL__ATTRIBUTE_FLOATS)
		a->floats = values;
	else
		a->strings = values;
}

double
sl__attribute_float(const struct sl__node *node, const char *name,
		    double otherwise)
{
	const struct sl__attribute *a = sl__attribute_find(node, name);

	return a && a->kind == SL__ATTRIBUTE_FLOAT ? (double)a->floats[0]
						   : otherwise;
}

const char *
sl__attribute_string(const struct sl__node *node, const char *name,
		     const char *otherwise)
{
	const struct sl__attribute *a = sl__attribute_find(node, name);

	return a && a->kind == SL__ATTRIBUTE_STRING ? a->strings[0] : otherwise;
}

size_t
sl__attribute_ints(const struct sl__node *node, const char *name,
		   const int64_t **values)
{
	const struct sl__attribute *a = sl__attribute_find(node, name);

	*values = NULL;
	if (!a || a->kind != SL__ATTRIBUTE_INTS)
		return 0;
	*values = a->ints;
	return a->n;
}

int
sl__axis_normalize(int64_t axis, int rank)
{
	if (axis < -(int64_t)rank || axis >= rank)
		return -1;
	return (int)(axis < 0 ? axis + rank : axis);
}

int
sl__axis_require(struct sl__rule_context *call, int64_t axis, int rank)
{
	int at = sl__axis_normalize(axis, rank);

	if (at < 0)
		sl__rule_reject(call, "axis %lld lies outside of %d dimensions",
				(long long)axis, rank);
	return at;
}

/* NULL where the node leaves output k out. */
static struct sl__type *
output_of(const struct sl__rule_context *call, size_t k)
{
	if (k >= call->node->n_outputs || call->node->outputs[k] == SL__NONE)
		return NULL;
	return &call->shapes->types[call->node->outputs[k]];
}

int64_t *
sl__sizes_alloc(struct sl__rule_context *call, size_t n)
{
	int64_t *sizes =
		sl__arena_array(&call->shapes->arena, n, sizeof(*sizes));

	if (!sizes)
		sl__rule_nomem(call);
	return sizes;
}

int64_t *
sl__sizes_copy_from_input(struct sl__rule_context *call, size_t i)
{
	const struct sl__type *in = sl__in_type(call, i);
	int64_t *sizes = in ? sl__sizes_alloc(call, (size_t)in->rank) : NULL;

	if (sizes && in->rank)
		memcpy(sizes, in->dims, (size_t)in->rank * sizeof(*sizes));
	return sizes;
}

enum sl_status
sl__out_set_shape(struct sl__rule_context *call, size_t k, enum sl_dtype dtype,
		  int rank, const int64_t *dims)
{
	struct sl__type *type = output_of(call, k);
	int64_t *copy = NULL;

	if (call->failure || !type)
		return call->failure;
	/* Nodes that add up ranks would double them without end. */
	if (rank > SL__RANK_MOST)
		return sl__rule_reject(call,
				       "output %zu has %d dimensions, %d are "
				       "the most",
				       k, rank, SL__RANK_MOST);
	for (int i = 0; i < rank; i++) {
		if (dims[i] < 0 && !sl__is_symbol(dims[i]))
			return sl__rule_reject(call,
					       "dimension %d of output %zu is "
					       "negative or beyond all sizes",
					       i, k);
	}
	if (rank > 0) {
		copy = sl__sizes_alloc(call, (size_t)rank);
		if (!copy)
			return call->failure;
		memcpy(copy, dims, (size_t)rank * sizeof(*dims));
	}
	type->kind = SL__TYPE_TENSOR;
	type->dtype = dtype;
	type->rank = rank;
	type->dims = copy;
	type->element = NULL;
	return SL_OK;
}

enum sl_status
sl__out_set_type(struct sl__rule_context *call, size_t k,
		 const struct sl__type *from)
{
	struct sl__type *type = output_of(call, k);

	if (!call->failure && type && from)
		*type = *from;
	return call->failure;
}

enum sl_status
sl__out_set_like_input(struct sl__rule_context *call, size_t k, size_t i,
		       enum sl_dtype dtype)
{
	const struct sl__type *in = sl__in_type(call, i);
	struct sl__type *type = output_of(call, k);

	if (!sl__out_set_type(call, k, in) && type && in &&
	    dtype != SL_DTYPE_NONE) {
		type->kind = SL__TYPE_TENSOR;
		type->dtype = dtype;
	}
	return call->failure;
}

enum sl_status
sl__out_set_unknown_shape(struct sl__rule_context *call, size_t k,
			  enum sl_dtype dtype, const char *why)
{
	const struct sl__shapes *s = call->shapes;
	struct sl__unresolved_shape *row;

	if (sl__out_set_shape(call, k, dtype, -1, NULL) || !output_of(call, k))
		return call->failure;
	row = sl__shapes_add_unresolved(
		call->shapes, (uint32_t)(call->node - s->graph->nodes),
		call->node->outputs[k]);
	if (!row)
		return sl__rule_nomem(call);
	row->why = why;
	return SL_OK;
}

enum sl_status
sl__out_set_known_contents(struct sl__rule_context *call, size_t k,
			   const int64_t *ints, const double *floats, size_t n)
{
	struct sl__arena *arena = &call->shapes->arena;
	const struct sl__type *type = output_of(call, k);
	struct sl__known_contents *known;
	void *copy;

	if (call->failure || !type || n > SL__KNOWN_MOST ||
	    n > SL__KNOWN_TOTAL - call->shapes->n_known)
		return call->failure;
	call->shapes->n_known += n;
	known = sl__arena_alloc(arena, sizeof(*known));
	copy = sl__arena_array(arena, n, 8);
	if (!known || !copy)
		return sl__rule_nomem(call);
	_Static_assert(sizeof(*ints) == 8 && sizeof(*floats) == 8, "8 bytes");
	if (n)
		memcpy(copy, ints ? (const void *)ints : floats, n * 8);
	known->dtype = type->dtype;
	known->n = n;
	if (ints)
		known->ints = copy;
	else
		known->floats = copy;
	call->shapes->known[call->node->outputs[k]] = known;
	return SL_OK;
}

int64_t
sl__broadcast_size(struct sl__shapes *shapes, int64_t a, int64_t b)
{
	(void)shapes;
	if (a == b || b == 1)
		return a;
	if (a == 1)
		return b;
	/* A symbol beside a number can only be that number, or 1. */
	if (sl__is_symbol(a))
		return sl__is_symbol(b) ? sl__size_new_unknown(shapes) : b;
	return sl__is_symbol(b) ? a : -1;
}

/* The inputs that are broadcast together, and the rank of the result. */
struct broadcast {
	const size_t *inputs;
	size_t n;
	int rank;
};

static int64_t
broadcast_dim(struct sl__rule_context *call, const struct broadcast *b, int d)
{
	int64_t size = 1;

	for (size_t i = 0; i < b->n; i++) {
		const struct sl__type *type = sl__in_type(call, b->inputs[i]);
		int at = type ? d - (b->rank - type->rank) : -1;
		int64_t both;

		if (at < 0)
			continue;
		both = sl__broadcast_size(call->shapes, size, type->dims[at]);
		if (both == -1)
			sl__rule_reject(
				call,
				"inputs %s and %s do not go together: %lld "
				"and %lld in dimension %d",
				sl__in_shape_text(call, b->inputs[0]),
				sl__in_shape_text(call, b->inputs[i]),
				(long long)size, (long long)type->dims[at], d);
		size = both;
	}
	return size;
}

enum sl_status
sl__broadcast_inputs(struct sl__rule_context *call, const size_t *inputs,
		     size_t n, int *rank, int64_t **dims)
{
	struct broadcast b = {inputs, n, 0};

	*rank = 0;
	*dims = NULL;
	for (size_t i = 0; i < n; i++) {
		int r = sl__in_rank(call, inputs[i]);

		if (r < 0) {
			*rank = -1;
			return call->failure;
		}
		if (r > *rank)
			*rank = r;
	}
	*dims = sl__sizes_alloc(call, (size_t)*rank);
	b.rank = *rank;
	for (int d = 0; !call->failure && d < *rank; d++)
		(*dims)[d] = broadcast_dim(call, &b, d);
	return call->failure;
}

enum sl_status
sl__rule_reject(struct sl__rule_context *call, const char *format, ...)
{
	char text[400];
	va_list args;

	if (call->failure)
		return call->failure;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return call->failure = sl__fail(call->err, SL_E_DATA, "%s", text);
}

enum sl_status
sl__rule_nomem(struct sl__rule_context *call)
{
	if (!call->failure)
		call->failure = sl__fail_nomem(call->err);
	return call->failure;
}
