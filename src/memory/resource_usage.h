/* SPDX-License-Identifier: Apache-2.0 */
/* resource_usage.h - what the kernel says a thread and its process use. */
#ifndef SL_RESOURCE_USAGE_H
#define SL_RESOURCE_USAGE_H

#include "sleuth/basics.h"

/*
 * Counters at one moment.  cpu_ns and the faults are of the calling thread,
 * memory is of the process; a figure not asked for is 0.
 */
struct sl__resource_usage {
	uint64_t cpu_ns;
	uint64_t n_minor, n_major;    /* page faults */
	uint64_t resident_bytes;      /* 0: the kernel does not say */
	uint64_t resident_peak_bytes; /* since the process started */
};

/*
 * Resident memory of the process, read in about 1 us from a file that stays
 * open; 0 when the kernel does not say.  Recent kernels count pages per CPU
 * and may lag behind by a few dozen pages for each.
 */
uint64_t sl__resident_bytes(void);

/* The figures that 'flags' (enum sl_scope_flags) ask for. */
void sl__resource_usage_read(struct sl__resource_usage *now, unsigned flags);

/*
 * The largest resident size between two readings: the new high-water mark
 * where it rose, else the larger of the two ends, which is a lower bound.
 */
uint64_t sl__resident_peak_between(const struct sl__resource_usage *before,
				   const struct sl__resource_usage *after);

/* "pages resident ..." of /proc/PID/statm; 1, or 0 when it is malformed. */
int sl__statm_resident_pages(uint64_t *out, const char *statm);

#endif
