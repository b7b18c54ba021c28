/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program: finds the command and runs it. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { HINT_MOST = 224 }; /* bytes: two names of 63 and the options */

const struct command *
all_commands(void)
{
	static const struct command commands[] = {
		{"inspect", cmd_inspect,
		 "what a model holds, computes and needs; runs nothing"},
		{"run", cmd_run, "run a model once, check what comes out"},
		{"profile", cmd_profile,
		 "how long, where, why, and what would help; runs a model"},
		{"sweep", cmd_sweep,
		 "over batch, sequence, threads or width: what grows how"},
		{"generate", cmd_generate,
		 "a decoder's token loop, with and without cache"},
		{"microbench", cmd_microbench,
		 "one operation over sizes, and what bounds it"},
		{"overhead", cmd_overhead, "what observing a model costs"},
		{"fit", cmd_fit, "the largest batch or sequence that fits"},
		{"extract", cmd_extract, "one layer as a model of its own"},
		{"zoo", cmd_zoo, "the built-in models; writes them as ONNX"},
		{"bench", cmd_bench, "time commands, and say which is faster"},
		{"compare", cmd_compare, "is B slower than A, or is it noise?"},
		{"report", cmd_report, "render a saved result again"},
		{"machine", cmd_machine, "what this computer can do, measured"},
		{"selfcheck", cmd_selfcheck,
		 "Sleuth's own error rates on this machine"},
		{"help", cmd_help, "this page, or a command's"},
		{NULL, NULL, NULL},
	};

	return commands;
}

const struct command *
find_command(const char *name)
{
	const struct command *all = all_commands();
	const char *names[32];
	const char *near;
	size_t n = 0;

	for (; all[n].name; n++) {
		if (strcmp(all[n].name, name) == 0)
			return &all[n];
		names[n] = all[n].name;
	}
	near = nearest_name(name, names, n);
	if (near)
		complain(NULL, EXIT_USAGE,
			 "unknown command '%s'; did you mean '%s'?", name,
			 near);
	else
		complain(NULL, EXIT_USAGE,
			 "unknown command '%s'; see 'sleuth help'", name);
	return NULL;
}

int
exit_for(const char *command, const struct sl_error *err)
{
	return exit_for_model(command, NULL, err);
}

/* The options that a failure could be settled with, after its text. */
static const char *
hint_text(char text[HINT_MOST], const struct sl_error *err)
{
	text[0] = '\0';
	switch (err->hint) {
	case SL_HINT_SIZE_OR_DIM:
		return " for --dim";
	case SL_HINT_SHAPE:
		snprintf(text, HINT_MOST, ": add --shape %s=N,...", err->input);
		break;
	case SL_HINT_SIDES:
		snprintf(text, HINT_MOST, ": add --shape '%.60s=...'",
			 err->input);
		break;
	case SL_HINT_DIM:
		snprintf(text, HINT_MOST,
			 ": add --dim '%.60s=N' or --shape '%.60s=...'",
			 err->dim, err->input);
		break;
	case SL_HINT_BATCH:
		return ": --batch cannot change it";
	case SL_HINT_MODELS:
		return "; see 'sleuth zoo'";
	case SL_HINT_LAYERS:
		return "; 'sleuth inspect -v' lists them";
	case SL_HINT_NONE:
	case SL_HINT_SIZE:
		break;
	}
	return text;
}

int
exit_for_model(const char *command, const char *model,
	       const struct sl_error *err)
{
	static const struct {
		enum sl_status status;
		int code;
	} codes[] = {
		{SL_E_NOMEM, EXIT_NOMEM},
		{SL_E_USAGE, EXIT_USAGE},
		{SL_E_DATA, EXIT_DATA},
		{SL_E_ABSENT, EXIT_ABSENT},
		{SL_E_IO, EXIT_IO},
		{SL_E_MEASURE, EXIT_INVALID},
		{SL_E_INTERRUPTED, EXIT_INTERRUPTED},
	};

	/* What was said of sizes was said as an option. */
	int is_option = err->hint == SL_HINT_SIZE ||
			err->hint == SL_HINT_SIZE_OR_DIM;
	const char *dashes = is_option ? "--" : "";
	char hint[HINT_MOST];
	int code = EXIT_BUG;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].status == err->status)
			code = codes[i].code;
	}
	if (!model || err->status == SL_E_NOMEM)
		model = "";
	return complain(command, code, "%s%s%s%s%s", model, *model ? ": " : "",
			dashes, err->text, hint_text(hint, err));
}

int
exit_unless_stopped(int code, enum sl_stop stopped_by)
{
	return !code && stopped_by == SL_STOP_INTERRUPT ? EXIT_INTERRUPTED
							: code;
}

int
main(int argc, char **argv)
{
	const struct command *command;
	int code;

	/* A file over the size limit is an error of write(), not a death. */
	signal(SIGXFSZ, SIG_IGN);
	if (argc < 2) {
		char *help[] = {(char[]){"help"}, NULL};

		cmd_help(help);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("sleuth %s\n", sl_version());
		return fflush(stdout) ? EXIT_IO : EXIT_FINE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		command = find_command("help");
	else if (argv[1][0] == '-')
		return complain(NULL, EXIT_USAGE,
				"options come after a command; see 'sleuth "
				"help'");
	else
		command = find_command(argv[1]);
	if (!command)
		return EXIT_USAGE;
	code = command->run(argv + 1);
	if (code == EXIT_DONE)
		code = EXIT_FINE;
	if (fflush(stdout) && code == EXIT_FINE)
		code = complain(NULL, EXIT_IO, "standard output: %s",
				strerror(errno));
	return code;
}
