/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of the program, one file each. */
#ifndef SL_COMMANDS_H
#define SL_COMMANDS_H

/*
 * Each takes its own argv (argv[0] is the name of the command) and returns
 * the exit code of the program.
 */
typedef int command_function(char **argv);

command_function cmd_bench, cmd_compare, cmd_eval, cmd_extract, cmd_fit,
	cmd_gate, cmd_generate, cmd_help, cmd_history, cmd_inspect, cmd_load,
	cmd_machine, cmd_microbench, cmd_optimize, cmd_overhead, cmd_profile,
	cmd_report, cmd_run, cmd_selfcheck, cmd_serve, cmd_show, cmd_store,
	cmd_suite, cmd_sweep, cmd_train, cmd_watch, cmd_zoo;

struct command {
	const char *name;
	command_function *run;
	const char *about; /* one line */
};

/* All of them, in the order help lists them; ends with a NULL name. */
const struct command *all_commands(void);

/* The command line as it was given, without passwords; "" for want of memory.
 * Valid until the next call. */
const char *command_line_given(void);

/* The command of that name; NULL after a line that suggests a near one. */
const struct command *find_command(const char *name);

#endif
