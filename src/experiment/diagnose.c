/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - steps of a plan timed under changed conditions.
 *
 * A round has a iteration for each condition, in an order drawn afresh, so that
 * whatever happens to the machine happens to all of them alike.  In the first
 * kind of iteration every hot step runs twice in a row: what the first run
 * takes is its time in place, what the second takes is its time with everything
 * warm. A step that gives the same bits when it runs again is simply run again;
 * any other (one that adds to its own operand) has what it wrote put back. That
 * is found out in the first round, off the clock.
 */
#include "experiment/diagnose.h"
#include "base/clock.h"
#include "base/status.h"
#include "compute/parallel.h"
#include "engine/dnnl_choice.h"
#include "engine/observer.h"
#include "experiment/step_operands.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/*
 * Another plan of a model, its steps paired with the first's.
 *
 * What a step is asked under another condition that a plan fixes when it is
 * made (threads, batch) is asked of a second plan: of that step which does the
 * same node.
 */

/* Bytes of weights, and of activations, that a plan beside another may have. */
static const uint64_t BYTES_MOST = 2000000000;

/* The step of the variant that does what step i of the other does: the same
 * node, and as many of that name before it. */
static size_t
counterpart(const struct sl__program *all, const struct sl__program *variant,
	    size_t i)
{
	const struct sl__step *s = &all->steps[i];
	size_t nth = 0;

	for (size_t k = 0; k < i; k++)
		nth += all->steps[k].node == s->node &&
		       !strcmp(all->steps[k].name, s->name);
	for (size_t k = 0; k < variant->n_steps; k++) {
		const struct sl__step *t = &variant->steps[k];

		if (t->node == s->node && !strcmp(t->name, s->name) && !nth--)
			return k;
	}
	return SIZE_MAX;
}

/* Lists with nothing in them. */
static enum sl_status
make_lists(struct sl__variant_plan *t, size_t n, struct sl__arena *arena,
	   struct sl_error *err)
{
	size_t n_steps = t->plan ? t->plan->current->n_steps : 0;

	t->steps = sl__arena_array(arena, n + 1, sizeof(*t->steps));
	t->is_same = sl__arena_array(arena, n + 1, sizeof(*t->is_same));
	t->slot_of = sl__arena_array(arena, n_steps + 1, 1);
	if (!t->steps || !t->is_same || !t->slot_of)
		return sl__fail_nomem(err);
	memset(t->slot_of, SL__VARIANT_NONE, n_steps + 1);
	for (size_t i = 0; i < n; i++)
		t->steps[i] = SIZE_MAX;
	return SL_OK;
}

/* Steps of which the variant has one; where it does another amount of work for
 * the same samples it is another step. */
static void
pair(struct sl__variant_plan *t, const struct sl__variant_options *how,
     int is_scaled)
{
	const struct sl__program *all = how->of->plan->current;
	const struct sl__program *variant = t->plan->current;

	for (size_t i = 0; i < how->n; i++) {
		const struct sl__step *a = &all->steps[how->steps[i]], *b;
		size_t k = counterpart(all, variant, how->steps[i]);

		if (k == SIZE_MAX)
			continue;
		b = &variant->steps[k];
		if (!is_scaled && a->nominal_flops != b->nominal_flops)
			continue;
		t->steps[i] = k;
		t->slot_of[k] = (unsigned char)i;
		t->is_same[i] =
			!strcmp(a->kernel, b->kernel) &&
			(is_scaled || a->executed_flops == b->executed_flops);
	}
}

static uint64_t
weight_bytes(const struct sl_plan *plan)
{
	struct sl_plan_memory memory;

	sl_plan_memory(plan, &memory);
	return memory.weight_bytes + memory.mapped_bytes;
}

/* The same kernels for another number of threads, and no time to choose; where
 * choices are not kept there are none to borrow. */
static void
borrow_choices(struct sl_plan_options *plan, int n_threads)
{
	if (!(plan->flags & SL_PLAN_NO_CACHE) &&
	    n_threads <= SL__PLAN_CHOICES_THREADS_MOST)
		plan->flags |= (unsigned)n_threads * SL__PLAN_CHOICES_THREADS;
}

