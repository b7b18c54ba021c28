/* SPDX-License-Identifier: Apache-2.0 */
/* sized_nodes.h - nodes whose sizes are found when they run, planned then. */
#ifndef SL_SIZED_NODES_H
#define SL_SIZED_NODES_H

#include "engine/planner.h"

/*
 * Where an evaluator comes to a node with much to do, of which only now the
 * sizes are known, a program of that one node is made, and kept for as long as
 * the sizes stay the same.  So the reference kernels are left with what is
 * small, and with what has no other kernel.  Which of the two it is depends on
 * sizes alone: the same inputs give the same bits.
 */
struct sl__sized_nodes;

/* Lets the program's evaluator ask it; the options are copied.  The program
 * owns it.  Once: after that nothing happens. */
void sl__sized_nodes_attach(struct sl__planner *pl);
void sl__sized_nodes_free(struct sl__sized_nodes *nodes); /* NULL is fine */

/* How many nodes have a program at present; none for NULL. */
size_t sl__sized_nodes_planned(const struct sl__sized_nodes *nodes);

#endif
