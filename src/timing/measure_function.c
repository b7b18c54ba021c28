/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_function.c - sl_measure(): one function, timed until it is known
 * well.
 *
 * One arm, whose rounds are slots (timing/runner.h).  A sample is the mean time
 * of a stretch of calls (one call, where it is long enough for the clock); a
 * slot is about a millisecond of samples between two readings of the
 * covariates.  All storage is reserved and touched before the first sample; the
 * loop only calls, reads clocks and stores.  What the samples mean is worked
 * out afterwards by stats/distribution.c.
 */
#include "timing/measure_function.h"
#include "base/arena.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "stats/distribution.h"
#include "stats/quantile.h"
#include "stats/summary.h"
#include "timing/runner.h"
#include "timing/timer.h"

#include <math.h>

#include "base/banned.h"

enum {
	SLOT_NS = 1000000,     /* covariates cost 4 us: 0.4 % of a slot */
	MAX_SAMPLES = 1 << 20, /* 8 MiB a column */
	MIN_SAMPLES = 32,      /* before precision may end a measurement */
	SLOTS_PER_PROBE = 16
};

/* Everything one measurement needs, none of which the caller sees. */
struct sampler {
	const struct sl_measure_options *how;
	struct sl_candidate what;
	struct sl__timer timer;
	struct sl__monitor monitor;
	struct sl__runner runner;
	struct sl__rng rng;

	size_t calls_per_sample, samples_per_slot;
	size_t cap_samples; /* stop there at the latest */
	double *samples_ns; /* [cap_samples] per call */
	double *sorted;     /* [cap_samples] scratch */
	size_t n_samples;
	double *slot_cpu_ns; /* [cap_slots] CPU time per call */
	size_t n_slots, cap_slots;
	size_t next_check; /* look at the precision at so many samples */
};

static enum sl_status
check_options(const struct sl_measure_options *how, struct sl_error *err)
{
	if (!(how->time_s > 0) || how->time_s > 1e6)
		return sl__fail(err, SL_E_USAGE,
				"time of %g s: must be above 0, at most 1e6",
				how->time_s);
	if (!(how->precision > 0) || how->precision >= 1)
		return sl__fail(err, SL_E_USAGE,
				"precision of %g: must be between 0 and 1",
				how->precision);
	if (how->n_runs > MAX_SAMPLES || how->n_warmup > MAX_SAMPLES / 2)
		return sl__fail(err, SL_E_USAGE,
				"more than %d samples asked for", MAX_SAMPLES);
	return SL_OK;
}

/*
 * The cold first call, then how many calls make a sample.  A sample is long
 * enough for the clock, and long enough that the time budget does not
 * overflow the storage.
 */
static enum sl_status
calibrate(struct sampler *s, double *first_ns, struct sl_error *err)
{
	double shortest_ns = sl__timer_shortest_ns(&s->timer);
	double fits_ns = s->how->time_s * 1e9 / MAX_SAMPLES;
	double call_ns, sample_ns;
	int failed;

	failed = sl__timer_time_calls(&s->timer, s->what.fn, s->what.ctx, 1,
				      first_ns);
	if (failed)
		return sl__timer_set_error(&s->what, failed, err);
	s->calls_per_sample = 1;
	call_ns = *first_ns;
	if (*first_ns < SLOT_NS || *first_ns * 4 < s->how->time_s * 1e9)
		failed = sl__timer_choose_n_calls(
			&s->timer, &s->what,
			s->how->n_runs ? shortest_ns
				       : fmax(shortest_ns, fits_ns),
			&s->calls_per_sample, &call_ns);
	if (failed)
		return sl__timer_set_error(&s->what, failed, err);
	sample_ns = fmax(call_ns * (double)s->calls_per_sample, 1);
	s->samples_per_slot =
		(size_t)fmax(1, fmin(1000, floor(SLOT_NS / sample_ns)));
	/* Twice what the budget seems to hold, for a function that speeds
	 * up; fixed numbers are exact. */
	s->cap_samples =
		s->how->n_runs ? s->how->n_runs + s->how->n_warmup
			       : (size_t)fmin(MAX_SAMPLES,
					      2e9 * s->how->time_s / sample_ns +
						      MIN_SAMPLES);
	return SL_OK;
}

