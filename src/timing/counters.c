/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - which hardware counters this process may read.
 *
 * The only sure way to know is to open them.  The error numbers of
 * perf_event_open(2) are translated here, since they mean more than their
 * usual text says.
 *
 * Counters of misses count lines that come into the nearer cache.  No CPU
 * counts all of them with one counter: lines that a prefetcher fetched before
 * they were asked for may be missing, and lines written back are.
 */
#define _GNU_SOURCE
#include "timing/counters.h"
#include "base/status.h"
#include "timing/proc_text.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/banned.h"

const char *
sl_event_text(enum sl_event event)
{
	static const char *const words[SL_N_EVENTS] = {
		"cycles",    "instructions", "stalls",
		"L1 misses", "L2 misses",    "L3 misses"};

	return (unsigned)event < SL_N_EVENTS ? words[event] : "";
}

/* Reads that miss a cache, as the kernel numbers them. */
#define READ_MISSES(cache)                              \
	((cache) | (PERF_COUNT_HW_CACHE_OP_READ << 8) | \
	 (PERF_COUNT_HW_CACHE_RESULT_MISS << 16))

enum { NAMES_MOST = 4 };

/*
 * Counters for an event, in libpfm4's names, best first; then the kernel's
 * general one.  Its "cache-misses" is not among them: it is the last cache on
 * some CPUs and the second on others.
 */
static const struct candidates {
	const char *names[NAMES_MOST];   /* NULL from the end on */
	struct sl__counter_code general; /* no name: none */
} candidates[SL_N_EVENTS] = {
	[SL_EVENT_CYCLES] = {.general = {.name = "cycles",
					 .type = PERF_TYPE_HARDWARE,
					 .config = PERF_COUNT_HW_CPU_CYCLES}},
	[SL_EVENT_INSTRUCTIONS] =
		{.general = {.name = "instructions",
			     .type = PERF_TYPE_HARDWARE,
			     .config = PERF_COUNT_HW_INSTRUCTIONS}},
	[SL_EVENT_STALLS] =
		{.names = {"CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU",
			   "CYCLE_ACTIVITY:STALLS_TOTAL",
			   "CYCLE_ACTIVITY:CYCLES_NO_EXECUTE"},
		 .general = {.name = "stalled-cycles-backend",
			     .type = PERF_TYPE_HARDWARE,
			     .config = PERF_COUNT_HW_STALLED_CYCLES_BACKEND}},
	[SL_EVENT_L1_MISSES] =
		{.names = {"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:LOCAL_CCX:"
			   "NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:"
			   "FAR_CACHE_NEAR_FAR:DRAM_IO_FAR",
			   "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:INT_CACHE:"
			   "EXT_CACHE_LCL:MEM_IO_LCL:EXT_CACHE_RMT:MEM_IO_RMT",
			   "L1D:REPLACEMENT"},
		 .general = {.name = "L1-dcache-load-misses",
			     .type = PERF_TYPE_HW_CACHE,
			     .config = READ_MISSES(PERF_COUNT_HW_CACHE_L1D)}},
	[SL_EVENT_L2_MISSES] =
		{.names = {"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX:"
			   "NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:"
			   "FAR_CACHE_NEAR_FAR:DRAM_IO_FAR",
			   "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE:"
			   "EXT_CACHE_LCL:MEM_IO_LCL:EXT_CACHE_RMT:MEM_IO_RMT",
			   "L2_LINES_IN:ALL", "L2D_CACHE_REFILL"}},
	[SL_EVENT_L3_MISSES] =
		{.names = {"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:"
			   "DRAM_IO_FAR",
			   "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:"
			   "MEM_IO_RMT",
			   "LONGEST_LAT_CACHE:MISS"},
		 .general = {.name = "LLC-load-misses",
			     .type = PERF_TYPE_HW_CACHE,
			     .config = READ_MISSES(PERF_COUNT_HW_CACHE_LL)}},
};

/* All that may count an event here, best first. */
struct ways {
	struct sl__counter_code codes[NAMES_MOST + 1];
	size_t n;
};

/* Whether it is one of the names of an event. */
static int
is_name_of(const char *name, int event)
{
	for (size_t i = 0; i < NAMES_MOST; i++) {
		if (candidates[event].names[i] == name)
			return 1;
	}
	return 0;
}

/* Those of all events at once, since looking for the CPU takes libpfm4
 * milliseconds. */
static void
find_names(struct ways ways[SL_N_EVENTS])
{
	const char *names[SL_N_EVENTS * NAMES_MOST];
	struct sl__counter_code codes[SL_N_EVENTS * NAMES_MOST];
	size_t n = 0;

	for (int e = 0; e < SL_N_EVENTS; e++) {
		for (size_t i = 0; i < NAMES_MOST; i++) {
			if (candidates[e].names[i])
				names[n++] = candidates[e].names[i];
		}
	}
	n = sl__counter_encode(codes, names, n);
	for (int e = 0; e < SL_N_EVENTS; e++) {
		for (size_t i = 0; i < n; i++) {
			if (is_name_of(codes[i].name, e))
				ways[e].codes[ways[e].n++] = codes[i];
		}
	}
}

static void
add_general(struct ways ways[SL_N_EVENTS])
{
	for (int e = 0; e < SL_N_EVENTS; e++) {
		if (candidates[e].general.name)
			ways[e].codes[ways[e].n++] = candidates[e].general;
	}
}

