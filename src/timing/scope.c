/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.c - named stretches of a program, counted where they happen.
 *
 * Each thread has a table of its own: a stack of open frames and one entry
 * per name.  A name is found by its address in a small cache and checked by
 * content, so that a buffer may be reused.  Closing a scope takes the
 * table's lock, which only a reader ever contends for.  A thread that ends
 * leaves its table, counts and all, to the next thread that starts; so the
 * memory follows the number of threads alive, not of threads ever started.
 *
 * The list of tables is the one process-wide object of the library: a scope
 * deep inside a program has no handle to reach anything else.  What a pair
 * costs is measured when the list is made and taken off as scopes close.
 */
#define _GNU_SOURCE
#include "timing/scope.h"
#include "base/arena.h"
#include "base/clock.h"
#include "memory/interposer.h"
#include "memory/resource_usage.h"
#include "stats/summary.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/banned.h"

enum {
	CAP_ENTRIES = 256,
	CAP_DEPTH = 64,
	N_CACHE = 1024, /* four slots for each name, a power of two */
	N_PROBES = 4,
	N_CALIBRATION = 51, /* odd, so that the median is one of them */
	N_SPINS = 128
};

/* An open scope. */
struct frame {
	uint64_t serial;
	struct sl__scope_entry *entry;
	uint64_t start_ticks;
	uint64_t child_ticks;    /* in the scopes inside, theirs alone */
	uint64_t overhead_ticks; /* of opening and closing those */
	double n_flops, n_bytes;
	unsigned flags;
};

/* What the kernel and the allocator said when a frame was opened. */
struct frame_usage {
	struct sl__resource_usage usage;
	struct sl__alloc_counts counts;
};

struct cached_name {
	const char *address;
	struct sl__scope_entry *entry;
};

struct table {
	struct table *next;
	uint32_t id;
	int is_taken; /* by a thread; guarded by the registry's lock */

	/* The thread's own. */
	uint64_t last_serial;
	uint32_t depth;
	struct frame frames[CAP_DEPTH];
	struct frame_usage usages[CAP_DEPTH];
	struct cached_name cache[N_CACHE];
	uint64_t last_ticks; /* of the scope closed last, nothing taken off */
	uint64_t last_cpu_ns;

	atomic_flag lock; /* guards what follows, and the entries */
	struct sl__arena arena;
	size_t n_entries;
	struct sl__scope_entry *entries[CAP_ENTRIES];
};

static struct {
	pthread_once_t once;
	pthread_mutex_t lock; /* guards the list and is_taken */
	struct table *tables;
	uint32_t n_tables;
	pthread_key_t key; /* its destructor runs when a thread ends */
	int has_key;
	double ticks_per_ns;
	struct sl__scope_overhead costs[SL_SCOPE_RESOURCES + 1];
	const struct sl__interposer *interposer;
	const char *interposer_absent;
	_Atomic uint64_t n_dropped, n_unbalanced;
} registry = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct table *this_thread;

static void
lock_table(struct table *table)
{
	for (unsigned i = 1; atomic_flag_test_and_set_explicit(
		     &table->lock, memory_order_acquire);
	     i++) {
		if (i % N_SPINS == 0)
			sched_yield();
	}
}

static void
unlock_table(struct table *table)
{
	atomic_flag_clear_explicit(&table->lock, memory_order_release);
}

/* The watermarks of the scope around: its peak is at least the inner one's. */
static void
raise_watermarks(const struct sl__alloc_counts *before)
{
	struct sl__alloc_counts *now = registry.interposer->counts();

	if (before->net_peak_bytes > now->net_peak_bytes)
		now->net_peak_bytes = before->net_peak_bytes;
	if (before->largest_bytes > now->largest_bytes)
		now->largest_bytes = before->largest_bytes;
}

/*
 * Forgets the innermost frame, which was left open.  Its entry gets nothing:
 * when the stretch ended is not known.  The scope around it gets back what
 * opening this one took over: the time of the scopes inside, which are in
 * their own entries, the work and the watermarks.
 */
static void
forget_frame(struct table *table)
{
	struct frame *frame = &table->frames[--table->depth];

	if (table->depth) {
		struct frame *outer = frame - 1;

		outer->child_ticks += frame->child_ticks;
		outer->overhead_ticks += frame->overhead_ticks;
		outer->n_flops += frame->n_flops;
		outer->n_bytes += frame->n_bytes;
	}
	if ((frame->flags & SL_SCOPE_MEMORY) && registry.interposer)
		raise_watermarks(&table->usages[table->depth].counts);
	frame->entry->n_open--;
	registry.n_unbalanced++;
}

static void
unwind_to(struct table *table, uint32_t depth)
{
	while (table->depth > depth)
		forget_frame(table);
}

