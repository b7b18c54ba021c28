/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_iterations.c - a plan run over and over, bare and recorded in turn.
 *
 * Bare iterations say how long the model takes, recorded ones where the time
 * goes, and the difference within a round what recording costs.  What a
 * recorded iteration left on its events is added up between iterations, off the
 * clock.
 */
#include "experiment/timed_iterations.h"
#include "base/clock.h"
#include "base/status.h"
#include "compute/parallel.h"
#include "stats/quantile.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* What a step takes that does nothing. */

enum {
	SAMPLES = 100,
	CALLS = 64, /* a sample: one call of one thread is below the clock */
	WARM_UP_NS = 2000000
};

static void
do_nothing(int rank, int n, void *ctx)
{
	volatile int *sink = ctx;

	/* Something that must be called, by whoever it is. */
	if (rank == n)
		*sink = rank;
}

static double
sample_ns(int n_threads)
{
	double ticks_per_ns = sl__ticks_per_ns();
	volatile int sink = 0;
	uint64_t start = sl__ticks();

	for (int k = 0; k < CALLS; k++)
		sl__parallel_run(n_threads, do_nothing,
				 (void *)(uintptr_t)&sink);
	return (double)(sl__ticks() - start) / ticks_per_ns / CALLS;
}

struct sl_estimate
sl__thread_wake_ns(int n_threads)
{
	uint64_t begin_ns = sl__clock_now_ns(NULL);
	double ns[SAMPLES];

	while (sl__clock_now_ns(NULL) - begin_ns < WARM_UP_NS)
		(void)sample_ns(n_threads);
	for (int i = 0; i < SAMPLES; i++)
		ns[i] = sample_ns(n_threads);
	return sl__median_estimate(ns, SAMPLES);
}

enum { BARE = 0, RECORDED, N_ARMS };

enum {
	MIN_ROUNDS = 2,
	PRECISE_ROUNDS = 8, /* before precision may end it */
	STRETCH_NS =
		62500, /* of iterations that are short: what is noted beside
			       them takes some 4 us */
	CALLS_MOST = 1 << 16,
	ROUNDS_PER_PROBE = 16,
	ROUNDS_PER_SPARSE = 2,
	ROUNDS_ENOUGH = 32 /* more time than was given would add little */
};

/* Of an iteration: marks that take less, readings in a row being the most that
 * they could take, are not felt in its time accounting. */
#define FELT_SHARE 0.01
/* Of an iteration: how well its time accounting need to know what recording
 * costs. */
#define OVERHEAD_PRECISION 0.015
/* Of the time given: what may be spent until that is known. */
#define TIME_MOST 2.0

/* Recorded iterations of a round, added up as in struct sl__timed_iterations.
 */
struct stretch {
	size_t n;
	double wall_ns, gaps_ns;
	double *step_ns;
	uint64_t *n_calls;
};

struct taker {
	struct sl__timed_iterations *out;
	struct sl_plan *plan;
	const struct sl__timed_iterations_options *how;
	struct sl__runner runner;
	size_t order[N_ARMS];
	struct sl__rng coin; /* apart, so that sparse events change no orders */
	struct sl__monitor monitor;
	struct sl__ticker ticker;
	double iteration_ns[N_ARMS], cpu_ns; /* of this round */
	double fed_ns[N_ARMS];               /* of these, feeding */
	struct sl__event_buffer events;      /* of the iteration under way */
	struct sl__event_buffer sparse;      /* of one with few marks */
	uint64_t begin,
		end; /* of the iteration on 'events'; 0: it was added up */
	struct stretch stretch;
	double *sorted; /* [SL__ITERATIONS_KEPT] scratch */
	size_t next_look;
	int is_warm;      /* recorded iterations count */
	double again_ns;  /* the second iteration */
	double median_ns; /* of bare iterations so far; 0: not known */
	double mark_ns;   /* what a mark costs where it is made */
	int is_mark_known;
	int is_precise,
		is_sharp; /* what an iteration takes, what recording costs:
				       known as well as they need to be */
	int is_bare_hit;  /* something disturbed the last bare iteration */
};

static uint64_t
now(const struct taker *t)
{
	return sl__ticks_read(t->ticker.clock);
}

/* A reading of the clock included. */
static double
span_ns(const struct taker *t, uint64_t from, uint64_t to)
{
	return sl__ticker_span_ns(&t->ticker, from, to);
}