enum sl_status
sl__variant_open_one_thread(struct sl__variant_plan *out,
			    const struct sl__variant_options *how,
			    struct sl__arena *arena, struct sl_error *err)
{
	struct sl__subject_model_options subject = how->of->options;
	struct sl_plan_options plan = how->of->how;
	enum sl_status rc = SL_OK;

	memset(out, 0, sizeof(*out));
	if (sl_plan_n_threads(how->of->plan) == 1) {
		out->plan = how->of->plan;
	} else if (weight_bytes(how->of->plan) > BYTES_MOST) {
		out->absent = "a second plan of so large a model would take "
			      "too much memory";
	} else {
		plan.sizes = subject.plan ? subject.plan->sizes : NULL;
		borrow_choices(&plan, sl_plan_n_threads(how->of->plan));
		plan.n_threads = 1;
		subject.plan = &plan;
		rc = sl__subject_model_open(&out->subject, how->of->graph,
					    &subject, err);
		out->plan = out->subject.plan;
	}
	if (!rc)
		rc = make_lists(out, how->n, arena, err);
	if (!rc && out->plan)
		pair(out, how, 0);
	return rc;
}

/* As the first plan has it; 0: the model's sizes leave none open. */
static int64_t
batch_of(const struct sl__subject_model *s)
{
	uint32_t input;

	if (!sl__shapes_batch_symbol(s->graph))
		return 0;
	input = s->graph->blocks[0].inputs[0];
	return s->plan->current->shapes->types[input].dims[0];
}

/* Whether the user said the sizes of the first input otherwise. */
static int
says_shape(const struct sl__subject_model *s)
{
	const struct sl_sizes *sizes = s->options.plan ? s->options.plan->sizes
						       : NULL;
	uint32_t input = s->graph->blocks[0].inputs[0];

	for (size_t i = 0; sizes && i < sizes->n_shapes; i++) {
		if (!strcmp(sizes->shapes[i].input,
			    s->graph->values[input].name))
			return 1;
	}
	return 0;
}

static const char *
why_not(const struct sl__variant_options *how, int64_t batch, double plan_ns)
{
	struct sl_plan_memory memory;

	sl_plan_memory(how->of->plan, &memory);
	if (batch < 1)
		return "the model's batch is fixed";
	if (says_shape(how->of))
		return "the batch is said as a shape";
	if (how->of->options.n_inputs)
		return "inputs come from files of their own";
	if (weight_bytes(how->of->plan) > BYTES_MOST ||
	    memory.planned_bytes > BYTES_MOST / 2)
		return "a plan of so large a model for twice the batch would "
		       "take too much memory";
	if (plan_ns > how->plan_s * 1e9)
		return "planning it again would take longer than the "
		       "experiments";
	return NULL;
}

/* What cannot be planned is not there, and the plan's failure says why. */
static enum sl_status
open_doubled(struct sl__variant_plan *out,
	     const struct sl__variant_options *how, int64_t batch,
	     struct sl__arena *arena, struct sl_error *err)
{
	struct sl__subject_model_options subject = how->of->options;
	struct sl_plan_options plan = how->of->how;
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl_error why;
	enum sl_status rc;

	if (subject.plan && subject.plan->sizes)
		sizes = *subject.plan->sizes;
	sizes.batch = 2 * batch;
	plan.sizes = &sizes;
	plan.flags |= SL__PLAN_HALF_BATCH_CHOICES;
	plan.log = NULL;
	subject.plan = &plan;
	rc = sl__subject_model_open(&out->subject, how->of->graph, &subject,
				    &why);
	if (rc == SL_E_NOMEM)
		return sl__fail_nomem(err);
	out->plan = out->subject.plan;
	if (!rc)
		return SL_OK;
	out->absent =
		sl__arena_format(arena, "it cannot be planned: %s", why.text);
	return out->absent ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl__variant_open_double_batch(struct sl__variant_plan *out,
			      const struct sl__variant_options *how,
			      double plan_ns, struct sl__arena *arena,
			      struct sl_error *err)
{
	int64_t batch = batch_of(how->of);
	enum sl_status rc = SL_OK;

