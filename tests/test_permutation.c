/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_permutation.c - every number comes once, the orders are those of an
 * implementation in Python (oracles/permutation.py), and over many keys every
 * number goes everywhere equally often.
 */
#include "harness.h"
#include "data/permutation.h"

static void
orders_are_those_of_the_oracle(void **state)
{
	static const struct {
		size_t n;
		uint64_t key;
		size_t expected[10];
	} cases[] = {
		{10, 1, {6, 8, 0, 1, 4, 7, 9, 3, 5, 2}},
		{100000,
		 0xdeadbeef,
		 {11620, 25346, 15453, 37564, 71306, 1876, 14999, 44308, 97173,
		  74080}},
		{(size_t)1 << 40,
		 5,
		 {857324628599, 695955164279, 1008473491203, 789776828523,
		  319810539825, 977633873259, 879067132651, 1044741086226,
		  494187594436, 687145072448}},
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		for (size_t i = 0; i < 10; i++)
			assert_int_equal(
				sl__permuted(i, cases[c].n, cases[c].key),
				cases[c].expected[i]);
	}
	assert_int_equal(sl__mixed_key(7, 3), 0x6baa78681a99f995u);
}

static void
every_number_comes_once(void **state)
{
	static unsigned char seen[5000];

	(void)state;
	for (size_t n = 1; n <= sizeof(seen); n += n < 300 ? 1 : 1567) {
		memset(seen, 0, sizeof(seen));
		for (size_t i = 0; i < n; i++) {
			size_t at = sl__permuted(i, n, n * 77);

			assert_true(at < n);
			assert_int_equal(seen[at]++, 0);
		}
	}
}

/* Pearson's chi-squared of 20,000 keys; with 10 cells the 99.99 % point of 9
 * degrees of freedom is 33.7.  All pairs (i, place) of n = 10 are looked at. */
static void
every_place_is_equally_likely(void **state)
{
	enum { N = 10, N_KEYS = 20000 };
	static double counts[N][N];

	(void)state;
	for (uint64_t key = 0; key < N_KEYS; key++) {
		for (size_t i = 0; i < N; i++)
			counts[i][sl__permuted(i, N, sl__mixed_key(1, key))]++;
	}
	for (size_t i = 0; i < N; i++) {
		double chi = 0, expected = (double)N_KEYS / N;

		for (size_t k = 0; k < N; k++)
			chi += (counts[i][k] - expected) *
			       (counts[i][k] - expected) / expected;
		assert_true(chi < 33.7);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_are_those_of_the_oracle),
		cmocka_unit_test(every_number_comes_once),
		cmocka_unit_test(every_place_is_equally_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
