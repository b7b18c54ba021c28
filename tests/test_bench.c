/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bench.c - sl_bench() runs what it was told to, as often as told.
 *
 * Commands write a letter each into a file, so that order and number are
 * seen from outside.  No test here looks at how long anything took.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "counting.h"
#include "sleuth.h"

#include <unistd.h>

static char diary[64]; /* the file that commands write to */

static int
open_diary(void **state)
{
	int fd;

	(void)state;
	snprintf(diary, sizeof(diary), "/tmp/sleuth-test-XXXXXX");
	fd = mkstemp(diary);
	assert_true(fd >= 0);
	close(fd);
	setenv("DIARY", diary, 1);
	return 0;
}

static int
close_diary(void **state)
{
	(void)state;
	unlink(diary);
	return 0;
}

static void
read_diary(char *text, size_t cap)
{
	FILE *file = fopen(diary, "r");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, cap - 1, file);
	text[n] = '\0';
	fclose(file);
}

static size_t
count_letter(const char *text, char letter)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == letter;
	return n;
}

static void
number_and_order_of_runs_are_as_told(void **state)
{
	struct sl_command commands[] = {
		{.name = "first",
		 .shell_line = "printf a >> $DIARY",
		 .setup = "printf S >> $DIARY",
		 .prepare = "printf p >> $DIARY",
		 .conclude = "printf c >> $DIARY",
		 .cleanup = "printf Z >> $DIARY"},
		{.shell_line = "printf b >> $DIARY"},
	};
	struct sl_bench_options how = {
		.struct_size = sizeof(how), .n_runs = 20, .n_warmup = 2};
	struct sl_bench *b;
	char text[256];
	const char *at;

	(void)state;
	assert_int_equal(sl_bench(&b, commands, 2, &how, NULL), SL_OK);
	assert_int_equal(b->results[0].n_runs, 20);
	assert_int_equal(b->results[1].wall.n, 20);
	assert_int_equal(b->stopped_by, SL_STOP_RUNS);
	assert_string_equal(b->results[0].command->name, "first");
	assert_string_equal(b->results[1].command->name, "printf b >> $DIARY");
	assert_int_equal(b->n_comparisons, 1);
	assert_int_equal(b->comparisons[0].margin * 100, 1);
	read_diary(text, sizeof(text));
	assert_int_equal(text[0], 'S');
	assert_int_equal(text[strlen(text) - 1], 'Z');
	assert_int_equal(count_letter(text, 'a'), 22);
	assert_int_equal(count_letter(text, 'b'), 22);
	assert_int_equal(count_letter(text, 'p'), 22);
	for (at = text; (at = strchr(at, 'a')) != NULL; at++) {
		assert_int_equal(at[-1], 'p');
		assert_int_equal(at[1], 'c');
	}
	/* After two warm-ups in order, 20 coins: not all heads or tails. */
	assert_non_null(strstr(text, "bpac"));
	assert_non_null(strstr(text, "pacb"));
	sl_bench_free(b);
}

static void
failing_command_ends_everything(void **state)
{
	static const char *const argv[] = {"sh", "-c", "exit 3", NULL};
	static const char *const gone[] = {"no-such-command-here", NULL};
	struct sl_command command = {.name = "bad", .argv = argv};
	struct sl_bench *b;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_bench(&b, &command, 1, NULL, &err), SL_E_MEASURE);
	assert_null(b);
	assert_string_equal(err.text, "'bad' failed with exit code 3");
	command.argv = gone;
	assert_int_equal(sl_bench(&b, &command, 1, NULL, &err), SL_E_MEASURE);
	assert_non_null(strstr(err.text, "no such command"));
	command.argv = NULL;
	command.shell_line = "true";
	command.prepare = "kill -9 $$";
	assert_int_equal(sl_bench(&b, &command, 1, NULL, &err), SL_E_MEASURE);
	assert_non_null(strstr(err.text, "the preparation of 'bad' was ended"));
}