	memset(out, 0, sizeof(*out));
	out->absent = why_not(how, batch, plan_ns);
	if (!out->absent)
		rc = open_doubled(out, how, batch, arena, err);
	if (!rc)
		rc = make_lists(out, how->n, arena, err);
	if (!rc && out->plan)
		pair(out, how, 1);
	return rc;
}

enum sl_status
sl__variant_warm_up(struct sl__variant_plan *variant, int runs,
		    struct sl_error *err)
{
	enum { PAGE = 4096 };
	struct sl_plan *plan = variant->subject.plan;
	volatile unsigned char *block;

	if (!plan)
		return SL_OK;
	if (runs)
		return sl_plan_run(plan, err);
	block = plan->current->block;
	for (uint64_t i = 0; i < plan->current->block_bytes; i += PAGE)
		block[i] = block[i];
	return SL_OK;
}

void
sl__variant_close(struct sl__variant_plan *variant)
{
	sl__subject_model_close(&variant->subject);
	memset(variant, 0, sizeof(*variant));
}

enum {
	ROUNDS_LEAST = 2,
	ROUNDS_WANTED = 3,
	MAX_ROUNDS = 31,
	TWICE_MOST = 1 << 29,      /* bytes of a step's operands */
	NO_SLOT = SL__VARIANT_NONE /* of steps that are not hot */
};

/* Iterations; in the first kind steps are timed in place and warm. */
enum kind { IN_PLACE = 0, COLD, ALONE, HOGGED, DOUBLED, N_KINDS };

/* What is known of a hot step. */
struct hot {
	size_t step;
	int is_timed;                /* not on a reference path */
	int runs_twice;              /* its operands are small enough */
	int is_tried;                /* whether the next is so is known */
	int is_repeated;             /* running again changes nothing */
	double *ns[SL_N_CONDITIONS]; /* [MAX_ROUNDS] */
	size_t n[SL_N_CONDITIONS];
};

struct diagnoser {
	const struct sl__diagnose_options *how;
	struct sl__step_responses *out;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl__subject_model *subject;
	struct sl__variant_plan single;  /* of one thread */
	struct sl__variant_plan doubled; /* of twice the batch */
	struct hot *hot;
	size_t n_hot;
	unsigned char *slot_of; /* by step of the plan */
	unsigned char *saved;   /* operands of a step */
	struct sl__runner runner;
	struct sl__ticker ticker;
	size_t order[N_KINDS];
	enum kind kind; /* of the iteration under way */
	int last;       /* kind of the iteration before; -1: none */
	int settles;    /* caches remember one iteration in the next */
	int n_threads;
};

const char *
sl_condition_text(enum sl_condition condition)
{
	static const char *const words[SL_N_CONDITIONS] = {
		"in place", "warm", "cold", "alone", "hogged", "doubled"};

	return (unsigned)condition < SL_N_CONDITIONS ? words[condition] : "";
}

/* A step on the clock, its threads awake. */
static enum sl_status
time_step(struct diagnoser *d, struct hot *h, struct sl__program *p, size_t i,
	  enum sl_condition condition, struct sl_error *err)
{
	uint64_t begin = sl__ticks_read(d->ticker.clock), end;
	enum sl_status rc = sl__run_step(p, i, err);
	double ns;

	end = sl__ticks_read(d->ticker.clock);
	ns = sl__ticker_span_ns(&d->ticker, begin, end) - d->ticker.reading_ns;
	if (!rc && h->n[condition] < MAX_ROUNDS)
		h->ns[condition][h->n[condition]++] = fmax(ns, 0);
	return rc;
}

static struct sl__operands
operands_of(const struct diagnoser *d, const struct sl__program *p, size_t i)
{
	return (struct sl__operands){p, &p->steps[i], d->n_threads, d->saved};
}

/* Finds out whether a step that has run may be run again just so. */
static enum sl_status
try_again(struct hot *h, const struct sl__operands *operands,
	  struct sl__program *p, struct sl_error *err)
{
	enum sl_status rc;

	sl__operands_save(operands);
	rc = sl__run_step(p, h->step, err);
	h->is_repeated = !sl__operands_differ(operands);
	h->is_tried = 1;
	if (!h->is_repeated)
		sl__operands_restore(operands);
	return rc;
}

static enum sl_status
run_warm(struct diagnoser *d, struct hot *h, struct sl__program *p,
	 struct sl_error *err)
{
	struct sl__operands operands = operands_of(d, p, h->step);
	enum sl_status rc = SL_OK;

