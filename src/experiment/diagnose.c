/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - steps of a plan timed under changed conditions.
 *
 * A round has a pass for each condition, in an order drawn afresh, so that
 * whatever happens to the machine happens to all of them alike.  In the first
 * kind of pass every hot step runs twice in a row: what the first run takes is
 * its time in place, what the second takes is its time with everything warm.
 * A step that gives the same bits when it runs again is simply run again;
 * any other (one that adds to its own operand) has what it wrote put back.
 * That is found out once, before the clock is looked at.
 */
#include "diagnose.h"
#include "clock.h"
#include "covariates.h"
#include "parallel.h"
#include "quantile.h"
#include "rng.h"
#include "status.h"
#include "summary.h"
#include "tape.h"

#include <math.h>
#include <string.h>

#include "banned.h"

enum {
	MIN_ROUNDS = 3,
	MAX_ROUNDS = 31,
	TWICE_MOST = 1 << 29,      /* bytes of a step's operands */
	NO_SLOT = SL__HOT_MOST + 1 /* of steps that are not hot */
};

static const uint64_t SINGLE_MOST = 2000000000; /* bytes of weights */

/* Passes; in the first kind steps are timed in place and warm. */
enum kind { IN_PLACE = 0, COLD, ALONE, HOGGED, N_KINDS };

/* What is known of a hot step. */
struct hot {
	size_t step;
	size_t single;   /* the same step of the single plan; SIZE_MAX */
	int is_same;     /* that does as much, with the same kernel */
	int is_timed;    /* not on a reference path */
	int runs_twice;  /* its operands are small enough */
	int is_repeated; /* running again changes nothing */
	double *ns[SL_N_CONDITIONS]; /* [MAX_ROUNDS] */
	size_t n[SL_N_CONDITIONS];
};

struct diagnoser {
	const struct sl__diagnose_options *how;
	struct sl__diagnosis *out;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl__subject *subject;
	struct sl__subject single; /* of one thread; plan NULL: none */
	struct sl_plan *one;       /* its plan, or the subject's own where that
				      has one thread; NULL: none */
	struct hot *hot;
	size_t n_hot;
	unsigned char *slot_of;        /* by step of the plan */
	unsigned char *single_slot_of; /* by step of the single plan */
	unsigned char *saved;          /* operands of a step */
	struct sl__rng rng;
	enum kind kind; /* of the pass under way */
	int last;       /* kind of the pass before; -1: none */
	int settles;    /* caches remember one pass in the next */
	int n_threads;
	double ticks_per_ns, reading_ns;
	uint64_t start_ns, deadline_ns;
};

const char *
sl_condition_text(enum sl_condition condition)
{
	static const char *const words[SL_N_CONDITIONS] = {
		"in place", "warm", "cold", "alone", "hogged"};

	return (unsigned)condition < SL_N_CONDITIONS ? words[condition] : "";
}

size_t
sl__hot_count(const struct sl_profile *profile, double share)
{
	double sum = 0;
	size_t n = 0;

	/* A hair below, so that rounding asks for no further one. */
	while (n < profile->n_operations && n < SL__HOT_MOST &&
	       sum < share - 1e-9)
		sum += profile->operations[profile->by_time[n++]].share;
	return n;
}

/* ----------------------------------------------------------------- one step */

static void
nothing(int rank, int n, void *ctx)
{
	(void)rank;
	(void)n;
	(void)ctx;
}

/* A step on the clock, its threads awake. */
static enum sl_status
time_step(struct diagnoser *d, struct sl__program *p, size_t i, double *ns,
	  struct sl_error *err)
{
	uint64_t begin, end;
	enum sl_status rc;

	begin = sl__ticks();
	rc = sl__guide_step(p, i, err);
	end = sl__ticks();
	*ns = fmax((double)(end - begin) / d->ticks_per_ns - d->reading_ns, 0);
	return rc;
}

static void
note(struct hot *h, enum sl_condition condition, double ns)
{
	if (h->n[condition] < MAX_ROUNDS)
		h->ns[condition][h->n[condition]++] = ns;
}

