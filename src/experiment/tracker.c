/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracker.c - which tensors are in memory while a plan runs.
 *
 * The tracker takes no word of the planner's for how long anything is needed,
 * nor of which buffer lies where: it sees addresses and sizes, step after step,
 * and finds out by experiment (touching.c) what a step writes and what it
 * reads.  A tensor is born when a stretch is written anew, and was needed, as
 * it turns out, until the last step that read it before something else was
 * written there.  Inputs are there all the time, outputs until the end.
 */
#include "experiment/tracker.h"
#include "base/clock.h"
#include "base/status.h"
#include "experiment/touching.h"

#include <string.h>

#include "base/banned.h"

enum { LINE_BYTES = 64 };

struct tracker {
	struct sl__tracking *out;
	struct sl__program *program;
	struct sl__arena *arena;
	struct sl__touching touching;
	const struct sl__track_options *how;
	int is_late; /* it was cut at the deadline */
	int is_torn; /* a tensor was read of which a part had been lost */
};

static enum sl_status
add_tensor(struct tracker *t, const struct sl__tracked *born,
	   struct sl_error *err)
{
	struct sl__tracking *out = t->out;

	if (out->n_tensors == out->cap_tensors) {
		size_t cap = out->cap_tensors ? 2 * out->cap_tensors : 64;
		struct sl__tracked *more =
			sl__arena_grown(t->arena, out->tensors, out->n_tensors,
					cap, sizeof(*more));

		if (!more)
			return sl__fail_nomem(err);
		out->tensors = more;
		out->cap_tensors = cap;
	}
	out->tensors[out->n_tensors++] = *born;
	return SL_OK;
}

static int
crosses(const struct sl__tracked *tensor, uintptr_t start, uint64_t n_bytes)
{
	return start < tensor->start + tensor->n_bytes &&
	       tensor->start < start + n_bytes;
}

static int
holds(const struct sl__tracked *tensor, uintptr_t start, uint64_t n_bytes)
{
	return start >= tensor->start &&
	       start - tensor->start <= tensor->n_bytes &&
	       n_bytes <= tensor->n_bytes - (start - tensor->start);
}

static int
is_same(const struct sl__tracked *tensor, const struct sl__touch *touch)
{
	return tensor->start == (uintptr_t)touch->start &&
	       tensor->n_bytes == touch->n_bytes;
}

/* The tensor in which a stretch lies now; NULL: none has all of it. */
static struct sl__tracked *
tensor_at(const struct sl__tracking *out, uintptr_t start, uint64_t n_bytes)
{
	for (size_t i = out->n_tensors; i > 0; i--) {
		struct sl__tracked *tensor = &out->tensors[i - 1];

		if (!tensor->is_over && holds(tensor, start, n_bytes))
			return tensor;
	}
	return NULL;
}

/* All that a new tensor lies over is over.  One that the same step reads was
 * needed up to it, and gives its lines to the new one. */
static void
end_others(struct tracker *t, const struct sl__touch *touch, size_t moment)
{
	struct sl__tracking *out = t->out;

	for (size_t i = 0; i < out->n_tensors; i++) {
		struct sl__tracked *old = &out->tensors[i];

		if (old->is_over ||
		    !crosses(old, (uintptr_t)touch->start, touch->n_bytes))
			continue;
		old->is_over = 1;
		t->is_torn |= old->is_input;
		if (touch->is_read && is_same(old, touch) && moment > old->born)
			old->last = moment - 1;
	}
}

static enum sl_status
note_write(struct tracker *t, const struct sl__touch *touch, size_t moment,
	   struct sl_error *err)
{
	struct sl__tracked born = {.start = (uintptr_t)touch->start,
				   .n_bytes = touch->n_bytes,
				   .buffer = touch->buffer,
				   .born = moment,
				   .last = moment};
	struct sl__tracked *in = tensor_at(t->out, born.start, born.n_bytes);

