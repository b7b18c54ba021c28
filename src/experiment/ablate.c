/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ablate.c - how fast a model is without some of its steps.
 *
 * Full and ablated iterations both go through the guide.  In an ablated
 * iteration the outputs of a step that is left out are put back between two
 * readings of the clock, and the time between these is taken off the iteration.
 *  A full iteration runs every step and puts nothing back: the step itself
 * leaves its outputs in the caches, and the copy does the same in its place.
 * What it would have read is read, too: a hundred megabytes of weights push
 * everything else out of the caches, and what is left would seem to gain.
 *  Before an iteration counts, one like it has run, so that it finds what it
 * would find if it always ran so.
 */
#include "experiment/ablate.h"
#include "base/clock.h"
#include "base/status.h"
#include "compute/parallel.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/*
 * What steps of a plan write, kept to stand in for them.
 *
 * A step does not say which of its operands it writes.  A buffer that it is
 * the first to name is written by it; of the others a copy is taken before
 * the step and compared after it, which finds results that lie over an input
 * and parts of a larger value.  What the last run left in a buffer would look
 * like a result that is there already, so buffers are overwritten before the
 * first step that names them.
 */

enum {
	PARALLEL_BYTES = 1 << 16, /* copied by one thread up to this */
	NOTHING = 0xA5            /* what a buffer holds before its time */
};

static const char NO_MEMORY[] = "no memory for a copy of its outputs";

static const char *
why_not(const struct sl__step *step)
{
	if (step->is_inner)
		return "it is part of a loop, which runs it several times";
	/* Only branches and loops have a step to go on with. */
	if (step->jumps || step->target)
		return "it decides which steps follow";
	if (step->path == SL_PATH_STEPWISE)
		return "its outputs have no fixed place: sizes are found when "
		       "it runs";
	return NULL;
}

static const struct sl__buffer *
base_of(const struct sl__program *p, uint32_t buffer)
{
	return &p->buffers[p->buffers[buffer].base];
}

/* Whether a step may write an operand that somebody needs afterwards. */
static int
is_candidate(const struct sl__program *p, size_t i, uint32_t buffer)
{
	const struct sl__buffer *base = base_of(p, buffer);

	if (!p->buffers[buffer].n_bytes ||
	    base->category == SL__CATEGORY_CONSTANT ||
	    base->category == SL__CATEGORY_INPUT)
		return 0;
	return base->category != SL__CATEGORY_WORKSPACE || base->last > i;
}

static int
is_listed(const struct sl__stored_step_outputs *s, const unsigned char *at,
	  uint64_t n_bytes)
{
	for (size_t k = 0; k < s->n_parts; k++) {
		if (s->parts[k].at == at && s->parts[k].n_bytes == n_bytes)
			return 1;
	}
	return 0;
}

/* Lists every operand that may be written; find() leaves those that are. */
static void
list_candidates(const struct sl__program *p, size_t i,
		struct sl__stored_step_outputs *s)
{
	const struct sl__step *step = &p->steps[i];

	s->n_parts = 0;
	s->n_bytes = 0;
	for (uint32_t k = 0; k < step->n_operands; k++) {
		uint32_t id = step->operands[k];
		uint64_t n_bytes = p->buffers[id].n_bytes;

		if (!is_candidate(p, i, id) ||
		    is_listed(s, step->at[k], n_bytes))
			continue;
		s->parts[s->n_parts++] =
			(struct sl__stored_range){step->at[k], NULL, n_bytes};
		s->n_bytes += n_bytes;
	}
}

enum sl_status
sl__stand_in_outputs_open(struct sl__stand_in_outputs *out,
			  struct sl_plan *plan, struct sl__arena *arena,
			  struct sl_error *err)
{
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = sl__plan_select_program(plan, err);
	if (rc)
		return rc;
	out->plan = plan;
	out->arena = arena;
	out->n_steps = plan->current->n_steps;
	out->steps = sl__arena_array(arena, out->n_steps, sizeof(*out->steps));
	return out->steps ? SL_OK : sl__fail_nomem(err);
}

/* Whether nobody has written there before this step. */
static int
is_new(const struct sl__program *p, size_t i, const unsigned char *at)
{
	const struct sl__step *step = &p->steps[i];

	for (uint32_t k = 0; k < step->n_operands; k++) {
		if (step->at[k] == at &&
		    base_of(p, step->operands[k])->first < i)
			return 0;
	}
	return 1;
}

