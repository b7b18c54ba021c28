/* SPDX-License-Identifier: Apache-2.0 */
/* test_profile_traffic.c - what moves between caches, as it is shown. */
#include "rendered_profile.h"

#include <math.h>

/* 1 MB from L2 and nothing from memory, each; as counted, 2 MB from L2. */
static void
record_traffic(struct recorded_profile *r, int is_counted)
{
	struct sl_operation *ops;

	record_profile(r);
	ops = (struct sl_operation *)(uintptr_t)r->profile.operations;
	for (size_t i = 0; i < r->profile.n_operations; i++) {
		ops[i].n_traffic = 2;
		ops[i].n_calls = 1;
		ops[i].traffic[0] = (struct sl_traffic){
			.level = SL_LEVEL_L2,
			.predicted_bytes = 1e6,
			.measured_bytes = {(double)NAN, "not read"}};
		ops[i].traffic[1] = (struct sl_traffic){
			.level = SL_LEVEL_DRAM,
			.measured_bytes = {(double)NAN, "not read"}};
	}
	if (is_counted)
		ops[r->profile.by_time[0]].traffic[0].measured_bytes =
			(struct sl_reading){2e6, NULL};
}

static void
test_all_of_it_is_shown_where_asked_for(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_traffic(&r, 0);
	out = render(&r, SL_FORMAT_TEXT, 100, 1);
	assert_has(&out, "What moves between caches");
	assert_has(&out, "from L2  from DRAM");
	assert_has(&out, "a whole iteration");
	assert_has(&out, "24.0 MB");
	assert_has_not(&out, "counted  from DRAM");
	sl_buf_release(&out);
	out = render(&r, SL_FORMAT_TEXT, 100, 0);
	assert_has_not(&out, "What moves between caches");
	sl_buf_release(&out);
}

static void
test_counts_stand_beside_it(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_traffic(&r, 1);
	out = render(&r, SL_FORMAT_TEXT, 100, 1);
	assert_has(&out, "from L2  counted  from DRAM");
	assert_has(&out, "1.00 MB  2.00 MB        0 B");
	sl_buf_release(&out);
}

static void
test_without_caches_there_is_no_table(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	out = render(&r, SL_FORMAT_TEXT, 100, 1);
	assert_has_not(&out, "What moves between caches");
	sl_buf_release(&out);
}

static void
test_json_says_why_nothing_was_counted(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_traffic(&r, 1);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_has(&out, "\"measured_bytes_absent\": \"not read\"");
	assert_has(&out, "\"predicted_bytes\": 1000000");
	assert_has(&out, "\"measured_bytes\": 2000000");
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_it_is_shown_where_asked_for),
		cmocka_unit_test(test_counts_stand_beside_it),
		cmocka_unit_test(test_without_caches_there_is_no_table),
		cmocka_unit_test(test_json_says_why_nothing_was_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
