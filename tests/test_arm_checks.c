/* SPDX-License-Identifier: Apache-2.0 */
/* test_arm_checks.c - proves what may be said of a pair while others use the
 * CPUs, and where equal layers ran other algorithms. */
#include "harness.h"
#include "driver/arm_checks.h"

#include <string.h>

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

/* B is so much faster (below 0) or slower than A, whose iteration takes 100 ns;
 * one of two layers makes so much of that, and ran another algorithm. */
static struct sl_arm_comparison
chosen(double change_ns, double by_layer_ns, struct sl_compared_layer *layers)
{
	enum sl_verdict verdict = change_ns < 0 ? SL_VERDICT_FASTER
						: SL_VERDICT_SLOWER;
	struct sl_arm_comparison pair = {.wall_verdict = verdict,
					 .layers = layers,
					 .n_layers = 2,
					 .n_other_kernels = 1};

	pair.comparison.verdict = pair.cpu.verdict = verdict;
	pair.comparison.gate = change_ns < 0 ? SL_GATE_OK : SL_GATE_REGRESSED;
	pair.comparison.margin = 0.01;
	pair.change_ns.lo = change_ns - 2;
	pair.change_ns.hi = change_ns + 2;
	memset(layers, 0, 2 * sizeof(*layers));
	layers[0].change_ns.lo = layers[0].change_ns.hi = 50;
	layers[1].has_other_kernel = 1;
	layers[1].change_ns.lo = by_layer_ns - 1;
	layers[1].change_ns.hi = by_layer_ns + 1;
	sl__arm_withdraw_choices(&pair, 100);
	return pair;
}

static void
differences_stand_without_other_algorithms(void **state)
{
	struct sl_compared_layer layers[2];
	struct sl_arm_comparison pair = chosen(-20, -16, layers);

	(void)state;
	assert_int_equal(pair.comparison.verdict, SL_VERDICT_FASTER);
	assert_int_equal(pair.wall_verdict, SL_VERDICT_FASTER);
	assert_int_equal(pair.comparison.gate, SL_GATE_OK);
	/* 20 - 2 - 15 - 1 ns: 2 % of 100 ns. */
	pair = chosen(20, 15, layers);
	assert_int_equal(pair.comparison.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(pair.comparison.gate, SL_GATE_REGRESSED);
	/* 0.5 ns are a difference, and within the margin. */
	pair = chosen(20, 16.5, layers);
	assert_int_equal(pair.comparison.verdict, SL_VERDICT_SLOWER);
	assert_int_equal(pair.comparison.gate, SL_GATE_UNDECIDED);
}

static void
other_algorithms_explain_no_model(void **state)
{
	struct sl_compared_layer layers[2];
	struct sl_arm_comparison pair = chosen(-20, -18, layers);

	(void)state;
	assert_int_equal(pair.comparison.verdict, SL_VERDICT_UNDECIDED);
	assert_int_equal(pair.wall_verdict, SL_VERDICT_UNDECIDED);
	assert_int_equal(pair.cpu.verdict, SL_VERDICT_UNDECIDED);
	assert_int_equal(pair.comparison.gate, SL_GATE_UNDECIDED);
	pair = chosen(20, 17.5, layers);
	assert_int_equal(pair.comparison.verdict, SL_VERDICT_UNDECIDED);
	assert_int_equal(pair.comparison.gate, SL_GATE_UNDECIDED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_stand_between_equals),
		cmocka_unit_test(nothing_is_the_same_on_a_busy_machine),
		cmocka_unit_test(nothing_is_decided_between_numbers_of_threads),
		cmocka_unit_test(differences_stand_without_other_algorithms),
		cmocka_unit_test(other_algorithms_explain_no_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
