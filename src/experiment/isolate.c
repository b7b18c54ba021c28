/* SPDX-License-Identifier: Apache-2.0 */
/* isolate.c - a layer timed within its model and alone, in turn. */
#include "experiment/isolate.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/status.h"

#include "base/banned.h"

enum { ROUNDS_MOST = 4096, ROUNDS_LEAST = 5, ROUNDS_WARMUP = 2 };

struct isolator {
	const struct sl__isolation *what;
	struct sl__tape whole, alone;
	double ticks_per_ns;
	struct sl__rng rng;
};

static enum sl_status
reserve(struct isolator *x, struct sl__isolated *out, struct sl__arena *arena,
	struct sl_error *err)
{
	x->whole.cap = sl_plan_n_steps(x->what->whole) + 1;
	x->alone.cap = sl_plan_n_steps(x->what->alone) + 1;
	x->whole.marks =
		sl__arena_array(arena, x->whole.cap, sizeof(*x->whole.marks));
	x->alone.marks =
		sl__arena_array(arena, x->alone.cap, sizeof(*x->alone.marks));
	out->context_ns = sl__arena_array(arena, ROUNDS_MOST, sizeof(double));
	out->alone_ns = sl__arena_array(arena, ROUNDS_MOST, sizeof(double));
	return x->whole.marks && x->alone.marks && out->context_ns &&
			       out->alone_ns
		       ? SL_OK
		       : sl__fail_nomem(err);
}

/* The time of the steps that count; NULL: all. */
static double
sum_ns(const struct isolator *x, const struct sl__tape *tape,
       const unsigned char *counts)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i + 1 < tape->n_marks; i++) {
		const struct sl__tape_mark *m = &tape->marks[i];

		if (!counts || counts[m->step])
			ticks += m[1].ticks - m[0].ticks;
	}
	return (double)ticks / x->ticks_per_ns;
}

/* Twice, of which the second counts: the whole model has pushed the layer's
 * data out of the caches, and that is not what alone means. */
static enum sl_status
run_alone(struct isolator *x, double *ns, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (int i = 0; !rc && i < 2; i++)
		rc = sl__plan_record(x->what->alone, &x->alone, err);
	*ns = rc ? 0 : sum_ns(x, &x->alone, NULL);
	return rc;
}

static enum sl_status
run_whole(struct isolator *x, double *ns, struct sl_error *err)
{
	enum sl_status rc = sl__plan_record(x->what->whole, &x->whole, err);

	*ns = rc ? 0 : sum_ns(x, &x->whole, x->what->is_layer);
	return rc;
}

static enum sl_status
take_round(struct isolator *x, double *context_ns, double *alone_ns,
	   struct sl_error *err)
{
	int whole_first = sl__rng_coin(&x->rng);
	enum sl_status rc = SL_OK;

	for (int k = 0; !rc && k < 2; k++)
		rc = (k == 0) == whole_first ? run_whole(x, context_ns, err)
					     : run_alone(x, alone_ns, err);
	return rc;
}

static int
is_over(const struct isolator *x, size_t n, uint64_t deadline_ns)
{
	if (x->what->n_rounds)
		return n >= x->what->n_rounds;
	return n >= ROUNDS_LEAST && sl__clock_now_ns(NULL) >= deadline_ns;
}

enum sl_status
sl__isolate(struct sl__isolated *out, const struct sl__isolation *what,
	    struct sl__arena *arena, struct sl_error *err)
{
	struct isolator x = {.what = what, .ticks_per_ns = sl__ticks_per_ns()};
	uint64_t deadline_ns =
		sl__clock_now_ns(NULL) + (uint64_t)(what->time_s * 1e9);
	enum sl_status rc = reserve(&x, out, arena, err);

	sl__rng_init(&x.rng, what->seed);
	out->n = 0;
	for (int i = 0; !rc && i < ROUNDS_WARMUP; i++)
		rc = take_round(&x, out->context_ns, out->alone_ns, err);
	while (!rc && out->n < ROUNDS_MOST &&
	       !is_over(&x, out->n, deadline_ns)) {
		if (what->interrupt && *what->interrupt)
			break;
		rc = take_round(&x, &out->context_ns[out->n],
				&out->alone_ns[out->n], err);
		out->n++;
	}
	if (!rc && !out->n)
		return sl__fail(err, SL_E_INTERRUPTED,
				"interrupted before the layer was timed");
	return rc;
}
