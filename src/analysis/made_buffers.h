/* SPDX-License-Identifier: Apache-2.0 */
/* made_buffers.h - which buffers of a program hold what a node makes. */
#ifndef SL_MADE_BUFFERS_H
#define SL_MADE_BUFFERS_H

#include "engine/program.h"

/* That a buffer holds an output of a node. */
struct sl__made_buffer {
	uint32_t buffer, node;
};

/* All of a program; sorted. */
struct sl__made_buffers {
	struct sl__made_buffer *list;
	size_t n;
};

/* Storage is from 'arena'. */
enum sl_status sl__made_buffers_list(struct sl__made_buffers *out,
				     const struct sl__program *program,
				     struct sl__arena *arena,
				     struct sl_error *err) SL_CHECKED;

/* Whether a buffer that lies in no other holds an output of the node; SL__NONE
 * makes nothing. */
int sl__made_buffers_has(const struct sl__made_buffers *made, uint32_t base,
			 uint32_t node);

#endif
