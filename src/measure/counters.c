/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - which hardware counters this process may read.
 *
 * The only sure way to know is to open them.  The error numbers of
 * perf_event_open(2) are translated here, since they mean more than their
 * usual text says.
 */
#define _GNU_SOURCE
#include "counters.h"
#include "status.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

static const struct {
	const char *name;
	uint64_t event;
} events[] = {
	{"cycles", PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
};

static int
open_in_kernel(uint64_t event, void *ctx)
{
	struct perf_event_attr attr;
	long fd;

	(void)ctx;
	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_HARDWARE;
	attr.size = sizeof(attr);
	attr.config = event;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0ul);
	return fd < 0 ? -errno : (int)fd;
}

/* Why an event could not be opened, as perf_event_open(2) has it. */
static const char *
reason_for(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "the CPU does not offer it (usual in a virtual machine)";
	case EACCES:
	case EPERM:
		return "not permitted: kernel.perf_event_paranoid or the "
		       "sandbox forbids it";
	case ENOSYS:
		return "the kernel has no perf_event_open, or the sandbox "
		       "hides it";
	case EBUSY:
		return "another program holds the counters";
	case EMFILE:
	case ENFILE:
		return "no file descriptor is left";
	default:
		return NULL;
	}
}

enum sl_status
sl__counters_list(const struct sl_counter **out, size_t *n,
		  sl__counter_opener *open, void *ctx, struct sl__arena *arena,
		  struct sl_error *err)
{
	size_t n_events = sizeof(events) / sizeof(events[0]);
	struct sl_counter *list =
		sl__arena_array(arena, n_events, sizeof(*list));

	*out = NULL;
	*n = 0;
	if (!list)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n_events; i++) {
		int fd = open ? open(events[i].event, ctx)
			      : open_in_kernel(events[i].event, NULL);

		list[i].name = events[i].name;
		if (fd >= 0) {
			close(fd);
			continue;
		}
		list[i].absent = reason_for(-fd);
		if (!list[i].absent)
			list[i].absent =
				sl__arena_format(arena, "error %d", -fd);
		if (!list[i].absent)
			return sl__fail_nomem(err);
	}
	*out = list;
	*n = n_events;
	return SL_OK;
}
