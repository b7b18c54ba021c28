/* SPDX-License-Identifier: Apache-2.0 */
/* strided_view.h - one value seen as another: the same elements in other
 * places. */
#ifndef SL_STRIDED_VIEW_H
#define SL_STRIDED_VIEW_H

#include "transform/rewrite.h"

enum { SL__VIEW_RANK = 8 };

/* Element p of the view is at the sum of p[d] * strides[d] in the source. */
struct sl__strided_view {
	int rank;
	int64_t dims[SL__VIEW_RANK], strides[SL__VIEW_RANK];
};

/* Row-major, of a value whose sizes are known; 0 where it has too many. */
int sl__view_row_major(struct sl__strided_view *view,
		       const struct sl__rewrite *rw, uint32_t value);

/* Whether a node makes its first result of its first input by moving elements
 * only: Transpose, Reshape, Squeeze, Unsqueeze, Flatten, Identity. */
int sl__is_view_node(const struct sl__rewrite *rw, uint32_t node);

/* The view of the node's input as one of its output; 0 where strides cannot
 * say it. */
int sl__view_through_node(struct sl__strided_view *view,
			  const struct sl__rewrite *rw, uint32_t node);

/* The same elements in the same order with other sizes; 0 likewise. */
int sl__view_reshape(struct sl__strided_view *view, int rank,
		     const int64_t *dims);

/* Exchanges two dimensions. */
void sl__view_swap_dims(struct sl__strided_view *view, int a, int b);

/* Whether the strides are those, where dimensions have more than 1 element. */
int sl__view_has_strides(const struct sl__strided_view *view,
			 const int64_t *strides);

/* Whether it is row-major: the elements lie as those of the view do. */
int sl__view_is_row_major(const struct sl__strided_view *view);

#endif
