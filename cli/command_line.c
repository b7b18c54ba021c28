/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.c - the commands to be run, as the user gave them.
 *
 * First the words are cut into templates, at the separator or each a line,
 * then every template is repeated for every combination of parameter values.
 * Nothing is freed: the program ends soon after.
 */
#include "command_line.h"
#include "word_split.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COMMANDS = 256, MAX_PARAMETERS = 8 };

#define AT(field) offsetof(struct command_options, field)

static const struct option options[] = {
	{"setup", 's', OPTION_WORDS, AT(setup), "LINE",
	 "shell line before all runs", 0, 0, 1},
	{"prepare", 'p', OPTION_WORDS, AT(prepare), "LINE",
	 "shell line before each run", 0, 0, 1},
	{"conclude", 'C', OPTION_WORDS, AT(conclude), "LINE",
	 "shell line after each run", 0, 0, 1},
	{"cleanup", 'c', OPTION_WORDS, AT(cleanup), "LINE",
	 "shell line after all runs", 0, 0, 1},
	{"parameter-scan", 'P', OPTION_WORDS, AT(scans), "VAR MIN MAX",
	 "repeat for a range of {VAR}", 0, 0, 3},
	{"parameter-step-size", 'D', OPTION_TEXT, AT(step), "STEP",
	 "of the ranges (1)", 0, 0, 0},
	{"parameter-list", 'L', OPTION_WORDS, AT(lists), "VAR A,B,C",
	 "repeat for a list of {VAR}", 0, 0, 2},
	{"shell", 0, OPTION_MAYBE, AT(shell), "SHELL",
	 "runs lines (/bin/sh), or none", 0, 0, 0},
	{"with-shell", 'S', OPTION_TEXT, AT(shell), "SHELL", "the same", 0, 0,
	 0},
	{"no-shell", 'N', OPTION_FLAG, AT(no_shell), NULL,
	 "split lines into words, and run these", 0, 0, 0},
	{"separator", 0, OPTION_TEXT, AT(separator), "WORD",
	 "stands between commands instead of '--'", 0, 0, 0},
	{"command-name", 'n', OPTION_WORDS, AT(names), "NAME",
	 "name of the next command in reports", 0, 0, 1},
	{"reference", 0, OPTION_TEXT, AT(reference), "LINE",
	 "compare with this instead of the first", 0, 0, 0},
	{"reference-name", 0, OPTION_TEXT, AT(reference_name), "NAME",
	 "its name in reports", 0, 0, 0},
	{"output", 0, OPTION_WORDS, AT(outputs), "WHERE",
	 "their output: null, pipe, inherit, a file", 0, 0, 1},
};

struct option_group
timed_command_option_group(struct command_options *how)
{
	return OPTION_GROUP(options, how);
}

/* A command before parameters are filled in. */
struct template
{
	const char **argv; /* NULL-terminated, or NULL: */
	const char *line;  /* for a shell, or to be split into words */
};

/* A parameter and the values it takes. */
struct variable {
	const char *name;
	const char **values;
	size_t n_values;
};

struct expansion {
	const char *command; /* for messages */
	const struct command_options *how;
	struct template templates[MAX_COMMANDS];
	size_t n_templates;
	struct variable variables[MAX_PARAMETERS];
	size_t n_variables;
	size_t n_commands; /* of all combinations, and the reference */
};

static char *
copy_text(const char *text, size_t n)
{
	char *copy = must_alloc(n + 1, 1);

	memcpy(copy, text, n);
	return copy;
}

static struct template *
add_template(struct expansion *x)
{
	if (x->n_templates == MAX_COMMANDS)
		refuse(x->command, "more than %d commands", MAX_COMMANDS);
	return &x->templates[x->n_templates++];
}

static void
cut_lines(struct expansion *x, const char *const *words, size_t n_words)
{
	const char *separator = x->how->separator ? x->how->separator : "--";

	for (size_t i = 0; i < n_words; i++) {
		if (strcmp(words[i], separator) != 0)
			add_template(x)->line = words[i];
	}
}

static void
add_words(struct expansion *x, const char *const *words, size_t n_words)
{
	const char **argv = must_alloc(n_words + 1, sizeof(*argv));

	if (!n_words)
		refuse(x->command,
		       "command %zu is empty: nothing between two separators",
		       x->n_templates + 1);
	memcpy(argv, words, n_words * sizeof(*argv));
	add_template(x)->argv = argv;
}

