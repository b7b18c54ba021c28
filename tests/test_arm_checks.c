/* SPDX-License-Identifier: Apache-2.0 */
/* test_arm_checks.c - proves what may be said of a pair while others use the
 * CPUs. */
#include "harness.h"
#include "driver/arm_checks.h"

static struct sl_arm_comparison
withdrawn(enum sl_verdict verdict, enum sl_gate gate, int has_same_threads)
{
	struct sl_arm_comparison pair = {.wall_verdict = verdict};

	pair.comparison.verdict = verdict;
	pair.comparison.gate = gate;
	pair.comparison.decided_after_s = 1;
	sl__arm_withdraw_verdicts(&pair, has_same_threads);
	return pair;
}

/* Others slow both alike: a difference that was found is one. */
static void
differences_stand_between_equals(void **state)
{
	struct sl_arm_comparison pair =
		withdrawn(SL_VERDICT_FASTER, SL_GATE_OK, 1);

	(void)state;
	assert_int_equal(pair.comparison.verdict, SL_VERDICT_FASTER);
	assert_int_equal(pair.comparison.gate, SL_GATE_OK);
	assert_near(pair.comparison.decided_after_s, 1, 0);
	pair = withdrawn(SL_VERDICT_SLOWER, SL_GATE_REGRESSED, 1);
	assert_int_equal(pair.comparison.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(pair.comparison.gate, SL_GATE_REGRESSED);
}

static void
nothing_is_the_same_on_a_busy_machine(void **state)
{
	struct sl_arm_comparison pair =
		withdrawn(SL_VERDICT_SAME, SL_GATE_OK, 1);

	(void)state;
	assert_int_equal(pair.comparison.verdict, SL_VERDICT_UNDECIDED);
	assert_int_equal(pair.comparison.gate, SL_GATE_UNDECIDED);
	assert_true(isnan(pair.comparison.decided_after_s));
	pair = withdrawn(SL_VERDICT_UNDECIDED, SL_GATE_OK, 1);
	assert_int_equal(pair.comparison.gate, SL_GATE_UNDECIDED);
}

/* A thread for every CPU waits for those that others have, one thread does
 * not. */
static void
nothing_is_decided_between_numbers_of_threads(void **state)
{
	static const enum sl_verdict verdicts[] = {SL_VERDICT_FASTER,
						   SL_VERDICT_SLOWER};
	static const enum sl_gate gates[] = {SL_GATE_OK, SL_GATE_REGRESSED};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct sl_arm_comparison pair =
			withdrawn(verdicts[i], gates[i], 0);

		assert_int_equal(pair.comparison.verdict, SL_VERDICT_UNDECIDED);
		assert_int_equal(pair.wall_verdict, SL_VERDICT_UNDECIDED);
		assert_int_equal(pair.comparison.gate, SL_GATE_UNDECIDED);
		assert_true(isnan(pair.comparison.decided_after_s));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_stand_between_equals),
		cmocka_unit_test(nothing_is_the_same_on_a_busy_machine),
		cmocka_unit_test(nothing_is_decided_between_numbers_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