static void
ignored_failures_are_counted(void **state)
{
	struct sl_command command = {.shell_line = "exit 3"};
	struct sl_bench_options how = {
		.struct_size = sizeof(how), .n_runs = 5, .ignore_failure = 1};
	struct sl_bench *b;

	(void)state;
	assert_int_equal(sl_bench(&b, &command, 1, &how, NULL), SL_OK);
	assert_int_equal(b->results[0].n_failed, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(b->results[0].exit_codes[i], 3);
	sl_bench_free(b);
}

/* The first run sets the flag through the file system: seen after it. */
static void
interrupted_before_a_round_is_an_error(void **state)
{
	static const volatile sig_atomic_t interrupted = 1;
	struct sl_command command = {.shell_line = "printf a >> $DIARY",
				     .cleanup = "printf Z >> $DIARY"};
	struct sl_bench_options how = {.struct_size = sizeof(how),
				       .interrupt = &interrupted};
	struct sl_bench *b;
	char text[64];

	(void)state;
	assert_int_equal(sl_bench(&b, &command, 1, &how, NULL),
			 SL_E_INTERRUPTED);
	assert_null(b);
	read_diary(text, sizeof(text));
	assert_string_equal(text, "Z"); /* it still cleans up */
}

struct stopper {
	volatile sig_atomic_t flag;
	size_t at;
};

static void
stop_at(const struct sl_progress *now, void *ctx)
{
	struct stopper *stopper = ctx;

	if (now->n_done >= stopper->at)
		stopper->flag = 1;
}

static void
interrupt_keeps_whole_rounds(void **state)
{
	struct sl_command commands[] = {{.shell_line = "true"},
					{.shell_line = ":"}};
	struct stopper stopper = {.at = 7};
	struct sl_bench_options how = {.struct_size = sizeof(how),
				       .n_runs = 1000,
				       .progress = stop_at,
				       .progress_ctx = &stopper,
				       .interrupt = &stopper.flag};
	struct sl_bench *b;

	(void)state;
	assert_int_equal(sl_bench(&b, commands, 2, &how, NULL), SL_OK);
	assert_int_equal(b->stopped_by, SL_STOP_INTERRUPT);
	assert_int_equal(b->results[0].n_runs, 7);
	assert_int_equal(b->results[1].n_runs, 7);
	sl_bench_free(b);
}

static void
absurd_options_are_refused(void **state)
{
	struct sl_command command = {.shell_line = "true"};
	struct sl_command empty = {.name = "empty"};
	struct sl_bench *b;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct sl_bench_options how = {.struct_size = sizeof(how)};
		size_t n = 1;

		if (i == 0)
			how.struct_size = 1;
		if (i == 1)
			how.time_s = -1;
		if (i == 2)
			n = 0;
		if (i == 3)
			how.margin = 2;
		assert_int_equal(
			sl_bench(&b, i == 4 ? &empty : &command, n, &how, NULL),
			SL_E_USAGE);
		assert_null(b);
	}
}

static void
unreadable_input_is_told(void **state)
{
	struct sl_command command = {.shell_line = "true"};
	struct sl_bench_options how = {.struct_size = sizeof(how),
				       .input = "/nowhere/input"};
	struct sl_bench *b;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_bench(&b, &command, 1, &how, &err), SL_E_IO);
	assert_string_equal(err.text,
			    "/nowhere/input: No such file or directory");
}

static void
every_failed_allocation_is_told_and_leaks_nothing(void **state)
{
	struct sl_command command = {.shell_line = "true", .prepare = "true"};

	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting counting = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&counting);
		struct sl_bench_options how = {.struct_size = sizeof(how),
					       .n_runs = 3,
					       .allocator = &allocator};
		struct sl_bench *b;
		enum sl_status rc = sl_bench(&b, &command, 1, &how, NULL);

		if (rc == SL_OK) {
			sl_bench_free(b);
			assert_int_equal(counting.n_out, 0);
			assert_true(fail_at > 1);
			break;
		}
		assert_int_equal(rc, SL_E_NOMEM);
		assert_null(b);
		assert_int_equal(counting.n_out, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			number_and_order_of_runs_are_as_told, open_diary,
			close_diary),
		cmocka_unit_test(failing_command_ends_everything),
		cmocka_unit_test(ignored_failures_are_counted),
		cmocka_unit_test_setup_teardown(
			interrupted_before_a_round_is_an_error, open_diary,
			close_diary),
		cmocka_unit_test(interrupt_keeps_whole_rounds),
		cmocka_unit_test(absurd_options_are_refused),
		cmocka_unit_test(unreadable_input_is_told),
		cmocka_unit_test(
			every_failed_allocation_is_told_and_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
