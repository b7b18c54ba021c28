/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.c - what would make a model faster, and by how much at most.
 *
 * The rules here name operations that could be faster or go, and bound the gain
 * by Amdahl's law: what they take of an iteration, by medians, or, where an
 * ablation of the very same operations was run, what that showed.
 */
#include "analysis/adviser.h"
#include "analysis/amdahl.h"
#include "analysis/roofline_place.h"
#include "analysis/sweep_measurements.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* More of an iteration than this leaves nothing to compare with. */
#define WHOLE_SHARE 0.95

/* An interval of an ablation that is wider, hi / lo, says less than the
 * share. */
#define WIDEST 1.1

/* Less than this in one operation is not worth changing the model for. */
#define LARGE_SHARE 0.1

/* Adds a proposal whose gain is between 1 and 'most', what it is of and what
 * would test it; one that is too small, or not bounded, is dropped. */
void
sl__adviser_propose(struct sl__adviser *a, const struct sl_advice *advice)
{
	if (!(advice->most >= SL__ADVICE_LEAST) || isinf(advice->most) ||
	    a->n == SL__PROPOSALS_MOST)
		return;
	a->proposals[a->n] = *advice;
	a->proposals[a->n].least = 1;
	a->proposals[a->n].now_ns = a->iteration_ns;
	a->n++;
}

/* Whether a text is one of a list that ends with NULL. */
int
sl__adviser_is_among(const char *text, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(text, *list))
			return 1;
	}
	return 0;
}

/* Whether shapes are the user's to the last number, so that no trial can ask
 * for other sizes. */
int
sl__adviser_has_fixed_shapes(const struct sl_request *request)
{
	return request->sizes.n_shapes || request->sizes.inputs_folder;
}

/* Some operations, and what there is if they took no time. */
struct chosen {
	size_t n;
	double now_ns, share; /* of an iteration */
	double bound_ns;      /* that their work takes on this machine */
	const struct sl_operation *largest;
	const char *type;            /* that all have; NULL: several */
	struct sl_estimate measured; /* by ablation; n 0: not */
	double most;
};

/* Whether a row is of all operations of a type. */
static int
is_of_type(const struct sl_profile *p, const struct sl_amdahl *row,
	   const char *type)
{
	return row->is_type &&
	       !strcmp(p->operations[row->operation].type, type);
}

/* The row of an ablation of just these operations. */
static const struct sl_amdahl *
find_row(const struct sl_profile *p, const struct chosen *c)
{
	for (size_t i = 0; i < p->n_amdahl; i++) {
		const struct sl_amdahl *row = &p->amdahl[i];

		if (row->n_operations != c->n)
			continue;
		if (c->n == 1 && &p->operations[row->operation] == c->largest)
			return row;
		if (c->n > 1 && c->type && is_of_type(p, row, c->type))
			return row;
	}
	return NULL;
}

/* By itself, in recorded iterations. */
static double
own_ns(const struct sl_operation *op)
{
	return op->median_ns.n && op->n_calls > 0
		       ? op->n_calls * op->median_ns.value
		       : op->self_ns;
}

/* What an operation takes of a bare iteration, by the median of its calls. */
double
sl__adviser_now_ns(const struct sl__adviser *a, const struct sl_operation *op)
{
	return a->scale * own_ns(op);
}

static double
share_of(const struct sl__adviser *a, double ns)
{
	return fmin(fmax(ns / a->iteration_ns, 0), 1);
}

static int
is_measured(const struct sl_amdahl *row)
{
	return row && row->measured_limit.n && !row->measured_limit.needs_n;
}

/* One that is hardly known can only take away. */
static double
capped(double most, const struct sl_estimate *limit)
{
	return limit->hi > WIDEST * limit->lo ? fmin(most, limit->hi)
					      : limit->hi;
}

/* The most that can be had from operations that take so long. */
static void
bound_chosen(const struct sl__adviser *a, struct chosen *c)
{
	const struct sl_amdahl *row = find_row(a->profile, c);

	c->share = share_of(a, c->now_ns);
	c->most = sl__amdahl_speedup(c->share, (double)INFINITY);
	if (!is_measured(row))
		return;
	c->most = capped(c->most, &row->measured_limit);
	if (row->measured_limit.hi <= WIDEST * row->measured_limit.lo)
		c->measured = row->measured_limit;
}

/* The row of all operations of a type, or of this one. */
static const struct sl_amdahl *
row_over(const struct sl_profile *p, const struct sl_operation *op)
{
	for (size_t i = 0; i < p->n_amdahl; i++) {
		const struct sl_amdahl *row = &p->amdahl[i];

		if (is_measured(row) && is_of_type(p, row, op->type))
			return row;
	}
	for (size_t i = 0; i < p->n_amdahl; i++) {
		const struct sl_amdahl *row = &p->amdahl[i];

		if (is_measured(row) && row->n_operations == 1 &&
		    &p->operations[row->operation] == op)
			return row;
	}
	return NULL;
}

