/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rng.c - the published generators bit for bit, and distributions that
 * iteration the chi-squared and moment checks a right one iterations.  Seeds
 * are fixed, so nothing here fails by chance.
 */
#include "harness.h"
#include "base/rng.h"

/* All expected outputs are printed by oracles/rng.py. */
static void
seeding_is_splitmix64(void **state)
{
	static const uint64_t expected[] = {
		0x599ed017fb08fc85u,
		0x2c73f08458540fa5u,
		0x883ebce5a3f27c77u,
		0x3fbef740e9177b3fu,
	};
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 1234567);
	for (int i = 0; i < 4; i++)
		assert_int_equal(rng.s[i], expected[i]);
}

static void
the_generator_is_xoshiro256(void **state)
{
	static const uint64_t expected[] = {
		0x0000000000002d00u, 0x0000000000000000u, 0x000000005a007080u,
		0x10e0000000009d80u, 0x10e0b61ce1009d80u, 0x0870021ce143ad00u,
		0xe071c3c2e143f089u, 0x75a1690ef7a20380u, 0x9309685b465c23f9u,
		0x284f3cc2e13e3c88u,
	};
	struct sl__rng rng = {{1, 2, 3, 4}};

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(sl__rng_next(&rng), expected[i]);
}

static void
a_seed_gives_its_numbers(void **state)
{
	static const struct {
		uint64_t seed, expected[4];
	} cases[] = {
		{0,
		 {0x99ec5f36cb75f2b4u, 0xbf6e1f784956452au, 0x1a5f849d4933e6e0u,
		  0x6aa594f1262d2d2cu}},
		{1,
		 {0xb3f2af6d0fc710c5u, 0x853b559647364ceau, 0x92f89756082a4514u,
		  0x642e1c7bc266a3a7u}},
		{UINT64_MAX,
		 {0x8f5520d52a7ead08u, 0xc476a018caa1802du, 0x81de31c0d260469eu,
		  0xbf658d7e065f3c2fu}},
	};
	struct sl__rng rng;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sl__rng_init(&rng, cases[i].seed);
		for (int k = 0; k < 4; k++)
			assert_int_equal(sl__rng_next(&rng),
					 cases[i].expected[k]);
	}
	sl__rng_init(&rng, 7);
	for (int i = 1; i < 1000; i++)
		(void)sl__rng_next(&rng);
	assert_int_equal(sl__rng_next(&rng), 0xd8df721ab4271195u);
}

static double
chi_squared(const unsigned *counts, size_t n_cells, double expected)
{
	double sum = 0;

	for (size_t i = 0; i < n_cells; i++) {
		double off = counts[i] - expected;

		sum += off * off / expected;
	}
	return sum;
}

static void
below_is_even_and_in_range(void **state)
{
	const uint64_t large = (UINT64_C(1) << 63) + 1;
	unsigned counts[6] = {0};
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 11);
	for (int i = 0; i < 60000; i++) {
		uint64_t x = sl__rng_below(&rng, 6);

		assert_true(x < 6);
		counts[x]++;
	}
	/* The 99.9 % point of chi-squared with 5 degrees of freedom. */
	assert_true(chi_squared(counts, 6, 10000) < 20.52);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(sl__rng_below(&rng, 1), 0);
		assert_true(sl__rng_below(&rng, large) < large);
	}
}

/*
 * Without rejection the first third of [0, 3 * 2^62) would come up half the
 * time: 2^64 holds that range once and its first third once more.
 */
static void
below_has_no_modulo_bias(void **state)
{
	const uint64_t third = UINT64_C(1) << 62;
	unsigned counts[3] = {0};
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 12);
	for (int i = 0; i < 30000; i++)
		counts[sl__rng_below(&rng, 3 * third) / third]++;
	/* The 99.9 % point with 2 degrees of freedom is -2 ln 0.001. */
	assert_true(chi_squared(counts, 3, 10000) < 13.82);
}

