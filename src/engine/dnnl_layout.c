/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_layout.c - layouts as oneDNN describes them; its engine; its errors. */
#include "engine/dnnl_layout.h"
#include "base/status.h"
#include "engine/dnnl_isa.h"

#include <string.h>

#include "base/banned.h"

enum sl_status
sl__dnnl_status(dnnl_status_t status, const char *what, struct sl_error *err)
{
	if (!status)
		return SL_OK;
	if (status == dnnl_out_of_memory)
		return sl__fail_nomem(err);
	if (status == dnnl_unimplemented)
		return sl__fail(err, SL_E_ABSENT, "oneDNN has no %s for this",
				what);
	return sl__fail(err, SL_E_BUG, "oneDNN failed at %s (%d)", what,
			(int)status);
}

int
sl__planner_keep_dnnl_status(struct sl__planner *pl, dnnl_status_t status,
			     const char *what)
{
	return !pl->rc && sl__planner_keep_status(
				  pl, sl__dnnl_status(status, what, pl->err));
}

enum sl_status
sl__dnnl_context_new(struct sl__dnnl_context **out, struct sl__arena *arena,
		     struct sl_error *err)
{
	struct sl__dnnl_context *dnnl = sl__arena_alloc(arena, sizeof(*dnnl));
	dnnl_status_t status;
	enum sl_status rc;

	*out = dnnl;
	if (!dnnl)
		return sl__fail_nomem(err);
	dnnl->arena = arena;
	rc = sl__dnnl_cap_isa(err);
	if (rc)
		return rc;
	status = dnnl_engine_create(&dnnl->engine, dnnl_cpu, 0);
	if (!status)
		status = dnnl_stream_create(&dnnl->stream, dnnl->engine,
					    dnnl_stream_default_flags);
	if (!status)
		status = dnnl_primitive_attr_create(&dnnl->attr);
	if (!status)
		status = dnnl_primitive_attr_set_scratchpad_mode(
			dnnl->attr, dnnl_scratchpad_mode_user);
	return sl__dnnl_status(status, "an engine", err);
}

static void
cut(struct sl__dnnl_context *dnnl, struct sl__dnnl_md_list *list, size_t n)
{
	while (list->n > n)
		sl__dnnl_md_free(list->items[--list->n],
				 &dnnl->arena->allocator);
}

void
sl__dnnl_context_free(struct sl__dnnl_context *dnnl)
{
	if (!dnnl)
		return;
	cut(dnnl, &dnnl->scratch, 0);
	cut(dnnl, &dnnl->kept, 0);
	dnnl_primitive_attr_destroy(dnnl->attr);
	dnnl_stream_destroy(dnnl->stream);
	dnnl_engine_destroy(dnnl->engine);
}

size_t
sl__dnnl_context_mark(const struct sl__dnnl_context *dnnl)
{
	return dnnl->scratch.n;
}

enum sl_status
sl__dnnl_context_rewind(struct sl__dnnl_context *dnnl, size_t mark,
			struct sl_error *err)
{
	cut(dnnl, &dnnl->scratch, mark);
	return dnnl->is_out_of_memory ? sl__fail_nomem(err) : SL_OK;
}

/* Makes a new description the context's; whether there is one. */
static int
own(struct sl__dnnl_context *dnnl, struct sl__dnnl_md_list *list,
    dnnl_status_t status, const_dnnl_memory_desc_t *md)
{
	size_t cap = list->cap ? 2 * list->cap : 64;
	const_dnnl_memory_desc_t *items = list->items;

	if (!status && list->n == list->cap) {
		items = sl__arena_realloc_array(dnnl->arena, list->items,
						list->n, cap, sizeof(*items));
		if (items) {
			list->items = items;
			list->cap = cap;
		} else {
			sl__dnnl_md_free(*md, &dnnl->arena->allocator);
			status = dnnl_out_of_memory;
		}
	}
	dnnl->is_out_of_memory |= status == dnnl_out_of_memory;
	if (status)
		*md = NULL;
	else
		list->items[list->n++] = *md;
	return !status;
}

int
sl__dnnl_strided_md(const_dnnl_memory_desc_t *out,
		    struct sl__dnnl_context *dnnl,
		    const struct sl__dnnl_strides *strides)
{
	return own(
		dnnl, &dnnl->scratch,
		sl__dnnl_md_new_strided(out, strides, &dnnl->arena->allocator),
		out);
}