static void
cut_words(struct expansion *x, const char *const *words, size_t n_words)
{
	const char *separator = x->how->separator ? x->how->separator : "--";
	size_t start = 1;

	for (size_t i = 1; i <= n_words; i++) {
		if (i < n_words && strcmp(words[i], separator) != 0)
			continue;
		if (i == n_words && i == start && !x->n_templates)
			break; /* nothing at all: told below */
		add_words(x, words + start, i - start);
		start = i + 1;
	}
}

static int
is_shell_name(const char *word)
{
	static const char *const names[] = {"sh",    "bash", "dash", "zsh",
					    "ksh",   "mksh", "ash",  "fish",
					    "csh",   "tcsh", "nu",   "elvish",
					    "xonsh", "pwsh", "none", "default"};
	size_t n = strcspn(word, " ");

	for (size_t i = 0; i < n; i++) {
		if (word[i] == '/')
			return is_shell_name(word + i + 1);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == n && !strncmp(word, names[i], n))
			return 1;
	}
	return 0;
}

void
shell_option_join_value(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++) {
		char *joined;

		if (strcmp(*argv, "--shell") != 0 || !argv[1] ||
		    !is_shell_name(argv[1]))
			continue;
		joined = must_alloc(strlen(argv[1]) + sizeof("--shell="), 1);
		sprintf(joined, "--shell=%s", argv[1]);
		*argv = joined;
		for (char **to = argv + 1; *to; to++)
			to[0] = to[1];
	}
}

static void
cut(struct expansion *x, const char *const *words, size_t n_words)
{
	size_t n_lines = 0;

	while (n_lines < n_words &&
	       (x->how->shell || strcmp(words[n_lines], "--") != 0))
		n_lines++;
	if (n_lines && !x->how->shell && !x->how->takes_lines)
		refuse(x->command,
		       "unexpected '%s': commands come after '--', as in "
		       "'sleuth %s -- %s' (or give whole lines with --shell)",
		       words[0], x->command, words[0]);
	cut_lines(x, words, n_lines);
	cut_words(x, words + n_lines, n_words - n_lines);
	if (!x->n_templates)
		refuse(x->command,
		       "no command given; try 'sleuth %s -- sleep 0.1'",
		       x->command);
}

/* Where the values of a new parameter go. */
static const char **
add_variable(struct expansion *x, const char *name, size_t n_values)
{
	struct variable *v = &x->variables[x->n_variables];

	for (size_t i = 0; i < x->n_variables; i++) {
		if (strcmp(x->variables[i].name, name) == 0)
			refuse(x->command, "parameter '%s' is given twice",
			       name);
	}
	if (x->n_variables == MAX_PARAMETERS)
		refuse(x->command, "more than %d parameters", MAX_PARAMETERS);
	v->name = name;
	v->values = must_alloc(n_values, sizeof(*v->values));
	v->n_values = n_values;
	x->n_variables++;
	return v->values;
}

/* Values between commas; "\\," is a comma in one, and "\\\\" a backslash. */
static void
add_list(struct expansion *x, const char *name, const char *list)
{
	const char **values;
	size_t n = 1;
	char *to;

	for (const char *at = list; *at; at++) {
		n += *at == ',';
		at += *at == '\\' && at[1];
	}
	values = add_variable(x, name, n);
	to = copy_text(list, strlen(list));
	for (size_t i = 0; i < n; i++) {
		values[i] = to;
		for (; *list && *list != ','; list++) {
			if (*list == '\\' && list[1] && strchr("\\,", list[1]))
				list++;
			*to++ = *list;
		}
		*to++ = '\0';
		list++;
	}
}

/* Plain decimals only: what is printed for a step must be exact. */
static int
parse_decimal(double *out, const char *text)
{
	char *end;

	if (strspn(text, "+-.0123456789") != strlen(text) || strlen(text) > 32)
		return 0;
	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out);
}

/* Digits after the point, so that 0.1 + 0.1 is printed as 0.2. */
static int
decimals_of(const char *text)
{
	const char *point = strchr(text, '.');

	return point ? (int)strlen(point + 1) : 0;
}