	if (!h->is_tried)
		rc = try_again(h, &operands, p, err);
	/* Copying leaves lines with other threads than those that write them:
	 * one more run brings them home. */
	if (!rc && !h->is_repeated) {
		sl__operands_save(&operands);
		rc = sl__run_step(p, h->step, err);
	}
	if (!rc)
		rc = time_step(d, h, p, h->step, SL_CONDITION_WARM, err);
	if (!rc && !h->is_repeated)
		sl__operands_restore(&operands);
	return rc;
}

static enum sl_status
run_twice(struct diagnoser *d, struct hot *h, struct sl__program *p,
	  struct sl_error *err)
{
	enum sl_status rc =
		time_step(d, h, p, h->step, SL_CONDITION_IN_PLACE, err);

	return rc || !h->runs_twice ? rc : run_warm(d, h, p, err);
}

static enum sl_status
run_cold(struct diagnoser *d, struct hot *h, struct sl__program *p,
	 struct sl_error *err)
{
	struct sl__operands operands = operands_of(d, p, h->step);

	if (!sl__operands_flush(&operands))
		sl__ceiling_probes_evict_caches(d->how->probes);
	/* Threads that have waited so long sleep. */
	sl__parallel_wake(d->n_threads);
	return time_step(d, h, p, h->step, SL_CONDITION_COLD, err);
}

/* Whose iteration that is; NULL: the plan's own. */
static const struct sl__variant_plan *
variant_of(const struct diagnoser *d, int kind)
{
	if (kind == ALONE || kind == HOGGED)
		return &d->single;
	return kind == DOUBLED ? &d->doubled : NULL;
}

static enum sl_status
around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	static const enum sl_condition of_variants[N_KINDS] = {
		[ALONE] = SL_CONDITION_ALONE,
		[HOGGED] = SL_CONDITION_HOGGED,
		[DOUBLED] = SL_CONDITION_DOUBLED,
	};
	struct diagnoser *d = ctx;
	const struct sl__variant_plan *variant = variant_of(d, (int)d->kind);
	unsigned slot = variant ? variant->slot_of[i] : d->slot_of[i];

	if (slot == NO_SLOT || !d->hot[slot].is_timed ||
	    (d->kind == DOUBLED && !variant->is_same[slot]))
		return sl__run_step(p, i, err);
	if (variant)
		return time_step(d, &d->hot[slot], p, i, of_variants[d->kind],
				 err);
	if (d->kind == COLD)
		return run_cold(d, &d->hot[slot], p, err);
	return run_twice(d, &d->hot[slot], p, err);
}

static int
needs_settling(const struct diagnoser *d)
{
	int is_other = d->last < 0 ||
		       variant_of(d, (int)d->kind) != variant_of(d, d->last);

	return d->settles && (d->last != (int)d->kind) &&
	       (is_other || d->last == COLD || d->last == HOGGED ||
		d->kind == HOGGED);
}

static enum sl_status
run_iteration(struct diagnoser *d, struct sl_error *err)
{
	const struct sl__interceptor interceptor = {around, d};
	const struct sl__variant_plan *variant = variant_of(d, (int)d->kind);
	struct sl_plan *plan = variant ? variant->plan : d->subject->plan;
	enum sl_status rc = SL_OK;

	if (d->kind == HOGGED) {
		rc = sl__hog_start(d->how->probes, 1, err);
		if (rc)
			return rc;
	}
	if (needs_settling(d))
		rc = sl_plan_run(plan, err);
	/* They slept while one thread worked, or while nothing ran. */
	sl__parallel_wake(sl_plan_n_threads(plan));
	if (!rc)
		rc = sl__plan_intercept(plan, &interceptor, err);
	if (d->kind == HOGGED)
		sl__hog_stop(d->how->probes);
	d->last = (int)d->kind;
	return rc;
}

