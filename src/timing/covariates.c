/* SPDX-License-Identifier: Apache-2.0 */
/*
 * covariates.c - what else happened while something was timed.
 *
 * Per slot: thread CPU time, involuntary switches, run delay and the CPU, all
 * from cheap system calls.  Per measurement: the whole machine's times from
 * /proc/stat (steal, and what others used), throttle events, and a probe of
 * the core's frequency.  What the kernel does not offer is absent with its
 * reason.  Parsing is apart from reading, so that tests feed recorded text.
 */
#define _GNU_SOURCE
#include "timing/covariates.h"
#include "base/clock.h"
#include "base/reading.h"
#include "stats/summary.h"
#include "timing/dependency_chain.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	/* 4 cycles each: 17 us at 3.7 GHz. */
	N_PROBE_STEPS = 16000,
	N_PROBE_TRIES = 3,
	CAP_PROBES = 256,
	N_EMPTY_SLOTS = 15, /* odd: the median is one of them */
	MIN_TICKS = 20      /* of 10 ms as a rule: a figure of 5 % */
};

/* What waited for a CPU longer than this share was disturbed. */
static const double MAX_SLOT_DELAY = 0.01;
static const double MAX_CHILD_DELAY = 0.1;

/*
 * What a preemption or a move costs beyond the wait for a CPU: caches are filled
 * again, 2 MiB of L2 at the 20 GB/s of a slow memory.  It disturbs every slot
 * below 10 ms.  A longer one is not: the kernel's own threads preempt for some
 * microseconds several times a second, on an idle machine too.
 */
static const double REFILL_NS = 1e5;

int
sl__monitor_read_system(struct sl__system_times *out,
			const struct sl__monitor_source *script)
{
	char text[512];

	if (script)
		return script->read_system(out, script->ctx);
	return sl__proc_read_file("/proc/stat", text, sizeof(text)) &&
	       sl__proc_parse_stat(out, text);
}

static int
read_throttle(const struct sl__monitor *monitor, uint64_t *out)
{
	char text[64];

	return !monitor->with.monitor &&
	       sl__proc_read_file(
		       "/sys/devices/system/cpu/cpu0/thermal_throttle/"
		       "core_throttle_count",
		       text, sizeof(text)) &&
	       sl__proc_parse_number(out, text);
}

static uint64_t
timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static uint64_t
own_cpu_ns(const struct sl__monitor *monitor)
{
	struct rusage self, children;

	if (monitor->with.monitor)
		return 0;
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return timeval_ns(self.ru_utime) + timeval_ns(self.ru_stime) +
	       timeval_ns(children.ru_utime) + timeval_ns(children.ru_stime);
}

static double
empty_slot_cpu_ns(const struct sl__monitor *monitor)
{
	struct sl__covariates before, after;
	double took_ns[N_EMPTY_SLOTS];

	for (size_t i = 0; i < N_EMPTY_SLOTS; i++) {
		sl__monitor_read_before(monitor, &before);
		sl__monitor_read_after(monitor, &after);
		took_ns[i] = (double)(after.cpu_ns - before.cpu_ns);
	}
	return sl__median_in_place(took_ns, N_EMPTY_SLOTS);
}

void
sl__monitor_open(struct sl__monitor *monitor,
		 const struct sl__measurement_sources *instruments)
{
	memset(monitor, 0, sizeof(*monitor));
	if (instruments)
		monitor->with = *instruments;
	monitor->schedstat_fd = -1;
	if (!monitor->with.monitor)
		monitor->schedstat_fd = open("/proc/thread-self/schedstat",
					     O_RDONLY | O_CLOEXEC);
	monitor->start_ns = sl__clock_now_ns(monitor->with.clock);
	monitor->own_cpu_ns = own_cpu_ns(monitor);
	monitor->has_system = sl__monitor_read_system(&monitor->system,
						      monitor->with.monitor);
	monitor->has_throttle = read_throttle(monitor, &monitor->n_throttled);
	monitor->probe_stride = 1;
	monitor->n_until_probe = 1;
	if (!monitor->with.monitor)
		monitor->empty_cpu_ns = empty_slot_cpu_ns(monitor);
}

