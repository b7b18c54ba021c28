/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_text.c - the few lines of /proc and /sys that measuring reads.
 *
 * Formats as in the kernel's Documentation/filesystems/proc.rst and
 * Documentation/scheduler/sched-stats.rst.
 */
#include "timing/proc_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

size_t
sl__proc_read_file(const char *path, char *text, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, cap - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Reads a decimal at *at and moves past it; 0 when there is none. */
static int
next_number(uint64_t *out, const char **at)
{
	char *end;

	while (**at == ' ')
		(*at)++;
	if (**at < '0' || **at > '9')
		return 0;
	errno = 0;
	*out = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

int
sl__proc_parse_stat(struct sl__system_times *out, const char *stat)
{
	/* user nice system idle iowait irq softirq steal; guest times that
	 * follow are already in user and nice. */
	uint64_t field[8];
	const char *at = stat + 4;

	if (strncmp(stat, "cpu ", 4) != 0)
		return 0;
	out->total = 0;
	for (int i = 0; i < 8; i++) {
		if (!next_number(&field[i], &at))
			return 0;
		out->total += field[i];
	}
	out->idle = field[3] + field[4];
	out->steal = field[7];
	return 1;
}

int
sl__proc_parse_run_delay(uint64_t *out_ns, const char *schedstat)
{
	uint64_t running_ns;
	const char *at = schedstat;

	return next_number(&running_ns, &at) && next_number(out_ns, &at);
}

int
sl__proc_parse_number(uint64_t *out, const char *text)
{
	const char *at = text;

	return next_number(out, &at);
}
