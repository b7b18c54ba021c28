/* SPDX-License-Identifier: Apache-2.0 */
/* covariates.h - what else happened while something was timed. */
#ifndef SL_COVARIATES_H
#define SL_COVARIATES_H

#include "timing/proc_text.h"
#include "sleuth/measuring.h"

/*
 * Counters of the calling thread that only grow, read in about 2 us.  One
 * that the kernel does not offer stays 0 and its reason is in the watch.
 */
struct sl__covariates {
	uint64_t cpu_ns;
	uint64_t run_delay_ns; /* runnable, waiting for a CPU */
	uint64_t n_involuntary;
	int cpu; /* where the thread runs */
};

/* Scripted readings in place of the kernel's, for tests: then nothing of this
 * machine is read, and its frequency is not probed. */
struct sl__monitor_source {
	void (*read)(struct sl__covariates *now, void *ctx);
	int (*read_system)(struct sl__system_times *now, void *ctx); /* 0: they
						   cannot be read */
	void *ctx;
};

/* What a measurement reads; NULL, and a NULL in it, is what this machine
 * has. */
struct sl__measurement_sources {
	const struct sl_clock *clock;
	const struct sl__monitor_source *monitor;
};

/*
 * Follows one measurement from sl__monitor_open() to sl__monitor_close(), on
 * one thread.  Nothing in between allocates.
 */
struct sl__monitor {
	struct sl__measurement_sources with;
	int schedstat_fd; /* -1: absent */
	uint64_t start_ns;
	double empty_cpu_ns; /* CPU time that two readings in a row show */

	size_t n_slots, n_disturbed, n_migrations;
	uint64_t n_involuntary, run_delay_ns;

	struct sl__system_times system; /* at the start */
	int has_system;
	uint64_t own_cpu_ns; /* of the process and its children, then */
	uint64_t n_throttled;
	int has_throttle;

	double probes_ns[256]; /* frequency probe, thinned when full */
	size_t n_probes, probe_stride, n_until_probe;
};

void sl__monitor_open(struct sl__monitor *monitor,
		      const struct sl__measurement_sources *instruments);
void sl__monitor_close(struct sl__monitor *monitor, struct sl_noise *out);

/*
 * Readings right before and right after a slot: the CPU time is read last in
 * the one and first in the other, so that the rest of the reading is not in
 * it.  What remains of our own is empty_cpu_ns, measured at the start.
 */
void sl__monitor_read_before(const struct sl__monitor *monitor,
			     struct sl__covariates *now);
void sl__monitor_read_after(const struct sl__monitor *monitor,
			    struct sl__covariates *now);

/*
 * CPU time of a slot less our own share: the empty slot's, and two clock
 * readings of reading_ns for each of n_stretches.  At least 0.
 */
double sl__monitor_slot_cpu_ns(const struct sl__monitor *monitor,
			       const struct sl__covariates *before,
			       const struct sl__covariates *after,
			       size_t n_stretches, double reading_ns);

/*
 * Ends a slot that began at 'before' and lasted 'wall_ns': adds it to the
 * totals and returns whether it was disturbed: whether waiting for a CPU, and
 * filling caches again after each preemption or move to another CPU (0.1 ms),
 * took more than 1 % of its time.  Where the wait cannot be read, any preemption
 * disturbs.
 */
int sl__monitor_end_slot(struct sl__monitor *monitor,
			 const struct sl__covariates *before,
			 const struct sl__covariates *after, double wall_ns);

/*
 * Like sl__monitor_end_slot() for a child that has ended: its own counters.
 * Starting a process always preempts and delays it a little, so that it is
 * disturbed only when it was kept waiting for more than 10 % of its time.
 */
int sl__monitor_end_child(struct sl__monitor *monitor, uint64_t n_involuntary,
			  uint64_t run_delay_ns, double wall_ns);

/* Adds the slots of a measurement inside this one, which took inner_s. */
void sl__monitor_add_nested(struct sl__monitor *monitor,
			    const struct sl_noise *inner, double inner_s);

/*
 * Runs the frequency probe (about 50 us): a fixed chain of dependent
 * multiplications, whose time changes only with the clock of the core.
 */
void sl__monitor_probe_frequency(struct sl__monitor *monitor);

/* Reads the whole machine's, or the script's where it is not NULL; 0: they
 * cannot be read. */
int sl__monitor_read_system(struct sl__system_times *out,
			    const struct sl__monitor_source *script);

/*
 * What two readings of the whole machine say: the share that the hypervisor
 * took, and the share that others used, given that this process and its
 * children used own_share.  Absent when fewer than 20 ticks lie between.
 */
void sl__system_noise_shares(struct sl_noise *out,
			     const struct sl__system_times *before,
			     const struct sl__system_times *after,
			     double own_share);

#endif
