/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_limit_test.c - the e-values are those of a summed integral
 * (oracles/limit_test.py); a system exactly at its limit passes at most 5 % of
 * the time, independent queries looked at one by one as well as queues whose
 * limit is known in closed form; one within its limit passes, one beyond it
 * fails; early stopping asks for as many queries as LoadGen does.
 */
#include "harness.h"
#include "base/rng.h"
#include "md1_queue.h"
#include "stats/limit_test.h"

enum { N_MOST = 8000 };

static double latencies[N_MOST], scratch[2 * N_MOST];
static unsigned char begins[N_MOST];

static void
log_e_is_exact(void **state)
{
	static const struct {
		double n, k, q, log_e;
	} holds[] = {{0, 0, .01, 0},
		     {100, 0, .1, 9.245408648},
		     {400, 0, .01, 3.199646986},
		     {1000, 2, .01, 3.864306504},
		     {1000, 10, .01, -1.667399765},
		     {500, 30, .1, 3.363308573}},
	  fails[] = {{10, 5, .1, 3.934903801},
		     {100, 4, .01, 0.108795708},
		     {1000, 10, .01, -4.270180364},
		     {1000, 2, .01, -5.542907111}};

	(void)state;
	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++)
		assert_near(sl__limit_log_e_holds(holds[i].n, holds[i].k,
						  holds[i].q),
			    holds[i].log_e, 1e-6);
	for (size_t i = 0; i < sizeof(fails) / sizeof(*fails); i++)
		assert_near(sl__limit_log_e_fails(fails[i].n, fails[i].k,
						  fails[i].q),
			    fails[i].log_e, 1e-6);
}

static void
early_stopping_is_loadgens(void **state)
{
	(void)state;
	assert_int_equal(sl__early_stopping_in_time(0, .9), 44);
	assert_int_equal(sl__early_stopping_in_time(1, .9), 63);
	assert_int_equal(sl__early_stopping_in_time(1, .99), 661);
	assert_int_equal(sl__early_stopping_in_time(1, .999), 6635);
	assert_int_equal(sl__early_stopping_in_time(5, .9), 122);
	assert_int_equal(sl__early_stopping_in_time(20, .99), 3284);
}

/* Looked at after every query, until one of the two is proved. */
static void
independent_queries_keep_the_rate(void **state)
{
	enum { N_RUNS = 2000, N_QUERIES = 1500 };
	const double q = 0.05;
	size_t n_holds = 0, n_fails = 0;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 11);
	for (size_t run = 0; run < N_RUNS; run++) {
		int holds = 0, fails = 0;
		double late = 0;

		for (double n = 1; n <= N_QUERIES; n++) {
			late += sl__rng_uniform(&rng) < q;
			holds |= sl__limit_log_e_holds(n, late, q) >= log(20);
			fails |= sl__limit_log_e_fails(n, late, q) >= log(20);
		}
		n_holds += holds != 0;
		n_fails += fails != 0;
	}
	/* So many looks come near the rate and do not pass it. */
	assert_in_range(n_holds, N_RUNS / 200, N_RUNS / 20);
	assert_in_range(n_fails, N_RUNS / 200, N_RUNS / 20);
}

/* n queries of M/D/1 at a load of rho, from an empty queue on. */
static struct sl__latency_series
queue(struct sl__rng *rng, double rho, size_t n)
{
	double wait = 0;

	for (size_t i = 0; i < n; i++) {
		begins[i] = !(wait > 0);
		latencies[i] = wait + 1;
		wait = fmax(0, wait + 1 - sl__rng_exponential(rng) / rho);
	}
	return (struct sl__latency_series){latencies, begins, n};
}

