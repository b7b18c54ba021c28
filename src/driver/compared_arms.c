/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compared_arms.c - plans of models that are compared.
 *
 * The first arm's plan is made as any other.  Those after it take what it, and
 * those before them, have chosen, and measure only what none of them had; where
 * most of their work is the same, their images lie likewise.  So layers that
 * are the same run in the same way, and no difference is one of luck in
 * measuring.
 */
#include "driver/compared_arms.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Times that plans are made until all algorithms are known: one that ran out of
 * time to measure leaves questions to the next. */
enum { MAX_PLANNINGS = 3, SPACER_LINES = 1 << 16 /* of 64 bytes */ };

static void
close_subjects(struct sl__compared_arms *a)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->subjects[i])
			sl__subject_model_close(a->subjects[i]);
		a->subjects[i] = NULL;
	}
}

static const char *
name_of(const struct sl__compared_arms *a, size_t i)
{
	const struct sl_model_arm *c = &a->arms[i];

	return c->name ? c->name : sl_graph_name(c->graph);
}

static enum sl_status
open_subject(struct sl__compared_arms *a, size_t i,
	     struct sl__subject_model *out, struct sl_error *err)
{
	const struct sl_model_arm *c = &a->arms[i];
	const struct sl_plan_options *plan = c->plan;
	struct sl__subject_model_options how = {
		.plan = &a->plans[i].plan,
		.inputs = c->inputs,
		.n_inputs = c->n_inputs,
		.folder = c->inputs_folder,
		.seed = a->how->seed,
		.interrupt = a->how->interrupt,
	};
	enum sl_status rc = sl__plan_options_copy(&a->plans[i], &plan, err);

	if (rc)
		return rc;
	a->plans[i].plan.flags |= SL__PLAN_OWN_WEIGHTS;
	if (a->are_known)
		sl__plan_follow_choices(&a->plans[i].plan, a->layouts[i]);
	sl__shared_tuning_cache_use(&a->choices, &a->plans[i].plan);
	rc = sl__subject_model_open(out, c->graph, &how, err);
	return sl__error_prefix(err, rc, name_of(a, i));
}

struct sl__step_pairing_side
sl__compared_arms_side(const struct sl__compared_arms *a, size_t i)
{
	struct sl__step_pairing_side side = {a->subjects[i]->plan,
					     a->arms[i].graph};

	return side;
}

/* Steps of plans with the same settings that run another algorithm. */
static enum sl_status
count_other_kernels(struct sl__compared_arms *a, size_t i, size_t k, size_t *n,
		    struct sl_error *err)
{
	struct sl__step_pairing_side x = sl__compared_arms_side(a, i),
				     y = sl__compared_arms_side(a, k);
	struct sl__step_pairing pairing;
	enum sl_status rc;

	if (!sl__plans_have_same_settings(x.plan, y.plan))
		return SL_OK;
	rc = sl__step_pairing_match(&pairing, &x, &y, &a->scratch, err);
	for (size_t p = 0; !rc && p < pairing.n; p++)
		*n += pairing.pairs[p].has_other_kernel != 0;
	return rc;
}

static int
image_layout(const struct sl__compared_arms *a, size_t i)
{
	return a->subjects[i]->plan->current->image_layout;
}

static enum sl_status
open_arm(struct sl__compared_arms *a, size_t i, struct sl_error *err)
{
	enum sl_status rc = open_subject(a, i, &a->slots[i][0], err);

	if (!rc)
		a->subjects[i] = &a->slots[i][0];
	return rc;
}

/* The arm before it that it has most steps in common with by right, but for
 * where images lie; i: none. */
static enum sl_status
find_leader(struct sl__compared_arms *a, size_t i, size_t *leader,
	    struct sl_error *err)
{
	struct sl__step_pairing_side y = sl__compared_arms_side(a, i);
	enum sl_status rc = SL_OK;

	for (*leader = 0; *leader < i; ++*leader) {
		struct sl__step_pairing_side x =
			sl__compared_arms_side(a, *leader);
		struct sl__step_pairing pairing;

		if (!sl__plans_have_same_settings(x.plan, y.plan))
			continue;
		rc = sl__step_pairing_match(&pairing, &x, &y, &a->scratch, err);
		if (rc || sl__step_pairing_is_common(&pairing, x.plan, y.plan))
			break;
	}
	return rc;
}

/*
 * An arm and what it takes from those before it: their algorithms, which are
 * known by now, and the layout of their images where most of its work is
 * theirs too.  What is the same then runs in the same way.
 */
static enum sl_status
open_follower(struct sl__compared_arms *a, size_t i, struct sl_error *err)
{
	size_t leader;
	enum sl_status rc = open_arm(a, i, err);

	if (!rc)
		rc = find_leader(a, i, &leader, err);
	if (rc || leader == i || image_layout(a, leader) == image_layout(a, i))
		return rc;
	a->layouts[i] = image_layout(a, leader);
	sl__subject_model_close(a->subjects[i]);
	a->subjects[i] = NULL;
	return open_arm(a, i, err);
}

