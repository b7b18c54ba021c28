/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_variant_choice.c - the Pareto front has the points that no other
 * dominates, the recommended variant is the best that is within limits, and a
 * time that is not proved to differ recommends nothing.
 */
#include "harness.h"
#include "analysis/variant_choice.h"

#include <math.h>
#include <string.h>

enum { N = 4 };

static void
front(void **state)
{
	static const double costs[][2] = {{1, 5}, {2, 3}, {3, 3}, {4, 1},
					  {1, 5}, {5, 5}, {2, 4}};
	static const unsigned char wanted[] = {1, 1, 0, 1, 1, 0, 0};
	unsigned char got[7];

	(void)state;
	sl__pareto_front(got, costs[0], 7, 2);
	assert_memory_equal(got, wanted, 7);
}

/* Half the operations at twice the peak, and a quarter of the bytes: both
 * explain 4 times. */
static void
physics(void **state)
{
	(void)state;
	assert_true(fabs(sl__most_speedup(2, 2, 3) - 6) < 1e-12);
	assert_true(fabs(sl__most_speedup(1, 1, 4) - 6) < 1e-12);
}

/* A baseline of 10 ms, one twice as fast that loses much, one a little faster
 * that loses nothing, one whose gain is not proved. */
static struct sl_optimization
make(struct sl_variant_result *rows)
{
	static const struct {
		double ms, accuracy, bytes;
		enum sl_verdict verdict;
	} given[N] = {{10, 0.97, 400, SL_VERDICT_UNDECIDED},
		      {5, 0.90, 100, SL_VERDICT_FASTER},
		      {8, 0.97, 300, SL_VERDICT_FASTER},
		      {7, 0.97, 500, SL_VERDICT_UNDECIDED}};
	struct sl_optimization o = {
		.variants = rows, .n_variants = N, .accuracy_drop = 0.005};

	memset(rows, 0, N * sizeof(*rows));
	for (size_t i = 0; i < N; i++) {
		struct sl_variant_result *r = &rows[i];

		r->time_ns.value = 1e6 * given[i].ms;
		r->time_ns.n = 100;
		r->ratio.value = given[i].ms / 10;
		r->ratio.n = i ? 100 : 0;
		r->verdict = given[i].verdict;
		r->accuracy.value = given[i].accuracy;
		r->accuracy.n = 100;
		r->difference.value.n = i ? 100 : 0;
		r->difference.value.value = given[i].accuracy - 0.97;
		r->memory_bytes = r->size_bytes = (uint64_t)given[i].bytes;
	}
	return o;
}

static void
recommended(void **state)
{
	struct sl_variant_result rows[N];
	struct sl_optimization o = make(rows);

	(void)state;
	sl__variants_judge(&o, rows);
	assert_int_equal(o.recommended, 2);
	assert_false(rows[0].is_pareto);
	assert_true(rows[1].is_pareto);
	assert_true(rows[2].is_pareto);
	/* As fast as the baseline for all that is known, and larger. */
	assert_false(rows[3].is_pareto);
	assert_false(rows[1].is_accurate);

	o.accuracy_drop = 0.1;
	sl__variants_judge(&o, rows);
	assert_int_equal(o.recommended, 1);

	/* Accuracy that chance explains recommends nothing. */
	o.objective = SL_OBJECTIVE_ACCURACY;
	rows[2].accuracy.value = 0.98;
	sl__variants_judge(&o, rows);
	assert_int_equal(o.recommended, 0);
	rows[2].difference.change = SL_ACCURACY_HIGHER;
	sl__variants_judge(&o, rows);
	assert_int_equal(o.recommended, 2);

	/* What the machine cannot do is not believed. */
	o = make(rows);
	rows[2].is_implausible = 1;
	sl__variants_judge(&o, rows);
	assert_int_equal(o.recommended, 0);
}

static void
limits(void **state)
{
	struct sl_variant_result rows[N];
	struct sl_optimization o = make(rows);

	(void)state;
	/* A limit on accuracy takes the place of the drop. */
	o.limits.of[SL_OBJECTIVE_LATENCY] = 6e6;
	o.limits.of[SL_OBJECTIVE_ACCURACY] = 0.89;
	sl__variants_judge(&o, rows);
	assert_int_equal(o.recommended, 1);
	assert_int_equal(o.closest, SIZE_MAX);

	/* 8 ms is a third beyond 6 ms, 0.90 is 5 % below 0.95. */
	o.limits.of[SL_OBJECTIVE_ACCURACY] = 0.95;
	sl__variants_judge(&o, rows);
	assert_int_equal(o.recommended, SIZE_MAX);
	assert_int_equal(o.closest, 1);
	assert_false(rows[1].is_within);

	o.limits = (struct sl_variant_limits){{0}};
	o.objective = SL_OBJECTIVE_MEMORY;
	sl__variants_judge(&o, rows);
	assert_int_equal(o.recommended, 2);
	assert_string_equal(sl_objective_text(o.objective), "memory");
}

/* int8 was "faster" beside 0.74 [0.49, 1.08]: CPU time had proved it. */
static void
verdicts_stand_beside_their_ratio(void **state)
{
	static const struct {
		enum sl_verdict all, wall, expected;
	} rows[] = {
		{SL_VERDICT_FASTER, SL_VERDICT_FASTER, SL_VERDICT_FASTER},
		{SL_VERDICT_FASTER, SL_VERDICT_UNDECIDED, SL_VERDICT_UNDECIDED},
		{SL_VERDICT_SLOWER, SL_VERDICT_SLOWER, SL_VERDICT_SLOWER},
		{SL_VERDICT_SLOWER, SL_VERDICT_UNDECIDED, SL_VERDICT_UNDECIDED},
		{SL_VERDICT_SAME, SL_VERDICT_SAME, SL_VERDICT_SAME},
		/* Withdrawn, since others used the machine. */
		{SL_VERDICT_UNDECIDED, SL_VERDICT_SAME, SL_VERDICT_UNDECIDED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_arm_comparison pair = {.wall_verdict = rows[i].wall};

		pair.comparison.verdict = rows[i].all;
		assert_int_equal(sl__verdict_on_time(&pair), rows[i].expected);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(front),
		cmocka_unit_test(physics),
		cmocka_unit_test(recommended),
		cmocka_unit_test(limits),
		cmocka_unit_test(verdicts_stand_beside_their_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