/* How many of n_runs queues are said to hold the limit. */
static size_t
count_holds(double rho, double p, double limit, size_t n, size_t n_runs)
{
	size_t n_holds = 0;
	struct sl__rng rng;

	sl__rng_init(&rng, 7);
	for (size_t run = 0; run < n_runs; run++) {
		struct sl__latency_series s = queue(&rng, rho, n);
		struct sl__limit_evidence e;

		sl__limit_evidence_of(&e, &s, limit, 1 - p, scratch);
		n_holds += e.log_e_holds >= log(20);
		assert_true(e.n_independent <= (double)n);
	}
	return n_holds;
}

static void
queues_at_their_limit_do_not_pass(void **state)
{
	static const struct {
		double rho, p;
		size_t n;
	} cases[] = {{.3, .9, 400},  {.3, .99, 1000}, {.5, .9, 1000},
		     {.7, .9, 400},  {.7, .9, 2000},  {.7, .99, 8000},
		     {.8, .9, 4000}, {.9, .9, 8000}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double limit = md1_latency_quantile(cases[i].rho, cases[i].p);
		size_t n_holds = count_holds(cases[i].rho, cases[i].p, limit,
					     cases[i].n, 200);

		if (n_holds > 10)
			fail_msg("load %g, p%g, %zu queries: %zu of 200 pass",
				 cases[i].rho, 100 * cases[i].p, cases[i].n,
				 n_holds);
	}
}

/* The bare test lets more than one in ten pass, at one look at the end. */
static void
queues_are_no_independent_queries(void **state)
{
	double limit = md1_latency_quantile(.7, .9);
	struct sl__limit_evidence e;
	struct sl__latency_series s;
	size_t n_holds = 0;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 7);
	for (size_t run = 0; run < 200; run++) {
		s = queue(&rng, .7, 2000);
		sl__limit_evidence_of(&e, &s, limit, .1, scratch);
		n_holds += sl__limit_log_e_holds(2000, (double)e.n_late, .1) >=
			   log(20);
	}
	if (n_holds <= 20)
		fail_msg("%zu of 200 pass", n_holds);
}

static void
queues_within_their_limit_pass(void **state)
{
	double limit = md1_latency_quantile(.5, .9);

	(void)state;
	assert_true(count_holds(.5, .9, 1.6 * limit, 2000, 100) >= 90);
	assert_int_equal(count_holds(.5, .9, 1.6 * limit, 50, 100), 0);
}

static void
an_overloaded_queue_fails(void **state)
{
	struct sl__limit_evidence e;
	struct sl__latency_series s;
	struct sl__rng rng;

	(void)state;
	sl__rng_init(&rng, 3);
	s = queue(&rng, 2, 200);
	sl__limit_evidence_of(&e, &s, 5, .01, scratch);
	assert_true(e.log_e_fails > log(20));
	assert_true(e.log_e_holds < 0);
	assert_in_range(e.n_late, 150, 200);
	s.n = 0;
	sl__limit_evidence_of(&e, &s, 5, .01, scratch);
	assert_true(!(e.log_e_fails > 0) && e.log_e_holds < 0);
}

/* As many as it says prove it, one less does not. */
static void
needed_queries_are_enough(void **state)
{
	static const double shares[] = {.01, .1, .001};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		double n = sl__limit_needs_n(shares[i], 1);

		assert_true(sl__limit_log_e_holds(n, 0, shares[i]) >= log(20));
		assert_true(n <= SL__LIMIT_INDEPENDENT_LEAST + 1 ||
			    sl__limit_log_e_holds(n - 1, 0, shares[i]) <
				    log(20));
		assert_near(sl__limit_needs_n(shares[i], .25), 4 * n, .5);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log_e_is_exact),
		cmocka_unit_test(early_stopping_is_loadgens),
		cmocka_unit_test(independent_queries_keep_the_rate),
		cmocka_unit_test(queues_at_their_limit_do_not_pass),
		cmocka_unit_test(queues_are_no_independent_queries),
		cmocka_unit_test(queues_within_their_limit_pass),
		cmocka_unit_test(an_overloaded_queue_fails),
		cmocka_unit_test(needed_queries_are_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
