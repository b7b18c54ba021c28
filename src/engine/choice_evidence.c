/* SPDX-License-Identifier: Apache-2.0 */
/* choice_evidence.c - whether steps take what their algorithms were chosen for.
 */
#include "engine/choice_evidence.h"
#include "base/clock.h"
#include "engine/dnnl_choice.h"

#include "base/banned.h"

enum {
	LOOKS_MOST = 8,
	LOOKS_LEAST = 5,
	MUCH_NS = 20000 /* less is not worth measuring again */
};

struct sl__choice_evidence *
sl__choice_evidence_new(struct sl__planner *pl, const char *key,
			uint64_t expected_ns)
{
	struct sl__choice_evidence *e = NULL;
	const char *copy;

	if (pl->options->flags & SL__PLAN_HALF_BATCH_CHOICES)
		return NULL;
	e = sl__plan_alloc_state(pl, sizeof(*e));
	copy = sl__arena_string(&pl->program->arena, key);
	if (!e || !copy)
		return NULL;
	*e = (struct sl__choice_evidence){copy, expected_ns, UINT64_MAX};
	return e;
}

void
sl__choice_evidence_note(struct sl__program *p,
			 const struct sl__event_buffer *events)
{
	double ticks_per_ns = events->clock ? 1 : sl__ticks_per_ns();

	if (p->n_looks == LOOKS_MOST || events->is_sparse)
		return;
	p->n_looks++;
	for (size_t i = 0; i + 1 < events->n_stamps; i++) {
		const struct sl__timestamp *t = &events->stamps[i];
		struct sl__choice_evidence *e = p->steps[t->step].evidence;
		double ns = (double)(t[1].ticks - t->ticks) / ticks_per_ns;

		if (e && t->n_calls == 1 && ns < (double)e->least_ns)
			e->least_ns = (uint64_t)ns;
	}
}

int
sl__choice_runs_are_slow(const struct sl__program *p)
{
	size_t n = 0, n_slow = 0;

	for (size_t i = 0; i < p->n_steps; i++) {
		const struct sl__choice_evidence *e = p->steps[i].evidence;

		n += e != NULL;
		n_slow += e && e->least_ns > e->expected_ns / 4 * 5;
	}
	return n > 1 && 2 * n_slow > n;
}

int
sl__choice_is_contradicted(const struct sl__program *p,
			   const struct sl__choice_evidence *e)
{
	return e && p->n_looks >= LOOKS_LEAST && e->least_ns != UINT64_MAX &&
	       e->least_ns > MUCH_NS + e->expected_ns + e->expected_ns / 2;
}
