/* SPDX-License-Identifier: Apache-2.0 */
/* test_proc_text.c - recorded kernel files are read, malformed ones refused. */
#include "harness.h"
#include "timing/proc_text.h"

static void
stat_is_summed(void **state)
{
	/* From a virtual machine; guest times (the last two) are in user. */
	static const char recorded[] = "cpu  718 3 954 40594 264 1 18 7 100 5\n"
				       "cpu0 215 0 260 20798 4 0 3 1 0 0\n";
	struct sl__system_times t;

	(void)state;
	assert_true(sl__proc_parse_stat(&t, recorded));
	assert_int_equal(t.total, 718 + 3 + 954 + 40594 + 264 + 1 + 18 + 7);
	assert_int_equal(t.idle, 40594 + 264);
	assert_int_equal(t.steal, 7);
}

static void
malformed_stat_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"cpu",
		"cpu ",
		"cpu0 1 2 3 4 5 6 7 8",
		"cpu 1 2 3 4 5 6 7",
		"cpu 1 2 x 4 5 6 7 8",
		"cpu 1 2 3 4 5 6 7 99999999999999999999999"};
	struct sl__system_times t;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(sl__proc_parse_stat(&t, bad[i]));
}

static void
run_delay_is_the_second_field(void **state)
{
	uint64_t ns = 0;

	(void)state;
	assert_true(sl__proc_parse_run_delay(&ns, "123456789 4242 17\n"));
	assert_int_equal(ns, 4242);
	assert_false(sl__proc_parse_run_delay(&ns, ""));
	assert_false(sl__proc_parse_run_delay(&ns, "12"));
}

static void
single_number_is_read(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_true(sl__proc_parse_number(&n, "18\n"));
	assert_int_equal(n, 18);
	assert_false(sl__proc_parse_number(&n, "-3\n"));
	assert_false(sl__proc_parse_number(&n, "<unsupported>\n"));
}

static void
files_are_read_to_the_end_of_the_room(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(sl__proc_read_file(SL_TEST_DATA "/none", text, 8), 0);
	assert_string_equal(text, "");
	assert_int_equal(sl__proc_read_file("/proc/version", text, 8), 7);
	assert_string_equal(text, "Linux v");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_is_summed),
		cmocka_unit_test(malformed_stat_is_refused),
		cmocka_unit_test(run_delay_is_the_second_field),
		cmocka_unit_test(single_number_is_read),
		cmocka_unit_test(files_are_read_to_the_end_of_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
