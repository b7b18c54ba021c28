/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_suite.c - `sleuth suite`: a described set of benchmarks in one run. */
#include "commands.h"
#include "exit_code.h"
#include "gate.h"
#include "model_options.h"
#include "options.h"
#include "output.h"
#include "tty.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUITE_BYTES_MOST = 1 << 20 };

static const struct command_help help = {
	"suite", "FILE|NAME [options]",
	"Runs the benchmarks that a file describes as one experiment: models "
	"in variants and\nscenarios, all in rounds of random order, with one "
	"table of time, ratio to the\nbaseline, memory, size, accuracy and "
	"energy. FILE.lock notes what defines the\nresults, and a later run "
	"says what differs. Killed or interrupted, the same command\ngoes on "
	"where it was. NAME is a suite that is built in: course or edge. Exits "
	"with 1 where a\nlimit of the file is broken, 2 where that is open, 3 "
	"where a model failed.",
	"  sleuth suite --init\n"
	"  sleuth suite suite.txt --repetitions 2\n"
	"  sleuth suite course --no-lock --repetitions 1",
	NULL};

struct arguments {
	struct output output;
	const char *init, *lock, *memory;
	int relock, fresh, no_lock;
	size_t repetitions;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"init", 0, OPTION_MAYBE, AT(init), "FILE",
	 "write a commented suite to FILE (suite.txt), and end", 0, 0, 1},
	{"repetitions", 0, OPTION_COUNT, AT(repetitions), "N",
	 "in place of those, or the time, that the file says (30s)", 1, 1000,
	 0},
	{"lock", 0, OPTION_TEXT, AT(lock), "FILE",
	 "the lock file (the suite's name and .lock)", 0, 0, 0},
	{"relock", 0, OPTION_FLAG, AT(relock), NULL, "write the lock file anew",
	 0, 0, 0},
	{"no-lock", 0, OPTION_FLAG, AT(no_lock), NULL,
	 "write no lock file, and nothing to resume from", 0, 0, 0},
	{"fresh", 0, OPTION_FLAG, AT(fresh), NULL,
	 "measure again what an earlier run has finished", 0, 0, 0},
	{"mem", 0, OPTION_TEXT, AT(memory), "SIZE",
	 "for plans that are open together (half of what is free)", 0, 0, 0},
};

RENDER_WITH(sl_suite_render)

static int
write_example(const char *path)
{
	const char *text = sl_suite_text("example");
	const struct sl_buf example = {(char *)(uintptr_t)text, strlen(text),
				       strlen(text) + 1};
	struct sl_error err;

	if (!*path)
		path = "suite.txt";
	if (access(path, F_OK) == 0)
		return complain(help.name, EXIT_IO,
				"%s is there already; --init=FILE names "
				"another",
				path);
	if (sl_buf_write(&example, path, &err))
		return exit_for(help.name, &err);
	printf("%s is a suite; 'sleuth suite %s' runs it\n", path, path);
	return EXIT_FINE;
}

/* The text of a file, or of a suite that is built in; its name without the
 * folder and the ending. */
static const char *
open_suite(const char *name)
{
	FILE *file = fopen(name, "r");
	const char *built_in =
		strcmp(name, "example") != 0 ? sl_suite_text(name) : NULL;
	static const char *const names[] = {"course", "edge"};
	const char *near = nearest_name(name, names, 2);
	char *text;
	size_t n;

	if (!file && built_in)
		return built_in;
	if (!file)
		exit(complain(help.name, EXIT_IO, "%s: %s%s%s%s", name,
			      strerror(errno), near ? "; did you mean '" : "",
			      near ? near : "", near ? "'?" : ""));
	text = must_alloc(SUITE_BYTES_MOST + 1, 1);
	n = fread(text, 1, SUITE_BYTES_MOST, file);
	if (ferror(file))
		exit(complain(help.name, EXIT_IO, "%s: %s", name,
			      strerror(errno)));
	if (n == SUITE_BYTES_MOST || strlen(text) != n)
		exit(complain(help.name, EXIT_DATA, "%s: no suite", name));
	fclose(file);
	return text;
}

/* 1 before 3 before 2 before 0, as a gate does. */
static int
exit_for_suite(const struct sl_suite *s)
{
	int is_invalid = 0;

	for (size_t i = 0; i < s->n_cells; i++) {
		is_invalid |= s->cells[i].failed != NULL;
		for (size_t k = 0; k < s->cells[i].n_limits; k++)
			is_invalid |= isnan(s->cells[i].limits[k].value);
	}
	if (s->verdict == SL_GATE_REGRESSED)
		return EXIT_REGRESSED;
	return is_invalid ? EXIT_INVALID : gate_verdict_exit_code(s->verdict);
}

static int
run(const struct arguments *a, const char *name)
{
	const char *text = open_suite(name);
	size_t n_path = strlen(name) + sizeof(".lock");
	char *lock = must_alloc(n_path, 1);
	struct sl_suite_options how = {
		.struct_size = sizeof(how),
		.name = name,
		.lock_path = a->no_lock ? NULL
			     : a->lock  ? a->lock
					: lock,
		.is_relocked = a->relock,
		.is_fresh = a->fresh,
		.n_repetitions = a->repetitions,
		.interrupt = tty_catch_interrupt(),
		.progress = tty_progress(a->output.quiet),
		.progress_ctx = (void *)(uintptr_t)name,
	};
	struct sl_suite *suite;
	struct sl_error err;
	int code;

	if (a->memory)
		how.memory_bytes =
			(uint64_t)parse_memory_bytes(a->memory, help.name);
	snprintf(lock, n_path, "%s.lock", name);
	if (sl_suite_run(&suite, text, strlen(text), &how, &err))
		return exit_for(help.name, &err);
	code = output_write(&a->output, help.name, render, suite);
	if (!code && suite->unsaved)
		code = complain(help.name, EXIT_IO, "%s", suite->unsaved);
	code = exit_unless_stopped(code, suite->stopped_by);
	if (!code)
		code = exit_for_suite(suite);
	sl_suite_free(suite);
	return code;
}

int
cmd_suite(char **argv)
{
	struct arguments a = {0};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		output_option_group(&a.output),
	};
	const char **words;
	size_t n;

	if (options_read_positional_names(&help, groups, 2, argv, &words, &n))
		return EXIT_DONE;
	if (a.init && n)
		refuse(help.name, "--init writes one suite: --init=%s",
		       words[0]);
	if (a.init)
		return write_example(a.init);
	if (!n)
		refuse(help.name, "no suite given; try 'sleuth suite course', "
				  "or --init for a file to begin with");
	if (n > 1)
		refuse(help.name, "one suite at a time; a second is '%s'",
		       words[1]);
	if (a.no_lock && (a.lock || a.relock))
		refuse(help.name, "--no-lock goes without --%s",
		       a.lock ? "lock" : "relock");
	output_check(&a.output, help.name);
	return run(&a, words[0]);
}
