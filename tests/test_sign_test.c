/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sign_test.c - the e-values are the ones of exact arithmetic
 * (oracles/sign_test.py), have mean 1 under a fair coin, and keep their error
 * rate when looked at after every round; in simulation they name the one slow
 * part among twenty, and averages of them keep the rate as well.
 */
#include "harness.h"
#include "stats/sign_test.h"
#include "base/rng.h"
#include "simulated_noise.h"

enum { N_PARTS = 20 };

static void
wins_needed_are_exact(void **state)
{
	static const struct {
		size_t n, wins;
		double alpha;
	} rows[] = {{6, 7, .05},    {7, 7, .05},     {10, 10, .05},
		    {20, 17, .05},  {30, 24, .05},   {50, 37, .05},
		    {100, 67, .05}, {200, 125, .05}, {1000, 558, .05},
		    {9, 10, .01},   {10, 10, .01},   {100, 69, .01}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(sl__sign_wins_needed(rows[i].n, rows[i].alpha),
				 rows[i].wins);
}

static void
log_e_is_exact(void **state)
{
	(void)state;
	assert_near(sl__sign_log_e(0, 0), 0, 1e-14);
	assert_near(sl__sign_log_e(1, 0), 0, 1e-14);
	assert_near(sl__sign_log_e(7, 7), 3.288868196688236, 1e-12);
	assert_near(sl__sign_log_e(50, 25), -2.1868025221852734, 1e-12);
	assert_near(sl__sign_log_e(1000, 558), 3.063249199575857, 1e-10);
	assert_near(sl__sign_log_e(5000, 4000), 959.2393284104368, 1e-9);
}

static void
log_e_above_is_exact(void **state)
{
	(void)state;
	assert_near(sl__sign_log_e_above(0, 0), 0, 1e-13);
	assert_near(sl__sign_log_e_above(1, 1), 0.4926330004066005, 1e-12);
	assert_near(sl__sign_log_e_above(10, 0), -2.8427856362360093, 1e-12);
	assert_near(sl__sign_log_e_above(20, 17), 4.357299024001513, 1e-12);
	assert_near(sl__sign_log_e_above(50, 25), -2.1868025221852734, 1e-12);
	assert_near(sl__sign_log_e_above(1000, 558), 3.756276075213931, 1e-10);
	/* Here the incomplete beta is below what a double can hold. */
	assert_near(sl__sign_log_e_above(5000, 100), -8.928170841799329, 1e-3);
}

/* The binomial probability of 'wins' of n for a fair coin. */
static double
fair(size_t n, size_t wins)
{
	return exp(lgamma((double)n + 1) - lgamma((double)wins + 1) -
		   lgamma((double)(n - wins) + 1) - (double)n * log(2));
}

static void
both_have_mean_one_under_a_fair_coin(void **state)
{
	static const size_t lengths[] = {1, 2, 5, 20, 100, 400};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		size_t n = lengths[i];
		double two = 0, one = 0;

		for (size_t w = 0; w <= n; w++) {
			two += fair(n, w) * exp(sl__sign_log_e(n, w));
			one += fair(n, w) * exp(sl__sign_log_e_above(n, w));
		}
		assert_near(two, 1, 1e-9);
		assert_near(one, 1, 1e-9);
	}
}

/* P(the log e-value reaches 'bound' within 200 fair rounds), by recursion. */
static double
ever_reached(double (*log_e)(size_t, size_t), double bound)
{
	double alive[202] = {1}, reached = 0;

	for (size_t n = 1; n <= 200; n++) {
		for (size_t w = n + 1; w-- > 0;)
			alive[w] = (alive[w] + (w ? alive[w - 1] : 0)) / 2;
		for (size_t w = 0; w <= n; w++) {
			if (log_e(n, w) >= bound) {
				reached += alive[w];
				alive[w] = 0;
			}
		}
	}
	return reached;
}

static void
looking_after_every_round_keeps_the_error_rate(void **state)
{
	double one_sided;

	(void)state;
	assert_near(ever_reached(sl__sign_log_e, log(20)), 0.033288951770316,
		    1e-10);
	one_sided = ever_reached(sl__sign_log_e_above, log(20));
	assert_true(one_sided > 0.01 && one_sided < 0.05);
}

static void
the_interval_rank_inverts_the_test(void **state)
{
	(void)state;
	for (size_t n = 0; n < 7; n++)
		assert_int_equal(sl__sign_interval_rank(n, .05), 0);
	for (size_t n = 7; n <= 300; n++) {
		size_t j = sl__sign_interval_rank(n, .05);

		assert_true(j >= 1 && 2 * j <= n + 1);
		assert_true(sl__sign_log_e(n, j) < log(20));
		assert_true(sl__sign_log_e(n, j - 1) >= log(20));
	}
	assert_int_equal(sl__sign_interval_rank(100, .05), 34);
}

/* e-BH by its definition: the greatest k that k e-values support. */
static size_t
count_discoveries(const double *log_e, size_t n, double alpha)
{
	for (size_t k = n; k > 0; k--) {
		size_t n_enough = 0;

		for (size_t i = 0; i < n; i++)
			n_enough += exp(log_e[i]) >=
				    (double)n / ((double)k * alpha);
		if (n_enough >= k)
			return k;
	}
	return 0;
}