/* Operands of a step that are no weights, copied one after the other. */
struct copying {
	const struct sl__program *program;
	const struct sl__step *step;
	unsigned char *saved;
	int puts_back;
};

static uint64_t
movable_bytes(const struct sl__program *p, const struct sl__step *s, uint32_t k)
{
	const struct sl__buffer *b = &p->buffers[s->operands[k]];

	return p->buffers[b->base].room == SL__ROOM_CONSTANT ? 0 : b->n_bytes;
}

static uint64_t
all_movable_bytes(const struct sl__program *p, const struct sl__step *s)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < s->n_operands; k++)
		sum += movable_bytes(p, s, k);
	return sum;
}

/* Each thread its part of each operand, so that it lies in that thread's
 * cache, as kernels mostly divide it. */
static void
copy_part(int rank, int n, void *ctx)
{
	const struct copying *c = ctx;
	unsigned char *saved = c->saved;

	for (uint32_t k = 0; k < c->step->n_operands; k++) {
		uint64_t n_bytes = movable_bytes(c->program, c->step, k);
		int64_t first, end;
		size_t size;

		sl__parallel_part((int64_t)n_bytes, rank, n, &first, &end);
		size = (size_t)(end - first);
		if (size && c->puts_back)
			memcpy(c->step->at[k] + first, saved + first, size);
		else if (size)
			memcpy(saved + first, c->step->at[k] + first, size);
		saved += n_bytes;
	}
}

static void
copy_operands(struct diagnoser *d, struct sl__program *p, size_t i,
	      int puts_back)
{
	struct copying c = {p, &p->steps[i], d->saved, puts_back};

	sl__parallel(d->n_threads, copy_part, &c);
}

static int
differs(const struct diagnoser *d, const struct sl__program *p, size_t i)
{
	const struct sl__step *s = &p->steps[i];
	const unsigned char *saved = d->saved;

	for (uint32_t k = 0; k < s->n_operands; k++) {
		size_t size = (size_t)movable_bytes(p, s, k);

		if (size && memcmp(s->at[k], saved, size))
			return 1;
		saved += size;
	}
	return 0;
}

/* Finds out whether a step may be run again just so. */
static enum sl_status
try_twice(struct diagnoser *d, struct hot *h, struct sl__program *p,
	  struct sl_error *err)
{
	enum sl_status rc = sl__guide_step(p, h->step, err);

	if (rc || !h->runs_twice)
		return rc;
	copy_operands(d, p, h->step, 0);
	rc = sl__guide_step(p, h->step, err);
	h->is_repeated = !differs(d, p, h->step);
	if (!h->is_repeated)
		copy_operands(d, p, h->step, 1);
	return rc;
}

static enum sl_status
run_twice(struct diagnoser *d, struct hot *h, struct sl__program *p,
	  struct sl_error *err)
{
	double ns;
	enum sl_status rc = time_step(d, p, h->step, &ns, err);

	if (rc)
		return rc;
	note(h, SL_CONDITION_IN_PLACE, ns);
	if (!h->runs_twice)
		return SL_OK;
	if (!h->is_repeated)
		copy_operands(d, p, h->step, 0);
	rc = time_step(d, p, h->step, &ns, err);
	if (rc)
		return rc;
	note(h, SL_CONDITION_WARM, ns);
	if (!h->is_repeated)
		copy_operands(d, p, h->step, 1);
	return SL_OK;
}

static enum sl_status
run_cold(struct diagnoser *d, struct hot *h, struct sl__program *p,
	 struct sl_error *err)
{
	double ns;
	enum sl_status rc;

	sl__beside_evict(d->how->beside);
	/* Threads that have waited so long sleep. */
	sl__parallel(d->n_threads, nothing, NULL);
	rc = time_step(d, p, h->step, &ns, err);
	if (!rc)
		note(h, SL_CONDITION_COLD, ns);
	return rc;
}

