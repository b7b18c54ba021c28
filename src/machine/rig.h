/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - pinned threads with a buffer each, on which probes run. */
#ifndef SL_RIG_H
#define SL_RIG_H

#include "base/arena.h"
#include "base/thread.h"
#include "machine/chase.h"
#include "machine/peak.h"
#include "machine/stream.h"

/*
 * Invariants: every member owns a buffer that it touched first, aligned to
 * huge pages.  A probe with fewer threads than there are members takes the
 * first ones and leaves the others asleep; it names no more bytes than the
 * smallest buffer among them has.
 */
struct sl__rig {
	struct sl__team *team;
	const struct sl__stream_kernels *streams;
	struct sl__rig_member *members; /* [n_members] */
	size_t n_members;
	double huge_share; /* of the buffers, in huge pages; NaN: unknown */
};

struct sl__rig_member {
	_Alignas(64) unsigned char *buffer; /* no two share a line */
	size_t buffer_bytes;
	struct sl__chase chase;
	uint64_t start_ns, end_ns;
	uint64_t work; /* steps made */
	double sink;   /* keeps results alive */
};

/*
 * Starts n_members threads; member r gets buffer_bytes[r] of memory, in huge
 * pages if the system grants them.  SL_E_NOMEM when it cannot.
 */
enum sl_status sl__rig_open(struct sl__rig *rig, size_t n_members,
			    const size_t *buffer_bytes, struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;
void sl__rig_close(struct sl__rig *rig); /* all zeros is fine */

/*
 * Each runs one probe on the first n_threads members and returns a rate: all
 * work done, over the time from the first start to the last end.
 */

/* Operations a second. */
double sl__rig_run_peak(struct sl__rig *rig,
			const struct sl__peak_kernel *kernel, size_t n_threads,
			uint64_t n_rounds);

/* What each thread touches, and how much of it in one probe. */
struct sl__stream_range {
	enum sl_access access;
	size_t size_bytes;  /* of all arrays together */
	size_t chunk_bytes; /* of all arrays; at most size_bytes */
	size_t nth;         /* chunk, counted round and round the arrays */
	size_t n_repeats;   /* of the chunk */
	int is_flushed;     /* first, so that it comes from memory; where a
			       program may do that */
};

/* Bytes a second that the program names. */
double sl__rig_run_stream(struct sl__rig *rig,
			  const struct sl__stream_range *stretch,
			  size_t n_threads);

/* Makes every member's chase start over, with a cycle of one line. */
void sl__rig_chase_start(struct sl__rig *rig, size_t line_bytes);

/* Makes the cycles of n_threads members n_lines long, outside any probe. */
void sl__rig_chase_grow(struct sl__rig *rig, size_t n_threads, size_t n_lines);

/* Nanoseconds a load, the mean of n_threads chases side by side. */
double sl__rig_run_chase(struct sl__rig *rig, size_t n_threads, size_t n_steps);

#endif
