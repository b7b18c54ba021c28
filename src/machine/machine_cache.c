/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_cache.c - ceilings kept in a file.
 *
 * Lines of words, in a fixed order, and a checksum over all of them at the
 * end.  A reader that meets anything else gives up: measuring again costs
 * seconds, a wrong ceiling costs trust.  The first line carries the version
 * of the format and of what is measured; it is raised when either changes.
 */
#include "machine/machine_cache.h"
#include "base/buf.h"
#include "base/cache_file.h"
#include "base/hash.h"
#include "base/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum {
	VERSION = 5,
	MAX_ROWS = 1 << 16 /* far above 64 thread counts of 128 sizes */
};

static int
path_of(char path[SL__CACHE_PATH], const struct sl_machine *m,
	const char *folder)
{
	return snprintf(path, SL__CACHE_PATH, "%s/machine-%s.txt", folder,
			m->fingerprint) < SL__CACHE_PATH;
}

/* Writing. */

static void
write_estimate(struct sl_buf *out, const struct sl_estimate *e)
{
	sl__buf_format(out, " %.17g %.17g %.17g %zu %zu %d", e->value, e->lo,
		       e->hi, e->n, e->needs_n, (int)e->method);
}

/* The free text of a row comes last, for it may hold spaces. */
static void
write_rows(struct sl_buf *out, const struct sl_machine *m)
{
	sl__buf_format(out, "peaks %zu\n", m->n_peaks);
	for (size_t i = 0; i < m->n_peaks; i++) {
		const struct sl_peak *p = &m->peaks[i];

		sl__buf_format(out, "%d %zu %zu %d", (int)p->dtype, p->n_bits,
			       p->n_threads, p->is_hidden);
		write_estimate(out, &p->ops_per_s);
		sl__buf_format(out, " %s|%s\n", p->isa,
			       p->absent ? p->absent : "");
	}
	sl__buf_format(out, "levels %zu\n", m->n_levels);
	for (size_t i = 0; i < m->n_levels; i++) {
		const struct sl_memory_level *l = &m->levels[i];

		sl__buf_format(out, "%d %zu %zu %zu %.17g", (int)l->access,
			       l->n_threads, l->from_bytes, l->to_bytes,
			       l->traffic_per_byte);
		write_estimate(out, &l->value);
		sl__buf_format(out, " %s\n", sl_level_text(l->level));
	}
	sl__buf_format(out, "points %zu\n", m->n_points);
	for (size_t i = 0; i < m->n_points; i++) {
		const struct sl_memory_point *p = &m->points[i];

		sl__buf_format(out, "%d %zu %zu %.17g\n", (int)p->access,
			       p->n_threads, p->size_bytes, p->value);
	}
}

enum sl_status
sl__machine_cache_save(const struct sl_machine *m, const char *folder,
		       struct sl_error *err)
{
	struct sl_buf text = {0};
	char path[SL__CACHE_PATH];
	enum sl_status rc;

	if (!path_of(path, m, folder))
		return sl__fail(err, SL_E_IO, "%s: name too long", folder);
	sl__buf_format(&text, "sleuth-machine %d\nfingerprint %s\n", VERSION,
		       m->fingerprint);
	sl__buf_format(&text, "threads %zu\npasses %zu\n", m->max_threads,
		       m->n_passes);
	sl__buf_format(&text, "elapsed %.17g\nmeasured %.17g\n", m->elapsed_s,
		       m->measured_at_s);
	sl__buf_format(&text, "pages %s|%s\n",
		       m->buffer_pages.value ? m->buffer_pages.value : "",
		       m->buffer_pages.absent ? m->buffer_pages.absent : "");
	write_rows(&text, m);
	if (text.data)
		sl__buf_format(&text, "end %016" PRIx64 "\n",
			       sl__hash(text.data, text.n_bytes, 0));
	rc = sl__buf_status(&text, err);
	if (rc)
		goto out;
	rc = sl__cache_write(path, text.data, text.n_bytes, err);
out:
	sl_buf_release(&text);
	return rc;
}

/* Reading.  A failure sticks; all numbers after it are 0. */

