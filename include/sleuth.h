/* SPDX-License-Identifier: Apache-2.0 */
/* sleuth.h - measure C functions, commands and machines, and say how sure. */
#ifndef SLEUTH_H
#define SLEUTH_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SL_VERSION_MAJOR 0
#define SL_VERSION_MINOR 1
#define SL_VERSION_PATCH 0

#if defined(__GNUC__)
#define SL_API     __attribute__((visibility("default")))
#define SL_CHECKED __attribute__((warn_unused_result))
#else
#define SL_API
#define SL_CHECKED
#endif

/*
 * Conventions that hold for every function below.
 *
 * Times are in nanoseconds (_ns) or seconds (_s), sizes in bytes (_bytes),
 * shares and ratios are plain numbers (0.01 is one percent).  A figure that
 * could not be had is NaN, and a string beside it says why.
 *
 * An option struct starts with struct_size, which must be sizeof the struct;
 * every other field may be zero, which means the default.  NULL in place of
 * an option struct means all defaults.  Result structs are allocated by the
 * library, freed by the matching _free(), read-only in between, and may be
 * read from any thread.  _free(NULL) is fine.
 *
 * A function that can fail returns enum sl_status and takes, last, a struct
 * sl_error that it fills on failure and leaves alone on success; NULL is
 * allowed there.  On failure every out-parameter is NULL.  The library never
 * prints, never ends the program and installs no signal handlers.
 *
 * Functions may be called from several threads at once on different objects.
 * Measuring from two threads at once is allowed and disturbs both.
 */

/* ------------------------------------------------------------ version -- */

/* The version of the library that is loaded, such as "0.1.0". */
SL_API const char *sl_version(void);

/* ------------------------------------------------------------- errors -- */

enum sl_status {
	SL_OK = 0,
	SL_E_NOMEM = -1,       /* out of memory */
	SL_E_USAGE = -2,       /* an argument or option makes no sense */
	SL_E_DATA = -3,        /* a model or data file is malformed */
	SL_E_ABSENT = -4,      /* this machine or build does not have it */
	SL_E_IO = -5,          /* reading or writing failed */
	SL_E_MEASURE = -6,     /* what was measured failed, or nothing was */
	SL_E_INTERRUPTED = -7, /* told to stop before anything was measured */
	SL_E_BUG = -8          /* a defect in Sleuth */
};

/* A short English phrase for 'status', valid for ever; never NULL. */
SL_API const char *sl_status_text(enum sl_status status);

/* What went wrong, in one line without a newline, fit for a user. */
struct sl_error {
	enum sl_status status;
	char text[512];
};

/* ------------------------------------------------------------ storage -- */

/*
 * Where the library gets its memory.  'alloc' returns 16-byte aligned
 * storage or NULL; 'release' takes what 'alloc' returned (never NULL).
 * Both may be called from any thread that calls the library.  The struct is
 * copied; 'ctx' must live until the last result made with it is freed.
 */
struct sl_allocator {
	void *(*alloc)(size_t n_bytes, void *ctx);
	void (*release)(void *block, void *ctx);
	void *ctx;
};

/*
 * Bytes written by the library, owned by the caller.  Start from all zeros.
 * 'data' ends in a NUL that n_bytes does not count, and is NULL while
 * nothing was written.
 */
struct sl_buf {
	char *data;
	size_t n_bytes;
	size_t cap_bytes;
};

/* Frees the contents and makes the buffer empty; it may be used again. */
SL_API void sl_buf_release(struct sl_buf *buf);

/*
 * Makes 'path' hold exactly the bytes of 'buf', or leaves it as it was: a
 * regular file is written beside its destination and renamed.  SL_E_IO with
 * the reason when that cannot be done.
 */
SL_API enum sl_status sl_buf_write(const struct sl_buf *buf, const char *path,
				   struct sl_error *err) SL_CHECKED;

/*
 * Where the library sends remarks about what it is doing: one line at a time,
 * without a newline, from the thread that called.
 */