/* The inputs of the next iteration; *ticks grows by what they took. */
static enum sl_status
feed(const struct taker *t, uint64_t *ticks, struct sl_error *err)
{
	uint64_t begin;
	enum sl_status rc;

	if (!t->how->feed)
		return SL_OK;
	begin = now(t);
	rc = t->how->feed(t->how->feed_ctx, err);
	*ticks += now(t) - begin;
	return rc;
}

/* The mean of a stretch of iterations that nobody adds up; bare ones, which
 * are fed, without events. */
static enum sl_status
run_stretch(struct taker *t, struct sl__event_buffer *events,
	    double *iteration_ns, struct sl_error *err)
{
	size_t n = t->out->calls_per_sample;
	uint64_t begin = now(t), end, paused = 0, fed = 0;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < n; i++) {
		if (!events)
			rc = feed(t, &fed, err);
		if (!rc)
			rc = events ? sl__plan_record(t->plan, events, err)
				    : sl_plan_run(t->plan, err);
		paused += events ? events->paused_ticks : 0;
	}
	end = now(t) - paused;
	*iteration_ns = fmax(span_ns(t, begin, end) - t->out->reading_ns, 0) /
			(double)n;
	if (!events)
		t->fed_ns[BARE] = span_ns(t, 0, fed) / (double)n;
	return rc;
}

/*
 * Feeding as the first span of the event buffer.  It ends where the first step
 * begins, so that the gap between the two, which is none of it, comes before
 * it.
 */
static void
put_feed(struct taker *t, uint64_t ticks)
{
	struct sl__event_buffer *e = &t->events;

	if (!t->how->feed || !e->n_stamps || e->n_stamps == e->cap)
		return;
	memmove(e->stamps + 1, e->stamps, e->n_stamps * sizeof(*e->stamps));
	e->n_stamps++;
	e->stamps[0] =
		(struct sl__timestamp){.ticks = e->stamps[1].ticks - ticks,
				       .step = (uint32_t)t->out->n_steps - 1,
				       .n_calls = 1};
}

static float *
next_row(struct sl__timed_iterations *out)
{
	size_t n = out->n_steps, nth = out->kept.n_seen;

	if (nth % out->row_stride)
		return NULL;
	if (out->n_rows == SL__ITERATIONS_ROWS) {
		for (size_t r = 1; r < SL__ITERATIONS_ROWS / 2; r++)
			memcpy(out->rows + r * n, out->rows + 2 * r * n,
			       n * sizeof(float));
		out->n_rows = SL__ITERATIONS_ROWS / 2;
		out->row_stride *= 2;
		if (nth % out->row_stride)
			return NULL;
	}
	return out->rows + out->n_rows++ * n;
}

static void
add_steps(struct taker *t)
{
	struct sl__timed_iterations *out = t->out;
	float *row = next_row(out);

	for (size_t s = 0; row && s < out->n_steps; s++)
		row[s] = NAN;
	for (size_t i = 0; i + 1 < t->events.n_stamps; i++) {
		const struct sl__timestamp *m = &t->events.stamps[i];
		double ns = span_ns(t, m[0].ticks, m[1].ticks);

		t->stretch.step_ns[m->step] += ns;
		t->stretch.n_calls[m->step] += m->n_calls;
		ns /= m->n_calls;
		out->step_min_ns[m->step] = fmin(out->step_min_ns[m->step], ns);
		out->step_max_ns[m->step] = fmax(out->step_max_ns[m->step], ns);
		if (row)
			row[m->step] = (float)ns;
	}
}

/* What the event buffer holds, in sums that include readings of the clock. */
static void
add_iteration(struct taker *t)
{
	struct sl__timed_iterations *out = t->out;
	const struct sl__timestamp *stamps = t->events.stamps;

	if (!t->end)
		return;
	if (!out->kept.n_seen)
		out->origin = t->begin;
	add_steps(t);
	sl__traced_iterations_offer(&out->kept, &t->events, t->begin, t->end);
	t->stretch.wall_ns += span_ns(t, t->begin, t->end);
	t->stretch.gaps_ns +=
		span_ns(t, t->begin, stamps[0].ticks) +
		span_ns(t, stamps[t->events.n_stamps - 1].ticks, t->end);
	t->stretch.n++;
	t->end = 0;
}

/* The iterations of a round go into time accounting, or not: a rule that cannot
 * see how long they took. */
