/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - what threads counted, scope by scope. */
#ifndef SL_SCOPE_H
#define SL_SCOPE_H

#include "memory/live_series.h"
#include "timing/durations.h"

enum { SL__N_SCOPE_POINTS = 32 };

/* What calls that asked for it used; made when the first one asks. */
struct sl__scope_usage {
	uint64_t n_cpu, n_faults, n_memory; /* calls that asked */
	uint64_t n_resident, n_allocating;  /* of n_memory, what was had */
	double cpu_ns;
	uint64_t n_minor, n_major;
	double resident_change_bytes;
	uint64_t resident_peak_bytes;
	uint64_t n_allocations, allocated_bytes, freed_bytes;
	int64_t live_peak_bytes; /* above the start, largest of any call */
	int64_t net_bytes;       /* allocated - freed, all calls */
	struct sl__live_series series;
	struct sl_live_point points[SL__N_SCOPE_POINTS];
};

/*
 * One scope in one thread.  The name and the parent are fixed once made;
 * n_open is the thread's own; the rest is guarded by the table's lock.
 */
struct sl__scope_entry {
	const char *name;
	const struct sl__scope_entry *parent;
	int has_parents; /* more than one */
	uint32_t n_open; /* calls under way: above 1 inside itself */
	uint64_t total_ticks, self_ticks;
	double n_flops, n_bytes;
	struct sl__scope_usage *usage; /* NULL until asked for */
	struct sl__durations durations;
};

/* Overhead of one begin and end, by flags. */
struct sl__scope_overhead {
	uint64_t inside_ticks; /* what an empty scope sees of itself */
	uint64_t pair_ticks;   /* what it costs the scope around it */
	uint64_t cpu_ns;       /* CPU time that an empty scope sees */
};

/* Everything that is not in an entry. */
struct sl__scope_costs_and_drops {
	struct sl__scope_overhead costs[SL_SCOPE_RESOURCES + 1];
	uint64_t n_dropped, n_unbalanced;
	const char *interposer_absent; /* NULL when it is there */
};

/* Work a second; why not where none was declared or no time passed. */
struct sl_reading sl__work_rate_per_s(double work, double ns,
				      const char *undeclared);

/*
 * What sl_scope_top() gives, but for the machine and the shares of its
 * ceilings, which are for the caller to fill in: *rows are those of *out.
 */
enum sl_status sl__scopes_collect(struct sl_scopes **out,
				  struct sl_scope_row **rows, size_t n,
				  struct sl_error *err) SL_CHECKED;
void sl__scopes_release(struct sl_scopes *s); /* the machine is not freed */

void sl__scope_costs_and_drops_read(struct sl__scope_costs_and_drops *out);

/*
 * Calls visit() for every entry of every thread, with the lock held: it must
 * not open a scope and should be quick.
 */
typedef void sl__scope_visit(struct sl__scope_entry *entry, void *ctx);
void sl__scope_each(sl__scope_visit *visit, void *ctx);

#endif