struct sl_log {
	void (*line)(const char *text, void *ctx);
	void *ctx;
};

/* ------------------------------------------------ figures and their error */

/* How an interval was found. */
enum sl_method {
	SL_METHOD_NONE = 0,
	SL_METHOD_ORDER,    /* order statistics; assumes independence */
	SL_METHOD_BLOCK,    /* stationary block bootstrap */
	SL_METHOD_STUDENT,  /* Student's t */
	SL_METHOD_BCA,      /* BCa bootstrap */
	SL_METHOD_SIGN,     /* inverted sign e-process; always valid */
	SL_METHOD_BINOMIAL, /* Clopper-Pearson, for shares */
	SL_METHOD_BATCH     /* order statistics or Student's t over the samples
			      that correlated ones are worth, by batch means */
};

/* A name for 'method' as reports print it; never NULL. */
SL_API const char *sl_method_text(enum sl_method method);

/*
 * A figure with its 95 % interval.  When n samples cannot support the
 * interval, lo and hi are NaN and needs_n says how many would.
 */
struct sl_estimate {
	double value;
	double lo, hi;
	size_t n;
	size_t needs_n; /* 0 when the interval stands */
	enum sl_method method;
};

/* A figure that a machine may not have: NaN with the reason, or a value. */
struct sl_reading {
	double value;
	const char *absent; /* NULL when value stands; lives as long as the
			       result it is in */
};

/* How a series of times begins. */
enum sl_warmup_class {
	SL_WARMUP_UNKNOWN = 0, /* too few samples to say */
	SL_WARMUP_FLAT,        /* steady from the start */
	SL_WARMUP_WARMING,     /* became faster, then steady */
	SL_WARMUP_SLOWING,     /* became slower, then steady */
	SL_WARMUP_NONE         /* never became steady */
};

/* A name for 'c' as reports print it; never NULL. */
SL_API const char *sl_warmup_text(enum sl_warmup_class c);

/* What a column of times says.  All times are per call, in nanoseconds. */
struct sl_latency {
	size_t n; /* samples in the steady state; all below is over these */
	double min_ns, max_ns, std_ns, mad_ns;
	double skewness;
	struct sl_estimate mean;
	struct sl_estimate median; /* the p50 */
	struct sl_estimate p90, p95, p99;
	double first_ns; /* the cold first call; among the n only for commands
			    without warm-up, of which every run counts */
	enum sl_warmup_class warmup;
	size_t n_warmup; /* samples before the steady state */
	size_t n_outliers_low, n_outliers_high; /* labelled, not removed */
	double autocorrelation;                 /* lag 1 */
	double minimum_detectable; /* smallest relative change seen with 80 %
				      power in a second series like this */
};

/*
 * What disturbed a measurement.  A slot is the stretch between two readings
 * of the covariates; it is disturbed when the thread was preempted, waited
 * for a CPU or changed CPU in it.  For commands a slot is a run, disturbed
 * when it waited for a CPU for more than a tenth of its time.
 */
struct sl_noise {
	size_t n_slots;
	size_t n_disturbed;
	struct sl_reading involuntary_switches; /* count */
	struct sl_reading run_delay_share;      /* waiting for a CPU / wall */
	struct sl_reading steal_share;          /* taken by the hypervisor */
	struct sl_reading migrations;           /* count */
	struct sl_reading neighbour_share;      /* CPU use by others, of all */
	struct sl_reading frequency_drift; /* of a probe: (p90 - p10) / p50 */
	struct sl_reading throttle_events; /* count */
};

/* Why a measurement ended. */
enum sl_stop {
	SL_STOP_RUNS = 0,  /* the number asked for was reached */
	SL_STOP_PRECISION, /* the interval is as narrow as asked */
	SL_STOP_TIME,      /* the time budget is spent */
	SL_STOP_VERDICT,   /* the question is decided */
	SL_STOP_INTERRUPT  /* the caller's interrupt flag was set */
};

/* --------------------------------------------------- measuring a function */

/*
 * What is measured.  Returns 0, or anything else to say that it failed: the
 * measurement then ends with SL_E_MEASURE.
 */
