/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onnx_exceptions.h - which of ONNX's own cases may fail, release by release.
 *
 * A line of the list is "PATH RELEASES REASON": the minor numbers of the
 * releases of ONNX in whose data the case fails, with commas between them.
 * '#' begins a remark.  Lines of other releases do not count.
 */
#ifndef SL_TEST_ONNX_EXCEPTIONS_H
#define SL_TEST_ONNX_EXCEPTIONS_H

#include "harness.h"

#include <unistd.h>

enum { EXCEPTIONS_MOST = 256, EXCEPTION_MOST = 256 };

struct exception {
	char path[EXCEPTION_MOST];
	int is_seen; /* such a case was run */
};

struct exceptions {
	struct exception lines[EXCEPTIONS_MOST];
	size_t n;
	int n_wrong; /* lines that cannot be read */
};

/* The release whose data the folder holds: the newest of those that are known
 * by a case that the ones before did not have. */
static inline int
onnx_release(const char *root)
{
	static const struct {
		int release;
		const char *first;
	} known[] = {
		{23, "node/test_flexattention"},
		{17, "node/test_ai_onnx_ml_binarizer"},
	};
	char path[1024];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		snprintf(path, sizeof(path), "%.800s/%s", root, known[i].first);
		if (!access(path, F_OK))
			return known[i].release;
	}
	return 12;
}

static inline int
has_release(const char *releases, int release)
{
	for (;; releases++) {
		char *end;

		if (strtol(releases, &end, 10) == release)
			return 1;
		if (*end != ',')
			return 0;
		releases = end;
	}
}

static inline void
exceptions_read(struct exceptions *e, const char *file_name, int release)
{
	FILE *file = fopen(file_name, "r");
	char line[1024], releases[64], reason[2];

	memset(e, 0, sizeof(*e));
	e->n_wrong = !file;
	while (file && fgets(line, sizeof(line), file)) {
		struct exception *x = &e->lines[e->n];

		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (e->n == EXCEPTIONS_MOST ||
		    sscanf(line, "%255s %63[0-9,] %1s", x->path, releases,
			   reason) != 3) {
			print_error("%s: cannot be read: %s", file_name, line);
			e->n_wrong++;
		} else if (has_release(releases, release)) {
			e->n++;
		}
	}
	if (file)
		fclose(file);
}

static inline struct exception *
exceptions_find(struct exceptions *e, const char *path)
{
	for (size_t i = 0; i < e->n; i++) {
		if (!strcmp(e->lines[i].path, path))
			return &e->lines[i];
	}
	return NULL;
}

/* How many name no case that was run; says which. */
static inline int
exceptions_unseen(const struct exceptions *e)
{
	int n = 0;

	for (size_t i = 0; i < e->n; i++) {
		if (e->lines[i].is_seen)
			continue;
		print_error("%s: listed, but there is no such case\n",
			    e->lines[i].path);
		n++;
	}
	return n;
}

#endif
