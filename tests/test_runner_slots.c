/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runner_slots.c - the one measuring loop: what it tells of its progress
 * and of what disturbs slots, and slots that begin when they are due.
 */
#include "runner_scene.h"

/* Before each round and when all is over: what was done by then. */
static void
progress_is_told_before_each_round(void **state)
{
	struct scene s;

	(void)state;
	for (int by_time = 0; by_time < 2; by_time++) {
		set_scene(&s);
		s.runner.control.progress = tell;
		s.runner.control.progress_ctx = &s;
		if (by_time) {
			s.phase.n_rounds = 0;
			s.phase.time_s = 0.03;
		}
		take(&s);
		assert_int_equal(s.n_told, 11);
		assert_true(by_time ? s.told[0].remaining_s == 0.03
				    : isnan(s.told[0].remaining_s));
		for (size_t i = 0; i < 11; i++) {
			assert_string_equal(s.told[i].what, "measuring");
			assert_int_equal(s.told[i].n_done, i);
			assert_near(s.told[i].share, (double)i / 10, 1e-12);
			assert_true(isnan(s.told[i].median_ns));
			if (i)
				assert_near(s.told[i].remaining_s,
					    0.03 - 0.003 * (double)i, 1e-12);
		}
	}
	/* What is told before the first round may be the reason for none. */
	set_scene(&s);
	s.runner.control.progress = tell;
	s.runner.control.progress_ctx = &s;
	s.interrupt_when_told = 1;
	assert_int_equal(take(&s), SL_STOP_INTERRUPT);
	assert_int_equal(s.n_slots, 0);
	assert_int_equal(s.n_told, 1);
	/* A phase without a name is silent. */
	set_scene(&s);
	s.runner.control.progress = tell;
	s.phase.name = NULL;
	take(&s);
	assert_int_equal(s.n_told, 0);
}

static void
describe(struct sl_progress *now, void *ctx)
{
	const struct scene *s = ctx;

	now->n_done = s->n_slots;
	now->median_ns = 5;
}

static void
progress_may_be_told_before_each_slot(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s);
	s.runner.control.progress = tell;
	s.runner.control.progress_ctx = &s;
	s.phase.n_rounds = 2;
	s.phase.tells_slots = 1;
	s.phase.describe = describe;
	take(&s);
	assert_int_equal(s.n_told, 2 * ARMS + 1);
	for (size_t i = 0; i < s.n_told; i++) {
		assert_int_equal(s.told[i].n_done, i);
		assert_near(s.told[i].median_ns, 5, 0);
	}
}

static void
monitor_slots(struct scene *s, uint64_t disturbed)
{
	s->script.disturbed = disturbed;
	sl__monitor_open(&s->monitor, &s->script.with);
	s->runner.monitor = &s->monitor;
}

/* A slot of the second round and one of the fifth are hit, and all from the
 * eleventh round on, which comes to be more than half of them. */
static void
disturbed_rounds_are_told_and_left_out(void **state)
{
	struct sl_noise noise;
	struct scene s;

	(void)state;
	set_scene(&s);
	monitor_slots(&s, 1u << 4 | 1u << 13 | ~0ull << 30);
	s.phase.n_rounds = 21;
	s.phase.finish = finish;
	take(&s);
	for (size_t i = 0; i < s.n_slots; i++) {
		int is_hit = i == 4 || i == 13 || i >= 30;

		assert_int_equal(s.slots[i].is_disturbed, is_hit);
		assert_true(s.slots[i].after.cpu_ns -
				    s.slots[i].before.cpu_ns ==
			    1000000);
	}
	for (size_t i = 0; i < s.n_taken; i++) {
		int is_hit = i == 1 || i == 4 || i >= 10;
		/* 1 of 2 is half of them, 2 of 5 is not; 7 of 15 is not,
		 * 8 of 16 is. */
		int is_left_out = i == 4 || (i >= 10 && i < 15);

		assert_int_equal(s.taken[i].is_disturbed, is_hit);
		assert_int_equal(s.taken[i].is_left_out, is_left_out);
		assert_true(s.taken[i].took_ns == 3000000);
	}
	assert_int_equal(s.runner.n_disturbed, 13);
	sl__monitor_close(&s.monitor, &noise);
	assert_int_equal(noise.n_slots, 63);
	assert_int_equal(noise.n_disturbed, 35);
	assert_near(noise.involuntary_switches.value, 35, 0);
	assert_near(noise.run_delay_share.value, 0, 0);
}

