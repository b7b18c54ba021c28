/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.c - pinned threads with a buffer each, on which probes run.
 *
 * All members gather, then those a probe needs do their part and the others
 * go back to sleep.  Buffers are mapped, not allocated: they must be aligned
 * to huge pages and be the system's own, untouched by anyone before.
 */
#define _GNU_SOURCE
#include "machine/rig.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "machine/flush.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/banned.h"

enum {
	HUGE_PAGE_BYTES = 1 << 21, /* of x86-64 and of 4 KiB-page ARM */
	ROLLUP_BYTES = 8192,       /* smaps_rollup has some 30 short lines */
	N_GAPS = 2                 /* between the arrays of a triad */
};

struct probe {
	struct sl__rig *rig;
	size_t n_threads;
	const struct sl__peak_kernel *kernel;
	uint64_t n_rounds;
	const struct sl__stream_range *stretch;
	size_t n_lines, n_steps;
};

/* Bytes of this process in huge pages; NaN when the system does not say. */
static double
huge_bytes(void)
{
	struct sl_buf text = {0};
	double kib = (double)NAN;
	const char *at;

	if (sl__file_read(&text, "/proc/self/smaps_rollup", ROLLUP_BYTES,
			  NULL) == SL_OK &&
	    text.data) {
		at = strstr(text.data, "AnonHugePages:");
		if (at)
			kib = strtod(at + strlen("AnonHugePages:"), NULL);
	}
	sl_buf_release(&text);
	return kib * 1024;
}

static void
touch_member(size_t rank, void *ctx)
{
	struct sl__rig *rig = ctx;
	struct sl__rig_member *member = &rig->members[rank];

	memset(member->buffer, 1, member->buffer_bytes);
}

static size_t
whole_huge_pages(size_t n_bytes)
{
	return (n_bytes + HUGE_PAGE_BYTES - 1) & ~(size_t)(HUGE_PAGE_BYTES - 1);
}

/*
 * Maps one huge page more than asked for, so that an aligned stretch lies
 * within, and gives back what lies outside it.
 */
static enum sl_status
map_buffer(struct sl__rig_member *member, size_t n_bytes, struct sl_error *err)
{
	size_t size =
		whole_huge_pages(n_bytes + N_GAPS * SL__STREAM_STEP_BYTES);
	size_t before, mapped = size + HUGE_PAGE_BYTES;
	unsigned char *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return sl__fail(err, SL_E_NOMEM,
				"cannot map %zu bytes to measure memory with",
				n_bytes);
	before = (HUGE_PAGE_BYTES - (uintptr_t)at % HUGE_PAGE_BYTES) %
		 HUGE_PAGE_BYTES;
	if (before)
		munmap(at, before);
	munmap(at + before + size, HUGE_PAGE_BYTES - before);
	member->buffer = at + before;
	member->buffer_bytes = size;
	/* A refusal shows in huge_share. */
	(void)madvise(member->buffer, size, MADV_HUGEPAGE);
	return SL_OK;
}

enum sl_status
sl__rig_open(struct sl__rig *rig, size_t n_members, const size_t *buffer_bytes,
	     struct sl__arena *arena, struct sl_error *err)
{
	double before, total = 0;
	enum sl_status rc;
	char *storage;

	memset(rig, 0, sizeof(*rig));
	storage = sl__arena_array(arena, n_members + 1, sizeof(*rig->members));
	if (!storage)
		return sl__fail_nomem(err);
	storage += (64 - (uintptr_t)storage % 64) % 64;
	rig->members = (struct sl__rig_member *)(void *)storage;
	rig->n_members = n_members;
	rig->streams = sl__stream_kernels_widest();
	for (size_t i = 0; i < n_members; i++) {
		rc = map_buffer(&rig->members[i], buffer_bytes[i], err);
		if (rc)
			return rc;
		total += (double)rig->members[i].buffer_bytes;
	}
	rc = sl__team_new(&rig->team, n_members, &arena->allocator, err);
	if (rc)
		return rc;
	before = huge_bytes();
	sl__team_run(rig->team, touch_member, rig);
	rig->huge_share = (huge_bytes() - before) / total;
	return SL_OK;
}

void
sl__rig_close(struct sl__rig *rig)
{
	sl__team_free(rig->team);
	for (size_t i = 0; i < rig->n_members; i++) {
		struct sl__rig_member *member = &rig->members[i];

		if (member->buffer)
			munmap(member->buffer, member->buffer_bytes);
	}
	memset(rig, 0, sizeof(*rig));
}

/* Seconds from the first start to the last end of a probe. */
static double
span_s(const struct sl__rig *rig, size_t n_threads)
{
	uint64_t first = rig->members[0].start_ns;
	uint64_t last = rig->members[0].end_ns;

	for (size_t i = 1; i < n_threads; i++) {
		if (rig->members[i].start_ns < first)
			first = rig->members[i].start_ns;
		if (rig->members[i].end_ns > last)
			last = rig->members[i].end_ns;
	}
	return last > first ? (double)(last - first) * 1e-9 : 1e-9;
}

static void
peak_member(size_t rank, void *ctx)
{
	struct probe *probe = ctx;
	struct sl__rig_member *member = &probe->rig->members[rank];

	sl__team_barrier(probe->rig->team);
	if (rank >= probe->n_threads)
		return;
	member->start_ns = sl__clock_now_ns(NULL);
	member->sink = probe->kernel->run(probe->n_rounds);
	member->end_ns = sl__clock_now_ns(NULL);
}

