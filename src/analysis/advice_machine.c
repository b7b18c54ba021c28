/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_machine.c - advice whose gain is bounded by what the machine does:
 * threads, batches, types and caches.
 *
 * Each rule sums up the least time that operations would take after the
 * change, from ceilings and responses that were measured, and leaves the
 * others as they are.
 */
#include "analysis/adviser.h"
#include "analysis/roofline_place.h"
#include "analysis/sweep_measurements.h"
#include "result/step_evidence.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

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
advise_fewer(struct sl__adviser *a, const struct timed *t)
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
	sl__adviser_propose(a, &advice);
}

/*
 * An operation that gained nothing from the threads it has gains nothing from
 * more; one that gained, or was not timed, may gain as much as there are more
 * of them.  Where nothing was timed on fewer, nothing bounds what more would
 * do.
 */
static void
advise_more(struct sl__adviser *a, const struct timed *t)
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
			after_ns -= sl__adviser_now_ns(a, op) * (1 - n / more);
	}
	advice.most = a->iteration_ns / after_ns;
	sl__adviser_propose(a, &advice);
}

/* Threads that wait for CPUs which others have say nothing about the model. */
static int
is_disturbed(const struct sl_profile *p)
{
	return p->others_share > SL__SWEEP_DISTURBED ||
	       sl__sweep_disturbance(&p->noise) > SL__SWEEP_DISTURBED;
}

void
sl__advise_threads(struct sl__adviser *a)
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

	return sl__adviser_is_among(op->type, types) &&
	       !sl__adviser_is_slow_path(op);
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

/* What the second half of a batch twice as large took; NaN: not timed.  Times
 * are of few rounds, so a part of it is left out. */
static double
marginal_ns(const struct sl__adviser *a, const struct sl_operation *op)
{
	const double part = 0.8;
	double twice = call_ns(op, SL_CONDITION_DOUBLED) /
		       call_ns(op, SL_CONDITION_IN_PLACE);

	return part * (twice - 1) * sl__adviser_now_ns(a, op);
}

/* The least time, for as many samples as now, of an iteration over BATCH_TIMES
 * as many: weights are read once for all of them and arithmetic remains, the
 * larger iteration takes no less time than this one, and where twice the batch
 * was timed further samples cost what those did. */
static double
shared_ns(const struct sl__adviser *a, const struct sl_operation *op)
{
	const struct sl_profile *p = a->profile;
	double arithmetic_ns =
		op->n_calls * (double)op->executed_flops /
		sl__roofline_ceiling_upper(&p->ceilings.flops_per_s) * 1e9;

	/* fmax() leaves out what is not known. */
	return fmax(
		fmax(arithmetic_ns, sl__adviser_now_ns(a, op) / BATCH_TIMES),
		marginal_ns(a, op));
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
weights_shared(const struct sl__adviser *a)
{
	const struct sl_profile *p = a->profile;
	struct sharing out = {.least_ns = a->iteration_ns / BATCH_TIMES};

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];
		double now = sl__adviser_now_ns(a, op);
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

void
sl__advise_batch(struct sl__adviser *a)
{
	const struct sl_profile *p = a->profile;
	int64_t batch = p->batch > 0 ? p->batch : 1;
	struct sl_advice advice = {.gain = SL_GAIN_SAMPLES};
	struct sharing s;

	if (!p->ceilings.flops_per_s.n || a->has_fixed_batch)
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
	if (!sl__adviser_has_fixed_shapes(&p->request))
		advice.trial = (struct sl_trial){.action = SL_TRIAL_BATCH,
						 .value = batch * BATCH_TIMES,
						 .from = batch,
						 .to = batch * BATCH_TIMES};
	sl__adviser_propose(a, &advice);
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
narrow_ns(const struct sl__adviser *a, const struct sl_operation *op,
	  const struct narrower *t)
{
	const struct sl_ceilings *c = &a->profile->ceilings;
	double rate = sl__roofline_ceiling_upper(sl__ceiling_peak(c, t->dtype));
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
	return fmin(op->n_calls * least_ns, sl__adviser_now_ns(a, op));
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
narrow_products(const struct sl__adviser *a, const struct narrower *t)
{
	const struct sl_profile *p = a->profile;
	struct narrowed out = {0};

	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *op = &p->operations[i];

		if (!is_matmul(op) || !(op->n_calls > 0))
			continue;
		out.n++;
		out.now_ns += sl__adviser_now_ns(a, op);
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
advise_type(struct sl__adviser *a, const struct narrower *t)
{
	const struct sl_ceilings *c = &a->profile->ceilings;
	struct sl_advice advice = {.what = {.kind = t->what},
				   .trial = t->trial};
	struct narrowed products;

	/* Without its peak there is nothing that says it would be faster, nor
	 * that the machine has it. */
	if (!sl__ceiling_peak(c, t->dtype))
		return;
	products = narrow_products(a, t);
	if (!products.n)
		return;
	/* Nor more than without them. */
	advice.most =
		fmin(a->iteration_ns / (a->iteration_ns - products.now_ns +
					products.least_ns),
		     sl__adviser_limit(a, is_matmul));
	advice.basis = (struct sl_fact){
		t->basis,
		{(double)products.n, products.now_ns / a->iteration_ns,
		 products.now_ns, products.least_ns,
		 sl__roofline_ceiling_upper(sl__ceiling_peak(c, t->dtype)),
		 t->dtype},
		{NULL}};
	sl__adviser_propose(a, &advice);
}

/* Whether the model can be made int8: as a whole, to compute and not to learn,
 * and with operators that have scales along an axis. */
static int
can_quantize(const struct sl_profile *p)
{
	enum { OPSET_LEAST = 13 };

	return !p->request.layer && !p->training && p->model &&
	       p->model->opset >= OPSET_LEAST;
}

void
sl__advise_types(struct sl__adviser *a)
{
	static const struct narrower bf16 = {
		.dtype = SL_DTYPE_BF16,
		.by_bytes = 2,
		.what = SL_FACT_COMPUTE_BF16,
		.basis = SL_FACT_NARROWED,
		.trial = {.action = SL_TRIAL_DTYPE, .dtype = SL_DTYPE_BF16}};
	struct narrower i8 = {.dtype = SL_DTYPE_I8,
			      .by_bytes = 4,
			      .what = SL_FACT_QUANTISE_INT8,
			      .basis = SL_FACT_NARROWED_ONLY};

	if (a->profile->dtype != SL_DTYPE_F32 || is_quantized(a->profile))
		return;
	if (can_quantize(a->profile)) {
		i8.basis = SL_FACT_NARROWED;
		i8.trial = (struct sl_trial){.action = SL_TRIAL_VARIANT,
					     .changes = "int8"};
	}
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
void
sl__advise_cache(struct sl__adviser *a)
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
	if (!sl__adviser_has_fixed_shapes(&p->request) && !p->request.layer)
		advice.trial = (struct sl_trial){.action = SL_TRIAL_GENERATE,
						 .value = TOKENS_TRIED};
	sl__adviser_propose(a, &advice);
}
