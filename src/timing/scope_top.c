/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_top.c - the scopes of all threads added up, dearest first.
 *
 * Entries of the same name are merged while each table is held for a moment;
 * everything that is worked out from the sums happens afterwards.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/reading.h"
#include "base/status.h"
#include "stats/special.h"
#include "timing/scope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

static const double ALPHA = 0.05;

/* One name, all threads. */
struct total {
	struct total *next;
	struct sl__scope_entry sum;
	struct sl__scope_usage usage;
	const char *parent;
	int has_parents;
	size_t n_threads;
	uint64_t n_pattern_calls; /* of the thread whose series was taken */
};

struct merge {
	struct sl__arena arena;
	struct total *totals;
	size_t n;
	int failed;
	struct sl__scope_costs_and_drops state;
	double ticks_per_ns;
};

static struct total *
total_of(struct merge *merge, const struct sl__scope_entry *entry)
{
	const char *parent = entry->parent ? entry->parent->name : NULL;
	struct total *total;

	for (total = merge->totals; total; total = total->next) {
		if (!strcmp(total->sum.name, entry->name))
			break;
	}
	if (!total) {
		total = sl__arena_alloc(&merge->arena, sizeof(*total));
		if (!total)
			return NULL;
		total->sum.name = entry->name;
		total->parent = parent;
		total->next = merge->totals;
		merge->totals = total;
		merge->n++;
	}
	if (entry->has_parents || !parent != !total->parent ||
	    (parent && strcmp(parent, total->parent)))
		total->has_parents = 1;
	return total;
}

/* The pattern is that of the thread that was watched in most calls. */
static void
merge_usage(struct total *total, const struct sl__scope_usage *from)
{
	struct sl__scope_usage *into = &total->usage;

	if (from->n_allocating > total->n_pattern_calls) {
		total->n_pattern_calls = from->n_allocating;
		into->series = from->series;
		memcpy(into->points, from->points, sizeof(into->points));
		into->series.points = into->points;
	}
	into->n_cpu += from->n_cpu;
	into->n_faults += from->n_faults;
	into->n_memory += from->n_memory;
	into->n_resident += from->n_resident;
	into->n_allocating += from->n_allocating;
	into->cpu_ns += from->cpu_ns;
	into->n_minor += from->n_minor;
	into->n_major += from->n_major;
	into->resident_change_bytes += from->resident_change_bytes;
	if (from->resident_peak_bytes > into->resident_peak_bytes)
		into->resident_peak_bytes = from->resident_peak_bytes;
	into->n_allocations += from->n_allocations;
	into->allocated_bytes += from->allocated_bytes;
	into->freed_bytes += from->freed_bytes;
	if (from->live_peak_bytes > into->live_peak_bytes)
		into->live_peak_bytes = from->live_peak_bytes;
}

static void
merge_entry(struct sl__scope_entry *entry, void *ctx)
{
	struct merge *merge = ctx;
	struct total *total;

	if (!entry->durations.n)
		return;
	total = total_of(merge, entry);
	if (!total) {
		merge->failed = 1;
		return;
	}
	total->n_threads++;
	total->sum.total_ticks += entry->total_ticks;
	total->sum.self_ticks += entry->self_ticks;
	total->sum.n_flops += entry->n_flops;
	total->sum.n_bytes += entry->n_bytes;
	sl__durations_merge(&total->sum.durations, &entry->durations);
	if (entry->usage)
		merge_usage(total, entry->usage);
}

static struct sl_reading
reading_of(double sum, uint64_t n, const char *absent)
{
	return n ? sl__present(sum / (double)n) : sl__absent(absent);
}

/* Student's t: sd / sqrt(n) times the quantile of n - 1 degrees. */
static struct sl_estimate
mean_of(const struct sl__durations *d)
{
	struct sl_estimate e = {
		sl__durations_mean(d), (double)NAN, (double)NAN,
		(size_t)d->n,          2,           SL_METHOD_STUDENT};
	double n = (double)d->n;
	double half;

	if (d->n < 2)
		return e;
	half = sl__student_quantile(1 - ALPHA / 2, n - 1) *
	       sl__durations_std(d) / sqrt(n);
	e.lo = e.value - half;
	e.hi = e.value + half;
	e.needs_n = 0;
	return e;
}

static struct sl_estimate
in_ns(struct sl_estimate ticks, double ticks_per_ns)
{
	ticks.value /= ticks_per_ns;
	ticks.lo /= ticks_per_ns;
	ticks.hi /= ticks_per_ns;
	return ticks;
}

static void
fill_times(struct sl_scope_row *row, const struct sl__scope_entry *sum,
	   double ticks_per_ns)
{
	const struct sl__durations *d = &sum->durations;

	row->n_calls = (size_t)d->n;
	row->total_ns = (double)sum->total_ticks / ticks_per_ns;
	row->self_ns = (double)sum->self_ticks / ticks_per_ns;
	row->min_ns = (double)d->min / ticks_per_ns;
	row->max_ns = (double)d->max / ticks_per_ns;
	row->std_ns = sl__durations_std(d) / ticks_per_ns;
	row->mean = in_ns(mean_of(d), ticks_per_ns);
	row->median =
		in_ns(sl__durations_quantile(d, 0.5, ALPHA), ticks_per_ns);
	row->p90 = in_ns(sl__durations_quantile(d, 0.9, ALPHA), ticks_per_ns);
	row->p95 = in_ns(sl__durations_quantile(d, 0.95, ALPHA), ticks_per_ns);
	row->p99 = in_ns(sl__durations_quantile(d, 0.99, ALPHA), ticks_per_ns);
}