static void
account_stretch(struct taker *t, int is_left_out)
{
	struct sl__timed_iterations *out = t->out;
	struct stretch *s = &t->stretch;

	if (is_left_out) {
		out->n_left_out += s->n;
	} else {
		out->n_recorded += s->n;
		out->wall_ns += s->wall_ns;
		out->gaps_ns += s->gaps_ns;
		for (size_t i = 0; i < out->n_steps; i++) {
			out->step_ns[i] += s->step_ns[i];
			out->n_calls[i] += s->n_calls[i];
		}
	}
	s->n = 0;
	s->wall_ns = s->gaps_ns = 0;
	memset(s->step_ns, 0, out->n_steps * sizeof(*s->step_ns));
	memset(s->n_calls, 0, out->n_steps * sizeof(*s->n_calls));
}

/*
 * An iteration is added up before the next one of a stretch, and the last one
 * when the round is over: what that does to caches would else be felt by bare
 * iterations more often than by recorded ones.
 */
static enum sl_status
run_recorded(struct taker *t, double *iteration_ns, struct sl_error *err)
{
	size_t n = t->out->calls_per_sample;
	uint64_t all_fed = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t begin, end, fed = 0;
		enum sl_status rc;

		add_iteration(t);
		begin = now(t);
		rc = feed(t, &fed, err);
		if (!rc)
			rc = sl__plan_record(t->plan, &t->events, err);
		end = now(t) - t->events.paused_ticks;
		if (rc)
			return rc;
		put_feed(t, fed);
		all_fed += fed;
		sum += span_ns(t, begin, end) - t->out->reading_ns;
		t->begin = begin;
		t->end = t->is_warm ? end : 0;
	}
	*iteration_ns = fmax(sum, 0) / (double)n;
	t->fed_ns[RECORDED] = span_ns(t, 0, all_fed) / (double)n;
	return SL_OK;
}

/*
 * Iterations with every mark and with every fourth one: what the former take
 * longer is what a mark costs where it is made.  That is less than a reading
 * costs in a row of them, as it overlaps with the steps around it.  Bare
 * iterations have no part in it: time accounting still compare two experiments.
 */
static enum sl_status
take_sparse(struct taker *t, struct sl_error *err)
{
	int full_first = sl__rng_coin(&t->coin);
	double ns[2] = {0, 0}, n;
	enum sl_status rc = SL_OK;

	for (int k = 0; !rc && k < 2; k++) {
		int is_sparse = (k == 0) != full_first;

		rc = run_stretch(t, is_sparse ? &t->sparse : &t->events,
				 &ns[is_sparse], err);
	}
	n = (double)t->events.n_readings - (double)t->sparse.n_readings;
	if (!rc && n > 0)
		sl__calm_pairs_add(&t->out->mark, ns[1] / n, ns[0] / n);
	return rc;
}

/* Whether what marks cost is felt in time accounting, and it is their turn. */
static int
is_calibrating(const struct taker *t)
{
	double marks_ns = (double)(t->out->n_steps + 1) * t->out->reading_ns;
	double iteration_ns = t->median_ns > 0 ? t->median_ns : t->again_ns;

	return t->out->n_rounds % ROUNDS_PER_SPARSE == 0 && t->is_warm &&
	       marks_ns > FELT_SHARE * iteration_ns;
}

static int
is_known(const struct sl_estimate *x, double half_width)
{
	return !x->needs_n && (x->hi - x->lo) / 2 <= half_width;
}

/*
 * Whether the median of the later half of bare iterations, and that of what
 * recording costs, are known well enough.  Looks whenever the number of rounds
 * has grown by an eighth.
 */
static void
look(struct taker *t)
{
	const struct sl__thinned *bare = &t->out->bare;
	struct sl_estimate median, extra, mark;

	if (!sl__interim_look_is_due(&t->next_look, t->out->n_rounds))
		return;
	median = sl__thinned_median(bare, bare->n - bare->n / 2, t->sorted);
	t->median_ns = median.value;
	t->is_precise = is_known(&median, t->how->precision * median.value);
	extra = sl__calm_pairs_median(&t->out->extra, t->sorted);
	t->is_sharp = is_known(&extra, OVERHEAD_PRECISION * median.value);
	if (!t->out->mark.more.n)
		return;
	mark = sl__calm_pairs_median(&t->out->mark, t->sorted);
	t->is_mark_known =
		is_known(&mark, OVERHEAD_PRECISION * median.value /
					(double)t->events.n_readings);
	t->mark_ns = mark.value;
	t->is_sharp &= t->is_mark_known;
}