static enum sl_status
run_single(struct diagnoser *d, struct hot *h, struct sl__program *p,
	   struct sl_error *err)
{
	double ns;
	enum sl_status rc = time_step(d, p, h->single, &ns, err);

	if (!rc)
		note(h,
		     d->kind == ALONE ? SL_CONDITION_ALONE
				      : SL_CONDITION_HOGGED,
		     ns);
	return rc;
}

/* ------------------------------------------------------------------- passes */

static enum sl_status
around_trial(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct diagnoser *d = ctx;

	if (d->slot_of[i] == NO_SLOT)
		return sl__guide_step(p, i, err);
	return try_twice(d, &d->hot[d->slot_of[i]], p, err);
}

static enum sl_status
around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct diagnoser *d = ctx;
	int is_single = d->kind == ALONE || d->kind == HOGGED;
	unsigned slot = is_single ? d->single_slot_of[i] : d->slot_of[i];

	if (slot == NO_SLOT)
		return sl__guide_step(p, i, err);
	if (is_single)
		return run_single(d, &d->hot[slot], p, err);
	if (d->kind == COLD)
		return run_cold(d, &d->hot[slot], p, err);
	return run_twice(d, &d->hot[slot], p, err);
}

static int
needs_settling(const struct diagnoser *d)
{
	int here = d->kind == ALONE || d->kind == HOGGED;
	int before = d->last == ALONE || d->last == HOGGED;

	return d->settles && (d->last != (int)d->kind) &&
	       (here != before || d->last == COLD || d->last == HOGGED ||
		d->kind == HOGGED);
}

static enum sl_status
run_pass(struct diagnoser *d, struct sl_error *err)
{
	const struct sl__guide guide = {around, d};
	struct sl_plan *plan = d->kind == ALONE || d->kind == HOGGED
				       ? d->one
				       : d->subject->plan;
	enum sl_status rc = SL_OK;

	if (d->kind == HOGGED) {
		rc = sl__hog_start(d->how->beside, 1, err);
		if (rc)
			return rc;
	}
	if (needs_settling(d))
		rc = sl_plan_run(plan, err);
	if (!rc)
		rc = sl__plan_guide(plan, &guide, err);
	if (d->kind == HOGGED)
		sl__hog_stop(d->how->beside);
	d->last = (int)d->kind;
	return rc;
}

static int
is_absent(const struct diagnoser *d, enum kind kind)
{
	return (kind == COLD && d->out->no_cold) ||
	       (kind == ALONE && d->out->no_alone) ||
	       (kind == HOGGED && d->out->no_hog);
}

static int
is_interrupted(const struct diagnoser *d)
{
	return d->how->interrupt && *d->how->interrupt;
}

static enum sl_status
run_round(struct diagnoser *d, struct sl_error *err)
{
	size_t order[N_KINDS];
	enum sl_status rc = SL_OK;

	sl__rng_permutation(&d->rng, order, N_KINDS);
	for (size_t k = 0; !rc && k < N_KINDS && !is_interrupted(d); k++) {
		d->kind = (enum kind)order[k];
		if (!is_absent(d, d->kind))
			rc = run_pass(d, err);
	}
	d->out->n_rounds++;
	return rc;
}

/* ------------------------------------------------------------------- rounds */

static void
tell_progress(const struct diagnoser *d, uint64_t now_ns)
{
	struct sl_progress now = {.what = "experiments",
				  .median_ns = (double)NAN};
	double spent = (double)(now_ns - d->start_ns) / 1e9;

	if (!d->how->progress)
		return;
	now.n_done = d->out->n_rounds;
	now.share = fmin(spent / d->how->time_s, 1);
	now.remaining_s = fmax(d->how->time_s - spent, 0);
	d->how->progress(&now, d->how->progress_ctx);
}

static int
is_finished(struct diagnoser *d)
{
	uint64_t now_ns = sl__clock_now_ns(NULL);
	size_t n = d->out->n_rounds;

	tell_progress(d, now_ns);
	d->out->is_interrupted = is_interrupted(d);
	return d->out->is_interrupted || n >= MAX_ROUNDS ||
	       (n >= MIN_ROUNDS && now_ns >= d->deadline_ns);
}