static void
leave_table(void *arg)
{
	struct table *table = arg;

	unwind_to(table, 0);
	pthread_mutex_lock(&registry.lock);
	table->is_taken = 0;
	pthread_mutex_unlock(&registry.lock);
	this_thread = NULL;
}

static struct table *
table_new(void)
{
	struct table *table = sl__allocator_alloc(NULL, sizeof(*table));

	if (!table)
		return NULL;
	memset(table, 0, sizeof(*table));
	atomic_flag_clear(&table->lock);
	sl__arena_init(&table->arena, NULL);
	table->id = ++registry.n_tables;
	table->next = registry.tables;
	registry.tables = table;
	return table;
}

/* A table that no thread has, or a new one; NULL when out of memory. */
static struct table *
take_table(void)
{
	struct table *table;

	pthread_mutex_lock(&registry.lock);
	for (table = registry.tables; table; table = table->next) {
		if (!table->is_taken)
			break;
	}
	if (!table)
		table = table_new();
	if (table)
		table->is_taken = 1;
	pthread_mutex_unlock(&registry.lock);
	this_thread = table;
	return table;
}

static void calibrate(void);

static void
open_registry(void)
{
	registry.ticks_per_ns = sl__ticks_per_ns();
	registry.interposer = sl__interposer_find(&registry.interposer_absent);
	registry.has_key = !pthread_key_create(&registry.key, leave_table);
	calibrate();
}

static struct table *
join_registry(void)
{
	struct table *table;

	pthread_once(&registry.once, open_registry);
	table = take_table();
	/* Without the destructor a table is not handed on: no harm. */
	if (table && registry.has_key)
		(void)pthread_setspecific(registry.key, table);
	return table;
}

/* Storage that is not counted among what the user's scopes allocate. */
static void *
alloc_uncounted(struct table *table, size_t n_bytes)
{
	struct sl__alloc_counts *now, saved;
	void *block;

	if (!registry.interposer)
		return sl__arena_alloc(&table->arena, n_bytes);
	now = registry.interposer->counts();
	saved = *now;
	block = sl__arena_alloc(&table->arena, n_bytes);
	*now = saved;
	return block;
}

static struct sl__scope_entry *
entry_new(struct table *table, const char *name)
{
	size_t n_bytes = strlen(name) + 1;
	struct sl__scope_entry *entry =
		alloc_uncounted(table, sizeof(*entry) + n_bytes);

	if (!entry)
		return NULL;
	entry->name = memcpy(entry + 1, name, n_bytes);
	if (table->depth)
		entry->parent = table->frames[table->depth - 1].entry;
	lock_table(table);
	table->entries[table->n_entries++] = entry;
	unlock_table(table);
	return entry;
}

/* By content: the slow way, for the first call from each place. */
static struct sl__scope_entry *
find_by_content(struct table *table, const char *name)
{
	for (size_t i = 0; i < table->n_entries; i++) {
		if (!strcmp(table->entries[i]->name, name))
			return table->entries[i];
	}
	if (table->n_entries == CAP_ENTRIES)
		return NULL;
	return entry_new(table, name);
}

static struct sl__scope_entry *
find_entry(struct table *table, const char *name)
{
	/* 2^64 / golden ratio: Knuth's multiplicative hashing. */
	uint64_t hash = (uintptr_t)name * 0x9e3779b97f4a7c15u;
	size_t home = (size_t)(hash >> 54); /* N_CACHE is 2^10 */
	struct cached_name *slot = &table->cache[home];

	for (size_t i = 0; i < N_PROBES; i++) {
		struct cached_name *c = &table->cache[(home + i) % N_CACHE];

		if (c->address == name && !strcmp(c->entry->name, name))
			return c->entry;
		if (!c->address || c->address == name) {
			slot = c;
			break;
		}
	}
	struct sl__scope_entry *entry = find_by_content(table, name);

	if (entry)
		*slot = (struct cached_name){name, entry};
	return entry;
}

/* A scope with flags needs more room, made before its time begins. */
static int
open_usage(struct table *table, struct sl__scope_entry *entry, unsigned flags)
{
	struct frame_usage *at = &table->usages[table->depth];
	struct sl__scope_usage *usage = entry->usage;

	if (!usage) {
		usage = alloc_uncounted(table, sizeof(*usage));
		if (!usage)
			return 0;
		sl__live_series_init(&usage->series, usage->points,
				     SL__N_SCOPE_POINTS);
		lock_table(table);
		entry->usage = usage;
		unlock_table(table);
	}
	if ((flags & SL_SCOPE_MEMORY) && registry.interposer) {
		struct sl__alloc_counts *now = registry.interposer->counts();

		at->counts = *now;
		now->net_peak_bytes = now->net_bytes;
		now->largest_bytes = 0;
	}
	sl__resource_usage_read(&at->usage, flags);
	return 1;
}

