/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_names.c - names of a table's rows, short and still distinct.
 *
 * Exporters give operations of repeated blocks names that differ in one number
 * far from the end: what tells them apart is the first that a plain cut
 * removes.
 */
#include "report/row_names.h"
#include "report/repeats.h"
#include "report/printable.h"

#include <string.h>

#include "base/banned.h"

/* Rows that are compared with each other; nobody reads more. */
enum { COMPARED_MOST = 4096 };

/* Names with one label, and what they have in common. */
struct alike {
	const char *const *names;
	const char *const *labels;
	const char *const *before; /* those before; NULL: these are the first */
	size_t n, n_columns;
	size_t head, tail; /* bytes that all begin and end with */
};

/* The bytes of a name's first word and what ends it. */
static size_t
first_word(const char *name)
{
	size_t n = strcspn(name, "./");

	return n + (name[n] != '\0');
}

/* The bytes of the words that end within the first n of a name. */
static size_t
whole_words(const char *name, size_t n)
{
	while (n && !strchr("./", name[n - 1]))
		n--;
	return n;
}

/*
 * What the names of one module begin with, where one of them does not fit:
 * all lose it, so that the same words stand in all of them.  The length in
 * *head, and a name that has it; NULL: none.
 */
static const char *
module_head(const char *const *names, size_t n, size_t n_columns, size_t *head)
{
	const char *longest = NULL;
	size_t n_alike = 0, word;

	*head = 0;
	for (size_t i = 0; i < n && !longest; i++) {
		if (sl__utf8_width(names[i]) > n_columns)
			longest = names[i];
	}
	if (!longest)
		return NULL;
	word = first_word(longest);
	*head = strlen(longest);
	for (size_t i = 0; i < n; i++) {
		size_t same = 0;

		if (strncmp(names[i], longest, word) != 0)
			continue;
		while (same < *head && names[i][same] == longest[same])
			same++;
		n_alike += same < *head || names[i][same];
		*head = same;
	}
	*head = whole_words(longest, *head);
	/* A number stays with its word, unless that is the first. */
	if (*head > word && strchr("0123456789*[", longest[*head]))
		*head = whole_words(longest, *head - 1);
	return n_alike && *head ? longest : NULL;
}

/*
 * A name that does not fit loses letters of its words, and what all of them
 * begin with.  Of "reorder layer1.conv" the first word says what it does and
 * stays.
 */
static const char *
plain_label(struct sl__arena *arena, const char *name, size_t head,
	    size_t n_columns)
{
	size_t n = strcspn(name, " ");
	const char *rest = name[n] && n <= 8 ? name + n + 1 : name;
	size_t n_kept = (size_t)(rest - name);
	size_t room = n_columns > n_kept ? n_columns - n_kept : 1;
	const char *label;

	if (head) {
		label = plain_label(arena, name + head, 0,
				    n_columns > 1 ? n_columns - 1 : 1);
		return label ? sl__arena_format(arena, "…%s", label) : NULL;
	}
	label = sl__layer_name_shorten(arena, rest, room);
	if (label)
		label = sl__utf8_shortened(arena, label, room, "…");
	return label ? sl__arena_format(arena, "%.*s%s", (int)n_kept, name,
					label)
		     : NULL;
}

static int
is_alike(const struct alike *a, size_t i, size_t k)
{
	return !strcmp(a->labels[i], a->labels[k]) ||
	       (a->before && !strcmp(a->before[i], a->before[k]));
}

static int
needs_more(const struct alike *a, size_t i)
{
	for (size_t k = 0; k < a->n; k++) {
		if (!strcmp(a->labels[i], a->labels[k]) &&
		    strcmp(a->names[i], a->names[k]) != 0)
			return 1;
	}
	return 0;
}

/* What all names that look like the ith have in common. */
static void
measure(struct alike *a, size_t i)
{
	const char *name = a->names[i];
	size_t n = strlen(name);

	a->head = a->tail = n;
	for (size_t k = 0; k < a->n; k++) {
		size_t m = strlen(a->names[k]), same = 0, most = n < m ? n : m;

		if (!is_alike(a, i, k) || !strcmp(name, a->names[k]))
			continue;
		while (same < a->head && same < most &&
		       name[same] == a->names[k][same])
			same++;
		a->head = same;
		most -= same;
		for (same = 0; same < a->tail && same < most &&
			       name[n - 1 - same] == a->names[k][m - 1 - same];)
			same++;
		a->tail = same;
	}
	/* Whole words. */
	a->head = whole_words(name, a->head);
	while (a->tail && !strchr("./", name[n - a->tail]))
		a->tail--;
}

