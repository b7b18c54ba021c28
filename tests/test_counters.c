/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_counters.c - every counter is listed, and one that the kernel refuses
 * says why in words; the refusals are recorded error numbers.
 */
#include "harness.h"
#include "counters.h"

#include <errno.h>
#include <fcntl.h>

/* Answers with errors in turn; 0 opens something real. */
struct script {
	const int *errors;
	size_t n_asked;
};

static int
open_scripted(uint64_t event, void *ctx)
{
	struct script *script = ctx;
	int error = script->errors[script->n_asked++];

	(void)event;
	return error ? -error : open("/dev/null", O_RDONLY);
}

static void
refusals_are_explained(void **state)
{
	static const int errors[] = {0, ENOENT, EACCES, ENOSYS, 9999};
	struct script script = {errors, 0};
	const struct sl_counter *list;
	struct sl__arena arena;
	size_t n;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__counters_list(&list, &n, open_scripted, &script,
					   &arena, NULL),
			 SL_OK);
	assert_int_equal(n, 5);
	assert_int_equal(script.n_asked, 5);
	assert_string_equal(list[0].name, "cycles");
	assert_null(list[0].absent);
	assert_string_equal(list[1].name, "instructions");
	assert_non_null(strstr(list[1].absent, "virtual machine"));
	assert_non_null(strstr(list[2].absent, "perf_event_paranoid"));
	assert_non_null(strstr(list[3].absent, "no perf_event_open"));
	assert_string_equal(list[4].name, "branches");
	assert_string_equal(list[4].absent, "error 9999");
	sl__arena_release(&arena);
}

static void
no_descriptor_stays_open(void **state)
{
	static const int errors[] = {0, 0, 0, 0, 0};
	int before = open("/dev/null", O_RDONLY);
	const struct sl_counter *list;
	struct sl__arena arena;
	int after;
	size_t n;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (int i = 0; i < 20; i++) {
		struct script script = {errors, 0};

		assert_int_equal(sl__counters_list(&list, &n, open_scripted,
						   &script, &arena, NULL),
				 SL_OK);
	}
	after = open("/dev/null", O_RDONLY);
	assert_int_equal(after, before + 1);
	sl__arena_release(&arena);
}

static void
the_kernel_itself_answers_for_each(void **state)
{
	const struct sl_counter *list;
	struct sl__arena arena;
	size_t n;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__counters_list(&list, &n, NULL, NULL, &arena, NULL),
			 SL_OK);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(list[i].name);
		if (list[i].absent)
			assert_true(strlen(list[i].absent) > 0);
	}
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_are_explained),
		cmocka_unit_test(no_descriptor_stays_open),
		cmocka_unit_test(the_kernel_itself_answers_for_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
