/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner.c - rounds of slots, one for each arm, until a rule ends them.
 *
 * The one measuring loop.  What happens to the machine happens to all arms of
 * a round alike, since only the generator decides who comes first.  What a
 * slot is, which rounds count and what is made of them is the caller's.
 */
#include "timing/runner.h"
#include "base/clock.h"

#include <assert.h>
#include <math.h>

#include "base/banned.h"

static uint64_t
look(struct sl__runner *r)
{
	r->now_ns = sl__clock_now_ns(r->control.with.clock);
	return r->now_ns;
}

void
sl__runner_restart_budget(struct sl__runner *r)
{
	r->start_ns = look(r);
}

void
sl__runner_start_budget(struct sl__runner *r, uint64_t seed)
{
	sl__rng_init(&r->rng, seed);
	sl__runner_restart_budget(r);
}

int
sl__runner_is_interrupted(const struct sl__runner *r)
{
	return r->control.interrupt && *r->control.interrupt;
}

double
sl__runner_elapsed_s(const struct sl__runner *r)
{
	return (double)(sl__clock_now_ns(r->control.with.clock) - r->start_ns) /
	       1e9;
}

double
sl__runner_spent_share(const struct sl__runner *r)
{
	return (double)(r->now_ns - r->start_ns) / (1e9 * r->phase->time_s);
}

int
sl__round_is_excluded(int is_disturbed, size_t n_disturbed, size_t n_taken)
{
	return is_disturbed && 2 * n_disturbed < n_taken;
}

int
sl__interim_look_is_due(size_t *next, size_t n)
{
	if (n < *next)
		return 0;
	*next = n + n / 8 + 1;
	return 1;
}

static void
tell(struct sl__runner *r, const struct sl__phase_spec *p)
{
	struct sl_progress now = {.what = p->name,
				  .n_done = r->n_rounds,
				  .median_ns = (double)NAN};
	double spent_s = (double)(r->now_ns - r->start_ns) / 1e9;

	if (!r->control.progress || !p->name)
		return;
	if (p->n_rounds)
		now.share = (double)r->n_rounds / (double)p->n_rounds;
	else if (p->time_s > 0)
		now.share = fmin(spent_s / p->time_s, 1);
	now.remaining_s = p->time_s > 0 ? p->time_s : (double)NAN;
	if (now.share > 0)
		now.remaining_s = spent_s / now.share - spent_s;
	if (p->describe)
		p->describe(&now, p->ctx);
	r->control.progress(&now, r->control.progress_ctx);
}

static int
stop(struct sl__runner *r, enum sl_stop why)
{
	r->stopped_by = why;
	return 1;
}

static int
is_beyond(const struct sl__runner *r, double time_s, uint64_t ahead_ns)
{
	return r->now_ns - r->start_ns + ahead_ns >= (uint64_t)(time_s * 1e9);
}

static int
is_late(const struct sl__runner *r, const struct sl__phase_spec *p)
{
	if (p->n_rounds || r->n_rounds < p->min_rounds || !(p->time_s > 0))
		return 0;
	if (!(p->more_s > 0))
		return is_beyond(r, p->time_s, r->ahead_ns);
	return is_beyond(r, p->time_s, 0) &&
	       (is_beyond(r, p->more_s, r->ahead_ns) || !p->wants_more(p->ctx));
}

static int
is_over(struct sl__runner *r, const struct sl__phase_spec *p)
{
	if (sl__runner_is_interrupted(r))
		return stop(r, SL_STOP_INTERRUPT);
	if (p->n_rounds && r->n_rounds >= p->n_rounds)
		return stop(r, SL_STOP_RUNS);
	if (!p->n_rounds && r->n_rounds && p->is_enough && p->is_enough(p->ctx))
		return stop(r, p->enough);
	if ((p->max_rounds && r->n_rounds >= p->max_rounds) || is_late(r, p))
		return stop(r, SL_STOP_TIME);
	return 0;
}

/* Until the slot is due; how late it is then. */
static void
await(struct sl__runner *r, const struct sl__phase_spec *p,
      struct sl__slot *slot)
{
	uint64_t since_ns = look(r) - r->phase_ns;

