/* SPDX-License-Identifier: Apache-2.0 */
/* proc_text.h - the few lines of /proc and /sys that measuring reads. */
#ifndef SL_PROC_TEXT_H
#define SL_PROC_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* All CPUs together, in clock ticks since the machine started. */
struct sl__system_times {
	uint64_t total; /* everything, idle and steal included */
	uint64_t idle;  /* idle and waiting for input/output */
	uint64_t steal; /* taken by the hypervisor */
};

/* The beginning of a file, at most cap - 1 bytes, with '\0' behind it; returns
 * their number, 0 where it cannot be read. */
size_t sl__proc_read_file(const char *path, char *text, size_t cap);

/* Each returns 1, or 0 when the text is not what the kernel documents. */
int sl__proc_parse_stat(struct sl__system_times *out, const char *stat);
int sl__proc_parse_run_delay(uint64_t *out_ns, const char *schedstat);
int sl__proc_parse_number(uint64_t *out, const char *text);

#endif