typedef int sl_function(void *ctx);

/*
 * A source of time, for tests and for users with a better clock: returns
 * nanoseconds that never decrease.
 */
struct sl_clock {
	uint64_t (*now_ns)(void *ctx);
	void *ctx;
};

struct sl_measure_options {
	size_t struct_size;
	const char *name; /* for reports; default "function" */
	double time_s;    /* whole budget; default 1 */
	double precision; /* stop when the median's half-width is below
			       this share of it; default 0.01 */
	size_t n_warmup;  /* fixed warm-up samples instead of detection */
	size_t n_runs;    /* fixed number of samples instead of precision;
			       the time budget does not apply then */
	uint64_t seed;    /* for the bootstrap; default 1 */
	const struct sl_clock *clock;           /* default: monotonic */
	const volatile sig_atomic_t *interrupt; /* stop when non-zero */
	const struct sl_allocator *allocator;   /* default: libc */
};

struct sl_measurement {
	const char *name;
	struct sl_latency wall;
	struct sl_estimate
		cpu; /* thread CPU time per call, median over slots */
	struct sl_noise noise;
	size_t calls_per_sample; /* above 1 a sample is a mean over calls, and
				    percentiles are of such means */
	double clock_cost_ns;    /* of one reading, subtracted */
	double clock_resolution_ns; /* smallest step seen */
	double elapsed_s;
	enum sl_stop stopped_by;
	uint64_t seed;
	const double *samples_ns; /* all of them, warm-up first */
	size_t n_samples;
};

/*
 * Calls fn(ctx) until the median is known to the precision asked for or the
 * time is spent, and says what that shows.  Functions too short for the
 * clock are called several times per sample.  Between the first warm-up and
 * the last sample nothing is allocated, locked or logged.  SL_E_MEASURE when
 * fn fails; SL_E_USAGE for options out of range.
 */
SL_API enum sl_status sl_measure(struct sl_measurement **out, sl_function *fn,
				 void *ctx,
				 const struct sl_measure_options *options,
				 struct sl_error *err) SL_CHECKED;
SL_API void sl_measurement_free(struct sl_measurement *m);

/* ------------------------------------------------------------- comparing */

/* B against A.  The margin is the change that does not matter. */
enum sl_verdict {
	SL_VERDICT_UNDECIDED = 0,
	SL_VERDICT_FASTER, /* B proved faster than A by more than the margin */
	SL_VERDICT_SLOWER, /* B proved slower by more than the margin */
	SL_VERDICT_SAME    /* proved to lie within the margin */
};

/* "faster", "slower", "same" or "undecided". */
SL_API const char *sl_verdict_text(enum sl_verdict verdict);

/* The one-sided question: is B worse than A by more than the margin? */
enum sl_gate {
	SL_GATE_UNDECIDED = 0,
	SL_GATE_OK,       /* proved not to be worse by more than the margin */
	SL_GATE_REGRESSED /* proved worse by more than the margin */
};

struct sl_comparison {
	const char *a, *b;              /* names; A is the baseline */
	struct sl_estimate ratio;       /* time B / time A */
	double speedup;                 /* 1 / ratio */
	struct sl_estimate cpu_ratio;   /* CPU time B / A, same method */
	struct sl_reading memory_ratio; /* peak memory A / B */
	enum sl_verdict verdict;
	enum sl_gate gate;
	double margin;
	size_t n_rounds;    /* that count */
	size_t n_disturbed; /* of all rounds, counted or not */
	size_t n_left_out;  /* disturbed ones that do not count, by a rule that
			       cannot tell A from B */
	double log_e;       /* ln of the two-sided e-value for "no change" */
	double minimum_detectable; /* relative change that n_rounds more rounds
				      would find with 80 % power */
	double decided_after_s;    /* NaN while undecided */
};

struct sl_candidate {
	const char *name;
	sl_function *fn;
	void *ctx;
};

