/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_lifetime.h - which tensors were in memory while a plan ran. */
#ifndef SL_TENSOR_LIFETIME_H
#define SL_TENSOR_LIFETIME_H

#include "sleuth/basics.h"

/* A stretch of memory from the step that writes it anew to the last step that
 * reads it; in moments, see below. */
struct sl__tensor_lifetime {
	uintptr_t start;
	uint64_t n_bytes;
	uint32_t buffer; /* by which the step named it */
	size_t born, last;
	int is_input, is_output; /* of the model */
	int is_over;             /* another tensor has been written there */
	int is_idle;             /* room that a step names and does not use */
};

/*
 * A run as it was seen from outside.  A moment is a step that ran, in the
 * order in which they ran.  What is alive is counted in lines of 64 bytes, the
 * unit in which memory is placed: a tensor of 65 bytes takes two.  One that is
 * written in the place of another, which the step reads, is there once.
 */
struct sl__tensor_lifetimes {
	const char *absent; /* why nothing was seen; NULL */
	size_t *steps;      /* [n] of each moment */
	uint64_t *live_bytes;
	size_t n;
	size_t peak; /* the first moment with most */
	uint64_t peak_bytes;
	struct sl__tensor_lifetime
		*tensors; /* inputs first, then as they were born */
	size_t n_tensors, cap_tensors;
};

/* Bytes in whole lines. */
uint64_t
sl__tensor_lifetime_line_bytes(const struct sl__tensor_lifetime *tensor);
int sl__tensor_is_alive_at(const struct sl__tensor_lifetime *tensor,
			   size_t moment);

#endif
