/* SPDX-License-Identifier: Apache-2.0 */
/* traced_iterations.c - which recorded iterations are kept whole. */
#include "result/traced_iterations.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

int
sl__event_buffer_reserve(struct sl__event_buffer *events, size_t n_steps,
			 struct sl__arena *arena)
{
	memset(events, 0, sizeof(*events));
	events->cap = SL__STAMPS_PER_STEP * n_steps + 1;
	events->stamps =
		sl__arena_array(arena, events->cap, sizeof(*events->stamps));
	return !events->stamps;
}

int
sl__traced_iterations_init(struct sl__traced_iterations *k, size_t n_steps,
			   size_t n_slowest, struct sl__arena *arena)
{
	int failed;

	memset(k, 0, sizeof(*k));
	k->n_slow_most = n_slowest;
	k->stride = 1;
	k->next_look = 1;
	k->sorted = sl__arena_array(arena, SL__KEPT_TIMES, sizeof(double));
	failed = (!k->sorted) |
		 sl__thinned_init(&k->took, SL__KEPT_TIMES, arena) |
		 sl__event_buffer_reserve(&k->first.events, n_steps, arena) |
		 sl__event_buffer_reserve(&k->near.events, n_steps, arena);
	for (size_t i = 0; i < SL__KEPT_EVEN; i++)
		failed |= sl__event_buffer_reserve(&k->even[i].events, n_steps,
						   arena);
	for (size_t i = 0; i < n_slowest; i++)
		failed |= sl__event_buffer_reserve(&k->slow[i].events, n_steps,
						   arena);
	return failed;
}

static void
keep(struct sl__traced_iteration *to,
     const struct sl__traced_iteration *iteration)
{
	struct sl__timestamp *events = to->events.stamps;
	size_t cap = to->events.cap;

	memcpy(events, iteration->events.stamps,
	       iteration->events.n_stamps * sizeof(*iteration->events.stamps));
	*to = *iteration;
	to->events.stamps = events;
	to->events.cap = cap;
}

static uint64_t
ticks_of(const struct sl__traced_iteration *iteration)
{
	return iteration->end - iteration->begin;
}

static double
distance(const struct sl__traced_iterations *k,
	 const struct sl__traced_iteration *iteration)
{
	return fabs((double)ticks_of(iteration) - k->median_ticks);
}

/* slow[] is sorted; the last one's storage is used again. */
static void
keep_slow(struct sl__traced_iterations *k,
	  const struct sl__traced_iteration *iteration)
{
	struct sl__traced_iteration here;
	size_t at = k->n_slow;

	if (!k->n_slow_most)
		return;
	if (at == k->n_slow_most) {
		if (ticks_of(iteration) <= ticks_of(&k->slow[at - 1]))
			return;
		at--;
	} else {
		k->n_slow++;
	}
	here = k->slow[at];
	keep(&here, iteration);
	for (; at > 0 && ticks_of(iteration) > ticks_of(&k->slow[at - 1]); at--)
		k->slow[at] = k->slow[at - 1];
	k->slow[at] = here;
}

/* Every stride-th iteration; when all room is taken every second one goes, its
 * storage to the end of the row. */
static void
keep_evenly(struct sl__traced_iterations *k,
	    const struct sl__traced_iteration *iteration)
{
	if (iteration->nth % k->stride)
		return;
	if (k->n_even == SL__KEPT_EVEN) {
		for (size_t i = 1; i < SL__KEPT_EVEN / 2; i++) {
			struct sl__traced_iteration other = k->even[i];

			k->even[i] = k->even[2 * i];
			k->even[2 * i] = other;
		}
		k->n_even = SL__KEPT_EVEN / 2;
		k->stride *= 2;
	}
	if (iteration->nth % k->stride == 0)
		keep(&k->even[k->n_even++], iteration);
}

static void
look(struct sl__traced_iterations *k)
{
	k->median_ticks =
		sl__thinned_median(&k->took, k->took.n, k->sorted).value;
	k->next_look = k->n_seen + k->n_seen / 8 + 1;
}

void
sl__traced_iterations_offer(struct sl__traced_iterations *k,
			    const struct sl__event_buffer *events,
			    uint64_t begin, uint64_t end)
{
	struct sl__traced_iteration iteration = {*events, begin, end,
						 k->n_seen++};

	sl__thinned_add(&k->took, (double)(end - begin));
	if (k->n_seen >= k->next_look)
		look(k);
	if (!iteration.nth)
		keep(&k->first, &iteration);
	if (!iteration.nth || distance(k, &iteration) < distance(k, &k->near))
		keep(&k->near, &iteration);
	keep_evenly(k, &iteration);
	keep_slow(k, &iteration);
}

void
sl__traced_iterations_pick_median(struct sl__traced_iterations *k)
{
	const struct sl__traced_iteration *best = &k->near;

	if (k->n_seen)
		look(k);
	for (size_t i = 0; i < k->n_even; i++) {
		if (distance(k, &k->even[i]) < distance(k, best))
			best = &k->even[i];
	}
	k->median = *best;
}
