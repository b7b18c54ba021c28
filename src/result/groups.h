/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - operations summed up, and iterations as timelines. */
#ifndef SL_GROUPS_H
#define SL_GROUPS_H

#include "base/arena.h"
#include "sleuth/profiling.h"

struct sl__timed_iterations;

/* Fills by_type, by_module (the first part of a path) and by_part of a profile
 * whose operations are there; storage is from 'arena'. */
enum sl_status sl__profile_fill_groups(struct sl_profile *out,
				       struct sl__arena *arena,
				       struct sl_error *err) SL_CHECKED;

/*
 * Operations by module, paths cut after 'depth' parts (0: not cut), longest
 * first; *n says how many.  Work is that of an iteration: of operations in
 * branches the mean.  Those of no module are in the group "".  NULL when out of
 * memory.
 */
const struct sl_operation_group *
sl__groups_by_module(const struct sl_profile *p, size_t depth,
		     struct sl__arena *arena, size_t *n);

/* Likewise operations whose names differ in numbers only, by that name with a
 * '*' for each number. */
const struct sl_operation_group *sl__groups_alike(const struct sl_profile *p,
						  struct sl__arena *arena,
						  size_t *n);

/*
 * Fills the whole timelines of a profile: the first iteration that was
 * recorded, the one nearest to the median, and the slowest ones.  Nothing is
 * taken off for reading the clock, so that all marks lie within the iteration.
 */
enum sl_status sl__profile_fill_timelines(
	struct sl_profile *out, const struct sl__timed_iterations *iterations,
	struct sl__arena *arena, struct sl_error *err) SL_CHECKED;

#endif
