/* SPDX-License-Identifier: Apache-2.0 */
/* expansion.c - one node as several of the standard's operators. */
#include "transform/expansion.h"
#include "transform/rewrite_values.h"

#include "base/banned.h"

void
sl__expansion_begin(struct sl__node_builder *m, const struct sl__expansion *x,
		    const char *domain, const char *type, int version)
{
	sl__node_builder_begin(m, x->rw, domain, type, version);
	m->node.name = x->rw->nodes[x->id].node.name;
}

uint32_t
sl__expansion_finish(struct sl__node_builder *m, const struct sl__expansion *x,
		     uint32_t out)
{
	sl__node_builder_add_output(m, out);
	sl__node_builder_add_covered(m, x->id);
	sl__node_builder_finish(m);
	return out;
}

uint32_t
sl__expansion_value(const struct sl__expansion *x, enum sl_dtype dtype,
		    int rank, const int64_t *dims)
{
	return sl__rewrite_add_shaped_value(x->rw, "part", dtype, rank, dims);
}

struct sl__type
sl__expansion_type(enum sl_dtype dtype, int rank, const int64_t *dims)
{
	return (struct sl__type){.kind = SL__TYPE_TENSOR,
				 .dtype = dtype,
				 .rank = rank,
				 .dims = dims};
}

uint32_t
sl__expansion_add_joined(const struct sl__expansion *x, const char *type,
			 int version, const uint32_t *operands,
			 struct sl__type made)
{
	struct sl__node_builder m;

	if (x->rw->rc)
		return operands[0];
	sl__expansion_begin(&m, x, "", type, version);
	sl__node_builder_add_inputs(&m, operands, 2);
	return sl__expansion_finish(
		&m, x,
		sl__expansion_value(x, made.dtype, made.rank, made.dims));
}

uint32_t
sl__expansion_add_reshape(const struct sl__expansion *x, uint32_t from,
			  int rank, const int64_t *dims, uint32_t out)
{
	int64_t n = rank;
	struct sl__node_builder m;

	if (x->rw->rc)
		return from;
	if (out == SL__NONE)
		out = sl__expansion_value(x, x->rw->types[from].dtype, rank,
					  dims);
	sl__expansion_begin(&m, x, "", "Reshape", 13);
	sl__node_builder_add_input(&m, from);
	sl__node_builder_add_input(
		&m, sl__rewrite_add_integer_constant(x->rw, SL_DTYPE_I64, 1, &n,
						     dims));
	return sl__expansion_finish(&m, x, out);
}

uint32_t
sl__expansion_add_transpose(const struct sl__expansion *x, uint32_t from,
			    const int64_t *perm, uint32_t out)
{
	const struct sl__type *type = &x->rw->types[from];
	int rank = type->rank;
	struct sl__node_builder m;

	if (x->rw->rc)
		return from;
	if (out == SL__NONE) {
		int64_t *dims =
			sl__rewrite_alloc(x->rw, (size_t)rank, sizeof(*dims));

		for (int d = 0; dims && d < rank; d++)
			dims[d] = type->dims[perm[d]];
		if (x->rw->rc)
			return from;
		out = sl__expansion_value(x, type->dtype, rank, dims);
	}
	sl__expansion_begin(&m, x, "", "Transpose", 13);
	sl__node_builder_set_ints(&m, "perm", perm, (size_t)rank);
	sl__node_builder_add_input(&m, from);
	return sl__expansion_finish(&m, x, out);
}

void
sl__expansion_add_split(const struct sl__expansion *x, uint32_t from, int axis,
			int n, const int64_t *sizes, uint32_t *parts)
{
	struct sl__type type = x->rw->types[from];
	int64_t count = n, *dims = sl__rewrite_copy_list(
				   x->rw, type.dims, (size_t)type.rank,
				   (size_t)type.rank, sizeof(*dims));
	struct sl__node_builder m;

	if (x->rw->rc)
		return;
	sl__expansion_begin(&m, x, "", "Split", 13);
	sl__node_builder_set_int(&m, "axis", axis);
	sl__node_builder_add_input(&m, from);
	sl__node_builder_add_input(
		&m, sl__rewrite_add_integer_constant(x->rw, SL_DTYPE_I64, 1,
						     &count, sizes));
	for (int i = 0; i < n; i++) {
		dims[axis] = sizes[i];
		parts[i] = sl__expansion_value(x, type.dtype, type.rank, dims);
		if (i < n - 1)
			sl__node_builder_add_output(&m, parts[i]);
	}
	sl__expansion_finish(&m, x, parts[n - 1]);
}
