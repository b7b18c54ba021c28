/* SPDX-License-Identifier: Apache-2.0 */
/* command_line.h - the commands to be run, as the user gave them. */
#ifndef SL_COMMAND_LINE_H
#define SL_COMMAND_LINE_H

#include "options.h"
#include "sleuth.h"

/* What the options of timed_command_option_group() say. */
struct command_options {
	int takes_lines;       /* words before the first "--" are lines */
	const char *shell;     /* NULL: not said; "": /bin/sh */
	int no_shell;          /* lines are split into words, and run */
	const char *separator; /* between commands, "--" when NULL */
	const char *reference, *reference_name; /* a line that goes first */
	struct repeated_values outputs;
	struct repeated_values setup, prepare, conclude, cleanup, names;
	struct repeated_values scans; /* VAR MIN MAX */
	struct repeated_values lists; /* VAR A,B,C */
	const char *step;
};

/* --shell, --prepare, --parameter-list and the like. */
struct option_group timed_command_option_group(struct command_options *how);

/*
 * Puts the name of a shell that stands after --shell behind a '=': in
 * "--shell zsh 'a | b'" it is a shell, in "--shell 'a | b' 'c'" there is none.
 */
void shell_option_join_value(char **argv);

/*
 * Turns the words after the options into commands, one for each combination
 * of parameters; {VAR} stands for a parameter's value anywhere in them.  With
 * a shell each word is a line for it; without, words after a "--" are a program
 * and its arguments, and words before it lines, where these are taken.
 * Refuses words that are none.  The commands live as long as the program.
 */
void command_line_read(const char *command, const struct command_options *how,
		       const char *const *words, size_t n_words,
		       struct sl_command **out, size_t *n_out);

#endif
