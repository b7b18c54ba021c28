/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_two_sample.c - t tests and Mann-Whitney's U are SciPy's
 * (oracles/two_sample.py); the exact p-value also agrees with counting all
 * orders of small samples.
 */
#include "harness.h"
#include "counting.h"
#include "stats/two_sample.h"

static const double A[] = {100, 102, 98, 101, 99};
static const double B[] = {95, 97, 93, 96, 94};
static const double C[] = {8.5, 9.1, 7.7, 12.4, 30.2, 9.9, 8.8};
static const double D[] = {9.3, 9.7, 10.8, 9.5};
static const double E[] = {1, 1, 1.25, 1.5, 1.5, 1.5, 2, 2.25, 3};
static const double F[] = {1.25, 1.5, 1.75, 2, 2, 2.5, 3.5};

static void
check(const struct sl__two_sample *r, double statistic, double df, double p)
{
	assert_close(r->statistic, statistic, 1e-12);
	assert_close(r->df, df, 1e-12);
	assert_close(r->p, p, 1e-11);
}

static void
t_tests_are_those_of_scipy(void **state)
{
	struct sl__two_sample r;

	(void)state;
	sl__pooled_t(&r, A, 5, B, 5);
	check(&r, 5, 8, 0.0010528257933665399);
	sl__welch_t(&r, A, 5, B, 5);
	check(&r, 5, 8, 0.0010528257933665399);
	sl__pooled_t(&r, C, 7, D, 4);
	check(&r, 0.6206934624885944, 9, 0.550194354641991);
	sl__welch_t(&r, C, 7, D, 4);
	check(&r, 0.8367755014194164, 6.146344882110871, 0.43404100073073243);
	/* The order of the samples is a sign. */
	sl__welch_t(&r, D, 4, C, 7);
	check(&r, -0.8367755014194164, 6.146344882110871, 0.43404100073073243);
}

static void
t_tests_without_spread_are_absent(void **state)
{
	static const double SAME[] = {3, 3, 3};
	static const double OTHER[] = {4, 4, 4};
	struct sl__two_sample r;

	(void)state;
	sl__pooled_t(&r, SAME, 3, OTHER, 3);
	assert_true(isnan(r.statistic) && isnan(r.df) && isnan(r.p));
	sl__welch_t(&r, SAME, 3, OTHER, 3);
	assert_true(isnan(r.statistic) && isnan(r.df) && isnan(r.p));
	sl__pooled_t(&r, A, 5, B, 1);
	assert_true(isnan(r.p));
	sl__welch_t(&r, A, 1, B, 5);
	assert_true(isnan(r.p));
	/* One that varies is enough. */
	sl__welch_t(&r, A, 5, SAME, 3);
	assert_close(r.df, 4.0, 1e-12);
}

static void
check_u(const double *a, size_t n_a, const double *b, size_t n_b, double u,
	double p)
{
	struct sl__two_sample r;
	struct sl__arena arena;

	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__mann_whitney(&r, a, n_a, b, n_b, &arena), SL_OK);
	assert_near(r.statistic, u, 0);
	assert_true(isnan(r.df));
	assert_close(r.p, p, 1e-11);
	sl__arena_release(&arena);
}

static void
mann_whitney_is_that_of_scipy(void **state)
{
	double a[60], b[60];

	(void)state;
	check_u(A, 5, B, 5, 25, 0.007936507936507936);
	check_u(B, 5, A, 5, 0, 0.007936507936507936);
	check_u(C, 7, D, 4, 11, 0.6484848484848484);
	check_u(E, 9, F, 7, 20, 0.2386736632256249);
	/* The squares modulo 101 are 50 different numbers. */
	for (int i = 1; i <= 50; i++) {
		a[i - 1] = i * i % 101;
		b[i - 1] = a[i - 1] + 2.5;
	}
	check_u(a, 50, b, 50, 1177, 0.6186767888365026);
	for (int i = 0; i < 20; i++)
		b[i] += 10;
	check_u(a, 50, b, 20, 418, 0.2919301860032565);
	/* Too many for the exact distribution. */
	for (int i = 0; i < 60; i++) {
		a[i] = i;
		b[i] = i * 0.9 + 7.31;
	}
	check_u(a, 60, b, 60, 1537, 0.1682750252890438);
}

/* U of the order in which bit i of 'mask' gives value i to sample A. */
static size_t
u_of(unsigned mask, size_t n)
{
	size_t u = 0, n_b = 0;

	for (size_t i = 0; i < n; i++) {
		if (mask >> i & 1)
			u += n_b;
		else
			n_b++;
	}
	return u;
}

static size_t
n_bits(unsigned mask)
{
	size_t n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* Every order of nine values, every split: p is a share of such orders. */
static void
exact_p_is_a_count_of_orders(void **state)
{
	enum { N = 9 };

	(void)state;
	for (unsigned mask = 1; mask < (1u << N) - 1; mask++) {
		double a[N], b[N];
		size_t n_a = 0, n_b = 0, u = u_of(mask, N);
		size_t n_low = 0, n_high = 0, n_all = 0;

		for (size_t i = 0; i < N; i++) {
			if (mask >> i & 1)
				a[n_a++] = (double)i;
			else
				b[n_b++] = (double)i;
		}
		for (unsigned other = 0; other < 1u << N; other++) {
			if (n_bits(other) != n_a)
				continue;
			n_all++;
			n_low += u_of(other, N) <= u;
			n_high += u_of(other, N) >= u;
		}
		check_u(a, n_a, b, n_b, (double)u,
			fmin(1, 2 * (double)(n_low < n_high ? n_low : n_high) /
					(double)n_all));
	}
}

static void
ties_alone_are_no_evidence(void **state)
{
	static const double SAME[] = {3, 3, 3};

	(void)state;
	check_u(SAME, 3, SAME, 3, 4.5, 1);
}

static void
failures_are_told(void **state)
{
	struct sl__two_sample r;
	struct sl__arena arena;
	int fail_at = 1;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__mann_whitney(&r, A, 0, B, 5, &arena), SL_E_USAGE);
	sl__arena_release(&arena);
	for (;; fail_at++) {
		double a[50], b[50];
		struct counting c = {0, 0, fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		enum sl_status rc;

		for (int i = 0; i < 50; i++) {
			a[i] = i;
			b[i] = i + 0.5;
		}
		sl__arena_init(&arena, &allocator);
		rc = sl__mann_whitney(&r, a, 50, b, 50, &arena);
		sl__arena_release(&arena);
		assert_int_equal(c.n_out, 0);
		if (rc == SL_OK)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
	}
	assert_true(fail_at > 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t_tests_are_those_of_scipy),
		cmocka_unit_test(t_tests_without_spread_are_absent),
		cmocka_unit_test(mann_whitney_is_that_of_scipy),
		cmocka_unit_test(exact_p_is_a_count_of_orders),
		cmocka_unit_test(ties_alone_are_no_evidence),
		cmocka_unit_test(failures_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
