/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_proportion.c - Clopper-Pearson intervals.
 *
 * Oracles: the closed forms at 0 and n, and exact coverage: for every rate
 * the probabilities of the outcomes whose interval holds it sum to 95 % at
 * least.
 */
#include "harness.h"
#include "stats/proportion.h"

static void
ends_have_closed_forms(void **state)
{
	struct sl_estimate none = sl__proportion(0, 10, 0.05);
	struct sl_estimate all = sl__proportion(10, 10, 0.05);

	(void)state;
	/* 0 of n: [0, 1 - (alpha/2)^(1/n)]. */
	assert_near(none.lo, 0, 0);
	assert_near(none.hi, 1 - pow(0.025, 0.1), 1e-12);
	assert_near(all.lo, pow(0.025, 0.1), 1e-12);
	assert_near(all.hi, 1, 0);
	assert_near(none.value, 0, 0);
	assert_int_equal(none.method, SL_METHOD_BINOMIAL);
}

static void
coverage_is_at_least_nominal(void **state)
{
	enum { N = 30 };

	(void)state;
	for (int step = 1; step < 100; step++) {
		double p = step / 100.0;
		double covered = 0;

		for (int k = 0; k <= N; k++) {
			struct sl_estimate e =
				sl__proportion((size_t)k, N, 0.05);
			double log_choose = lgamma(N + 1) - lgamma(k + 1) -
					    lgamma(N - k + 1);

			if (e.lo <= p && p <= e.hi)
				covered += exp(log_choose + k * log(p) +
					       (N - k) * log1p(-p));
		}
		assert_true(covered >= 0.95);
	}
}

static void
nothing_tried_is_refused(void **state)
{
	struct sl_estimate e = sl__proportion(0, 0, 0.05);

	(void)state;
	assert_true(isnan(e.value) && isnan(e.lo) && isnan(e.hi));
	assert_int_equal(e.needs_n, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_have_closed_forms),
		cmocka_unit_test(coverage_is_at_least_nominal),
		cmocka_unit_test(nothing_tried_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
