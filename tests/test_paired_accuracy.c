/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_paired_accuracy.c - samples gained and lost are counted, the e-value is
 * its closed form, and where two models are equally often right, a difference
 * is claimed at most as often as alpha says and the interval covers 0.
 */
#include "harness.h"
#include "base/rng.h"
#include "stats/paired_accuracy.h"

#include <math.h>

enum { N = 200, TRIALS = 2000 };

static void
counts(void **state)
{
	/* 8 lost, 1 gained, of 20. */
	double a[20], b[20], scratch[20];
	struct sl_accuracy_difference d;
	/* Krichevsky and Trofimov: 2^9 B(1.5, 8.5) / B(.5, .5). */
	double log_e = 9 * log(2) + lgamma(1.5) + lgamma(8.5) - lgamma(10) -
		       (2 * lgamma(0.5) - lgamma(1));

	(void)state;
	for (size_t i = 0; i < 20; i++) {
		a[i] = i != 0;
		b[i] = i == 0 || i > 8;
	}
	d = sl__paired_accuracy(a, b, 20, 0.05, scratch);
	assert_int_equal(d.n_gained, 1);
	assert_int_equal(d.n_lost, 8);
	assert_true(fabs(d.value.value + 7.0 / 20) < 1e-12);
	assert_true(fabs(d.log_e - log_e) < 1e-9);
	/* E is 6: no proof at 5 %, a proof at 20 %. */
	assert_int_equal(d.change, SL_ACCURACY_UNPROVED);
	d = sl__paired_accuracy(a, b, 20, 0.2, scratch);
	assert_int_equal(d.change, SL_ACCURACY_LOWER);
	d = sl__paired_accuracy(b, a, 20, 0.2, scratch);
	assert_int_equal(d.change, SL_ACCURACY_HIGHER);
	assert_string_equal(sl_accuracy_change_text(d.change), "higher");

	/* Nothing differs: 0, and no more certain than 20 samples make it. */
	d = sl__paired_accuracy(a, a, 20, 0.05, scratch);
	assert_int_equal(d.change, SL_ACCURACY_UNPROVED);
	/* Clopper and Pearson, 0 of 20 at 97.5 %: 1 - 0.0125^(1/20). */
	assert_true(fabs(d.value.hi - (1 - pow(0.0125, 0.05))) < 1e-9);
	assert_true(fabs(d.value.lo + d.value.hi) < 1e-12);
}

static void
shares_have_students_interval(void **state)
{
	const double a[] = {0.5, 0.25, 1, 0.75}, b[] = {0.75, 0.5, 1, 1};
	double scratch[4];
	struct sl_accuracy_difference d =
		sl__paired_accuracy(a, b, 4, 0.05, scratch);
	/* Mean 3/16, standard error 1/16; t(3, .975) = 3.182446. */
	double half = 3.182446305284263 / 16;

	(void)state;
	assert_int_equal(d.n_gained, 3);
	assert_int_equal(d.n_lost, 0);
	assert_true(fabs(d.value.lo - (3.0 / 16 - half)) < 1e-6);
	assert_true(fabs(d.value.hi - (3.0 / 16 + half)) < 1e-6);
	assert_int_equal(d.value.method, SL_METHOD_STUDENT);
}

/* Two models that are right nine times in ten, whatever the other is. */
static void
equal_models(void **state)
{
	double a[N], b[N], scratch[N];
	size_t n_claimed = 0, n_covered = 0;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 7);
	for (size_t k = 0; k < TRIALS; k++) {
		struct sl_accuracy_difference d;

		for (size_t i = 0; i < N; i++) {
			a[i] = sl__rng_below(&rng, 10) != 0;
			b[i] = sl__rng_below(&rng, 10) != 0;
		}
		d = sl__paired_accuracy(a, b, N, 0.05, scratch);
		n_claimed += d.change != SL_ACCURACY_UNPROVED;
		n_covered += d.value.lo <= 0 && d.value.hi >= 0;
	}
	assert_true(n_claimed <= TRIALS / 20);
	assert_true(n_covered >= TRIALS * 95 / 100);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(shares_have_students_interval),
		cmocka_unit_test(equal_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