static enum sl_status
reserve(struct sampler *s, struct sl__arena *arena, struct sl_error *err)
{
	s->cap_slots = s->cap_samples / s->samples_per_slot + 1;
	s->samples_ns = sl__arena_array(arena, s->cap_samples, sizeof(double));
	s->sorted = sl__arena_array(arena, s->cap_samples, sizeof(double));
	s->slot_cpu_ns = sl__arena_array(arena, s->cap_slots, sizeof(double));
	if (!s->samples_ns || !s->sorted || !s->slot_cpu_ns)
		return sl__fail_nomem(err);
	return SL_OK;
}

/*
 * Whether the median of the later half (the earlier one may be warm-up, which
 * a fixed one is in any case) is known to the precision asked for; not before
 * a tenth of the budget: less would not see any drift.
 */
static int
is_precise(void *ctx)
{
	struct sampler *s = ctx;
	struct sl_estimate median;
	size_t n = (s->n_samples - s->how->n_warmup) / 2;

	if (sl__runner_spent_share(&s->runner) < 0.1 ||
	    !sl__interim_look_is_due(&s->next_check, s->n_samples))
		return 0;
	for (size_t i = 0; i < n; i++)
		s->sorted[i] = s->samples_ns[s->n_samples - n + i];
	sl__sort(s->sorted, n);
	median = sl__quantile_estimate(s->sorted, n, 0.5, 0.05);
	return !median.needs_n &&
	       (median.hi - median.lo) / 2 <= s->how->precision * median.value;
}

/* The samples of the slot, for which there is room in any case. */
static size_t
samples_of(const struct sampler *s, const struct sl__slot *slot)
{
	size_t first = slot->round * s->samples_per_slot;

	return first + s->samples_per_slot < s->cap_samples
		       ? s->samples_per_slot
		       : s->cap_samples - first;
}

static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct sampler *s = ctx;

	for (size_t i = samples_of(s, slot); i > 0; i--) {
		double took_ns;
		int failed =
			sl__timer_time_calls(&s->timer, s->what.fn, s->what.ctx,
					     s->calls_per_sample, &took_ns);

		if (failed)
			return sl__timer_set_error(&s->what, failed, err);
		s->samples_ns[s->n_samples++] =
			took_ns / (double)s->calls_per_sample;
		slot->wall_ns += took_ns;
	}
	return SL_OK;
}

static void
finish_slot(struct sl__slot *slot, void *ctx)
{
	struct sampler *s = ctx;
	size_t n = samples_of(s, slot);

	s->slot_cpu_ns[s->n_slots++] =
		sl__monitor_slot_cpu_ns(&s->monitor, &slot->before,
					&slot->after, n,
					s->timer.cost.reading_ns) /
		(double)(s->calls_per_sample * n);
}

static enum sl_status
take_samples(struct sampler *s, struct sl_error *err)
{
	size_t n_slots = (s->cap_samples + s->samples_per_slot - 1) /
			 s->samples_per_slot;
	const struct sl__phase_spec sampling = {
		.n_arms = 1,
		.is_in_order = 1,
		.n_rounds = s->how->n_runs ? n_slots : 0,
		.min_rounds = 1,
		.max_rounds = n_slots,
		.time_s = s->how->time_s,
		.rounds_per_probe = SLOTS_PER_PROBE,
		.enough = SL_STOP_PRECISION,
		.run = run_slot,
		.finish = finish_slot,
		.is_enough = is_precise,
		.ctx = s,
	};
	enum sl_status rc;

	s->next_check = s->how->n_warmup + MIN_SAMPLES;
	rc = sl__runner_run(&s->runner, &sampling, err);
	if (rc || s->n_samples > s->how->n_warmup)
		return rc;
	if (s->runner.stopped_by == SL_STOP_INTERRUPT)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the first sample");
	return sl__fail(err, SL_E_MEASURE,
			"%s: %g s do not suffice for more than its warm-up",
			s->what.name, s->how->time_s);
}

