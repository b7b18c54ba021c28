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
sl__hardware_dtype(const struct sl_hardware *h, enum sl_dtype dtype)
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
};

static enum sl_status
refuse_line(const struct reader *r, const char *what)
{
	return sl__fail(r->err, SL_E_DATA, "%s: line %zu: %s", r->id,
			r->n_lines, what);
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

static enum sl_status
read_figure(struct reader *r, char *key, char *line)
{
	char *dtype = strcmp(key, "peak") ? NULL : next_word(&line);
	char *value = next_word(&line);
	double *figure = figure_named(r, key, dtype ? dtype : "");

	if (!figure)
		return refuse_line(r, "must be name, kind, peak TYPE, "
				      "bandwidth, memory or price");
	if (!value || !sl_quantity_read(figure, value))
		return refuse_line(r, "not a figure such as 66.9T or 80G");
	line += strspn(line, " \t");
	if (*line)
		sl__buf_format(&r->sources, "%s%s%s%s: %s",
			       r->sources.n_bytes ? "; " : "", key,
			       dtype ? " " : "", dtype ? dtype : "", line);
	return SL_OK;
}

static enum sl_status
read_line(struct reader *r, char *line)
{
	char *key;

	r->n_lines++;
	line[strcspn(line, "#\r")] = '\0';
	key = next_word(&line);
	if (!key)
		return SL_OK;
	if (!strcmp(key, "name") || !strcmp(key, "kind")) {
		const char *copy =
			sl__arena_string(r->arena, line + strspn(line, " \t"));

		if (!copy)
			return sl__fail_nomem(r->err);
		*(*key == 'n' ? &r->h->name : &r->h->kind) = copy;
		return SL_OK;
	}
	return read_figure(r, key, line);
}

/* What every description must say. */
static enum sl_status
check_description(const struct reader *r)
{
	int has_peak = 0;

	for (int d = 1; d < SL_N_DTYPES; d++)
		has_peak = has_peak || r->h->peak_ops_per_s[d] > 0;
	if (!has_peak)
		return sl__fail(r->err, SL_E_DATA, "%s: no peak is given",
				r->id);
	if (!(r->h->bandwidth_bytes_per_s > 0))
		return sl__fail(r->err, SL_E_DATA, "%s: no bandwidth is given",
				r->id);
	return SL_OK;
}

static enum sl_status
begin(struct reader *r, const char *id, struct sl_error *err)
{
	memset(r, 0, sizeof(*r));
	r->err = err;
	r->id = id;
	r->h = sl__boxed_new(&r->arena, NULL, sizeof(*r->h));
	if (!r->h)
		return sl__fail_nomem(err);
	r->h->price_per_hour = (double)NAN;
	r->h->id = r->h->name = sl__arena_string(r->arena, id);
	r->h->kind = "machine";
	return r->h->id ? SL_OK : sl__fail_nomem(err);
}

/* Hands the description over, or frees it. */
static enum sl_status
end(struct reader *r, struct sl_hardware **out, enum sl_status rc)
{
	if (!rc)
		rc = check_description(r);
	if (!rc)
		rc = sl__buf_status(&r->sources, r->err);
	if (!rc) {
		r->h->source = sl__arena_string(
			r->arena, r->sources.data ? r->sources.data : "");
		if (!r->h->source)
			rc = sl__fail_nomem(r->err);
	}
	sl_buf_release(&r->sources);
	if (rc)
		sl_hardware_free(r->h);
	else
		*out = r->h;
	return rc;
}

enum sl_status
sl__hardware_read(struct sl_hardware **out, const char *id, const char *text,
		  struct sl_error *err)
{
	struct reader r;
	enum sl_status rc;
	char line[512];

	*out = NULL;
	rc = begin(&r, id, err);
	while (!rc && *text) {
		size_t n = strcspn(text, "\n");

		if (n >= sizeof(line)) {
			r.n_lines++;
			rc = refuse_line(&r, "is longer than 511 letters");
			break;
		}
		memcpy(line, text, n);
		line[n] = '\0';
		text += n + (text[n] == '\n');
		rc = read_line(&r, line);
	}
	return end(&r, out, rc);
}

/* "peak=100G,bandwidth=50G": keys as in a file, or peak.int8. */
static enum sl_status
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
		return sl__fail(r->err, SL_E_USAGE,
				"'%.*s': must be like peak=100G, peak.int8=2T, "
				"bandwidth=50G, memory=16G or price=1.5",
				(int)n, pair);
	return SL_OK;
}

static enum sl_status
read_words(struct sl_hardware **out, const char *words, struct sl_error *err)
{
	struct reader r;
	enum sl_status rc = begin(&r, words, err);

	while (!rc && *words) {
		size_t n = strcspn(words, ",");

		rc = read_pair(&r, words, n);
		words += n + (words[n] == ',');
	}
	if (!rc)
		sl__buf_text(&r.sources, "given by the user");
	return end(&r, out, rc);
}

static enum sl_status
read_file(struct sl_hardware **out, const char *id, const char *path,
	  struct sl_error *err)
{
	struct sl_buf text = {0};
	enum sl_status rc = sl__file_read(&text, path, FILE_MOST, err);

	if (!rc)
		rc = sl__hardware_read(out, id, text.data ? text.data : "",
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
	sl__boxed_free(h);
}

static int
compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The id of a file "ID.hw" in the arena; NULL for other files. */
static enum sl_status
take_id(struct sl__arena *arena, const char *name, const char **out,
	struct sl_error *err)
{
	size_t n = strlen(name);

	*out = NULL;
	if (n <= 3 || strcmp(name + n - 3, ".hw") != 0)
		return SL_OK;
	*out = sl__arena_format(arena, "%.*s", (int)(n - 3), name);
	return *out ? SL_OK : sl__fail_nomem(err);
}

/* Fills 'ids' with what is in the folder, unsorted. */
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
		rc = take_id(arena, entry->d_name, &ids[list->n], err);
		list->n += ids[list->n] != NULL;
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
		sl__boxed_new(&arena, NULL, sizeof(*list));
	const char **ids;
	enum sl_status rc;

	*out = NULL;
	if (!list)
		return sl__fail_nomem(err);
	ids = sl__arena_array(arena, IDS_MOST, sizeof(*ids));
	rc = ids ? read_folder(list, ids, folder, arena, err)
		 : sl__fail_nomem(err);
	if (rc || !ids) {
		sl__boxed_free(list);
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
	sl__boxed_free(list);
}
