/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doc.c - the same page as text, in colour, in ASCII, in Markdown, and
 * in little room.  The expected pages are written by hand.
 */
#include "harness.h"
#include "counting.h"
#include "report/doc.h"

static const struct sl__column columns[] = {
	{"command", 0, 0},
	{"median", 1, 0},
	{"95 % interval", 0, 2},
	{"verdict", 0, 1},
};

static void
build(struct sl__doc *doc)
{
	sl__doc_gap(doc); /* opens the page: not shown */
	sl__doc_heading(doc, "%zu commands", (size_t)2);
	sl__doc_pair(doc, "mean ± sd", SL__STYLE_STRONG, "1 ms");
	sl__doc_append(doc, SL__STYLE_DIM, " [0, 2]");
	sl__doc_pair(doc, "n", SL__STYLE_PLAIN, "7");
	sl__doc_gap(doc);
	sl__doc_gap(doc);
	sl__doc_table(doc, columns, 4);
	sl__doc_cell(doc, SL__STYLE_PLAIN, "a|b\n");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "12 ms");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "[11, 13]");
	sl__doc_cell(doc, SL__STYLE_DIM, "baseline");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "a long name of a command");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "9 µs");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "%s", "");
	sl__doc_cell(doc, SL__STYLE_GOOD, "faster");
	sl__doc_drawing(doc, SL__STYLE_PLAIN, " ▁█");
	sl__doc_gap(doc); /* ends the page: not shown */
}

static void
assert_page(void (*builder)(struct sl__doc *), struct sl_render_options how,
	    const char *expected)
{
	struct sl_buf out = {0};
	struct sl__doc doc;

	how.struct_size = sizeof(how);
	sl__doc_init(&doc, NULL);
	builder(&doc);
	assert_int_equal(sl__doc_render(&doc, &how, &out, NULL), SL_OK);
	assert_string_equal(out.data, expected);
	sl__doc_release(&doc);
	sl_buf_release(&out);
}

static void
text_is_aligned(void **state)
{
	(void)state;
	assert_page(
		build, (struct sl_render_options){.n_columns = 80},
		"2 commands\n"
		"  mean ± sd  1 ms [0, 2]\n"
		"  n          7\n"
		"\n"
		"  command                   median  95 % interval  verdict\n"
		"  a|b\\n                      12 ms  [11, 13]       "
		"baseline\n"
		"  a long name of a command    9 µs                 faster\n"
		"   ▁█\n");
}

static void
build_lines(struct sl__doc *doc)
{
	sl__doc_text(doc, SL__STYLE_PLAIN,
		     "- it is fastest at N = 256, where it takes 3.2 kFLOPs "
		     "for 470 MFLOP/s, and stays so");
	sl__doc_drawing(doc, SL__STYLE_DIM, "|  x   ");
	sl__doc_drawing(doc, SL__STYLE_PLAIN, "   ");
}

static void
lines_break_where_they_read_well(void **state)
{
	(void)state;
	assert_page(build_lines, (struct sl_render_options){.n_columns = 28},
		    "  - it is fastest at\n"
		    "    N = 256, where it takes\n"
		    "    3.2 kFLOPs for\n"
		    "    470 MFLOP/s, and stays\n"
		    "    so\n"
		    "  |  x\n"
		    "\n");
}

static void
narrow_pages_leave_out_and_shorten(void **state)
{
	(void)state;
	assert_page(build,
		    (struct sl_render_options){.n_columns = 40, .ascii = 1},
		    "2 commands\n"
		    "  mean +/- sd  1 ms [0, 2]\n"
		    "  n            7\n"
		    "\n"
		    "  command               median  verdict\n"
		    "  a|b\\n                  12 ms  baseline\n"
		    "  a long na... command    9 us  faster\n"
		    "  Hidden for width: 95 % interval (needs\n"
		    "  52 columns)\n"
		    "   .#\n");
}

