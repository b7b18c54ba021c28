/* SPDX-License-Identifier: Apache-2.0 */
/* suites.h - a described set of benchmarks, run as one experiment. */
#ifndef SLEUTH_SUITES_H
#define SLEUTH_SUITES_H

#include "sleuth/evaluating.h"
#include "sleuth/gating.h"
#include "sleuth/loading.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A limit of the suite, and whether a cell keeps it. */
struct sl_suite_limit {
	enum sl_gate_metric metric;
	double limit; /* ns or bytes at most; of accuracy at least */
	double value; /* of the cell; NaN: it has none */
	enum sl_gate verdict;
};

/*
 * One model in one variant and scenario.  A repetition makes all plans anew and
 * runs a few rounds of them in random order; its figure is the median over its
 * rounds.  Times and ratios are medians over repetitions; their intervals hold
 * one more repetition with 95 %, and with it what another run on this machine
 * would find, as long as states of the machine last no longer than a sixth of a
 * run.
 */
struct sl_suite_cell {
	const char *name; /* of its section */
	const char *model, *source, *variant;
	enum sl_scenario scenario;
	int64_t batch; /* samples of a query */
	enum sl_dtype dtype;
	int n_threads;
	const char *failed;  /* why there are no figures; NULL */
	const char *choices; /* a hash of what computes each step; NULL */

	struct sl_estimate time_ns; /* of a query; n: repetitions */
	size_t baseline; /* the cell that it is compared with; itself where it
			    is one */
	struct sl_estimate ratio; /* time / baseline's, of the same rounds */
	uint64_t memory_bytes;    /* planned and weights */
	uint64_t size_bytes;      /* stored parameters */
	struct sl_estimate accuracy;
	enum sl_accuracy_kind accuracy_kind;
	const char *accuracy_absent; /* NULL: it is there */
	struct sl_reading energy_j;  /* of the CPU package, for a query */
	size_t batch_nth; /* which cells run together: those of one number */
	const struct sl_suite_limit *limits;
	size_t n_limits;
};

/* What defines the results and differs from the lock file; NULL where one side
 * lacks it. */
struct sl_suite_difference {
	const char *name, *locked, *now;
};

struct sl_suite {
	const char *name;
	const struct sl_suite_cell *cells;
	size_t n_cells;
	size_t n_repetitions;  /* asked for, or made where they filled a time */
	size_t n_rounds;       /* of each */
	size_t n_done;         /* repetitions that all cells have */
	size_t n_resumed;      /* of these, made by an earlier run */
	size_t n_batches;      /* above 1: not all cells fit into the memory */
	uint64_t memory_bytes; /* for plans that are open together */

	const char *lock_path;            /* NULL: none was asked for */
	int is_new_lock;                  /* it was written by this run */
	const struct sl_parameter *facts; /* what defines the results */
	size_t n_facts;
	const struct sl_suite_difference *differences;
	size_t n_differences;
	const char *unsaved; /* why lock or finished repetitions could not be
				written; NULL */

	enum sl_gate verdict; /* of all limits: regressed before undecided; OK
				 where there are none */
	struct sl_noise noise;
	double elapsed_s;
	enum sl_stop stopped_by;
	uint64_t seed;
	double asked_s; /* that repetitions were to take at least; 0 */
};

struct sl_suite_options {
	size_t struct_size;
	const char *name;      /* of the suite, for messages; NULL: "suite" */
	const char *lock_path; /* finished repetitions are kept beside it, as
				   PATH.partial, until the end; NULL: nothing
				   is written */
	int is_relocked;       /* the lock file is replaced */
	int is_fresh;          /* what an earlier run finished is not used */
	size_t n_repetitions;  /* in place of the suite's, and of its time; 0 */
	uint64_t memory_bytes; /* default: half of what is free */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};
#define SL_SUITE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_suite_options)

/*
 * Runs the suite that 'text' describes (sleuth-suite(1) has the format), all its
 * cells as one interleaved experiment.  SL_E_DATA with line and column for what is wrong in
 * the text.  A model that fails is no failure: its cells say why.  A suite that
 * was interrupted has the repetitions that were finished.  *out is the
 * caller's, for sl_suite_free().
 */
SL_API enum sl_status sl_suite_run(struct sl_suite **out, const char *text,
				   size_t n_bytes,
				   const struct sl_suite_options *options,
				   struct sl_error *err) SL_CHECKED;
SL_API void sl_suite_free(struct sl_suite *suite); /* NULL is fine */
SL_API enum sl_status sl_suite_render(const struct sl_suite *suite,
				      const struct sl_render_options *how,
				      struct sl_buf *out,
				      struct sl_error *err) SL_CHECKED;

/* The text of a suite that comes with the library; NULL: none has that name.
 * "course" and "edge" are suites, "example" is one to begin with. */
SL_API const char *sl_suite_text(const char *name);

#ifdef __cplusplus
}
#endif

#endif
