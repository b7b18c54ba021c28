/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_selfcheck.c - error rates made by hand are shown with their
 * intervals, and a broken promise is called broken.
 */
#include "harness.h"
#include "reads_back.h"
#include "json_check.h"
#include "planted.h"

static struct sl_selfcheck_row
planted_row(double planted, size_t n_different, size_t n_right)
{
	double n = planted > 0 ? (double)n_right : (double)n_different;
	struct sl_selfcheck_row row = {
		.planted = planted,
		.planted_real = planted,
		.n_verdicts = 200,
		.n_different = n_different,
		.n_right = n_right,
		.rate = planted_estimate(n / 200, n / 200 - 0.01,
					 n / 200 + 0.01),
		.seconds = planted_estimate(0.05, 0.04, 0.06),
	};

	if (n_different == 0)
		row.seconds = planted_refusal((double)NAN, 0);
	return row;
}

static void
render(struct sl_buf *out, size_t n_false, struct sl_render_options how)
{
	const struct sl_selfcheck_row rows[] = {
		planted_row(0, n_false, 0),
		planted_row(0.01, 190, 188),
	};
	struct sl_selfcheck s = {.n_rows = 2,
				 .rows = rows,
				 .budget_s = 0.1,
				 .function_ns = 50000,
				 .noise = planted_noise(),
				 .elapsed_s = 60,
				 .stopped_by = SL_STOP_TIME,
				 .seed = 9};

	how.struct_size = sizeof(how);
	memset(out, 0, sizeof(*out));
	assert_int_equal(sl_selfcheck_render(&s, &how, out, NULL), SL_OK);
	if (how.format == SL_FORMAT_JSON)
		assert_reads_back(out);
}

static void
json_has_every_rate(void **state)
{
	struct sl_buf out;
	const char *t;

	(void)state;
	render(&out, 0, (struct sl_render_options){.format = SL_FORMAT_JSON});
	t = out.data;
	assert_true(json_is(t, "command", "\"selfcheck\""));
	assert_true(json_is(t, "selfcheck.budget_ms", "100"));
	assert_near(json_number_at(t, "selfcheck.work_ms"), 0.05, 1e-12);
	assert_true(json_is(t, "selfcheck.rows[0].planted", "0"));
	assert_true(json_is(t, "selfcheck.rows[0].median_ms", "null"));
	assert_true(json_has(t, "selfcheck.rows[0].median_ms_absent"));
	assert_true(json_is(t, "selfcheck.rows[1].different", "190"));
	assert_true(json_is(t, "selfcheck.rows[1].right", "188"));
	assert_true(json_is(t, "selfcheck.rows[1].rate", "0.94"));
	assert_near(json_number_at(t, "selfcheck.rows[1].rate_ci95.lo"), 0.93,
		    1e-12);
	assert_true(json_is(t, "selfcheck.rows[1].median_ms", "50"));
	assert_near(json_number_at(t, "selfcheck.rows[1].median_ci95_ms.lo"),
		    40, 1e-12);
	assert_near(json_number_at(t, "selfcheck.rows[1].median_ci95_ms.hi"),
		    60, 1e-12);
	assert_true(json_is(t, "selfcheck.rows[0].median_ci95_ms", "null"));
	assert_true(json_is(t, "seed", "9"));
	sl_buf_release(&out);
}

static void
text_has_the_table_and_the_promise(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, 4, (struct sl_render_options){.n_columns = 80});
	assert_non_null(strstr(out.data, "50 µs of work, up to "));
	assert_non_null(strstr(out.data, "[1 %, 3 %]"));
	assert_non_null(strstr(out.data, "94 %"));
	assert_non_null(strstr(
		out.data, "PASS: 4 false alarms in 200 verdicts, 2 % [1 %, "
			  "3 %]"));
	assert_null(strstr(out.data, "FAIL"));
	sl_buf_release(&out);
}

/* 14 of 200 with an interval from 6 %: above the promised 5 %. */
static void
a_broken_promise_is_called_so(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, 14, (struct sl_render_options){.color = 1});
	assert_non_null(strstr(out.data, "\033[31mFAIL"));
	assert_non_null(strstr(out.data, "\033[31m7 %"));
	sl_buf_release(&out);
}

static void
csv_has_a_line_for_each_change(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, 0, (struct sl_render_options){.format = SL_FORMAT_CSV});
	assert_non_null(strstr(out.data, "\n0,200,0,0,0,-0.01,0.01,,,\n"));
	assert_non_null(strstr(out.data, "\n0.01,200,190,188,0.94,"));
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_every_rate),
		cmocka_unit_test(text_has_the_table_and_the_promise),
		cmocka_unit_test(a_broken_promise_is_called_so),
		cmocka_unit_test(csv_has_a_line_for_each_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
