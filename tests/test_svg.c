/* SPDX-License-Identifier: Apache-2.0 */
/* test_svg.c - axes hold their values at round places; a class brings its look
 * where a figure stands alone, and only there. */
#include "base/buf.h"
#include "harness.h"
#include "report/figures.h"
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
	struct sl__axis logs = {.lo = 3, .hi = 2100, .is_log = 1};
	struct sl__axis round = {.lo = 1, .hi = 500, .is_log = 1};
	struct sl__axis one = {.lo = 5, .hi = 5};

	(void)state;
	sl__axis_round(&line); /* steps of 1 */
	assert_near(line.lo, 0, 1e-12);
	assert_near(line.hi, 5, 1e-12);
	sl__axis_round(&logs); /* to 1, 2 or 5 times a power of ten */
	assert_near(logs.lo, 2, 1e-12);
	assert_near(logs.hi, 5000, 1e-8);
	sl__axis_round(&round);
	assert_near(round.lo, 1, 1e-12);
	assert_near(round.hi, 500, 1e-8);
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
		.lo = 0, .hi = 0.05, .from = 0, .to = 400, .unit = "s"};
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

static size_t
count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (text = strstr(text, part); text; text = strstr(text + 1, part))
		n++;
	return n;
}

/* Whole numbers have no half between them; a logarithmic axis of a decade has
 * more than its ends; and a caller's ticks are those. */
static void
ticks_fit_what_is_shown(void **state)
{
	static const double sizes[] = {1, 8, 32};
	struct sl_buf out = {0};
	struct sl__svg s = {.out = &out};
	const struct sl__axis y = {.lo = 0, .hi = 1, .from = 100, .to = 0};
	struct sl__axis x = {
		.lo = 0, .hi = 2, .from = 0, .to = 100, .is_whole = 1};

	(void)state;
	sl__svg_axis_x(&s, &x, &y);
	assert_int_equal(count_of(out.data, "<text"), 3);
	assert_null(strstr(out.data, ">0.5</text>"));
	out.n_bytes = 0;
	x = (struct sl__axis){
		.lo = 1.5, .hi = 30, .from = 0, .to = 100, .is_log = 1};
	sl__svg_axis_x(&s, &x, &y);
	assert_int_equal(count_of(out.data, "<text"), 4);
	assert_non_null(strstr(out.data, ">2</text>"));
	assert_non_null(strstr(out.data, ">20</text>"));
	out.n_bytes = 0;
	x.ticks = sizes;
	x.n_ticks = 3;
	sl__svg_axis_x(&s, &x, &y);
	assert_int_equal(count_of(out.data, "<text"), 3);
	assert_non_null(strstr(out.data, ">32</text>"));
	sl_buf_release(&out);
}

/* Where the values between powers of ten would touch, there are fewer. */
static void
log_ticks_have_room(void **state)
{
	struct sl_buf out = {0};
	struct sl__svg s = {.out = &out};
	const struct sl__axis y = {.lo = 0, .hi = 1, .from = 100, .to = 0};
	struct sl__axis x = {.lo = 2e-7,
			     .hi = 8e-4,
			     .from = 216,
			     .to = 640,
			     .unit = "s",
			     .is_log = 1};

	(void)state;
	sl__svg_axis_x(&s, &x, &y);
	assert_non_null(strstr(out.data, ">300 µs</text>"));
	assert_null(strstr(out.data, ">200 µs</text>"));
	out.n_bytes = 0;
	x.to = 400; /* 51 points for each power of ten */
	sl__svg_axis_x(&s, &x, &y);
	assert_int_equal(count_of(out.data, "<text"), 3);
	out.n_bytes = 0;
	x.to = 1216;
	sl__svg_axis_x(&s, &x, &y);
	assert_non_null(strstr(out.data, ">200 µs</text>"));
	sl_buf_release(&out);
}

/* Where long texts would touch, as of 73.6 and 73.8 ms on 44 points, the step is
 * the next of 1, 2 and 5. */