static void
the_coin_is_fair(void **state)
{
	struct sl__rng rng;
	int n_heads = 0, n_same = 0, last = 0;

	(void)state;
	sl__rng_init(&rng, 13);
	for (int i = 0; i < 100000; i++) {
		int coin = sl__rng_coin(&rng);

		assert_in_range(coin, 0, 1);
		n_heads += coin;
		n_same += coin == last;
		last = coin;
	}
	/* Four standard deviations of a Binomial(100000, 1/2). */
	assert_near(n_heads, 50000, 633);
	assert_near(n_same, 50000, 633);
}

/* Every order of four comes up 1/24 of the time; all are permutations. */
static void
every_order_is_as_likely(void **state)
{
	unsigned counts[256] = {0}, seen[24];
	struct sl__rng rng;
	size_t n_orders = 0;

	(void)state;
	sl__rng_init(&rng, 14);
	for (int i = 0; i < 24000; i++) {
		size_t order[4] = {9, 9, 9, 9};
		unsigned held = 0, code = 0;

		sl__rng_permutation(&rng, order, 4);
		for (int k = 0; k < 4; k++) {
			assert_true(order[k] < 4);
			held |= 1u << order[k];
			code = code * 4 + (unsigned)order[k];
		}
		assert_int_equal(held, 15);
		counts[code]++;
	}
	for (size_t code = 0; code < 256; code++) {
		if (!counts[code])
			continue;
		assert_true(n_orders < 24);
		seen[n_orders++] = counts[code];
	}
	assert_int_equal(n_orders, 24);
	/* The 99.9 % point with 23 degrees of freedom. */
	assert_true(chi_squared(seen, 24, 1000) < 49.73);
}

/*
 * Means of n draws lie within four of their own standard deviations: of x,
 * of x squared and of the share above one.
 */
static void
check_moments(double (*draw)(struct sl__rng *), const double expected[3],
	      const double deviation[3])
{
	enum { N = 200000 };
	double sum[3] = {0};
	struct sl__rng rng;

	sl__rng_init(&rng, 15);
	for (int i = 0; i < N; i++) {
		double x = draw(&rng);

		assert_true(isfinite(x));
		sum[0] += x;
		sum[1] += x * x;
		sum[2] += x > 1 ? 1 : 0;
	}
	for (int i = 0; i < 3; i++)
		assert_near(sum[i] / N, expected[i],
			    4 * deviation[i] / sqrt(N));
}

static void
distributions_have_their_moments(void **state)
{
	/* Uniform: 1/2, 1/3, 0; deviations sqrt(1/12), sqrt(4/45), 0. */
	const double uniform[3] = {0.5, 1. / 3, 0};
	const double uniform_sd[3] = {0.288675, 0.298142, 0};
	/* Normal: 0, 1, 1 - Phi(1); deviations 1, sqrt(2), sqrt(p(1-p)). */
	const double normal[3] = {0, 1, 0.158655};
	const double normal_sd[3] = {1, 1.414214, 0.365350};
	/* Exponential: 1, 2, 1/e; deviations 1, sqrt(20), sqrt(p(1-p)). */
	const double exponential[3] = {1, 2, 0.367879};
	const double exponential_sd[3] = {1, 4.472136, 0.482228};

	(void)state;
	check_moments(sl__rng_uniform, uniform, uniform_sd);
	check_moments(sl__rng_normal, normal, normal_sd);
	check_moments(sl__rng_exponential, exponential, exponential_sd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeding_is_splitmix64),
		cmocka_unit_test(the_generator_is_xoshiro256),
		cmocka_unit_test(a_seed_gives_its_numbers),
		cmocka_unit_test(below_is_even_and_in_range),
		cmocka_unit_test(below_has_no_modulo_bias),
		cmocka_unit_test(the_coin_is_fair),
		cmocka_unit_test(every_order_is_as_likely),
		cmocka_unit_test(distributions_have_their_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