/* Whether the script has told what there is to read. */
static int
is_scripted(const struct sl__monitor *monitor, struct sl__covariates *now)
{
	const struct sl__monitor_source *script = monitor->with.monitor;

	if (!script)
		return 0;
	script->read(now, script->ctx);
	return 1;
}

static void
read_others(const struct sl__monitor *monitor, struct sl__covariates *now)
{
	struct rusage usage;
	char text[128];
	ssize_t n = monitor->schedstat_fd < 0
			    ? 0
			    : pread(monitor->schedstat_fd, text,
				    sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (!sl__proc_parse_run_delay(&now->run_delay_ns, text))
		now->run_delay_ns = 0;
	getrusage(RUSAGE_THREAD, &usage);
	now->n_involuntary = (uint64_t)usage.ru_nivcsw;
	now->cpu = sched_getcpu();
}

void
sl__monitor_read_before(const struct sl__monitor *monitor,
			struct sl__covariates *now)
{
	if (is_scripted(monitor, now))
		return;
	read_others(monitor, now);
	now->cpu_ns = sl__clock_thread_cpu_ns();
}

void
sl__monitor_read_after(const struct sl__monitor *monitor,
		       struct sl__covariates *now)
{
	if (is_scripted(monitor, now))
		return;
	now->cpu_ns = sl__clock_thread_cpu_ns();
	read_others(monitor, now);
}

double
sl__monitor_slot_cpu_ns(const struct sl__monitor *monitor,
			const struct sl__covariates *before,
			const struct sl__covariates *after, size_t n_stretches,
			double reading_ns)
{
	double own_ns =
		monitor->empty_cpu_ns + 2 * reading_ns * (double)n_stretches;

	return fmax(0, (double)(after->cpu_ns - before->cpu_ns) - own_ns);
}

static void
add_slot(struct sl__monitor *monitor, uint64_t n_involuntary,
	 uint64_t run_delay_ns, int disturbed)
{
	monitor->n_slots++;
	monitor->n_disturbed += (size_t)disturbed;
	monitor->n_involuntary += n_involuntary;
	monitor->run_delay_ns += run_delay_ns;
}

int
sl__monitor_end_slot(struct sl__monitor *monitor,
		     const struct sl__covariates *before,
		     const struct sl__covariates *after, double wall_ns)
{
	uint64_t n_involuntary = after->n_involuntary - before->n_involuntary;
	uint64_t delay_ns = after->run_delay_ns - before->run_delay_ns;
	int migrated = before->cpu != after->cpu;
	double lost_ns =
		(double)delay_ns +
		REFILL_NS * (double)(n_involuntary + (uint64_t)migrated);
	int delay_is_known = monitor->schedstat_fd >= 0 ||
			     monitor->with.monitor;
	int disturbed = lost_ns > MAX_SLOT_DELAY * wall_ns ||
			(n_involuntary > 0 && !delay_is_known);

	monitor->n_migrations += (size_t)migrated;
	add_slot(monitor, n_involuntary, delay_ns, disturbed);
	return disturbed;
}

int
sl__monitor_end_child(struct sl__monitor *monitor, uint64_t n_involuntary,
		      uint64_t run_delay_ns, double wall_ns)
{
	int disturbed = (double)run_delay_ns > MAX_CHILD_DELAY * wall_ns;

	add_slot(monitor, n_involuntary, run_delay_ns, disturbed);
	return disturbed;
}

void
sl__monitor_add_nested(struct sl__monitor *monitor,
		       const struct sl_noise *inner, double inner_s)
{
	monitor->n_slots += inner->n_slots;
	monitor->n_disturbed += inner->n_disturbed;
	monitor->n_involuntary += (uint64_t)inner->involuntary_switches.value;
	monitor->n_migrations += (size_t)inner->migrations.value;
	if (!inner->run_delay_share.absent)
		monitor->run_delay_ns +=
			(uint64_t)(1e9 * inner_s *
				   inner->run_delay_share.value);
}

/* The least of a few tries, so that an interrupt does not pass for a slow
 * core. */
static double
probe_ns(void)
{
	double least = (double)INFINITY;

	for (int i = 0; i < N_PROBE_TRIES; i++) {
		uint64_t start = sl__clock_now_ns(NULL);
		volatile uint64_t sink =
			sl__dependency_chain(start, N_PROBE_STEPS);
		double took = (double)(sl__clock_now_ns(NULL) - start);

		(void)sink;

		if (took < least)
			least = took;
	}
	return least;
}

void
sl__monitor_probe_frequency(struct sl__monitor *monitor)
{
	if (monitor->with.monitor || --monitor->n_until_probe)
		return;
	monitor->n_until_probe = monitor->probe_stride;
	if (monitor->n_probes == CAP_PROBES) { /* keep every other one */
		for (size_t i = 0; i < CAP_PROBES / 2; i++)
			monitor->probes_ns[i] = monitor->probes_ns[2 * i];
		monitor->n_probes /= 2;
		monitor->probe_stride *= 2;
	}
	monitor->probes_ns[monitor->n_probes++] = probe_ns();
}

static struct sl_reading
frequency_drift(struct sl__monitor *monitor)
{
	size_t n = monitor->n_probes;
	double *x = monitor->probes_ns;

	if (n < 4)
		return sl__absent("too short for the frequency probe");
	sl__sort(x, n);
	return sl__present((x[n - 1 - n / 10] - x[n / 10]) /
			   sl__median_sorted(x, n));
}

void
sl__system_noise_shares(struct sl_noise *out,
			const struct sl__system_times *before,
			const struct sl__system_times *after, double own_share)
{
	static const char *const too_short =
		"too short for the kernel's clock tick";
	double total = (double)(after->total - before->total);
	double idle = (double)(after->idle - before->idle);
	double steal = (double)(after->steal - before->steal);

	out->steal_share = sl__absent(too_short);
	out->neighbour_share = sl__absent(too_short);
	if (total < MIN_TICKS)
		return;
	out->steal_share = sl__present(steal / total);
	out->neighbour_share = sl__present(
		fmax(0, (total - idle - steal) / total - own_share));
}

static void
close_system(struct sl__monitor *monitor, struct sl_noise *out, double wall_ns)
{
	static const char *const no_stat = "/proc/stat cannot be read";
	double own_ns = (double)(own_cpu_ns(monitor) - monitor->own_cpu_ns);
	struct sl__system_times now;

	out->steal_share = sl__absent(no_stat);
	out->neighbour_share = sl__absent(no_stat);
	if (monitor->has_system &&
	    sl__monitor_read_system(&now, monitor->with.monitor))
		sl__system_noise_shares(
			out, &monitor->system, &now,
			own_ns / wall_ns /
				(double)sysconf(_SC_NPROCESSORS_ONLN));
}

void
sl__monitor_close(struct sl__monitor *monitor, struct sl_noise *out)
{
	double wall_ns = (double)(sl__clock_now_ns(monitor->with.clock) -
				  monitor->start_ns);
	uint64_t throttled;

	memset(out, 0, sizeof(*out));
	out->n_slots = monitor->n_slots;
	out->n_disturbed = monitor->n_disturbed;
	out->involuntary_switches = sl__present((double)monitor->n_involuntary);
	out->migrations = sl__present((double)monitor->n_migrations);
	out->run_delay_share =
		monitor->schedstat_fd >= 0 || monitor->with.monitor
			? sl__present((double)monitor->run_delay_ns / wall_ns)
			: sl__absent("the kernel has no schedstat");
	close_system(monitor, out, wall_ns);
	out->frequency_drift = frequency_drift(monitor);
	out->throttle_events =
		monitor->has_throttle && read_throttle(monitor, &throttled)
			? sl__present(
				  (double)(throttled - monitor->n_throttled))
			: sl__absent("no throttle counter is visible");
	if (monitor->schedstat_fd >= 0)
		close(monitor->schedstat_fd);
	monitor->schedstat_fd = -1;
}