static void
ticks_have_room(void **state)
{
	struct sl_buf out = {0};
	struct sl__svg s = {.out = &out};
	const struct sl__axis y = {.lo = 0, .hi = 1, .from = 100, .to = 0};
	struct sl__axis x = {.lo = 73.5e-3,
			     .hi = 74.9e-3,
			     .from = 60,
			     .to = 368,
			     .unit = "s"};

	(void)state;
	sl__svg_axis_x(&s, &x, &y);
	assert_null(strstr(out.data, ">73.6 ms</text>"));
	assert_non_null(strstr(out.data, ">73.5 ms</text>"));
	assert_non_null(strstr(out.data, ">74.5 ms</text>"));
	assert_int_equal(count_of(out.data, "<text"), 3);
	out.n_bytes = 0;
	x.to = 676; /* 88 points for 0.2 ms */
	sl__svg_axis_x(&s, &x, &y);
	assert_int_equal(count_of(out.data, "<text"), 7);
	assert_non_null(strstr(out.data, ">74.8 ms</text>"));
	sl_buf_release(&out);
}

/* Over less than a power of ten three values at least are named. */
static void
short_log_axes_have_finer_ticks(void **state)
{
	struct sl_buf out = {0};
	struct sl__svg s = {.out = &out};
	const struct sl__axis y = {.lo = 0, .hi = 1, .from = 100, .to = 0};
	struct sl__axis x = {.lo = 120e-6,
			     .hi = 640e-6,
			     .from = 0,
			     .to = 600,
			     .unit = "s",
			     .is_log = 1};

	(void)state;
	sl__svg_axis_x(&s, &x, &y);
	assert_non_null(strstr(out.data, ">200 µs</text>"));
	assert_non_null(strstr(out.data, ">300 µs</text>"));
	assert_non_null(strstr(out.data, ">500 µs</text>"));
	sl_buf_release(&out);
}

/* Estimates of three sizes: on a logarithmic axis the middle one is in the
 * middle, and the reference is drawn. */
static void
intervals_lie_on_a_common_axis(void **state)
{
	const struct sl__figure_interval rows[] = {
		{"a", 0, 1, 0, 0, "1"},
		{"b<", 1, 100, 50, 200, "100"},
		{"c", 2, 1e4, 0, 0, "1e4"}};
	const struct sl__figure figure = {"f", "title", NULL, "axis", 100};
	struct sl_render_options how = SL_RENDER_OPTIONS_INIT;
	struct sl_buf out = {0}, index = {0};
	struct sl__views v = {.how = &how, .out = &out, .index = &index};

	(void)state;
	assert_false(sl__figure_intervals(&v, &figure, rows, 0));
	assert_int_equal(out.n_bytes, 0);
	assert_true(sl__figure_intervals(&v, &figure, rows, 3));
	sl__views_figure_end(&v, "caption");
	assert_int_equal(count_of(out.data, "<circle"), 3);
	assert_int_equal(count_of(out.data, "line k1"), 1);
	assert_int_equal(count_of(out.data, "line ink dash"), 1);
	/* From 216 to 640, so the middle is at 428. */
	assert_non_null(strstr(out.data, "s1\" cx=\"428\""));
	assert_non_null(strstr(out.data, "b&lt;"));
	assert_int_equal(sl__views_end(&v, NULL), SL_OK);
	sl_buf_release(&out);
	sl_buf_release(&index);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_lie_where_they_should),
		cmocka_unit_test(ends_are_moved_outwards),
		cmocka_unit_test(a_file_brings_its_colours),
		cmocka_unit_test(ticks_have_units),
		cmocka_unit_test(ticks_fit_what_is_shown),
		cmocka_unit_test(log_ticks_have_room),
		cmocka_unit_test(ticks_have_room),
		cmocka_unit_test(short_log_axes_have_finer_ticks),
		cmocka_unit_test(intervals_lie_on_a_common_axis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
