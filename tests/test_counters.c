/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_counters.c - every event is listed, and one that the kernel refuses
 * says why in words that help; the refusals are recorded error numbers.
 */
#include "scripted_counters.h"

#include <fcntl.h>
#include <unistd.h>

static const char *
reason(int error, int paranoid, struct sl__arena *arena)
{
	const char *why = sl__counter_open_error_text(error, paranoid, arena);

	assert_non_null(why);
	return why;
}

static void
errors_become_words(void **state)
{
	static const struct {
		int error;
		const char *words;
	} rows[] = {
		{ENOENT, "virtual machine"},
		{EINVAL, "virtual machine"},
		{EOPNOTSUPP, "virtual machine"},
		{ENOSYS, "no perf_event_open"},
		{EBUSY, "another program"},
		{EMFILE, "file descriptor"},
		{EACCES, "perf_event_paranoid"},
		{EPERM, "sandbox"},
		{9999, "error 9999"},
	};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_non_null(strstr(
			reason(rows[i].error, SL__PARANOID_UNKNOWN, &arena),
			rows[i].words));
	sl__arena_release(&arena);
}

/* Level 2 lets a process count itself: then it is something else. */
static void
the_paranoid_level_decides_what_to_do(void **state)
{
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_non_null(strstr(reason(EACCES, 4, &arena),
			       "perf_event_paranoid is 4; 'sysctl "
			       "kernel.perf_event_paranoid=2'"));
	assert_non_null(strstr(reason(EPERM, 2, &arena), "container"));
	assert_null(strstr(reason(EPERM, -1, &arena), "sysctl"));
	sl__arena_release(&arena);
}

static void
all_events_are_listed_in_order(void **state)
{
	struct scripted_counters script;
	struct sl__counter_backend source = script_counters(&script);
	const struct sl_counter *list;
	struct sl__arena arena;
	size_t n;

	(void)state;
	script.open_errors[SL_EVENT_INSTRUCTIONS] = EACCES;
	script.open_errors[SL_EVENT_STALLS] = ENOENT;
	source.paranoid = 3;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__counters_list(&list, &n, &source, &arena, NULL),
			 SL_OK);
	assert_int_equal(n, SL_N_EVENTS);
	for (int e = 0; e < SL_N_EVENTS; e++)
		assert_string_equal(list[e].name,
				    sl_event_text((enum sl_event)e));
	assert_null(list[SL_EVENT_CYCLES].absent);
	assert_null(list[SL_EVENT_L1_MISSES].absent);
	assert_non_null(strstr(list[SL_EVENT_INSTRUCTIONS].absent, "is 3"));
	assert_non_null(
		strstr(list[SL_EVENT_STALLS].absent, "virtual machine"));
	assert_int_equal(script.n_open, 0);
	sl__arena_release(&arena);
}

/* Where a CPU's own counter is refused the general one is tried. */
static int
open_general_only(const struct sl__counter_code *code, void *ctx)
{
	const uint32_t raw = 4; /* PERF_TYPE_RAW */

	return code->type == raw ? -ENOENT : scripted_open(code, ctx);
}

static void
the_first_that_opens_is_taken(void **state)
{
	struct sl__counter_choice choices[SL_N_EVENTS];
	struct scripted_counters script;
	struct sl__counter_backend source = script_counters(&script);
	struct sl__arena arena;

	(void)state;
	source.open = open_general_only;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__counters_choose(choices, &source, &arena, NULL),
			 SL_OK);
	assert_string_equal(choices[SL_EVENT_CYCLES].code.name, "cycles");
	assert_string_equal(choices[SL_EVENT_STALLS].code.name,
			    "stalled-cycles-backend");
	assert_string_equal(choices[SL_EVENT_L1_MISSES].code.name,
			    "L1-dcache-load-misses");
	assert_string_equal(choices[SL_EVENT_L3_MISSES].code.name,
			    "LLC-load-misses");
	/* The kernel has no general name for these. */
	assert_non_null(choices[SL_EVENT_L2_MISSES].absent);
	sl__arena_release(&arena);
}

static void
the_kernel_itself_answers_for_each(void **state)
{
	int before = open("/dev/null", O_RDONLY);
	const struct sl_counter *list;
	struct sl__arena arena;
	int after;
	size_t n;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__counters_list(&list, &n, NULL, &arena, NULL),
			 SL_OK);
	assert_int_equal(n, SL_N_EVENTS);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(list[i].name);
		if (list[i].absent)
			assert_true(strlen(list[i].absent) > 0);
	}
	after = open("/dev/null", O_RDONLY);
	assert_int_equal(after, before + 1);
	close(after);
	close(before);
	sl__arena_release(&arena);
}

/* Software events are counted by any kernel: these prove how it is asked. */
static void
the_kernel_counts_what_it_can(void **state)
{
	/* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK: nanoseconds */
	static const struct sl__counter_code clock = {"task-clock", 1, 1, 0, 0};
	struct sl__counter_reading first, second;
	struct sl__counter_backend source;
	volatile unsigned sum = 0;
	int handle;

	(void)state;
	sl__counter_backend_kernel(&source);
	handle = source.open(&clock, source.ctx);
	if (handle < 0) /* a sandbox */
		skip();
	assert_int_equal(source.read(handle, &first, source.ctx), 0);
	for (unsigned i = 0; i < 1000000; i++)
		sum += i;
	assert_int_equal(source.read(handle, &second, source.ctx), 0);
	assert_true(sum > 0);
	assert_true(second.value > first.value);
	assert_true(second.enabled_ns > first.enabled_ns);
	assert_true(second.running_ns <= second.enabled_ns);
	source.close(handle, source.ctx);
	assert_int_equal(source.read(handle, &second, source.ctx), -EBADF);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_become_words),
		cmocka_unit_test(the_paranoid_level_decides_what_to_do),
		cmocka_unit_test(all_events_are_listed_in_order),
		cmocka_unit_test(the_first_that_opens_is_taken),
		cmocka_unit_test(the_kernel_itself_answers_for_each),
		cmocka_unit_test(the_kernel_counts_what_it_can),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