static void
shift(struct sl__thinned *t, double by)
{
	t->min += by;
	t->max += by;
	t->sum += by * (double)t->n_seen;
	for (size_t i = 0; i < t->n; i++)
		t->x[i] += by;
}

static double
less(double ns, double reading_ns)
{
	return fmax(ns - reading_ns, 0);
}

/* Takes off what readings cost, which is known now. */
static void
settle(struct taker *t)
{
	struct sl__timed_iterations *out = t->out;
	double n = (double)out->n_recorded, before_ns = out->reading_ns, c;

	t->next_look = 0;
	look(t);
	if (t->is_mark_known)
		out->reading_ns = fmax(t->mark_ns, 0);
	c = out->reading_ns;
	out->wall_ns = less(out->wall_ns, n * c);
	out->gaps_ns = less(out->gaps_ns, 2 * n * c);
	for (size_t s = 0; s < out->n_steps; s++) {
		out->step_ns[s] =
			less(out->step_ns[s], (double)out->n_calls[s] * c);
		out->step_min_ns[s] = less(out->step_min_ns[s], c);
		out->step_max_ns[s] = less(out->step_max_ns[s], c);
	}
	for (size_t i = 0; i < out->n_rows * out->n_steps; i++) {
		if (!isnan(out->rows[i]))
			out->rows[i] = (float)less((double)out->rows[i], c);
	}
	/* A recorded iteration has a reading of its own, a bare one shares it. */
	shift(&out->extra.more,
	      (before_ns - c) * (1 - 1 / (double)out->calls_per_sample));
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct taker *t = ctx;
	double *iteration_ns = &t->iteration_ns[slot->arm];
	enum sl_status rc = slot->arm == BARE
				    ? run_stretch(t, NULL, iteration_ns, err)
				    : run_recorded(t, iteration_ns, err);

	slot->wall_ns = *iteration_ns * (double)t->out->calls_per_sample;
	return rc;
}

/* Time accounting is over recorded iterations: what hits a bare one does not
 * count. */
static void
finish_slot(struct sl__slot *slot, void *ctx)
{
	struct taker *t = ctx;

	if (slot->arm != BARE)
		return;
	t->is_bare_hit = slot->is_disturbed;
	slot->is_disturbed = 0;
	t->cpu_ns = sl__monitor_slot_cpu_ns(&t->monitor, &slot->before,
					    &slot->after, 1,
					    t->out->reading_ns) /
		    (double)t->out->calls_per_sample;
}

static enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct taker *t = ctx;
	struct sl__timed_iterations *out = t->out;
	enum sl_status rc = SL_OK;

	sl__thinned_add(&out->bare, t->iteration_ns[BARE]);
	sl__thinned_add(&out->hit, t->is_bare_hit);
	sl__thinned_add(&out->cpu, t->cpu_ns);
	/* Feeding is recorded in both, and what it takes varies most. */
	if (t->is_warm)
		sl__calm_pairs_add(
			&out->extra, t->iteration_ns[BARE] - t->fed_ns[BARE],
			t->iteration_ns[RECORDED] - t->fed_ns[RECORDED]);
	add_iteration(t);
	account_stretch(t, taken->is_left_out && out->n_recorded);
	if (is_calibrating(t))
		rc = take_sparse(t, err);
	out->n_rounds++;
	t->is_warm = out->n_rounds >= t->how->n_warmup;
	look(t);
	t->runner.ahead_ns = (uint64_t)(2 * t->median_ns);
	return rc;
}

static void
describe(struct sl_progress *progress, void *ctx)
{
	const struct taker *t = ctx;

	if (t->median_ns > 0)
		progress->median_ns = t->median_ns;
}

/* Few rounds leave it open what recording costs: a long iteration is worth more
 * time than was given, to a limit. */
static int
wants_more(void *ctx)
{
	const struct taker *t = ctx;

	return !t->is_sharp && t->out->n_rounds < ROUNDS_ENOUGH;
}

/* A third of the budget at least: less would not see any drift, and time
 * accounting need rounds more than the median does. */
static int
is_enough(void *ctx)
{
	const struct taker *t = ctx;

	return t->is_precise && t->is_sharp &&
	       t->out->n_rounds >= t->how->n_warmup + PRECISE_ROUNDS &&
	       sl__runner_spent_share(&t->runner) >= 1.0 / 3;
}