struct sl_scope
sl_scope_begin(const char *name, unsigned flags)
{
	struct table *table = this_thread ? this_thread : join_registry();
	struct sl_scope scope = {0};
	struct sl__scope_entry *entry = NULL;
	struct frame *frame;

	if (table && table->depth < CAP_DEPTH)
		entry = find_entry(table, name ? name : "(unnamed)");
	flags &= SL_SCOPE_RESOURCES;
	if (!entry || (flags && !open_usage(table, entry, flags))) {
		registry.n_dropped++;
		return scope;
	}
	scope.serial = ++table->last_serial;
	scope.thread = table->id;
	scope.depth = table->depth;
	entry->n_open++;
	frame = &table->frames[table->depth++];
	*frame = (struct frame){
		.serial = scope.serial, .entry = entry, .flags = flags};
	frame->start_ticks = sl__ticks();
	return scope;
}

/* The frame of an open scope of this thread, or NULL. */
static struct frame *
frame_of(struct table *table, const struct sl_scope *scope)
{
	struct frame *frame;

	if (!table || scope->thread != table->id ||
	    scope->depth >= table->depth)
		return NULL;
	frame = &table->frames[scope->depth];
	return frame->serial == scope->serial ? frame : NULL;
}

void
sl_scope_work(struct sl_scope *scope, double n_flops, double n_bytes)
{
	struct table *table = this_thread;
	struct frame *frame = NULL;

	if (scope)
		frame = frame_of(table, scope);
	else if (table && table->depth)
		frame = &table->frames[table->depth - 1];
	if (!frame)
		return;
	frame->n_flops += n_flops;
	frame->n_bytes += n_bytes;
}

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What the thread allocated since 'before'. */
static void
add_allocations(struct sl__scope_usage *to,
		const struct sl__alloc_counts *before)
{
	const struct sl__alloc_counts *now = registry.interposer->counts();
	int64_t net = now->net_bytes - before->net_bytes;
	int64_t peak = now->net_peak_bytes - before->net_bytes;
	struct sl_live_point point = {
		1, (double)(to->net_bytes + (net < 0 ? net : 0)),
		(double)(to->net_bytes + peak), (double)(to->net_bytes + net),
		(double)now->largest_bytes};

	to->n_allocating++;
	to->n_allocations += now->n_allocations - before->n_allocations;
	to->allocated_bytes += now->allocated_bytes - before->allocated_bytes;
	to->freed_bytes += now->freed_bytes - before->freed_bytes;
	to->net_bytes += net;
	if (peak > to->live_peak_bytes)
		to->live_peak_bytes = peak;
	sl__live_series_add(&to->series, &point);
	raise_watermarks(before);
}

static void
add_usage(struct table *table, const struct frame *frame,
	  const struct sl__resource_usage *now)
{
	struct sl__scope_usage *to = frame->entry->usage;
	const struct frame_usage *before =
		&table->usages[frame - table->frames];
	const struct sl__resource_usage *then = &before->usage;

	if (frame->flags & SL_SCOPE_CPU) {
		double overhead_ns =
			(double)frame->overhead_ticks / registry.ticks_per_ns;
		double cpu_ns = (double)(now->cpu_ns - then->cpu_ns) -
				(double)registry.costs[frame->flags].cpu_ns -
				overhead_ns;

		to->n_cpu++;
		to->cpu_ns += cpu_ns > 0 ? cpu_ns : 0;
	}
	if (frame->flags & SL_SCOPE_FAULTS) {
		to->n_faults++;
		to->n_minor += now->n_minor - then->n_minor;
		to->n_major += now->n_major - then->n_major;
	}
	if (frame->flags & SL_SCOPE_MEMORY)
		to->n_memory++;
	if ((frame->flags & SL_SCOPE_MEMORY) && now->resident_bytes) {
		uint64_t peak = sl__resident_peak_between(then, now);

		to->n_resident++;
		to->resident_change_bytes += (double)now->resident_bytes -
					     (double)then->resident_bytes;
		if (peak > to->resident_peak_bytes)
			to->resident_peak_bytes = peak;
	}
	if ((frame->flags & SL_SCOPE_MEMORY) && registry.interposer)
		add_allocations(to, &before->counts);
}

/* Takes the innermost frame, closed at 'now', into its entry; returns what it
 * counted. */