/* An arm's own knowledge stands for, or against, what was read. */
static void
overrule(struct sl__slot *slot, void *ctx)
{
	(void)ctx;
	slot->is_disturbed = slot->arm == 1 && slot->round == 5;
}

static void
an_arm_may_know_better(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s);
	monitor_slots(&s, ~0ull);
	s.phase.finish = overrule;
	take(&s);
	for (size_t i = 0; i < s.n_taken; i++) {
		assert_int_equal(s.taken[i].is_disturbed, i == 5);
		assert_int_equal(s.taken[i].is_left_out, i == 5);
	}
}

static void
half_the_rounds_are_too_many_to_leave_out(void **state)
{
	(void)state;
	assert_false(sl__round_is_excluded(0, 0, 1));
	assert_false(sl__round_is_excluded(1, 1, 1));
	assert_false(sl__round_is_excluded(1, 1, 2));
	assert_true(sl__round_is_excluded(1, 1, 3));
	assert_true(sl__round_is_excluded(1, 9, 19));
	assert_false(sl__round_is_excluded(1, 10, 20));
	assert_false(sl__round_is_excluded(0, 1, 3));
}

/* Looks grow further apart, by an eighth. */
static void
looks_are_few(void **state)
{
	static const size_t expected[] = {8, 10, 12, 14, 16, 19};
	size_t next = 8, n_looks = 0;

	(void)state;
	for (size_t n = 0; n < 20; n++) {
		if (sl__interim_look_is_due(&next, n))
			assert_int_equal(n, expected[n_looks++]);
	}
	assert_int_equal(n_looks, 6);
}

static void
wait_scripted(uint64_t left_ns, void *ctx)
{
	struct scene *s = ctx;

	s->waited_ns += (double)left_ns;
	s->script.time.now_ns += left_ns;
}

/*
 * One server: requests that are due while it is busy begin late, by the closed
 * form of a queue (Lindley): late(n + 1) = max(0, late(n) + busy - gap).
 */
static void
slots_begin_when_they_are_due(void **state)
{
	static const uint64_t due_ns[] = {0,       3000000, 3500000,
					  4000000, 9000000, 9100000};
	static const uint64_t late_ns[] = {0, 0, 500000, 1000000, 0, 900000};
	struct scene s;

	(void)state;
	for (int waits = 0; waits < 2; waits++) {
		set_scene(&s);
		s.phase.n_arms = 1;
		s.phase.n_rounds = 6;
		s.phase.due_ns = due_ns;
		s.phase.wait = waits ? wait_scripted : NULL;
		s.script.time.reading_ns = waits ? 0 : 1;
		assert_int_equal(take(&s), SL_STOP_RUNS);
		/* Without anyone to wait time is read until it has come: each
		 * reading takes a nanosecond then. */
		for (size_t i = 0; i < 6; i++) {
			assert_true(s.slots[i].due_ns == due_ns[i]);
			assert_near((double)s.slots[i].late_ns,
				    (double)late_ns[i], waits ? 0 : 50);
		}
		if (waits)
			assert_near(s.waited_ns, 2e6 + 3e6, 0);
	}
}

static void
interrupt_waiting(uint64_t left_ns, void *ctx)
{
	struct scene *s = ctx;

	wait_scripted(left_ns / 2, ctx);
	s->interrupted = 1;
}

static void
nobody_waits_after_an_interrupt(void **state)
{
	static const uint64_t due_ns[] = {0, 3600000000000};
	struct scene s;

	(void)state;
	set_scene(&s);
	s.phase.n_arms = 1;
	s.phase.n_rounds = 2;
	s.phase.due_ns = due_ns;
	s.phase.wait = interrupt_waiting;
	assert_int_equal(take(&s), SL_STOP_INTERRUPT);
	assert_int_equal(s.n_slots, 1);
	assert_int_equal(s.n_taken, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress_is_told_before_each_round),
		cmocka_unit_test(progress_may_be_told_before_each_slot),
		cmocka_unit_test(disturbed_rounds_are_told_and_left_out),
		cmocka_unit_test(an_arm_may_know_better),
		cmocka_unit_test(half_the_rounds_are_too_many_to_leave_out),
		cmocka_unit_test(looks_are_few),
		cmocka_unit_test(slots_begin_when_they_are_due),
		cmocka_unit_test(nobody_waits_after_an_interrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
