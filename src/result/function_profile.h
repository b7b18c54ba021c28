/* SPDX-License-Identifier: Apache-2.0 */
/* function_profile.h - time and memory of one function, together. */
#ifndef SL_FUNCTION_PROFILE_H
#define SL_FUNCTION_PROFILE_H

#include "result/roof.h"

/* Invariants: both results are there, or both are NULL. */
struct sl__function_profile {
	struct sl_measurement *time;
	struct sl_memory *memory; /* of one call, after those that were timed */
	double n_flops, n_bytes;  /* of one call; 0: not declared */
	struct sl_reading flops_per_s, bytes_per_s; /* over the median call */
	struct sl_reading compute_share, bandwidth_share; /* of ceilings */
	struct sl_machine *machine; /* NULL: it was never measured */
};

/* The function is called by one thread. */
struct sl__achieved_rates
sl__rates_of_function(const struct sl__function_profile *p);

/* SL_E_USAGE where it cannot be rendered so: TEXT, MARKDOWN, JSON can. */
enum sl_status
sl__function_profile_check_format(const struct sl_render_options *how,
				  struct sl_error *err) SL_CHECKED;
enum sl_status sl__function_profile_render(const struct sl__function_profile *p,
					   const struct sl_render_options *how,
					   struct sl_buf *out,
					   struct sl_error *err) SL_CHECKED;

#endif