struct sl_compare_options {
	size_t struct_size;
	double time_s;     /* whole budget; default 3 */
	double margin;     /* default 0.01; negative means 0: any difference */
	double alpha;      /* error rate; default 0.05 */
	size_t min_rounds; /* after the verdict, for the interval; default 50 */
	uint64_t seed;     /* of the coin; default 1 */
	const struct sl_clock *clock;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};

struct sl_comparisons {
	size_t n;                         /* candidates - 1 */
	const struct sl_comparison *rows; /* each against candidate 0 */
	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
	uint64_t seed;
};

/*
 * Runs the candidates in rounds, each round in a fresh random order, until
 * every one is decided against candidate 0 or the time is spent.  The error
 * rate holds however often it looks (sign e-process; docs/statistics.md),
 * divided by n - 1 when there are several.  n from 2 to 64; a name that is
 * NULL becomes "A", "B", ...; SL_E_USAGE for a function that is NULL.
 */
SL_API enum sl_status sl_compare(struct sl_comparisons **out,
				 const struct sl_candidate *candidates,
				 size_t n,
				 const struct sl_compare_options *options,
				 struct sl_error *err) SL_CHECKED;
SL_API void sl_comparisons_free(struct sl_comparisons *c);

/* -------------------------------------------------------------- commands */

struct sl_parameter {
	const char *name, *value;
};

/*
 * One command.  Either argv (NULL-terminated, searched in PATH, no shell) or
 * shell_line, run as SHELL -c shell_line.  setup, prepare, conclude and
 * cleanup are lines for /bin/sh: before all runs, before each, after each,
 * after all; NULL for none, and none of them is timed.
 */
struct sl_command {
	const char *name; /* default: the words of the command */
	const char *const *argv;
	const char *shell_line;
	const char *setup, *prepare, *conclude, *cleanup;
	const struct sl_parameter *parameters; /* for reports */
	size_t n_parameters;
};

enum sl_bench_until {
	SL_UNTIL_PRECISION = 0, /* every median known well enough */
	SL_UNTIL_VERDICT        /* every candidate decided against command 0 */
};

struct sl_progress {
	const char *what; /* such as "measuring" */
	size_t n_done;    /* rounds */
	double share;     /* 0 to 1 */
	double remaining_s;
	double median_ns; /* of the baseline so far, NaN before it is known */
};

struct sl_bench_options {
	size_t struct_size;
	enum sl_bench_until until;
	double time_s;      /* for all commands, after set-up and warm-up;
			       default 3 each */
	double precision;   /* default 0.01 */
	double margin;      /* default 0.01; negative means 0 */
	double alpha;       /* default 0.05 */
	size_t n_warmup;    /* untimed runs of each first; default 0 */
	size_t n_runs;      /* exact number of rounds instead of the rules */
	size_t min_runs;    /* default 10, unless the time runs out */
	size_t max_runs;    /* default: no limit but the time */
	const char *shell;  /* for shell_line; default "/bin/sh" */
	const char *input;  /* file for standard input; default /dev/null */
	const char *output; /* file for standard output and error, appended;
			       "inherit" for the caller's; default /dev/null */
	int ignore_failure; /* a non-zero exit is counted, not an error */
	uint64_t seed;      /* of the order of runs; default 1 */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};

struct sl_bench_result {
	const struct sl_command *command; /* a copy, owned by the result */
	struct sl_latency wall;
	struct sl_estimate user, system; /* CPU time of the command, mean ns */
	struct sl_reading peak_bytes;    /* largest resident set of any run */
	struct sl_estimate shell; /* starting the shell alone, median ns: part
				     of every run; n is 0 without one */
	const double *wall_ns;    /* each run in order, warm-up left out */
	const double *user_ns, *system_ns, *resident_bytes;
	const int *exit_codes; /* 128 + signal when killed by one */
	size_t n_runs;
	size_t n_failed;
};

struct sl_bench {
	size_t n_results;
	const struct sl_bench_result *results;   /* in the caller's order */
	size_t n_comparisons;                    /* n_results - 1 */
	const struct sl_comparison *comparisons; /* each against command 0 */
	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
	uint64_t seed;
};

