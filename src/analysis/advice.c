/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.c - what would make a model faster, and by how much at most.
 *
 * The rules here name operations that could be faster or go, and bound the gain
 * by Amdahl's law: what they take of an iteration, by medians, or, where an
 * ablation of the very same operations was run, what that showed.
 */
#include "analysis/advice.h"
#include "analysis/amdahl.h"
#include "analysis/roofline_place.h"
#include "analysis/sweep_measurements.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { PROPOSALS_MOST = 16 };

struct adviser {
	const struct sl_profile *profile;
	size_t n_cpus; /* that the process may use */
	struct sl_advice proposals[PROPOSALS_MOST];
	size_t n;
	double iteration_ns; /* of a bare iteration, the median */
	double scale; /* of operations' medians, to make up that iteration */
};

typedef int chooses(const struct sl_operation *op);

/* More of an iteration than this leaves nothing to compare with. */
#define WHOLE_SHARE 0.95

/* An interval of an ablation that is wider, hi / lo, says less than the
 * share. */
#define WIDEST 1.1

/* Less than this in one operation is not worth changing the model for. */
#define LARGE_SHARE 0.1

/* Adds a proposal whose gain is between 1 and 'most', what it is of and what
 * would test it; one that is too small, or not bounded, is dropped. */
static void
propose(struct adviser *a, const struct sl_advice *advice)
{
	if (!(advice->most >= SL__ADVICE_LEAST) || isinf(advice->most) ||
	    a->n == PROPOSALS_MOST)
		return;
	a->proposals[a->n] = *advice;
	a->proposals[a->n].least = 1;
	a->proposals[a->n].now_ns = a->iteration_ns;
	a->n++;
}

/* Whether a text is one of a list that ends with NULL. */
static int
is_among(const char *text, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(text, *list))
			return 1;
	}
	return 0;
}

/* Whether shapes are the user's to the last number, so that no trial can ask
 * for other sizes. */
static int
has_fixed_shapes(const struct sl_request *request)
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
static double
now_ns(const struct adviser *a, const struct sl_operation *op)
{
	return a->scale * own_ns(op);
}

static double
share_of(const struct adviser *a, double ns)
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
bound_chosen(const struct adviser *a, struct chosen *c)
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
static double
limit_of(const struct adviser *a, chooses *is_chosen)
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
			gone += share_of(a, now_ns(a, op));
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
choose(const struct adviser *a, chooses *is_chosen)
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
		c.now_ns += now_ns(a, op);
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
propose_chosen(struct adviser *a, const struct chosen *c, struct sl_fact what,
	       struct sl_trial trial)
{
	struct sl_advice advice = {.what = what,
				   .most = c->most,
				   .basis = basis_of(c),
				   .trial = trial};