/* What the samples mean. */
static enum sl_status
conclude(struct sampler *s, struct sl_measurement *m, struct sl__arena *arena,
	 struct sl_error *err)
{
	struct sl__distribution_options how = {
		.alpha = 0.05,
		.samples_per_slot = s->samples_per_slot,
		.n_warmup = s->how->n_warmup,
		.warmup_is_fixed = s->how->n_warmup > 0,
		.rng = &s->rng,
	};

	m->calls_per_sample = s->calls_per_sample;
	m->clock_cost_ns = s->timer.cost.reading_ns;
	m->clock_resolution_ns = s->timer.cost.resolution_ns;
	m->stopped_by = s->runner.stopped_by;
	m->seed = s->how->seed;
	m->samples_ns = s->samples_ns;
	m->n_samples = s->n_samples;
	m->elapsed_s = sl__runner_elapsed_s(&s->runner);
	sl__sort(s->slot_cpu_ns, s->n_slots);
	m->cpu = sl__quantile_estimate(s->slot_cpu_ns, s->n_slots, 0.5, 0.05);
	return sl__distribution_summarize(&m->wall, s->samples_ns, s->n_samples,
					  &how, arena, err);
}

static void
set_defaults(struct sl_measure_options *how)
{
	if (!how->name)
		how->name = "function";
	if (how->time_s == 0)
		how->time_s = 1;
	if (how->precision == 0)
		how->precision = 0.01;
	if (how->seed == 0)
		how->seed = 1;
}

/* Calibrates, reserves, samples, concludes. */
static enum sl_status
measure(struct sampler *s, struct sl_measurement *m, struct sl__arena *arena,
	const struct sl__monitor_source *monitor, struct sl_error *err)
{
	enum sl_status rc;

	m->name = sl__arena_string(arena, s->how->name);
	sl__rng_init(&s->rng, s->how->seed);
	sl__timer_init(&s->timer, s->how->clock);
	s->runner.control.interrupt = s->how->interrupt;
	s->runner.control.with =
		(struct sl__measurement_sources){s->how->clock, monitor};
	sl__monitor_open(&s->monitor, &s->runner.control.with);
	s->runner.monitor = &s->monitor;
	sl__runner_start_budget(&s->runner, s->how->seed);
	rc = calibrate(s, &m->wall.first_ns, err);
	if (!rc)
		rc = reserve(s, arena, err);
	if (!rc)
		rc = take_samples(s, err);
	sl__monitor_close(&s->monitor, &m->noise);
	if (!rc)
		rc = conclude(s, m, arena, err);
	return rc || m->name ? rc : sl__fail_nomem(err);
}

enum sl_status
sl__measure_function(struct sl_measurement **out, sl_function *fn, void *ctx,
		     const struct sl_measure_options *options,
		     const struct sl__monitor_source *monitor,
		     struct sl_error *err)
{
	struct sl_measure_options how;
	struct sampler s = {.how = &how};
	struct sl_measurement *m;
	struct sl__arena *arena;
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_measure_options", err);

	*out = NULL;
	if (!rc && !fn)
		return sl__fail(err, SL_E_USAGE, "no function to measure");
	set_defaults(&how);
	if (!rc)
		rc = check_options(&how, err);
	if (rc)
		return rc;
	s.what = (struct sl_candidate){how.name, fn, ctx};
	m = sl__arena_object_new(&arena, how.allocator, sizeof(*m));
	if (!m)
		return sl__fail_nomem(err);
	rc = measure(&s, m, arena, monitor, err);
	*out = sl__arena_object_free_on_error(m, rc);
	return rc;
}

enum sl_status
sl_measure(struct sl_measurement **out, sl_function *fn, void *ctx,
	   const struct sl_measure_options *options, struct sl_error *err)
{
	return sl__measure_function(out, fn, ctx, options, NULL, err);
}

void
sl_measurement_free(struct sl_measurement *m)
{
	sl__arena_object_free(m);
}