double
sl__rig_run_peak(struct sl__rig *rig, const struct sl__peak_kernel *kernel,
		 size_t n_threads, uint64_t n_rounds)
{
	struct probe probe = {.rig = rig,
			      .n_threads = n_threads,
			      .kernel = kernel,
			      .n_rounds = n_rounds};

	sl__team_run(rig->team, peak_member, &probe);
	return (double)n_threads * (double)n_rounds * kernel->ops_per_round /
	       span_s(rig, n_threads);
}

static size_t
whole_steps(size_t n_bytes)
{
	size_t n = n_bytes / SL__STREAM_STEP_BYTES;

	return (n ? n : 1) * SL__STREAM_STEP_BYTES;
}

/*
 * The part of a member's buffer that a stretch names.  Arrays lie one step
 * further apart than they are long: at a power of two, as sizes tend to be,
 * they would use the same banks of DRAM at the same time (a triad is a third
 * slower then on Zen 4).
 */
static struct sl__stream_arrays
arrays_of(const struct sl__rig_member *member,
	  const struct sl__stream_range *stretch)
{
	size_t n_arrays = sl__stream_n_arrays(stretch->access);
	size_t array_bytes = whole_steps(stretch->size_bytes / n_arrays);
	size_t chunk_bytes = whole_steps(stretch->chunk_bytes / n_arrays);
	size_t n_chunks = array_bytes / chunk_bytes;
	size_t pitch = array_bytes + SL__STREAM_STEP_BYTES;
	unsigned char *at =
		member->buffer + stretch->nth % n_chunks * chunk_bytes;

	return (struct sl__stream_arrays){
		.a = (double *)(void *)at,
		.b = (double *)(void *)(at + (n_arrays > 1) * pitch),
		.c = (double *)(void *)(at + (n_arrays - 1) * pitch),
		.n_bytes = chunk_bytes};
}

/* Arrays that are none lie where another one does. */
static void
flush_arrays(const struct sl__stream_arrays *arrays)
{
	(void)sl__flush_cache_lines(arrays->a, arrays->n_bytes);
	if (arrays->b != arrays->a)
		(void)sl__flush_cache_lines(arrays->b, arrays->n_bytes);
	if (arrays->c != arrays->b)
		(void)sl__flush_cache_lines(arrays->c, arrays->n_bytes);
}

static void
stream_member(size_t rank, void *ctx)
{
	struct probe *probe = ctx;
	const struct sl__stream_range *stretch = probe->stretch;
	struct sl__rig_member *member = &probe->rig->members[rank];
	struct sl__stream_arrays arrays = arrays_of(member, stretch);
	sl__stream_function *run = probe->rig->streams->run[stretch->access];
	uint64_t bits = 0;

	if (stretch->is_flushed && rank < probe->n_threads)
		flush_arrays(&arrays);
	sl__team_barrier(probe->rig->team);
	if (rank >= probe->n_threads)
		return;
	member->start_ns = sl__clock_now_ns(NULL);
	for (size_t i = 0; i < stretch->n_repeats; i++)
		bits |= run(&arrays);
	member->end_ns = sl__clock_now_ns(NULL);
	member->work = arrays.n_bytes * sl__stream_n_arrays(stretch->access) *
		       stretch->n_repeats;
	member->sink = (double)bits;
}

double
sl__rig_run_stream(struct sl__rig *rig, const struct sl__stream_range *stretch,
		   size_t n_threads)
{
	struct probe probe = {
		.rig = rig, .n_threads = n_threads, .stretch = stretch};

	sl__team_run(rig->team, stream_member, &probe);
	return (double)n_threads * (double)rig->members[0].work /
	       span_s(rig, n_threads);
}

void
sl__rig_chase_start(struct sl__rig *rig, size_t line_bytes)
{
	for (size_t i = 0; i < rig->n_members; i++)
		sl__chase_init(&rig->members[i].chase, rig->members[i].buffer,
			       line_bytes, i + 1);
}

static void
grow_member(size_t rank, void *ctx)
{
	struct probe *probe = ctx;

	if (rank < probe->n_threads)
		sl__chase_grow(&probe->rig->members[rank].chase,
			       probe->n_lines);
}

void
sl__rig_chase_grow(struct sl__rig *rig, size_t n_threads, size_t n_lines)
{
	struct probe probe = {
		.rig = rig, .n_threads = n_threads, .n_lines = n_lines};

	sl__team_run(rig->team, grow_member, &probe);
}

static void
chase_member(size_t rank, void *ctx)
{
	struct probe *probe = ctx;
	struct sl__rig_member *member = &probe->rig->members[rank];

	sl__team_barrier(probe->rig->team);
	if (rank >= probe->n_threads)
		return;
	member->start_ns = sl__clock_now_ns(NULL);
	member->work = sl__chase_run(&member->chase, probe->n_steps);
	member->end_ns = sl__clock_now_ns(NULL);
}

double
sl__rig_run_chase(struct sl__rig *rig, size_t n_threads, size_t n_steps)
{
	struct probe probe = {
		.rig = rig, .n_threads = n_threads, .n_steps = n_steps};
	double sum_ns = 0;

	sl__team_run(rig->team, chase_member, &probe);
	for (size_t i = 0; i < n_threads; i++) {
		const struct sl__rig_member *member = &rig->members[i];

		sum_ns += (double)(member->end_ns - member->start_ns) /
			  (double)member->work;
	}
	return sum_ns / (double)n_threads;
}
