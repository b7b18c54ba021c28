/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_form.c - forms as oneDNN describes them; its engine; its errors. */
#include "engine/dnnl_form.h"
#include "base/status.h"
#include "engine/dnnl_isa.h"

#include <string.h>

#include "base/banned.h"

enum sl_status
sl__dnnl_check(dnnl_status_t status, const char *what, struct sl_error *err)
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

enum sl_status
sl__dnnl_new(struct sl__dnnl **out, struct sl__arena *arena,
	     struct sl_error *err)
{
	struct sl__dnnl *dnnl = sl__arena_alloc(arena, sizeof(*dnnl));
	enum sl_status rc;

	*out = dnnl;
	if (!dnnl)
		return sl__fail_nomem(err);
	rc = sl__dnnl_cap(err);
	if (!rc)
		rc = sl__dnnl_check(
			dnnl_engine_create(&dnnl->engine, dnnl_cpu, 0),
			"an engine", err);
	if (!rc)
		rc = sl__dnnl_check(
			dnnl_stream_create(&dnnl->stream, dnnl->engine,
					   dnnl_stream_default_flags),
			"a stream", err);
	return rc;
}

void
sl__dnnl_free(struct sl__dnnl *dnnl)
{
	if (!dnnl)
		return;
	if (dnnl->stream)
		dnnl_stream_destroy(dnnl->stream);
	if (dnnl->engine)
		dnnl_engine_destroy(dnnl->engine);
}

dnnl_data_type_t
sl__dnnl_type(enum sl_dtype dtype)
{
	if (dtype == SL_DTYPE_F32)
		return dnnl_f32;
	if (dtype == SL_DTYPE_BF16)
		return dnnl_bf16;
	if (dtype == SL_DTYPE_I8)
		return dnnl_s8;
	if (dtype == SL_DTYPE_U8)
		return dnnl_u8;
	return dtype == SL_DTYPE_I32 ? dnnl_s32 : dnnl_data_type_undef;
}

static enum sl_dtype
dtype_of(dnnl_data_type_t type)
{
	switch (type) {
	case dnnl_f32:
		return SL_DTYPE_F32;
	case dnnl_bf16:
		return SL_DTYPE_BF16;
	case dnnl_s8:
		return SL_DTYPE_I8;
	case dnnl_u8:
		return SL_DTYPE_U8;
	case dnnl_s32:
		return SL_DTYPE_I32;
	case dnnl_f16:
		return SL_DTYPE_F16;
	case dnnl_data_type_undef:
	default:
		return SL_DTYPE_NONE;
	}
}

static int
is_describable(enum sl_dtype dtype, int rank)
{
	return sl__dnnl_type(dtype) != dnnl_data_type_undef && rank >= 0 &&
	       rank <= DNNL_MAX_NDIMS;
}

int
sl__dnnl_plain(dnnl_memory_desc_t *out, enum sl_dtype dtype, int rank,
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
						sl__dnnl_type(dtype),
						strides) == dnnl_success;
}

int
sl__dnnl_any(dnnl_memory_desc_t *out, enum sl_dtype dtype, int rank,
	     const int64_t *dims)
{
	dnnl_dims_t sizes = {1};

	if (!is_describable(dtype, rank))
		return 0;
	for (int i = 0; i < rank; i++)
		sizes[i] = dims[i];
	return dnnl_memory_desc_init_by_tag(
		       out, rank ? rank : 1, sizes, sl__dnnl_type(dtype),
		       dnnl_format_tag_any) == dnnl_success;
}

enum sl_status
sl__form_new(struct sl__planner *pl, const dnnl_memory_desc_t *md,
	     const struct sl__form **out, struct sl_error *err)
{
	struct sl__form *form =
		sl__arena_alloc(&pl->program->arena, sizeof(*form));

	if (!form)
		return sl__fail_nomem(err);
	form->md = *md;
	*out = form;
	return SL_OK;
}

enum sl_status
sl__form_of(struct sl__planner *pl, uint32_t value,
	    const dnnl_memory_desc_t *md, const struct sl__form **out,
	    struct sl_error *err)
{
	dnnl_memory_desc_t own;

	*out = NULL;
	if (sl__form_md(pl, value, NULL, &own) &&
	    dnnl_memory_desc_equal(&own, md))
		return SL_OK;
	return sl__form_new(pl, md, out, err);
}

int
sl__form_md(const struct sl__planner *pl, uint32_t value,
	    const struct sl__form *form, dnnl_memory_desc_t *out)
{
	const struct sl__type *type = sl__plan_type(pl, value);

	if (!form)
		return sl__dnnl_plain(out, type->dtype, type->rank, type->dims);
	*out = form->md;
	return 1;
}

uint64_t
sl__form_bytes(const struct sl__form *form)
{
	return dnnl_memory_desc_get_size(&form->md);
}

enum sl_dtype
sl__form_dtype(const struct sl__form *form)
{
	return dtype_of(form->md.data_type);
}

int
sl__form_equal(const struct sl__form *a, const struct sl__form *b)
{
	return a == b || (a && b && dnnl_memory_desc_equal(&a->md, &b->md));
}

int
sl__form_is_dense(const struct sl__form *form)
{
	dnnl_memory_desc_t plain;

	return !form || (sl__dnnl_plain(&plain, sl__form_dtype(form),
					form->md.ndims, form->md.dims) &&
			 dnnl_memory_desc_equal(&plain, &form->md));
}