static void
build_empty_columns(struct sl__doc *doc)
{
	static const struct sl__column with_empty[] = {{"name", 0, 0},
						       {"energy", 1, 0},
						       {"note", 0, 0},
						       {"time", 1, 0}};

	sl__doc_table(doc, with_empty, 4);
	for (int i = 1; i <= 2; i++) {
		sl__doc_plain_cell(doc, i == 1 ? "a" : "b");
		sl__doc_absent_cell(doc);
		sl__doc_plain_cell(doc, "");
		sl__doc_cell(doc, SL__STYLE_PLAIN, i == 1 ? "-" : "%d ms", i);
	}
}

/* One value is enough for a column. */
static void
columns_without_a_value_are_left_out(void **state)
{
	(void)state;
	assert_page(build_empty_columns,
		    (struct sl_render_options){.n_columns = 80},
		    "  name  time\n"
		    "  a        -\n"
		    "  b     2 ms\n");
	assert_page(build_empty_columns,
		    (struct sl_render_options){.format = SL_FORMAT_MARKDOWN},
		    "| name | time |\n"
		    "|:---|---:|\n"
		    "| a | - |\n"
		    "| b | 2 ms |\n");
}

static void
build_words(struct sl__doc *doc)
{
	sl__doc_text(doc, SL__STYLE_GOOD, "It took 12 ms [11.5, 12.5] here");
	sl__doc_append(doc, SL__STYLE_PLAIN, " and there.");
}

/* 20 columns: no break inside the interval nor between 12 and ms. */
static void
colours_end_with_their_line(void **state)
{
	(void)state;
	assert_page(build_words,
		    (struct sl_render_options){.n_columns = 20, .color = 1},
		    "  \033[32mIt took 12 ms\033[0m\n"
		    "  \033[32m[11.5, 12.5] here\033[0m\n"
		    "  and there.\n");
}

static void
build_unbroken(struct sl__doc *doc)
{
	sl__doc_text(doc, SL__STYLE_PLAIN, "abcdefghijklmnopqrstuvwxyz");
}

static void
a_word_wider_than_the_page_is_cut(void **state)
{
	(void)state;
	assert_page(build_unbroken, (struct sl_render_options){.n_columns = 1},
		    "  abcdefghijklmnopqr\n  stuvwxyz\n");
}

static void
markdown_is_a_table_and_escaped(void **state)
{
	(void)state;
	assert_page(build,
		    (struct sl_render_options){.format = SL_FORMAT_MARKDOWN},
		    "## 2 commands\n"
		    "\n"
		    "- mean ± sd: **1 ms** [0, 2]\n"
		    "- n: 7\n"
		    "\n"
		    "| command | median | 95 % interval | verdict |\n"
		    "|:---|---:|:---|:---|\n"
		    "| a\\|b\\\\n | 12 ms | [11, 13] | baseline |\n"
		    "| a long name of a command | 9 µs |  | faster |\n"
		    "\n"
		    "```text\n"
		    " ▁█\n"
		    "```\n");
}

static void
build_aside(struct sl__doc *doc)
{
	sl__doc_heading(doc, "Memory");
	sl__doc_append(doc, SL__STYLE_DIM, "  ~ is estimated");
	sl__doc_pair(doc, "by tool", SL__STYLE_PLAIN, "a 1");
	sl__doc_pair(doc, "", SL__STYLE_DIM, "b  2");
	sl__doc_pair(doc, "", SL__STYLE_STRONG, "c 3");
	sl__doc_pair(doc, "n", SL__STYLE_PLAIN,
		     "x\xe2\x80\xae"
		     "y\xe2\x80\x8b");
}

/* Blanks and empty keys that arrange a page for the eye are words here. */
static void
markdown_goes_on_without_a_key(void **state)
{
	(void)state;
	assert_page(build_aside,
		    (struct sl_render_options){.format = SL_FORMAT_MARKDOWN},
		    "## Memory: \\~ is estimated\n"
		    "\n"
		    "- by tool: a 1; b 2; **c 3**\n"
		    "- n: x\\\\u202ey\\\\u200b\n");
}

static void
build_markup(struct sl__doc *doc)
{
	sl__doc_text(doc, SL__STYLE_PLAIN, "# *a* `b` [c](d) <e> $f$");
}

