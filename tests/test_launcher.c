/* SPDX-License-Identifier: Apache-2.0 */
/* test_launcher.c - commands are found, run, and told apart by their end. */
#define _GNU_SOURCE
#include "emulator.h"
#include "timing/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static const char *const exit_3[] = {"sh", "-c", "exit 3", NULL};
static const char *const exit_137[] = {"sh", "-c", "exit 137", NULL};
static const char *const killed[] = {"sh", "-c", "kill -9 $$", NULL};
static const char *const greet[] = {"sh", "-c", "echo out; echo err >&2", NULL};
static const char *const read_in[] = {"sh", "-c", "read x && test \"$x\" = in",
				      NULL};
/* A block of 64 MiB that is written to, and so resident. */
static const char *const large[] = {"dd",     "if=/dev/zero", "of=/dev/null",
				    "bs=64M", "count=1",      NULL};
static const char *const gone[] = {"gone", NULL};

static const char *const chatter[] = {
	"sh", "-c",
	"yes | head -c 300000 >&2; echo end >&2; yes | head -c "
	"300000",
	NULL};
/* Its child goes on, and holds the pipe of standard error. */
static const char *const leaves_child[] = {"sh", "-c",
					   "sleep 1000 & echo $! >&2", NULL};

static struct sl__executable programs[] = {
	{.file = "/bin/sh", .argv = exit_3},
	{.file = "/bin/sh", .argv = killed},
	{.file = "/bin/sh", .argv = greet},
	{.file = "/bin/sh", .argv = read_in},
	{.file = "/bin/dd", .argv = large},
	{.file = "/nowhere/gone", .argv = gone},
	{.file = "/bin/sh", .argv = exit_137},
	{.file = "/bin/sh", .argv = chatter, .sink = SL__STDOUT_SINK_PIPE},
	{.file = "/bin/sh", .argv = leaves_child},
};

struct scene {
	struct sl__launcher launcher;
	char input[64], output[64];
};

static void
temporary_file(char *path, const char *text)
{
	int fd;

	strcpy(path, "/tmp/sleuth-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static int
open_scene(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	temporary_file(s->input, "in\n");
	temporary_file(s->output, "");
	assert_int_equal(sl__launcher_set_output(&programs[2], s->output, NULL),
			 SL_OK);
	assert_int_equal(
		sl__launcher_open(&s->launcher, programs, s->input, NULL),
		SL_OK);
	*state = s;
	return 0;
}

static int
close_scene(void **state)
{
	struct scene *s = *state;

	sl__launcher_close(&s->launcher);
	unlink(s->input);
	unlink(s->output);
	free(s);
	return 0;
}

static struct sl__run_result
run(struct scene *s, size_t which)
{
	struct sl__run_result result;

	assert_int_equal(
		sl__launcher_run(&s->launcher, which, &result, NULL, NULL),
		SL_OK);
	return result;
}

static void
endings_are_told_apart(void **state)
{
	struct sl__run_result result = run(*state, 0);

	assert_int_equal(result.exit_code, 3);
	assert_int_equal(result.start_error, 0);
	assert_true(result.wall_ns > 0);
	result = run(*state, 1);
	assert_int_equal(result.exit_code, 128 + SIGKILL);
	assert_int_equal(result.signal_number, SIGKILL);
	result = run(*state, 6); /* not a signal, though it looks like one */
	assert_int_equal(result.exit_code, 137);
	assert_int_equal(result.signal_number, 0);
	skip_in_emulator("vfork() is fork(), whose parent does not learn why "
			 "a program was not started");
	result = run(*state, 5);
	assert_int_equal(result.start_error, ENOENT);
}

static void
streams_are_connected(void **state)
{
	struct scene *s = *state;
	char text[64] = "";
	int fd;

	/* The file is written anew by each run. */
	for (int i = 0; i < 2; i++)
		assert_string_equal(run(s, 2).stderr_tail, "err\n");
	fd = open(s->output, O_RDONLY);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	assert_string_equal(text, "out\n");
	/* Every run reads the input from its beginning. */
	assert_int_equal(run(s, 3).exit_code, 0);
	assert_int_equal(run(s, 3).exit_code, 0);
}

/* More than a pipe holds, on either stream; the end is kept. */
static void
pipes_are_emptied(void **state)
{
	struct sl__run_result result = run(*state, 7);
	size_t n = strlen(result.stderr_tail);

	assert_int_equal(result.exit_code, 0);
	assert_int_equal(n, sizeof(result.stderr_tail) - 1);
	assert_string_equal(result.stderr_tail + n - 8, "y\ny\nend\n");
	assert_string_equal(run(*state, 0).stderr_tail, "");
}

static void
children_left_behind_are_not_waited_for(void **state)
{
	struct sl__run_result result = run(*state, 8);
	long pid = strtol(result.stderr_tail, NULL, 10);

	assert_int_equal(result.exit_code, 0);
	assert_true(pid > 1);
	assert_int_equal(run(*state, 0).exit_code, 3);
	assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
}

static void
words_say_where_output_goes(void **state)
{
	static const struct {
		const char *where;
		enum sl__stdout_sink sink;
	} rows[] = {{NULL, SL__STDOUT_SINK_NULL},
		    {"null", SL__STDOUT_SINK_NULL},
		    {"pipe", SL__STDOUT_SINK_PIPE},
		    {"inherit", SL__STDOUT_SINK_INHERIT},
		    {"/dev/null", SL__STDOUT_SINK_FILE}};
	struct sl__executable program;
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
			sl__launcher_set_output(&program, rows[i].where, NULL),
			SL_OK);
		assert_int_equal(program.sink, rows[i].sink);
	}
	assert_int_equal(
		sl__launcher_set_output(&program, "/nowhere/at/all", &err),
		SL_E_IO);
	assert_string_equal(err.text,
			    "/nowhere/at/all: No such file or directory");
}

