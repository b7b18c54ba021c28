/* SPDX-License-Identifier: Apache-2.0 */
/* lowering.h - steps for nodes that no kernel takes, and all nodes in order. */
#ifndef SL_LOWERING_H
#define SL_LOWERING_H

#include "engine/planner.h"

/* Whether all that a node takes and gives is known beforehand, so that steps
 * for it can be planned; control nodes are another matter (lower.c). */
int sl__plan_node_is_static(const struct sl__planner *pl,
			    const struct sl__node *node);

/* Whether some kernel but the reference kernel may take a node's operator, and
 * does more than tell where its operand lies. */
int sl__has_kernel(const struct sl__node *node);

/* A copy of so many bytes, or no step where there are none (step_copy.c). */
void sl__plan_copy(struct sl__planner *pl, uint32_t from, uint32_t to,
		   uint64_t n_bytes);

/* The reference kernel as a step (step_reference.c). */
void sl__plan_reference(struct sl__planner *pl, const struct sl__node *node);

/* The evaluator as a step, for what is not known beforehand
 * (step_dynamic.c). */
void sl__plan_dynamic(struct sl__planner *pl, uint32_t node_id);

/* The evaluator as a step of the node under way that runs one of its bodies and
 * keeps what it gives. */
void sl__plan_dynamic_block(struct sl__planner *pl, uint32_t block);

/* If as jumps around its branches (step_branch.c): whether a node can be
 * planned so, and the steps. */
int sl__plan_can_branch(const struct sl__planner *pl,
			const struct sl__node *node);
void sl__plan_branch(struct sl__planner *pl, const struct sl__node *node);

/* Loop or Scan as a step that runs those of its body (step_loop.c): whether a
 * node can be planned so, and the steps. */
int sl__plan_can_loop(const struct sl__planner *pl,
		      const struct sl__node *node);
void sl__plan_loop(struct sl__planner *pl, const struct sl__node *node);

/* Forgets the versions that were made since the journal had 'n' entries, but
 * for those of constants, which are packed when planning. */
void sl__plan_forget_versions(struct sl__planner *pl, size_t n);

/* The nodes of a block, in order. */
void sl__lower_block(struct sl__planner *pl, uint32_t block);

/* The whole program (lower.c). */
void sl__lower(struct sl__planner *pl);

#endif