static void
leave_written(struct sl__program *p, size_t i,
	      struct sl__stored_step_outputs *s, const unsigned char *before)
{
	size_t n = 0;

	s->n_bytes = 0;
	for (size_t k = 0; k < s->n_parts; k++) {
		const struct sl__stored_range part = s->parts[k];
		int is_same = !memcmp(before, part.at, (size_t)part.n_bytes);

		before += part.n_bytes;
		if (is_same && !is_new(p, i, part.at))
			continue;
		s->parts[n++] = part;
		s->n_bytes += part.n_bytes;
	}
	s->n_parts = n;
}

/* Overwrites buffers that this step is the first to name. */
static void
clear_new(struct sl__program *p, size_t i)
{
	const struct sl__step *step = &p->steps[i];

	for (uint32_t k = 0; k < step->n_operands; k++) {
		const struct sl__buffer *base = base_of(p, step->operands[k]);

		if (base->first == i &&
		    base->category != SL__CATEGORY_CONSTANT &&
		    base->category != SL__CATEGORY_INPUT)
			memset(base->data, NOTHING, (size_t)base->n_bytes);
	}
}

static enum sl_status
find_around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct sl__stand_in_outputs *stored = ctx;
	struct sl__stored_step_outputs *s = &stored->steps[i];
	unsigned char *to = stored->before;
	enum sl_status rc;

	clear_new(p, i);
	if (!s->is_wanted || s->absent)
		return sl__run_step(p, i, err);
	for (size_t k = 0; k < s->n_parts; k++) {
		memcpy(to, s->parts[k].at, (size_t)s->parts[k].n_bytes);
		to += s->parts[k].n_bytes;
	}
	rc = sl__run_step(p, i, err);
	s->has_run = 1;
	if (!rc)
		leave_written(p, i, s, stored->before);
	return rc;
}

/* The most that one step may write; 0: there is no step to look at. */
static uint64_t
most_bytes(const struct sl__stand_in_outputs *stored)
{
	uint64_t most = 0;

	for (size_t i = 0; i < stored->n_steps; i++) {
		const struct sl__stored_step_outputs *s = &stored->steps[i];

		if (s->is_wanted && !s->absent && s->n_bytes > most)
			most = s->n_bytes;
	}
	return most;
}

/* Room for the operands of the largest step for which there is memory. */
static void
reserve_before(struct sl__stand_in_outputs *stored)
{
	uint64_t most = most_bytes(stored);

	stored->before = sl__arena_alloc(stored->arena, (size_t)most);
	while (!stored->before && most) {
		for (size_t i = 0; i < stored->n_steps; i++) {
			struct sl__stored_step_outputs *s = &stored->steps[i];

			if (s->is_wanted && !s->absent && s->n_bytes == most)
				s->absent = NO_MEMORY;
		}
		most = most_bytes(stored);
		stored->before = sl__arena_alloc(stored->arena, (size_t)most);
	}
}

enum sl_status
sl__stand_in_outputs_find(struct sl__stand_in_outputs *stored,
			  struct sl_error *err)
{
	struct sl__program *p = stored->plan->current;
	struct sl__interceptor interceptor = {find_around, stored};

	for (size_t i = 0; i < stored->n_steps; i++) {
		struct sl__stored_step_outputs *s = &stored->steps[i];

		if (!s->is_wanted)
			continue;
		s->absent = why_not(&p->steps[i]);
		s->parts = sl__arena_array(stored->arena,
					   p->steps[i].n_operands,
					   sizeof(*s->parts));
		if (!s->parts)
			return sl__fail_nomem(err);
		list_candidates(p, i, s);
	}
	reserve_before(stored);
	if (!stored->before)
		return sl__fail_nomem(err);
	return sl__plan_intercept(stored->plan, &interceptor, err);
}

static int
is_kept(const struct sl__stored_step_outputs *s)
{
	return s->is_wanted && !s->absent && s->has_run;
}

