/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - reading the command line from a table.
 *
 * getopt_long() would do most of this, but not the messages: which value was
 * wrong, what it may be, and which option was probably meant.
 *
 * Words of the command line come back in messages: whatever a terminal would
 * obey is taken out of them.
 */
#include "options.h"
#include "error_json.h"
#include "exit_code.h"
#include "fill.h"
#include "tty.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a message; longer ones are cut. */
enum { MAX_MESSAGE = 2048 };

static void
print_line(const char *command, int code, const char *format, va_list args)
{
	char line[MAX_MESSAGE];

	vsnprintf(line, sizeof(line), format, args);
	sl_text_sanitize(line);
	tty_clear_progress();
	fflush(stdout);
	fprintf(stderr, "sleuth%s%s: %s\n", command ? " " : "",
		command ? command : "", line);
	error_json_note(command, code, line);
}

int
complain(const char *command, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(command, code, format, args);
	va_end(args);
	return code;
}

void
refuse(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(command, EXIT_USAGE, format, args);
	va_end(args);
	exit(EXIT_USAGE);
}

void *
must_alloc(size_t n, size_t n_bytes)
{
	/* Everything lives until the program ends, and stays reachable, so
	 * that leak checkers see real leaks only. */
	static struct block {
		struct block *next;
		_Alignas(16) unsigned char data[];
	} * all;
	struct block *block = NULL;

	if (n <= (SIZE_MAX - sizeof(*block)) / (n_bytes ? n_bytes : 1))
		block = calloc(1, sizeof(*block) + n * n_bytes);
	if (!block)
		exit(complain(NULL, EXIT_NOMEM, "out of memory"));
	block->next = all;
	all = block;
	return block->data;
}

const char *
nearest_name(const char *word, const char *const *names, size_t n)
{
	const char *near = NULL;

	for (size_t i = 0; i < n; i++)
		near = sl_text_nearer(word, near, names[i]);
	return near;
}

/* A plain decimal number; *end is what follows it. */
static int
parse_number(double *out, const char *text, const char **end)
{
	char *after;

	/* strtod() would take "inf", "nan", blanks and hexadecimal too. */
	if (((*text < '0' || *text > '9') && *text != '-' && *text != '+' &&
	     *text != '.') ||
	    strpbrk(text, "xX"))
		return 0;
	errno = 0;
	*out = strtod(text, &after);
	*end = after;
	return after != text && isfinite(*out);
}

int
parse_seconds(double *out, const char *text)
{
	static const struct {
		const char *suffix;
		double factor;
	} units[] = {{"", 1},      {"s", 1},     {"ms", 1e-3}, {"us", 1e-6},
		     {"µs", 1e-6}, {"ns", 1e-9}, {"m", 60},    {"h", 3600}};
	const char *end;

	if (!parse_number(out, text, &end))
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) == 0) {
			*out *= units[i].factor;
			return 1;
		}
	}
	return 0;
}

int
parse_share(double *out, const char *text)
{
	const char *end;

	if (!parse_number(out, text, &end))
		return 0;
	if (strcmp(end, "%") == 0 || strcmp(end, "pp") == 0) {
		*out /= 100;
		return 1;
	}
	return *end == '\0';
}

int
parse_count(size_t *out, const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0;
}

size_t
read_choice(const char *command, const char *option, const char *word,
	    const char *const *allowed)
{
	char list[128] = "";
	const char *near = NULL;
	size_t i = 0;

	while (word && allowed[i] && strcmp(word, allowed[i]) != 0)
		i++;
	if (allowed[i])
		return i;
	for (i = 0; allowed[i]; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s",
			 i ? ", " : "", allowed[i]);
		near = sl_text_nearer(word, near, allowed[i]);
	}
	if (near)
		refuse(command, "--%s %s: did you mean '%s'?", option, word,
		       near);
	refuse(command, "--%s %s: must be one of %s", option, word, list);
}

/* What an option is called, and beside it what it does; below it where that
 * has no room on its right. */
