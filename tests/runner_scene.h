/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner_scene.h - a runner of three scripted arms, and what it did.
 *
 * A reading of the clock takes no time here; a slot takes what its arm is told
 * to.  So every moment is known.
 */
#ifndef SL_TEST_RUNNER_SCENE_H
#define SL_TEST_RUNNER_SCENE_H

#include "harness.h"
#include "scripted.h"
#include "base/status.h"
#include "timing/runner.h"

enum { ARMS = 3, SLOTS_MOST = 4096 };

struct scene {
	struct scripted_instruments script;
	struct sl__monitor monitor;
	struct sl__runner runner;
	struct sl__phase_spec phase;
	size_t order[ARMS];
	uint64_t slot_ns[ARMS]; /* what each arm takes */
	volatile sig_atomic_t interrupted;

	size_t interrupt_at, fail_at; /* the n-th slot, from 1; 0: none */
	enum sl_status fails_with;    /* SL_OK: SL_E_MEASURE */
	size_t enough_at, more_until; /* rounds */
	struct sl__slot slots[SLOTS_MOST];
	size_t n_slots, n_prepared, n_finished;
	struct sl__finished_round taken[SLOTS_MOST];
	size_t n_taken, n_asked;
	struct sl_progress told[64];
	size_t n_told, interrupt_when_told;
	double waited_ns;
};

static inline void
prepare(struct sl__slot *slot, void *ctx)
{
	struct scene *s = ctx;

	(void)slot;
	s->n_prepared++;
	assert_int_equal(s->n_finished + 1, s->n_prepared);
}

static inline enum sl_status
run(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct scene *s = ctx;

	s->slots[s->n_slots++] = *slot;
	s->script.time.now_ns += s->slot_ns[slot->arm];
	slot->wall_ns = (double)s->slot_ns[slot->arm];
	if (s->n_slots == s->interrupt_at)
		s->interrupted = 1;
	if (s->n_slots == s->fail_at)
		return sl__fail(err,
				s->fails_with ? s->fails_with : SL_E_MEASURE,
				"slot %zu", s->n_slots);
	return SL_OK;
}

static inline void
finish(struct sl__slot *slot, void *ctx)
{
	struct scene *s = ctx;

	s->slots[s->n_slots - 1] = *slot;
	s->n_finished++;
}

static inline enum sl_status
close_round(const struct sl__finished_round *taken, void *ctx,
	    struct sl_error *err)
{
	struct scene *s = ctx;

	(void)err;
	s->taken[s->n_taken++] = *taken;
	return SL_OK;
}

static inline int
is_enough(void *ctx)
{
	struct scene *s = ctx;

	s->n_asked++;
	return s->enough_at && s->runner.n_rounds >= s->enough_at;
}

static inline int
wants_more(void *ctx)
{
	const struct scene *s = ctx;

	return s->runner.n_rounds < s->more_until;
}

static inline void
tell(const struct sl_progress *now, void *ctx)
{
	struct scene *s = ctx;

	s->told[s->n_told++] = *now;
	if (s->n_told == s->interrupt_when_told)
		s->interrupted = 1;
}

/* Three arms of 1 ms, in random order, for ten rounds. */
static inline void
set_scene(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	script_instruments(&s->script, 0);
	for (int i = 0; i < ARMS; i++)
		s->slot_ns[i] = 1000000;
	s->runner.control.with.clock = &s->script.clock;
	s->runner.control.interrupt = &s->interrupted;
	s->runner.order = s->order;
	s->phase = (struct sl__phase_spec){.name = "measuring",
					   .n_arms = ARMS,
					   .n_rounds = 10,
					   .run = run,
					   .close = close_round,
					   .ctx = s};
	s->script.time.now_ns = 5000;
	sl__runner_start_budget(&s->runner, 1);
}

static inline enum sl_stop
take(struct scene *s)
{
	struct sl_error err = {0};

	if (sl__runner_run(&s->runner, &s->phase, &err))
		fail_msg("%s", err.text);
	assert_int_equal(s->n_taken, s->runner.n_rounds);
	return s->runner.stopped_by;
}

#endif