	/* A part of what this step writes, or of what it changes in place. */
	if (in && !is_same(in, touch) &&
	    (in->born == moment || touch->is_read)) {
		in->last = moment;
		return SL_OK;
	}
	end_others(t, touch, moment);
	return add_tensor(t, &born, err);
}

/* Room that the step named and had no use for: it was planned for all the
 * same, unless it lies in what is needed anyway. */
static enum sl_status
note_room(struct tracker *t, const struct sl__touch *touch, size_t moment,
	  struct sl_error *err)
{
	struct sl__tracked room = {.start = (uintptr_t)touch->start,
				   .n_bytes = touch->n_bytes,
				   .buffer = touch->buffer,
				   .born = moment,
				   .last = moment,
				   .is_over = 1,
				   .is_idle = 1};

	return add_tensor(t, &room, err);
}

static void
note_read(struct tracker *t, const struct sl__touch *touch, size_t moment)
{
	struct sl__tracked *in =
		tensor_at(t->out, (uintptr_t)touch->start, touch->n_bytes);

	if (!in)
		t->is_torn = 1;
	else if (in->last < moment)
		in->last = moment;
}

/* Whether some tensor has a part of it. */
static int
is_across(const struct sl__tracking *out, const struct sl__touch *touch)
{
	for (size_t i = 0; i < out->n_tensors; i++) {
		if (!out->tensors[i].is_over &&
		    crosses(&out->tensors[i], (uintptr_t)touch->start,
			    touch->n_bytes))
			return 1;
	}
	return 0;
}

/* A tensor that the last step used is in memory anyway. */
static void
tell_what_is_known(struct tracker *t)
{
	for (size_t i = 0; i < t->touching.n; i++) {
		struct sl__touch *touch = &t->touching.list[i];
		const struct sl__tracked *in = tensor_at(
			t->out, (uintptr_t)touch->start, touch->n_bytes);

		touch->is_known = in != NULL;
		touch->is_input = in && in->is_input;
		if (!in)
			touch->is_doubtful = is_across(t->out, touch);
		else
			touch->is_doubtful = !in->is_input &&
					     (!is_same(in, touch) ||
					      in->last + 1 < t->out->n);
	}
}

/* Reads are noted first: what is read was there before anything is written. */
static enum sl_status
note_touches(struct tracker *t, size_t moment, struct sl_error *err)
{
	const struct sl__touching *seen = &t->touching;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; i < seen->n; i++) {
		if (!seen->list[i].is_written && seen->list[i].is_read)
			note_read(t, &seen->list[i], moment);
	}
	for (size_t i = 0; !rc && i < seen->n; i++) {
		if (seen->list[i].is_written)
			rc = note_write(t, &seen->list[i], moment, err);
		else if (!seen->list[i].is_read)
			rc = note_room(t, &seen->list[i], moment, err);
	}
	return rc;
}

static enum sl_status
around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	struct tracker *t = ctx;
	enum sl_status rc;

	(void)p;
	if (t->how->interrupt && *t->how->interrupt)
		return sl__fail(err, SL_E_INTERRUPTED, "interrupted");
	t->is_late = t->how->deadline_ns &&
		     sl__clock_now_ns(NULL) >= t->how->deadline_ns;
	if (t->is_late)
		return sl__fail(err, SL_E_INTERRUPTED, "no time");
	rc = sl__touching_run(&t->touching, i, err);
	if (rc)
		return rc;
	tell_what_is_known(t);
	sl__touching_ask(&t->touching);
	sl__touching_settle(&t->touching);
	t->out->steps[t->out->n] = i;
	return note_touches(t, t->out->n++, err);
}

static enum sl_status
add_inputs(struct tracker *t, struct sl_error *err)
{
	const struct sl__program *p = t->program;
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < p->graph->blocks[0].n_inputs; i++) {
		const struct sl__buffer *b = &p->buffers[p->inputs[i]];
		struct sl__tracked input = {.start = (uintptr_t)b->data,
					    .n_bytes = b->n_bytes,
					    .buffer = p->inputs[i],
					    .last = SIZE_MAX,
					    .is_input = 1};

		if (b->n_bytes)
			rc = add_tensor(t, &input, err);
	}
	return rc;
}