static uint64_t
close_frame(struct table *table, uint64_t now)
{
	struct frame *frame = &table->frames[--table->depth];
	struct frame *outer = table->depth ? frame - 1 : NULL;
	struct sl__scope_entry *entry = frame->entry;
	const struct sl__scope_overhead *cost = &registry.costs[frame->flags];
	unsigned flags = frame->flags;
	struct sl__resource_usage usage;
	uint64_t ticks;

	table->last_ticks = less(now, frame->start_ticks);
	ticks = less(table->last_ticks,
		     cost->inside_ticks + frame->overhead_ticks);
	/* Overheads are medians; the times add up whatever this pair took. */
	if (ticks < frame->child_ticks)
		ticks = frame->child_ticks;
	if (flags) {
		sl__resource_usage_read(&usage, flags);
		table->last_cpu_ns =
			usage.cpu_ns - table->usages[table->depth].usage.cpu_ns;
	}
	if (outer) {
		outer->child_ticks += ticks;
		outer->overhead_ticks +=
			frame->overhead_ticks + cost->pair_ticks;
	}
	entry->n_open--;
	lock_table(table);
	sl__durations_add(&entry->durations, ticks);
	entry->self_ticks += ticks - frame->child_ticks;
	if (!entry->n_open) {
		entry->total_ticks += ticks;
		if (entry->parent != (outer ? outer->entry : NULL))
			entry->has_parents = 1;
	}
	entry->n_flops += frame->n_flops;
	entry->n_bytes += frame->n_bytes;
	if (flags)
		add_usage(table, frame, &usage);
	unlock_table(table);
	return ticks;
}

double
sl_scope_end(struct sl_scope *scope)
{
	uint64_t now = sl__ticks();
	struct table *table = this_thread;
	double elapsed_ns = (double)NAN;

	if (!scope || !scope->serial)
		return elapsed_ns;
	if (frame_of(table, scope)) {
		unwind_to(table, scope->depth + 1);
		elapsed_ns =
			(double)close_frame(table, now) / registry.ticks_per_ns;
	} else {
		registry.n_unbalanced++;
	}
	scope->serial = 0;
	return elapsed_ns;
}

/*
 * Empty scopes, timed from outside and by themselves.  The outer readings
 * span one reading more than the pair: what two in a row are apart.
 */
static void
calibrate_flags(struct table *table, unsigned flags)
{
	double inside[N_CALIBRATION], pair[N_CALIBRATION], cpu[N_CALIBRATION];

	for (size_t i = 0; i < N_CALIBRATION; i++) {
		uint64_t reading = sl__ticks();
		uint64_t start = sl__ticks();
		struct sl_scope scope = sl_scope_begin("", flags);

		sl_scope_end(&scope);
		pair[i] = (double)less(sl__ticks() - start, start - reading);
		inside[i] = (double)table->last_ticks;
		cpu[i] = flags & SL_SCOPE_CPU ? (double)table->last_cpu_ns : 0;
	}
	registry.costs[flags] = (struct sl__scope_overhead){
		(uint64_t)sl__median_in_place(inside, N_CALIBRATION),
		(uint64_t)sl__median_in_place(pair, N_CALIBRATION),
		(uint64_t)sl__median_in_place(cpu, N_CALIBRATION)};
}

/* Uses a table that stays behind, empty, for the thread to take. */
static void
calibrate(void)
{
	struct table *table = take_table();

	if (!table)
		return;
	for (unsigned flags = 0; flags <= SL_SCOPE_RESOURCES; flags++)
		calibrate_flags(table, flags);
	leave_table(table);
	sl_scope_reset();
}

static void
reset_entry(struct sl__scope_entry *entry, void *ctx)
{
	struct sl__scope_usage *usage = entry->usage;

	(void)ctx;
	memset(&entry->durations, 0, sizeof(entry->durations));
	entry->total_ticks = 0;
	entry->self_ticks = 0;
	entry->n_flops = 0;
	entry->n_bytes = 0;
	if (!usage)
		return;
	memset(usage, 0, sizeof(*usage));
	sl__live_series_init(&usage->series, usage->points, SL__N_SCOPE_POINTS);
}

void
sl__scope_each(sl__scope_visit *visit, void *ctx)
{
	pthread_mutex_lock(&registry.lock);
	for (struct table *t = registry.tables; t; t = t->next) {
		lock_table(t);
		for (size_t i = 0; i < t->n_entries; i++)
			visit(t->entries[i], ctx);
		unlock_table(t);
	}
	pthread_mutex_unlock(&registry.lock);
}

void
sl_scope_reset(void)
{
	sl__scope_each(reset_entry, NULL);
	registry.n_dropped = 0;
	registry.n_unbalanced = 0;
}

void
sl__scope_costs_and_drops_read(struct sl__scope_costs_and_drops *out)
{
	pthread_once(&registry.once, open_registry);
	memcpy(out->costs, registry.costs, sizeof(out->costs));
	out->n_dropped = registry.n_dropped;
	out->n_unbalanced = registry.n_unbalanced;
	out->interposer_absent = registry.interposer_absent;
}
