/* SPDX-License-Identifier: Apache-2.0 */
/* measuring.h - timing functions and commands, and comparing them. */
#ifndef SLEUTH_MEASURING_H
#define SLEUTH_MEASURING_H

#include "sleuth/basics.h"
#include "sleuth/rendering.h"
#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

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
#define SL_MEASURE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_measure_options)

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
 * fn fails; SL_E_USAGE for options out of range.  For a model use
 * sl_measure_latency().
 */
SL_API enum sl_status sl_measure(struct sl_measurement **out, sl_function *fn,
				 void *ctx,
				 const struct sl_measure_options *options,
				 struct sl_error *err) SL_CHECKED;
SL_API void sl_measurement_free(struct sl_measurement *m);

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
	struct sl_estimate accuracy_delta; /* of models, on data: B - A over the
					      same samples; n 0: none */
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
#define SL_COMPARE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_compare_options)

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

struct sl_parameter {
	const char *name, *value;
};

/*
 * One command.  Either argv (NULL-terminated, searched in PATH, no shell) or
 * shell_line, run as SHELL -c shell_line: what starting the shell takes is
 * measured first and taken off each run.  setup, prepare, conclude and
 * cleanup are lines for /bin/sh: before all runs, before each, after each,
 * after all; NULL for none, and none of them is timed.
 */
struct sl_command {
	const char *name; /* default: the words of the command */
	const char *const *argv;
	const char *shell_line;
	const char *setup, *prepare, *conclude, *cleanup;
	const char *output; /* instead of the options' for this command */
	const struct sl_parameter *parameters; /* for reports */
	size_t n_parameters;
};

enum sl_bench_until {
	SL_UNTIL_PRECISION = 0, /* every median known well enough */
	SL_UNTIL_VERDICT,       /* every candidate decided against command 0 */
	SL_UNTIL_GATE /* likewise, or proved not slower by more than the
			 margin, each of them */
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
	const char *shell;  /* for shell_line, arguments may follow; default
			       "/bin/sh" */
	const char *input;  /* file for standard input; default /dev/null */
	const char *output; /* "null" (default): nowhere; "pipe": likewise, but
			       through a pipe; "inherit": the caller's, as
			       is standard error; else a file, written anew
			       by each run */
	int ignore_failure; /* a non-zero exit is counted, not an error */
	const int *ignored_codes; /* only these where ignore_failure is set;
				     NULL: all */
	size_t n_ignored_codes;
	uint64_t seed; /* of the order of runs; default 1 */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};
#define SL_BENCH_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_bench_options)

struct sl_bench_result {
	const struct sl_command *command; /* a copy, owned by the result */
	struct sl_latency wall;
	struct sl_estimate user, system; /* CPU time of the command, mean ns */
	struct sl_reading peak_bytes;    /* largest resident set of any run */
	struct sl_estimate shell; /* starting the shell alone, median ns: taken
				     off every run; n is 0 without one */
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

/* Each appends the result to 'out'; SL_E_USAGE when it has no such format. */
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

/*
 * The anchor: fixed work of some 0.2 ms (arithmetic, memory, calls), timed now
 * and then while something else is measured.  The ratio of the two times stays
 * the same where the machine became slower for both.  One thread at a time.
 */
struct sl_anchor;

struct sl_anchor_reading {
	uint64_t version;           /* of the work; 0: none was timed */
	struct sl_estimate time_ns; /* median */
};

/*
 * Makes an anchor with half a MiB of memory, for sl_anchor_free(); 'clock'
 * NULL: the monotonic one, else it must outlive the anchor.
 */
SL_API enum sl_status sl_anchor_new(struct sl_anchor **out,
				    const struct sl_clock *clock,
				    struct sl_error *err) SL_CHECKED;
SL_API void sl_anchor_free(struct sl_anchor *anchor); /* NULL is fine */

/*
 * Does the work twice and times the second; and the same where the last time is
 * 20 ms ago, or longer in a long measurement: at most 64 times are kept, spread
 * evenly.  Neither allocates.  To be called between what is timed, such as
 * from a progress function.
 */
SL_API void sl_anchor_take(struct sl_anchor *anchor);
SL_API void sl_anchor_take_if_due(struct sl_anchor *anchor);

/* The median of the times so far, with its 95 % interval. */
SL_API void sl_anchor_read(const struct sl_anchor *anchor,
			   struct sl_anchor_reading *out);

#ifdef __cplusplus
}
#endif

#endif
