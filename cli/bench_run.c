/* SPDX-License-Identifier: Apache-2.0 */
/* bench_run.c - running commands: what `bench` and `compare` share. */
#include "bench_run.h"
#include "exit_code.h"
#include "tty.h"

#include <string.h>

#define AT(field) offsetof(struct bench_arguments, field)
#define EXPORT(format, at, help)                                            \
	{                                                                   \
		"export-" format, 0, OPTION_TEXT, AT(output.hyperfine[at]), \
			"FILE", help, 0, 0, 0                               \
	}

static const struct option options[] = {
	{"warmup", 'w', OPTION_COUNT, AT(bench.n_warmup), "N",
	 "untimed runs of each command first", 0, 1e6, 0},
	{"runs", 'r', OPTION_COUNT, AT(bench.n_runs), "N",
	 "exactly N runs of each", 1, 1e6, 0},
	{"min-runs", 'm', OPTION_COUNT, AT(bench.min_runs), "N",
	 "at least N runs of each (10)", 1, 1e6, 0},
	{"max-runs", 'M', OPTION_COUNT, AT(bench.max_runs), "N",
	 "at most N runs of each", 1, 1e6, 0},
	{"time", 0, OPTION_SECONDS, AT(bench.time_s), "SECONDS",
	 "for measuring (bench 3 a command, compare 10)", 1e-3, 1e6, 0},
	{"precision", 0, OPTION_SHARE, AT(bench.precision), "P",
	 "stop when medians are known to P (1%)", 1e-6, 0.5, 0},
	{"margin", 0, OPTION_SHARE, AT(margin), "P",
	 "a change that does not matter (1%); 0: any", 0, 0.99, 0},
	{"ignore-failure", 'i', OPTION_MAYBE, AT(ignored), "CODES",
	 "go on when a command fails, with any of CODES", 0, 0, 0},
	{"input", 0, OPTION_TEXT, AT(bench.input), "FILE",
	 "standard input of the commands (null)", 0, 0, 0},
	{"show-output", 0, OPTION_FLAG, AT(show_output), NULL,
	 "the same as --output inherit", 0, 0, 0},
	{"seed", 0, OPTION_COUNT, AT(seed), "N", "of the order of runs (1)", 1,
	 1.8446744073709552e19, 0},
	{"time-unit", 'u', OPTION_TEXT, AT(output.unit), "UNIT",
	 "ns, us, ms or s; microsecond and so on", 0, 0, 0},
	{"sort", 0, OPTION_TEXT, AT(output.sort), "ORDER",
	 "command (as given), mean-time or auto", 0, 0, 0},
	{"style", 0, OPTION_TEXT, AT(style), "STYLE",
	 "auto, basic, full, nocolor, color or none", 0, 0, 0},
	EXPORT("json", OUTPUT_JSON, "JSON as hyperfine writes it"),
	EXPORT("csv", OUTPUT_CSV, "CSV as hyperfine writes it"),
	EXPORT("markdown", OUTPUT_MARKDOWN, "its table, in Markdown"),
	EXPORT("asciidoc", OUTPUT_ASCIIDOC, "its table, in AsciiDoc"),
	EXPORT("orgmode", OUTPUT_ORGMODE, "its table, for Emacs"),
};

RENDER_WITH(sl_bench_render)

static void
read_style(struct bench_arguments *a, const char *command)
{
	static const char *const styles[] = {
		"auto", "basic", "nocolor", "full", "color", "none", NULL};
	size_t style = read_choice(command, "style", a->style, styles);

	if (style == 1 || style == 2)
		a->output.color = "never";
	if (style == 3 || style == 4)
		a->output.color = "always";
	a->output.quiet |= style == 5;
}

/* Units by hyperfine's names, and its word for the usual order. */
static void
read_words(struct bench_arguments *a)
{
	static const char *const units[][2] = {
		{"microsecond", "us"}, {"millisecond", "ms"}, {"second", "s"}};
	const char *unit = a->output.unit, *sort = a->output.sort;

	for (size_t i = 0; unit && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(unit, units[i][0]) == 0)
			a->output.unit = units[i][1];
	}
	if (sort && strcmp(sort, "auto") == 0)
		a->output.sort = NULL;
}