static void
print_described(const char *left, const char *text)
{
	enum { BESIDE = 33, BELOW = 6, MIN_TEXT = 40 };
	int is_narrow = page_columns() < BESIDE + MIN_TEXT;
	size_t column = is_narrow ? BELOW : BESIDE;

	if (is_narrow || strlen(left) > BESIDE - 4)
		printf("  %s\n%*s", left, (int)column, "");
	else
		printf("  %-31s", left);
	print_filled(text, column, column);
}

static void
print_option(const struct option *option)
{
	char left[64];

	snprintf(left, sizeof(left), "%s%c%s--%s%s%s%s",
		 option->letter ? "-" : " ",
		 option->letter ? option->letter : ' ',
		 option->letter ? ", " : "  ", option->name,
		 !option->value                 ? ""
		 : option->kind == OPTION_MAYBE ? "[="
						: " ",
		 option->value ? option->value : "",
		 option->kind == OPTION_MAYBE ? "]" : "");
	print_described(left, option->help);
}

/* "usage: sleuth bench [options]", a line for each of the synopsis. */
static void
print_usage(const char *name, const char *synopsis)
{
	char line[256];
	size_t begin = strlen("usage: ");

	snprintf(line, sizeof(line), "sleuth %s %s", name, synopsis);
	for (char *at = line, *end; at; at = end) {
		end = strchr(at, '\n');
		if (end)
			*end++ = '\0';
		printf("%*s", (int)begin, at == line ? "usage: " : "");
		print_filled(at + strspn(at, " "), begin, begin + 4);
	}
	printf("\n");
}

static int
print_help(const struct command_help *help, const struct option_group *groups,
	   size_t n_groups)
{
	print_usage(help->name, help->synopsis);
	print_paragraphs(help->about, 0);
	printf("\noptions:\n");
	for (size_t i = 0; i < n_groups; i++) {
		for (size_t k = 0; k < groups[i].n; k++)
			print_option(&groups[i].options[k]);
	}
	print_described("-h, --help", "this page");
	if (help->examples)
		printf("\nexamples:\n%s\n", help->examples);
	return EXIT_DONE;
}

struct reader {
	const struct command_help *help;
	const struct option_group *groups;
	size_t n_groups;
	char **next; /* the word to be read; NULL ends them */
};

/* An option that was met, and where its value goes. */
struct met {
	const struct option *option;
	void *target;
};

/* A limit as people write it: whole numbers with all their digits. */
static const char *
limit_text(char text[32], double limit)
{
	snprintf(text, 32, limit >= 1 && limit < 1e18 ? "%.0f" : "%g", limit);
	return text;
}

/* A whole number that is below the least, or beyond the most. */
static void
refuse_count(const struct reader *r, const struct option *option,
	     const char *value, int is_large)
{
	char limit[32];

	if (!is_large)
		refuse(r->help->name, "--%s %s: must be at least %s",
		       option->name, value, limit_text(limit, option->min));
	if (option->max >= 1e18)
		refuse(r->help->name, "--%s %s: too large", option->name,
		       value);
	refuse(r->help->name, "--%s %s: too large; the most is %s",
	       option->name, value, limit_text(limit, option->max));
}

/* Whether 'text' is digits and nothing else. */
static int
is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static void
set_count(const struct reader *r, struct met met, const char *value)
{
	const struct option *option = met.option;
	size_t count = 0;

	if (!is_digits(value + (*value == '-')))
		refuse(r->help->name, "--%s %s: not a whole number",
		       option->name, value);
	if (*value == '-')
		refuse_count(r, option, value, 0);
	if (!parse_count(&count, value) || (double)count > option->max)
		refuse_count(r, option, value, 1);
	if ((double)count < option->min)
		refuse_count(r, option, value, 0);
	*(size_t *)met.target = count;
}

/* What a number of a kind is read by, what it is called where it is none, and
 * how its limits are written. */
