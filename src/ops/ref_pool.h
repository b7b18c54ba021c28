/* SPDX-License-Identifier: Apache-2.0 */
/* ref_pool.h - pooling of images whose elements are read and written
 * elsewhere. */
#ifndef SL_REF_POOL_H
#define SL_REF_POOL_H

#include "ops/ref.h"

/* How a node pools, all or'ed. */
enum {
	SL__POOL_WHOLE = 1, /* an image is one window */
	SL__POOL_CHANNELS_LAST = 2
};

/* AveragePool and its kin: y, as many as output 0 has, from input 0's elements
 * x, by the window that the node's attributes say. */
enum sl_status sl__ref_pool_averages(struct sl__kernel_call *ev, unsigned form,
				     const double *x, double *y);

#endif
