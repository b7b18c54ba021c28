/* SPDX-License-Identifier: Apache-2.0 */
/* ref_softmax.h - softmax along one line of elements. */
#ifndef SL_REF_SOFTMAX_H
#define SL_REF_SOFTMAX_H

#include <stdint.h>

/* y of one line from x, which may be y; n elements, 'step' apart. */
typedef void sl__softmax_line_function(const double *x, double *y, int64_t n,
				       int64_t step);
sl__softmax_line_function sl__softmax_line;
sl__softmax_line_function sl__log_softmax_line;

#endif