int
sl__dnnl_tagged_md(const_dnnl_memory_desc_t *out, struct sl__dnnl_context *dnnl,
		   const struct sl__dnnl_strides *sizes, dnnl_format_tag_t tag)
{
	return own(dnnl, &dnnl->scratch,
		   sl__dnnl_md_new_tagged(out, sizes, tag,
					  &dnnl->arena->allocator),
		   out);
}

int
sl__dnnl_copy_md(const_dnnl_memory_desc_t *out, struct sl__dnnl_context *dnnl,
		 const_dnnl_memory_desc_t md)
{
	return own(dnnl, &dnnl->scratch,
		   sl__dnnl_md_clone(out, md, &dnnl->arena->allocator), out);
}

const_dnnl_memory_desc_t
sl__dnnl_keep_md(struct sl__planner *pl, const_dnnl_memory_desc_t md)
{
	struct sl__dnnl_context *dnnl = pl->program->dnnl;
	const_dnnl_memory_desc_t kept;

	if (pl->rc)
		return NULL;
	if (!own(dnnl, &dnnl->kept,
		 sl__dnnl_md_clone(&kept, md, &dnnl->arena->allocator), &kept))
		sl__planner_keep_dnnl_status(pl, dnnl_out_of_memory,
					     "a description");
	return kept;
}

static const struct {
	enum sl_dtype dtype;
	dnnl_data_type_t type;
} types[] = {
	{SL_DTYPE_F32, dnnl_f32}, {SL_DTYPE_BF16, dnnl_bf16},
	{SL_DTYPE_I8, dnnl_s8},   {SL_DTYPE_U8, dnnl_u8},
	{SL_DTYPE_I32, dnnl_s32},
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]) };

dnnl_data_type_t
sl__dnnl_data_type(enum sl_dtype dtype)
{
	for (size_t i = 0; i < N_TYPES; i++) {
		if (types[i].dtype == dtype)
			return types[i].type;
	}
	return dnnl_data_type_undef;
}

enum sl_dtype
sl__dtype_from_dnnl(dnnl_data_type_t type)
{
	for (size_t i = 0; i < N_TYPES; i++) {
		if (types[i].type == type)
			return types[i].dtype;
	}
	return SL_DTYPE_NONE;
}

enum sl_dtype
sl__layout_dtype(const struct sl__layout *layout)
{
	return sl__dtype_from_dnnl(sl__dnnl_md_parts(layout->md).type);
}

static int
is_describable(enum sl_dtype dtype, int rank)
{
	return sl__dnnl_data_type(dtype) != dnnl_data_type_undef && rank >= 0 &&
	       rank <= DNNL_MAX_NDIMS;
}

/* Packed strides, of a scalar's one dimension too; how many. */
static int
dense_strides(dnnl_dims_t sizes, dnnl_dims_t strides, int rank,
	      const int64_t *dims)
{
	int n = rank ? rank : 1;

	sizes[0] = 1;
	for (int i = 0; i < rank; i++)
		sizes[i] = dims[i];
	strides[n - 1] = 1;
	for (int i = n - 1; i > 0; i--)
		strides[i - 1] = strides[i] * (sizes[i] ? sizes[i] : 1);
	return n;
}

int
sl__dnnl_row_major_md(const_dnnl_memory_desc_t *out,
		      struct sl__dnnl_context *dnnl, enum sl_dtype dtype,
		      int rank, const int64_t *dims)
{
	dnnl_dims_t sizes, strides;
	struct sl__dnnl_strides s = {.type = sl__dnnl_data_type(dtype),
				     .dims = sizes,
				     .strides = strides,
				     .axis = -1};

	if (!is_describable(dtype, rank))
		return 0;
	s.n_dims = dense_strides(sizes, strides, rank, dims);
	return sl__dnnl_strided_md(out, dnnl, &s);
}

int
sl__dnnl_any_layout_md(const_dnnl_memory_desc_t *out,
		       struct sl__dnnl_context *dnnl, enum sl_dtype dtype,
		       int rank, const int64_t *dims)
{
	static const dnnl_dims_t one = {1};
	const struct sl__dnnl_strides sizes = {
		.type = sl__dnnl_data_type(dtype),
		.n_dims = rank ? rank : 1,
		.dims = rank ? dims : one};

	return is_describable(dtype, rank) &&
	       sl__dnnl_tagged_md(out, dnnl, &sizes, dnnl_format_tag_any);
}

