/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - what each operation is for in its network. */
#ifndef SL_PARTS_H
#define SL_PARTS_H

#include "engine/plan.h"
#include "sleuth/profiling.h"

/*
 * The part of each step of the plan, parts[sl_plan_n_steps(plan)], from what
 * nodes do and how they are connected; names are not looked at.  parts.c says
 * by which rules.
 */
enum sl_status sl__network_parts_classify(enum sl_part *parts,
					  const struct sl_plan *plan,
					  struct sl__arena *scratch,
					  struct sl_error *err) SL_CHECKED;

/* The same into the operations of a profile of that plan. */
enum sl_status sl__profile_fill_network_parts(struct sl_profile *profile,
					      const struct sl_plan *plan,
					      struct sl__arena *scratch,
					      struct sl_error *err) SL_CHECKED;

#endif