/* The end of a text, of no more than n_columns. */
static const char *
end_of(const char *text, size_t n_columns)
{
	size_t n = sl__utf8_width(text);

	for (; n > n_columns; n--)
		text += sl__utf8_step(text);
	return text;
}

/* "…", the words that differ, and as much of what follows as there is room
 * for. */
static const char *
distinct_label(struct sl__arena *arena, struct alike *a, size_t i)
{
	const char *name = a->names[i], *mark, *rest;
	size_t n = strlen(name), room = a->n_columns, used;
	const char *words;

	measure(a, i);
	mark = a->head ? "…" : "";
	room -= a->head && room ? 1 : 0;
	words = sl__arena_format(arena, "%.*s", (int)(n - a->head - a->tail),
				 name + a->head);
	if (words)
		words = sl__layer_name_shorten(arena, words, room);
	if (words)
		words = sl__utf8_shortened(arena, words, room, "…");
	if (!words)
		return NULL;
	used = sl__utf8_width(words);
	rest = name + n - a->tail;
	if (used + sl__utf8_width(rest) <= room)
		return sl__arena_format(arena, "%s%s%s", mark, words, rest);
	if (used + 2 > room)
		return sl__arena_format(arena, "%s%s", mark, words);
	return sl__arena_format(arena, "%s%s…%s", mark, words,
				end_of(rest, room - used - 1));
}

/* Labels that tell names apart where those that there are do not; 0: out of
 * memory. */
static int
make_distinct(struct sl__arena *arena, struct alike *a, const char **made)
{
	for (size_t i = 0; i < a->n; i++) {
		made[i] = needs_more(a, i) ? distinct_label(arena, a, i)
					   : a->labels[i];
		if (!made[i])
			return 0;
	}
	return 1;
}

/* Names that cannot be told apart in so little room are numbered; 'made' are
 * the labels without that. */
static const char *
numbered(struct sl__arena *arena, const struct alike *a,
	 const char *const *made, const char *const *out, size_t i)
{
	size_t nth = 1, room = a->n_columns > 4 ? a->n_columns - 4 : 1;
	const char *label;

	for (size_t k = 0; k < i; k++) {
		if (strcmp(made[k], made[i]) != 0)
			continue;
		if (!strcmp(a->names[k], a->names[i]))
			return out[k];
		nth++;
	}
	if (nth == 1)
		return made[i];
	label = sl__utf8_shortened(arena, made[i], room, "…");
	return label ? sl__arena_format(arena, "%s #%zu", label, nth) : NULL;
}

const char **
sl__row_names_shorten(struct sl__arena *arena, const char *const *names,
		      size_t n, size_t n_columns)
{
	const char **plain = sl__arena_array(arena, n + 1, sizeof(*plain));
	const char **made = sl__arena_array(arena, n + 1, sizeof(*made));
	const char **again = sl__arena_array(arena, n + 1, sizeof(*again));
	const char **out = sl__arena_array(arena, n + 1, sizeof(*out));
	size_t head;
	const char *module = module_head(names, n, n_columns, &head);
	struct alike a = {.names = names,
			  .labels = plain,
			  .n = n,
			  .n_columns = n_columns};

	if (!plain || !made || !again || !out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		int is_of_it = module && !strncmp(names[i], module, head);

		plain[i] = plain_label(arena, names[i], is_of_it ? head : 0,
				       n_columns);
		if (!plain[i])
			return NULL;
	}
	if (n > COMPARED_MOST)
		return plain;
	if (!make_distinct(arena, &a, made))
		return NULL;
	/* What tells two apart may be what another two share. */
	a.before = plain;
	a.labels = made;
	if (!make_distinct(arena, &a, again))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		out[i] = numbered(arena, &a, again, out, i);
		if (!out[i])
			return NULL;
	}
	return out;
}
