/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.c - the commands to be run, as the user gave them.
 *
 * First the words are cut into templates at the separator (or, with a shell,
 * each word is one), then every template is repeated for every combination
 * of parameter values.  Nothing is freed: the program ends soon after.
 */
#include "command_line.h"

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
	 "each word is a line for a shell (/bin/sh)", 0, 0, 0},
	{"with-shell", 'S', OPTION_TEXT, AT(shell), "SHELL",
	 "the same, naming the shell", 0, 0, 0},
	{"no-shell", 'N', OPTION_FLAG, AT(no_shell), NULL,
	 "no shell (the default)", 0, 0, 0},
	{"separator", 0, OPTION_TEXT, AT(separator), "WORD",
	 "stands between commands instead of '--'", 0, 0, 0},
	{"command-name", 'n', OPTION_WORDS, AT(names), "NAME",
	 "name of the next command in reports", 0, 0, 1},
};

struct option_group
command_line_group(struct command_options *how)
{
	return OPTION_GROUP(options, how);
}

/* A command before parameters are filled in. */
struct template
{
	const char **argv;      /* NULL-terminated, or NULL with a shell */
	const char *shell_line; /* or NULL */
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
cut_shell_lines(struct expansion *x, const char *const *words, size_t n_words)
{
	const char *separator = x->how->separator ? x->how->separator : "--";

	for (size_t i = 0; i < n_words; i++) {
		if (strcmp(words[i], separator) != 0)
			add_template(x)->shell_line = words[i];
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

	if (n_words && strcmp(words[0], "--") != 0)
		refuse(x->command,
		       "unexpected '%s': commands come after '--', as in "
		       "'sleuth %s -- %s' (or give whole lines with --shell)",
		       words[0], x->command, words[0]);
	for (size_t i = 1; i <= n_words; i++) {
		if (i < n_words && strcmp(words[i], separator) != 0)
			continue;
		if (i == n_words && i == start && !x->n_templates)
			break; /* nothing at all: told below */
		add_words(x, words + start, i - start);
		start = i + 1;
	}
}

/* "--shell bash 'a | b'" would time bash as a command of its own. */
static int
is_shell_name(const char *word)
{
	static const char *const names[] = {"sh",  "bash", "dash", "zsh",
					    "ksh", "fish", "none", "default"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(word, names[i]) == 0)
			return 1;
	}
	return 0;
}

static void
cut(struct expansion *x, const char *const *words, size_t n_words)
{
	if (x->how->shell && !*x->how->shell && n_words &&
	    is_shell_name(words[0]))
		refuse(x->command, "--shell %s: name the shell as --shell=%s",
		       words[0], words[0]);
	(x->how->shell ? cut_shell_lines : cut_words)(x, words, n_words);
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

static void
add_list(struct expansion *x, const char *name, const char *list)
{
	const char **values;
	size_t n = 1;

	for (const char *at = list; *at; at++)
		n += *at == ',';
	values = add_variable(x, name, n);
	for (size_t i = 0; i < n; i++) {
		size_t length = strcspn(list, ",");

		values[i] = copy_text(list, length);
		list += length + 1;
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
	const struct word_list *scans = &x->how->scans, *lists = &x->how->lists;

	for (size_t i = 0; i < 3 * scans->n; i += 3)
		add_scan(x, scans->words[i], scans->words[i + 1],
			 scans->words[i + 2]);
	for (size_t i = 0; i < 2 * lists->n; i += 2)
		add_list(x, lists->words[i], lists->words[i + 1]);
}

/* 'text' with every {name} replaced; NULL stays NULL. */
static const char *
fill_in(const char *text, const struct sl_parameter *parameters, size_t n)
{
	for (size_t i = 0; text && i < n; i++) {
		size_t n_name = strlen(parameters[i].name);
		size_t n_value = strlen(parameters[i].value);
		const char *at = text;

		while ((at = strchr(at, '{')) != NULL) {
			if (strncmp(at + 1, parameters[i].name, n_name) != 0 ||
			    at[n_name + 1] != '}') {
				at++;
				continue;
			}
			size_t before = (size_t)(at - text);
			char *filled =
				must_alloc(strlen(text) + n_value + 1, 1);

			memcpy(filled, text, before);
			memcpy(filled + before, parameters[i].value, n_value);
			memcpy(filled + before + n_value, at + n_name + 2,
			       strlen(at + n_name + 2) + 1);
			text = filled;
			at = text + before + n_value;
		}
	}
	return text;
}

/* The value for command i of a list given once for all or once for each. */
static const char *
pick(const struct word_list *list, size_t i)
{
	if (!list->n)
		return NULL;
	return list->n == 1 ? list->words[0] : list->words[i];
}

static void
fill_command(struct sl_command *out, const struct expansion *x, size_t which,
	     const struct sl_parameter *parameters)
{
	const struct template *t = &x->templates[which];
	size_t n = x->n_variables;

	out->parameters = parameters;
	out->n_parameters = n;
	out->shell_line = fill_in(t->shell_line, parameters, n);
	out->setup = fill_in(pick(&x->how->setup, which), parameters, n);
	out->prepare = fill_in(pick(&x->how->prepare, which), parameters, n);
	out->conclude = fill_in(pick(&x->how->conclude, which), parameters, n);
	out->cleanup = fill_in(pick(&x->how->cleanup, which), parameters, n);
	if (which < x->how->names.n)
		out->name = fill_in(x->how->names.words[which], parameters, n);
	if (t->argv) {
		size_t n_words = 0;
		const char **argv;

		while (t->argv[n_words])
			n_words++;
		argv = must_alloc(n_words + 1, sizeof(*argv));
		for (size_t i = 0; i < n_words; i++)
			argv[i] = fill_in(t->argv[i], parameters, n);
		out->argv = argv;
	}
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
	};

	for (size_t i = 0; i < 4; i++) {
		if (given[i].n > 1 && given[i].n != x->n_templates)
			refuse(x->command,
			       "--%s is given %zu times for %zu commands: "
			       "once, or once for each",
			       given[i].option, given[i].n, x->n_templates);
	}
	if (x->how->names.n > x->n_templates)
		refuse(x->command,
		       "--command-name is given %zu times for %zu commands",
		       x->how->names.n, x->n_templates);
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
	size_t n_combinations = 1;

	x->command = command;
	x->how = how;
	if (how->shell && how->no_shell)
		refuse(command, "--shell and -N exclude each other");
	cut(x, words, n_words);
	check_counts(x);
	add_variables(x);
	for (size_t i = 0; i < x->n_variables; i++) {
		n_combinations *= x->variables[i].n_values;
		if (n_combinations * x->n_templates > MAX_COMMANDS)
			refuse(command, "more than %d commands", MAX_COMMANDS);
	}
	*n_out = n_combinations * x->n_templates;
	*out = must_alloc(*n_out, sizeof(**out));
	for (size_t k = 0; k < n_combinations; k++) {
		const struct sl_parameter *parameters = combination(x, k);

		for (size_t i = 0; i < x->n_templates; i++)
			fill_command(&(*out)[k * x->n_templates + i], x, i,
				     parameters);
	}
}
