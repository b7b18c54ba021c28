/* SPDX-License-Identifier: Apache-2.0 */
/* prune_units.h - which channels of a model can only be removed together. */
#ifndef SL_PRUNE_UNITS_H
#define SL_PRUNE_UNITS_H

#include "graph/op_rules.h"

/*
 * A unit is one index along one dimension of one value: a channel of an
 * activation, a row of a weight.  Units that are removed together are one
 * group, known by one of its units, the root.
 *
 * Invariants: the units of dimension d of a value are the numbers from
 * sl__units_first(), one for each index; sizes that are known by name only
 * have none.  flags[] and held_by[] mean something for roots.
 */
enum sl__unit_flags {
	SL__UNIT_HELD = 1u << 0, /* stays */
	SL__UNIT_HEAD = 1u << 1  /* of attention: matrix products are made for
				    each */
};

struct sl__units {
	const struct sl_graph *graph;
	struct sl__shapes *shapes;
	uint32_t *first_axis; /* by value: its first entry in axes[] */
	uint32_t *axes;       /* first units; SL__NONE */
	uint32_t *parent;     /* by unit */
	unsigned char *flags;
	uint32_t *held_by; /* node that cannot be followed; SL__NONE: it is an
			      input or output of the model */
	uint32_t n;
	uint32_t node; /* that is being followed; SL__NONE */
};

/* Finds the groups of a model.  Storage is from 'arena'; 'shapes', with free
 * sizes kept, outlive it. */
enum sl_status sl__units_find(struct sl__units *out, struct sl__shapes *shapes,
			      struct sl__arena *arena,
			      struct sl_error *err) SL_CHECKED;

/* prune_rules.c: joins and holds what one node of block 0 demands. */
void sl__units_follow(struct sl__units *u, uint32_t node);

/* Sizes that Reshape could be given as constants: 0 for the input's, -1 for
 * the rest.  0 is returned where they do not tell. */
int sl__units_reshape_sizes(const struct sl__units *u, const struct sl__node *n,
			    int64_t *sizes);

/* The first unit of a dimension of a value; SL__NONE. */
uint32_t sl__units_first(const struct sl__units *u, uint32_t value, int axis);

/* The group of a unit. */
uint32_t sl__units_root(const struct sl__units *u, uint32_t unit);

/* The rank of a value, 0 where it is not known; the size of a dimension. */
int sl__units_rank(const struct sl__units *u, uint32_t value);
int64_t sl__units_size(const struct sl__units *u, uint32_t value, int axis);

/* Joins two groups. */
void sl__units_join(struct sl__units *u, uint32_t a, uint32_t b);

/* A dimension of a value stays as it is; so does all of the value; so do all
 * inputs and outputs of a node. */
void sl__units_hold_axis(struct sl__units *u, uint32_t value, int axis);
void sl__units_hold_value(struct sl__units *u, uint32_t value);
void sl__units_hold_node(struct sl__units *u, uint32_t node);

/* Index i of one dimension goes with index i of the other; both stay where
 * their sizes differ. */
void sl__units_tie(struct sl__units *u, uint32_t a, int axis_a, uint32_t b,
		   int axis_b);

#endif
