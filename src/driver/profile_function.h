/* SPDX-License-Identifier: Apache-2.0 */
/* profile_function.h - time and memory of one function, together. */
#ifndef SL_PROFILE_FUNCTION_H
#define SL_PROFILE_FUNCTION_H

#include "sleuth.h"

/* Invariants: both results are there, or both are NULL. */
struct sl__function_profile {
	struct sl_measurement *time;
	struct sl_memory *memory; /* of one call, after those that were timed */
	double n_flops, n_bytes;  /* of one call; 0: not declared */
	struct sl_reading flops_per_s, bytes_per_s; /* over the median call */
};

/* NULL is right, and so are options of the known size within their range. */
enum sl_status
sl__function_profile_check(const struct sl_profile_function_options *how,
			   struct sl_error *err) SL_CHECKED;

/* 'options' have passed the check. */
enum sl_status
sl__function_profile_init(struct sl__function_profile *profile,
			  const char *name, sl_function *fn, void *ctx,
			  const struct sl_profile_function_options *options,
			  struct sl_error *err) SL_CHECKED;
void sl__function_profile_release(struct sl__function_profile *profile);

#endif