static enum sl_status
run_rounds(struct diagnoser *d, struct sl_error *err)
{
	const struct sl__guide trial = {around_trial, d};
	struct sl__watch watch;
	enum sl_status rc = sl__plan_guide(d->subject->plan, &trial, err);

	if (!rc && d->one)
		rc = sl_plan_run(d->one, err);
	sl__watch_open(&watch);
	while (!rc && !is_finished(d))
		rc = run_round(d, err);
	sl__watch_close(&watch, &d->out->noise);
	return rc;
}

/* ------------------------------------------------------------------ results */

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
reason(const struct diagnoser *d, const struct hot *h, int condition)
{
	int is_single = condition == SL_CONDITION_ALONE ||
			condition == SL_CONDITION_HOGGED;

	if (!h->is_timed)
		return "it runs on plain loops";
	if (condition == SL_CONDITION_COLD && d->out->no_cold)
		return d->out->no_cold;
	if (condition == SL_CONDITION_HOGGED && d->out->no_hog)
		return d->out->no_hog;
	if (is_single && d->out->no_alone)
		return d->out->no_alone;
	if (is_single && h->single == SIZE_MAX)
		return "it is planned otherwise for one thread";
	if (condition == SL_CONDITION_WARM && !h->runs_twice)
		return "its operands are too large to be kept twice";
	return d->out->is_interrupted ? "interrupted" : "it did not run";
}

static void
take_responses(struct diagnoser *d, struct sl_response *responses)
{
	for (size_t i = 0; i < d->n_hot; i++) {
		struct hot *h = &d->hot[i];

		responses[i].step = h->step;
		responses[i].is_same_alone = h->is_same;
		for (int c = 0; c < SL_N_CONDITIONS; c++)
			responses[i].at[c] =
				timed(h->ns[c], h->n[c], reason(d, h, c));
	}
	d->out->responses = responses;
	d->out->n = d->n_hot;
}

/* -------------------------------------------------------------- preparation */

/* The step of the single plan that does what step i of the other does: the
 * same node, and as many of that name before it. */
static size_t
counterpart(const struct sl__program *all, const struct sl__program *one,
	    size_t i)
{
	const struct sl__step *s = &all->steps[i];
	size_t nth = 0;

	for (size_t k = 0; k < i; k++)
		nth += all->steps[k].node == s->node &&
		       !strcmp(all->steps[k].name, s->name);
	for (size_t k = 0; k < one->n_steps; k++) {
		const struct sl__step *t = &one->steps[k];

		if (t->node == s->node && !strcmp(t->name, s->name) &&
		    t->nominal_flops == s->nominal_flops && !nth--)
			return k;
	}
	return SIZE_MAX;
}

static void
pair_steps(struct diagnoser *d)
{
	const struct sl__program *all = d->subject->plan->current;
	const struct sl__program *one = d->one->current;

	memset(d->single_slot_of, NO_SLOT, one->n_steps);
	for (size_t i = 0; i < d->n_hot; i++) {
		struct hot *h = &d->hot[i];
		const struct sl__step *a = &all->steps[h->step], *b;

		h->single = counterpart(all, one, h->step);
		if (!h->is_timed || h->single == SIZE_MAX)
			continue;
		b = &one->steps[h->single];
		d->single_slot_of[h->single] = (unsigned char)i;
		h->is_same = !strcmp(a->kernel, b->kernel) &&
			     a->executed_flops == b->executed_flops;
	}
}

static uint64_t
weight_bytes(const struct sl_plan *plan)
{
	struct sl_plan_memory memory;

	sl_plan_memory(plan, &memory);
	return memory.weight_bytes + memory.mapped_bytes;
}

/* A plan of one thread, where there is more than one and it is not too
 * large. */
