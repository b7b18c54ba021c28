/* SPDX-License-Identifier: Apache-2.0 */
/* layer_counts.h - what the zeros of a layer's description mean. */
#ifndef SL_LAYER_COUNTS_H
#define SL_LAYER_COUNTS_H

#include "sleuth/models.h"

/* Puts the defaults in place of zeros; a padding_width of -1 becomes 0. */
void sl__conv2d_apply_defaults(struct sl_conv2d *c);

#endif