/* Whether it describes packed elements in the order of their indices;
 * dimensions of one element may have any stride. */
static int
is_row_major(const struct sl__dnnl_md_parts *p, int rank, const int64_t *dims)
{
	dnnl_dims_t sizes, strides;
	int n = rank <= DNNL_MAX_NDIMS
			? dense_strides(sizes, strides, rank, dims)
			: 0;

	if (!p->is_strided || p->n_blocks || p->n_dims != n)
		return 0;
	for (int d = 0; d < n; d++) {
		if (p->dims[d] != sizes[d] || p->padded_dims[d] != sizes[d] ||
		    (sizes[d] != 1 && p->strides[d] != strides[d]))
			return 0;
	}
	return 1;
}

int
sl__dnnl_md_is_compact(const_dnnl_memory_desc_t md)
{
	struct sl__dnnl_md_parts p = sl__dnnl_md_parts(md);
	uint64_t n = 1;

	for (int d = 0; d < p.n_dims; d++)
		n *= (uint64_t)p.padded_dims[d];
	return dnnl_memory_desc_get_size(md) ==
	       n * sl_dtype_bits(sl__dtype_from_dnnl(p.type)) / 8;
}

const struct sl__layout *
sl__layout_new(struct sl__planner *pl, const_dnnl_memory_desc_t md)
{
	struct sl__layout *layout = sl__plan_alloc_state(pl, sizeof(*layout));

	if (layout)
		layout->md = sl__dnnl_keep_md(pl, md);
	return layout && layout->md ? layout : NULL;
}

const struct sl__layout *
sl__layout_from_md(struct sl__planner *pl, uint32_t value,
		   const_dnnl_memory_desc_t md)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);
	struct sl__dnnl_md_parts p = sl__dnnl_md_parts(md);

	return is_describable(type->dtype, type->rank) &&
			       p.type == sl__dnnl_data_type(type->dtype) &&
			       is_row_major(&p, type->rank, type->dims)
		       ? NULL
		       : sl__layout_new(pl, md);
}

int
sl__layout_md(const struct sl__planner *pl, uint32_t value,
	      const struct sl__layout *layout, const_dnnl_memory_desc_t *out)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);

	if (!layout)
		return sl__dnnl_row_major_md(out, pl->program->dnnl,
					     type->dtype, type->rank,
					     type->dims);
	*out = layout->md;
	return 1;
}

int
sl__layout_digest(const struct sl__planner *pl, uint32_t value,
		  const struct sl__layout *layout, struct sl__digest *out)
{
	enum { LISTS = 5 };
	dnnl_dim_t words[3 + LISTS * DNNL_MAX_NDIMS] = {0};
	const_dnnl_memory_desc_t md;
	struct sl__dnnl_md_parts p;

	if (!sl__layout_md(pl, value, layout, &md))
		return 0;
	p = sl__dnnl_md_parts(md);
	if (!p.is_strided) {
		*out = sl__digest_of(p.rest, p.n_rest);
		return p.rest != NULL;
	}
	words[0] = (dnnl_dim_t)p.type;
	words[1] = p.n_dims;
	words[2] = p.n_blocks;
	for (int d = 0; d < p.n_dims; d++) {
		dnnl_dim_t *list = &words[3 + LISTS * d];

		list[0] = p.dims[d];
		list[1] = p.padded_dims[d];
		list[2] = p.dims[d] == 1 ? 0 : p.strides[d];
	}
	for (int b = 0; b < p.n_blocks; b++) {
		words[3 + LISTS * b + 3] = p.blocks[b];
		words[3 + LISTS * b + 4] = p.block_axes[b];
	}
	*out = sl__digest_of(words, sizeof(words));
	return 1;
}

uint64_t
sl__layout_bytes(const struct sl__layout *layout)
{
	return dnnl_memory_desc_get_size(layout->md);
}

int
sl__layout_equal(const struct sl__layout *a, const struct sl__layout *b)
{
	return a == b || (a && b && dnnl_memory_desc_equal(a->md, b->md));
}

int
sl__layout_is_dense(const struct sl__layout *layout)
{
	struct sl__dnnl_md_parts p;

	if (!layout)
		return 1;
	p = sl__dnnl_md_parts(layout->md);
	return is_row_major(&p, p.n_dims, p.dims);
}
