/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger.c - time accounting: exact arithmetic on iterations that are made
 * up. */
#include "harness.h"
#include "analysis/ledger.h"
#include "fact_says.h"

enum { N = 10, N_ROUNDS = 9 };

/*
 * Ten iterations of 1000 ns on average: steps of 300 and 400, gaps of 100.  The
 * extra time of nine rounds lies around 'overhead', which is its median.
 */
struct made {
	struct sl__timed_iterations iterations;
	double steps[2];
	double extra[N_ROUNDS], totals[N_ROUNDS]; /* the latter all alike */
	struct sl__arena arena;
	struct sl_ledger ledger;
};

static void
make(struct made *m, double overhead)
{
	struct sl_error err;

	memset(m, 0, sizeof(*m));
	m->steps[0] = 300 * N;
	m->steps[1] = 400 * N;
	for (int i = 0; i < N_ROUNDS; i++)
		m->extra[i] = overhead + (i * 2 % N_ROUNDS - 4) * 5.0;
	m->iterations.n_steps = 2;
	m->iterations.n_recorded = N;
	m->iterations.wall_ns = 1000 * N;
	m->iterations.gaps_ns = 100 * N;
	m->iterations.step_ns = m->steps;
	m->iterations.extra.more.x = m->extra;
	m->iterations.extra.total.x = m->totals;
	m->iterations.extra.more.n = m->iterations.extra.total.n = N_ROUNDS;
	sl__arena_init(&m->arena, NULL);
	assert_int_equal(
		sl__ledger_of(&m->ledger, &m->iterations, &m->arena, &err),
		SL_OK);
	sl__arena_release(&m->arena);
}

static void
entries(void **state)
{
	struct made m;

	(void)state;
	make(&m, 190);
	assert_near(m.ledger.wall_ns, 1000, 0);
	assert_near(m.ledger.operations_ns, 700, 0);
	assert_near(m.ledger.gaps_ns, 100, 0);
	assert_near(m.ledger.overhead_ns.value, 190, 0);
	assert_int_equal(m.ledger.overhead_ns.n, N_ROUNDS);
	/* Of nine, the second and the eighth: 190 - 15 and 190 + 15. */
	assert_near(m.ledger.overhead_ns.lo, 175, 0);
	assert_near(m.ledger.overhead_ns.hi, 205, 0);
	assert_near(m.ledger.residual_ns, 10, 0);
	assert_near(m.ledger.overhead_share, 0.19, 0);
	assert_near(m.ledger.residual_share, 0.01, 0);
	assert_int_equal(m.ledger.n_iterations, N);
	assert_true(m.ledger.is_closed);
	assert_null(m.ledger.absent);
	/* The columns stay as they were. */
	assert_near(m.extra[1], 190 - 10, 0);
}

/* They sum up to wall whatever the overhead is, and are closed to 2 %. */
static void
closes_to_two_percent(void **state)
{
	static const struct {
		double overhead, residual;
		int is_closed;
	} cases[] = {{200, 0, 1},   {180, 20, 1},  {179, 21, 0},
		     {220, -20, 1}, {221, -21, 0}, {-50, 250, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m;

		make(&m, cases[i].overhead);
		assert_near(m.ledger.residual_ns, cases[i].residual, 0);
		assert_int_equal(m.ledger.is_closed, cases[i].is_closed);
		assert_near(m.ledger.operations_ns + m.ledger.gaps_ns +
				    m.ledger.overhead_ns.value +
				    m.ledger.residual_ns,
			    m.ledger.wall_ns, 0);
	}
}

/* What was not recorded is no closed book. */
static void
nothing_closes_nothing(void **state)
{
	struct sl__timed_iterations none = {0};
	struct sl__arena arena;
	struct sl_ledger ledger;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__ledger_of(&ledger, &none, &arena, &err), SL_OK);
	assert_false(ledger.is_closed);
	assert_int_equal(ledger.n_iterations, 0);
	sl__arena_release(&arena);
}

/* An iteration of 1000 ns of which 50 are unattributed. */
static struct sl_profile
open_ledger(double lo, double hi, size_t n_rounds)
{
	struct sl_profile p = {.n_operations = 20};

	p.ledger = (struct sl_ledger){.wall_ns = 1000,
				      .operations_ns = 700,
				      .overhead_share = 0.1,
				      .residual_share = 0.05,
				      .n_iterations = n_rounds};
	p.ledger.overhead_ns = (struct sl_estimate){
		.value = 100, .lo = lo, .hi = hi, .n = n_rounds};
	return p;
}

/* Which entry is uncertain: few rounds, a wide interval, or neither, and
 * then it is the calibration. */
static void
says_why(void **state)
{
	struct sl_profile few = open_ledger((double)NAN, (double)NAN, 4);
	struct sl_profile wide = open_ledger(60, 145, 9);
	struct sl_profile sharp = open_ledger(95, 105, 900);
	struct sl_fact fact;

	(void)state;
	few.ledger.overhead_ns.needs_n = 6;
	fact = sl__ledger_residual_cause(&few);
	assert_int_equal(fact.kind, SL_FACT_OPEN_FEW);
	assert_fact_says(&fact, "the cost of recording is uncertain: 4 pairs "
				"of iterations with and without it, at least 6 "
				"are needed; more --time or --runs helps");
	few.ledger.overhead_ns.n = 1;
	fact = sl__ledger_residual_cause(&few);
	assert_true(fact_says(&fact, "1 pair of iterations"));
	wide.noise.n_slots = 200;
	wide.noise.n_disturbed = 84;
	fact = sl__ledger_residual_cause(&wide);
	assert_int_equal(fact.kind, SL_FACT_OPEN_WIDE);
	assert_fact_says(&fact, "the cost of recording is uncertain: 6.0 to "
				"14.5 % of an iteration, from 9 pairs with and "
				"without it, 42 % of all iterations disturbed; "
				"more --time or an idle machine helps");
	fact = sl__ledger_residual_cause(&sharp);
	assert_int_equal(fact.kind, SL_FACT_OPEN_SHORT);
	assert_fact_says(&fact,
			 "recording costs 10.0 % of an iteration, but by "
			 "calibration its clock readings cost 15.0 %: "
			 "operations of 35 ns on average are too "
			 "short to be timed one by one");
	sharp.noise = wide.noise;
	fact = sl__ledger_residual_cause(&sharp);
	assert_true(fact_says(&fact, "one by one, 42 % of all iterations"));
	sharp.ledger.is_closed = 1;
	assert_int_equal(sl__ledger_residual_cause(&sharp).kind, SL_FACT_NONE);
	few.ledger.absent = "nothing was recorded";
	assert_int_equal(sl__ledger_residual_cause(&few).kind, SL_FACT_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries),
		cmocka_unit_test(closes_to_two_percent),
		cmocka_unit_test(nothing_closes_nothing),
		cmocka_unit_test(says_why),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
