/* SPDX-License-Identifier: Apache-2.0 */
/* test_svg.c - axes hold their values at round places; a class brings its look
 * where a figure stands alone, and only there. */
#include "base/buf.h"
#include "harness.h"
#include "report/svg.h"

#include <string.h>

static void
values_lie_where_they_should(void **state)
{
	struct sl__axis line = {.lo = 0, .hi = 10, .from = 100, .to = 200};
	struct sl__axis logs = {
		.lo = 1, .hi = 100, .from = 200, .to = 100, .is_log = 1};

	(void)state;
	assert_near(sl__axis_at(&line, 2.5), 125, 1e-12);
	assert_near(sl__axis_at(&logs, 10), 150, 1e-12);
}

static void
ends_are_moved_outwards(void **state)
{
	struct sl__axis line = {.lo = 0.13, .hi = 4.7};
	struct sl__axis logs = {.lo = 3, .hi = 2000, .is_log = 1};
	struct sl__axis one = {.lo = 5, .hi = 5};

	(void)state;
	sl__axis_round(&line); /* steps of 1 */
	assert_near(line.lo, 0, 1e-12);
	assert_near(line.hi, 5, 1e-12);
	sl__axis_round(&logs);
	assert_near(logs.lo, 1, 1e-12);
	assert_near(logs.hi, 10000, 1e-8);
	sl__axis_round(&one);
	assert_true(one.hi > one.lo);
}

/* A mark in a page and in a file. */
static void
a_file_brings_its_colours(void **state)
{
	struct sl_buf page = {0}, file = {0};
	struct sl__svg inside = {.out = &page};
	struct sl__svg alone = {.out = &file, .is_alone = 1};

	(void)state;
	sl__svg_open(&inside, "rect", "mark s0", "x width", 1.25, 2.0);
	sl__svg_close_with_tip(&inside, "%s", "a<b");
	assert_string_equal(page.data,
			    "<rect class=\"mark s0\" x=\"1.3\" width=\"2\">"
			    "<title>a&lt;b</title></rect>\n");
	sl__svg_open(&alone, "rect", "mark s0", "x", 1.0);
	sl__svg_close(&alone);
	assert_string_equal(file.data, "<rect class=\"mark s0\" "
				       "fill=\"#0072b2\" x=\"1\"/>\n");
	sl_buf_release(&page);
	sl_buf_release(&file);
}

static void
ticks_have_units(void **state)
{
	struct sl_buf out = {0};
	struct sl__svg s = {.out = &out};
	const struct sl__axis x = {
		.lo = 0, .hi = 0.05, .from = 0, .to = 100, .unit = "s"};
	const struct sl__axis y = {.lo = 1,
				   .hi = 1e4,
				   .from = 100,
				   .to = 0,
				   .is_log = 1,
				   .unit = "B"};

	(void)state;
	sl__svg_axes(&s, &x, &y);
	assert_non_null(strstr(out.data, ">0 s</text>"));
	assert_non_null(strstr(out.data, ">50 ms</text>"));
	assert_non_null(strstr(out.data, ">10 kB</text>"));
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_lie_where_they_should),
		cmocka_unit_test(ends_are_moved_outwards),
		cmocka_unit_test(a_file_brings_its_colours),
		cmocka_unit_test(ticks_have_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
