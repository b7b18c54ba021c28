/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_blocks.h - bodies of a graph that is being rewritten. */
#ifndef SL_REWRITE_BLOCKS_H
#define SL_REWRITE_BLOCKS_H

#include "transform/rewrite.h"

/* The block that a node of 'from' is known to run in its own place: the branch
 * that an If takes whatever the inputs hold.  SL__NONE: there is none. */
uint32_t sl__rewrite_taken_branch(const struct sl__rewrite *rw, uint32_t node);

/* Fills homes[]: of a branch that is known to be taken the block of its If, of
 * one that is known not to be SL__NONE, of any other its own number. */
void sl__rewrite_find_homes(struct sl__rewrite *rw);

/* Numbers the nodes of 'from' in the order in which they run, those of bodies
 * before the node that runs them.  NULL: a failure. */
uint32_t *sl__rewrite_number_nodes(struct sl__rewrite *rw);

/* The innermost block that a node of these inputs can lie in. */
uint32_t sl__rewrite_innermost_block(const struct sl__rewrite *rw,
				     const struct sl__node *node);

/* By block: whether a node that is not gone runs it.  NULL: a failure. */
const unsigned char *sl__rewrite_find_run_blocks(struct sl__rewrite *rw);

#endif
