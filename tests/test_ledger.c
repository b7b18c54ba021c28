/* SPDX-License-Identifier: Apache-2.0 */
/* test_ledger.c - the books: exact arithmetic on passes that are made up. */
#include "harness.h"
#include "ledger.h"

enum { N = 10, N_ROUNDS = 9 };

/*
 * Ten passes of 1000 ns on average: steps of 300 and 400, gaps of 100.  The
 * extra time of nine rounds lies around 'overhead', which is its median.
 */
struct made {
	struct sl__passes passes;
	double steps[2];
	double extra[N_ROUNDS];
	struct sl__arena arena;
	struct sl_ledger books;
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
	m->passes.n_steps = 2;
	m->passes.n_recorded = N;
	m->passes.wall_ns = 1000 * N;
	m->passes.gaps_ns = 100 * N;
	m->passes.step_ns = m->steps;
	m->passes.extra.x = m->extra;
	m->passes.extra.n = N_ROUNDS;
	sl__arena_init(&m->arena, NULL);
	assert_int_equal(sl__ledger_of(&m->books, &m->passes, &m->arena, &err),
			 SL_OK);
	sl__arena_release(&m->arena);
}

static void
entries(void **state)
{
	struct made m;

	(void)state;
	make(&m, 190);
	assert_near(m.books.wall_ns, 1000, 0);
	assert_near(m.books.operations_ns, 700, 0);
	assert_near(m.books.gaps_ns, 100, 0);
	assert_near(m.books.overhead_ns.value, 190, 0);
	assert_int_equal(m.books.overhead_ns.n, N_ROUNDS);
	/* Of nine, the second and the eighth: 190 - 15 and 190 + 15. */
	assert_near(m.books.overhead_ns.lo, 175, 0);
	assert_near(m.books.overhead_ns.hi, 205, 0);
	assert_near(m.books.residual_ns, 10, 0);
	assert_near(m.books.overhead_share, 0.19, 0);
	assert_near(m.books.residual_share, 0.01, 0);
	assert_int_equal(m.books.n_iterations, N);
	assert_true(m.books.is_closed);
	assert_null(m.books.absent);
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
		assert_near(m.books.residual_ns, cases[i].residual, 0);
		assert_int_equal(m.books.is_closed, cases[i].is_closed);
		assert_near(m.books.operations_ns + m.books.gaps_ns +
				    m.books.overhead_ns.value +
				    m.books.residual_ns,
			    m.books.wall_ns, 0);
	}
}

/* What was not recorded is no closed book. */
static void
nothing_closes_nothing(void **state)
{
	struct sl__passes none = {0};
	struct sl__arena arena;
	struct sl_ledger books;
	struct sl_error err;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__ledger_of(&books, &none, &arena, &err), SL_OK);
	assert_false(books.is_closed);
	assert_int_equal(books.n_iterations, 0);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries),
		cmocka_unit_test(closes_to_two_percent),
		cmocka_unit_test(nothing_closes_nothing),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
