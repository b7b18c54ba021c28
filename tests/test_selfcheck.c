/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_selfcheck.c - the bookkeeping of sl_selfcheck().
 *
 * Its rates are measurements of a machine and are not asserted here; that
 * they count what was planted is.
 */
#include "harness.h"
#include "counting.h"
#include "sleuth.h"

static void
rows_count_what_was_planted(void **state)
{
	static const double planted[] = {0, 0.01, 0.02, 0.05};
	struct sl_selfcheck_options how = {.struct_size = sizeof(how),
					   .time_s = 0.3,
					   .budget_s = 0.02,
					   .function_ns = 20000,
					   .seed = 5};
	struct sl_selfcheck *s;

	(void)state;
	assert_int_equal(sl_selfcheck(&s, &how, NULL), SL_OK);
	assert_int_equal(s->n_rows, 4);
	assert_int_equal(s->seed, 5);
	for (size_t i = 0; i < 4; i++) {
		const struct sl_selfcheck_row *r = &s->rows[i];

		assert_near(r->planted, planted[i], 0);
		/* One step of a thousand or more: within 0.05 %. */
		assert_near(r->planted_real, planted[i], 0.0005);
		assert_true(r->n_verdicts >= 1);
		assert_int_equal(r->n_verdicts, s->rows[0].n_verdicts);
		assert_true(r->n_right <= r->n_different);
		assert_true(r->n_different <= r->n_verdicts);
		assert_near(r->rate.value * (double)r->n_verdicts,
			    (double)(i ? r->n_right : r->n_different), 1e-9);
		assert_true(r->rate.lo <= r->rate.value &&
			    r->rate.value <= r->rate.hi);
	}
	sl_selfcheck_free(s);
}

static void
interrupted_at_once_is_an_error(void **state)
{
	static const volatile sig_atomic_t interrupted = 1;
	struct sl_selfcheck_options how = {.struct_size = sizeof(how),
					   .interrupt = &interrupted};
	struct sl_selfcheck *s;

	(void)state;
	assert_int_equal(sl_selfcheck(&s, &how, NULL), SL_E_INTERRUPTED);
	assert_null(s);
}

static void
absurd_options_are_refused(void **state)
{
	struct sl_selfcheck *s;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct sl_selfcheck_options how = {.struct_size = sizeof(how)};

		if (i == 0)
			how.struct_size = 1;
		if (i == 1)
			how.time_s = -1;
		if (i == 2)
			how.budget_s = 100;
		if (i == 3)
			how.function_ns = 10;
		if (i == 4)
			how.function_ns = 5e6; /* 20 in a budget of 0.1 s */
		assert_int_equal(sl_selfcheck(&s, &how, NULL), SL_E_USAGE);
		assert_null(s);
	}
}

static void
every_failed_allocation_is_told_and_leaks_nothing(void **state)
{
	(void)state;
	for (int fail_at = 1; fail_at < 12; fail_at++) {
		struct counting counting = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&counting);
		struct sl_selfcheck_options how = {.struct_size = sizeof(how),
						   .time_s = 0.01,
						   .budget_s = 0.002,
						   .function_ns = 1000,
						   .allocator = &allocator};
		struct sl_selfcheck *s;
		enum sl_status rc = sl_selfcheck(&s, &how, NULL);

		assert_true(counting.n_requests > 0);
		assert_int_equal(
			rc, counting.n_requests < fail_at ? SL_OK : SL_E_NOMEM);
		if (rc == SL_OK)
			sl_selfcheck_free(s);
		assert_int_equal(counting.n_out, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_count_what_was_planted),
		cmocka_unit_test(interrupted_at_once_is_an_error),
		cmocka_unit_test(absurd_options_are_refused),
		cmocka_unit_test(
			every_failed_allocation_is_told_and_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
