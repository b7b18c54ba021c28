/* SPDX-License-Identifier: Apache-2.0 */
/* observing.h - scopes in a program, and the memory it takes. */
#ifndef SLEUTH_OBSERVING_H
#define SLEUTH_OBSERVING_H

#include "sleuth/machines.h"
#include "sleuth/measuring.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A scope is a named stretch of the caller's own program:
 *
 *	struct sl_scope scope = sl_scope_begin("forward", SL_SCOPE_CPU);
 *
 *	forward(model);
 *	sl_scope_work(&scope, flops, bytes);
 *	elapsed_ns = sl_scope_end(&scope);
 *
 * Scopes nest and repeat.  Each thread counts its own without a lock that
 * others wait for; results add them up by name, and threads that ended keep
 * their part.  The table is the one object that belongs to the process: a
 * function deep in a program cannot be handed one.  Every call below may
 * be made from any thread at any time, but not from a signal handler.
 *
 * Wall time, count and declared work cost some 50 ns a pair; each flag adds
 * system calls (all three: some 4 us).  The cost of a pair is measured once, on
 * first use (about 5 ms), and taken off every time below.
 */
enum sl_scope_flags {
	SL_SCOPE_CPU = 1u << 0,    /* CPU time of the thread */
	SL_SCOPE_FAULTS = 1u << 1, /* page faults of the thread */
	SL_SCOPE_MEMORY = 1u << 2, /* resident memory of the process and, with
				      libsleuth-alloc, what the thread
				      allocated */
	SL_SCOPE_RESOURCES = 7u    /* all of these */
};

/* An open scope.  The fields are private; all zeros is a closed one. */
struct sl_scope {
	uint64_t serial;
	uint32_t thread, depth;
};

/*
 * Opens a scope of the calling thread.  'name' is copied when first met and
 * may change afterwards; NULL is "(unnamed)".  Never fails: a scope that
 * cannot be kept (more than 256 names or 64 levels in a thread, or no
 * memory) is counted as dropped.
 */
SL_API struct sl_scope sl_scope_begin(const char *name, unsigned flags);

/*
 * Declares work done in an open scope of the calling thread; repeated calls
 * add up.  NULL means the innermost open one.
 */
SL_API void sl_scope_work(struct sl_scope *scope, double n_flops,
			  double n_bytes);

/*
 * Closes a scope, on the thread that opened it, and returns how long it was
 * open in nanoseconds, the cost of measuring taken off: what the rows below
 * count for this call.  NaN where nothing is counted: for NULL, a scope that
 * was dropped, closed before, or is another thread's.  Scopes inside it that
 * were left open are forgotten: they count as unbalanced, not as calls, and
 * their time, memory and work are those of the scope closed.  A scope closed
 * twice or on another thread is unbalanced too and changes nothing else.
 */
SL_API double sl_scope_end(struct sl_scope *scope);

#if defined(__GNUC__)
#define SL_SCOPE_JOIN_(a, b)     a##b
#define SL_SCOPE_VARIABLE_(line) SL_SCOPE_JOIN_(sl_scope_, line)

/* Opens a scope that closes itself at the end of its block. */
#define SL_SCOPE(name)                                           \
	struct sl_scope SL_SCOPE_VARIABLE_(__LINE__)             \
		__attribute__((cleanup(sl_scope_end), unused)) = \
			sl_scope_begin((name), 0)
#endif

/* What one scope took, over all threads and calls since the last reset. */
struct sl_scope_row {
	const char *name;
	const char *parent; /* the scope it was opened in; NULL when that was
			       none, or not always the same */
	size_t n_calls;
	size_t n_threads; /* at most so many ran it at the same time */
	double total_ns;  /* inside the scope; calls of a scope within itself
			     are counted once */
	double self_ns;   /* total less the scopes inside it */
	double share;     /* self_ns / self_ns of all scopes */

	/* One call.  Percentiles come from buckets of at most 3 % width,
	 * which their intervals include. */
	double min_ns, max_ns, std_ns;
	struct sl_estimate mean;
	struct sl_estimate median, p90, p95, p99;

