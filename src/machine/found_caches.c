/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found_caches.c - the ladder of this machine: measured once, then recalled.
 *
 * The file holds the ladder itself, not what it says, so that a better way to
 * read ladders needs no new measurement.  Its first line has the version of
 * the format and a hash of everything below.
 */
#include "machine/found_caches.h"
#include "base/buf.h"
#include "base/cache_file.h"
#include "base/hash.h"
#include "base/status.h"
#include "machine/rig.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum {
	SMALLEST_BYTES = 8192,
	STREAMED_MOST = 1 << 29,
	CHASED_MOST = 1 << 27,
	LINE_BYTES = 64, /* of a chase: a larger line costs a hit */
	REPEATS = 3,     /* apart in time: what neighbours take changes */
	SIZES_MOST = 64,
	MEMORY_SHARE = 8
};

static const double PROBE_S = 0.5e-3;

/* As it was measured.  Random access is measured up to fewer sizes than
 * streams: its cycles take long to build. */
struct sl__cache_ladder {
	double *sizes_bytes; /* [n_sizes] */
	size_t n_sizes, n_chased, n_repeats;
	double *latency_ns; /* [n_repeats][n_chased] */
	double *s_per_byte; /* [n_repeats][n_sizes] */
};

/* Counts are set; the columns are made. */
static enum sl_status
make_columns(struct sl__cache_ladder *l, struct sl__arena *arena,
	     struct sl_error *err)
{
	l->sizes_bytes = sl__arena_array(arena, l->n_sizes + 1, sizeof(double));
	l->latency_ns = sl__arena_array(arena, l->n_repeats * l->n_chased + 1,
					sizeof(double));
	l->s_per_byte = sl__arena_array(arena, l->n_repeats * l->n_sizes + 1,
					sizeof(double));
	return l->sizes_bytes && l->latency_ns && l->s_per_byte
		       ? SL_OK
		       : sl__fail_nomem(err);
}

/* A whole cycle before it is timed: any less leaves the lines cold that come
 * next. */
static void
chase(struct sl__cache_ladder *out, struct sl__rig *rig, size_t r, size_t i)
{
	size_t n_lines = (size_t)out->sizes_bytes[i] / LINE_BYTES;
	double ns;

	sl__rig_chase_grow(rig, 1, n_lines);
	ns = sl__rig_run_chase(rig, 1, n_lines);
	out->latency_ns[r * out->n_chased + i] =
		sl__rig_run_chase(rig, 1, 1 + (size_t)(PROBE_S * 1e9 / ns));
}

static void
stream(struct sl__cache_ladder *out, struct sl__rig *rig, size_t r, size_t i)
{
	size_t size = (size_t)out->sizes_bytes[i];
	struct sl__stream_range range = {.access = SL_ACCESS_LOAD,
					 .size_bytes = size,
					 .chunk_bytes = size,
					 .n_repeats = 1 + (1 << 20) / size};
	double s = (double)size / sl__rig_run_stream(rig, &range, 1);

	if (PROBE_S / s > (double)range.n_repeats)
		range.n_repeats = (size_t)(PROBE_S / s);
	out->s_per_byte[r * out->n_sizes + i] =
		1 / sl__rig_run_stream(rig, &range, 1);
}

/* Two sizes an octave. */
static enum sl_status
climb(struct sl__cache_ladder *out, struct sl__rig *rig, size_t most_bytes,
      struct sl__arena *arena, struct sl_error *err)
{
	double sizes[SIZES_MOST];
	enum sl_status rc;

	for (; out->n_sizes < SIZES_MOST; out->n_sizes++) {
		double size = SMALLEST_BYTES * exp2((double)out->n_sizes / 2);

		if (size > (double)most_bytes + 1)
			break;
		sizes[out->n_sizes] =
			(double)((size_t)(size + 0.5) & ~(size_t)255);
		out->n_chased += size <= CHASED_MOST + 1;
	}
	rc = make_columns(out, arena, err);
	if (rc)
		return rc;
	memcpy(out->sizes_bytes, sizes, out->n_sizes * sizeof(*sizes));
	for (size_t r = 0; r < out->n_repeats; r++) {
		sl__rig_chase_start(rig, LINE_BYTES);
		for (size_t i = 0; i < out->n_chased; i++)
			chase(out, rig, r, i);
		for (size_t i = 0; i < out->n_sizes; i++)
			stream(out, rig, r, i);
	}
	return SL_OK;
}

static enum sl_status
judge(struct sl__found_caches *out, const struct sl__cache_ladder *l,
      struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__ladder_curve latency = {l->sizes_bytes, l->n_chased,
						 l->n_repeats, l->latency_ns};
	const struct sl__ladder_curve streams = {l->sizes_bytes, l->n_sizes,
						 l->n_repeats, l->s_per_byte};

	return sl__cache_ladder_find(out, &latency, &streams, arena, err);
}

static void
write_numbers(struct sl_buf *out, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sl__buf_format(out, "%.6g%c", x[i], i + 1 < n ? ' ' : '\n');
}