	if (c->most >= SL__ADVICE_LEAST)
		propose(a, &advice);
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

static int
is_slow_path(const struct sl_operation *op)
{
	return op->path == SL_PATH_REFERENCE || op->path == SL_PATH_STEPWISE;
}

static void
advise_reference(struct adviser *a)
{
	struct chosen c = choose(a, is_slow_path);

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
advise_on(struct adviser *a, chooses *is_chosen, enum sl_fact_kind kind,
	  enum sl_trial_action action)
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
	       !is_slow_path(op);
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

	return is_among(op->type, types) && !is_slow_path(op);
}

static int
is_head(const struct sl_operation *op)
{
	return op->part == SL_PART_HEAD;
}

static void
advise_head(struct adviser *a)
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
advise_pruning(struct adviser *a)
{
	const struct sl_profile *p = a->profile;
	const struct sl_operation *op = &p->operations[p->by_time[0]];
	struct chosen c = {.n = 1,
			   .largest = op,
			   .type = op->type,
			   .now_ns = now_ns(a, op)};

	bound_chosen(a, &c);
	if (c.share < LARGE_SHARE || c.share > WHOLE_SHARE || !op->parameters ||
	    is_head(op) || is_slow_path(op))
		return;
	propose_chosen(a, &c,
		       (struct sl_fact){SL_FACT_PRUNE,
					{(double)op->parameters},
					{op->name, op->type}},
		       layer_trial(&c));
}

/*
 * Advice whose gain is bounded by what the machine does.
 *
 * Each rule sums up the least time that operations would take after the
 * change, from ceilings and responses that were measured, and leaves the
 * others as they are.
 */

/* A difference below this is noise. */
#define CLEARLY 1.05

/* How many times as many samples a larger batch has that is worth a try. */
enum { BATCH_TIMES = 16 };

/* Tokens that a trial of the cache decodes: enough for a line through their
 * times. */
enum { TOKENS_TRIED = 32 };

static double
call_ns(const struct sl_operation *op, enum sl_condition condition)
{
	return op->response ? op->response->at[condition].ns * op->n_calls
			    : (double)NAN;
}

/* Operations timed on one thread and on all, and both sums. */
struct timed {
	size_t n, n_gained; /* of these, faster on all */
	double one_ns, all_ns;
};

static struct timed
timed_on_one(const struct sl_profile *p)
{
	struct timed t = {0};

	for (size_t i = 0; i < p->n_operations; i++) {
		double one = call_ns(&p->operations[i], SL_CONDITION_ALONE);
		double all = call_ns(&p->operations[i], SL_CONDITION_IN_PLACE);

		if (isnan(one) || isnan(all))
			continue;
		t.n++;
		t.n_gained += one > CLEARLY * all;
		t.one_ns += one;
		t.all_ns += all;
	}
	return t;
}

/* All numbers of threads up to 'most', of which 'value' is advised. */
static struct sl_trial
threads_trial(int64_t value, int64_t most)
{
	return (struct sl_trial){.action = SL_TRIAL_THREADS,
				 .value = value,
				 .from = 1,
				 .to = most};
}

/* On one thread an iteration takes as long as what was timed there, at least.
 */
static void
advise_fewer(struct adviser *a, const struct timed *t)
{
	int n = a->profile->n_threads;
	double bound_ns = a->profile->rates.bound_ns;
	struct sl_advice advice = {
		.what = {SL_FACT_USE_ONE_THREAD, {n, (double)t->n}, {NULL}},
		.most = a->iteration_ns / t->one_ns,
		.basis = {SL_FACT_THREAD_TIMES,
			  {t->one_ns, t->all_ns, n},
			  {NULL}},
		.trial = threads_trial(1, n)};

	if (t->one_ns * CLEARLY > t->all_ns)
		return;
	/* One thread does no more than all of them could. */
	if (bound_ns > 0)
		advice.most = fmin(advice.most, a->iteration_ns / bound_ns);
	propose(a, &advice);
}

/*
 * An operation that gained nothing from the threads it has gains nothing from
 * more; one that gained, or was not timed, may gain as much as there are more
 * of them.  Where nothing was timed on fewer, nothing bounds what more would
 * do.
 */
static void
advise_more(struct adviser *a, const struct timed *t)
{
	const struct sl_profile *p = a->profile;
	double n = p->n_threads, more = (double)a->n_cpus;
	double after_ns = a->iteration_ns;
	struct sl_advice advice = {
		.what = {SL_FACT_USE_THREADS, {more, n}, {NULL}},
		.basis = {SL_FACT_THREAD_GAINS,
			  {(double)t->n_gained, (double)t->n, n},
			  {NULL}},
		.trial = threads_trial((int64_t)a->n_cpus, (int64_t)a->n_cpus)};

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];
		double one = call_ns(op, SL_CONDITION_ALONE);
		double all = call_ns(op, SL_CONDITION_IN_PLACE);

		if (isnan(one) || isnan(all) || one > CLEARLY * all)
			after_ns -= now_ns(a, op) * (1 - n / more);
	}
	advice.most = a->iteration_ns / after_ns;
	propose(a, &advice);
}

