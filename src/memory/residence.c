/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residence.c - what a stretch of work adds to the memory of the process.
 *
 * smaps_rollup walks the page tables and is exact; status is read where it is
 * missing, whose counters may lag by some dozen pages for each CPU.  The
 * high-water mark can be set back by writing 5 to clear_refs.  Where it
 * cannot, a peak that lies below an older one is not seen, and the larger of
 * what was resident at the ends is a lower bound.
 */
#include "memory/residence.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/pages.h"
#include "base/reading.h"

#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

enum { TEXT_MOST = 1 << 24 };

/* "NAME:   123 kB" at the start of a line, in bytes; 0 where it is not. */
static int
find_kilobytes(double *out, const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		char *end;

		line += *line == '\n';
		if (strncmp(line, name, n) != 0 || line[n] != ':')
			continue;
		*out = strtod(line + n + 1, &end) * 1024;
		return end != line + n + 1;
	}
	return 0;
}

int
sl__memory_from_smaps_rollup(struct sl__memory_snapshot *out, const char *text)
{
	if (!find_kilobytes(&out->resident_bytes, text, "Rss") ||
	    !find_kilobytes(&out->anonymous_bytes, text, "Anonymous"))
		return 0;
	out->file_bytes = out->resident_bytes - out->anonymous_bytes;
	return 1;
}

int
sl__memory_from_proc_status(struct sl__memory_snapshot *out, const char *text)
{
	double shared = 0;

	if (!find_kilobytes(&out->anonymous_bytes, text, "RssAnon") ||
	    !find_kilobytes(&out->file_bytes, text, "RssFile"))
		return 0;
	(void)find_kilobytes(&shared, text, "RssShmem");
	out->file_bytes += shared;
	out->resident_bytes = out->anonymous_bytes + out->file_bytes;
	return 1;
}

/* "START-END rwxp OFFSET 00:00 0" is of no file; smaps says so of each mapping
 * in a line that does not begin with a name and a colon. */
static int
is_code(const char *line)
{
	const char *at = strchr(line, ' ');

	return at && at[3] == 'x' && strstr(at, " 00:00 0") &&
	       strstr(at, " 00:00 0") < strchr(line, '\n');
}

static int
is_mapping(const char *line)
{
	size_t n = strspn(line, "0123456789abcdef");

	return n > 0 && line[n] == '-';
}

double
sl__smaps_jit_code_bytes(const char *text)
{
	int is_inside = 0;
	double sum = 0;

	for (const char *line = text; line && *line;
	     line = strchr(line, '\n')) {
		line += *line == '\n';
		if (is_mapping(line))
			is_inside = is_code(line);
		else if (is_inside && !strncmp(line, "Anonymous:", 10))
			sum += strtod(line + 10, NULL) * 1024;
	}
	return sum;
}

/* In use, whatever else malloc() keeps for later; NaN: it does not say. */
static double
heap_in_use(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	struct mallinfo2 heap = mallinfo2();
	double n_bytes = (double)heap.uordblks + (double)heap.hblkhd;

	/* Nothing at all: another malloc() is in use, as under a sanitizer. */
	return n_bytes > 0 ? n_bytes : (double)NAN;
#else
	return (double)NAN;
#endif
}

static int
read_text(struct sl_buf *text, const char *path)
{
	memset(text, 0, sizeof(*text));
	return !sl__file_read(text, path, TEXT_MOST, NULL) && text->data;
}

/* NULL, or why the kernel does not say. */
static const char *
read_residents(struct sl__memory_snapshot *out)
{
	struct sl_buf rollup, status, maps;
	int is_read;

	memset(out, 0, sizeof(*out));
	out->heap_bytes = heap_in_use();
	out->code_bytes = (double)NAN;
	if (read_text(&maps, "/proc/self/smaps"))
		out->code_bytes = sl__smaps_jit_code_bytes(maps.data);
	sl_buf_release(&maps);
	is_read = read_text(&rollup, "/proc/self/smaps_rollup") &&
		  sl__memory_from_smaps_rollup(out, rollup.data);
	if (read_text(&status, "/proc/self/status")) {
		if (!is_read)
			is_read = sl__memory_from_proc_status(out, status.data);
		(void)find_kilobytes(&out->peak_bytes, status.data, "VmHWM");
	}
	if (out->peak_bytes < out->resident_bytes)
		out->peak_bytes = out->resident_bytes;
	sl_buf_release(&rollup);
	sl_buf_release(&status);
	return is_read ? NULL : "the kernel does not say what is resident";
}

static int
reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	int is_done;

	if (fd < 0)
		return 0;
	is_done = write(fd, "5", 1) == 1;
	close(fd);
	return is_done;
}

static void
take(struct sl__residence *r, struct sl__memory_snapshot *out)
{
	const char *why = read_residents(out);

	if (!r->absent)
		r->absent = why;
}