static enum sl_status
fill_around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct sl__stand_in_outputs *stored = ctx;
	struct sl__stored_step_outputs *s = &stored->steps[i];
	enum sl_status rc = sl__run_step(p, i, err);

	if (rc || !is_kept(s))
		return rc;
	for (size_t k = 0; k < s->n_parts; k++)
		memcpy(s->parts[k].image, s->parts[k].at,
		       (size_t)s->parts[k].n_bytes);
	return SL_OK;
}

/* Images of all parts, or of none. */
static void
reserve_images(struct sl__stand_in_outputs *stored,
	       struct sl__stored_step_outputs *s)
{
	struct sl__arena_mark mark = sl__arena_mark(stored->arena);

	for (size_t k = 0; k < s->n_parts; k++) {
		s->parts[k].image = sl__arena_alloc(
			stored->arena, (size_t)s->parts[k].n_bytes);
		if (s->parts[k].image)
			continue;
		s->absent = NO_MEMORY;
		while (k--)
			s->parts[k].image = NULL;
		sl__arena_rewind(stored->arena, mark);
		return;
	}
}

enum sl_status
sl__stand_in_outputs_copy(struct sl__stand_in_outputs *stored,
			  struct sl_error *err)
{
	struct sl__interceptor interceptor = {fill_around, stored};

	for (size_t i = 0; i < stored->n_steps; i++) {
		if (is_kept(&stored->steps[i]))
			reserve_images(stored, &stored->steps[i]);
	}
	return sl__plan_intercept(stored->plan, &interceptor, err);
}

static void
put_share(int rank, int n, void *ctx)
{
	const struct sl__stored_range *part = ctx;
	int64_t first, end;

	sl__parallel_range((int64_t)part->n_bytes, rank, n, &first, &end);
	memcpy(part->at + first, part->image + first, (size_t)(end - first));
}

void
sl__stand_in_outputs_restore(const struct sl__stand_in_outputs *stored,
			     size_t step)
{
	const struct sl__stored_step_outputs *s = &stored->steps[step];
	int n_threads = stored->plan->current->n_threads;

	for (size_t k = 0; k < s->n_parts; k++)
		sl__parallel_run(
			s->parts[k].n_bytes > PARALLEL_BYTES ? n_threads : 1,
			put_share, &s->parts[k]);
}

static void
read_share(int rank, int n, void *ctx)
{
	enum { LINE = 64 };
	const struct sl__stored_range *part = ctx;
	int64_t first, end;
	unsigned sum = 0;
	volatile unsigned sink;

	sl__parallel_range((int64_t)part->n_bytes, rank, n, &first, &end);
	for (int64_t i = first; i < end; i += LINE)
		sum += part->at[i];
	sink = sum;
	(void)sink;
}

/* What a product reads: all of its operands but those that it writes. */
static int
is_read(const struct sl__program *p, const struct sl__step *step, uint32_t k,
	const struct sl__stored_step_outputs *s)
{
	uint64_t n_bytes = p->buffers[step->operands[k]].n_bytes;

	return n_bytes && !is_listed(s, step->at[k], n_bytes) &&
	       base_of(p, step->operands[k])->category !=
		       SL__CATEGORY_WORKSPACE;
}

uint64_t
sl__stand_in_outputs_read_operands(const struct sl__stand_in_outputs *stored,
				   size_t i)
{
	const struct sl__program *p = stored->plan->current;
	const struct sl__step *step = &p->steps[i];
	uint64_t sum = 0;

	for (uint32_t k = 0; step->core_flops && k < step->n_operands; k++) {
		struct sl__stored_range part = {
			step->at[k], NULL,
			p->buffers[step->operands[k]].n_bytes};

		if (!is_read(p, step, k, &stored->steps[i]))
			continue;
		sl__parallel_run(part.n_bytes > PARALLEL_BYTES ? p->n_threads
							       : 1,
				 read_share, &part);
		sum += part.n_bytes;
	}
	return sum;
}

enum {
	SAMPLE_NS = 200000,
	CALLS_MOST = 1 << 12,
	/* What the iteration before has left in the caches is worth a millisecond
	 * at most: nothing to an iteration that takes longer than this. */
	SETTLING_NS = 20000000
};

static const uint64_t STORE_BYTES = (uint64_t)1 << 30;