static int
open_in_kernel(const struct sl__counter_code *code, void *ctx)
{
	struct perf_event_attr attr;
	long fd;

	(void)ctx;
	memset(&attr, 0, sizeof(attr));
	attr.type = code->type;
	attr.size = sizeof(attr);
	attr.config = code->config;
	attr.config1 = code->config1;
	attr.config2 = code->config2;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		     (unsigned long)PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* An answer that is not whole means that the counter has stopped for good. */
static int
read_in_kernel(int handle, struct sl__counter_reading *out, void *ctx)
{
	uint64_t answer[3];
	ssize_t n = read(handle, answer, sizeof(answer));

	(void)ctx;
	if (n != (ssize_t)sizeof(answer))
		return n < 0 ? -errno : -EIO;
	*out = (struct sl__counter_reading){answer[0], answer[1], answer[2]};
	return 0;
}

static void
close_in_kernel(int handle, void *ctx)
{
	(void)ctx;
	close(handle);
}

static int
paranoid_level(void)
{
	char text[16];
	uint64_t level;

	if (!sl__proc_read_file("/proc/sys/kernel/perf_event_paranoid", text,
				sizeof(text)))
		return SL__PARANOID_UNKNOWN;
	if (text[0] == '-')
		return -1;
	return sl__proc_parse_number(&level, text) && level < 100
		       ? (int)level
		       : SL__PARANOID_UNKNOWN;
}

void
sl__counter_backend_kernel(struct sl__counter_backend *out)
{
	*out = (struct sl__counter_backend){.open = open_in_kernel,
					    .read = read_in_kernel,
					    .close = close_in_kernel,
					    .paranoid = paranoid_level()};
}

static const char *
why_forbidden(int paranoid, struct sl__arena *arena)
{
	const int allows = 2; /* a process may count itself in user mode */

	if (paranoid == SL__PARANOID_UNKNOWN)
		return "not permitted: kernel.perf_event_paranoid or the "
		       "sandbox forbids it";
	if (paranoid > allows)
		return sl__arena_format(
			arena,
			"not permitted: kernel.perf_event_paranoid is %d; "
			"'sysctl kernel.perf_event_paranoid=2' as root allows "
			"it",
			paranoid);
	return sl__arena_format(
		arena,
		"not permitted: the container or sandbox forbids it "
		"(kernel.perf_event_paranoid is %d and would not)",
		paranoid);
}

/* As perf_event_open(2) has it. */
const char *
sl__counter_open_error_text(int error, int paranoid, struct sl__arena *arena)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
		return "not offered by the CPU (usual in a virtual machine)";
	case EACCES:
	case EPERM:
		return why_forbidden(paranoid, arena);
	case ENOSYS:
		return "the kernel has no perf_event_open, or the sandbox "
		       "hides it";
	case EBUSY:
		return "another program holds the counters";
	case EMFILE:
	case ENFILE:
		return "no file descriptor is left";
	default:
		return sl__arena_format(arena, "error %d", error);
	}
}

static enum sl_status
choose(struct sl__counter_choice *out, const struct ways *ways,
       const struct sl__counter_backend *source, struct sl__arena *arena,
       struct sl_error *err)
{
	int handle = -ENOENT;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < ways->n; i++) {
		handle = source->open(&ways->codes[i], source->ctx);
		if (handle < 0)
			continue;
		source->close(handle, source->ctx);
		out->code = ways->codes[i];
		return SL_OK;
	}
	if (ways->n)
		out->absent = sl__counter_open_error_text(
			-handle, source->paranoid, arena);
	else if (sl__counter_has_libpfm())
		out->absent = "libpfm4 knows no such counter of this CPU";
	else
		out->absent = "the kernel has no name for it, and this build "
			      "no libpfm4";
	return out->absent ? SL_OK : sl__fail_nomem(err);
}

/* A CPU that does not let cycles be counted lets nothing be counted. */
enum sl_status
sl__counters_choose(struct sl__counter_choice out[SL_N_EVENTS],
		    const struct sl__counter_backend *source,
		    struct sl__arena *arena, struct sl_error *err)
{
	const struct ways cycles = {
		.codes = {candidates[SL_EVENT_CYCLES].general}, .n = 1};
	struct ways ways[SL_N_EVENTS] = {{.n = 0}};
	enum sl_status rc =
		choose(&out[SL_EVENT_CYCLES], &cycles, source, arena, err);

	if (!rc && !out[SL_EVENT_CYCLES].absent) {
		find_names(ways);
		add_general(ways);
	}
	for (int e = SL_EVENT_CYCLES + 1; !rc && e < SL_N_EVENTS; e++) {
		if (out[SL_EVENT_CYCLES].absent)
			out[e] = out[SL_EVENT_CYCLES];
		else
			rc = choose(&out[e], &ways[e], source, arena, err);
	}
	return rc;
}

enum sl_status
sl__counters_list(const struct sl_counter **out, size_t *n,
		  const struct sl__counter_backend *source,
		  struct sl__arena *arena, struct sl_error *err)
{
	struct sl__counter_choice choices[SL_N_EVENTS];
	struct sl__counter_backend kernel;
	struct sl_counter *list =
		sl__arena_array(arena, SL_N_EVENTS, sizeof(*list));
	enum sl_status rc;

	*out = NULL;
	*n = 0;
	if (!list)
		return sl__fail_nomem(err);
	if (!source)
		sl__counter_backend_kernel(&kernel);
	rc = sl__counters_choose(choices, source ? source : &kernel, arena,
				 err);
	if (rc)
		return rc;
	for (int e = 0; e < SL_N_EVENTS; e++)
		list[e] = (struct sl_counter){sl_event_text((enum sl_event)e),
					      choices[e].absent};
	*out = list;
	*n = SL_N_EVENTS;
	return SL_OK;
}
