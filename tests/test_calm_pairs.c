/* SPDX-License-Identifier: Apache-2.0 */
/* test_calm_pairs.c - differences of the calmer rounds, of synthetic times. */
#include "harness.h"
#include "stats/calm_pairs.h"
#include "base/rng.h"

enum { N_MOST = 1024 };

struct made {
	struct sl__arena arena;
	struct sl__calm_pairs pairs;
	double calm[N_MOST];
};

static void
open_pairs(struct made *m)
{
	sl__arena_init(&m->arena, NULL);
	assert_int_equal(sl__calm_pairs_init(&m->pairs, N_MOST, &m->arena), 0);
}

/* Round i takes i more in all and has the difference i. */
static void
which_are_calm(void **state)
{
	static const struct {
		size_t n, n_calm;
	} cases[] = {{0, 0}, {1, 1},  {5, 5},  {6, 6},
		     {9, 6}, {12, 6}, {13, 7}, {100, 50}};
	static struct made m;

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		open_pairs(&m);
		/* The calmest come last. */
		for (size_t i = cases[c].n; i-- > 0;)
			sl__calm_pairs_add(&m.pairs, 1000, 1000 + (double)i);
		assert_int_equal(sl__calm_pairs_differences(&m.pairs, m.calm),
				 cases[c].n_calm);
		for (size_t i = 0; i < cases[c].n_calm; i++)
			assert_near(m.calm[i], (double)i, 0);
		sl__arena_release(&m.arena);
	}
}

/* Of five a median has no interval. */
static void
too_few(void **state)
{
	static struct made m;
	struct sl_estimate e;

	(void)state;
	open_pairs(&m);
	e = sl__calm_pairs_median(&m.pairs, m.calm);
	assert_true(isnan(e.value) && e.needs_n == 6);
	for (int i = 0; i < 5; i++)
		sl__calm_pairs_add(&m.pairs, 100, 103);
	e = sl__calm_pairs_median(&m.pairs, m.calm);
	assert_near(e.value, 3, 0);
	assert_int_equal(e.needs_n, 6);
	sl__calm_pairs_add(&m.pairs, 100, 103);
	e = sl__calm_pairs_median(&m.pairs, m.calm);
	assert_int_equal(e.needs_n, 0);
	sl__arena_release(&m.arena);
}

/*
 * Two of which the second takes 2 longer, with noise of 1, and every pass is
 * hit by something of 300 in one of five cases: 26 of 40 rounds are clean, and
 * the calm ones almost always are.  Neither of the two is favoured.
 */
static void
disturbances_are_left_out(void **state)
{
	static struct made m;
	struct sl__rng rng;
	double sum = 0, most = 0;

	(void)state;
	sl__rng_init(&rng, 17);
	for (int k = 0; k < 200; k++) {
		double value;

		open_pairs(&m);
		for (int i = 0; i < 40; i++) {
			double iteration[2];

			for (int w = 0; w < 2; w++)
				iteration[w] =
					1000 + 2 * w + sl__rng_normal(&rng) +
					(sl__rng_below(&rng, 5) < 1 ? 300 : 0);
			sl__calm_pairs_add(&m.pairs, iteration[0],
					   iteration[1]);
		}
		value = sl__calm_pairs_median(&m.pairs, m.calm).value;
		sum += value;
		most = fmax(most, fabs(value - 2));
		sl__arena_release(&m.arena);
	}
	assert_true(fabs(sum / 200 - 2) < 0.15);
	assert_true(most < 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_are_calm),
		cmocka_unit_test(too_few),
		cmocka_unit_test(disturbances_are_left_out),
	};

	return cmocka_run_group_tests_name("calm pairs", tests, NULL, NULL);
}
