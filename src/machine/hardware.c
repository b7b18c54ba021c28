/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hardware.c - machines on paper: their descriptions, from files or words.
 *
 * Descriptions are data, so that a figure can be checked and changed without
 * a compiler; each figure stands beside its source.
 */
#include "machine/hardware.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/dtype.h"
#include "base/file.h"
#include "base/status.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	IDS_MOST = 1024,     /* machines in a folder */
	FILE_MOST = 1 << 16, /* bytes of a description; real ones have 700 */
	PATH_MOST = 4096
};

/* What may stand for a type, the best first; NONE ends it. */
static const enum sl_dtype *
stand_ins(enum sl_dtype dtype)
{
	static const enum sl_dtype for_f64[] = {SL_DTYPE_NONE};
	static const enum sl_dtype for_f32[] = {SL_DTYPE_F64, SL_DTYPE_BF16,
						SL_DTYPE_F16, SL_DTYPE_NONE};
	static const enum sl_dtype for_narrow[] = {SL_DTYPE_F16, SL_DTYPE_BF16,
						   SL_DTYPE_F32, SL_DTYPE_F64,
						   SL_DTYPE_NONE};
	static const enum sl_dtype for_bytes[] = {SL_DTYPE_I8,   SL_DTYPE_F32,
						  SL_DTYPE_F64,  SL_DTYPE_F16,
						  SL_DTYPE_BF16, SL_DTYPE_NONE};
	static const enum sl_dtype for_integers[] = {
		SL_DTYPE_F32,  SL_DTYPE_F64, SL_DTYPE_F16,
		SL_DTYPE_BF16, SL_DTYPE_I8,  SL_DTYPE_NONE};

	if (dtype == SL_DTYPE_F64 || dtype == SL_DTYPE_C128)
		return for_f64;
	if (sl__dtype_family(dtype) == SL__DTYPE_INTEGER)
		return sl_dtype_bits(dtype) <= 8 && dtype != SL_DTYPE_BOOL
			       ? for_bytes
			       : for_integers;
	if (sl__dtype_family(dtype) == SL__DTYPE_FLOAT &&
	    sl_dtype_bits(dtype) < 32)
		return for_narrow;
	return for_f32;
}

enum sl_dtype
sl__hardware_compute_dtype(const struct sl_hardware *h, enum sl_dtype dtype)
{
	const enum sl_dtype *others = stand_ins(dtype);

	/* Complex numbers are two real ones; what has no type is in f32. */
	if (dtype == SL_DTYPE_C128)
		dtype = SL_DTYPE_F64;
	else if (sl__dtype_family(dtype) == SL__DTYPE_OTHER)
		dtype = SL_DTYPE_F32;
	if ((unsigned)dtype < SL_N_DTYPES && h->peak_ops_per_s[dtype] > 0)
		return dtype;
	while (*others && !(h->peak_ops_per_s[*others] > 0))
		others++;
	return *others;
}

struct reader {
	struct sl_hardware *h;
	struct sl__arena *arena;
	struct sl_buf sources;
	const char *id;
	size_t n_lines;
	struct sl_error *err;
	enum sl_status rc; /* of the first failure, after which nothing is
			      read */
};

static void
refuse_line(struct reader *r, const char *what)
{
	r->rc = sl__fail(r->err, SL_E_DATA, "%s: line %zu: %s", r->id,
			 r->n_lines, what);
}

/* A copy of a text; "" after a failure. */
static const char *
keep(struct reader *r, const char *text)
{
	const char *copy = sl__arena_string(r->arena, text);

	if (!copy && !r->rc)
		r->rc = sl__fail_nomem(r->err);
	return copy ? copy : "";
}

/* The next word of a line, ended in place; NULL when there is none. */
static char *
next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");
	size_t n = strcspn(word, " \t");

	if (!*word)
		return NULL;
	*line = word + n + (word[n] != '\0');
	word[n] = '\0';
	return word;
}

static enum sl_dtype
dtype_named(const char *name)
{
	for (int d = 1; d < SL_N_DTYPES; d++) {
		if (!strcmp(sl_dtype_text((enum sl_dtype)d), name))
			return (enum sl_dtype)d;
	}
	return SL_DTYPE_NONE;
}

