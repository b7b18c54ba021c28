/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_primitive_desc.h - primitive descriptors from sizes.
 *
 * How one comes about differs between oneDNN's major versions: those of
 * convolutions, matmuls, pools, norms and element-wise operations are in
 * dnnl_version_2.c and dnnl_version_3.c.  A descriptor is the caller's; NULL
 * where oneDNN has no kernel, or after a failure.
 */
#ifndef SL_DNNL_PRIMITIVE_DESC_H
#define SL_DNNL_PRIMITIVE_DESC_H

#include "compute/image_window.h"
#include "engine/dnnl_layout.h"
#include "engine/dnnl_post_op.h"

/* Orders in which the images of a program may lie. */
enum sl__image_layout {
	SL__IMAGE_LAYOUT_ANY = 0,       /* as oneDNN likes */
	SL__IMAGE_LAYOUT_ROW_MAJOR,     /* row-major */
	SL__IMAGE_LAYOUT_CHANNELS_LAST, /* channels run fastest */
	SL__IMAGE_LAYOUT_BLOCK_8,       /* channels in blocks of 8, or of 16 */
	SL__IMAGE_LAYOUT_BLOCK_16,
	SL__N_IMAGE_LAYOUTS
};
const char *sl__image_layout_text(enum sl__image_layout order);

/* Images [batch][channels][...] in that order; 0 where they cannot be. */
int sl__image_layout_md(const_dnnl_memory_desc_t *out,
			struct sl__dnnl_context *dnnl,
			enum sl__image_layout order, dnnl_data_type_t type,
			int rank, const int64_t *dims);

struct sl__dnnl_conv {
	const_dnnl_memory_desc_t src, weights, bias, dst; /* bias may be NULL */
	struct sl__image_window window;
	int is_transposed, is_winograd;
};

/*
 * The implementations that oneDNN has for a convolution, best liked first:
 * begin, take and next until it fails, end.  One may come twice: oneDNN 2
 * repeats what it finds in its cache of primitives.
 */
struct sl__dnnl_conv_iterator; /* dnnl_version.h */
dnnl_status_t sl__dnnl_conv_iterator_begin(struct sl__dnnl_conv_iterator *each,
					   const struct sl__dnnl_conv *conv,
					   const_dnnl_primitive_attr_t attr,
					   dnnl_engine_t engine);
dnnl_status_t sl__dnnl_conv_iterator_next(struct sl__dnnl_conv_iterator *each);
void sl__dnnl_conv_iterator_end(struct sl__dnnl_conv_iterator *each);

/* A descriptor of the current one, the caller's; NULL: out of memory. */
dnnl_primitive_desc_t
sl__dnnl_conv_iterator_pd(const struct sl__dnnl_conv_iterator *each);

/* The gradient of a convolution by its weights (and bias), or by its image:
 * src, weights, bias and dst describe the gradients too. */
dnnl_primitive_desc_t sl__dnnl_conv_grad_pd(struct sl__planner *pl,
					    const struct sl__dnnl_conv *conv,
					    int is_weights);

/* What creating one gave: NULL unless it succeeded, and a failure where memory
 * ran out. */
dnnl_primitive_desc_t sl__dnnl_pd_result(struct sl__planner *pl,
					 dnnl_status_t status,
					 dnnl_primitive_desc_t pd);

struct sl__dnnl_matmul {
	const_dnnl_memory_desc_t src, weights, bias, dst; /* bias may be NULL */
};

/* The attribute may be NULL. */
dnnl_primitive_desc_t sl__dnnl_matmul_pd(struct sl__planner *pl,
					 const struct sl__dnnl_matmul *matmul,
					 const_dnnl_primitive_attr_t attr);

struct sl__dnnl_pool {
	dnnl_alg_kind_t kind; /* dnnl_pooling_... */
	const_dnnl_memory_desc_t src, dst;
	struct sl__image_window window;
};

dnnl_primitive_desc_t sl__dnnl_pool_pd(struct sl__planner *pl,
				       const struct sl__dnnl_pool *pool);

/* Inference with given mean, variance, scale and shift, f32 [channels]. */
dnnl_primitive_desc_t sl__dnnl_batch_norm_pd(struct sl__planner *pl,
					     const_dnnl_memory_desc_t data,
					     float epsilon);

/* Across channels: x / (bias + alpha / size * sum of squares) ^ beta. */
struct sl__dnnl_lrn {
	const_dnnl_memory_desc_t data;
	int64_t size;
	float alpha, beta, bias;
};

dnnl_primitive_desc_t sl__dnnl_lrn_pd(struct sl__planner *pl,
				      const struct sl__dnnl_lrn *lrn);

/* One element-wise operation, or one on two operands, in place. */
dnnl_primitive_desc_t
sl__dnnl_eltwise_pd(struct sl__planner *pl, const_dnnl_memory_desc_t data,
		    const struct sl__dnnl_eltwise *change);
dnnl_primitive_desc_t sl__dnnl_binary_pd(struct sl__planner *pl,
					 const_dnnl_memory_desc_t data,
					 const_dnnl_memory_desc_t operand,
					 dnnl_alg_kind_t kind);

dnnl_primitive_desc_t sl__dnnl_reorder_pd(struct sl__planner *pl,
					  const_dnnl_memory_desc_t from,
					  const_dnnl_memory_desc_t to);

/* How it wants an argument to lie, valid as long as the node is planned. */
const_dnnl_memory_desc_t sl__dnnl_pd_md(struct sl__planner *pl,
					const_dnnl_primitive_desc_t pd,
					dnnl_query_t what, int index);

/* oneDNN's name of the implementation; never NULL. */
const char *sl__dnnl_implementation_name(const_dnnl_primitive_desc_t pd);

/* Whether it is one of oneDNN's plain loops, slower than Sleuth's. */
int sl__dnnl_is_plain_loop(const_dnnl_primitive_desc_t pd);

#endif