struct ablater {
	struct sl__ablation *targets;
	size_t n_targets;
	struct sl_plan *plan;
	const struct sl__ablate_options *how;
	struct sl__arena *arena; /* of reasons */
	struct sl__stand_in_outputs stored;
	struct sl__runner runner;
	struct sl__ticker ticker;
	size_t calls; /* iterations in a sample */
	int settles;  /* as many before it, off the clock */

	/* Columns of SL__ABLATE_ROUNDS_MOST: full iterations, then those of each
	 * target. */
	double *samples;
	double *column;

	/* The iteration under way. */
	unsigned char *is_out; /* by step: left out; of the target below */
	uint64_t off_ticks;
	size_t n_copies;
};

static uint64_t
now(const struct ablater *a)
{
	return sl__ticks_read(a->ticker.clock);
}

static enum sl_status
around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct ablater *a = ctx;
	uint64_t begin;

	if (!a->is_out[i])
		return sl__run_step(p, i, err);
	begin = now(a);
	(void)sl__stand_in_outputs_read_operands(&a->stored, i);
	sl__stand_in_outputs_restore(&a->stored, i);
	a->off_ticks += now(a) - begin;
	a->n_copies++;
	return SL_OK;
}

/* The mean time of some iterations, copies left out; a copy has two readings,
 * of which one lies between the two. */
static enum sl_status
run_sample(struct ablater *a, double *iteration_ns, struct sl_error *err)
{
	struct sl__interceptor interceptor = {around, a};
	enum sl_status rc = SL_OK;
	uint64_t begin, end;
	double ns;

	a->off_ticks = 0;
	a->n_copies = 0;
	begin = now(a);
	for (size_t i = 0; !rc && i < a->calls; i++)
		rc = sl__plan_intercept(a->plan, &interceptor, err);
	end = now(a);
	ns = sl__ticker_span_ns(&a->ticker, begin, end - a->off_ticks) -
	     (double)(a->n_copies + 1) * a->ticker.reading_ns;
	*iteration_ns = fmax(ns, a->ticker.reading_ns) / (double)a->calls;
	return rc;
}

static void
set_out(struct ablater *a, const struct sl__ablation *t, int is_out)
{
	for (size_t i = 0; i < t->n_steps; i++) {
		if (a->stored.steps[t->steps[i]].has_run)
			a->is_out[t->steps[i]] = (unsigned char)is_out;
	}
}

/* Arm 0: the full iteration; k + 1: without target k. */
static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct ablater *a = ctx;
	double *to =
		a->samples + slot->arm * SL__ABLATE_ROUNDS_MOST + slot->round;
	struct sl__ablation *t = slot->arm ? &a->targets[slot->arm - 1] : NULL;
	enum sl_status rc;

	if (t && t->absent)
		return SL_OK;
	if (t)
		set_out(a, t, 1);
	rc = run_sample(a, to, err);
	if (!rc && a->settles)
		rc = run_sample(a, to, err);
	if (t)
		set_out(a, t, 0);
	return rc;
}

/* Copies take time too: it may run out before the rounds are done. */
static int
wants_more(void *ctx)
{
	const struct ablater *a = ctx;

	return a->runner.n_rounds < SL__ABLATE_ROUNDS_FEW;
}

static enum sl_status
take_rounds(struct ablater *a, struct sl_error *err)
{
	const struct sl__phase_spec ablating = {
		.name = "leaving operations out",
		.n_arms = a->n_targets + 1,
		.n_rounds = a->how->n_rounds,
		.max_rounds = SL__ABLATE_ROUNDS_MOST,
		.time_s = a->how->time_s,
		.more_s = 2 * a->how->time_s,
		.run = run_slot,
		.wants_more = wants_more,
		.ctx = a,
	};

	return sl__runner_run(&a->runner, &ablating, err);
}

static double
median_of(struct ablater *a, const double *x)
{
	memcpy(a->column, x, a->runner.n_rounds * sizeof(double));
	sl__sort(a->column, a->runner.n_rounds);
	return sl__quantile_sorted(a->column, a->runner.n_rounds, 0.5);
}