struct sl_reading
sl__work_rate_per_s(double work, double ns, const char *undeclared)
{
	if (!(work > 0))
		return sl__absent(undeclared);
	if (!(ns > 0))
		return sl__absent("too short to time");
	return sl__present(1e9 * work / ns);
}

static void
fill_usage(struct sl_scope_row *row, const struct sl__scope_usage *u,
	   const char *interposer_absent)
{
	const char *no_memory = "not asked for: SL_SCOPE_MEMORY";
	const char *no_faults = "not asked for: SL_SCOPE_FAULTS";
	const char *no_resident = u->n_memory ? "the kernel does not say"
					      : no_memory;
	const char *no_calls = u->n_memory ? interposer_absent : no_memory;
	uint64_t n = u->n_allocating;
	uint64_t any = n > 0, any_resident = u->n_resident > 0;

	row->cpu_ns =
		reading_of(u->cpu_ns, u->n_cpu, "not asked for: SL_SCOPE_CPU");
	row->n_minor_faults =
		reading_of((double)u->n_minor, u->n_faults, no_faults);
	row->n_major_faults =
		reading_of((double)u->n_major, u->n_faults, no_faults);
	row->resident_change_bytes = reading_of(u->resident_change_bytes,
						u->n_resident, no_resident);
	row->resident_peak_bytes = reading_of((double)u->resident_peak_bytes,
					      any_resident, no_resident);
	row->n_allocations = reading_of((double)u->n_allocations, n, no_calls);
	row->allocated_bytes =
		reading_of((double)u->allocated_bytes, n, no_calls);
	row->freed_bytes = reading_of((double)u->freed_bytes, n, no_calls);
	row->live_peak_bytes =
		reading_of((double)u->live_peak_bytes, any, no_calls);
	if (n) {
		struct sl__live_pattern shape;

		sl__live_pattern_classify(&shape, &u->series, 0,
					  u->points[u->series.n - 1].last_bytes,
					  SL__FLAT_BYTES);
		row->pattern = sl_memory_pattern_text(shape.pattern);
	}
}

static void
fill_row(struct sl_scope_row *row, const struct total *total,
	 const struct merge *merge)
{
	row->name = total->sum.name;
	row->parent = total->has_parents ? NULL : total->parent;
	row->n_threads = total->n_threads;
	row->n_flops = total->sum.n_flops;
	row->n_bytes = total->sum.n_bytes;
	fill_times(row, &total->sum, merge->ticks_per_ns);
	row->flops_per_s = sl__work_rate_per_s(row->n_flops, row->total_ns,
					       "no FLOPs were declared");
	row->bytes_per_s = sl__work_rate_per_s(row->n_bytes, row->total_ns,
					       "no bytes were declared");
	fill_usage(row, &total->usage, merge->state.interposer_absent);
}

static int
by_self_time(const void *a, const void *b)
{
	const struct sl_scope_row *x = a, *y = b;

	if (x->self_ns < y->self_ns)
		return 1;
	return x->self_ns > y->self_ns ? -1 : strcmp(x->name, y->name);
}

static enum sl_status
fill(struct sl_scopes *s, struct sl_scope_row **out, struct sl__arena *arena,
     const struct merge *merge, struct sl_error *err)
{
	const struct sl__scope_overhead *costs = merge->state.costs;
	struct sl_scope_row *rows =
		sl__arena_array(arena, merge->n, sizeof(*rows));
	size_t i = 0;

	if (!rows)
		return sl__fail_nomem(err);
	for (struct total *t = merge->totals; t; t = t->next, i++) {
		fill_row(&rows[i], t, merge);
		s->self_ns += rows[i].self_ns;
	}
	for (i = 0; i < merge->n; i++)
		rows[i].share = s->self_ns > 0 ? rows[i].self_ns / s->self_ns
					       : (double)NAN;
	qsort(rows, merge->n, sizeof(*rows), by_self_time);
	s->rows = *out = rows;
	s->n_rows = merge->n;
	s->n_scopes = merge->n;
	s->n_dropped = merge->state.n_dropped;
	s->n_unbalanced = merge->state.n_unbalanced;
	s->pair_ns = (double)costs[0].pair_ticks / merge->ticks_per_ns;
	s->resources_pair_ns = (double)costs[SL_SCOPE_RESOURCES].pair_ticks /
			       merge->ticks_per_ns;
	return SL_OK;
}

enum sl_status
sl__scopes_collect(struct sl_scopes **out, struct sl_scope_row **rows, size_t n,
		   struct sl_error *err)
{
	struct merge merge = {.ticks_per_ns = sl__ticks_per_ns()};
	struct sl_scopes *s;
	struct sl__arena *arena;
	enum sl_status rc;

	*out = NULL;
	sl__arena_init(&merge.arena, NULL);
	s = sl__arena_object_new(&arena, NULL, sizeof(*s));
	if (!s) {
		rc = sl__fail_nomem(err);
		goto out;
	}
	sl__scope_costs_and_drops_read(&merge.state);
	sl__scope_each(merge_entry, &merge);
	if (merge.failed) {
		rc = sl__fail_nomem(err);
		goto out;
	}
	rc = fill(s, rows, arena, &merge, err);
	if (rc)
		goto out;
	if (n && n < s->n_rows)
		s->n_rows = n;
	*out = s;
	s = NULL; /* the caller's now */
out:
	sl__scopes_release(s);
	sl__arena_release(&merge.arena);
	return rc;
}

void
sl__scopes_release(struct sl_scopes *s)
{
	sl__arena_object_free(s);
}
