/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_help.c - `sleuth help`: what there is. */
#include "commands.h"
#include "exit_code.h"
#include "options.h"

#include <stdio.h>

static void
print_overview(void)
{
	printf("sleuth %s: a performance detective for neural networks\n\n"
	       "usage: sleuth COMMAND [options]\n\n",
	       sl_version());
	for (const struct command *c = all_commands(); c->name; c++)
		printf("  %-11s %s\n", c->name, c->about);
	printf("\n'sleuth COMMAND --help' or 'man sleuth-COMMAND' says more.\n"
	       "\nexit codes: 0 fine, 1 regressed or too large, 2 undecided, "
	       "3 invalid\nmeasurement, 64 usage, 65 bad data, 69 not "
	       "available here, 70 defect,\n71 out of memory, 74 input/output, "
	       "130 interrupted\n");
}

int
cmd_help(char **argv)
{
	const struct command *command;
	char *with_help[] = {NULL, (char[]){"--help"}, NULL};

	if (!argv[1] || argv[1][0] == '-') {
		print_overview();
		return EXIT_FINE;
	}
	if (argv[2])
		return complain("help", EXIT_USAGE, "one command at a time");
	command = find_command(argv[1]);
	if (!command)
		return EXIT_USAGE;
	if (command->run == cmd_help) {
		print_overview();
		return EXIT_FINE;
	}
	with_help[0] = argv[1];
	return command->run(with_help);
}
