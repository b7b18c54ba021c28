/* SPDX-License-Identifier: Apache-2.0 */
/* json_check.h - a strict reader of JSON that knows nothing of the writer. */
#ifndef SL_TEST_JSON_CHECK_H
#define SL_TEST_JSON_CHECK_H

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Recursive descent after RFC 8259.  While it reads, it keeps the path of the
 * value it is at, such as results[0].latency.median_ms, and remembers where
 * the value of the wanted path lies.
 */
struct json_check {
	const char *p;
	const char *wanted;
	char path[256];
	const char *found;
	size_t n_found, n_matches;
	int bad;
};

static inline void json_check_value(struct json_check *j);

static inline void
json_check_space(struct json_check *j)
{
	j->p += strspn(j->p, " \t\r\n");
}

static inline void
json_check_byte(struct json_check *j, char byte)
{
	json_check_space(j);
	if (*j->p == byte)
		j->p++;
	else
		j->bad = 1;
}

/* A string: no raw control bytes, known escapes, well-formed UTF-8 lengths. */
static inline void
json_check_string(struct json_check *j)
{
	json_check_byte(j, '"');
	while (!j->bad && *j->p != '"') {
		const unsigned char c = (unsigned char)*j->p;
		size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;

		if (c < 0x20 || (c >= 0x80 && c < 0xc2) || c > 0xf4) {
			j->bad = 1;
		} else if (c == '\\') {
			j->p++;
			n = *j->p == 'u' ? 5 : 1;
			j->bad |= !*j->p || !strchr("\"\\/bfnrtu", *j->p);
			for (size_t i = 1; i < n && !j->bad; i++)
				j->bad |= !isxdigit((unsigned char)j->p[i]);
		}
		for (size_t i = 1; c >= 0xc2 && i < n && !j->bad; i++)
			j->bad |= ((unsigned char)j->p[i] & 0xc0) != 0x80;
		if (!j->bad)
			j->p += n;
	}
	json_check_byte(j, '"');
}

static inline void
json_check_number(struct json_check *j)
{
	j->p += *j->p == '-';
	if (*j->p == '0')
		j->p++;
	else if (isdigit((unsigned char)*j->p))
		j->p += strspn(j->p, "0123456789");
	else
		j->bad = 1;
	if (*j->p == '.') {
		j->p++;
		j->bad |= !isdigit((unsigned char)*j->p);
		j->p += strspn(j->p, "0123456789");
	}
	if (*j->p == 'e' || *j->p == 'E') {
		j->p++;
		j->p += *j->p == '+' || *j->p == '-';
		j->bad |= !isdigit((unsigned char)*j->p);
		j->p += strspn(j->p, "0123456789");
	}
}

/* The members of an object or the elements of an array, up to 'closing'. */
static inline void
json_check_members(struct json_check *j, char closing)
{
	size_t n_path = strlen(j->path);
	char *end = j->path + n_path;
	size_t room = sizeof(j->path) - n_path;

	j->p++;
	json_check_space(j);
	for (size_t i = 0; !j->bad && *j->p != closing; i++) {
		if (i)
			json_check_byte(j, ',');
		json_check_space(j);
		if (closing == '}') {
			const char *key = j->p + 1;

			json_check_string(j);
			snprintf(end, room, "%s%.*s", n_path ? "." : "",
				 j->bad ? 0 : (int)(j->p - 1 - key), key);
			json_check_byte(j, ':');
		} else {
			snprintf(end, room, "[%zu]", i);
		}
		json_check_value(j);
		json_check_space(j);
	}
	*end = '\0';
	json_check_byte(j, closing);
}

static inline void
json_check_value(struct json_check *j)
{
	static const char *const words[] = {"true", "false", "null"};
	const char *start;
	int wanted;

	json_check_space(j);
	start = j->p;
	wanted = j->wanted && strcmp(j->path, j->wanted) == 0;
	if (*j->p == '{') {
		json_check_members(j, '}');
	} else if (*j->p == '[') {
		json_check_members(j, ']');
	} else if (*j->p == '"') {
		json_check_string(j);
	} else if (isalpha((unsigned char)*j->p)) {
		for (size_t i = 0; i < 3; i++) {
			if (strncmp(j->p, words[i], strlen(words[i])) == 0)
				j->p += strlen(words[i]);
		}
		j->bad |= j->p == start;
	} else {
		json_check_number(j);
	}
	if (wanted && !j->bad) {
		j->found = start;
		j->n_found = (size_t)(j->p - start);
		j->n_matches++;
	}
}

/* Reads all of 'text' and looks for 'path' (NULL: for nothing). */
static inline struct json_check
json_read(const char *text, const char *path)
{
	struct json_check j = {.p = text, .wanted = path};

	json_check_value(&j);
	json_check_space(&j);
	j.bad |= *j.p != '\0';
	if (j.bad)
		fprintf(stderr, "not JSON at: %.60s\n", j.p);
	return j;
}

/* Whether 'text' is one JSON value and nothing else. */
static inline int
json_valid(const char *text)
{
	return text && !json_read(text, NULL).bad;
}

/*
 * Whether the value at 'path' is written exactly as 'expected': "3", "null",
 * "\"text\"".  A path that is not there, or there twice, is not.
 */
static inline int
json_is(const char *text, const char *path, const char *expected)
{
	struct json_check j = json_read(text, path);

	if (!j.bad && j.n_matches == 1 && j.n_found == strlen(expected) &&
	    memcmp(j.found, expected, j.n_found) == 0)
		return 1;
	fprintf(stderr, "%s is %.*s (%zu matches), expected %s\n", path,
		(int)j.n_found, j.found ? j.found : "", j.n_matches, expected);
	return 0;
}

/* Whether there is any value, null included, at 'path'. */
static inline int
json_has(const char *text, const char *path)
{
	struct json_check j = json_read(text, path);

	return !j.bad && j.n_matches == 1;
}

/* The number at 'path'; NaN when there is none. */
static inline double
json_number_at(const char *text, const char *path)
{
	struct json_check j = json_read(text, path);

	if (j.bad || j.n_matches != 1 || strchr("{[\"tfn", *j.found))
		return (double)NAN;
	return strtod(j.found, NULL);
}

#endif