static int
is_absent(const struct diagnoser *d, enum kind kind)
{
	return (kind == COLD && d->out->no_cold) ||
	       (kind == ALONE && d->out->no_alone) ||
	       (kind == HOGGED && d->out->no_hog) ||
	       (kind == DOUBLED && d->out->no_doubled);
}

/* A model whose inputs agree at its own batch alone fails at twice the batch,
 * which says nothing against the model: the experiment goes without. */
static enum sl_status
forgive_doubled(struct diagnoser *d, enum sl_status rc,
		const struct sl_error *why, struct sl_error *err)
{
	if (!rc)
		return SL_OK;
	if (rc == SL_E_NOMEM || rc == SL_E_INTERRUPTED)
		return sl__fail(err, rc, "%s", why->text);
	d->out->no_doubled = sl__arena_format(
		d->arena, "it fails at twice the batch: %s", why->text);
	return d->out->no_doubled ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct diagnoser *d = ctx;
	struct sl_error why;

	d->kind = (enum kind)slot->arm;
	if (is_absent(d, d->kind))
		return SL_OK;
	if (d->kind == DOUBLED)
		return forgive_doubled(d, run_iteration(d, &why), &why, err);
	return run_iteration(d, err);
}

static enum sl_status
warm_up_variants(struct diagnoser *d, struct sl_error *err)
{
	enum sl_status rc = sl__variant_warm_up(&d->single, d->settles, err);
	struct sl_error why;

	if (rc)
		return rc;
	rc = sl__variant_warm_up(&d->doubled, d->settles, &why);
	return forgive_doubled(d, rc, &why, err);
}

/* What the next round will take is the mean of those before. */
static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct sl__runner *r = &((struct diagnoser *)ctx)->runner;

	(void)err;
	r->ahead_ns = (r->now_ns - r->phase_ns) / (taken->round + 1);
	return SL_OK;
}

static int
wants_more(void *ctx)
{
	const struct diagnoser *d = ctx;

	return d->runner.n_rounds < ROUNDS_WANTED;
}

/* Three rounds at least, two where a third would take all to more than twice
 * the budget: what takes so long is hardly disturbed by what is short. */
static enum sl_status
run_rounds(struct diagnoser *d, struct sl_error *err)
{
	const struct sl__phase_spec experiments = {
		.name = "experiments",
		.n_arms = N_KINDS,
		.min_rounds = ROUNDS_LEAST,
		.max_rounds = MAX_ROUNDS,
		.time_s = d->how->time_s,
		.more_s = 2 * d->how->time_s,
		.run = run_slot,
		.close = close_round,
		.wants_more = wants_more,
		.ctx = d,
	};
	struct sl__monitor monitor;
	enum sl_status rc = warm_up_variants(d, err);

	if (rc)
		return rc;
	sl__monitor_open(&monitor, &d->how->control.with);
	rc = sl__runner_run(&d->runner, &experiments, err);
	sl__monitor_close(&monitor, &d->out->noise);
	d->out->n_rounds = d->runner.n_begun;
	d->out->is_interrupted = d->runner.stopped_by == SL_STOP_INTERRUPT;
	return rc;
}

/* The lower quartile: whatever disturbs a step makes it longer, and so moves
 * a median. */
static struct sl_timed
timed(double *ns, size_t n, const char *absent)
{
	struct sl_timed t = {.ns = (double)NAN, .spread = (double)NAN, .n = n};

	t.absent = n ? NULL : absent;
	if (!n)
		return t;
	sl__sort(ns, n);
	t.ns = sl__quantile_sorted(ns, n, 0.25);
	t.spread = t.ns > 0 ? sl__median_sorted(ns, n) / t.ns - 1 : (double)NAN;
	return t;
}

static const char *
reason_doubled(const struct diagnoser *d, size_t i)
{
	if (d->out->no_doubled)
		return d->out->no_doubled;
	if (d->doubled.steps[i] == SIZE_MAX)
		return "it is planned otherwise for twice the batch";
	if (!d->doubled.is_same[i])
		return "another kernel serves twice the batch";
	return d->out->is_interrupted ? "interrupted" : "it did not run";
}