/* All arms, and how many of their steps ought to be the same but are not. */
static enum sl_status
open_all(struct sl__compared_arms *a, size_t *n_other, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	*n_other = 0;
	a->is_unfinished = 0;
	close_subjects(a);
	for (size_t i = 0; !rc && i < a->n; i++) {
		rc = open_follower(a, i, err);
		if (rc)
			break;
		a->is_unfinished |=
			a->subjects[i]->plan->current->is_unfinished;
		a->are_known = 1;
	}
	for (size_t i = 0; !rc && i < a->n; i++) {
		for (size_t j = 0; !rc && j < i; j++)
			rc = count_other_kernels(a, j, i, n_other, err);
	}
	return rc;
}

/* Plans that are made again, also to lie elsewhere, are made the same way. */
static void
keep_layouts(struct sl__compared_arms *a)
{
	for (size_t i = 0; i < a->n; i++)
		a->layouts[i] = image_layout(a, i);
}

enum sl_status
sl__compared_arms_open(struct sl__compared_arms *a,
		       const struct sl_model_arm *arms, size_t n,
		       const struct sl_model_comparison_options *how,
		       struct sl_error *err)
{
	enum sl_status rc = SL_OK;
	size_t n_other = 1;

	a->arms = arms;
	a->n = n;
	a->how = how;
	sl__arena_init(&a->scratch, how->allocator);
	sl__rng_init(&a->rng, how->seed);
	sl__shared_tuning_cache_open(&a->choices);
	for (int k = 0; !rc && k < MAX_PLANNINGS; k++) {
		rc = open_all(a, &n_other, err);
		if (!n_other && !a->is_unfinished)
			break;
	}
	if (!rc)
		keep_layouts(a);
	return rc;
}

void
sl__compared_arms_close(struct sl__compared_arms *a)
{
	close_subjects(a);
	sl__pages_free(a->spacer);
	a->spacer = NULL;
	sl__shared_tuning_cache_close(&a->choices);
	sl__arena_release(&a->scratch);
}

/* The old plan goes once the new one is found to be the same. */
static enum sl_status
renew_one(struct sl__compared_arms *a, size_t i, struct sl_error *err)
{
	struct sl__subject_model *fresh = &a->slots[i][0];
	enum sl_status rc;

	if (a->subjects[i] == fresh)
		fresh = &a->slots[i][1];
	rc = open_subject(a, i, fresh, err);
	if (rc)
		return rc;
	if (!sl__plans_have_same_steps(a->subjects[i]->plan, fresh->plan)) {
		sl__subject_model_close(fresh);
		return sl__fail(err, SL_E_MEASURE,
				"%.200s: other steps or kernels when planned "
				"again",
				name_of(a, i));
	}
	sl__subject_model_close(a->subjects[i]);
	a->subjects[i] = fresh;
	return SL_OK;
}

/* Takes some memory, a number of bytes that chance decides, so that what is
 * made next lies elsewhere than the last time; the one before goes. */
static enum sl_status
move_on(struct sl__compared_arms *a, struct sl_error *err)
{
	struct sl__pages *spacer;
	uint64_t n_bytes = 64 * (1 + sl__rng_below(&a->rng, SPACER_LINES));
	enum sl_status rc = sl__pages_new(&spacer, a->how->allocator, err);
	void *block;

	if (rc)
		return rc;
	block = sl__pages_alloc(spacer, n_bytes);
	if (!block) {
		sl__pages_free(spacer);
		return sl__fail_nomem(err);
	}
	memset(block, 0, n_bytes);
	sl__pages_free(a->spacer);
	a->spacer = spacer;
	return SL_OK;
}

enum sl_status
sl__compared_arms_renew(struct sl__compared_arms *a, size_t *n_renewed,
			struct sl_error *err)
{
	size_t order[SL_MODEL_ARMS_MAX];
	enum sl_status rc = move_on(a, err);

	*n_renewed = 0;
	sl__rng_permutation(&a->rng, order, a->n);
	for (size_t k = 0; !rc && k < a->n; k++) {
		if (a->how->interrupt && *a->how->interrupt)
			return sl__fail(err, SL_E_INTERRUPTED, "interrupted");
		rc = renew_one(a, order[k], err);
		*n_renewed += !rc;
	}
	return rc;
}

double
sl__compared_arms_renewal_ns(const struct sl__compared_arms *a)
{
	double sum = 0;

	for (size_t i = 0; i < a->n; i++) {
		double least = a->subjects[i]->plan_ns;

		for (size_t k = 0; k < a->n; k++) {
			if (a->arms[k].graph == a->arms[i].graph &&
			    sl__plans_have_same_settings(a->subjects[k]->plan,
							 a->subjects[i]->plan))
				least = fmin(least, a->subjects[k]->plan_ns);
		}
		sum += least;
	}
	return sum;
}