static const struct number_kind {
	int (*parse)(double *, const char *);
	const char *what;
	int is_percentage;
} number_kinds[] = {
	[OPTION_SECONDS] = {parse_seconds, "a time such as 2, 500ms or 1m", 0},
	[OPTION_SHARE] = {parse_share, "a share such as 1% or 0.01", 1},
	[OPTION_NUMBER] = {parse_share, "a number such as 0.001 or 1e-3", 0},
};

static void
set_number(const struct reader *r, struct met met, const char *value)
{
	const struct option *option = met.option;
	const struct number_kind *kind = &number_kinds[option->kind];
	char least[32], most[32];
	double number;

	if (!kind->parse(&number, value))
		refuse(r->help->name, "--%s %s: not %s", option->name, value,
		       kind->what);
	if (number >= option->min && number <= option->max) {
		*(double *)met.target = number;
		return;
	}
	if (kind->is_percentage)
		refuse(r->help->name, "--%s %s: must be from %g%% to %g%%",
		       option->name, value, 100 * option->min,
		       100 * option->max);
	refuse(r->help->name, "--%s %s: must be from %s to %s", option->name,
	       value, limit_text(least, option->min),
	       limit_text(most, option->max));
}

static void
add_words(struct reader *r, struct met met, const char *first)
{
	struct repeated_values *list = met.target;
	size_t n_words = met.option->n_words;
	size_t n_held = list->n * n_words;
	const char **words = must_alloc(n_held + n_words, sizeof(*words));

	if (n_held)
		memcpy(words, list->words, n_held * sizeof(*words));
	words[n_held] = first;
	for (size_t i = 1; i < n_words; i++) {
		if (!*r->next)
			refuse(r->help->name, "--%s needs %zu values: %s",
			       met.option->name, n_words, met.option->value);
		words[n_held + i] = *r->next++;
	}
	list->words = words;
	list->n++;
}

static void
set_option(struct reader *r, struct met met, const char *value)
{
	switch (met.option->kind) {
	case OPTION_FLAG:
		*(int *)met.target = 1;
		break;
	case OPTION_TEXT:
	case OPTION_MAYBE:
		*(const char **)met.target = value ? value : "";
		break;
	case OPTION_COUNT:
		set_count(r, met, value);
		break;
	case OPTION_SECONDS:
	case OPTION_SHARE:
	case OPTION_NUMBER:
		set_number(r, met, value);
		break;
	case OPTION_WORDS:
		add_words(r, met, value);
		break;
	}
}

static int
takes_value(const struct option *option)
{
	return option->kind != OPTION_FLAG && option->kind != OPTION_MAYBE;
}

/* 'value' is what followed '=' or the letter, or NULL. */
static void
read_option(struct reader *r, struct met met, const char *value)
{
	const struct option *option = met.option;
	int may_follow = option->kind == OPTION_MAYBE && option->n_words &&
			 *r->next && **r->next != '-';

	if (option->kind == OPTION_FLAG && value)
		refuse(r->help->name, "--%s takes no value", option->name);
	if (option->kind == OPTION_MAYBE && value && !*value)
		refuse(r->help->name, "--%s=: the value is empty",
		       option->name);
	if (takes_value(option) && !value && !*r->next)
		refuse(r->help->name, "--%s needs a value: %s", option->name,
		       option->value);
	if (!value && (takes_value(option) || may_follow))
		value = *r->next++;
	set_option(r, met, value);
}

static void
refuse_option(const struct reader *r, const char *word, size_t n_letters)
{
	char name[64];
	const char *near = NULL;

	snprintf(name, sizeof(name), "%.*s", (int)n_letters, word);
	for (size_t i = 0; i < r->n_groups; i++) {
		for (size_t k = 0; k < r->groups[i].n; k++)
			near = sl_text_nearer(name, near,
					      r->groups[i].options[k].name);
	}
	if (near)
		refuse(r->help->name,
		       "unknown option '--%s'; did you mean '--%s'?", name,
		       near);
	refuse(r->help->name, "unknown option '--%s'; see 'sleuth %s --help'",
	       name, r->help->name);
}

/* The option with that name, or else with that letter; its option is NULL when
 * there is none. */