static void
e_bh_follows_its_definition(void **state)
{
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 7);
	for (int run = 0; run < 2000; run++) {
		size_t n = 1 + (size_t)sl__rng_below(&rng, 12), order[12];
		size_t expected, n_marked = 0;
		unsigned char rejected[12];
		double log_e[12], least = (double)INFINITY,
				  most = -(double)INFINITY;

		for (size_t i = 0; i < n; i++)
			log_e[i] = 3 + 3 * sl__rng_normal(&rng);
		expected = count_discoveries(log_e, n, .05);
		assert_int_equal(sl__e_benjamini_hochberg(rejected, log_e, n,
							  .05, order),
				 expected);
		for (size_t i = 0; i < n; i++) {
			n_marked += rejected[i];
			if (rejected[i])
				least = fmin(least, log_e[i]);
			else
				most = fmax(most, log_e[i]);
		}
		assert_int_equal(n_marked, expected);
		assert_true(least > most);
	}
}

static void
the_average_is_of_values_not_logarithms(void **state)
{
	const double a[] = {log(1), log(2), log(6)};
	const double large[] = {5000, 5000 + log(3)};
	const double none[] = {-(double)INFINITY, -(double)INFINITY};

	(void)state;
	assert_near(sl__e_values_log_mean(a, 3), log(3), 1e-14);
	assert_near(sl__e_values_log_mean(large, 2), 5000 + log(2), 1e-11);
	assert_true(sl__e_values_log_mean(none, 2) < -1e300);
}

/* A model's iterations: parts, their total, and a second clock for CPU time. */
struct parts_run {
	size_t wins[N_PARTS], total_wins, cpu_wins, median_wins;
};

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* One iteration of A and of B, whose first part takes 'ratio' times as long. */
static void
add_pass(struct parts_run *r, struct machine *m, double ratio)
{
	double log_ratios[N_PARTS], first = 0, second = 0, cpu;
	int swapped = sl__rng_coin(&m->rng);

	/* Positions one and two; B is in position two unless swapped. */
	for (size_t i = 0; i < N_PARTS; i++) {
		double slow = i == 0 ? ratio : 1;
		double one = exp(next_slot(m)) * (swapped ? slow : 1);
		double two = exp(next_slot(m)) * (swapped ? 1 : slow);

		first += one;
		second += two;
		log_ratios[i] = log(swapped ? one / two : two / one);
		r->wins[i] += log_ratios[i] > 0;
	}
	cpu = log(second / first) + 0.001 * sl__rng_normal(&m->rng);
	r->total_wins += swapped ? first > second : second > first;
	r->cpu_wins += swapped ? cpu < 0 : cpu > 0;
	qsort(log_ratios, N_PARTS, sizeof(*log_ratios), by_value);
	r->median_wins +=
		log_ratios[N_PARTS / 2 - 1] + log_ratios[N_PARTS / 2] > 0;
}

/* Whether the average of the three e-values ever calls A/A different. */
static int
average_rejects(uint64_t seed)
{
	struct parts_run r = {{0}, 0, 0, 0};
	struct machine m;

	machine_init(&m, AUTOREGRESSIVE, seed);
	for (size_t n = 1; n <= 60; n++) {
		double log_e[3];

		add_pass(&r, &m, 1);
		log_e[0] = sl__sign_log_e(n, r.total_wins);
		log_e[1] = sl__sign_log_e(n, r.cpu_wins);
		log_e[2] = sl__sign_log_e(n, r.median_wins);
		if (sl__e_values_log_mean(log_e, 3) >= log(20))
			return 1;
	}
	return 0;
}

static void
one_slow_part_among_twenty_is_named(void **state)
{
	size_t n_named = 0, n_rejected = 0;
	double false_share = 0;

	(void)state;
	for (uint64_t run = 0; run < 500; run++) {
		struct parts_run r = {{0}, 0, 0, 0};
		unsigned char rejected[N_PARTS];
		size_t order[N_PARTS], n_found;
		double log_e[N_PARTS];
		struct machine m;

		machine_init(&m, BURSTS, 20000 + run);
		for (int i = 0; i < 100; i++)
			add_pass(&r, &m, 1.03);
		for (size_t i = 0; i < N_PARTS; i++)
			log_e[i] = sl__sign_log_e(100, r.wins[i]);
		n_found = sl__e_benjamini_hochberg(rejected, log_e, N_PARTS,
						   .05, order);
		n_named += rejected[0];
		if (n_found)
			false_share += (double)(n_found - rejected[0]) /
				       (double)n_found;
		n_rejected += (size_t)average_rejects(40000 + run);
	}
	print_message("slow part named in %zu of 500, false share %.4f; "
		      "A/A by the average of three: %zu of 500\n",
		      n_named, false_share / 500, n_rejected);
	assert_true(n_named >= 475);
	assert_true(false_share / 500 <= .05);
	assert_true(n_rejected <= 25);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wins_needed_are_exact),
		cmocka_unit_test(log_e_is_exact),
		cmocka_unit_test(log_e_above_is_exact),
		cmocka_unit_test(both_have_mean_one_under_a_fair_coin),
		cmocka_unit_test(
			looking_after_every_round_keeps_the_error_rate),
		cmocka_unit_test(the_interval_rank_inverts_the_test),
		cmocka_unit_test(e_bh_follows_its_definition),
		cmocka_unit_test(the_average_is_of_values_not_logarithms),
		cmocka_unit_test(one_slow_part_among_twenty_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
