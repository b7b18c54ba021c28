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
	switch (status) {
	case dnnl_success:
		return SL_OK;
	case dnnl_out_of_memory:
		return sl__fail_nomem(err);
	case dnnl_unimplemented:
		return sl__fail(err, SL_E_ABSENT, "oneDNN has no %s for this",
				what);
	case dnnl_invalid_arguments:
	case dnnl_iterator_ends:
	case dnnl_runtime_error:
	case dnnl_not_required:
	default:
		return sl__fail(err, SL_E_BUG, "oneDNN failed at %s (%d)", what,
				(int)status);
	}
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

void
sl__dnnl_context_free(struct sl__dnnl_context *dnnl)
{
	if (!dnnl)
		return;
	dnnl_primitive_attr_destroy(dnnl->attr);
	dnnl_stream_destroy(dnnl->stream);
	dnnl_engine_destroy(dnnl->engine);
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
sl__layout_dtype(const struct sl__layout *layout)
{
	for (size_t i = 0; i < N_TYPES; i++) {
		if (types[i].type == layout->md.data_type)
			return types[i].dtype;
	}
	return SL_DTYPE_NONE;
}

static int
is_describable(enum sl_dtype dtype, int rank)
{
	return sl__dnnl_data_type(dtype) != dnnl_data_type_undef && rank >= 0 &&
	       rank <= DNNL_MAX_NDIMS;
}

int
sl__dnnl_row_major_md(dnnl_memory_desc_t *out, enum sl_dtype dtype, int rank,
		      const int64_t *dims)
{
	dnnl_dims_t sizes = {1}, strides = {1};
	int n = rank ? rank : 1;

	if (!is_describable(dtype, rank))
		return 0;
	for (int i = 0; i < rank; i++)
		sizes[i] = dims[i];
	strides[n - 1] = 1;
	for (int i = n - 1; i > 0; i--)
		strides[i - 1] = strides[i] * (sizes[i] ? sizes[i] : 1);
	return dnnl_memory_desc_init_by_strides(out, n, sizes,
						sl__dnnl_data_type(dtype),
						strides) == dnnl_success;
}

int
sl__dnnl_any_layout_md(dnnl_memory_desc_t *out, enum sl_dtype dtype, int rank,
		       const int64_t *dims)
{
	dnnl_dims_t sizes = {1};

	if (!is_describable(dtype, rank))
		return 0;
	for (int i = 0; i < rank; i++)
		sizes[i] = dims[i];
	return dnnl_memory_desc_init_by_tag(
		       out, rank ? rank : 1, sizes, sl__dnnl_data_type(dtype),
		       dnnl_format_tag_any) == dnnl_success;
}

const struct sl__layout *
sl__layout_new(struct sl__planner *pl, const dnnl_memory_desc_t *md)
{
	struct sl__layout *layout = sl__plan_alloc_state(pl, sizeof(*layout));

	if (layout)
		layout->md = *md;
	return layout;
}

const struct sl__layout *
sl__layout_from_md(struct sl__planner *pl, uint32_t value,
		   const dnnl_memory_desc_t *md)
{
	dnnl_memory_desc_t own;

	return sl__layout_md(pl, value, NULL, &own) &&
			       dnnl_memory_desc_equal(&own, md)
		       ? NULL
		       : sl__layout_new(pl, md);
}

int
sl__layout_md(const struct sl__planner *pl, uint32_t value,
	      const struct sl__layout *layout, dnnl_memory_desc_t *out)
{
	const struct sl__type *type = sl__plan_value_type(pl, value);

	if (!layout)
		return sl__dnnl_row_major_md(out, type->dtype, type->rank,
					     type->dims);
	*out = layout->md;
	return 1;
}

uint64_t
sl__layout_bytes(const struct sl__layout *layout)
{
	return dnnl_memory_desc_get_size(&layout->md);
}

int
sl__layout_equal(const struct sl__layout *a, const struct sl__layout *b)
{
	return a == b || (a && b && dnnl_memory_desc_equal(&a->md, &b->md));
}

int
sl__layout_is_dense(const struct sl__layout *layout)
{
	dnnl_memory_desc_t plain;

	return !layout ||
	       (sl__dnnl_row_major_md(&plain, sl__layout_dtype(layout),
				      layout->md.ndims, layout->md.dims) &&
		dnnl_memory_desc_equal(&plain, &layout->md));
}