	double n_flops, n_bytes; /* declared, all calls; 0: none */
	struct sl_reading flops_per_s, bytes_per_s; /* over total_ns, hence of
						       one thread where
						       several ran it */
	/* Of the machine's ceilings, and what these are called; NULL. */
	struct sl_reading compute_share, bandwidth_share;
	const char *compute_ceiling, *bandwidth_ceiling;

	/* Means per call over the calls that asked for them. */
	struct sl_reading cpu_ns;
	struct sl_reading n_minor_faults, n_major_faults;
	struct sl_reading resident_change_bytes;
	struct sl_reading resident_peak_bytes; /* largest of any call; a lower
						  bound where it was not a new
						  peak of the process */
	/* What the thread allocated, per call (libsleuth-alloc). */
	struct sl_reading n_allocations, allocated_bytes, freed_bytes;
	struct sl_reading live_peak_bytes; /* above the live bytes when it was
					      opened; largest of any call */
	const char *pattern; /* sl_memory_pattern_text(), or NULL */
};

struct sl_scopes {
	size_t n_rows;
	const struct sl_scope_row *rows; /* largest self_ns first */
	size_t n_scopes;                 /* names met, whatever n_rows is */
	double self_ns;                  /* of all scopes */
	uint64_t n_dropped;              /* scopes that could not be kept */
	uint64_t n_unbalanced;           /* closed late, twice or elsewhere */
	double pair_ns;                  /* a pair without flags, subtracted */
	double resources_pair_ns;        /* one with all flags, subtracted */
	struct sl_machine *machine;      /* as it was known before; NULL: it
					    was never measured; owned */
};

/* The n scopes with the largest self time; n = 0 means all. */
SL_API enum sl_status sl_scope_top(struct sl_scopes **out, size_t n,
				   struct sl_error *err) SL_CHECKED;
SL_API void sl_scopes_free(struct sl_scopes *s);

/*
 * Forgets what all threads counted.  Scopes that are open stay open and
 * count as a whole when they are closed.
 */
SL_API void sl_scope_reset(void);

/*
 * Appends a report on all scopes: times, rates, shares of the machine's
 * ceilings where a description of it is cached, and what stands out.  TEXT,
 * MARKDOWN or JSON.  sl_scopes_render() does so for rows already taken.
 */