/* Threads that wait for CPUs which others have say nothing about the model. */
static int
is_disturbed(const struct sl_profile *p)
{
	return p->others_share > SL__SWEEP_DISTURBED ||
	       sl__sweep_disturbance(&p->noise) > SL__SWEEP_DISTURBED;
}

static void
advise_threads(struct adviser *a)
{
	struct timed t = timed_on_one(a->profile);

	if (a->profile->n_threads < 2 || !t.n || is_disturbed(a->profile))
		return;
	advise_fewer(a, &t);
	if (t.n_gained && a->n_cpus > (size_t)a->profile->n_threads)
		advise_more(a, &t);
}

static int
is_matmul(const struct sl_operation *op)
{
	static const char *const types[] = {"Conv", "ConvTranspose", "Einsum",
					    "Gemm", "MatMul",        NULL};

	return is_among(op->type, types) && !is_slow_path(op);
}

/* The weights it reads; a head whose weights are tied to a table has none of
 * its own, and reads little else. */
static double
weight_bytes(const struct sl_profile *p, const struct sl_operation *op)
{
	if (!op->parameters && op->part == SL_PART_HEAD)
		return (double)op->n_bytes;
	return (double)op->parameters * sl_dtype_bits(p->dtype) / 8;
}

/* Whether it is a product that mostly reads weights. */
static int
is_weights(const struct sl_profile *p, const struct sl_operation *op)
{
	if (!is_matmul(op) || op->judgement.bound == SL_BOUND_COMPUTE ||
	    2 * weight_bytes(p, op) < (double)op->n_bytes)
		return 0;
	return op->judgement.bound == SL_BOUND_DRAM ||
	       op->judgement.bound == SL_BOUND_L3 ||
	       (op->roof && op->roof != SL_LEVEL_COMPUTE);
}

/* The least time, for as many samples as now, of an iteration over BATCH_TIMES
 * as many: weights are read once for all of them and arithmetic remains, and
 * the larger iteration takes no less time than this one. */
static double
shared_ns(const struct adviser *a, const struct sl_operation *op)
{
	const struct sl_profile *p = a->profile;
	double arithmetic_ns =
		op->n_calls * (double)op->executed_flops /
		sl__roofline_ceiling_upper(&p->ceilings.flops_per_s) * 1e9;

	return fmax(arithmetic_ns, now_ns(a, op) / BATCH_TIMES);
}

/* Operations that would share the reading of weights, and the least time of
 * all: what others gain by more samples is not known, so no more is taken for
 * granted of them. */
struct sharing {
	size_t n;
	double now_ns;
	double least_ns; /* of an iteration, for as many samples as now */
	const struct sl_operation *largest;
};

static struct sharing
weights_shared(const struct adviser *a)
{
	const struct sl_profile *p = a->profile;
	struct sharing out = {.least_ns = a->iteration_ns / BATCH_TIMES};

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];
		double now = now_ns(a, op);
		double least = fmin(shared_ns(a, op), now);

		out.least_ns += least - now / BATCH_TIMES;
		if (!is_weights(p, op) || least >= now)
			continue;
		out.n++;
		out.now_ns += now;
		if (!out.largest || op->self_ns > out.largest->self_ns)
			out.largest = op;
	}
	return out;
}

static void
advise_batch(struct adviser *a)
{
	const struct sl_profile *p = a->profile;
	int64_t batch = p->batch > 0 ? p->batch : 1;
	struct sl_advice advice = {.gain = SL_GAIN_SAMPLES};
	struct sharing s;

	if (!p->ceilings.flops_per_s.n)
		return;
	s = weights_shared(a);
	if (!s.n)
		return;
	advice.most = a->iteration_ns / s.least_ns;
	advice.what =
		(struct sl_fact){SL_FACT_USE_LARGER_BATCH,
				 {(double)(batch * BATCH_TIMES), (double)batch,
				  (double)s.n, s.now_ns / a->iteration_ns},
				 {s.largest->name}};
	advice.basis = (struct sl_fact){
		SL_FACT_WEIGHTS_SHARED,
		{(double)s.n, s.now_ns / a->iteration_ns, BATCH_TIMES,
		 sl__roofline_ceiling_upper(&p->ceilings.flops_per_s)},
		{NULL}};
	if (!has_fixed_shapes(&p->request))
		advice.trial = (struct sl_trial){.action = SL_TRIAL_BATCH,
						 .value = batch * BATCH_TIMES,
						 .from = batch,
						 .to = batch * BATCH_TIMES};
	propose(a, &advice);
}

