/* SPDX-License-Identifier: Apache-2.0 */
/* loading.h - a model under load: queries that arrive, wait and are served. */
#ifndef SLEUTH_LOADING_H
#define SLEUTH_LOADING_H

#include "sleuth/measuring.h"
#include "sleuth/running.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The scenarios of MLPerf. */
enum sl_scenario {
	SL_SCENARIO_SINGLE = 0, /* the next query comes when one is served */
	SL_SCENARIO_MULTI,      /* likewise; a query is 8 samples */
	SL_SCENARIO_SERVER,     /* queries arrive at random, at a rate */
	SL_SCENARIO_OFFLINE     /* all samples are there from the start */
};
enum { SL_N_SCENARIOS = SL_SCENARIO_OFFLINE + 1 };

/* "single", "multi", "server", "offline"; never NULL. */
SL_API const char *sl_scenario_text(enum sl_scenario scenario);

/* Whether a latency limit holds. */
enum sl_load_verdict {
	SL_LOAD_UNLIMITED = 0, /* there is no limit, and the rate was held */
	SL_LOAD_HOLDS,
	SL_LOAD_FAILS, /* or the rate is beyond what the model can serve */
	SL_LOAD_UNDECIDED,
	SL_LOAD_INVALID /* it fails because queries were handed out late */
};

/* "no limit", "holds", "fails", "undecided", "invalid"; never NULL. */
SL_API const char *sl_load_verdict_text(enum sl_load_verdict verdict);

struct sl_load_options {
	size_t struct_size;
	enum sl_scenario scenario;
	const struct sl_plan_options *plan; /* its batch is the samples of a
					       query; NULL: defaults */
	const char *inputs_folder;          /* NULL: synthetic inputs */
	double rate_per_s; /* of SERVER: queries that arrive in a second; 0: the
			      highest that holds the limit is searched for */
	double limit_s;    /* of the latency; 0: none */
	double percentile; /* of the queries that must stay within it, 0.5 to
			      0.9999; default 0.9 for SINGLE, else 0.99 */
	double time_s;     /* of measuring; default 10, SERVER 20, and 60 for a
			      search */
	size_t batch_most; /* SERVER: queries that wait are served together, so
			      many at most; default 1 */
	uint64_t seed;     /* of arrivals and synthetic inputs; 0: 1 */
	void (*progress)(const struct sl_progress *now, void *ctx);
	void *progress_ctx;
	const volatile sig_atomic_t *interrupt;
	const struct sl_allocator *allocator;
};
#define SL_LOAD_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_load_options)

/* Latencies of the queries that arrived in one stretch of time. */
struct sl_load_stretch {
	double at_s; /* its middle */
	size_t n;
	double median_ns, max_ns; /* NaN: no query */
	size_t depth_most;        /* queries that waited */
};

/* Queries that were served together. */
struct sl_load_batch {
	size_t n_queries;
	size_t n_runs;
	struct sl_estimate time_ns; /* of running it, before the load */
};

/* A rate that was tried in a search. */
struct sl_load_probe {
	double rate_per_s;
	double time_s;
	size_t n_served, n_late;
	enum sl_load_verdict verdict; /* UNDECIDED goes by the share of late
					 queries */
	int is_confirmation;          /* longer, of the rate that was found */
};

/* What stands between a result and MLPerf's rules for LoadGen: at least 600 s,
 * and as many queries as its early stopping asks for, or 24,576 samples. */
struct sl_load_rules {
	double duration_s; /* at least */
	size_t n_queries;  /* at least, with as many late ones as there were */
	int has_duration, has_queries;
};

struct sl_load {
	const char *name, *source;
	enum sl_dtype dtype;
	int n_threads;
	enum sl_scenario scenario;
	size_t n_samples;   /* of a query */
	int is_batch_fixed; /* the model takes one batch alone: the samples of a
			       query ran one after another */

	double rate_per_s;      /* that was asked for, or found; NaN: none */
	double scheduled_per_s; /* of the schedule that was drawn; NaN */
	double achieved_per_s;  /* queries served / time */
	struct sl_estimate samples_per_s; /* while it served: of the time of a
					     batch */
	double capacity_per_s;            /* queries, were one always there */
	double busy_share;                /* of the time, serving */
	size_t n_scheduled, n_served;
	size_t n_unserved; /* arrived and still waiting at the end */

	struct sl_latency latency; /* of the queries served, since each was to
				      arrive; first_ns: the first run ever */
	struct sl_estimate p999;
	/* How late queries were handed to a server that was idle; part of the
	 * latency.  n 0: it was never idle, or there was no schedule. */
	struct sl_estimate lateness_p50, lateness_p90, lateness_p99;
	double lateness_max_ns;
	double depth_mean;
	size_t depth_most;
	const struct sl_load_batch *batches;
	size_t n_batches;
	const struct sl_load_stretch *over_time; /* at most 120 */
	size_t n_over_time;

	double limit_ns;   /* NaN: none */
	double percentile; /* that the limit is for */
	size_t n_late;     /* served, or waiting, beyond it */
	double late_share;
	double n_independent; /* queries that they are worth: in a queue late
				 ones come together */
	double log_e_holds, log_e_fails; /* logarithms of e-values; 3 is proof
					    at 5 % */
	size_t needs_n;    /* queries that would prove that it holds; 0 where
			   it is decided */
	int is_overloaded; /* arrivals outran the server */
	enum sl_load_verdict verdict;

	const struct sl_load_probe *probes; /* of a search */
	size_t n_probes;
	struct sl_load_rules rules;
	struct sl_reading energy_j; /* while it was measured */

	struct sl_noise noise;
	double elapsed_s; /* all of it, planning included */
	double load_s;    /* under load, at this rate */
	enum sl_stop stopped_by;
	uint64_t seed;
};

/*
 * Puts a model under load.  'options' may be NULL.  Arrivals are drawn before
 * the first query; a query that has to wait counts from when it was to arrive.
 * Fails as sl_plan_new() does; SL_E_USAGE for SERVER without a rate or a limit;
 * SL_E_MEASURE where no query was served.  A limit that does not hold is no
 * failure: see verdict.  *out is the caller's, for sl_load_free().
 */
SL_API enum sl_status sl_load(struct sl_load **out,
			      const struct sl_graph *graph,
			      const struct sl_load_options *options,
			      struct sl_error *err) SL_CHECKED;
SL_API void sl_load_free(struct sl_load *load); /* NULL is fine */
SL_API enum sl_status sl_load_render(const struct sl_load *load,
				     const struct sl_render_options *how,
				     struct sl_buf *out,
				     struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
