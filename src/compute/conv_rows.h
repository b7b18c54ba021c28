/* SPDX-License-Identifier: Apache-2.0 */
/* conv_rows.h - the pixels under a window as rows of a matmul. */
#ifndef SL_CONV_ROWS_H
#define SL_CONV_ROWS_H

#include "compute/conv_shape.h"
#include "compute/gemm_blocked.h"

/*
 * A row for each output pixel: [taps][channels of a group], those of a tap side
 * by side as they lie in the image.  'x' is the first channel of the group.
 */
struct sl__conv_rows {
	struct sl__conv_shape shape;
	int64_t group_channels;
	const float *x;
};

/* A sl__gemm_rows_function for such rows, the best for these sizes. */
sl__gemm_rows_function *sl__conv_rows_for(const struct sl__conv_shape *shape,
					  int64_t group_channels);

#endif