/*
 * Runs whole commands in rounds, every round each command once in a fresh
 * random order.  The time of a run is from before it is started to after it
 * was waited for.  A command that cannot be started, or fails without
 * ignore_failure, ends everything with SL_E_MEASURE.  Must not be called
 * from two threads at once; other children of the process are left alone.
 */
SL_API enum sl_status sl_bench(struct sl_bench **out,
			       const struct sl_command *commands, size_t n,
			       const struct sl_bench_options *options,
			       struct sl_error *err) SL_CHECKED;
SL_API void sl_bench_free(struct sl_bench *b);

/* ---------------------------------------------------------------- scopes */

struct sl_render_options; /* under reporting */

/*
 * A scope is a named stretch of the caller's own program:
 *
 *	struct sl_scope scope = sl_scope_begin("forward", SL_SCOPE_CPU);
 *
 *	forward(model);
 *	sl_scope_work(&scope, flops, bytes);
 *	sl_scope_end(&scope);
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
 * Closes a scope, on the thread that opened it.  Scopes inside it that were
 * left open are forgotten: they count as unbalanced, not as calls, and their
 * time, memory and work are those of the scope closed.  A scope closed twice
 * or on another thread is unbalanced too and changes nothing else.  NULL does
 * nothing.
 */
SL_API void sl_scope_end(struct sl_scope *scope);

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

/* ---------------------------------------------------------------- memory */

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
 * Calls fn(ctx) and says what memory that took.  With libsleuth-alloc linked
 * or preloaded every allocator call of every thread is recorded; otherwise
 * resident memory is sampled every half millisecond.  SL_E_MEASURE when fn
 * fails or another such measurement is recording; SL_E_ABSENT when
 * SL_MEMORY_INTERPOSED is asked for and cannot be had.
 */
