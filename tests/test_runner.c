/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runner.c - the one measuring loop: the order of its slots, and what
 * ends it, by a clock that is a script.
 */
#include "runner_scene.h"

/* The orders of all rounds as one number. */
static uint64_t
order_of(const struct scene *s)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < s->n_slots; i++)
		hash = hash * 31 + s->slots[i].arm;
	return hash;
}

static void
every_round_is_a_permutation_from_the_seed(void **state)
{
	static const uint64_t seeds[] = {7, 7, 8};
	uint64_t orders[3];
	size_t first[ARMS] = {0};
	struct scene s;

	(void)state;
	for (int k = 0; k < 3; k++) {
		set_scene(&s);
		sl__runner_start_budget(&s.runner, seeds[k]);
		s.phase.n_rounds = 1000;
		assert_int_equal(take(&s), SL_STOP_RUNS);
		assert_int_equal(s.n_slots, 1000 * ARMS);
		orders[k] = order_of(&s);
	}
	assert_true(orders[0] == orders[1]);
	assert_true(orders[0] != orders[2]);
	for (size_t i = 0; i < s.n_slots; i += ARMS) {
		unsigned seen = 0;

		for (size_t k = 0; k < ARMS; k++) {
			seen |= 1u << s.slots[i + k].arm;
			assert_int_equal(s.slots[i + k].nth, k);
			assert_int_equal(s.slots[i + k].round, i / ARMS);
		}
		assert_int_equal(seen, 7);
		first[s.slots[i].arm]++;
	}
	/* Binomial(1000, 1/3): 5 standard deviations are 75. */
	for (int i = 0; i < ARMS; i++)
		assert_in_range(first[i], 333 - 75, 333 + 75);
}

static void
a_phase_in_order_draws_nothing(void **state)
{
	struct sl__rng before;
	struct scene s;

	(void)state;
	set_scene(&s);
	before = s.runner.rng;
	s.runner.order = NULL;
	s.phase.is_in_order = 1;
	take(&s);
	for (size_t i = 0; i < s.n_slots; i++)
		assert_int_equal(s.slots[i].arm, i % ARMS);
	assert_memory_equal(&before, &s.runner.rng, sizeof(before));
}

/* From 32 samples on, with an eighth and one more each time. */
static void
looks_are_an_eighth_apart(void **state)
{
	static const size_t expected[] = {32, 37, 42, 48, 55, 62, 70, 79, 89};
	size_t next = 32, n_looks = 0;

	(void)state;
	for (size_t n = 1; n < 100; n++) {
		if (!sl__interim_look_is_due(&next, n))
			continue;
		assert_int_equal(n, expected[n_looks]);
		n_looks++;
	}
	assert_int_equal(n_looks, sizeof(expected) / sizeof(expected[0]));
	/* Samples come in slots: a look that was missed comes with the next. */
	next = 32;
	assert_true(sl__interim_look_is_due(&next, 80));
	assert_false(sl__interim_look_is_due(&next, 90));
	assert_true(sl__interim_look_is_due(&next, 91));
}

/* A round takes 3 ms. */
static void
time_ends_it_after_the_least_number(void **state)
{
	static const struct {
		double time_s;
		size_t min_rounds, max_rounds, n_rounds, cut, expected;
		uint64_t ahead_ns;
	} rows[] = {
		{0.0101, 0, 0, 0, 0, 4, 0}, /* the round under way is ended */
		{0.0090, 0, 0, 0, 0, 3, 0}, /* to the nanosecond */
		{0.0090, 5, 0, 0, 0, 5, 0}, /* in any case */
		{0.0101, 0, 2, 0, 0, 2, 0}, /* no room for more */
		{0.0101, 0, 0, 7, 0, 7, 0}, /* time does not count */
		{0.0101, 0, 0, 0, 1, 3, 0}, /* a round is cut short */
		{0.0010, 1, 0, 0, 1, 1, 0}, /* but not the first */
		{0.0101, 0, 0, 0, 0, 3, 1500000}, /* half a round ahead */
		{1e-12, 0, 0, 0, 0, 0, 0},        /* none at all */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scene s;

		set_scene(&s);
		s.phase.time_s = rows[i].time_s;
		s.phase.n_rounds = rows[i].n_rounds;
		s.phase.min_rounds = rows[i].min_rounds;
		s.phase.max_rounds = rows[i].max_rounds;
		s.phase.cuts_rounds = (int)rows[i].cut;
		s.runner.ahead_ns = rows[i].ahead_ns;
		assert_int_equal(take(&s), rows[i].n_rounds ? SL_STOP_RUNS
							    : SL_STOP_TIME);
		assert_int_equal(s.n_taken, rows[i].expected);
		assert_int_equal(s.runner.n_begun - s.runner.n_rounds, i == 5);
	}
}

/* The time counts from the start, whatever phases there were; or anew. */
static void
phases_share_the_time(void **state)
{
	struct scene s;

	(void)state;
	for (int anew = 0; anew < 2; anew++) {
		set_scene(&s);
		s.phase.n_rounds = 2;
		take(&s);
		assert_near(sl__runner_elapsed_s(&s.runner), 0.006, 1e-12);
		if (anew)
			sl__runner_restart_budget(&s.runner);
		s.n_taken = 0;
		s.phase.n_rounds = 0;
		s.phase.time_s = 0.012;
		assert_int_equal(take(&s), SL_STOP_TIME);
		assert_int_equal(s.n_taken, anew ? 4 : 2);
		assert_near(sl__runner_spent_share(&s.runner), 1, 1e-12);
	}
}