static enum sl_status
open_single(struct diagnoser *d, struct sl_error *err)
{
	struct sl__subject_options how = d->subject->options;
	struct sl_plan_options plan = {.struct_size = sizeof(plan)};
	enum sl_status rc = SL_OK;

	if (d->n_threads > 1 && weight_bytes(d->subject->plan) > SINGLE_MOST) {
		d->out->no_alone = "a second plan of so large a model would "
				   "take too much memory";
		return SL_OK;
	}
	if (how.plan)
		plan = *how.plan;
	plan.n_threads = 1;
	how.plan = &plan;
	if (d->n_threads > 1)
		rc = sl__subject_open(&d->single, d->subject->graph, &how, err);
	if (rc)
		return rc;
	d->one = d->n_threads > 1 ? d->single.plan : d->subject->plan;
	d->single_slot_of =
		sl__arena_array(&d->scratch, d->one->current->n_steps + 1, 1);
	if (!d->single_slot_of)
		return sl__fail_nomem(err);
	pair_steps(d);
	return SL_OK;
}

/* Whether a CPU can be spared for the hog, and what the hog does. */
static enum sl_status
try_hog(struct diagnoser *d, struct sl_error *err)
{
	struct sl__hog_effect effect;
	struct sl_error why;
	enum sl_status rc;

	if (!d->how->beside) {
		d->out->no_cold = d->out->no_hog = "the machine's ceilings "
						   "were not measured";
		return SL_OK;
	}
	if (d->out->no_alone) {
		d->out->no_hog = d->out->no_alone;
		return SL_OK;
	}
	rc = sl__hog_start(d->how->beside, 1, &why);
	if (rc == SL_E_ABSENT) {
		d->out->no_hog = sl__arena_string(d->arena, why.text);
		return d->out->no_hog ? SL_OK : sl__fail_nomem(err);
	}
	if (rc)
		return sl__fail(err, rc, "%s", why.text);
	sl__hog_stop(d->how->beside);
	sl__hog_effect(d->how->beside, &effect);
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
		h->single = SIZE_MAX;
		s = &p->steps[h->step];
		n_bytes = all_movable_bytes(p, s);
		h->is_timed = s->path != SL_PATH_REFERENCE &&
			      s->path != SL_PATH_STEPWISE;
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
		rc = open_single(d, err);
	if (!rc)
		rc = try_hog(d, err);
	return rc;
}

/* The shortest of many runs of readings. */
static double
reading_cost(double ticks_per_ns)
{
	enum { READINGS = 64, TRIES = 64 };
	uint64_t least = UINT64_MAX;

	for (int k = 0; k < TRIES; k++) {
		uint64_t begin = sl__ticks(), end = begin;

		for (int i = 0; i < READINGS; i++)
			end = sl__ticks();
		if (end - begin < least)
			least = end - begin;
	}
	return (double)least / READINGS / ticks_per_ns;
}

enum sl_status
sl__diagnose(struct sl__diagnosis *out, struct sl__subject *subject,
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
	out->hog.dram = out->hog.l3 = out->hog.l2 = out->hog.compute =
		(double)NAN;
	if (how->n_steps > SL__HOT_MOST)
		d.n_hot = SL__HOT_MOST;
	d.n_threads = sl_plan_n_threads(subject->plan);
	d.ticks_per_ns = sl__ticks_per_ns();
	d.reading_ns = reading_cost(d.ticks_per_ns);
	d.start_ns = sl__clock_now_ns(NULL);
	d.deadline_ns = d.start_ns + (uint64_t)(how->time_s * 1e9);
	sl__rng_init(&d.rng, how->seed);
	sl__arena_init(&d.scratch, subject->how.allocator);
	responses = sl__arena_array(arena, d.n_hot, sizeof(*responses));
	rc = responses ? prepare(&d, err) : sl__fail_nomem(err);
	if (!rc)
		rc = run_rounds(&d, err);
	if (!rc)
		take_responses(&d, responses);
	sl__subject_close(&d.single);
	sl__arena_release(&d.scratch);
	out->elapsed_s = (double)(sl__clock_now_ns(NULL) - d.start_ns) / 1e9;
	return rc;
}
