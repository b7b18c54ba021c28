/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_help.c - `sleuth help`: what there is, and the ideas behind it. */
#include "commands.h"
#include "exit_code.h"
#include "fill.h"
#include "options.h"
#include "quiz.h"
#include "topics.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MOST = 64 };

/* A word of a list, and what it is for. */
static void
print_entry(const char *before, const char *name, const char *about)
{
	size_t column = strlen(before) + 12;

	printf("%s%-11s ", before, name);
	print_filled(about, column, column);
}

static int
print_overview(void)
{
	printf("sleuth %s: a performance detective for neural networks\n\n"
	       "usage: sleuth COMMAND [options]\n\n",
	       sl_version());
	for (const struct command *c = all_commands(); c->name; c++)
		print_entry("  ", c->name, c->about);
	printf("\n");
	print_paragraphs(
		"'sleuth COMMAND --help' or 'man sleuth-COMMAND' says more; "
		"'sleuth help topics' lists the ideas that it explains.\n\n"
		"exit codes: 0 fine, 1 regressed or too large, 2 undecided, "
		"3 invalid measurement, 64 usage, 65 bad data, 69 not "
		"available here, 70 defect, 71 out of memory, 74 input/output, "
		"130 interrupted",
		0);
	return EXIT_FINE;
}

static int
print_topics(void)
{
	printf("Ideas, with figures of this machine where they have some:\n\n");
	for (const struct topic *t = all_topics(); t->name; t++)
		print_entry("  sleuth help ", t->name, t->about);
	print_entry("  sleuth help ", "quiz",
		    "questions; N --answer computes an answer");
	return EXIT_FINE;
}

/* The words after "quiz": a number, and whether to answer. */
static int
read_quiz(char **words)
{
	size_t n = 0;
	int with_answer = 0;

	for (; *words; words++) {
		if (!strcmp(*words, "--answer"))
			with_answer = 1;
		else if (n || !parse_count(&n, *words) || !n)
			refuse("help",
			       "'%s': it is 'sleuth help quiz [N] [--answer]'",
			       *words);
	}
	print_quiz(n, with_answer);
	return EXIT_FINE;
}

/* Neither a command nor a topic: what is spelled like it. */
static void
refuse_name(const char *name)
{
	const char *names[NAMES_MOST];
	const char *near;
	size_t n = 0;

	for (const struct command *c = all_commands();
	     c->name && n < NAMES_MOST; c++)
		names[n++] = c->name;
	for (const struct topic *t = all_topics(); t->name && n < NAMES_MOST;
	     t++)
		names[n++] = t->name;
	near = nearest_name(name, names, n);
	if (near)
		refuse("help", "no command or topic '%s'; did you mean '%s'?",
		       name, near);
	refuse("help",
	       "no command or topic '%s'; see 'sleuth help' or 'sleuth help "
	       "topics'",
	       name);
}

static int
print_command(char *name)
{
	char *with_help[] = {name, (char[]){"--help"}, NULL};
	const struct command *command = all_commands();

	while (command->name && strcmp(command->name, name) != 0)
		command++;
	if (!command->name)
		refuse_name(name);
	return command->run == cmd_help ? print_overview()
					: command->run(with_help);
}

int
cmd_help(char **argv)
{
	const struct topic *topic;

	if (!argv[1] || argv[1][0] == '-')
		return print_overview();
	if (!strcmp(argv[1], "quiz"))
		return read_quiz(argv + 2);
	if (argv[2])
		refuse("help", "one command or topic at a time");
	if (!strcmp(argv[1], "topics"))
		return print_topics();
	topic = find_topic(argv[1]);
	return topic ? print_topic(topic) : print_command(argv[1]);
}