struct parser {
	const char *at;
	struct sl__arena *arena;
	int failed;
	int out_of_memory;
};

static char *
keep(struct parser *p, const char *text, size_t n)
{
	char *copy = sl__arena_alloc(p->arena, n + 1);

	if (copy)
		memcpy(copy, text, n);
	p->out_of_memory |= !copy;
	return copy;
}

static void
expect(struct parser *p, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(p->at, text, n) != 0)
		p->failed = 1;
	if (!p->failed)
		p->at += n;
}

static double
number(struct parser *p)
{
	char *end;
	double value;

	if (p->failed || *p->at == '\n' || *p->at == '\0') {
		p->failed = 1;
		return 0;
	}
	value = strtod(p->at, &end);
	p->failed |= end == p->at || (*end != ' ' && *end != '\n');
	if (!p->failed)
		p->at = end + (*end == ' ');
	return p->failed ? 0 : value;
}

/* A whole number from 0 to 'most', which a double holds exactly. */
static size_t
whole(struct parser *p, double most)
{
	double value = number(p);

	if (!(value >= 0 && value <= most && value <= floor(value)))
		p->failed = 1;
	return p->failed ? 0 : (size_t)value;
}

/* Up to 'until', which is skipped; NULL for nothing. */
static const char *
words(struct parser *p, char until)
{
	const char *end = strchr(p->at, until);
	const char *text = NULL;

	if (p->failed || !end || memchr(p->at, '\n', (size_t)(end - p->at))) {
		p->failed = 1;
		return NULL;
	}
	if (end > p->at)
		text = keep(p, p->at, (size_t)(end - p->at));
	p->at = end + 1;
	return text;
}

static const double MOST_BYTES = 9007199254740992.0; /* 2^53 */

static struct sl_estimate
estimate(struct parser *p)
{
	struct sl_estimate e;

	e.value = number(p);
	e.lo = number(p);
	e.hi = number(p);
	e.n = whole(p, MOST_BYTES);
	e.needs_n = whole(p, MOST_BYTES);
	e.method = (enum sl_method)whole(p, SL_METHOD_SIGN);
	return e;
}

/* "name N\n", then storage for N rows. */
static void *
rows(struct parser *p, const char *name, size_t *n, size_t n_bytes)
{
	void *storage;

	expect(p, name);
	expect(p, " ");
	*n = whole(p, MAX_ROWS);
	expect(p, "\n");
	storage = sl__arena_array(p->arena, *n, n_bytes);
	p->out_of_memory |= !storage;
	return storage;
}

static void
parse_peaks(struct parser *p, struct sl_machine *m)
{
	struct sl_peak *r = rows(p, "peaks", &m->n_peaks, sizeof(*r));

	m->peaks = r;
	for (size_t i = 0; r && i < m->n_peaks && !p->failed; i++) {
		r[i].dtype = (enum sl_dtype)whole(p, SL_N_DTYPES - 1);
		r[i].n_bits = whole(p, MOST_BYTES);
		r[i].n_threads = whole(p, MOST_BYTES);
		r[i].is_hidden = whole(p, 1) > 0;
		r[i].ops_per_s = estimate(p);
		r[i].isa = words(p, '|');
		r[i].absent = words(p, '\n');
		if (!r[i].isa || (!r[i].absent && !(r[i].ops_per_s.value > 0)))
			p->failed = 1;
	}
}

/* Up to the end of the line. */
static enum sl_level
level(struct parser *p)
{
	const char *name = words(p, '\n');

	for (int i = SL_LEVEL_NONE; name && i < SL_N_LEVELS; i++) {
		if (!strcmp(sl_level_text((enum sl_level)i), name))
			return (enum sl_level)i;
	}
	p->failed = 1;
	return SL_LEVEL_NONE;
}