static int
is_quantized(const struct sl_profile *p)
{
	for (size_t i = 0; i < p->n_operations; i++) {
		const char *type = p->operations[i].type;

		if (!strncmp(type, "QLinear", 7) ||
		    !strncmp(type, "Quantize", 8) || strstr(type, "Integer"))
			return 1;
	}
	return 0;
}

struct narrower {
	enum sl_dtype dtype;
	double by_bytes; /* how many times fewer */
	enum sl_fact_kind what, basis;
	struct sl_trial trial;
};

/* What products take now, and the least that they would in another type. */
struct narrowed {
	size_t n;
	double now_ns, least_ns;
	double weight_bytes; /* in that type */
};

/*
 * A call takes no less than its arithmetic at the peak of the type, fewer bytes
 * through the fastest memory, and what any step takes.  How it runs now bounds
 * nothing: another kernel may be a better one.
 */
static double
narrow_ns(const struct adviser *a, const struct sl_operation *op,
	  const struct narrower *t)
{
	const struct sl_ceilings *c = &a->profile->ceilings;
	double rate =
		sl__roofline_ceiling_upper(sl__roofline_peak(c, t->dtype));
	double least_ns = (double)op->executed_flops / rate * 1e9;

	if (c->n_levels)
		least_ns = fmax(least_ns,
				(double)op->n_bytes / t->by_bytes /
					sl__roofline_ceiling_upper(
						&c->levels[0].bytes_per_s) *
					1e9);
	if (c->step_ns.n)
		least_ns = fmax(least_ns, c->step_ns.needs_n ? c->step_ns.value
							     : c->step_ns.lo);
	return fmin(op->n_calls * least_ns, now_ns(a, op));
}

/* What caches cannot keep from one iteration to the next comes from memory. */
static double
refill_ns(const struct sl_ceilings *c, double n_bytes)
{
	if (!c->n_levels)
		return 0;
	for (size_t i = 0; i + 1 < c->n_levels; i++)
		n_bytes -=
			(double)c->levels[i].size_bytes * (double)c->n_threads;
	/* fmax() leaves out a rate that is not known. */
	return fmax(0,
		    n_bytes /
			    sl__roofline_ceiling_upper(
				    &c->levels[c->n_levels - 1].bytes_per_s) *
			    1e9);
}

static struct narrowed
narrow_products(const struct adviser *a, const struct narrower *t)
{
	const struct sl_profile *p = a->profile;
	struct narrowed out = {0};

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];

		if (!is_matmul(op) || !(op->n_calls > 0))
			continue;
		out.n++;
		out.now_ns += now_ns(a, op);
		out.least_ns += narrow_ns(a, op, t);
		/* In a loop it may find them in a cache from the second
		 * call on. */
		out.weight_bytes += fmin(op->n_calls, 1) * weight_bytes(p, op) /
				    t->by_bytes;
	}
	out.least_ns =
		fmax(out.least_ns, refill_ns(&p->ceilings, out.weight_bytes));
	out.least_ns = fmin(out.least_ns, out.now_ns);
	return out;
}

