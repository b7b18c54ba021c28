/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - the commands of the program, one file each. */
#ifndef SL_COMMANDS_H
#define SL_COMMANDS_H

/*
 * Each takes its own argv (argv[0] is the name of the command) and returns
 * the exit code of the program.
 */
int cmd_bench(char **argv);
int cmd_compare(char **argv);
int cmd_extract(char **argv);
int cmd_inspect(char **argv);
int cmd_fit(char **argv);
int cmd_machine(char **argv);
int cmd_profile(char **argv);
int cmd_report(char **argv);
int cmd_run(char **argv);
int cmd_selfcheck(char **argv);
int cmd_sweep(char **argv);
int cmd_zoo(char **argv);
int cmd_help(char **argv);

struct command {
	const char *name;
	int (*run)(char **argv);
	const char *about; /* one line */
};

/* All of them, in the order help lists them; ends with a NULL name. */
const struct command *all_commands(void);

/* The command of that name; NULL after a line that suggests a near one. */
const struct command *find_command(const char *name);

#endif
