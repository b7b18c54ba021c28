/* SPDX-License-Identifier: Apache-2.0 */
/* load_run.h - queries that arrive by a schedule, and when each was served. */
#ifndef SL_LOAD_RUN_H
#define SL_LOAD_RUN_H

#include "base/arena.h"
#include "stats/limit_test.h"
#include "timing/runner.h"

enum { SL__LOAD_BATCHES_MOST = 16, SL__LOAD_QUERIES_MOST = 1000000 };

/* What serves queries, several at once where it can. */
struct sl__load_server {
	enum sl_status (*serve)(size_t batch, void *ctx, struct sl_error *err);
	size_t batches[SL__LOAD_BATCHES_MOST]; /* queries at once, ascending;
						  the first is 1 */
	size_t n_batches;
	void *ctx;
};

struct sl__load_run_options {
	double rate_per_s; /* of arrivals; 0: the next query comes when one is
			      served */
	double time_s;
	size_t n_most;     /* queries that there is to be room for, without a
			      rate; at most SL__LOAD_QUERIES_MOST */
	double limit_ns;   /* 0: none */
	double late_share; /* of queries that may be above it */
	uint64_t seed;     /* of the arrivals */
	struct sl__runner_hooks control;
	void (*wait)(uint64_t left_ns, void *ctx); /* scripted; NULL: sleeps */
	void *wait_ctx;
};

/*
 * Invariants: query i arrived at due_ns[i], was begun at begin_ns[i] and done
 * latency_ns[i] after it arrived; times count from the start of the run.  The
 * first n_served of n_arrived were served, in order.  begins[i] is set where
 * the server was idle when the query arrived.
 */
struct sl__load_run {
	uint64_t *due_ns, *begin_ns;
	double *latency_ns;
	unsigned char *begins;
	double *scratch; /* twice as many */
	size_t n_scheduled, n_arrived, n_served;
	size_t n_late;                        /* of those served */
	size_t n_runs[SL__LOAD_BATCHES_MOST]; /* by batch */
	double elapsed_s, busy_s;
	enum sl_stop stopped_by; /* VERDICT: the limit cannot be held */
	struct sl_noise noise;
};

/*
 * The schedule is known before the first query, so what has arrived is what
 * lies before now: no thread of its own has to hand queries out, and none can
 * be late while the server is busy.  Ends when all queries of the time are
 * served, a tenth of the time later at most; or, where more are late than the
 * limit allows of all that are scheduled and this is no accident, at once.  In
 * between nothing is allocated.  Storage is from 'arena'.
 */
enum sl_status sl__load_run(struct sl__load_run *out,
			    const struct sl__load_server *server,
			    const struct sl__load_run_options *how,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

/* What the run says of a limit.  Queries that wait and are late already count
 * as late.  Where 'is_on_time', what the dispatcher was late is taken off. */
void sl__load_run_evidence(struct sl__limit_evidence *out,
			   struct sl__load_run *run, double limit_ns,
			   double late_share, int is_on_time);

/* What a query waited because the dispatcher noticed it late: 0 while the
 * server was busy. */
double sl__load_lateness_ns(const struct sl__load_run *run, size_t i);

/* Whether arrivals outran the server: more are left than the fluctuations of
 * so many arrivals explain, three times the root of their number. */
int sl__load_is_overloaded(const struct sl__load_run *run);

#endif