/* How many iterations make a stretch that is long enough: for the clock, and
 * for what is noted beside each. */
static void
calibrate(struct taker *t, double iteration_ns)
{
	double n = STRETCH_NS / fmax(iteration_ns, 1);

	t->out->calls_per_sample = n >= 4 ? (size_t)fmin(CALLS_MOST, n) : 1;
}

static enum sl_status
take_rounds(struct taker *t, struct sl_error *err)
{
	const struct sl__timed_iterations_options *how = t->how;
	const struct sl__phase_spec timing = {
		.name = "timing iterations",
		.n_arms = N_ARMS,
		.n_rounds = how->n_runs ? how->n_runs + how->n_warmup : 0,
		.min_rounds = how->n_warmup + MIN_ROUNDS,
		.time_s = how->time_s,
		.more_s = TIME_MOST * how->time_s,
		.rounds_per_probe = ROUNDS_PER_PROBE,
		.enough = SL_STOP_PRECISION,
		.run = run_slot,
		.finish = finish_slot,
		.close = close_round,
		.is_enough = is_enough,
		.wants_more = wants_more,
		.describe = describe,
		.ctx = t,
	};
	enum sl_status rc;

	t->out->calls_per_sample = 1;
	rc = run_stretch(t, NULL, &t->out->first_ns, err);
	if (!rc)
		rc = run_stretch(t, NULL, &t->again_ns, err);
	if (rc)
		return rc;
	calibrate(t, t->again_ns);
	t->is_warm = !how->n_warmup;
	rc = sl__runner_run(&t->runner, &timing, err);
	if (rc)
		return rc;
	/* Iterations of a round that was cut short are not in time accounting. */
	add_iteration(t);
	account_stretch(t, 1);
	t->out->stopped_by = t->runner.stopped_by;
	if (!t->out->n_recorded)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first iteration");
	return SL_OK;
}

static enum sl_status
reserve(struct taker *t, struct sl__arena *arena, struct sl_error *err)
{
	struct sl__timed_iterations *out = t->out;
	size_t n = out->n_steps;
	int failed =
		sl__event_buffer_reserve(&t->events, n, arena) |
		sl__event_buffer_reserve(&t->sparse, n, arena) |
		sl__traced_iterations_init(&out->kept, n, t->how->n_slowest,
					   arena) |
		sl__calm_pairs_init(&out->mark, SL__ITERATIONS_KEPT, arena) |
		sl__thinned_init(&out->bare, SL__ITERATIONS_KEPT, arena) |
		sl__thinned_init(&out->hit, SL__ITERATIONS_KEPT, arena) |
		sl__calm_pairs_init(&out->extra, SL__ITERATIONS_KEPT, arena) |
		sl__thinned_init(&out->cpu, SL__ITERATIONS_KEPT, arena);

	t->events.clock = t->sparse.clock = t->ticker.clock;
	t->sparse.is_sparse = 1;
	out->step_ns = sl__arena_array(arena, n, sizeof(double));
	out->step_min_ns = sl__arena_array(arena, n, sizeof(double));
	out->step_max_ns = sl__arena_array(arena, n, sizeof(double));
	out->n_calls = sl__arena_array(arena, n, sizeof(uint64_t));
	out->rows =
		sl__arena_array(arena, n, SL__ITERATIONS_ROWS * sizeof(float));
	t->stretch.step_ns = sl__arena_array(arena, n, sizeof(double));
	t->stretch.n_calls = sl__arena_array(arena, n, sizeof(uint64_t));
	t->sorted = sl__arena_array(arena, SL__ITERATIONS_KEPT, sizeof(double));
	if (failed || !out->step_ns || !out->step_min_ns || !out->step_max_ns ||
	    !out->n_calls || !out->rows || !t->stretch.step_ns ||
	    !t->stretch.n_calls || !t->sorted)
		return sl__fail_nomem(err);
	for (size_t s = 0; s < n; s++)
		out->step_min_ns[s] = (double)INFINITY;
	out->row_stride = 1;
	return SL_OK;
}

