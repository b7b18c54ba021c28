/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - reading the command line from a table. */
#ifndef SL_OPTIONS_H
#define SL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* What an option's value is, and the type of the field it goes to. */
enum option_kind {
	OPTION_FLAG,    /* int: set to 1 */
	OPTION_TEXT,    /* const char * */
	OPTION_MAYBE,   /* const char *: --name or --name=VALUE; "" without;
			   n_words 1: --name VALUE too, before no option */
	OPTION_COUNT,   /* size_t, within min and max */
	OPTION_SECONDS, /* double: 2, 500ms, 10us, 1m; within min and max */
	OPTION_SHARE,   /* double: 1% or 0.01; within min and max */
	OPTION_NUMBER,  /* double: 0.01, 1e-2, 1%; within min and max */
	OPTION_WORDS    /* struct repeated_values: n_words values each time */
};

/* All values given to an option that may be repeated. */
struct repeated_values {
	const char **words; /* n * n_words of them */
	size_t n;           /* times given */
};

struct option {
	const char *name; /* without the dashes */
	char letter;      /* 0 for none */
	enum option_kind kind;
	size_t offset;     /* of the field in the group's struct */
	const char *value; /* how help names it, "N", "FILE" */
	const char *help;
	double min, max; /* of numbers */
	size_t n_words;  /* OPTION_WORDS */
};

/*
 * A table of options and the struct its values go to.  Commands share groups:
 * where output goes means the same everywhere.
 */
struct option_group {
	const struct option *options;
	size_t n;
	void *base;
};

/* The group of a table of options; a constant expression but for 'base'. */
#define OPTION_GROUP(table, base) \
	((struct option_group){table, sizeof(table) / sizeof(*(table)), base})

struct command_help {
	const char *name;     /* "bench" */
	const char *synopsis; /* after "sleuth bench " */
	const char *about;    /* paragraphs */
	const char *examples; /* lines, or NULL */
	const char *without;  /* refusal where no name is given; NULL: none */
};

/*
 * Reads argv[1..] against the groups.  Words that are no options, and
 * everything from the first "--" on, go to rest[] in order, the "--"
 * included.  Returns 0, or EXIT_DONE after the page of --help; a command line
 * that cannot be read is refused.
 */
int options_read(const struct command_help *help,
		 const struct option_group *groups, size_t n_groups,
		 char **argv, const char ***rest, size_t *n_rest);

/* Like options_read() for a command whose words are names: a "--" is left
 * out. */
int options_read_positional_names(const struct command_help *help,
				  const struct option_group *groups,
				  size_t n_groups, char **argv,
				  const char ***names, size_t *n_names);

/* Like options_read_positional_names() for a command that takes one model. */
int options_read_name(const struct command_help *help,
		      const struct option_group *groups, size_t n_groups,
		      char **argv, const char **name);

/* Like options_read() for a command that takes options alone. */
int options_read_only(const struct command_help *help,
		      const struct option_group *groups, size_t n_groups,
		      char **argv);

/* One line "sleuth bench: ..." on stderr; returns 'code'. */
int complain(const char *command, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Ends the program with EXIT_USAGE after such a line.  Command lines are read
 * before anything is opened or measured, so there is nothing to undo.
 */
_Noreturn void refuse(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The name in names[0..n-1] that 'word' was probably meant to be, or NULL
 * when none is near; see sl_text_nearer().
 */
const char *nearest_name(const char *word, const char *const *names, size_t n);

/* Numbers as options take them; return 1, or 0 when 'text' is none. */
int parse_seconds(double *out, const char *text);
int parse_share(double *out, const char *text);
int parse_count(size_t *out, const char *text);

/* Which of the words of a list that ends with NULL was given to an option; 0
 * when none was, and others are refused. */
size_t read_choice(const char *command, const char *option, const char *word,
		   const char *const *allowed);

/* Memory that cannot be had ends the program with exit code 71. */
void *must_alloc(size_t n, size_t n_bytes);

#endif