static void
conclude(struct ablater *a, size_t k)
{
	const double *full = a->samples;
	const double *without = full + (k + 1) * SL__ABLATE_ROUNDS_MOST;
	struct sl__ablation *t = &a->targets[k];
	size_t n = a->runner.n_rounds;

	if (t->absent)
		return;
	if (!n) {
		t->absent =
			sl__runner_is_interrupted(&a->runner)
				? "interrupted before an iteration without it"
				: "no time was left for an iteration without "
				  "it";
		return;
	}
	t->full_ns = median_of(a, full);
	t->ablated_ns = median_of(a, without);
	for (size_t r = 0; r < n; r++)
		a->column[r] = log(full[r] / without[r]);
	t->limit = sl__median_estimate(a->column, n);
	t->limit.value = exp(t->limit.value);
	t->limit.lo = exp(t->limit.lo);
	t->limit.hi = exp(t->limit.hi);
}

/* A target any of whose steps cannot be left out has its reason from the first
 * of them; one none of whose steps runs has that as its reason. */
static void
check_steps(struct ablater *a, struct sl__ablation *t)
{
	int has_run = 0;

	for (size_t i = 0; i < t->n_steps && !t->absent; i++) {
		const struct sl__stored_step_outputs *s =
			&a->stored.steps[t->steps[i]];

		t->absent = s->absent;
		has_run |= s->has_run;
	}
	if (!t->absent && !has_run)
		t->absent = "it does not run with these inputs";
}

/* Whether what a target writes fits into the room that is left; if so its
 * steps are wanted.  What targets share is stored once. */
static enum sl_status
take_room(struct ablater *a, struct sl__ablation *t, uint64_t *left,
	  struct sl_error *err)
{
	struct sl__stored_step_outputs *steps = a->stored.steps;
	uint64_t more = 0;

	for (size_t i = 0; i < t->n_steps; i++) {
		const struct sl__stored_step_outputs *s = &steps[t->steps[i]];

		t->n_bytes += s->n_bytes;
		more += s->is_wanted ? 0 : s->n_bytes;
	}
	if (more > *left) {
		t->absent = sl__arena_format(
			a->arena,
			"its outputs, %.2f GB, are more than is stored",
			(double)t->n_bytes / 1e9);
		return t->absent ? SL_OK : sl__fail_nomem(err);
	}
	*left -= more;
	for (size_t i = 0; i < t->n_steps; i++)
		steps[t->steps[i]].is_wanted = 1;
	return SL_OK;
}

static enum sl_status
store(struct ablater *a, struct sl_error *err)
{
	uint64_t left = a->how->store_bytes ? a->how->store_bytes : STORE_BYTES;
	struct sl__stored_step_outputs *steps = a->stored.steps;
	enum sl_status rc;

	for (size_t k = 0; k < a->n_targets; k++) {
		const struct sl__ablation *t = &a->targets[k];

		for (size_t i = 0; !t->absent && i < t->n_steps; i++)
			steps[t->steps[i]].is_wanted = 1;
	}
	rc = sl__stand_in_outputs_find(&a->stored, err);
	for (size_t i = 0; i < a->stored.n_steps; i++)
		steps[i].is_wanted = 0;
	for (size_t k = 0; !rc && k < a->n_targets; k++) {
		check_steps(a, &a->targets[k]);
		if (!a->targets[k].absent)
			rc = take_room(a, &a->targets[k], &left, err);
	}
	if (rc || sl__runner_is_interrupted(&a->runner))
		return rc;
	rc = sl__stand_in_outputs_copy(&a->stored, err);
	for (size_t k = 0; !rc && k < a->n_targets; k++)
		check_steps(a, &a->targets[k]);
	return rc;
}

/* A time in the unit that fits, divided by *unit_ns. */
static const char *
unit_of(double ns, double *unit_ns)
{
	*unit_ns = ns < 1e3 ? 1 : ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9;
	return ns < 1e3 ? "ns" : ns < 1e6 ? "µs" : ns < 1e9 ? "ms" : "s";
}

/* Leaves out the targets for which there is no time; two iterations find and
 * store what steps write.  Returns how many are left. */