/*
 * The most that could be had if the chosen operations took no time, by
 * ablations as far as there are some of them, by their shares else.
 * INFINITY: all of it.
 */
double
sl__adviser_limit(const struct sl__adviser *a, sl__adviser_choice *is_chosen)
{
	const struct sl_profile *p = a->profile;
	double gone = 0;

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];
		const struct sl_amdahl *row = row_over(p, op);
		size_t first = 0;

		if (!is_chosen(op))
			continue;
		if (!row) {
			gone += share_of(a, sl__adviser_now_ns(a, op));
			continue;
		}
		/* A row of a type counts once. */
		while (row->n_operations > 1 &&
		       (!is_chosen(&p->operations[first]) ||
			strcmp(p->operations[first].type, op->type) != 0))
			first++;
		if (row->n_operations == 1 || first == i)
			gone += fmax(0, 1 - 1 / row->measured_limit.hi);
	}
	return gone < 1 ? 1 / (1 - gone) : (double)INFINITY;
}

static struct chosen
choose(const struct sl__adviser *a, sl__adviser_choice *is_chosen)
{
	const struct sl_profile *p = a->profile;
	struct chosen c = {0};

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];

		if (!is_chosen(op))
			continue;
		c.type = !c.n || (c.type && !strcmp(c.type, op->type))
				 ? op->type
				 : NULL;
		c.n++;
		c.now_ns += sl__adviser_now_ns(a, op);
		if (op->bound_ns > 0)
			c.bound_ns += op->n_calls * op->bound_ns;
		if (!c.largest || op->self_ns > c.largest->self_ns)
			c.largest = op;
	}
	bound_chosen(a, &c);
	return c;
}

static struct sl_fact
basis_of(const struct chosen *c)
{
	double limit = c->measured.n ? c->measured.value : (double)NAN;

	return (struct sl_fact){
		SL_FACT_PASS_SHARE,
		{(double)c->n, c->share, limit, c->measured.lo, c->measured.hi},
		{NULL}};
}

/* Proposes to be rid of operations; of several, the one that takes longest is
 * named. */
static void
propose_chosen(struct sl__adviser *a, const struct chosen *c,
	       struct sl_fact what, struct sl_trial trial)
{
	struct sl_advice advice = {.what = what,
				   .most = c->most,
				   .basis = basis_of(c),
				   .trial = trial};

	if (c->most >= SL__ADVICE_LEAST)
		sl__adviser_propose(a, &advice);
}

/* The longest of them alone. */
static struct sl_trial
layer_trial(const struct chosen *c)
{
	return (struct sl_trial){.action = SL_TRIAL_LAYER,
				 .layer = c->largest->name};
}

/* How many there are, and which takes longest. */
static struct sl_fact
fact_of(enum sl_fact_kind kind, const struct chosen *c)
{
	return (struct sl_fact){
		kind, {(double)c->n}, {c->largest->name, c->largest->type}};
}

int
sl__adviser_is_slow_path(const struct sl_operation *op)
{
	return op->path == SL_PATH_REFERENCE || op->path == SL_PATH_STEPWISE;
}

static void
advise_reference(struct sl__adviser *a)
{
	struct chosen c = choose(a, sl__adviser_is_slow_path);

	if (!c.n)
		return;
	/* Their work remains. */
	c.most = fmin(c.most, a->iteration_ns / (a->iteration_ns - c.now_ns +
						 fmin(c.bound_ns, c.now_ns)));
	if (a->profile->request.flags & SL_PLAN_REFERENCE)
		propose_chosen(a, &c, fact_of(SL_FACT_ALLOW_KERNELS, &c),
			       (struct sl_trial){.action = SL_TRIAL_KERNELS});
	else
		propose_chosen(a, &c, fact_of(SL_FACT_REPLACE_LOOPS, &c),
			       layer_trial(&c));
}

/* All that is chosen is one proposal. */
static void
advise_on(struct sl__adviser *a, sl__adviser_choice *is_chosen,
	  enum sl_fact_kind kind, enum sl_trial_action action)
{
	struct chosen c = choose(a, is_chosen);

	if (c.n)
		propose_chosen(a, &c, fact_of(kind, &c),
			       (struct sl_trial){.action = action});
}

static int
is_reorder(const struct sl_operation *op)
{
	return !strcmp(op->type, "Reorder");
}

static int
is_movement(const struct sl_operation *op)
{
	return op->part == SL_PART_MOVEMENT && !is_reorder(op) &&
	       !sl__adviser_is_slow_path(op);
}

/* What a product or a convolution before it could do on the way. */
static int
is_fusable(const struct sl_operation *op)
{
	static const char *const types[] = {"Add",       "BatchNormalization",
					    "Clip",      "Div",
					    "Elu",       "Erf",
					    "Gelu",      "HardSigmoid",
					    "HardSwish", "LeakyRelu",
					    "Mul",       "Relu",
					    "Sigmoid",   "Sub",
					    "Tanh",      NULL};

	return sl__adviser_is_among(op->type, types) &&
	       !sl__adviser_is_slow_path(op);
}