/* Where a figure of this kind goes; NULL when there is none of that name. */
static double *
figure_named(const struct reader *r, const char *key, const char *dtype)
{
	struct sl_hardware *h = r->h;

	if (!strcmp(key, "peak")) {
		enum sl_dtype d = dtype ? dtype_named(dtype) : SL_DTYPE_F32;

		return d ? &h->peak_ops_per_s[d] : NULL;
	}
	if (!strcmp(key, "bandwidth"))
		return &h->bandwidth_bytes_per_s;
	if (!strcmp(key, "memory"))
		return &h->memory_bytes;
	return strcmp(key, "price") ? NULL : &h->price_per_hour;
}

static void
read_figure(struct reader *r, char *key, char *line)
{
	char *dtype = strcmp(key, "peak") ? NULL : next_word(&line);
	char *value = next_word(&line);
	double *figure = figure_named(r, key, dtype ? dtype : "");

	line += strspn(line, " \t");
	if (!figure)
		refuse_line(r, "must be name, kind, peak TYPE, bandwidth, "
			       "memory or price");
	else if (!value || !sl_quantity_read(figure, value))
		refuse_line(r, "not a figure such as 66.9T or 80G");
	else if (*line)
		sl__buf_format(&r->sources, "%s%s%s%s: %s",
			       r->sources.n_bytes ? "; " : "", key,
			       dtype ? " " : "", dtype ? dtype : "", line);
}

static void
read_line(struct reader *r, char *line)
{
	char *key;

	line[strcspn(line, "#\r")] = '\0';
	key = next_word(&line);
	if (!key)
		return;
	if (!strcmp(key, "name"))
		r->h->name = keep(r, line + strspn(line, " \t"));
	else if (!strcmp(key, "kind"))
		r->h->kind = keep(r, line + strspn(line, " \t"));
	else
		read_figure(r, key, line);
}

/* What every description must say. */
static enum sl_status
check_description(const struct reader *r)
{
	int has_peak = 0;

	for (int d = 1; d < SL_N_DTYPES; d++)
		has_peak = has_peak || r->h->peak_ops_per_s[d] > 0;
	if (!has_peak || !(r->h->bandwidth_bytes_per_s > 0))
		return sl__fail(r->err, SL_E_DATA, "%s: no %s is given", r->id,
				has_peak ? "bandwidth" : "peak");
	return SL_OK;
}

static void
begin(struct reader *r, const char *id, struct sl_error *err)
{
	memset(r, 0, sizeof(*r));
	r->err = err;
	r->id = id;
	r->h = sl__arena_object_new(&r->arena, NULL, sizeof(*r->h));
	if (!r->h) {
		r->rc = sl__fail_nomem(err);
		return;
	}
	r->h->price_per_hour = (double)NAN;
	r->h->id = r->h->name = keep(r, id);
	r->h->kind = "machine";
}

/* Hands the description over, or frees it. */
static enum sl_status
end(struct reader *r, struct sl_hardware **out)
{
	if (!r->rc)
		r->rc = check_description(r);
	if (!r->rc)
		r->rc = sl__buf_status(&r->sources, r->err);
	if (!r->rc)
		r->h->source = keep(r, r->sources.data ? r->sources.data : "");
	sl_buf_release(&r->sources);
	if (r->rc)
		sl_hardware_free(r->h);
	else
		*out = r->h;
	return r->rc;
}

enum sl_status
sl__hardware_parse(struct sl_hardware **out, const char *id, const char *text,
		   struct sl_error *err)
{
	struct reader r;
	char line[512];

	*out = NULL;
	begin(&r, id, err);
	while (!r.rc && *text) {
		size_t n = strcspn(text, "\n");

		r.n_lines++;
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		if (n >= sizeof(line))
			refuse_line(&r, "is longer than 511 letters");
		else
			read_line(&r, line);
		text += n + (text[n] == '\n');
	}
	return end(&r, out);
}