SL_API enum sl_status sl_scope_report(const struct sl_render_options *how,
				      struct sl_buf *out,
				      struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_scopes_render(const struct sl_scopes *s,
				       const struct sl_render_options *how,
				       struct sl_buf *out,
				       struct sl_error *err) SL_CHECKED;

/*
 * How live memory behaves.  A tooth is a rise by a quarter of the whole range
 * and a fall by as much.  The first rule that fits names the pattern.
 */
enum sl_memory_pattern {
	SL_MEMORY_FLAT = 0,  /* ranges over a page at most (sampled: 64) */
	SL_MEMORY_COPIES,    /* three teeth or more, at least half of them
				made by one block */
	SL_MEMORY_SAWTOOTH,  /* three teeth or more of smaller blocks */
	SL_MEMORY_GROWING,   /* ends above its start by half of its range */
	SL_MEMORY_SHRINKING, /* ends below its start by half of its range */
	SL_MEMORY_SPIKE      /* any other excursion, up or down, and back */
};

/* "flat", "temporary copies", "sawtooth churn", "growing",
 * "shrinking" or "spike". */
SL_API const char *sl_memory_pattern_text(enum sl_memory_pattern pattern);

enum sl_memory_method {
	SL_MEMORY_AUTO = 0,   /* interposed where possible */
	SL_MEMORY_INTERPOSED, /* each allocator call, by libsleuth-alloc */
	SL_MEMORY_RESIDENT    /* resident memory, sampled */
};

struct sl_memory_options {
	size_t struct_size;
	const char *name;             /* for reports; default "function" */
	size_t n_warmup;              /* calls before recording; default 0 */
	size_t n_calls;               /* calls recorded; default 1 */
	enum sl_memory_method method; /* INTERPOSED fails where it cannot */
	size_t n_sites;               /* call sites to list; default 10 */
	size_t site_depth;            /* callers kept of each; 1 to 8, default
					 4: some 1 us an allocation */
	const struct sl_allocator *allocator;
};
#define SL_MEMORY_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_memory_options)

/* A place that allocates: a call chain, innermost first. */
struct sl_memory_site {
	const char *where; /* "make_row+0x1c < main+0x40" */
	const uintptr_t *addresses;
	size_t n_addresses;
	uint64_t n_allocations, allocated_bytes;
};

/* Live memory after some more allocator calls, or at a later sample. */
struct sl_live_point {
	uint64_t n_events; /* calls or samples summed up in this point */
	double low_bytes, high_bytes, last_bytes;
	double step_bytes; /* the largest single rise; 0: not known */
};

enum { SL_MEMORY_N_SIZES = 48 };

/*
 * Sizes count what the allocator set aside, a little more than was asked
 * for.  With SL_MEMORY_INTERPOSED baseline, peak and final are live bytes of
 * the heap, all threads; with SL_MEMORY_RESIDENT resident bytes.
 */
struct sl_memory {
	const char *name;
	enum sl_memory_method method;
	const char *method_reason; /* why not interposed; NULL when it is */
	double baseline_bytes, peak_bytes, final_bytes;
	struct sl_reading allocated_bytes, freed_bytes, requested_bytes;
	struct sl_reading n_allocations, n_frees;
	struct sl_reading n_unsited; /* allocations from more places than are
					kept (1024) */

	/* Allocations of 2^i to 2^(i+1) - 1 bytes asked for; all zeros when
	 * not interposed. */
	uint64_t n_by_size[SL_MEMORY_N_SIZES];
	const struct sl_memory_site *sites; /* most bytes first */
	size_t n_sites;

	enum sl_memory_pattern pattern;
	const char *evidence; /* in words and numbers */
	const struct sl_live_point *points;
	size_t n_points;
	size_t n_calls;
	double elapsed_s;
};

/*
 * Calls fn(ctx) and says what memory that took; for a model, use
 * sl_measure_memory().  With libsleuth-alloc linked or preloaded (docs/api.md
 * says how) every allocator call of every thread is recorded; otherwise
 * resident memory is sampled every half millisecond.  SL_E_MEASURE when fn
 * fails or another such measurement is recording; SL_E_ABSENT when
 * SL_MEMORY_INTERPOSED is asked for and cannot be had.
 */
SL_API enum sl_status
sl_measure_function_memory(struct sl_memory **out, sl_function *fn, void *ctx,
			   const struct sl_memory_options *options,
			   struct sl_error *err) SL_CHECKED;
SL_API void sl_memory_free(struct sl_memory *m);

/* Appends the result; TEXT, MARKDOWN or JSON. */
SL_API enum sl_status sl_memory_render(const struct sl_memory *m,
				       const struct sl_render_options *how,
				       struct sl_buf *out,
				       struct sl_error *err) SL_CHECKED;

struct sl_profile_function_options {
	size_t struct_size;
	double n_flops, n_bytes; /* work of one call; 0: not declared */
	double time_s;           /* for timing; default 1 */
	const struct sl_render_options *render; /* default: text */
	const struct sl_allocator *allocator;
};
#define SL_PROFILE_FUNCTION_OPTIONS_INIT \
	SL_OPTIONS_INIT(struct sl_profile_function_options)

/*
 * Measures fn(ctx) as sl_measure() and then, in one more call, as
 * sl_measure_function_memory(), and appends one report on time, memory, rates
 * and what stands out.  SL_E_MEASURE when fn fails.
 */
SL_API enum sl_status
sl_profile_function(struct sl_buf *out, const char *name, sl_function *fn,
		    void *ctx,
		    const struct sl_profile_function_options *options,
		    struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
