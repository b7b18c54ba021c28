/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_compare_functions.c - sl_compare() decides what a scripted clock
 * planted.
 *
 * Both candidates share one scripted clock, so that ratios are exact and a run
 * takes milliseconds; rates of error are test_paired_test.c's subject.
 */
#include "harness.h"
#include "counting.h"
#include "scripted.h"
#include "timing/compare_functions.h"

struct scene {
	struct scripted_instruments script;
	struct scripted_work work[3];
	struct sl_candidate who[3];
	struct sl_compare_options how;
};

/* Three candidates of 20 us with 10 % of noise. */
static void
set_scene(struct scene *s)
{
	static const char *const names[] = {"a", "b", "c"};

	memset(s, 0, sizeof(*s));
	script_instruments(&s->script, 20);
	for (size_t i = 0; i < 3; i++) {
		s->work[i].time = &s->script.time;
		s->work[i].name = i + 1;
		s->work[i].base_ns = 20000;
		s->work[i].noise = 0.1;
		s->who[i].name = names[i];
		s->who[i].fn = scripted_call;
		s->who[i].ctx = &s->work[i];
	}
	s->how.struct_size = sizeof(s->how);
	s->how.clock = &s->script.clock;
	s->how.time_s = 1;
}

static struct sl_comparisons *
compare(struct scene *s, size_t n)
{
	struct sl_comparisons *c;
	struct sl_error err = {0};

	if (sl__compare_functions(&c, s->who, n, &s->how, &s->script.source,
				  &err))
		fail_msg("%s", err.text);
	return c;
}

static void
slower_faster_and_same_are_told(void **state)
{
	struct sl_comparisons *c;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work[1].base_ns = 20000 * 1.05;
	s.work[2].base_ns = 20000 / 1.05;
	c = compare(&s, 3);
	assert_int_equal(c->n, 2);
	assert_string_equal(c->rows[0].a, "a");
	assert_string_equal(c->rows[0].b, "b");
	assert_int_equal(c->rows[0].verdict, SL_VERDICT_SLOWER);
	assert_int_equal(c->rows[0].gate, SL_GATE_REGRESSED);
	assert_int_equal(c->rows[1].verdict, SL_VERDICT_FASTER);
	assert_int_equal(c->rows[1].gate, SL_GATE_OK);
	assert_int_equal(c->stopped_by, SL_STOP_VERDICT);
	assert_true(c->rows[0].ratio.lo <= 1.05 && c->rows[0].ratio.hi >= 1.05);
	assert_near(c->rows[0].ratio.value, 1.05, 0.01);
	assert_near(c->rows[0].speedup * c->rows[0].ratio.value, 1, 1e-12);
	assert_true(c->rows[0].decided_after_s <= c->elapsed_s);
	sl_comparisons_free(c);

	set_scene(&s);
	c = compare(&s, 2);
	assert_int_equal(c->rows[0].verdict, SL_VERDICT_SAME);
	assert_int_equal(c->rows[0].gate, SL_GATE_OK);
	sl_comparisons_free(c);
}

/* Both sides must be called equally often: the ratio is of equal work. */
static void
candidates_are_called_equally_often(void **state)
{
	struct sl_comparisons *c;
	struct scene s;

	(void)state;
	set_scene(&s);
	c = compare(&s, 3);
	/* But for the calibration, which may take a few calls more. */
	for (size_t i = 1; i < 3; i++)
		assert_in_range(s.work[i].n_calls - s.work[0].n_calls + 20, 0,
				40);
	assert_true(s.work[0].n_calls > 200);
	sl_comparisons_free(c);
}

/* A slow B once made a slot of A's many calls: minutes for half a second. */
static void
slow_candidate_keeps_the_budget(void **state)
{
	struct sl_comparisons *c;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work[0].base_ns = 1000;
	s.work[1].base_ns = 20e6;
	s.how.time_s = 0.5;
	c = compare(&s, 2);
	assert_true(c->elapsed_s < 0.7);
	assert_int_equal(c->rows[0].verdict, SL_VERDICT_SLOWER);
	sl_comparisons_free(c);
}

static void
missing_names_and_functions(void **state)
{
	struct sl_comparisons *c;
	struct sl_error err;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.who[0].name = NULL;
	s.who[1].name = NULL;
	c = compare(&s, 2);
	assert_string_equal(c->rows[0].a, "A");
	assert_string_equal(c->rows[0].b, "B");
	sl_comparisons_free(c);
	s.who[1].fn = NULL;
	assert_int_equal(sl_compare(&c, s.who, 2, &s.how, &err), SL_E_USAGE);
	assert_string_equal(err.text, "candidate 2 has no function");
}

static void
short_time_leaves_it_undecided(void **state)
{
	struct sl_comparisons *c;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.how.time_s = 0.004; /* two or three rounds; seven are needed */
	c = compare(&s, 2);
	assert_int_equal(c->rows[0].verdict, SL_VERDICT_UNDECIDED);
	assert_int_equal(c->stopped_by, SL_STOP_TIME);
	assert_true(isnan(c->rows[0].decided_after_s));
	assert_int_equal(c->rows[0].ratio.needs_n, 7);
	sl_comparisons_free(c);
}

static void
failing_candidate_is_named(void **state)
{
	struct sl_comparisons *c;
	struct sl_error err;
	struct scene s;

	(void)state;
	for (size_t fail_at = 1; fail_at < 60; fail_at += 29) {
		set_scene(&s);
		s.work[1].fail_at = fail_at;
		assert_int_equal(sl_compare(&c, s.who, 2, &s.how, &err),
				 SL_E_MEASURE);
		assert_null(c);
		assert_string_equal(err.text, "b failed: it returned 7");
	}
}