static enum sl_status
take_time(struct ablater *a, size_t *n_left, struct sl_error *err)
{
	double iteration_ns = a->how->iteration_ns * (a->settles ? 2 : 1);
	double iterations = a->how->time_s * 1e9 / iteration_ns - 2;
	double round = 1, unit_ns;
	const char *unit = unit_of(a->how->iteration_ns, &unit_ns);

	*n_left = 0;
	for (size_t k = 0; k < a->n_targets; k++) {
		struct sl__ablation *t = &a->targets[k];
		double rounds = *n_left ? SL__ABLATE_ROUNDS
					: SL__ABLATE_ROUNDS_FEW;

		round += 1 - t->share;
		if (a->how->n_rounds || round * rounds <= iterations) {
			++*n_left;
			continue;
		}
		round -= 1 - t->share;
		t->absent = sl__arena_format(
			a->arena, "no time for %.0f iterations of %.1f %s",
			rounds, a->how->iteration_ns / unit_ns, unit);
		if (!t->absent)
			return sl__fail_nomem(err);
	}
	return SL_OK;
}

static enum sl_status
reserve(struct ablater *a, struct sl__arena *arena, struct sl_error *err)
{
	size_t n = a->n_targets + 1;

	a->samples = sl__arena_array(
		arena, n, SL__ABLATE_ROUNDS_MOST * sizeof(*a->samples));
	a->column = sl__arena_array(arena, SL__ABLATE_ROUNDS_MOST,
				    sizeof(*a->column));
	a->runner.order = sl__arena_array(arena, n, sizeof(size_t));
	a->is_out = sl__arena_alloc(arena, a->stored.n_steps);
	return a->samples && a->column && a->runner.order && a->is_out
		       ? SL_OK
		       : sl__fail_nomem(err);
}

/* Where memory runs out nothing is measured, which is no failure: what was
 * found before stands. */
static enum sl_status
prepare(struct ablater *a, struct sl__arena *scratch, struct sl_error *err)
{
	enum sl_status rc =
		sl__stand_in_outputs_open(&a->stored, a->plan, scratch, err);

	if (!rc)
		rc = reserve(a, scratch, err);
	if (!rc)
		rc = store(a, err);
	if (rc != SL_E_NOMEM)
		return rc;
	for (size_t k = 0; k < a->n_targets; k++) {
		if (!a->targets[k].absent)
			a->targets[k].absent =
				"no memory for iterations without "
				"it";
	}
	return SL_OK;
}

static int
has_target(const struct ablater *a)
{
	for (size_t k = 0; k < a->n_targets; k++) {
		if (!a->targets[k].absent)
			return 1;
	}
	return 0;
}

static enum sl_status
ablate(struct ablater *a, struct sl__arena *scratch, struct sl_error *err)
{
	size_t n_left;
	enum sl_status rc = take_time(a, &n_left, err);

	if (rc || !n_left)
		return rc;
	if (!sl__runner_is_interrupted(&a->runner)) {
		rc = prepare(a, scratch, err);
		if (!rc && has_target(a))
			rc = take_rounds(a, err);
	}
	if (rc == SL_E_INTERRUPTED)
		rc = SL_OK;
	for (size_t k = 0; !rc && k < a->n_targets; k++)
		conclude(a, k);
	return rc;
}

enum sl_status
sl__ablate(struct sl__ablation *targets, size_t n, struct sl_plan *plan,
	   const struct sl__ablate_options *how, struct sl__arena *arena,
	   struct sl_error *err)
{
	struct ablater a = {.targets = targets,
			    .n_targets = n,
			    .plan = plan,
			    .how = how,
			    .arena = arena};
	struct sl__arena scratch;
	enum sl_status rc;

	for (size_t k = 0; k < n; k++) {
		struct sl__ablation *t = &targets[k];

		t->full_ns = t->ablated_ns = (double)NAN;
		t->limit = (struct sl_estimate){.value = (double)NAN,
						.lo = (double)NAN,
						.hi = (double)NAN};
		t->absent = NULL;
		t->n_bytes = 0;
	}
	sl__ticker_init(&a.ticker, how->control.with.clock);
	a.ticker.reading_ns = how->reading_ns;
	a.runner.control = how->control;
	sl__runner_start_budget(&a.runner, how->seed);
	a.calls = (size_t)fmax(1,
			       fmin(CALLS_MOST, SAMPLE_NS / how->iteration_ns));
	a.settles = how->iteration_ns < SETTLING_NS;
	sl__arena_init(&scratch, &arena->allocator);
	rc = ablate(&a, &scratch, err);
	sl__arena_release(&scratch);
	return rc;
}