/* What cannot be kept is measured again. */
static void
save(const char *path, const struct sl__cache_ladder *l)
{
	struct sl_buf body = {0}, text = {0};

	sl__buf_format(&body, "%zu %zu %zu\n", l->n_sizes, l->n_chased,
		       l->n_repeats);
	write_numbers(&body, l->sizes_bytes, l->n_sizes);
	write_numbers(&body, l->latency_ns, l->n_repeats * l->n_chased);
	write_numbers(&body, l->s_per_byte, l->n_repeats * l->n_sizes);
	if (body.data) {
		sl__buf_format(&text, "sleuth-caches 1 %016" PRIx64 "\n",
			       sl__hash(body.data, body.n_bytes, 0));
		sl__buf_add(&text, body.data, body.n_bytes);
	}
	if (!sl__buf_status(&body, NULL) && !sl__buf_status(&text, NULL))
		(void)!sl__cache_write(path, text.data, text.n_bytes, NULL);
	sl_buf_release(&body);
	sl_buf_release(&text);
}

static const char *
read_numbers(const char *at, double *x, size_t n)
{
	for (size_t i = 0; at && i < n; i++) {
		char *end;

		x[i] = strtod(at, &end);
		at = end > at && x[i] > 0 ? end : NULL;
	}
	return at;
}

/* SL_E_ABSENT for anything but a whole file of this format. */
static enum sl_status
parse(struct sl__cache_ladder *out, const char *text, struct sl__arena *arena,
      struct sl_error *err)
{
	const char *body = strchr(text, '\n');
	double counts[3] = {0};
	char first[64];
	enum sl_status rc;

	if (!body)
		return SL_E_ABSENT;
	body++;
	snprintf(first, sizeof(first), "sleuth-caches 1 %016" PRIx64 "\n",
		 sl__hash(body, strlen(body), 0));
	if (strncmp(text, first, strlen(first)) != 0)
		return SL_E_ABSENT;
	body = read_numbers(body, counts, 3);
	if (!body || counts[0] > SIZES_MOST || counts[1] > counts[0] ||
	    counts[2] > REPEATS)
		return SL_E_ABSENT;
	*out = (struct sl__cache_ladder){.n_sizes = (size_t)counts[0],
					 .n_chased = (size_t)counts[1],
					 .n_repeats = (size_t)counts[2]};
	rc = make_columns(out, arena, err);
	if (rc)
		return rc;
	body = read_numbers(body, out->sizes_bytes, out->n_sizes);
	body = read_numbers(body, out->latency_ns,
			    out->n_repeats * out->n_chased);
	body = read_numbers(body, out->s_per_byte,
			    out->n_repeats * out->n_sizes);
	return body ? SL_OK : SL_E_ABSENT;
}

static enum sl_status
recall(struct sl__cache_ladder *out, const char *path, struct sl__arena *arena,
       struct sl_error *err)
{
	struct sl_buf text = {0};
	enum sl_status rc = sl__cache_read(&text, path, NULL);

	rc = rc || !text.data ? SL_E_ABSENT : parse(out, text.data, arena, err);
	sl_buf_release(&text);
	return rc;
}

static enum sl_status
measure(struct sl__cache_ladder *out,
	const struct sl__found_caches_options *how, struct sl__arena *arena,
	struct sl_error *err)
{
	size_t most = how->memory_bytes / MEMORY_SHARE;
	struct sl__rig rig;
	enum sl_status rc;

	if (!how->memory_bytes)
		return sl__fail(err, SL_E_ABSENT,
				"the caches are not measured yet");
	if (most > STREAMED_MOST)
		most = STREAMED_MOST;
	if (most < SMALLEST_BYTES)
		most = SMALLEST_BYTES;
	*out = (struct sl__cache_ladder){.n_repeats = how->is_quick ? 1
								    : REPEATS};
	rc = sl__rig_open(&rig, 1, &most, arena, err);
	if (!rc)
		rc = climb(out, &rig, most, arena, err);
	sl__rig_close(&rig);
	return rc;
}

enum sl_status
sl__found_caches_get(struct sl__found_caches *out,
		     const struct sl__found_caches_options *how,
		     struct sl__arena *arena, struct sl_error *err)
{
	char folder[SL__CACHE_PATH], path[SL__CACHE_PATH] = "";
	struct sl__cache_ladder ladder = {.n_sizes = 0};
	enum sl_status rc = SL_E_ABSENT;
	int n;

	if (!sl__cache_folder(folder, how->cache_folder, NULL)) {
		n = snprintf(path, sizeof(path), "%s/caches-%s.txt", folder,
			     how->fingerprint);
		if (n >= SL__CACHE_PATH)
			path[0] = '\0';
	}
	if (path[0] && !how->fresh)
		rc = recall(&ladder, path, arena, err);
	if (rc == SL_E_ABSENT) {
		rc = measure(&ladder, how, arena, err);
		if (!rc && path[0] && !how->is_quick)
			save(path, &ladder);
	}
	return rc ? rc : judge(out, &ladder, arena, err);
}

size_t
sl__found_caches_as_rows(struct sl_cache *out,
			 const struct sl_found_cache *found, size_t n_found,
			 const struct sl_machine *shown, size_t n_cpus)
{
	for (size_t i = 0; i < n_found; i++) {
		const struct sl_found_cache *f = &found[i];

		out[i] = (struct sl_cache){
			.level = (unsigned)f->level,
			.kind = SL_CACHE_UNIFIED,
			.line_bytes = LINE_BYTES,
			.n = i + 1 < n_found ? n_cpus : 1,
			.n_sharing = i + 1 < n_found ? 1 : n_cpus};
		for (size_t k = 0; k < shown->n_caches; k++) {
			const struct sl_cache *c = &shown->caches[k];

			if (c->level == out[i].level &&
			    c->kind != SL_CACHE_INSTRUCTION)
				out[i] = *c;
		}
		out[i].size_bytes =
			(size_t)fmax(f->latency.bytes, f->stream.bytes);
	}
	return n_found;
}
