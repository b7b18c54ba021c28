/* SPDX-License-Identifier: Apache-2.0 */
/* step_pairing.h - which steps of one plan do what those of another do. */
#ifndef SL_STEP_PAIRING_H
#define SL_STEP_PAIRING_H

#include "base/arena.h"
#include "experiment/subject.h"

/* A plan of a graph; both borrowed. */
struct sl__step_pairing_side {
	const struct sl_plan *plan;
	const struct sl_graph *graph;
};

/* The steps of both sides that belong together. */
struct sl__step_pair {
	size_t first_a, first_b; /* SIZE_MAX: none on that side */
	size_t n_a, n_b;
	int is_alike;         /* one step each, and the same work */
	int has_other_kernel; /* alike, but another kernel */
};

/*
 * Steps belong together when they cover a node of the same name, directly or
 * by way of others: where one side fuses three nodes, its one step belongs to
 * the other's three.  Of nodes with one name in a graph the first is the
 * first of the other's, and so on.  Steps that cover no node go by their own
 * name and type.
 *
 * Invariants: every step of either side is in one pair; pairs are in the order
 * of A's first steps, then those that B alone has in the order of B.
 */
struct sl__step_pairing {
	struct sl__step_pair *pairs;
	size_t n;
	size_t *of_a, *of_b; /* pair of each step */
	size_t n_steps_a, n_steps_b;
};

/* Storage is from 'arena'. */
enum sl_status sl__step_pairing_match(struct sl__step_pairing *out,
				      const struct sl__step_pairing_side *a,
				      const struct sl__step_pairing_side *b,
				      struct sl__arena *arena,
				      struct sl_error *err) SL_CHECKED;

/* Whether steps that do the same work, of which each side has one, make at
 * least half of what either plan computes. */
int sl__step_pairing_is_common(const struct sl__step_pairing *pairing,
			       const struct sl_plan *a,
			       const struct sl_plan *b);

/* Whether two plans have the same steps in the same order, on the same
 * kernels. */
int sl__plans_have_same_steps(const struct sl_plan *a, const struct sl_plan *b);

/*
 * Subjects are opened one after the other with one cache of choices: that of
 * their options, or a folder of its own, which goes with it, where options
 * keep nothing.  'folder' is "" where there is none.
 */
struct sl__shared_tuning_cache {
	char folder[256];
};

void sl__shared_tuning_cache_open(struct sl__shared_tuning_cache *out);
void sl__shared_tuning_cache_close(struct sl__shared_tuning_cache *choices);

/* Says in 'how' where choices are kept; 'choices' must outlive the plan. */
void sl__shared_tuning_cache_use(struct sl__shared_tuning_cache *choices,
				 struct sl_plan_options *how);

/*
 * Says in 'how' that a plan takes the choices that others have made and
 * measures only what is not known, and how its images lie as others settled it
 * (struct sl__program); 0: the plan decides.
 */
void sl__plan_follow_choices(struct sl_plan_options *how, int image_layout);

/* Whether two plans ought to run the same algorithms. */
int sl__plans_have_same_settings(const struct sl_plan *a,
				 const struct sl_plan *b);

#endif
