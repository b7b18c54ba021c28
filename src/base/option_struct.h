/* SPDX-License-Identifier: Apache-2.0 */
/* option_struct.h - option structs of callers that know another version of
 * them. */
#ifndef SL_OPTION_STRUCT_H
#define SL_OPTION_STRUCT_H

#include "sleuth/running.h"

/*
 * Copies 'options', a struct that begins with its struct_size, to 'out', which
 * has size_bytes.  What an older caller's struct does not have is zero, the
 * default; NULL is all defaults.  A newer caller's struct may be longer when
 * the rest is zero.  SL_E_USAGE, with 'name' ("sl_plan_options") and what to
 * write, for a struct_size that no version has, or a member that this one does
 * not know.  Reads nothing beyond struct_size bytes.
 */
enum sl_status sl__options_copy(void *out, size_t size_bytes,
				const void *options, const char *name,
				struct sl_error *err) SL_CHECKED;

/* A copy of the options of a plan, its sizes included. */
struct sl__plan_options_storage {
	struct sl_plan_options plan;
	struct sl_sizes sizes;
};

/* Each copies what the pointer points to, and lets it point to the copy; a NULL
 * stays. */
enum sl_status sl__sizes_copy(struct sl_sizes *copy,
			      const struct sl_sizes **sizes,
			      struct sl_error *err) SL_CHECKED;
enum sl_status sl__plan_options_copy(struct sl__plan_options_storage *copy,
				     const struct sl_plan_options **plan,
				     struct sl_error *err) SL_CHECKED;

#endif