/* "peak=100G,bandwidth=50G": keys as in a file, or peak.int8. */
static void
read_pair(struct reader *r, const char *pair, size_t n)
{
	char text[128], *value, *dtype;
	double *figure;

	snprintf(text, sizeof(text), "%.*s", (int)(n < 127 ? n : 127), pair);
	value = strchr(text, '=');
	if (value)
		*value++ = '\0';
	dtype = strchr(text, '.');
	if (dtype)
		*dtype++ = '\0';
	figure = figure_named(r, text, dtype);
	if (!value || !figure || !sl_quantity_read(figure, value))
		r->rc = sl__fail(r->err, SL_E_USAGE,
				 "'%.*s': must be like peak=100G, "
				 "peak.int8=2T, bandwidth=50G, memory=16G or "
				 "price=1.5",
				 (int)n, pair);
}

static enum sl_status
read_words(struct sl_hardware **out, const char *words, struct sl_error *err)
{
	struct reader r;

	begin(&r, words, err);
	while (!r.rc && *words) {
		size_t n = strcspn(words, ",");

		read_pair(&r, words, n);
		words += n + (words[n] == ',');
	}
	sl__buf_text(&r.sources, "given by the user");
	return end(&r, out);
}

static enum sl_status
read_file(struct sl_hardware **out, const char *id, const char *path,
	  struct sl_error *err)
{
	struct sl_buf text = {0};
	enum sl_status rc = sl__file_read(&text, path, FILE_MOST, err);

	if (!rc)
		rc = sl__hardware_parse(out, id, text.data ? text.data : "",
					err);
	sl_buf_release(&text);
	return rc;
}

enum sl_status
sl_hardware_open(struct sl_hardware **out, const char *folder,
		 const char *words, struct sl_error *err)
{
	size_t n = strlen(words);
	char path[PATH_MOST];

	*out = NULL;
	if (strchr(words, '='))
		return read_words(out, words, err);
	if (strchr(words, '/') || (n > 3 && !strcmp(words + n - 3, ".hw")))
		return read_file(out, words, words, err);
	if (!folder || snprintf(path, sizeof(path), "%s/%s.hw", folder,
				words) >= (int)sizeof(path))
		return sl__fail(err, SL_E_USAGE, "%s: no such machine", words);
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return sl__fail(err, SL_E_USAGE, "%s: no such machine", words);
	return read_file(out, words, path, err);
}

void
sl_hardware_free(struct sl_hardware *h)
{
	sl__arena_object_free(h);
}

static int
compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fills 'ids' with what is in the folder, files "ID.hw", unsorted. */
static enum sl_status
read_folder(struct sl_hardware_list *list, const char **ids, const char *folder,
	    struct sl__arena *arena, struct sl_error *err)
{
	const struct dirent *entry;
	enum sl_status rc = SL_OK;
	DIR *stream = opendir(folder);

	if (!stream)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", folder);
	while (!rc && list->n < IDS_MOST && (entry = readdir(stream))) {
		size_t n = strlen(entry->d_name);

		if (n <= 3 || strcmp(entry->d_name + n - 3, ".hw") != 0)
			continue;
		ids[list->n] = sl__arena_format(arena, "%.*s", (int)(n - 3),
						entry->d_name);
		if (!ids[list->n++])
			rc = sl__fail_nomem(err);
	}
	closedir(stream);
	return rc;
}

enum sl_status
sl_hardware_list(struct sl_hardware_list **out, const char *folder,
		 struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl_hardware_list *list =
		sl__arena_object_new(&arena, NULL, sizeof(*list));
	const char **ids;
	enum sl_status rc;

	*out = NULL;
	if (!list)
		return sl__fail_nomem(err);
	ids = sl__arena_array(arena, IDS_MOST, sizeof(*ids));
	rc = ids ? read_folder(list, ids, folder, arena, err)
		 : sl__fail_nomem(err);
	if (rc || !ids) {
		sl__arena_object_free(list);
		return rc;
	}
	qsort(ids, list->n, sizeof(*ids), compare_ids);
	list->ids = ids;
	*out = list;
	return SL_OK;
}

void
sl_hardware_list_free(struct sl_hardware_list *list)
{
	sl__arena_object_free(list);
}