SL_API enum sl_status
sl_measure_memory_of(struct sl_memory **out, sl_function *fn, void *ctx,
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

/*
 * Measures fn(ctx) as sl_measure() and then, in one more call, as
 * sl_measure_memory_of(), and appends one report on time, memory, rates and
 * what stands out.  SL_E_MEASURE when fn fails.
 */
SL_API enum sl_status
sl_profile_function(struct sl_buf *out, const char *name, sl_function *fn,
		    void *ctx,
		    const struct sl_profile_function_options *options,
		    struct sl_error *err) SL_CHECKED;

/* --------------------------------------------------------------- machine */

/* Types of number whose arithmetic is measured. */
enum sl_dtype {
	SL_DTYPE_F32 = 0,
	SL_DTYPE_F64,
	SL_DTYPE_BF16, /* products of bfloat16, sums in f32 */
	SL_DTYPE_I8    /* products of 8-bit integers, sums in 32 bits */
};

/* "f32", "f64", "bf16" or "int8". */
SL_API const char *sl_dtype_text(enum sl_dtype dtype);

/* A word about the machine: NULL with the reason, or a value. */
struct sl_fact {
	const char *value;
	const char *absent; /* NULL when value stands */
};

/* Caches of one level and kind. */
struct sl_cache {
	unsigned level;
	const char *kind; /* "data", "instruction" or "unified" */
	size_t size_bytes;
	size_t line_bytes;
	size_t n;         /* how many there are */
	size_t n_sharing; /* hardware threads that share one */
};

/* A hardware counter and, when it cannot be read, why. */
struct sl_counter {
	const char *name;
	const char *absent; /* NULL when it can be read */
};

/* What arithmetic can reach. */
struct sl_peak {
	enum sl_dtype dtype;
	const char *isa;              /* "AVX-512", "SSE2", "scalar" */
	size_t n_bits;                /* width of a register */
	size_t n_threads;             /* 0 when absent */
	struct sl_estimate ops_per_s; /* a multiply-add is 2 */
	const char *absent;           /* NULL when ops_per_s stands */
};

/*
 * Ways to walk memory.  NT stores are non-temporal: they pass the caches by.
 * Copy is b = a; triad is a = b + s * c.  A chase follows pointers in random
 * order.
 */
enum sl_access {
	SL_ACCESS_LOAD = 0,
	SL_ACCESS_STORE,
	SL_ACCESS_STORE_NT,
	SL_ACCESS_COPY,
	SL_ACCESS_COPY_NT,
	SL_ACCESS_TRIAD,
	SL_ACCESS_TRIAD_NT,
	SL_ACCESS_CHASE
};

/* "load", "store", "store-nt", ..., "chase". */
SL_API const char *sl_access_text(enum sl_access access);

/* One size on the way from the first cache to memory; value as a ceiling. */
struct sl_memory_point {
	enum sl_access access;
	size_t n_threads;
	size_t size_bytes; /* touched by each thread */
	double value;      /* bytes/s of all threads; chase: ns a load */
};

/*
 * A stretch of sizes over which memory answers alike, found on the curve.
 * Bytes are those the program reads and writes.  A plain store beyond the
 * first cache first reads its line (read for ownership): bytes times
 * traffic_per_byte is what moves then, supposing the core does read it.
 */
struct sl_memory_level {
	const char *level; /* "L1", "L2", "L3", "DRAM", or "unnamed" */
	enum sl_access access;
	size_t n_threads;
	size_t from_bytes, to_bytes; /* touched by each thread */
	struct sl_estimate value;    /* as in struct sl_memory_point */
	double traffic_per_byte;     /* NaN for a chase */
};

struct sl_machine {
	/* What it is. */
	struct sl_fact model, architecture, kernel, microcode;
	struct sl_reading n_sockets, n_cores, n_hardware_threads, n_numa_nodes;
	struct sl_reading memory_bytes;
	size_t n_cpus_allowed;         /* this process may run on so many */
	const struct sl_cache *caches; /* from the first level outwards */
	size_t n_caches;
	const char *const *isa; /* extensions, as the kernel names them */
	size_t n_isa;
	struct sl_fact governor, turbo, huge_pages, smt, hypervisor, energy;
	const struct sl_counter *counters;
	size_t n_counters;
	const char *fingerprint; /* 16 hexadecimal digits */

	/* What it can do. */
	const struct sl_peak *peaks;
	size_t n_peaks;
	const struct sl_memory_level *levels;
	size_t n_levels;
	const struct sl_memory_point *points;
	size_t n_points;
	struct sl_fact buffer_pages; /* pages under the buffers measured in */
	size_t max_threads;          /* the most that were used at once */
	size_t n_passes;             /* over everything that is measured */
	double elapsed_s;            /* of measuring */
	double measured_at_s;        /* since 1970 */
	int from_cache;
	enum sl_stop stopped_by;
};

struct sl_machine_options {
	size_t struct_size;
	int fresh;        /* measure although a cached result fits */
	size_t n_threads; /* at most; default: the CPUs allowed */
	double time_s;    /* for measuring; default 12.  One pass is made
			     even when it takes longer. */
	const char *cache_folder; /* default: sleuth in $XDG_CACHE_HOME or
				     in ~/.cache; "" for no cache */
	const char *root; /* for tests: stands before /proc and /sys and holds
			     hwloc.txt, while the CPU here is measured */
	const struct sl_log *log;
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};

/*
 * Says what this machine is and what it can do: from the cache when it holds
 * a result for this very machine, else by measuring and then caching.  A
 * cache that cannot be read or written is a line in the log, no failure.
 * Every ceiling is the ninth decile (latency: the first) of short probes
 * spread over several passes.  When interrupted after the first pass the
 * result stands, says so, and is not cached.
 */
SL_API enum sl_status sl_machine_probe(struct sl_machine **out,
				       const struct sl_machine_options *options,
				       struct sl_error *err) SL_CHECKED;

/* Like sl_machine_probe(), but never measures: SL_E_ABSENT without a cached
 * result. */
SL_API enum sl_status
sl_machine_open_cached(struct sl_machine **out,
		       const struct sl_machine_options *options,
		       struct sl_error *err) SL_CHECKED;
SL_API void sl_machine_free(struct sl_machine *m);

/*
 * The best that n_threads reach: operations (a multiply-add is 2) and bytes
 * from and to DRAM a second.  Where n_threads was not measured, the largest
 * measured number below it; NaN where nothing was.
 */
SL_API double sl_machine_peak_flops_per_s(const struct sl_machine *m,
					  enum sl_dtype dtype,
					  size_t n_threads);
SL_API double sl_machine_bandwidth_bytes_per_s(const struct sl_machine *m,
					       size_t n_threads);

/* ------------------------------------------------------------- selfcheck */

struct sl_selfcheck_options {
	size_t struct_size;
	double time_s;      /* whole budget; default 60 */
	double budget_s;    /* of one verdict; default 0.1 */
	double function_ns; /* length of the work measured; default 50 us */
	uint64_t seed;
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};

/* How often a planted change of 'planted' (0 for A against A) was found. */
struct sl_selfcheck_row {
	double planted;      /* asked for, as a share of the work */
	double planted_real; /* iterations added / iterations, exact */
	size_t n_verdicts;
	size_t n_different;         /* called faster or slower */
	size_t n_right;             /* of these, in the planted direction */
	struct sl_estimate rate;    /* n_different / n_verdicts (planted 0) or
				    n_right / n_verdicts, Clopper-Pearson */
	struct sl_estimate seconds; /* to a verdict, median of those reached */
};

struct sl_selfcheck {
	size_t n_rows;
	const struct sl_selfcheck_row *rows; /* planted 0, .01, .02, .05 */
	double budget_s, function_ns;
	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
	uint64_t seed;
};

/*
 * Measures the instrument itself on this machine: the same function against
 * itself, and against itself with 1, 2 and 5 % more iterations, each decided
 * as sl_compare() decides with margin 0, over and over, kinds interleaved.
 */
SL_API enum sl_status sl_selfcheck(struct sl_selfcheck **out,
				   const struct sl_selfcheck_options *options,
				   struct sl_error *err) SL_CHECKED;
SL_API void sl_selfcheck_free(struct sl_selfcheck *s);

/* ------------------------------------------------------------- reporting */

enum sl_format {
	SL_FORMAT_TEXT = 0, /* for a terminal */
	SL_FORMAT_JSON,     /* docs/schema.md */
	SL_FORMAT_CSV,
	SL_FORMAT_MARKDOWN,
	SL_FORMAT_SVG,      /* machine only: the roofline */
	SL_FORMAT_HYPERFINE /* bench only: JSON as hyperfine exports it */
};

struct sl_render_options {
	size_t struct_size;
	enum sl_format format;
	size_t n_columns;    /* width of the terminal; default 80 */
	int color;           /* ANSI colours in text */
	int ascii;           /* no characters beyond ASCII in text */
	int verbose;         /* everything, not one screen */
	const char *command; /* "bench", "compare": for JSON and headings */
	const char *unit;    /* "ns", "us", "ms", "s"; default: what fits */
	const char *sort;    /* "command" (as given) or "mean-time" */
};

/*
 * Each appends a rendering of a result to 'out'.  SL_E_USAGE when the result
 * has no such format.
 */
SL_API enum sl_status sl_measurement_render(const struct sl_measurement *m,
					    const struct sl_render_options *how,
					    struct sl_buf *out,
					    struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_comparisons_render(const struct sl_comparisons *c,
					    const struct sl_render_options *how,
					    struct sl_buf *out,
					    struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_bench_render(const struct sl_bench *b,
				      const struct sl_render_options *how,
				      struct sl_buf *out,
				      struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_machine_render(const struct sl_machine *m,
					const struct sl_render_options *how,
					struct sl_buf *out,
					struct sl_error *err) SL_CHECKED;
SL_API enum sl_status sl_selfcheck_render(const struct sl_selfcheck *s,
					  const struct sl_render_options *how,
					  struct sl_buf *out,
					  struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
