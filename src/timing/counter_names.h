/* SPDX-License-Identifier: Apache-2.0 */
/* counter_names.h - counters by the names that libpfm4 gives them. */
#ifndef SL_COUNTER_NAMES_H
#define SL_COUNTER_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* How the kernel is asked for a counter: fields of struct perf_event_attr. */
struct sl__counter_code {
	const char *name; /* for the user; lasts as long as the program */
	uint32_t type;
	uint64_t config, config1, config2;
};

/* Whether the build has libpfm4. */
int sl__counter_has_libpfm(void);

/*
 * Encodes those of n names that libpfm4 knows on this CPU, user mode only, in
 * their order; returns how many there are.  Names of other CPUs are simply
 * left out, and without libpfm4 all are.  'names' must last as long as the
 * codes.  Threads may call it at the same time.
 */
size_t sl__counter_encode(struct sl__counter_code *out,
			  const char *const *names, size_t n);

#endif
