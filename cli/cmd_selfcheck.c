/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_selfcheck.c - `sleuth selfcheck`: how often Sleuth itself is wrong. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"
#include "output.h"
#include "tty.h"

static const struct command_help help = {
	"selfcheck", "[options]",
	"Measures the instrument on this machine: the same work against "
	"itself, and\nagainst itself with 1, 2 and 5 % more of it, decided "
	"over and over. Prints how\noften 'no difference' was called one "
	"(promised: at most 5 %), how often planted\nslowdowns were found, "
	"and how long that took. Exits 1 when the promise is proved\nbroken.",
	"  sleuth selfcheck\n"
	"  sleuth selfcheck --time 300 --budget 1 --work 1ms",
	NULL};

struct arguments {
	struct sl_selfcheck_options check;
	struct output output;
	double work_s;
	size_t seed;
};

#define AT(field) offsetof(struct arguments, field)

static const struct option options[] = {
	{"time", 0, OPTION_SECONDS, AT(check.time_s), "SECONDS",
	 "whole budget (60)", 1e-3, 1e6, 0},
	{"budget", 0, OPTION_SECONDS, AT(check.budget_s), "SECONDS",
	 "of one verdict (0.1)", 1e-3, 1e4, 0},
	{"work", 0, OPTION_SECONDS, AT(work_s), "SECONDS",
	 "length of the function compared (50us)", 1e-6, 1, 0},
	{"seed", 0, OPTION_COUNT, AT(seed), "N", "of the coins (1)", 1,
	 1.8446744073709552e19, 0},
};

RENDER_WITH(sl_selfcheck_render)

static int
run(struct sl_selfcheck_options *how, const struct output *output)
{
	struct sl_selfcheck *result;
	struct sl_error err;
	int code;

	how->struct_size = sizeof(*how);
	how->interrupt = tty_catch_interrupt();
	how->progress = tty_progress(output->quiet);
	how->progress_ctx = (void *)(uintptr_t)help.name;
	if (sl_selfcheck(&result, how, &err))
		return exit_for(help.name, &err);
	code = exit_unless_stopped(
		output_write(output, help.name, render, result),
		result->stopped_by);
	/* Proved above the promised 5 %: the instrument is broken here. */
	if (!code && result->rows[0].rate.lo > 0.05)
		code = EXIT_REGRESSED;
	sl_selfcheck_free(result);
	return code;
}

int
cmd_selfcheck(char **argv)
{
	struct arguments a = {.work_s = 50e-6};
	const struct option_group groups[] = {
		OPTION_GROUP(options, &a),
		output_option_group(&a.output),
	};

	if (options_read_only(&help, groups, 2, argv))
		return EXIT_DONE;
	output_check(&a.output, help.name);
	a.check.seed = a.seed;
	a.check.function_ns = a.work_s * 1e9;
	return run(&a.check, &a.output);
}