/* Calls of 3 ms are slots of their own; the cold call and one that calibrates
 * took 3 ms of each.  Rounds of 6 ms fit into 300 ms 48 times; the one that
 * follows is cut short or does not begin. */
static void
time_cuts_a_round_short(void **state)
{
	struct sl_comparisons *c;
	struct scene s;

	(void)state;
	for (int half = 0; half < 2; half++) {
		set_scene(&s);
		for (size_t i = 0; i < 2; i++) {
			s.work[i].base_ns = 3e6;
			s.work[i].noise = 0;
		}
		s.script.time.reading_ns = 1;
		s.how.time_s = half ? 0.302 : 0.3;
		s.how.margin = -1; /* ties are decided by a coin */
		c = compare(&s, 2);
		assert_int_equal(c->stopped_by, SL_STOP_TIME);
		assert_int_equal(c->rows[0].n_rounds, 48);
		assert_int_equal(s.work[0].n_calls + s.work[1].n_calls,
				 2 * (2 + 48) + (size_t)half);
		sl_comparisons_free(c);
	}
	/* The first is played to its end. */
	set_scene(&s);
	s.how.time_s = 1e-9;
	c = compare(&s, 2);
	assert_int_equal(c->rows[0].n_rounds, 1);
	sl_comparisons_free(c);
}

/* Rounds 3 and 8 are hit, by one slot and by the other. */
static void
disturbed_rounds_do_not_count(void **state)
{
	struct sl_comparisons *c;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.script.disturbed = 1u << 6 | 1u << 17;
	s.how.time_s = 0.1;
	s.how.min_rounds = 1000;
	c = compare(&s, 2);
	assert_int_equal(c->rows[0].n_disturbed, 2);
	assert_int_equal(c->rows[0].n_left_out, 2);
	assert_true(c->rows[0].n_rounds > 20);
	assert_in_range(c->noise.n_slots, 2 * (c->rows[0].n_rounds + 2),
			2 * (c->rows[0].n_rounds + 2) + 1);
	assert_int_equal(c->noise.n_disturbed, 2);
	sl_comparisons_free(c);
}

static void
interrupt_keeps_the_rounds_so_far(void **state)
{
	struct sl_comparisons *c;
	struct sl_error err;
	struct scene s;

	(void)state;
	set_scene(&s);
	s.work[1].interrupt_at = 200;
	s.how.interrupt = &s.work[1].interrupted;
	c = compare(&s, 2);
	assert_int_equal(c->stopped_by, SL_STOP_INTERRUPT);
	assert_true(c->rows[0].n_rounds > 0);
	sl_comparisons_free(c);
	/* In the cold call: nothing was compared. */
	set_scene(&s);
	s.work[1].interrupt_at = 1;
	s.how.interrupt = &s.work[1].interrupted;
	assert_int_equal(sl_compare(&c, s.who, 2, &s.how, &err),
			 SL_E_INTERRUPTED);
	assert_null(c);
	assert_string_equal(err.text, "interrupted before the first round");
}

static void
same_seed_gives_the_same_order(void **state)
{
	static const uint64_t seeds[] = {42, 42, 43};
	uint64_t diaries[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct sl_comparisons *c;
		struct scene s;

		set_scene(&s);
		s.how.seed = seeds[i];
		s.how.margin = -1;
		s.how.time_s = 0.05;
		c = compare(&s, 2);
		assert_int_equal(c->seed, seeds[i]);
		diaries[i] = s.script.time.diary;
		sl_comparisons_free(c);
	}
	assert_true(diaries[0] == diaries[1]);
	assert_true(diaries[0] != diaries[2]);
}

static void
absurd_options_are_refused(void **state)
{
	struct sl_comparisons *c;
	struct scene s;

	(void)state;
	for (int i = 0; i < 5; i++) {
		size_t n = 2;

		set_scene(&s);
		if (i == 0)
			n = 1;
		if (i == 1)
			n = 65;
		if (i == 2)
			s.how.time_s = -1;
		if (i == 3)
			s.how.margin = 1;
		if (i == 4)
			s.how.alpha = 0.9;
		assert_int_equal(sl_compare(&c, s.who, n, &s.how, NULL),
				 SL_E_USAGE);
		assert_null(c);
		assert_int_equal(s.work[0].n_calls, 0);
	}
}

static void
every_failed_allocation_is_told_and_leaks_nothing(void **state)
{
	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting counting = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&counting);
		struct sl_comparisons *c;
		struct scene s;
		enum sl_status rc;

		set_scene(&s);
		s.how.allocator = &allocator;
		s.how.time_s = 0.05;
		rc = sl_compare(&c, s.who, 3, &s.how, NULL);
		if (rc == SL_OK) {
			assert_true(fail_at > 3);
			sl_comparisons_free(c);
			assert_int_equal(counting.n_out, 0);
			break;
		}
		assert_int_equal(rc, SL_E_NOMEM);
		assert_null(c);
		assert_int_equal(counting.n_out, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slower_faster_and_same_are_told),
		cmocka_unit_test(candidates_are_called_equally_often),
		cmocka_unit_test(slow_candidate_keeps_the_budget),
		cmocka_unit_test(missing_names_and_functions),
		cmocka_unit_test(short_time_leaves_it_undecided),
		cmocka_unit_test(failing_candidate_is_named),
		cmocka_unit_test(time_cuts_a_round_short),
		cmocka_unit_test(disturbed_rounds_do_not_count),
		cmocka_unit_test(interrupt_keeps_the_rounds_so_far),
		cmocka_unit_test(same_seed_gives_the_same_order),
		cmocka_unit_test(absurd_options_are_refused),
		cmocka_unit_test(
			every_failed_allocation_is_told_and_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
