/* SPDX-License-Identifier: Apache-2.0 */
/* command_line.h - the commands to be run, as the user gave them. */
#ifndef SL_COMMAND_LINE_H
#define SL_COMMAND_LINE_H

#include "options.h"
#include "sleuth.h"

/* What the options of command_line_group() say. */
struct command_options {
	const char *shell;     /* NULL: no shell; "": /bin/sh */
	int no_shell;          /* -N, the default, spelled out */
	const char *separator; /* between commands, "--" when NULL */
	struct word_list setup, prepare, conclude, cleanup, names;
	struct word_list scans; /* VAR MIN MAX */
	struct word_list lists; /* VAR A,B,C */
	const char *step;
};

/* --shell, --prepare, --parameter-list and the like. */
struct option_group command_line_group(struct command_options *how);

/*
 * Turns the words after the options into commands, one for each combination
 * of parameters; {VAR} stands for a parameter's value anywhere in them.
 * Refuses words that are none.  The commands live as long as the program.
 */
void command_line_read(const char *command, const struct command_options *how,
		       const char *const *words, size_t n_words,
		       struct sl_command **out, size_t *n_out);

#endif
