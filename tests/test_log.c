/* SPDX-License-Identifier: Apache-2.0 */
/* test_log.c - a line arrives whole and once, or is dropped without a log. */
#include "harness.h"
#include "base/log.h"

struct heard {
	int n_lines;
	char last[1024];
};

static void
hear(const char *text, void *ctx)
{
	struct heard *heard = ctx;

	heard->n_lines++;
	snprintf(heard->last, sizeof(heard->last), "%s", text);
}

static void
a_line_arrives_formatted(void **state)
{
	struct heard heard = {0, ""};
	struct sl_log log = {hear, &heard};

	(void)state;
	sl__log(&log, "%d warm-up runs of %s", 3, "true");
	assert_int_equal(heard.n_lines, 1);
	assert_string_equal(heard.last, "3 warm-up runs of true");
}

static void
without_a_log_it_is_dropped(void **state)
{
	struct heard heard = {0, ""};
	struct sl_log log = {NULL, &heard};

	(void)state;
	sl__log(NULL, "%s", "nobody");
	sl__log(&log, "%s", "nobody");
	assert_int_equal(heard.n_lines, 0);
}

static void
a_long_line_is_cut(void **state)
{
	struct heard heard = {0, ""};
	struct sl_log log = {hear, &heard};

	(void)state;
	sl__log(&log, "%0900d", 7);
	assert_int_equal(heard.n_lines, 1);
	assert_in_range(strlen(heard.last), 100, 899);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_arrives_formatted),
		cmocka_unit_test(without_a_log_it_is_dropped),
		cmocka_unit_test(a_long_line_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