/* "", "all-non-zero", or the exit codes that are ignored. */
static void
read_ignored(struct bench_arguments *a, const char *command)
{
	const char *at = a->ignored;
	int *codes;

	a->bench.ignore_failure = at != NULL;
	if (!at || !*at || strcmp(at, "all-non-zero") == 0)
		return;
	codes = must_alloc(strlen(at), sizeof(*codes));
	a->bench.ignored_codes = codes;
	for (;;) {
		size_t n = strspn(at, "0123456789"), code = 256;
		char digits[4] = "";

		if (n && n < sizeof(digits)) {
			memcpy(digits, at, n);
			parse_count(&code, digits);
		}
		if (code > 255 || (at[n] && at[n] != ','))
			refuse(command,
			       "--ignore-failure=%s: must be all-non-zero or "
			       "exit codes such as 1,2",
			       a->ignored);
		codes[a->bench.n_ignored_codes++] = (int)code;
		if (!at[n])
			return;
		at += n + 1;
	}
}

/* Whether a command writes where Sleuth itself does. */
static int
inherits_output(const struct bench_arguments *a)
{
	const struct repeated_values *outputs = &a->commands.outputs;

	for (size_t i = 0; i < outputs->n; i++) {
		if (strcmp(outputs->words[i], "inherit") == 0)
			return 1;
	}
	return a->show_output;
}

/* Several options say the same; hyperfine's names end up in ours. */
static void
settle(struct bench_arguments *a, const char *command)
{
	struct sl_bench_options *bench = &a->bench;

	bench->struct_size = sizeof(*bench);
	bench->margin = a->margin > 0 ? a->margin : -1;
	bench->seed = a->seed;
	if (a->show_output && a->commands.outputs.n)
		refuse(command,
		       "--show-output and --output exclude each other");
	if (a->show_output)
		bench->output = "inherit";
	if (bench->input && strcmp(bench->input, "null") == 0)
		bench->input = NULL;
	/* hyperfine's words for "no shell" and "the usual one". */
	if (a->commands.shell && strcmp(a->commands.shell, "none") == 0) {
		a->commands.shell = NULL;
		a->commands.no_shell = 1;
	} else if (a->commands.shell &&
		   strcmp(a->commands.shell, "default") == 0) {
		a->commands.shell = "";
	}
	if (a->commands.shell && *a->commands.shell)
		bench->shell = a->commands.shell;
	for (size_t i = 0; i < a->commands.outputs.n; i++) {
		if (!*a->commands.outputs.words[i])
			refuse(command, "--output: the file name is empty");
	}
	if (a->output.json && !*a->output.json && inherits_output(a))
		refuse(command,
		       "JSON and the commands cannot both write to standard "
		       "output; use --json=FILE");
	if (bench->max_runs && bench->min_runs > bench->max_runs)
		refuse(command, "--max-runs %zu is below --min-runs %zu",
		       bench->max_runs, bench->min_runs);
	read_style(a, command);
	read_words(a);
	read_ignored(a, command);
}

static int
measure(const struct command_help *help, struct bench_arguments *a,
	const struct sl_command *commands, size_t n, struct sl_bench **out)
{
	struct sl_error err;
	int code;

	a->bench.interrupt = tty_catch_interrupt();
	a->bench.progress = tty_progress(a->output.quiet || inherits_output(a));
	a->bench.progress_ctx = (void *)(uintptr_t)help->name;
	if (sl_bench(out, commands, n, &a->bench, &err))
		return exit_for(help->name, &err);
	code = exit_unless_stopped(
		output_write(&a->output, help->name, render, *out),
		(*out)->stopped_by);
	return code;
}

int
bench_run(const struct command_help *help, struct bench_arguments *a,
	  const struct option_group *extra, char **argv, bench_check *check,
	  struct sl_bench **out)
{
	const struct option_group groups[] = {
		OPTION_GROUP(options, a),
		*extra,
		timed_command_option_group(&a->commands),
		output_option_group(&a->output),
	};
	struct sl_command *commands;
	const char **words;
	size_t n_words, n = 0;

	*out = NULL;
	shell_option_join_value(argv);
	if (options_read(help, groups, sizeof(groups) / sizeof(groups[0]), argv,
			 &words, &n_words))
		return EXIT_DONE;
	settle(a, help->name);
	command_line_read(help->name, &a->commands, words, n_words, &commands,
			  &n);
	check(a, n);
	output_check(&a->output, help->name);
	return measure(help, a, commands, n, out);
}
