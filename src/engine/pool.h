/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - a pool as its kernels see it. */
#ifndef SL_POOL_H
#define SL_POOL_H

#include "compute/image_window.h"
#include "engine/planner.h"

struct sl__pool {
	uint32_t x, y;
	int rank;
	int is_max, is_global, counts_pads;
	struct sl__image_window window;
};

/* 0: not for these kernels (types, sizes, indices, windows in the padding). */
int sl__pool_read(struct sl__pool *out, const struct sl__planner *pl,
		  const struct sl__node *node);

#endif
