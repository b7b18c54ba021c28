/* SPDX-License-Identifier: Apache-2.0 */
/* step_operands.h - what a step reads and writes: kept, put back, flushed. */
#ifndef SL_STEP_OPERANDS_H
#define SL_STEP_OPERANDS_H

#include "engine/program.h"

/* A step of a placed program, and room for a copy of what it may change. */
struct sl__operands {
	const struct sl__program *program;
	const struct sl__step *step;
	int n_threads;        /* that copy and flush */
	unsigned char *saved; /* [sl__operands_bytes()] */
};

/* Of all operands but weights. */
uint64_t sl__operands_bytes(const struct sl__program *program,
			    const struct sl__step *step);

/* Copies these, and back. */
void sl__operands_save(const struct sl__operands *operands);
void sl__operands_restore(const struct sl__operands *operands);

/* Whether they are other than the copy. */
int sl__operands_differ(const struct sl__operands *operands);

/* Pushes all operands, weights too, out of all caches.  Returns 0 where that
 * cannot be, or where they are so large that emptying the caches as a whole
 * takes no longer. */
int sl__operands_flush(const struct sl__operands *operands);

#endif