static const char *
reason(const struct diagnoser *d, size_t i, int condition)
{
	const struct hot *h = &d->hot[i];
	int is_single = condition == SL_CONDITION_ALONE ||
			condition == SL_CONDITION_HOGGED;

	if (!h->is_timed)
		return "it runs on plain loops";
	if (condition == SL_CONDITION_DOUBLED)
		return reason_doubled(d, i);
	if (condition == SL_CONDITION_COLD && d->out->no_cold)
		return d->out->no_cold;
	if (condition == SL_CONDITION_HOGGED && d->out->no_hog)
		return d->out->no_hog;
	if (is_single && d->out->no_alone)
		return d->out->no_alone;
	if (is_single && d->single.steps[i] == SIZE_MAX)
		return "it is planned otherwise for one thread";
	if (condition == SL_CONDITION_WARM && !h->runs_twice)
		return "its operands are too large to be kept twice";
	return d->out->is_interrupted ? "interrupted" : "it did not run";
}

/* What a call does at twice the batch. */
static void
take_doubled(const struct diagnoser *d, size_t i, struct sl_response *r)
{
	const struct sl__step *s;

	r->doubled_flops = r->doubled_bytes = (double)NAN;
	if (!d->hot[i].n[SL_CONDITION_DOUBLED])
		return;
	s = &d->doubled.plan->current->steps[d->doubled.steps[i]];
	r->doubled_flops = (double)s->executed_flops;
	r->doubled_bytes = (double)s->n_bytes;
}

/* Of a recurrence, along its sequence; else 1. */
static double
dependent_steps(const struct sl__program *p, const struct sl__step *s)
{
	const struct sl__node *node;
	const struct sl__type *x;
	int axis;

	if (s->node == SL__NONE)
		return 1;
	node = &p->graph->nodes[s->node];
	if (!sl__is_op(node, SL__OP_ONNX_LSTM) &&
	    !sl__is_op(node, SL__OP_ONNX_GRU) &&
	    !sl__is_op(node, SL__OP_ONNX_RNN))
		return 1;
	x = &p->shapes->types[node->inputs[0]];
	axis = sl__attribute_int(node, "layout", 0) != 0;
	return axis < x->rank ? (double)x->dims[axis] : 1;
}

static void
take_responses(struct diagnoser *d, struct sl_response *responses)
{
	for (size_t i = 0; i < d->n_hot; i++) {
		struct hot *h = &d->hot[i];

		responses[i].step = h->step;
		responses[i].n_dependent = dependent_steps(
			d->subject->plan->current,
			&d->subject->plan->current->steps[h->step]);
		responses[i].is_same_alone = h->is_timed &&
					     d->single.is_same[i];
		for (int c = 0; c < SL_N_CONDITIONS; c++)
			responses[i].at[c] =
				timed(h->ns[c], h->n[c], reason(d, i, c));
		take_doubled(d, i, &responses[i]);
	}
	d->out->responses = responses;
	d->out->n = d->n_hot;
}

/* The plans beside the subject's.  A step that was planned twice took the
 * second time what it will take the third. */
static enum sl_status
open_variants(struct diagnoser *d, struct sl_error *err)
{
	struct sl__variant_options how = {.of = d->subject,
					  .steps = d->how->steps,
					  .n = d->n_hot,
					  .plan_s = d->how->time_s};
	double plan_ns = d->subject->plan_ns;
	enum sl_status rc =
		sl__variant_open_one_thread(&d->single, &how, d->arena, err);

	if (rc)
		return rc;
	d->out->no_alone = d->single.absent;
	if (d->single.subject.plan)
		plan_ns = fmin(plan_ns, d->single.subject.plan_ns);
	rc = sl__variant_open_double_batch(&d->doubled, &how, plan_ns, d->arena,
					   err);
	d->out->no_doubled = d->doubled.absent;
	return rc;
}