static void
a_rule_ends_it(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s);
	s.phase.n_rounds = 0;
	s.phase.time_s = 1;
	s.phase.is_enough = is_enough;
	s.phase.enough = SL_STOP_VERDICT;
	s.enough_at = 4;
	assert_int_equal(take(&s), SL_STOP_VERDICT);
	assert_int_equal(s.n_taken, 4);
	assert_int_equal(s.n_asked, 4);
	/* A fixed number is not asked about. */
	s.phase.n_rounds = 9;
	s.n_taken = s.n_asked = 0;
	assert_int_equal(take(&s), SL_STOP_RUNS);
	assert_int_equal(s.n_asked, 0);
}

static void
an_extension_has_a_limit(void **state)
{
	static const struct {
		size_t more_until, expected;
		uint64_t ahead_ns;
	} rows[] = {
		{0, 4, 0},        /* nobody wants it: the end of 10 ms */
		{6, 6, 0},        /* what is wanted */
		{99, 7, 0},       /* 20 ms */
		{99, 6, 2500000}, /* what would end beyond does not begin */
		{3, 4, 9000000},  /* which is no reason to end before */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scene s;

		set_scene(&s);
		s.phase.n_rounds = 0;
		s.phase.time_s = 0.01;
		s.phase.more_s = 0.02;
		s.phase.wants_more = wants_more;
		s.more_until = rows[i].more_until;
		s.runner.ahead_ns = rows[i].ahead_ns;
		assert_int_equal(take(&s), SL_STOP_TIME);
		assert_int_equal(s.n_taken, rows[i].expected);
	}
}

static void
an_interrupt_ends_every_phase_between_slots(void **state)
{
	struct scene s;

	(void)state;
	for (size_t at = 1; at <= 2 * ARMS; at++) {
		set_scene(&s);
		s.interrupt_at = at;
		assert_int_equal(take(&s), SL_STOP_INTERRUPT);
		assert_int_equal(s.n_slots, at);
		assert_int_equal(s.n_taken, at / ARMS);
		assert_int_equal(s.runner.n_begun, (at + ARMS - 1) / ARMS);
		assert_true(sl__runner_is_interrupted(&s.runner));
		/* The next phase does not begin. */
		s.n_taken = 0;
		assert_int_equal(take(&s), SL_STOP_INTERRUPT);
		assert_int_equal(s.n_slots, at);
	}
	/* In an extension, and before what is enough. */
	set_scene(&s);
	s.phase.n_rounds = 0;
	s.phase.time_s = 0.001;
	s.phase.more_s = 1;
	s.phase.wants_more = wants_more;
	s.phase.is_enough = is_enough;
	s.more_until = 99;
	s.interrupt_at = 2 * ARMS;
	s.enough_at = 2;
	assert_int_equal(take(&s), SL_STOP_INTERRUPT);
	assert_int_equal(s.n_taken, 2);
}

/* What an arm runs looks at the flag as well. */
static void
a_slot_may_see_the_interrupt_first(void **state)
{
	struct sl_error err;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.phase.finish = finish;
	s.interrupt_at = s.fail_at = 5;
	s.fails_with = SL_E_INTERRUPTED;
	assert_int_equal(take(&s), SL_STOP_INTERRUPT);
	assert_int_equal(s.n_slots, 5);
	assert_int_equal(s.n_finished, 4);
	assert_int_equal(s.n_taken, 1);
	/* Without the flag it is a failure like any other. */
	set_scene(&s);
	s.fail_at = 5;
	s.fails_with = SL_E_INTERRUPTED;
	assert_int_equal(sl__runner_run(&s.runner, &s.phase, &err),
			 SL_E_INTERRUPTED);
}

static void
a_failure_ends_it(void **state)
{
	struct sl_error err;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.phase.prepare = prepare;
	s.phase.finish = finish;
	s.fail_at = 5;
	assert_int_equal(sl__runner_run(&s.runner, &s.phase, &err),
			 SL_E_MEASURE);
	assert_string_equal(err.text, "slot 5");
	assert_int_equal(s.n_slots, 5);
	assert_int_equal(s.n_prepared, 5);
	assert_int_equal(s.n_finished, 4);
	assert_int_equal(s.n_taken, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_round_is_a_permutation_from_the_seed),
		cmocka_unit_test(looks_are_an_eighth_apart),
		cmocka_unit_test(a_phase_in_order_draws_nothing),
		cmocka_unit_test(time_ends_it_after_the_least_number),
		cmocka_unit_test(phases_share_the_time),
		cmocka_unit_test(a_rule_ends_it),
		cmocka_unit_test(an_extension_has_a_limit),
		cmocka_unit_test(an_interrupt_ends_every_phase_between_slots),
		cmocka_unit_test(a_slot_may_see_the_interrupt_first),
		cmocka_unit_test(a_failure_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