static void
parse_levels(struct parser *p, struct sl_machine *m)
{
	struct sl_memory_level *r = rows(p, "levels", &m->n_levels, sizeof(*r));

	m->levels = r;
	for (size_t i = 0; r && i < m->n_levels && !p->failed; i++) {
		r[i].access = (enum sl_access)whole(p, SL_ACCESS_CHASE);
		r[i].n_threads = whole(p, MOST_BYTES);
		r[i].from_bytes = whole(p, MOST_BYTES);
		r[i].to_bytes = whole(p, MOST_BYTES);
		r[i].traffic_per_byte = number(p);
		r[i].value = estimate(p);
		r[i].level = level(p);
		if (!(r[i].value.value > 0))
			p->failed = 1;
	}
}

static void
parse_points(struct parser *p, struct sl_machine *m)
{
	struct sl_memory_point *r = rows(p, "points", &m->n_points, sizeof(*r));

	m->points = r;
	for (size_t i = 0; r && i < m->n_points && !p->failed; i++) {
		r[i].access = (enum sl_access)whole(p, SL_ACCESS_CHASE);
		r[i].n_threads = whole(p, MOST_BYTES);
		r[i].size_bytes = whole(p, MOST_BYTES);
		r[i].value = number(p);
		expect(p, "\n");
	}
}

static void
parse_all(struct parser *p, struct sl_machine *m)
{
	expect(p, "fingerprint ");
	expect(p, m->fingerprint);
	expect(p, "\nthreads ");
	m->max_threads = whole(p, MOST_BYTES);
	expect(p, "\npasses ");
	m->n_passes = whole(p, MOST_BYTES);
	expect(p, "\nelapsed ");
	m->elapsed_s = number(p);
	expect(p, "\nmeasured ");
	m->measured_at_s = number(p);
	p->failed |= !isfinite(m->elapsed_s) || !isfinite(m->measured_at_s);
	expect(p, "\npages ");
	m->buffer_pages.value = words(p, '|');
	m->buffer_pages.absent = words(p, '\n');
	parse_peaks(p, m);
	parse_levels(p, m);
	parse_points(p, m);
	expect(p, "end ");
	m->from_cache = 1;
	m->stopped_by = SL_STOP_TIME;
}

/* The version, and a last line that holds the checksum of all before it. */
static enum sl_status
check_frame(const struct sl_buf *text, const char *path, struct sl_error *err)
{
	static const size_t n_last = sizeof("end 0123456789abcdef\n") - 1;
	char first[32], last[32];
	size_t n;

	snprintf(first, sizeof(first), "sleuth-machine %d\n", VERSION);
	if (!text->data || strncmp(text->data, first, strlen(first)) != 0)
		return sl__fail(err, SL_E_DATA, "%s: of another version", path);
	if (text->n_bytes < n_last || strlen(text->data) != text->n_bytes)
		return sl__fail(err, SL_E_DATA, "%s: damaged", path);
	n = text->n_bytes - n_last;
	snprintf(last, sizeof(last), "end %016" PRIx64 "\n",
		 sl__hash(text->data, n, 0));
	if (strcmp(text->data + n, last) != 0)
		return sl__fail(err, SL_E_DATA, "%s: damaged", path);
	return SL_OK;
}

static enum sl_status
parse_file(struct sl_machine *m, const struct sl_buf *text, const char *path,
	   struct sl__arena *arena, struct sl_error *err)
{
	struct parser p = {.arena = arena};
	struct sl_machine read = *m;
	enum sl_status rc;

	rc = check_frame(text, path, err);
	if (rc)
		return rc;
	p.at = strchr(text->data, '\n') + 1;
	parse_all(&p, &read);
	if (p.out_of_memory)
		return sl__fail_nomem(err);
	if (p.failed)
		return sl__fail(err, SL_E_DATA, "%s: malformed", path);
	*m = read;
	return SL_OK;
}

enum sl_status
sl__machine_cache_load(struct sl_machine *m, const char *folder,
		       struct sl__arena *arena, struct sl_error *err)
{
	struct sl_buf text = {0};
	char path[SL__CACHE_PATH];
	enum sl_status rc;

	if (!path_of(path, m, folder))
		return sl__fail(err, SL_E_ABSENT, "%s: name too long", folder);
	rc = sl__cache_read(&text, path, err);
	if (rc)
		goto out;
	rc = parse_file(m, &text, path, arena, err);
out:
	sl_buf_release(&text);
	return rc;
}
