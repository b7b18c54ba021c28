/* SPDX-License-Identifier: Apache-2.0 */
/* layer_isolation.c - a layer timed within its model and alone, in turn. */
#include "experiment/layer_isolation.h"
#include "base/clock.h"
#include "base/status.h"
#include "result/traced_iterations.h"

#include "base/banned.h"

enum { ROUNDS_MOST = 4096, ROUNDS_LEAST = 5, ROUNDS_WARMUP = 2 };
enum { WHOLE = 0, ALONE, N_ARMS };

struct isolator {
	const struct sl__layer_isolation_options *what;
	struct sl__layer_isolation_times *out;
	struct sl__event_buffer whole, alone;
	struct sl__ticker ticker;
	struct sl__runner runner;
	size_t order[N_ARMS];
};

static enum sl_status
reserve(struct isolator *x, struct sl__arena *arena, struct sl_error *err)
{
	struct sl__layer_isolation_times *out = x->out;
	int failed = sl__event_buffer_reserve(&x->whole,
					      sl_plan_n_steps(x->what->whole),
					      arena) |
		     sl__event_buffer_reserve(
			     &x->alone, sl_plan_n_steps(x->what->alone), arena);

	x->whole.clock = x->alone.clock = x->what->control.with.clock;
	out->context_ns = sl__arena_array(arena, ROUNDS_MOST, sizeof(double));
	out->alone_ns = sl__arena_array(arena, ROUNDS_MOST, sizeof(double));
	return failed || !out->context_ns || !out->alone_ns
		       ? sl__fail_nomem(err)
		       : SL_OK;
}

/* The time of the steps that count, in a loop that of one run; NULL: all. */
static double
sum_ns(const struct isolator *x, const struct sl__event_buffer *events,
       const unsigned char *counts)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i + 1 < events->n_stamps; i++) {
		const struct sl__timestamp *m = &events->stamps[i];

		if (!counts || counts[m->step])
			ticks += (m[1].ticks - m[0].ticks) / m->n_calls;
	}
	return sl__ticker_span_ns(&x->ticker, 0, ticks);
}

/* Alone twice, of which the second counts: the whole model has pushed the
 * layer's data out of the caches, and that is not what alone means. */
static enum sl_status
run_slot(struct sl__slot *slot, void *ctx, struct sl_error *err)
{
	struct isolator *x = ctx;
	enum sl_status rc;

	if (slot->arm == WHOLE) {
		rc = sl__plan_record(x->what->whole, &x->whole, err);
		if (!rc)
			x->out->context_ns[slot->round] =
				sum_ns(x, &x->whole, x->what->is_layer);
		return rc;
	}
	rc = sl__plan_record(x->what->alone, &x->alone, err);
	if (!rc)
		rc = sl__plan_record(x->what->alone, &x->alone, err);
	if (!rc)
		x->out->alone_ns[slot->round] = sum_ns(x, &x->alone, NULL);
	return rc;
}

enum sl_status
sl__layer_isolation_measure(struct sl__layer_isolation_times *out,
			    const struct sl__layer_isolation_options *what,
			    struct sl__arena *arena, struct sl_error *err)
{
	struct isolator x = {.what = what, .out = out};
	const struct sl__phase_spec warming_up = {.n_arms = N_ARMS,
						  .n_rounds = ROUNDS_WARMUP,
						  .run = run_slot,
						  .ctx = &x};
	struct sl__phase_spec isolating = warming_up;
	enum sl_status rc;

	isolating.n_rounds = what->n_rounds;
	isolating.min_rounds = ROUNDS_LEAST;
	isolating.max_rounds = ROUNDS_MOST;
	isolating.time_s = what->time_s;
	sl__ticker_init(&x.ticker, what->control.with.clock);
	x.runner.control = what->control;
	x.runner.order = x.order;
	sl__runner_start_budget(&x.runner, what->seed);
	rc = reserve(&x, arena, err);
	if (!rc)
		rc = sl__runner_run(&x.runner, &warming_up, err);
	if (!rc)
		rc = sl__runner_run(&x.runner, &isolating, err);
	out->n = x.runner.n_rounds;
	if (!rc && !out->n)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the layer was timed");
	return rc;
}