static struct met
find_option(const struct reader *r, const char *name, size_t n, char letter)
{
	for (size_t i = 0; i < r->n_groups; i++) {
		const struct option_group *group = &r->groups[i];

		for (size_t k = 0; k < group->n; k++) {
			const struct option *option = &group->options[k];
			int is_meant =
				name ? strlen(option->name) == n &&
						!strncmp(option->name, name, n)
				     : option->letter == letter;

			if (is_meant)
				return (struct met){option,
						    (char *)group->base +
							    option->offset};
		}
	}
	return (struct met){NULL, NULL};
}

static void
read_long(struct reader *r, const char *word)
{
	size_t n = strcspn(word, "=");
	struct met met = find_option(r, word, n, '\0');

	if (!met.option)
		refuse_option(r, word, n);
	read_option(r, met, word[n] ? word + n + 1 : NULL);
}

/* EXIT_DONE after the page of help, otherwise 0. */
static int
read_letters(struct reader *r, const char *letters)
{
	for (; *letters; letters++) {
		struct met met = find_option(r, NULL, 0, *letters);

		if (!met.option && *letters == 'h')
			return print_help(r->help, r->groups, r->n_groups);
		if (!met.option)
			refuse(r->help->name,
			       "unknown option '-%c'; see 'sleuth %s --help'",
			       *letters, r->help->name);
		if (takes_value(met.option)) {
			read_option(r, met, letters[1] ? letters + 1 : NULL);
			return 0;
		}
		if (met.option->kind == OPTION_MAYBE && letters[1] == '=') {
			read_option(r, met, letters + 2);
			return 0;
		}
		read_option(r, met, NULL);
	}
	return 0;
}

int
options_read(const struct command_help *help, const struct option_group *groups,
	     size_t n_groups, char **argv, const char ***rest, size_t *n_rest)
{
	struct reader r = {help, groups, n_groups, argv + 1};
	size_t n_words = 0;
	int code = 0;

	while (argv[n_words])
		n_words++;
	*rest = must_alloc(n_words + 1, sizeof(**rest));
	*n_rest = 0;
	while (!code && *r.next) {
		const char *word = *r.next++;

		if (strcmp(word, "--") == 0) {
			(*rest)[(*n_rest)++] = word;
			while (*r.next)
				(*rest)[(*n_rest)++] = *r.next++;
		} else if (strcmp(word, "--help") == 0) {
			return print_help(help, groups, n_groups);
		} else if (word[0] == '-' && word[1] == '-') {
			read_long(&r, word + 2);
		} else if (word[0] == '-' && word[1]) {
			code = read_letters(&r, word + 1);
		} else {
			(*rest)[(*n_rest)++] = word;
		}
	}
	return code;
}

int
options_read_positional_names(const struct command_help *help,
			      const struct option_group *groups,
			      size_t n_groups, char **argv, const char ***names,
			      size_t *n_names)
{
	size_t n;
	int code = options_read(help, groups, n_groups, argv, names, &n);

	*n_names = 0;
	for (size_t i = 0; i < n && !code; i++) {
		if (strcmp((*names)[i], "--") != 0)
			(*names)[(*n_names)++] = (*names)[i];
	}
	if (!code && !*n_names && help->without)
		refuse(help->name, "%s", help->without);
	return code;
}

int
options_read_name(const struct command_help *help,
		  const struct option_group *groups, size_t n_groups,
		  char **argv, const char **name)
{
	const char **names;
	size_t n;
	int code = options_read_positional_names(help, groups, n_groups, argv,
						 &names, &n);

	if (!code && n > 1)
		refuse(help->name, "one model at a time, not %zu", n);
	*name = names[0];
	return code;
}

int
options_read_only(const struct command_help *help,
		  const struct option_group *groups, size_t n_groups,
		  char **argv)
{
	const char **words;
	size_t n_words;
	int code = options_read(help, groups, n_groups, argv, &words, &n_words);

	if (!code && n_words)
		refuse(help->name, "unexpected '%s'", words[0]);
	return code;
}
