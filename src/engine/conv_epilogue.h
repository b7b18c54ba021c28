/* SPDX-License-Identifier: Apache-2.0 */
/* conv_epilogue.h - the epilogue of a convolution as that of a matmul. */
#ifndef SL_CONV_EPILOGUE_H
#define SL_CONV_EPILOGUE_H

#include "engine/conv.h"
#include "engine/gemm.h"

/*
 * A row for each pixel of the result, a column for each channel; bias first.
 * Operands of the result's sizes lie as it does, channels side by side.  'out'
 * is zero before.  0: an operand of another type than f32.
 */
int sl__conv_epilogue_read(struct sl__gemm *out, struct sl__planner *pl,
			   const struct sl__conv *c);

#endif
