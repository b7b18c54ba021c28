/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_anytime_t.c - against the formula evaluated elsewhere (NumPy, once),
 * and in simulated series that are looked at after each figure.
 */
#include "stats/anytime_t.h"
#include "harness.h"
#include "base/rng.h"

enum { SERIES = 2000, LENGTH = 50 };

static struct sl__anytime_t
of(const double *x, size_t n)
{
	struct sl__anytime_t t = {0};

	for (size_t i = 0; i < n; i++)
		sl__anytime_t_add(&t, x[i]);
	return t;
}

static void
evidence_is_what_the_formula_says(void **state)
{
	static const double x[] = {0.1, 0.12, 0.09, 0.13};
	struct sl__anytime_t t = of(x, 4);

	(void)state;
	assert_near(sl__anytime_t_log_e(&t, 0, 1), 4.384017584085, 1e-11);
	assert_near(sl__anytime_t_log_e(&t, 0.05, 1), 3.009933931389, 1e-11);
	assert_near(sl__anytime_t_log_e(&t, 0.2, 0), 3.995622028781, 1e-11);
}

static void
the_other_side_is_no_evidence(void **state)
{
	static const double x[] = {0.1, 0.12, 0.09, 0.13};
	struct sl__anytime_t t = of(x, 4), none = {0};

	(void)state;
	assert_true(sl__anytime_t_log_e(&t, 0, 0) < 0);
	assert_true(sl__anytime_t_log_e(&t, 0.2, 1) < 0);
	assert_near(sl__anytime_t_log_e(&none, 0, 1), 0, 0);
}

/* At the ends of the interval the evidence is just what it takes. */
static void
the_interval_ends_where_evidence_begins(void **state)
{
	static const double x[] = {1.2, 0.7, 1.9, 1.4, 0.8, 1.1};
	struct sl__anytime_t t = of(x, 6);
	double half = sl__anytime_t_half_width(&t, 0.05);

	(void)state;
	assert_near(sl__anytime_t_log_e(&t, t.mean - half, 1), log(20), 1e-9);
	assert_near(sl__anytime_t_log_e(&t, t.mean + half, 0), log(20), 1e-9);
	t = of(x, 2);
	assert_true(isinf(sl__anytime_t_half_width(&t, 0.05)));
	t = of(x, 3);
	assert_true(isfinite(sl__anytime_t_half_width(&t, 0.05)));
}

/* Figures that are all alike prove their mean, whatever is 0 / 0 there. */
static void
equal_figures_are_no_trouble(void **state)
{
	static const double x[] = {0.5, 0.5, 0.5, 0.5};
	struct sl__anytime_t t = of(x, 4);

	(void)state;
	assert_true(sl__anytime_t_log_e(&t, 0, 1) > log(100));
	assert_true(sl__anytime_t_log_e(&t, 0.5, 1) < 0);
	assert_near(sl__anytime_t_half_width(&t, 0.05), 0, 0);
}

static size_t
count_crossings(double mean)
{
	struct sl__rng rng;
	size_t n = 0;

	sl__rng_init(&rng, 7);
	for (int s = 0; s < SERIES; s++) {
		struct sl__anytime_t t = {0};
		int crossed = 0;

		for (int i = 0; i < LENGTH; i++) {
			sl__anytime_t_add(&t, mean + sl__rng_normal(&rng));
			crossed |= sl__anytime_t_log_e(&t, 0, 1) >= log(20) ||
				   sl__anytime_t_log_e(&t, 0, 0) >= log(20);
		}
		n += (size_t)crossed;
	}
	return n;
}

static void
looking_often_does_not_fool_it(void **state)
{
	size_t n = count_crossings(0);

	(void)state;
	print_message("crossed in %zu of %d series without an effect\n", n,
		      SERIES);
	/* At most 5 % of them; four deviations of such a count are 39. */
	assert_in_range(n, 1, SERIES / 20 + 39);
}

static void
an_effect_is_found(void **state)
{
	(void)state;
	assert_int_equal(count_crossings(3), SERIES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evidence_is_what_the_formula_says),
		cmocka_unit_test(the_other_side_is_no_evidence),
		cmocka_unit_test(the_interval_ends_where_evidence_begins),
		cmocka_unit_test(equal_figures_are_no_trouble),
		cmocka_unit_test(looking_often_does_not_fool_it),
		cmocka_unit_test(an_effect_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