/* The kernel would count our own memory into the command's peak. */
static void
peak_is_the_commands_own(void **state)
{
	struct scene *s = *state;
	struct sl__run_result result = run(s, 4);

	assert_int_equal(result.exit_code, 0);
	assert_true(result.peak_bytes >= (64u << 20));
	assert_true(result.peak_bytes < (96u << 20));
	assert_true(result.floor_bytes > 0);
	assert_true(result.floor_bytes < (64u << 20));
}

static void
a_dead_launcher_is_an_error(void **state)
{
	struct scene *s = *state;
	struct sl__run_result result;
	struct sl_error err;

	kill(s->launcher.pid, SIGKILL);
	assert_int_equal(sl__launcher_run(&s->launcher, 0, &result, NULL, &err),
			 SL_E_MEASURE);
	assert_string_equal(err.text,
			    "the process that runs the commands is gone");
}

/* A caller that ignores SIGCHLD must not make failures look like success. */
static void
ignored_children_are_still_seen(void **state)
{
	void (*before)(int) = signal(SIGCHLD, SIG_IGN);

	open_scene(state);
	assert_int_equal(run(*state, 0).exit_code, 3);
	close_scene(state);
	signal(SIGCHLD, before);
}

static void
programs_are_found_as_a_shell_does(void **state)
{
	struct sl__arena arena;
	struct sl_error err;
	const char *path;

	(void)state;
	sl__arena_init(&arena, NULL);
	path = sl__launcher_find_program("sh", &arena, &err);
	assert_non_null(path);
	assert_int_equal(path[0], '/');
	assert_string_equal(sl__launcher_find_program("/bin/sh", &arena, &err),
			    "/bin/sh");
	assert_null(sl__launcher_find_program("no-such-command-here", &arena,
					      &err));
	assert_string_equal(err.text, "cannot run 'no-such-command-here': no "
				      "such command in PATH");
	assert_null(sl__launcher_find_program("/bin", &arena, &err));
	assert_string_equal(err.text, "cannot run '/bin': Is a directory");
	assert_null(sl__launcher_find_program("", &arena, &err));
	assert_null(sl__launcher_find_program("/nowhere/x", &arena, &err));
	assert_int_equal(err.status, SL_E_MEASURE);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(endings_are_told_apart,
						open_scene, close_scene),
		cmocka_unit_test_setup_teardown(streams_are_connected,
						open_scene, close_scene),
		cmocka_unit_test_setup_teardown(peak_is_the_commands_own,
						open_scene, close_scene),
		cmocka_unit_test_setup_teardown(a_dead_launcher_is_an_error,
						open_scene, close_scene),
		cmocka_unit_test_setup_teardown(pipes_are_emptied, open_scene,
						close_scene),
		cmocka_unit_test_setup_teardown(
			children_left_behind_are_not_waited_for, open_scene,
			close_scene),
		cmocka_unit_test(words_say_where_output_goes),
		cmocka_unit_test(ignored_children_are_still_seen),
		cmocka_unit_test(programs_are_found_as_a_shell_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