static int
is_head(const struct sl_operation *op)
{
	return op->part == SL_PART_HEAD;
}

static void
advise_head(struct sl__adviser *a)
{
	struct chosen c = choose(a, is_head);
	struct sl_fact what;

	if (!c.n || c.share > WHOLE_SHARE)
		return;
	/* Tied weights are counted where they are used first. */
	what = (struct sl_fact){SL_FACT_SHRINK_HEAD,
				{c.largest->parameters
					 ? (double)c.largest->parameters
					 : (double)NAN},
				{c.largest->name}};
	propose_chosen(a, &c, what, layer_trial(&c));
}

/* The largest operation, where it has weights that can become fewer. */
static void
advise_pruning(struct sl__adviser *a)
{
	const struct sl_profile *p = a->profile;
	const struct sl_operation *op = &p->operations[p->by_time[0]];
	struct chosen c = {.n = 1,
			   .largest = op,
			   .type = op->type,
			   .now_ns = sl__adviser_now_ns(a, op)};

	bound_chosen(a, &c);
	if (c.share < LARGE_SHARE || c.share > WHOLE_SHARE || !op->parameters ||
	    is_head(op) || sl__adviser_is_slow_path(op))
		return;
	propose_chosen(a, &c,
		       (struct sl_fact){SL_FACT_PRUNE,
					{(double)op->parameters},
					{op->name, op->type}},
		       layer_trial(&c));
}

/* What was tried comes first, then what can be. */
static int
by_gain(const void *a, const void *b)
{
	const struct sl_advice *x = a, *y = b;

	if (!x->measured.n != !y->measured.n)
		return x->measured.n ? -1 : 1;
	if (x->measured.n && x->measured.value != y->measured.value)
		return x->measured.value < y->measured.value ? 1 : -1;
	if (!x->trial.action != !y->trial.action)
		return x->trial.action ? -1 : 1;
	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return (int)x->what.kind - (int)y->what.kind;
}

static void
advise(struct sl__adviser *a)
{
	advise_reference(a);
	advise_on(a, is_reorder, SL_FACT_AVOID_LAYOUTS, SL_TRIAL_ALGORITHMS);
	advise_on(a, is_movement, SL_FACT_AVOID_MOVES, SL_TRIAL_BY_PART);
	if (a->profile->request.flags & SL_PLAN_NO_FUSION)
		advise_on(a, is_fusable, SL_FACT_ALLOW_FUSION, SL_TRIAL_FUSION);
	else
		advise_on(a, is_fusable, SL_FACT_FUSE, SL_TRIAL_BY_TYPE);
	advise_head(a);
	advise_pruning(a);
	sl__advise_threads(a);
	sl__advise_batch(a);
	sl__advise_types(a);
	sl__advise_cache(a);
}

/*
 * How much of an iteration operations are is a matter of sums, what each of
 * them takes one of medians, which few disturbances do not move; and the whole
 * is a bare iteration, whose median may be of quieter or of busier moments.
 */
static void
set_pass(struct sl__adviser *a)
{
	const struct sl_profile *p = a->profile;
	double share = sl__amdahl_share(p, p->ledger.operations_ns);
	double sum_ns = 0;

	for (size_t i = 0; i < p->n_operations; i++)
		sum_ns += own_ns(&p->operations[i]);
	a->iteration_ns = p->ledger.operations_ns / share;
	a->scale = 1;
	if (!p->latency.median.n || !(sum_ns > 0))
		return;
	a->iteration_ns = p->latency.median.value;
	a->scale = share * a->iteration_ns / sum_ns;
}

enum sl_status
sl__advise(struct sl_profile *profile, const struct sl__advice_sources *sources,
	   struct sl__arena *arena, struct sl_error *err)
{
	struct sl__adviser a = {.profile = profile,
				.n_cpus = sources->n_cpus,
				.has_fixed_batch = sources->has_fixed_batch};
	struct sl_advice *list;

	profile->n_advice = 0;
	if (!profile->n_operations || !(profile->ledger.wall_ns > 0))
		return SL_OK;
	set_pass(&a);
	advise(&a);
	a.n = sl__advice_weigh(a.proposals, a.n, SL__PROPOSALS_MOST, profile,
			       sources);
	list = sl__arena_array(arena, a.n, sizeof(*list));
	if (!list)
		return sl__fail_nomem(err);
	if (a.n)
		memcpy(list, a.proposals, a.n * sizeof(*list));
	qsort(list, a.n, sizeof(*list), by_gain);
	profile->advice = list;
	profile->n_advice = a.n < SL__ADVICE_MOST ? a.n : SL__ADVICE_MOST;
	return sl__advice_remark_in_vain(profile, sources, arena, err);
}