static void
add_scan(struct expansion *x, const char *name, const char *min_text,
	 const char *max_text)
{
	const char *step_text = x->how->step ? x->how->step : "1";
	int decimals = decimals_of(min_text);
	double min, max, step, n;
	const char **values;

	if (!parse_decimal(&min, min_text) || !parse_decimal(&max, max_text))
		refuse(x->command,
		       "--parameter-scan %s %s %s: the range is not two plain "
		       "numbers",
		       name, min_text, max_text);
	if (!parse_decimal(&step, step_text))
		refuse(x->command,
		       "--parameter-step-size %s: not a plain number",
		       step_text);
	if (step <= 0 || max < min)
		refuse(x->command,
		       "--parameter-scan %s %s %s in steps of %s: an empty "
		       "range",
		       name, min_text, max_text, step_text);
	n = floor((max - min) / step * (1 + 1e-12)) + 1;
	if (n > MAX_COMMANDS)
		refuse(x->command,
		       "--parameter-scan %s: %g values, more than %d", name, n,
		       MAX_COMMANDS);
	if (decimals_of(step_text) > decimals)
		decimals = decimals_of(step_text);
	values = add_variable(x, name, (size_t)n);
	for (size_t i = 0; i < (size_t)n; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%.*f", decimals,
			 min + step * (double)i);
		values[i] = copy_text(text, strlen(text));
	}
}

static void
add_variables(struct expansion *x)
{
	const struct repeated_values *scans = &x->how->scans,
				     *lists = &x->how->lists;

	for (size_t i = 0; i < 3 * scans->n; i += 3)
		add_scan(x, scans->words[i], scans->words[i + 1],
			 scans->words[i + 2]);
	for (size_t i = 0; i < 2 * lists->n; i += 2)
		add_list(x, lists->words[i], lists->words[i + 1]);
}

/* The parameter that 'text' begins with, as in "{name}"; NULL: none. */
static const struct sl_parameter *
parameter_at(const char *text, const struct sl_parameter *parameters, size_t n)
{
	for (size_t i = 0; *text == '{' && i < n; i++) {
		size_t n_name = strlen(parameters[i].name);

		if (strncmp(text + 1, parameters[i].name, n_name) == 0 &&
		    text[n_name + 1] == '}')
			return &parameters[i];
	}
	return NULL;
}

/* 'text' with every {name} replaced, but not in what replaced one; NULL stays
 * NULL. */
static const char *
fill_in(const char *text, const struct sl_parameter *parameters, size_t n)
{
	size_t n_longest = 0, n_most = 1;
	char *filled, *to;

	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t n_value = strlen(parameters[i].value);

		n_longest = n_value > n_longest ? n_value : n_longest;
	}
	for (const char *at = text; *at; at++)
		n_most += *at == '{' ? n_longest + 1 : 1;
	filled = to = must_alloc(n_most, 1);
	while (*text) {
		const struct sl_parameter *p =
			parameter_at(text, parameters, n);

		if (!p) {
			*to++ = *text++;
			continue;
		}
		to += sprintf(to, "%s", p->value);
		text += strlen(p->name) + 2;
	}
	return filled;
}

/* A list is given once for all commands, once for each or for each line. */
static const char *
pick(const struct expansion *x, const struct repeated_values *list, size_t line,
     size_t command)
{
	if (list->n <= 1)
		return list->n ? list->words[0] : NULL;
	return list->words[list->n == x->n_commands ? command : line];
}

static const char *
name_of(const struct expansion *x, size_t line, size_t command)
{
	const struct repeated_values *names = &x->how->names;
	size_t first = x->how->reference != NULL;

	if (names->n == x->n_commands - first)
		return names->words[command - first];
	if (names->n == 1 && x->n_variables)
		return names->words[0];
	return line < names->n ? names->words[line] : NULL;
}

/* A line is run by a shell, or split and run under the name of the line. */
static void
fill_line(struct sl_command *out, const struct expansion *x, const char *line)
{
	if (!x->how->no_shell) {
		out->shell_line = line;
		return;
	}
	out->argv = split_words(x->command, line);
	if (!out->name)
		out->name = line;
}

