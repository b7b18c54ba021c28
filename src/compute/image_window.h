/* SPDX-License-Identifier: Apache-2.0 */
/* image_window.h - a window that slides over an image, as kernels have it. */
#ifndef SL_IMAGE_WINDOW_H
#define SL_IMAGE_WINDOW_H

#include <stdint.h>

/* Dilates count from 0, 'after' may be negative.  As many dimensions as oneDNN
 * has. */
enum { SL__IMAGE_WINDOW_MOST = 12 };
struct sl__image_window {
	int64_t kernel[SL__IMAGE_WINDOW_MOST], strides[SL__IMAGE_WINDOW_MOST];
	int64_t dilates[SL__IMAGE_WINDOW_MOST];
	int64_t before[SL__IMAGE_WINDOW_MOST], after[SL__IMAGE_WINDOW_MOST];
};

#endif