/* Whether a CPU can be spared for the hog, and what the hog does. */
static enum sl_status
try_hog(struct diagnoser *d, struct sl_error *err)
{
	struct sl__hog_effect effect;
	struct sl_error why;
	enum sl_status rc;

	if (!d->how->probes) {
		d->out->no_cold = d->out->no_hog = "the machine's ceilings "
						   "were not measured";
		return SL_OK;
	}
	if (d->out->no_alone) {
		d->out->no_hog = d->out->no_alone;
		return SL_OK;
	}
	rc = sl__hog_start(d->how->probes, 1, &why);
	if (rc == SL_E_ABSENT) {
		return sl__arena_copy_text(d->arena, &d->out->no_hog, why.text,
					   err);
	}
	if (rc)
		return sl__fail(err, rc, "%s", why.text);
	sl__hog_stop(d->how->probes);
	sl__hog_effect(d->how->probes, &effect);
	d->out->hog = (struct sl_hog_effect){effect.dram, effect.l3, effect.l2,
					     effect.compute};
	return SL_OK;
}

static enum sl_status
prepare_steps(struct diagnoser *d, struct sl_error *err)
{
	const struct sl__program *p = d->subject->plan->current;
	uint64_t most = 0;

	for (size_t i = 0; i < d->n_hot; i++) {
		struct hot *h = &d->hot[i];
		const struct sl__step *s;
		uint64_t n_bytes;

		h->step = d->how->steps[i];
		s = &p->steps[h->step];
		n_bytes = sl__operands_bytes(p, s);
		h->is_timed = s->path != SL_PATH_REFERENCE &&
			      s->path != SL_PATH_STEPWISE && !s->is_inner;
		h->runs_twice = n_bytes <= TWICE_MOST;
		if (h->is_timed)
			d->slot_of[h->step] = (unsigned char)i;
		if (h->is_timed && h->runs_twice && n_bytes > most)
			most = n_bytes;
		for (int c = 0; c < SL_N_CONDITIONS; c++) {
			h->ns[c] = sl__arena_array(&d->scratch, MAX_ROUNDS,
						   sizeof(double));
			if (!h->ns[c])
				return sl__fail_nomem(err);
		}
	}
	d->saved = sl__arena_alloc(&d->scratch, (size_t)most);
	return d->saved ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
prepare(struct diagnoser *d, struct sl_error *err)
{
	const struct sl__program *p = d->subject->plan->current;
	uint64_t touched = 0;
	enum sl_status rc;

	d->hot = sl__arena_array(&d->scratch, d->n_hot, sizeof(*d->hot));
	d->slot_of = sl__arena_array(&d->scratch, p->n_steps + 1, 1);
	if (!d->hot || !d->slot_of)
		return sl__fail_nomem(err);
	memset(d->slot_of, NO_SLOT, p->n_steps);
	for (size_t i = 0; i < p->n_steps; i++)
		touched += p->steps[i].n_bytes;
	d->settles = !d->how->cache_bytes || touched / 2 < d->how->cache_bytes;
	rc = prepare_steps(d, err);
	if (!rc)
		rc = open_variants(d, err);
	if (!rc)
		rc = try_hog(d, err);
	return rc;
}

enum sl_status
sl__diagnose(struct sl__step_responses *out, struct sl__subject_model *subject,
	     const struct sl__diagnose_options *how, struct sl__arena *arena,
	     struct sl_error *err)
{
	struct diagnoser d = {.how = how,
			      .out = out,
			      .arena = arena,
			      .subject = subject,
			      .n_hot = how->n_steps,
			      .last = -1};
	struct sl_response *responses;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	out->hot_share = how->hot_share;
	out->hog.dram = out->hog.l3 = out->hog.l2 = out->hog.compute =
		(double)NAN;
	if (how->n_steps > SL__HOT_MOST)
		d.n_hot = SL__HOT_MOST;
	d.n_threads = sl_plan_n_threads(subject->plan);
	d.runner.control = how->control;
	sl__ticker_init(&d.ticker, how->control.with.clock);
	d.runner.order = d.order;
	sl__runner_start_budget(&d.runner, how->seed);
	sl__arena_init(&d.scratch, subject->how.allocator);
	responses = sl__arena_array(arena, d.n_hot, sizeof(*responses));
	rc = responses ? prepare(&d, err) : sl__fail_nomem(err);
	if (!rc)
		rc = run_rounds(&d, err);
	if (responses && !rc)
		take_responses(&d, responses);
	sl__variant_close(&d.single);
	sl__variant_close(&d.doubled);
	sl__arena_release(&d.scratch);
	out->elapsed_s = sl__runner_elapsed_s(&d.runner);
	return rc;
}
