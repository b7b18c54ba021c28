/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bottleneck_noise.c - proves what answers that cannot be, answers that
 * were not asked for and small operations do to a judgement.
 */
#include "bottleneck_case.h"

/* 100 MB at DRAM's rate would be clear, but for answers that cannot be: times
 * that are so far off tell less than their few rounds claim. */
static void
impossible_answers_make_it_abstain(void **state)
{
	const struct answers clear = {5.5, 0.01, 100, 1, 1.02, 1.9, 1.2, 0.02};
	struct answers off[] = {clear, clear, clear};

	(void)state;
	assert_int_equal(judge(clear), SL_BOUND_DRAM);
	off[0].cold = 0.3;
	off[1].warm = 0.3;
	off[2].hog = 0.3;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(judge(off[i]), SL_BOUND_UNKNOWN);
}

/* 100 MB and an element-wise function on them: no experiment, no claim that
 * memory is not what it waits for. */
static void
instructions_need_an_experiment(void **state)
{
	struct sl__step_evidence c =
		case_of((struct answers){12, 0.4, 100, 0, 0, 0, 0, 0.02});
	struct sl__bound_scores s;

	(void)state;
	c.core_flops = 0;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_true(s.probability[SL_BOUND_INSTRUCTIONS] <= 0);
	c = case_of((struct answers){12, 0.4, 100, 1, 1.02, 1, 1.95, 0.02});
	c.core_flops = 0;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_INSTRUCTIONS);
}

/* 1.2 us, more than an empty step, and three times as long on two threads as
 * on one: it pays for starting them. */
static void
threads_that_slow_it_down_are_overhead(void **state)
{
	const struct answers a = {0.0012, 1e-6, 0.001, 1.05, 4, 1, 0.33, 0.03};

	(void)state;
	assert_int_equal(judge(a), SL_BOUND_OVERHEAD);
}

/* 12 us on one thread; two take 7.2: half of it, and a start of 1 us.  The
 * machine that starts them at once loses these 1.2 us by waiting. */
static void
starting_threads_is_no_waiting(void **state)
{
	struct sl__step_evidence c = case_of((struct answers){
		0.0072, 0.0009, 0.05, 1.02, 1.4, 1, 1.667, 0.02});
	struct sl__bound_scores near, far;

	(void)state;
	sl__bound_classes_score(&far, &c, ideal_classes());
	assert_int_equal(far.bound, SL_BOUND_COMPUTE);
	c.step_ns = 1;
	sl__bound_classes_score(&near, &c, ideal_classes());
	assert_true(near.probability[SL_BOUND_IMBALANCE] >
		    2 * far.probability[SL_BOUND_IMBALANCE]);
}

/* 9 us are nine empty steps: size does not speak against another bound. */
static void
several_empty_steps_are_enough(void **state)
{
	const double times_ms[] = {0.009, 0.09};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct sl__step_evidence c = case_of((struct answers){
			times_ms[i], 0.0016 * times_ms[i] / 0.009, 0.01, 1.01,
			1.02, 1.01, 1.95, 0.02});
		struct sl__bound_scores s;

		sl__bound_classes_score(&s, &c, ideal_classes());
		assert_near(s.costs[SL_BOUND_COMPUTE][SL__EXPERIMENT_SIZE], 0,
			    1e-9);
	}
}

/* 70 ns where an empty step of two threads takes 1 us: whatever it answers,
 * recorded of such steps, it is small. */
static void
what_is_over_at_once_is_overhead(void **state)
{
	static const struct answers recorded[] = {
		{0.00007, 1e-7, 0.0002, 1.17, 8.27, 1.21, 2.0, 0.05},
		{0.00007, 1e-7, 0.0002, 2.07, 5.78, 1.25, 2.07, 0.05},
		{0.0002, 1e-7, 0.0006, 4.57, 0.58, 8.69, 0.27, 0.05},
		{0.0005, 1e-7, 0.0004, 4.0, 0.96, 5.0, 0.4, 0.05},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		assert_int_equal(judge(recorded[i]), SL_BOUND_OVERHEAD);
}

/* Somewhat longer than two empty steps, on one of two threads: no start is in
 * that, and the other thread has nothing to do. */
static void
one_thread_by_itself_is_imbalance(void **state)
{
	struct answers a = {0.0021, 1e-6, 0.01, 1.02, 1.2, 1.02, 1.1, 0.03};

	(void)state;
	assert_int_equal(judge(a), SL_BOUND_IMBALANCE);
	/* Where starting the other would take what it saves it misses nothing. */
	a.ms = 0.0019;
	assert_int_not_equal(judge(a), SL_BOUND_IMBALANCE);
}

/* 1.5 MB that a cache holds, at 1.7 times what the next one gives, and faster
 * still when they have just been there: the next one is not it. */
static void
no_memory_is_exceeded(void **state)
{
	struct sl__step_evidence c = case_of(
		(struct answers){0.0088, 1e-4, 1.5, 1.7, 0, 0, 0, 0.02});
	struct sl__bound_scores s;

	(void)state;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_near(s.probability[SL_BOUND_L3], 0, 0);
}

/* 100 MB at DRAM's rate, whom no hog disturbs and whom a second thread helps:
 * there is no time left for anything but waiting. */
static void
what_fills_the_roof_waits_for_memory(void **state)
{
	struct sl__step_evidence c =
		case_of((struct answers){4.9, 0.4, 100, 1, 1, 1, 1.94, 0.02});
	struct sl__bound_scores s;

	(void)state;
	c.core_flops = 0;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_near(s.probability[SL_BOUND_INSTRUCTIONS], 0, 0);
	c.at_ns[SL_CONDITION_IN_PLACE] *= 1.1;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_true(s.probability[SL_BOUND_INSTRUCTIONS] > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(impossible_answers_make_it_abstain),
		cmocka_unit_test(instructions_need_an_experiment),
		cmocka_unit_test(threads_that_slow_it_down_are_overhead),
		cmocka_unit_test(starting_threads_is_no_waiting),
		cmocka_unit_test(several_empty_steps_are_enough),
		cmocka_unit_test(what_is_over_at_once_is_overhead),
		cmocka_unit_test(one_thread_by_itself_is_imbalance),
		cmocka_unit_test(no_memory_is_exceeded),
		cmocka_unit_test(what_fills_the_roof_waits_for_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
