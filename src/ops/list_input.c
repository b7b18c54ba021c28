/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_input.c - for rules of operators that move elements, not compute.
 *
 * Contents of any type of number are moved alike: each element is a word of
 * 8 bytes.
 */
#include "ops/list_input.h"
#include "base/status.h"
#include "ops/cost.h"

#include <string.h>

#include "base/banned.h"

/* Attributes may hold numbers that stand for symbols elsewhere. */
static const int64_t *
without_symbols(struct sl__rule_context *call, const int64_t *values, size_t n)
{
	int64_t *copy = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!sl__is_symbol(values[i]))
			continue;
		if (!copy) {
			copy = sl__sizes_alloc(call, n);
			if (!copy) {
				call->shapes->is_short = 1;
				return NULL;
			}
			memcpy(copy, values, n * sizeof(*copy));
		}
		copy[i] = SL__SYMBOL_END;
	}
	return copy ? copy : values;
}

struct sl__integer_list
sl__integer_list_read(struct sl__rule_context *call, size_t i, const char *name)
{
	static const int64_t nothing[1];
	const struct sl__attribute *a =
		name ? sl__attribute_find(call->node, name) : NULL;
	const struct sl__type *type = sl__in_type(call, i);
	const struct sl__known_contents *known;
	struct sl__integer_list list = {0, -1, NULL};

	if (a &&
	    (a->kind == SL__ATTRIBUTE_INTS || a->kind == SL__ATTRIBUTE_INT)) {
		list.is_given = 1;
		list.n = a->kind == SL__ATTRIBUTE_INT ? 1 : (int64_t)a->n;
		list.values =
			list.n ? without_symbols(call, a->ints, (size_t)list.n)
			       : nothing;
		return list;
	}
	if (!type)
		return list;
	list.is_given = 1;
	if (type->kind == SL__TYPE_TENSOR && type->rank == 0)
		list.n = 1;
	else if (type->kind == SL__TYPE_TENSOR && type->rank == 1 &&
		 !sl__is_symbol(type->dims[0]))
		list.n = type->dims[0];
	known = sl__in_known_contents(call, i);
	if (known && known->ints) {
		list.n = (int64_t)known->n;
		list.values = known->n ? known->ints : nothing;
	} else if (list.n == 0) {
		list.values = nothing;
	}
	return list;
}

int
sl__integer_list_is_known(const struct sl__integer_list *list)
{
	if (!list->values)
		return 0;
	for (int64_t i = 0; i < list->n; i++) {
		if (sl__is_symbol(list->values[i]))
			return 0;
	}
	return 1;
}

enum sl_status
sl__integer_list_mark_axes(struct sl__rule_context *call,
			   const struct sl__integer_list *list, int rank,
			   unsigned char *is_axis)
{
	for (int64_t i = 0; !call->failure && i < list->n; i++) {
		int axis = sl__axis_require(call, list->values[i], rank);

		if (axis >= 0 && is_axis[axis])
			sl__rule_reject(call, "axis %d is named twice", axis);
		else if (axis >= 0)
			is_axis[axis] = 1;
	}
	return call->failure;
}

const struct sl__type *
sl__out_type_or_null(const struct sl__rule_context *call, size_t k)
{
	if (k >= call->node->n_outputs || call->node->outputs[k] == SL__NONE)
		return NULL;
	return &call->shapes->types[call->node->outputs[k]];
}

int64_t
sl__in_dim_or_default(const struct sl__rule_context *call, size_t i, int rank,
		      int d, int64_t otherwise)
{
	return sl__in_rank(call, i) == rank ? sl__in_type(call, i)->dims[d]
					    : otherwise;
}

enum sl_status
sl__out_set_rank_only(struct sl__rule_context *call, size_t k,
		      enum sl_dtype dtype, int64_t rank, const char *why)
{
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_unknown_shape(call, k, dtype, why);
	if (rank > SL__RANK_MOST)
		return sl__rule_reject(call, "%lld dimensions, %d are the most",
				       (long long)rank, SL__RANK_MOST);
	dims = sl__sizes_alloc(call, (size_t)rank);
	for (int64_t i = 0; dims && i < rank; i++)
		dims[i] = sl__size_new_unknown(call->shapes);
	return sl__out_set_shape(call, k, dtype, (int)rank, dims);
}

void
sl__out_set_same_contents(struct sl__rule_context *call, size_t k,
			  const struct sl__known_contents *from)
{
	if (sl__out_type_or_null(call, k))
		call->shapes->known[call->node->outputs[k]] = from;
}

void
sl__cost_limit_bytes_read(struct sl__rule_context *call, struct sl_cost *cost,
			  size_t i)
{
	const struct sl__type *type = sl__in_type(call, i);
	const struct sl__type *out = sl__out_type_or_null(call, 0);
	uint64_t *bytes = &cost->read_bytes;
	uint64_t whole, part;

	if (!type || !out || !sl__type_bytes(type, &whole) ||
	    !sl__type_bytes(out, &part))
		return;
	if (call->shapes->graph->values[call->node->inputs[i]].tensor)
		bytes = &cost->weight_bytes;
	if (*bytes >= whole)
		*bytes = sl__saturating_add(*bytes - whole, part);
}

enum sl_status
sl__out_set_input_dims_plus(struct sl__rule_context *call, enum sl_dtype dtype,
			    int64_t last)
{
	int rank = sl__in_rank(call, 0);
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	dims = sl__sizes_alloc(call, (size_t)rank + 1);
	for (int i = 0; dims && i <= rank; i++)
		dims[i] = i < rank ? sl__in_type(call, 0)->dims[i] : last;
	return sl__out_set_shape(call, 0, dtype, rank + 1, dims);
}