	slot->due_ns = p->due_ns[slot->round * p->n_arms + slot->nth];
	while (since_ns < slot->due_ns && !sl__runner_is_interrupted(r)) {
		if (p->wait)
			p->wait(slot->due_ns - since_ns, p->ctx);
		since_ns = look(r) - r->phase_ns;
	}
	slot->late_ns = since_ns > slot->due_ns ? since_ns - slot->due_ns : 0;
}

static enum sl_status
run_watched(struct sl__runner *r, const struct sl__phase_spec *p,
	    struct sl__slot *slot, struct sl_error *err)
{
	enum sl_status rc;

	if (!r->monitor)
		return p->run(slot, p->ctx, err);
	sl__monitor_read_before(r->monitor, &slot->before);
	rc = p->run(slot, p->ctx, err);
	sl__monitor_read_after(r->monitor, &slot->after);
	if (!rc && sl__monitor_end_slot(r->monitor, &slot->before, &slot->after,
					slot->wall_ns))
		slot->is_disturbed = 1;
	return rc;
}

/* One slot; *ended when it did not come to that. */
static enum sl_status
take_slot(struct sl__runner *r, const struct sl__phase_spec *p,
	  struct sl__slot *slot, int *ended, struct sl_error *err)
{
	enum sl_status rc;

	if (slot->nth && (p->cuts_rounds || p->tells_slots))
		look(r);
	if (slot->nth && p->tells_slots)
		tell(r, p);
	if (slot->nth && p->cuts_rounds && is_late(r, p))
		*ended = stop(r, SL_STOP_TIME);
	if (p->prepare && !*ended && !sl__runner_is_interrupted(r))
		p->prepare(slot, p->ctx);
	if (p->due_ns && !*ended)
		await(r, p, slot);
	if (sl__runner_is_interrupted(r))
		*ended = stop(r, SL_STOP_INTERRUPT);
	if (*ended)
		return SL_OK;
	rc = run_watched(r, p, slot, err);
	if (!rc && p->finish)
		p->finish(slot, p->ctx);
	return rc;
}

/* A round is over.  The frequency is probed after the first, too. */
static enum sl_status
close_round(struct sl__runner *r, const struct sl__phase_spec *p,
	    struct sl__finished_round *taken, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	taken->round = r->n_rounds++;
	taken->took_ns = look(r) - taken->took_ns;
	r->n_disturbed += taken->is_disturbed != 0;
	taken->is_left_out = sl__round_is_excluded(taken->is_disturbed,
						   r->n_disturbed, r->n_rounds);
	if (p->close)
		rc = p->close(taken, p->ctx, err);
	if (r->monitor && p->rounds_per_probe &&
	    taken->round % p->rounds_per_probe == 0)
		sl__monitor_probe_frequency(r->monitor);
	return rc;
}

static enum sl_status
take_round(struct sl__runner *r, const struct sl__phase_spec *p, int *ended,
	   struct sl_error *err)
{
	struct sl__finished_round taken = {.took_ns = r->now_ns};

	if (!p->is_in_order)
		sl__rng_permutation(&r->rng, r->order, p->n_arms);
	r->n_begun++;
	for (size_t i = 0; i < p->n_arms; i++) {
		struct sl__slot slot = {.arm = p->is_in_order ? i : r->order[i],
					.round = r->n_rounds,
					.nth = i};
		enum sl_status rc = take_slot(r, p, &slot, ended, err);

		if (rc || *ended)
			return rc;
		taken.is_disturbed |= slot.is_disturbed;
	}
	return close_round(r, p, &taken, err);
}

enum sl_status
sl__runner_run(struct sl__runner *r, const struct sl__phase_spec *p,
	       struct sl_error *err)
{
	enum sl_status rc = SL_OK;
	int ended = 0;

	assert(p->n_arms && p->run && (r->order || p->is_in_order));
	assert(!(p->more_s > 0) || p->wants_more);
	assert(!p->due_ns || p->n_rounds || p->max_rounds);
	r->n_rounds = r->n_begun = r->n_disturbed = 0;
	r->phase = p;
	r->phase_ns = look(r);
	while (!rc && !ended) {
		look(r);
		tell(r, p);
		ended = is_over(r, p);
		if (!ended)
			rc = take_round(r, p, &ended, err);
	}
	/* What a slot runs may have seen the interrupt before this loop did. */
	if (rc == SL_E_INTERRUPTED && sl__runner_is_interrupted(r)) {
		stop(r, SL_STOP_INTERRUPT);
		rc = SL_OK;
	}
	return rc;
}