/* The parts of command 'at', made of line 'which'. */
static void
fill_parts(struct sl_command *out, const struct expansion *x, size_t which,
	   size_t at)
{
	const struct sl_parameter *p = out->parameters;
	const struct command_options *how = x->how;
	size_t n = out->n_parameters;

	out->setup = fill_in(pick(x, &how->setup, which, at), p, n);
	out->prepare = fill_in(pick(x, &how->prepare, which, at), p, n);
	out->conclude = fill_in(pick(x, &how->conclude, which, at), p, n);
	out->cleanup = fill_in(pick(x, &how->cleanup, which, at), p, n);
	out->output = pick(x, &how->outputs, which, at);
}

static void
fill_command(struct sl_command *out, const struct expansion *x, size_t which,
	     size_t at)
{
	const struct template *t = &x->templates[which];
	const struct sl_parameter *p = out->parameters;
	size_t n = out->n_parameters, n_words = 0;
	const char **argv;

	fill_parts(out, x, which, at);
	out->name = fill_in(name_of(x, which, at), p, n);
	if (t->line) {
		fill_line(out, x, fill_in(t->line, p, n));
		return;
	}
	while (t->argv[n_words])
		n_words++;
	argv = must_alloc(n_words + 1, sizeof(*argv));
	for (size_t i = 0; i < n_words; i++)
		argv[i] = fill_in(t->argv[i], p, n);
	out->argv = argv;
}

/* The k-th combination of values, the first variable turning fastest. */
static const struct sl_parameter *
combination(const struct expansion *x, size_t k)
{
	struct sl_parameter *parameters =
		must_alloc(x->n_variables, sizeof(*parameters));

	for (size_t i = 0; i < x->n_variables; i++) {
		const struct variable *v = &x->variables[i];

		parameters[i].name = v->name;
		parameters[i].value = v->values[k % v->n_values];
		k /= v->n_values;
	}
	return parameters;
}

static void
check_counts(const struct expansion *x)
{
	const struct {
		const char *option;
		size_t n;
	} given[] = {
		{"setup", x->how->setup.n},
		{"prepare", x->how->prepare.n},
		{"conclude", x->how->conclude.n},
		{"cleanup", x->how->cleanup.n},
		{"output", x->how->outputs.n},
	};
	size_t n_lines = x->how->reference ? x->n_commands : x->n_templates;
	size_t n_names = x->how->names.n;

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		if (given[i].n > 1 && given[i].n != n_lines &&
		    given[i].n != x->n_commands)
			refuse(x->command,
			       "--%s is given %zu times for %zu commands: "
			       "once, or once for each",
			       given[i].option, given[i].n, x->n_commands);
	}
	if (n_names > x->n_templates &&
	    n_names != x->n_commands - (x->how->reference != NULL))
		refuse(x->command,
		       "--command-name is given %zu times for %zu commands",
		       n_names, x->n_commands);
	if (x->how->step && !x->how->scans.n)
		refuse(x->command,
		       "--parameter-step-size needs --parameter-scan");
}

void
command_line_read(const char *command, const struct command_options *how,
		  const char *const *words, size_t n_words,
		  struct sl_command **out, size_t *n_out)
{
	struct expansion *x = must_alloc(1, sizeof(*x));
	size_t n_combinations = 1, n = 0;

	x->command = command;
	x->how = how;
	if (how->shell && how->no_shell)
		refuse(command, "--shell and -N exclude each other");
	cut(x, words, n_words);
	add_variables(x);
	for (size_t i = 0; i < x->n_variables; i++) {
		n_combinations *= x->variables[i].n_values;
		if (n_combinations * x->n_templates > MAX_COMMANDS)
			refuse(command, "more than %d commands", MAX_COMMANDS);
	}
	x->n_commands = n_combinations * x->n_templates + (how->reference != 0);
	check_counts(x);
	*n_out = x->n_commands;
	*out = must_alloc(*n_out, sizeof(**out));
	if (how->reference) {
		fill_parts(&(*out)[n], x, 0, 0);
		(*out)[n].name = how->reference_name;
		fill_line(&(*out)[n++], x, how->reference);
	}
	for (size_t k = 0; k < n_combinations; k++) {
		const struct sl_parameter *parameters = combination(x, k);

		for (size_t i = 0; i < x->n_templates; i++, n++) {
			(*out)[n].parameters = parameters;
			(*out)[n].n_parameters = x->n_variables;
			fill_command(&(*out)[n], x, i, n);
		}
	}
}