static void
advise_type(struct adviser *a, const struct narrower *t)
{
	const struct sl_ceilings *c = &a->profile->ceilings;
	struct sl_advice advice = {.what = {.kind = t->what},
				   .trial = t->trial};
	struct narrowed products;

	/* Without its peak there is nothing that says it would be faster, nor
	 * that the machine has it. */
	if (!sl__roofline_peak(c, t->dtype))
		return;
	products = narrow_products(a, t);
	if (!products.n)
		return;
	/* Nor more than without them. */
	advice.most =
		fmin(a->iteration_ns / (a->iteration_ns - products.now_ns +
					products.least_ns),
		     limit_of(a, is_matmul));
	advice.basis = (struct sl_fact){
		t->basis,
		{(double)products.n, products.now_ns / a->iteration_ns,
		 products.now_ns, products.least_ns,
		 sl__roofline_ceiling_upper(sl__roofline_peak(c, t->dtype)),
		 t->dtype},
		{NULL}};
	propose(a, &advice);
}

/* Nothing here makes an int8 model, so nothing tests that. */
static void
advise_types(struct adviser *a)
{
	static const struct narrower bf16 = {
		.dtype = SL_DTYPE_BF16,
		.by_bytes = 2,
		.what = SL_FACT_COMPUTE_BF16,
		.basis = SL_FACT_NARROWED,
		.trial = {.action = SL_TRIAL_DTYPE, .dtype = SL_DTYPE_BF16}};
	static const struct narrower i8 = {.dtype = SL_DTYPE_I8,
					   .by_bytes = 4,
					   .what = SL_FACT_QUANTISE_INT8,
					   .basis = SL_FACT_NARROWED_ONLY};

	if (a->profile->dtype != SL_DTYPE_F32 || is_quantized(a->profile))
		return;
	advise_type(a, &bf16);
	advise_type(a, &i8);
}

static int
is_causal(const struct sl_inspection *model)
{
	for (size_t i = 0; i < model->n_layers; i++) {
		if (model->layers[i].is_causal)
			return 1;
	}
	return 0;
}

/* With a cache a step computes one token of the sequence, and reads all
 * weights still. */
static void
advise_cache(struct adviser *a)
{
	const struct sl_profile *p = a->profile;
	struct sl_advice advice = {.gain = SL_GAIN_TOKENS};
	double n_bytes, rate, read_ns;

	if (!p->model || !is_causal(p->model) || p->model->past >= 0)
		return;
	n_bytes = (double)p->model->memory.once_bytes;
	rate = sl__roofline_bandwidth_at_size(&p->ceilings, n_bytes);
	read_ns = n_bytes / rate * 1e9;
	if (isnan(rate))
		return;
	advice.most = fmin((double)p->model->seq, a->iteration_ns / read_ns);
	advice.what = (struct sl_fact){
		SL_FACT_KEEP_KEYS, {(double)p->model->seq}, {NULL}};
	advice.basis = (struct sl_fact){
		SL_FACT_WEIGHTS_READ, {n_bytes, read_ns, rate}, {NULL}};
	if (!has_fixed_shapes(&p->request) && !p->request.layer)
		advice.trial = (struct sl_trial){.action = SL_TRIAL_GENERATE,
						 .value = TOKENS_TRIED};
	propose(a, &advice);
}

/* What was tried comes first, then what can be. */
static int
by_gain(const void *a, const void *b)
{
	const struct sl_advice *x = a, *y = b;

	if (!x->measured.n != !y->measured.n)
		return x->measured.n ? -1 : 1;
	if (!x->trial.action != !y->trial.action)
		return x->trial.action ? -1 : 1;
	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return (int)x->what.kind - (int)y->what.kind;
}

static void
advise(struct adviser *a)
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
	advise_threads(a);
	advise_batch(a);
	advise_types(a);
	advise_cache(a);
}

/*
 * How much of an iteration operations are is a matter of sums, what each of
 * them takes one of medians, which few disturbances do not move; and the whole
 * is a bare iteration, whose median may be of quieter or of busier moments.
 */
static void
set_pass(struct adviser *a)
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
	struct adviser a = {.profile = profile, .n_cpus = sources->n_cpus};
	struct sl_advice *list;

	profile->n_advice = 0;
	if (!profile->n_operations || !(profile->ledger.wall_ns > 0))
		return SL_OK;
	set_pass(&a);
	advise(&a);
	a.n = sl__advice_weigh(a.proposals, a.n, PROPOSALS_MOST, profile,
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
