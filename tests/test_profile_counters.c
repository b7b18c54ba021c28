/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile_counters.c - what counters counted, on the page and as data;
 * counts that are scaled up are marked, and absence has a reason.
 */
#include "json_check.h"
#include "reads_back.h"
#include "rendered_profile.h"

static const struct sl_operation_counts recorded_counts[] = {
	{.of = {3e6, 7.5e6, 0.6e6, 52000, (double)NAN, 125},
	 .absent = {[SL_EVENT_L2_MISSES] = "libpfm4 knows none"},
	 .n_calls = 3},
	{.of = {3e6, 1.5e6, 2.4e6, 99000, (double)NAN, 40000},
	 .absent = {[SL_EVENT_L2_MISSES] = "libpfm4 knows none"},
	 .n_calls = 3}};

/* Two operations counted; stalls in turns, L2 misses not at all. */
static void
record_counters(struct recorded_profile *r)
{
	static const struct sl_counter_use uses[SL_N_EVENTS] = {
		{"cycles", 1, NULL},
		{"instructions", 1, NULL},
		{"CYCLE_ACTIVITY:STALLS_TOTAL", 0.5, NULL},
		{"L1D:REPLACEMENT", 0.25, NULL},
		{NULL, (double)NAN, "libpfm4 knows none"},
		{"LONGEST_LAT_CACHE:MISS", 1, NULL}};

	record_profile(r);
	memcpy(r->profile.counters, uses, sizeof(uses));
	r->operations[0].counts = &recorded_counts[0];
	r->operations[1].counts = &recorded_counts[1];
	r->profile.n_counted = 2;
}

static void
a_table_when_asked_for_all(void **state)
{
	static const char *const parts[] = {"What the CPU counted",
					    "instr/cycle",
					    "stage.0.conv",
					    "3.00 M",
					    "2.50",
					    "20%",
					    "~52.0 k",
					    "125",
					    "0.50",
					    "80%",
					    "L1D:REPLACEMENT, for 25 %",
					    "none: libpfm4 knows none"};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_counters(&r);
	out = render(&r, SL_FORMAT_TEXT, 100, 1);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		assert_has(&out, parts[i]);
	assert_has_not(&out, "~3.00 M");
	sl_buf_release(&out);
	out = render(&r, SL_FORMAT_TEXT, 80, 0);
	assert_has_not(&out, "instr/cycle");
	sl_buf_release(&out);
}

static void
absence_is_one_line_with_its_reason(void **state)
{
	const struct sl_profile_view explained = {
		.struct_size = sizeof(explained), .explain = 1};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	r.profile.no_counter = "the hypervisor hides them";
	out = render_view(&r, SL_FORMAT_TEXT, 100, 1, &explained);
	assert_has(&out, "not available, because the hypervisor hides them");
	assert_has(&out, "Experiments do without");
	assert_has_not(&out, "What the CPU counted");
	sl_buf_release(&out);
	record_counters(&r);
	out = render_view(&r, SL_FORMAT_TEXT, 100, 1, &explained);
	assert_has(&out, "withdrawn");
	sl_buf_release(&out);
}

static void
data_has_every_count(void **state)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{"counters[0].event", "\"cycles\""},
		{"counters[0].running_share", "1"},
		{"counters[3].counter", "\"L1D:REPLACEMENT\""},
		{"counters[3].running_share", "0.25"},
		{"counters[4].event", "\"L2 misses\""},
		{"counters[4].counter", "null"},
		{"counters[4].counter_absent", "\"libpfm4 knows none\""},
		{"counters[4].running_share_absent", "\"libpfm4 knows none\""},
		{"operations[0].counters.calls", "3"},
		{"operations[0].counters.instructions", "7500000"},
		{"operations[1].counters.l3_misses", "40000"},
		{"operations[0].counters.l2_misses", "null"},
		{"operations[0].counters.l2_misses_absent",
		 "\"libpfm4 knows none\""},
		{"operations[2].counters", "null"},
		{"operations[2].counters_absent",
		 "\"only what takes long is counted\""},
	};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_counters(&r);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_valid(out.data));
	assert_reads_back(&out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!json_is(out.data, rows[i].path, rows[i].text))
			fail_msg("%s is not %s", rows[i].path, rows[i].text);
	}
	sl_buf_release(&out);
	record_profile(&r);
	r.profile.no_counter = "a sandbox";
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "operations[0].counters_absent",
			    "\"a sandbox\""));
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_when_asked_for_all),
		cmocka_unit_test(absence_is_one_line_with_its_reason),
		cmocka_unit_test(data_has_every_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
