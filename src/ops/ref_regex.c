/* SPDX-License-Identifier: Apache-2.0 */
/* ref_regex.c - regular expressions as ONNX writes them. */
#include "base/status.h"
#include "ops/ref_regex.h"

#include <string.h>

#include "base/banned.h"

/*
 * What is written so far; room was made for the longest.  The C library
 * writes repetitions out and follows brackets by recursion, so both have an
 * end here: 'size' is how many signs there are at each depth when written
 * out, 'last' how many of them the last one is, which may be a group.
 */
enum { DEPTH_MOST = 100, REPEATS_MOST = 1000, SIGNS_MOST = 10000 };

struct writing {
	char *to;
	const char *at; /* what is read next */
	size_t depth, size[DEPTH_MOST + 1], last[DEPTH_MOST + 1];
};

static void
put(struct writing *w, const char *text)
{
	size_t n = strlen(text);

	memcpy(w->to, text, n);
	w->to += n;
}

/* The inside of a class behind a backslash; NULL: it is none. */
static const char *
class_of(char letter)
{
	switch (letter) {
	case 'd':
		return "0-9";
	case 'w':
		return "0-9A-Za-z_";
	case 's':
		return " \t\n\f\r";
	default:
		return NULL;
	}
}

/* A letter that stands for a control character; 0: it does not. */
static char
control_of(char letter)
{
	static const char letters[] = "tnrfv", controls[] = "\t\n\r\f\v";
	const char *at = letter ? strchr(letters, letter) : NULL;

	return at ? controls[at - letters] : '\0';
}

static int
is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Behind a backslash, outside of brackets; 0: cannot be said. */
static int
put_escape(struct writing *w)
{
	char letter = *w->at++;
	char text[3] = {'\\', letter, '\0'};
	const char *inside = class_of(letter);

	if (!inside && letter >= 'A' && letter <= 'Z')
		inside = class_of((char)(letter - 'A' + 'a'));
	if (inside) {
		put(w, letter <= 'Z' ? "[^" : "[");
		put(w, inside);
		put(w, "]");
	} else if (control_of(letter)) {
		text[0] = control_of(letter);
		text[1] = '\0';
		put(w, text);
	} else if (letter == '\0' || (is_alphanumeric(letter) &&
				      letter != 'b' && letter != 'B')) {
		return 0;
	} else {
		put(w, text);
	}
	return 1;
}

/* A list in brackets, w->at being behind the first; 0: cannot be said.  A
 * bracket or hat that a backslash protects has no such form in POSIX, where
 * places in the list say what they mean: only one of them can be there. */
static int
put_brackets(struct writing *w)
{
	int has_closing = 0, has_dash = 0, has_hat = 0;
	const char *inside;
	char one[2] = {0};

	put(w, "[");
	if (*w->at == '^') {
		put(w, "^");
		w->at++;
	}
	for (int i = 0; *w->at && (*w->at != ']' || i == 0); i++) {
		one[0] = *w->at++;
		if (one[0] == '[' && *w->at == ':')
			return 0;
		if (one[0] == '\\') {
			one[0] = *w->at;
			if (!one[0])
				return 0;
			w->at++;
			inside = class_of(one[0]);
			if (inside) {
				put(w, inside);
				continue;
			}
			if (control_of(one[0]))
				one[0] = control_of(one[0]);
			else if (is_alphanumeric(one[0]))
				return 0;
			has_dash |= one[0] == '-';
			has_hat |= one[0] == '^';
			if (one[0] == '-' || one[0] == '^')
				continue;
		}
		has_closing |= one[0] == ']';
		if (one[0] != ']')
			put(w, one);
	}
	if (*w->at++ != ']' || has_closing)
		return 0;
	put(w, has_hat ? "^" : "");
	put(w, has_dash ? "-]" : "]");
	/* "[^" would mean something else. */
	return !(has_hat && (w->to[-2] == '[' || w->to[-3] == '['));
}

static void
count(struct writing *w, size_t n)
{
	w->last[w->depth] = n;
	w->size[w->depth] += n;
}

/* The numbers of "{2,5}", w->at being behind the first bracket; 0: cannot be
 * said. */
static int
put_repeats(struct writing *w)
{
	size_t n_most = 0, n = 0, signs = w->last[w->depth];

	while ((*w->at >= '0' && *w->at <= '9') || *w->at == ',') {
		char one[2] = {*w->at++, '\0'};

		n = one[0] == ',' ? 0 : 10 * n + (size_t)(one[0] - '0');
		n_most = n > n_most ? n : n_most;
		if (n_most > REPEATS_MOST)
			return 0;
		put(w, one);
	}
	if (n_most > 1)
		w->size[w->depth] += (n_most - 1) * signs;
	w->last[w->depth] = n_most * signs;
	return w->size[w->depth] <= SIGNS_MOST;
}

/* Whether there is an end to it. */
static int
enter_group(struct writing *w)
{
	if (w->depth == DEPTH_MOST)
		return 0;
	w->depth++;
	w->size[w->depth] = w->last[w->depth] = 0;
	return 1;
}

static int
leave_group(struct writing *w)
{
	if (w->depth > 0) {
		size_t n = w->size[w->depth--];

		count(w, n);
	}
	return w->size[w->depth] <= SIGNS_MOST;
}

/* What a sign that is no class or escape adds; 0: too much. */
static int
count_sign(struct writing *w, char sign)
{
	if (sign == '(')
		return enter_group(w);
	if (sign == ')')
		return leave_group(w);
	if (sign == '{')
		return put_repeats(w);
	if (!strchr("*+?|}", sign))
		count(w, 1);
	return 1;
}

/* One sign; 0: cannot be said. */
static int
put_sign(struct writing *w)
{
	char one[2] = {*w->at++, '\0'};

	if (strchr("\\[.", one[0]))
		count(w, 1);
	if (one[0] == '\\')
		return put_escape(w);
	if (one[0] == '[')
		return put_brackets(w);
	if (one[0] == '.') {
		put(w, "[^\n]");
		return 1;
	}
	put(w, one);
	if (!count_sign(w, one[0]))
		return 0;
	if (one[0] == '(' && *w->at == '?') {
		if (w->at[1] != ':')
			return 0;
		w->at += 2;
	}
	/* As few as possible, or as many: a whole string does not tell. */
	if (strchr("*+?}", one[0]) && *w->at == '?')
		w->at++;
	return 1;
}

enum sl_status
sl__regex_re2_to_posix(const char **out, const char *pattern,
		       struct sl__arena *arena, struct sl_error *err)
{
	/* A sign becomes at most "[^0-9A-Za-z_]". */
	size_t n = strlen(pattern);
	char *made = sl__arena_array(arena, n + 1, 16);
	struct writing w = {.to = made, .at = pattern};

	if (!made)
		return sl__fail_nomem(err);
	put(&w, "^(");
	while (*w.at) {
		if (!put_sign(&w))
			return sl__fail(err, SL_E_ABSENT,
					"the pattern '%.200s' is beyond this "
					"build",
					pattern);
	}
	put(&w, ")$");
	*out = n ? made : "^$"; /* empty brackets are not defined */
	return SL_OK;
}