/* An output that no step wrote is a constant, or empty. */
static void
keep_outputs(struct tracker *t)
{
	const struct sl__program *p = t->program;

	for (size_t k = 0; k < p->graph->blocks[0].n_outputs; k++) {
		const struct sl__buffer *b = &p->buffers[p->outputs[k]];
		struct sl__tracked *in =
			tensor_at(t->out, (uintptr_t)b->data, b->n_bytes);

		if (!in || !b->n_bytes)
			continue;
		in->last = SIZE_MAX;
		in->is_output = 1;
	}
}

/* Room that lies in what is alive anyway takes nothing. */
static void
drop_idle_room(struct sl__tracking *out)
{
	for (size_t i = 0; i < out->n_tensors; i++) {
		struct sl__tracked *room = &out->tensors[i];

		for (size_t k = 0; room->is_idle && k < out->n_tensors; k++) {
			const struct sl__tracked *other = &out->tensors[k];

			if (!other->is_idle &&
			    sl__tracked_is_live(other, room->born) &&
			    crosses(other, room->start, room->n_bytes))
				room->n_bytes = 0;
		}
	}
}

static void
add_up(struct sl__tracking *out)
{
	for (size_t m = 0; m < out->n; m++) {
		for (size_t i = 0; i < out->n_tensors; i++) {
			if (sl__tracked_is_live(&out->tensors[i], m))
				out->live_bytes[m] +=
					sl__tracked_bytes(&out->tensors[i]);
		}
		if (out->live_bytes[m] > out->peak_bytes) {
			out->peak_bytes = out->live_bytes[m];
			out->peak = m;
		}
	}
}

static enum sl_status
watch(struct tracker *t, struct sl_plan *plan, struct sl_error *err)
{
	struct sl__guide guide = {around, t};
	struct sl__tracking *out = t->out;
	size_t n = t->program->n_steps;
	enum sl_status rc;

	out->steps = sl__arena_array(t->arena, n, sizeof(*out->steps));
	out->live_bytes =
		sl__arena_array(t->arena, n, sizeof(*out->live_bytes));
	if (!out->steps || !out->live_bytes)
		return sl__fail_nomem(err);
	rc = sl__touching_init(&t->touching, t->program, t->arena, err);
	if (!rc)
		rc = add_inputs(t, err);
	if (!rc)
		rc = sl__plan_guide(plan, &guide, err);
	if (rc)
		return rc;
	keep_outputs(t);
	drop_idle_room(out);
	add_up(out);
	if (t->is_torn)
		out->absent = "a value was read after a part of it had been "
			      "written over";
	return SL_OK;
}

enum sl_status
sl__track(struct sl__tracking *out, struct sl_plan *plan,
	  const struct sl__track_options *how, struct sl__arena *arena,
	  struct sl_error *err)
{
	struct tracker t = {.out = out, .arena = arena, .how = how};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = sl__plan_settle(plan, err);
	if (rc)
		return rc;
	t.program = plan->current;
	if (t.program->is_stepwise) {
		out->absent = "some values have sizes that are found while the "
			      "model runs: they lie outside the plan";
		return SL_OK;
	}
	rc = watch(&t, plan, err);
	if (!rc || !t.is_late)
		return rc;
	memset(out, 0, sizeof(*out));
	out->absent = "no time: each operation has to run several times";
	return SL_OK;
}

enum sl_status
sl__track_or_say(struct sl__tracking *out, struct sl_plan *plan,
		 const struct sl__track_options *how, struct sl__arena *arena,
		 struct sl_error *err)
{
	enum sl_status rc = sl__track(out, plan, how, arena, err);

	if (rc != SL_E_INTERRUPTED && rc != SL_E_NOMEM)
		return rc;
	memset(out, 0, sizeof(*out));
	out->absent = rc == SL_E_NOMEM
			      ? "there is no memory for copies of operands"
			      : "interrupted";
	return SL_OK;
}