static void
markup_in_names_is_taken_literally(void **state)
{
	(void)state;
	assert_page(build_markup,
		    (struct sl_render_options){.format = SL_FORMAT_MARKDOWN},
		    "\\# \\*a\\* \\`b\\` [c\\](d) \\<e> \\$f\\$\n");
}

static void
build_same(struct sl__doc *doc)
{
	static const char *const cells[] = {"1", "9 ms", "-", "ok",
					    "2", "8 ms", "-", "ok"};

	sl__doc_table(doc, columns, 4);
	for (size_t i = 0; i < 8; i++)
		sl__doc_cell(doc, i % 4 ? SL__STYLE_DIM : SL__STYLE_PLAIN, "%s",
			     cells[i]);
	assert_string_equal(sl__doc_drop_equal_columns(doc), "verdict ok");
	sl__doc_cell(doc, SL__STYLE_PLAIN, "3"); /* rows are shorter now */
	sl__doc_cell(doc, SL__STYLE_PLAIN, "7 ms");
}

/* Of one row, nothing but what is empty is the same. */
static void
build_row(struct sl__doc *doc)
{
	sl__doc_table(doc, columns, 4);
	sl__doc_plain_cell(doc, "1");
	sl__doc_plain_cell(doc, "9 ms");
	sl__doc_absent_cell(doc);
	sl__doc_plain_cell(doc, "ok");
	assert_string_equal(sl__doc_drop_equal_columns(doc), "");
}

static void
columns_without_news_are_left_out(void **state)
{
	(void)state;
	assert_page(build_same, (struct sl_render_options){.n_columns = 80},
		    "  command  median\n"
		    "  1          9 ms\n"
		    "  2          8 ms\n"
		    "  3          7 ms\n");
	assert_page(build_row, (struct sl_render_options){.n_columns = 80},
		    "  command  median  verdict\n"
		    "  1          9 ms  ok\n");
}

static void
other_formats_are_refused(void **state)
{
	struct sl_render_options how = {.format = SL_FORMAT_SVG};
	struct sl_buf out = {0};
	struct sl__doc doc;

	(void)state;
	sl__doc_init(&doc, NULL);
	build(&doc);
	assert_int_equal(sl__doc_render(&doc, &how, &out, NULL), SL_E_USAGE);
	assert_null(out.data);
	sl__doc_release(&doc);
}

/* Whichever allocation fails, the page says so and nothing leaks. */
static void
running_out_of_memory_is_reported(void **state)
{
	struct sl_render_options how = {.n_columns = 40, .ascii = 1};
	int n_failed = 0;

	(void)state;
	for (int at = 1; at < 100; at++) {
		struct counting c = {0, 0, at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_buf out = {0};
		enum sl_status rc;
		struct sl__doc doc;

		sl__doc_init(&doc, &allocator);
		for (int i = 0; i < 20; i++)
			build(&doc);
		rc = sl__doc_render(&doc, &how, &out, NULL);
		assert_int_equal(rc, c.n_requests >= at ? SL_E_NOMEM : SL_OK);
		n_failed += rc != SL_OK;
		sl__doc_release(&doc);
		sl_buf_release(&out);
		assert_int_equal(c.n_out, 0);
	}
	assert_true(n_failed >= 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_aligned),
		cmocka_unit_test(lines_break_where_they_read_well),
		cmocka_unit_test(narrow_pages_leave_out_and_shorten),
		cmocka_unit_test(columns_without_a_value_are_left_out),
		cmocka_unit_test(colours_end_with_their_line),
		cmocka_unit_test(a_word_wider_than_the_page_is_cut),
		cmocka_unit_test(markdown_is_a_table_and_escaped),
		cmocka_unit_test(markdown_goes_on_without_a_key),
		cmocka_unit_test(markup_in_names_is_taken_literally),
		cmocka_unit_test(columns_without_news_are_left_out),
		cmocka_unit_test(other_formats_are_refused),
		cmocka_unit_test(running_out_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
