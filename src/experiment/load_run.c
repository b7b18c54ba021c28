/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_run.c - queries that arrive by a schedule, and when each was served.
 *
 * A round of the runner is a query.  Those that a batch took along are over
 * when their round comes.  Latency counts from the scheduled time, whatever
 * kept the server from noticing.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "experiment/load_run.h"
#include "base/clock.h"
#include "base/status.h"
#include "stats/arrivals.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/banned.h"

enum {
	/* A sleep ends up to 60 us late on an idle machine: what is left then
	 * is spent reading the clock. */
	SPIN_NS = 200000,
	SLEEP_MOST_NS = 50000000 /* between looks at the interrupt */
};

struct loader {
	struct sl__load_run *out;
	const struct sl__load_server *server;
	const struct sl__load_run_options *how;
	struct sl__runner runner;
	uint64_t idle_from_ns; /* since the phase began */
	size_t next_look;
};

static void
wait_for_query(uint64_t left_ns, void *ctx)
{
	const struct loader *m = ctx;
	struct timespec pause = {0};

	if (m->how->wait) {
		m->how->wait(left_ns, m->how->wait_ctx);
		return;
	}
	if (left_ns <= SPIN_NS)
		return;
	left_ns -= SPIN_NS;
	pause.tv_nsec =
		(long)(left_ns < SLEEP_MOST_NS ? left_ns : SLEEP_MOST_NS);
	nanosleep(&pause, NULL); /* a signal ends it early */
}

static uint64_t
since_start_ns(const struct loader *m)
{
	return sl__clock_now_ns(m->how->control.with.clock) -
	       m->runner.phase_ns;
}

/* Which batch the queries that wait make: the largest that they fill. */
static size_t
choose_batch(const struct loader *m, size_t first, uint64_t now_ns)
{
	const struct sl__load_server *s = m->server;
	const struct sl__load_run *r = m->out;
	size_t n = 1, best = 0;

	while (m->how->rate_per_s > 0 && n < s->batches[s->n_batches - 1] &&
	       first + n < r->n_scheduled && r->due_ns[first + n] <= now_ns)
		n++;
	while (best + 1 < s->n_batches && s->batches[best + 1] <= n)
		best++;
	return best;
}

static enum sl_status
serve_next(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct loader *m = ctx;
	struct sl__load_run *r = m->out;
	uint64_t begin_ns = since_start_ns(m), end_ns;
	size_t batch, n;
	enum sl_status rc;

	if (slot->round < r->n_served)
		return SL_OK;
	if (!(m->how->rate_per_s > 0))
		r->due_ns[slot->round] = begin_ns;
	batch = choose_batch(m, slot->round, begin_ns);
	n = m->server->batches[batch];
	rc = m->server->serve(batch, m->server->ctx, err);
	if (rc)
		return rc;
	end_ns = since_start_ns(m);
	for (size_t i = slot->round; i < slot->round + n; i++) {
		r->begin_ns[i] = begin_ns;
		r->latency_ns[i] = (double)(end_ns - r->due_ns[i]);
		r->begins[i] = i == slot->round &&
			       r->due_ns[i] >= m->idle_from_ns;
		r->n_late += r->latency_ns[i] > m->how->limit_ns;
	}
	m->idle_from_ns = end_ns;
	r->n_served += n;
	r->n_runs[batch]++;
	r->busy_s += (double)(end_ns - begin_ns) / 1e9;
	return SL_OK;
}

/* More are late than the whole schedule may have, and that is proved. */
static int
is_hopeless(void *ctx)
{
	struct loader *m = ctx;
	struct sl__load_run *r = m->out;
	struct sl__limit_evidence e;

	if (!(m->how->limit_ns > 0) || !(m->how->rate_per_s > 0) ||
	    (double)r->n_late <= m->how->late_share * (double)r->n_scheduled ||
	    !sl__interim_look_is_due(&m->next_look, r->n_served))
		return 0;
	r->n_arrived = r->n_served;
	sl__load_run_evidence(&e, r, m->how->limit_ns, m->how->late_share, 0);
	return e.log_e_fails >= log(20);
}

static enum sl_status
reserve(struct sl__load_run *r, const struct sl__load_run_options *how,
	struct sl__arena *arena, struct sl_error *err)
{
	size_t n = how->n_most;
	struct sl__rng rng;

