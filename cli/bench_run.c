/* SPDX-License-Identifier: Apache-2.0 */
/* bench_run.c - running commands: what `bench` and `compare` share. */
#include "bench_run.h"
#include "exit_code.h"
#include "tty.h"

#include <string.h>

#define AT(field) offsetof(struct bench_arguments, field)

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
	{"ignore-failure", 'i', OPTION_FLAG, AT(bench.ignore_failure), NULL,
	 "go on when a command fails", 0, 0, 0},
	{"input", 0, OPTION_TEXT, AT(bench.input), "FILE",
	 "standard input of the commands (null)", 0, 0, 0},
	{"output", 0, OPTION_TEXT, AT(bench.output), "FILE",
	 "their output: null, inherit or a file", 0, 0, 0},
	{"show-output", 0, OPTION_FLAG, AT(show_output), NULL,
	 "the same as --output inherit", 0, 0, 0},
	{"seed", 0, OPTION_COUNT, AT(seed), "N", "of the order of runs (1)", 1,
	 1.8446744073709552e19, 0},
	{"time-unit", 'u', OPTION_TEXT, AT(output.unit), "UNIT",
	 "ns, us, ms or s", 0, 0, 0},
	{"sort", 0, OPTION_TEXT, AT(output.sort), "ORDER",
	 "command (as given) or mean-time", 0, 0, 0},
	{"style", 0, OPTION_TEXT, AT(style), "STYLE",
	 "full, basic (no colours) or none", 0, 0, 0},
	{"export-json", 0, OPTION_TEXT, AT(output.hyperfine), "FILE",
	 "JSON as hyperfine writes it", 0, 0, 0},
	{"export-csv", 0, OPTION_TEXT, AT(csv_export), "FILE",
	 "the same as --csv", 0, 0, 0},
	{"export-markdown", 0, OPTION_TEXT, AT(markdown_export), "FILE",
	 "the same as --md", 0, 0, 0},
};

RENDER_WITH(sl_bench_render)

static void
read_style(struct bench_arguments *a, const char *command)
{
	static const char *const styles[] = {"full", "basic", "none", NULL};
	size_t style = read_choice(command, "style", a->style, styles);

	if (style == 1)
		a->output.color = "never";
	a->output.quiet |= style == 2;
}

static int
is_inherited(const char *output)
{
	return output && strcmp(output, "inherit") == 0;
}

/* Several options say the same; hyperfine's names end up in ours. */
static void
settle(struct bench_arguments *a, const char *command)
{
	struct sl_bench_options *bench = &a->bench;

	bench->struct_size = sizeof(*bench);
	bench->margin = a->margin > 0 ? a->margin : -1;
	bench->seed = a->seed;
	if (a->csv_export)
		a->output.csv = a->csv_export;
	if (a->markdown_export)
		a->output.markdown = a->markdown_export;
	if (a->show_output)
		bench->output = "inherit";
	if (bench->output && strcmp(bench->output, "null") == 0)
		bench->output = NULL;
	if (bench->input && strcmp(bench->input, "null") == 0)
		bench->input = NULL;
	/* hyperfine's words for "no shell" and "the usual one". */
	if (a->commands.shell && strcmp(a->commands.shell, "none") == 0)
		a->commands.shell = NULL;
	else if (a->commands.shell && strcmp(a->commands.shell, "default") == 0)
		a->commands.shell = "";
	if (a->commands.shell && *a->commands.shell)
		bench->shell = a->commands.shell;
	if (bench->output && !*bench->output)
		refuse(command, "--output: the file name is empty");
	if (a->output.json && !*a->output.json && is_inherited(bench->output))
		refuse(command,
		       "JSON and the commands cannot both write to standard "
		       "output; use --json=FILE");
	if (bench->max_runs && bench->min_runs > bench->max_runs)
		refuse(command, "--max-runs %zu is below --min-runs %zu",
		       bench->max_runs, bench->min_runs);
	read_style(a, command);
}

static int
measure(const struct command_help *help, struct bench_arguments *a,
	const struct sl_command *commands, size_t n, struct sl_bench **out)
{
	struct sl_error err;
	int code;

	a->bench.interrupt = tty_catch_interrupt();
	a->bench.progress =
		tty_progress(a->output.quiet || is_inherited(a->bench.output));
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
		command_line_group(&a->commands),
		output_group(&a->output),
	};
	struct sl_command *commands;
	const char **words;
	size_t n_words, n = 0;

	*out = NULL;
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