/* The peak of a stretch that began with 'start' and ended with 'end'. */
static void
take_peak(struct sl__residence *r, const struct sl__memory_snapshot *start,
	  const struct sl__memory_snapshot *end)
{
	double peak = start->resident_bytes;
	/* Without a reset a mark that did not rise is an older one. */
	int is_seen = r->is_peak_reset || end->peak_bytes > start->peak_bytes;

	if (end->resident_bytes > peak)
		peak = end->resident_bytes;
	if (is_seen && end->peak_bytes > peak)
		peak = end->peak_bytes;
	peak -= r->others.resident_bytes;
	if (peak <= r->peak_bytes)
		return;
	r->peak_bytes = peak;
	r->peak_stretch = is_seen ? r->n_pauses : -1;
}

void
sl__residence_begin(struct sl__residence *r)
{
	memset(r, 0, sizeof(*r));
	sl__heap_trim();
	r->is_peak_reset = reset_peak();
	take(r, &r->base);
	r->now = r->base;
}

void
sl__residence_pause(struct sl__residence *r)
{
	take(r, &r->paused);
	take_peak(r, &r->now, &r->paused);
	r->n_pauses++;
}

void
sl__residence_resume(struct sl__residence *r)
{
	int is_reset;

	sl__heap_trim();
	is_reset = reset_peak();
	take(r, &r->now);
	r->is_peak_reset = r->is_peak_reset && is_reset;
	r->others.resident_bytes +=
		r->now.resident_bytes - r->paused.resident_bytes;
	r->others.anonymous_bytes +=
		r->now.anonymous_bytes - r->paused.anonymous_bytes;
	r->others.file_bytes += r->now.file_bytes - r->paused.file_bytes;
	r->others.heap_bytes += r->now.heap_bytes - r->paused.heap_bytes;
	r->others.code_bytes += r->now.code_bytes - r->paused.code_bytes;
}

void
sl__residence_end(struct sl__residence *r)
{
	struct sl__memory_snapshot end;

	take(r, &end);
	take_peak(r, &r->now, &end);
	r->now = end;
}

void
sl__residence_exclude_bytes(struct sl__residence *r, uint64_t n_bytes)
{
	r->others.resident_bytes += (double)n_bytes;
	r->others.anonymous_bytes += (double)n_bytes;
	r->others.heap_bytes += (double)n_bytes;
	r->peak_bytes -= (double)n_bytes;
	/* A peak before they were there did not have them. */
	if (r->peak_bytes < r->now.resident_bytes - r->others.resident_bytes)
		r->peak_bytes =
			r->now.resident_bytes - r->others.resident_bytes;
}

static struct sl_reading
figure(const struct sl__residence *r, double value)
{
	return r->absent ? sl__absent(r->absent) : sl__present(value);
}

struct sl_reading
sl__residence_baseline(const struct sl__residence *r)
{
	return figure(r, r->base.resident_bytes);
}

struct sl_reading
sl__residence_final(const struct sl__residence *r)
{
	return figure(r, r->now.resident_bytes - r->others.resident_bytes);
}

struct sl_reading
sl__residence_anonymous_growth(const struct sl__residence *r)
{
	return figure(r, r->now.anonymous_bytes - r->base.anonymous_bytes -
				 r->others.anonymous_bytes);
}

struct sl_reading
sl__residence_file_growth(const struct sl__residence *r)
{
	return figure(r, r->now.file_bytes - r->base.file_bytes -
				 r->others.file_bytes);
}

struct sl_reading
sl__residence_peak(const struct sl__residence *r)
{
	return figure(r, r->peak_bytes);
}

int
sl__residence_peaked_after_pause(const struct sl__residence *r)
{
	if (r->absent || !r->n_pauses || r->peak_stretch < 0)
		return -1;
	return r->peak_stretch > 0;
}

double
sl__residence_heap_growth(const struct sl__residence *r)
{
	return r->now.heap_bytes - r->base.heap_bytes - r->others.heap_bytes;
}

double
sl__residence_jit_code_growth(const struct sl__residence *r)
{
	return r->now.code_bytes - r->base.code_bytes - r->others.code_bytes;
}

uint64_t
sl__backing_page_size(void)
{
	uint64_t small = (uint64_t)sysconf(_SC_PAGESIZE), large = 0;
	struct sl_buf enabled, size;

	if (read_text(&enabled,
		      "/sys/kernel/mm/transparent_hugepage/enabled") &&
	    !strstr(enabled.data, "[never]") &&
	    read_text(&size,
		      "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size")) {
		large = strtoull(size.data, NULL, 10);
		sl_buf_release(&size);
	}
	sl_buf_release(&enabled);
	return large > small && !(large & (large - 1)) ? large : small;
}