enum sl_status
sl__timed_iterations_run(struct sl__timed_iterations *out, struct sl_plan *plan,
			 const struct sl__timed_iterations_options *how,
			 struct sl__arena *arena, struct sl_error *err)
{
	struct taker t = {.out = out, .plan = plan, .how = how};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	sl__ticker_init(&t.ticker, how->control.with.clock);
	out->ticks_per_ns = t.ticker.per_ns;
	out->reading_ns = t.ticker.reading_ns;
	out->n_steps = sl_plan_n_steps(plan) + (how->feed != NULL);
	rc = reserve(&t, arena, err);
	if (rc)
		return rc;
	sl__rng_init(&t.coin, ~how->seed);
	sl__monitor_open(&t.monitor, &how->control.with);
	t.runner.control = how->control;
	t.runner.monitor = &t.monitor;
	t.runner.order = t.order;
	t.next_look = 1;
	sl__runner_start_budget(&t.runner, how->seed);
	rc = take_rounds(&t, err);
	settle(&t);
	sl__traced_iterations_pick_median(&out->kept);
	sl__monitor_close(&t.monitor, &out->noise);
	out->elapsed_s = sl__runner_elapsed_s(&t.runner);
	return rc;
}

enum { WATCHED_MOST = 2048 }; /* recorded iterations of a run, about */

struct sl__step_watch {
	struct taker t;
	struct sl__timed_iterations out;
	struct sl__timed_iterations_options how;
	uint64_t stride, nth; /* every stride-th is recorded; begun so far */
	uint64_t begin, fed;  /* of the iteration under way */
	int has_bare;         /* the one before was bare */
};

static enum sl_status
no_feed(void *ctx, struct sl_error *err)
{
	(void)ctx;
	(void)err;
	return SL_OK;
}

enum sl_status
sl__step_watch_new(struct sl__step_watch **out, const struct sl_plan *plan,
		   uint64_t n_iterations, const struct sl_clock *clock,
		   struct sl__arena *arena, struct sl_error *err)
{
	struct sl__step_watch *w = sl__arena_alloc(arena, sizeof(*w));

	*out = w;
	if (!w)
		return sl__fail_nomem(err);
	w->how.feed = no_feed;
	w->how.n_slowest = 3;
	w->t.out = &w->out;
	w->t.how = &w->how;
	w->t.is_warm = 1;
	w->t.next_look = 1;
	sl__ticker_init(&w->t.ticker, clock);
	w->out.ticks_per_ns = w->t.ticker.per_ns;
	w->out.reading_ns = w->t.ticker.reading_ns;
	w->out.n_steps = sl_plan_n_steps(plan) + 1;
	w->out.calls_per_sample = 1;
	w->stride = n_iterations / WATCHED_MOST + 2;
	return reserve(&w->t, arena, err);
}

struct sl__event_buffer *
sl__step_watch_events(struct sl__step_watch *w)
{
	return w->nth % w->stride == 0 && w->has_bare ? &w->t.events : NULL;
}

void
sl__step_watch_begin(struct sl__step_watch *w)
{
	w->nth++;
	w->begin = now(&w->t);
}

void
sl__step_watch_fed(struct sl__step_watch *w)
{
	w->fed = now(&w->t) - w->begin;
}

void
sl__step_watch_end(struct sl__step_watch *w)
{
	struct taker *t = &w->t;
	int is_recorded = sl__step_watch_events(w) != NULL;
	int arm = is_recorded ? RECORDED : BARE;
	uint64_t end = now(t);

	if (is_recorded)
		end -= t->events.paused_ticks;
	t->iteration_ns[arm] =
		fmax(span_ns(t, w->begin, end) - t->out->reading_ns, 0);
	t->fed_ns[arm] = span_ns(t, 0, w->fed);
	w->has_bare = !is_recorded;
	if (!is_recorded) {
		if (!t->out->bare.n_seen)
			t->out->first_ns = t->iteration_ns[BARE];
		sl__thinned_add(&t->out->bare, t->iteration_ns[BARE]);
		sl__thinned_add(&t->out->hit, 0);
		return;
	}
	put_feed(t, w->fed);
	t->begin = w->begin;
	t->end = end;
	add_iteration(t);
	account_stretch(t, 0);
	sl__calm_pairs_add(&t->out->extra,
			   t->iteration_ns[BARE] - t->fed_ns[BARE],
			   t->iteration_ns[RECORDED] - t->fed_ns[RECORDED]);
	t->out->n_rounds++;
	t->out->noise.n_slots += 2;
}

const struct sl__timed_iterations *
sl__step_watch_finish(struct sl__step_watch *w)
{
	if (w->out.n_recorded)
		settle(&w->t);
	sl__traced_iterations_pick_median(&w->out.kept);
	w->out.stopped_by = SL_STOP_RUNS;
	return &w->out;
}
