/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gate_fresh.c - a fresh comparison judged by limits: the comparison's own
 * verdict of the time, exact memory and FLOPs, layers by their intervals, and
 * nothing passes where most of the measurement was disturbed.
 */
#include "harness.h"
#include "sleuth.h"

static const struct sl_compared_layer layers[] = {
	{.name = "slow",
	 .ratio = {.value = 1.2, .lo = 1.15, .hi = 1.3, .n = 9}},
	{.name = "fine",
	 .ratio = {.value = 1.0, .lo = 0.9, .hi = 1.04, .n = 9}},
	{.name = "open", .ratio = {.value = 1.0, .lo = 0.9, .hi = 1.2, .n = 9}},
	{.name = "alone", .ratio = {.value = NAN, .lo = NAN, .hi = NAN}},
};

static const struct sl_model_arm_result sides[] = {
	{.wall_ns = {.value = 100}, .memory_bytes = 1000, .nominal_flops = 50},
	{.wall_ns = {.value = 101}, .memory_bytes = 1100, .nominal_flops = 50},
};

static struct sl_gate_check *
judge(enum sl_gate time, size_t n_disturbed, const struct sl_gate_limit *limits,
      size_t n)
{
	const struct sl_arm_comparison pair = {
		.comparison = {.a = "old",
			       .b = "new",
			       .ratio = {.value = 1.01,
					 .lo = 1.0,
					 .hi = 1.015,
					 .n = 50},
			       .gate = time,
			       .margin = 0.02},
		.layers = layers,
		.n_layers = sizeof(layers) / sizeof(layers[0])};
	const struct sl_model_comparison c = {
		.sides = sides,
		.n = 2,
		.pairs = &pair,
		.n_pairs = 1,
		.noise = {.n_slots = 100, .n_disturbed = n_disturbed}};
	struct sl_gate_check *out;
	struct sl_error err;

	if (sl_gate_models(&out, &c, limits, n, &err))
		fail_msg("%s", err.text);
	assert_true(out->is_fresh);
	return out;
}

static void
each_limit_is_judged(void **state)
{
	static const struct sl_gate_limit limits[] = {
		{.metric = SL_GATE_TIME, .share = 0.5},
		{.metric = SL_GATE_MEMORY, .share = 0.09},
		{.metric = SL_GATE_MEMORY, .share = 0.1},
		{.metric = SL_GATE_FLOPS},
		{.metric = SL_GATE_ACCURACY, .share = 0.01},
		{.metric = SL_GATE_TIME, .share = 0.1, .layer = "slow"},
		{.metric = SL_GATE_TIME, .share = 0.1, .layer = "fine"},
		{.metric = SL_GATE_TIME, .share = 0.1, .layer = "open"},
		{.metric = SL_GATE_TIME, .share = 0.1, .layer = "alone"},
		{.metric = SL_GATE_TIME, .share = 0.1, .layer = "nosuch"},
	};
	static const enum sl_gate verdicts[] = {
		SL_GATE_OK,       SL_GATE_REGRESSED, SL_GATE_OK,
		SL_GATE_OK,       SL_GATE_UNDECIDED, SL_GATE_REGRESSED,
		SL_GATE_OK,       SL_GATE_UNDECIDED, SL_GATE_UNDECIDED,
		SL_GATE_UNDECIDED};
	static const int invalid[] = {0, 0, 0, 0, 1, 0, 0, 0, 1, 1};
	struct sl_gate_check *g = judge(SL_GATE_OK, 10, limits, 10);

	(void)state;
	assert_int_equal(g->n_rows, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(g->rows[i].verdict, verdicts[i]);
		assert_int_equal(g->rows[i].invalid != NULL, invalid[i]);
		assert_string_equal(g->rows[i].name, "new");
	}
	assert_near(g->rows[0].limit, 0.02, 0); /* the comparison's margin */
	assert_near(g->rows[1].ratio.value, 1.1, 1e-12);
	assert_int_equal(g->verdict, SL_GATE_REGRESSED);
	assert_true(g->is_invalid);
	sl_gate_check_free(g);
}

static void
a_busy_machine_passes_nothing(void **state)
{
	static const enum sl_gate times[] = {SL_GATE_OK, SL_GATE_UNDECIDED,
					     SL_GATE_REGRESSED};
	static const enum sl_gate busy[] = {
		SL_GATE_UNDECIDED, SL_GATE_UNDECIDED, SL_GATE_REGRESSED};
	static const struct sl_gate_limit limit = {.metric = SL_GATE_TIME};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct sl_gate_check *g = judge(times[i], 50, &limit, 1);

		assert_int_equal(g->verdict, times[i]);
		assert_false(g->is_disturbed);
		sl_gate_check_free(g);
		g = judge(times[i], 51, &limit, 1);
		assert_int_equal(g->verdict, busy[i]);
		assert_true(g->is_disturbed);
		sl_gate_check_free(g);
	}
}

static void
commands_are_judged_too(void **state)
{
	const struct sl_bench_result results[] = {
		{.wall = {.median = {.value = 10}},
		 .peak_bytes = {.value = 1000}},
		{.wall = {.median = {.value = 20}},
		 .peak_bytes = {.value = 1001}}};
	const struct sl_comparison c = {
		.a = "a",
		.b = "b",
		.ratio = {.value = 2, .lo = 1.9, .hi = 2.1, .n = 10},
		.gate = SL_GATE_REGRESSED,
		.margin = 0.02};
	struct sl_bench b = {.n_results = 2,
			     .results = results,
			     .n_comparisons = 1,
			     .comparisons = &c};
	struct sl_gate_check *g;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_gate_commands(&g, &b, NULL, 0, &err), SL_OK);
	assert_int_equal(g->n_rows, 2);
	assert_near(g->rows[0].now, 20, 0);
	assert_int_equal(g->rows[0].verdict, SL_GATE_REGRESSED);
	assert_int_equal(g->rows[1].metric, SL_GATE_MEMORY);
	assert_int_equal(g->rows[1].verdict, SL_GATE_REGRESSED);
	sl_gate_check_free(g);
	b.n_results = 1;
	assert_int_equal(sl_gate_commands(&g, &b, NULL, 0, &err), SL_E_USAGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_limit_is_judged),
		cmocka_unit_test(a_busy_machine_passes_nothing),
		cmocka_unit_test(commands_are_judged_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
