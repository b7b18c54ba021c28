/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_version.h - what oneDNN's major versions have differently, as one.
 *
 * oneDNN 2 describes memory by a struct, 3 by a handle that must be destroyed.
 * Here a description is a handle in both, never changes, and belongs to a
 * context (dnnl_layout.h).  dnnl_version_2.c and dnnl_version_3.c have the same
 * functions, these and those of dnnl_primitive_desc.h that say so; the one
 * that does not fit the installed oneDNN is empty.  What else is called is the
 * same in both versions.
 */
#ifndef SL_DNNL_VERSION_H
#define SL_DNNL_VERSION_H

#include "sleuth/basics.h"

#include <dnnl.h>

#if DNNL_VERSION_MAJOR < 3
typedef const dnnl_memory_desc_t *const_dnnl_memory_desc_t;
struct sl__dnnl_conv_iterator {
	dnnl_convolution_desc_t desc;
	dnnl_primitive_desc_iterator_t at;
};
#else
struct sl__dnnl_conv_iterator {
	dnnl_primitive_desc_t at;
};
#endif

/* What a description says; pointers are valid as long as it is. */
struct sl__dnnl_md_parts {
	dnnl_data_type_t type;
	int n_dims;
	const dnnl_dim_t *dims, *padded_dims;
	int is_strided; /* strides and blocks say where elements lie */
	const dnnl_dim_t *strides;
	int n_blocks;
	const dnnl_dim_t *blocks, *block_axes;
	const void *rest; /* where strides do not say all: what does, or NULL */
	size_t n_rest;
};

struct sl__dnnl_md_parts sl__dnnl_md_parts(const_dnnl_memory_desc_t md);

/* Strides, with one dimension cut into blocks unless axis is -1: it counts in
 * blocks, and is padded to whole ones. */
struct sl__dnnl_strides {
	dnnl_data_type_t type;
	int n_dims;
	const dnnl_dim_t *dims, *strides;
	int axis;
	dnnl_dim_t block;
};

/* New descriptions, to be freed with the same allocator.  oneDNN 3 knows blocks
 * of 8 and 16 channels only: dnnl_unimplemented for others. */
dnnl_status_t sl__dnnl_md_new_strided(const_dnnl_memory_desc_t *out,
				      const struct sl__dnnl_strides *strides,
				      const struct sl_allocator *allocator);
dnnl_status_t sl__dnnl_md_new_tagged(const_dnnl_memory_desc_t *out,
				     const struct sl__dnnl_strides *sizes,
				     dnnl_format_tag_t tag,
				     const struct sl_allocator *allocator);
dnnl_status_t sl__dnnl_md_clone(const_dnnl_memory_desc_t *out,
				const_dnnl_memory_desc_t md,
				const struct sl_allocator *allocator);
void sl__dnnl_md_free(const_dnnl_memory_desc_t md,
		      const struct sl_allocator *allocator);

/* Appends to a chain: a function, or the sum with what the destination held. */
dnnl_status_t sl__dnnl_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t kind,
				      float alpha, float beta);
dnnl_status_t sl__dnnl_append_sum(dnnl_post_ops_t ops);

/* The zero point of an argument: a part of the attribute, and from oneDNN 3 on
 * also an int32 that the primitive is given when it runs. */
dnnl_status_t sl__dnnl_set_zero_point(dnnl_primitive_attr_t attr, int arg,
				      int32_t zero);
int sl__dnnl_zero_point_is_argument(void);

#endif
