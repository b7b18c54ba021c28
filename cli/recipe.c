/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c - changes of a model, kept in a file for its next version. */
#include "recipe.h"
#include "exit_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 256 };

/* The lines there are, and where their values go. */
static const struct {
	const char *name;
	size_t offset;
	int is_number;
} lines[] = {
	{"apply", offsetof(struct recipe, apply), 0},
	{"data", offsetof(struct recipe, data), 0},
	{"labels", offsetof(struct recipe, labels), 0},
	{"test", offsetof(struct recipe, test), 0},
	{"calibration", offsetof(struct recipe, calibration), 0},
	{"context", offsetof(struct recipe, context), 1},
	{"samples", offsetof(struct recipe, samples), 1},
	{"seed", offsetof(struct recipe, seed), 1},
};
enum { N_LINES = sizeof(lines) / sizeof(lines[0]) };

static void
print(FILE *file, const struct recipe *r)
{
	fprintf(file, "# for 'sleuth optimize MODEL --apply @FILE'\n");
	for (size_t i = 0; i < N_LINES; i++) {
		const char *at = (const char *)r + lines[i].offset;
		const char *text = NULL;
		size_t number = 0;

		memcpy(lines[i].is_number ? (void *)&number : (void *)&text, at,
		       lines[i].is_number ? sizeof(number) : sizeof(text));
		if (number)
			fprintf(file, "%s %zu\n", lines[i].name, number);
		if (text)
			fprintf(file, "%s %s\n", lines[i].name, text);
	}
	if (r->drop > 0)
		fprintf(file, "accuracy-drop %.6gpp\n", 100 * r->drop);
	for (size_t i = 0; i < r->keep.n; i++)
		fprintf(file, "keep %s\n", r->keep.words[i]);
}

int
recipe_write(const struct recipe *r, const char *command, const char *path)
{
	int is_stdout = !strcmp(path, "-"), failed;
	FILE *file = is_stdout ? stdout : fopen(path, "w");

	if (!file)
		return complain(command, EXIT_IO, "%s: %s", path,
				strerror(errno));
	print(file, r);
	failed = ferror(file) || (is_stdout ? fflush(file) : fclose(file));
	return failed ? complain(command, EXIT_IO, "%s: %s", path,
				 strerror(errno))
		      : 0;
}

/* Sets what a line says; 0: it makes no sense. */
static int
take(struct recipe *r, const char *name, char *value)
{
	if (!strcmp(name, "keep") && r->keep.n < WORDS_MOST) {
		r->keep.words[r->keep.n++] = value;
		return 1;
	}
	if (!strcmp(name, "accuracy-drop")) {
		double drop;

		if (!parse_share(&drop, value) || !(drop > 0 && drop <= 1))
			return 0;
		r->drop = r->drop > 0 ? r->drop : drop;
		return 1;
	}
	for (size_t i = 0; i < N_LINES; i++) {
		void *at = (char *)r + lines[i].offset;

		if (strcmp(lines[i].name, name) != 0)
			continue;
		if (lines[i].is_number) {
			size_t *number = at;

			return *number || parse_count(number, value);
		}
		if (!*(const char **)at || i == 0)
			*(const char **)at = value;
		return 1;
	}
	return 0;
}

void
recipe_read(struct recipe *r, const char *command, const char *path)
{
	const char **keep = must_alloc(WORDS_MOST, sizeof(*keep));
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;

	if (!file)
		exit(complain(command, EXIT_IO, "%s: %s", path,
			      strerror(errno)));
	for (size_t i = 0; i < r->keep.n && i < WORDS_MOST; i++)
		keep[i] = r->keep.words[i];
	r->keep.words = keep;
	r->apply = NULL;
	for (size_t n = 1; getline(&line, &cap, file) > 0; n++) {
		char *copy = must_alloc(strlen(line) + 1, 1), *value;

		line[strcspn(line, "\r\n")] = '\0';
		if (*line == '#' || !*line)
			continue;
		strcpy(copy, line);
		value = strchr(copy, ' ');
		if (value)
			*value++ = '\0';
		if (!value || !*value || !take(r, copy, value))
			exit(complain(command, EXIT_DATA,
				      "%s: line %zu is no line of a recipe, "
				      "such as 'apply int8'",
				      path, n));
	}
	free(line);
	fclose(file);
	if (!r->apply)
		exit(complain(command, EXIT_DATA,
			      "%s: no recipe: it has no line 'apply ...'",
			      path));
}
