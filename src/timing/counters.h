/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - which hardware counters this process may read. */
#ifndef SL_COUNTERS_H
#define SL_COUNTERS_H

#include "base/arena.h"
#include "timing/counter_names.h"
#include "sleuth/profiling.h"

/* What a counter says: below 'enabled' in 'running' where the kernel let it
 * take turns with others. */
struct sl__counter_reading {
	uint64_t value;
	uint64_t enabled_ns, running_ns; /* its thread ran; it counted */
};

enum { SL__PARANOID_UNKNOWN = -100 };

/*
 * Where counters come from.  Each function returns minus the error number
 * where it fails; each may be called by several threads at once.
 */
struct sl__counter_backend {
	/* One that counts the calling thread in user mode, from now on; its
	 * handle. */
	int (*open)(const struct sl__counter_code *code, void *ctx);
	/* 0; any thread may ask. */
	int (*read)(int handle, struct sl__counter_reading *out, void *ctx);
	void (*close)(int handle, void *ctx);
	void *ctx;
	int paranoid; /* kernel.perf_event_paranoid, or ..._UNKNOWN */
};

/* The kernel's own. */
void sl__counter_backend_kernel(struct sl__counter_backend *out);

/* Why a counter could not be opened, in words for the user, from 'arena'
 * where they are made; NULL: out of memory.  'error' is positive. */
const char *sl__counter_open_error_text(int error, int paranoid,
					struct sl__arena *arena);

/* The counter with which an event is counted here. */
struct sl__counter_choice {
	struct sl__counter_code code; /* where absent is NULL */
	const char *absent;           /* why there is none */
};

/*
 * Tries, for each event, counters that would do, by the tables of libpfm4 and
 * the kernel's general names, and settles for the first that opens.  None
 * stays open.  A refusal is no failure; where cycles are refused, nothing else
 * is tried.
 */
enum sl_status sl__counters_choose(struct sl__counter_choice out[SL_N_EVENTS],
				   const struct sl__counter_backend *source,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/* All events, and for those that cannot be counted why.  A NULL 'source' asks
 * the kernel. */
enum sl_status sl__counters_list(const struct sl_counter **out, size_t *n,
				 const struct sl__counter_backend *source,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

#endif