	if (how->rate_per_s > 0)
		n = sl__arrivals_cap(how->rate_per_s, how->time_s);
	if (n > SL__LOAD_QUERIES_MOST)
		n = SL__LOAD_QUERIES_MOST;
	r->due_ns = sl__arena_array(arena, n, sizeof(*r->due_ns));
	r->begin_ns = sl__arena_array(arena, n, sizeof(*r->begin_ns));
	r->latency_ns = sl__arena_array(arena, n, sizeof(*r->latency_ns));
	r->begins = sl__arena_array(arena, n, sizeof(*r->begins));
	r->scratch = sl__arena_array(arena, 2 * n, sizeof(*r->scratch));
	if (!r->due_ns || !r->begin_ns || !r->latency_ns || !r->begins ||
	    !r->scratch)
		return sl__fail_nomem(err);
	r->n_scheduled = n;
	if (!(how->rate_per_s > 0))
		return SL_OK;
	sl__rng_init(&rng, how->seed);
	r->n_scheduled = sl__arrivals_poisson(r->due_ns, n, how->rate_per_s,
					      how->time_s, &rng);
	return r->n_scheduled
		       ? SL_OK
		       : sl__fail(err, SL_E_MEASURE,
				  "no query arrives in %g s at %g a second",
				  how->time_s, how->rate_per_s);
}

static void
count_arrived(struct sl__load_run *r, int has_rate)
{
	r->n_arrived = r->n_served;
	while (has_rate && r->n_arrived < r->n_scheduled &&
	       (double)r->due_ns[r->n_arrived] < r->elapsed_s * 1e9)
		r->n_arrived++;
}

enum sl_status
sl__load_run(struct sl__load_run *out, const struct sl__load_server *server,
	     const struct sl__load_run_options *how, struct sl__arena *arena,
	     struct sl_error *err)
{
	struct loader m = {.out = out, .server = server, .how = how};
	struct sl__phase_spec phase = {.name = "load",
				       .n_arms = 1,
				       .is_in_order = 1,
				       .time_s = how->time_s,
				       .enough = SL_STOP_VERDICT,
				       .is_enough = is_hopeless,
				       .run = serve_next,
				       .wait = wait_for_query,
				       .ctx = &m};
	struct sl__monitor monitor;
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = reserve(out, how, arena, err);
	if (rc)
		return rc;
	phase.max_rounds = out->n_scheduled;
	if (how->rate_per_s > 0) {
		phase.due_ns = out->due_ns;
		phase.time_s *= 1.1;
	}
	m.runner.control = how->control;
	sl__monitor_open(&monitor, &how->control.with);
	sl__runner_start_budget(&m.runner, how->seed);
	rc = sl__runner_run(&m.runner, &phase, err);
	sl__monitor_close(&monitor, &out->noise);
	out->stopped_by = m.runner.stopped_by;
	out->elapsed_s = (double)since_start_ns(&m) / 1e9;
	count_arrived(out, how->rate_per_s > 0);
	if (!rc && !out->n_served)
		rc = sl__fail(err,
			      out->stopped_by == SL_STOP_INTERRUPT
				      ? SL_E_INTERRUPTED
				      : SL_E_MEASURE,
			      "no query was served");
	return rc;
}

double
sl__load_lateness_ns(const struct sl__load_run *r, size_t i)
{
	return r->begins[i] ? (double)(r->begin_ns[i] - r->due_ns[i]) : 0;
}

void
sl__load_run_evidence(struct sl__limit_evidence *out, struct sl__load_run *r,
		      double limit_ns, double late_share, int is_on_time)
{
	struct sl__latency_series series = {r->latency_ns, r->begins,
					    r->n_served};
	double end_ns = r->elapsed_s * 1e9;

	/* What waits has its place in the columns, which nobody reads again. */
	while (series.n < r->n_arrived &&
	       end_ns - (double)r->due_ns[series.n] > limit_ns) {
		r->latency_ns[series.n] = end_ns - (double)r->due_ns[series.n];
		r->begins[series.n++] = 0;
	}
	for (size_t i = 0; is_on_time && i < r->n_served; i++)
		r->latency_ns[i] -= sl__load_lateness_ns(r, i);
	sl__limit_evidence_of(out, &series, limit_ns, late_share, r->scratch);
	for (size_t i = 0; is_on_time && i < r->n_served; i++)
		r->latency_ns[i] += sl__load_lateness_ns(r, i);
}

int
sl__load_is_overloaded(const struct sl__load_run *r)
{
	size_t n = 0, arrived = 0;
	double left, end_ns = (double)r->due_ns[r->n_arrived - 1];

	/* At the last arrival, not after what remained was served. */
	while (n < r->n_served &&
	       (double)r->due_ns[n] + r->latency_ns[n] <= end_ns)
		n++;
	arrived = r->n_arrived;
	left = (double)(arrived - n);
	return left > 3 * sqrt((double)arrived) + 1;
}
