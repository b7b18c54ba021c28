/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_tensors.c - which tensors are in memory while a plan runs.
 *
 * The tracker takes no word of the planner's for how long anything is needed,
 * nor of which buffer lies where: it sees addresses and sizes, step after step,
 * and finds out by experiment what a step writes and what it
 * reads.  A tensor is born when a stretch is written anew, and was needed, as
 * it turns out, until the last step that read it before something else was
 * written there.  Inputs are there all the time, outputs until the end.
 */
#include "experiment/live_tensors.h"
#include "base/clock.h"
#include "base/status.h"
#include "engine/compile.h"

#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* A stretch of the program's block that a step names. */
struct touch {
	unsigned char *start;
	uint64_t n_bytes;
	uint32_t buffer;  /* by which it is named, the first where several do */
	uint32_t n_named; /* how many operands are this very stretch */
	int is_known;     /* set by the caller before touching_ask(): what
			     lies there was written before */
	int is_input;     /* of the model, likewise: never written */
	int is_doubtful;  /* likewise: it may be room that happens to lie where
			     a tensor was */
	int is_scratch;   /* of threads: written, and no result */
	int is_written;
	int is_read; /* what lay there before mattered; where neither this nor
			is_written is set, the step has no use for it */
};

/*
 * Nothing is taken from the planner but where operands lie, how large they are
 * and which are the scratch of threads.  Another stretch is written when its bytes change, or when, filled with the
 * opposite of all bits, it does not keep that.  What is written is read too
 * when the opposite before the step makes another result, or when two
 * operands are the same stretch: one is read and one is written.  What is not
 * written counts as read; where that is doubtful, only when its opposite makes
 * another result, or when the step writes nothing at all: a jump.
 *
 * Invariants: of one program; one step at a time: run, ask, settle.
 */
struct touching {
	struct sl__program *program;
	struct touch *list; /* of the step under way, largest first */
	size_t n;
	unsigned char *before, *after, *again; /* copies, one after another */
	size_t step;
	int jumps; /* of the real run */
};

/*
 * What a step reads and writes, found by running it.
 *
 * The bytes that a step names are copied before and after it.  Two questions
 * remain, and more runs of the step answer them.  Was something written that
 * happened to be there already?  What did not change is filled with the
 * opposite of its bits: it stays so exactly when nobody writes there.  Was
 * something written over that was read first?  What changed is filled with the
 * opposite of what was there: the result is the same exactly when nobody reads
 * it.  A kernel that is given such numbers computes nonsense or fails, which is
 * no matter, since all is put back.
 */

static int
is_in_block(const struct sl__program *p, const unsigned char *at)
{
	return (uintptr_t)at >= (uintptr_t)p->block &&
	       (uintptr_t)at < (uintptr_t)p->block + p->block_bytes;
}

/* Room for the largest step, from 'arena'. */
static enum sl_status
touching_init(struct touching *t, struct sl__program *program,
	      struct sl__arena *arena, struct sl_error *err)
{
	uint64_t most = 0;
	size_t n_most = 0;

	memset(t, 0, sizeof(*t));
	t->program = program;
	for (size_t i = 0; i < program->n_steps; i++) {
		const struct sl__step *step = &program->steps[i];
		uint64_t sum = 0;

		for (uint32_t k = 0; k < step->n_operands; k++) {
			if (is_in_block(program, step->at[k]))
				sum += program->buffers[step->operands[k]]
					       .n_bytes;
		}
		most = sum > most ? sum : most;
		n_most = step->n_operands > n_most ? step->n_operands : n_most;
	}
	t->list = sl__arena_array(arena, n_most, sizeof(*t->list));
	t->before = sl__arena_array(arena, 3, (size_t)most);
	if (!t->list || !t->before)
		return sl__fail_nomem(err);
	t->after = t->before + most;
	t->again = t->after + most;
	return SL_OK;
}

static void
save(const struct touching *t, unsigned char *to)
{
	for (size_t i = 0; i < t->n; to += t->list[i++].n_bytes)
		memcpy(to, t->list[i].start, (size_t)t->list[i].n_bytes);
}

static void
put(const struct touching *t, const unsigned char *from)
{
	for (size_t i = 0; i < t->n; from += t->list[i++].n_bytes)
		memcpy(t->list[i].start, from, (size_t)t->list[i].n_bytes);
}

/* The bits that are inverted: all, or nearly all, so that what one stretch
 * holds then is not what a copy of another would be. */
static unsigned char
mask_of(size_t nth)
{
	return (unsigned char)(0xff - nth % 0x7f);
}

static void
invert(const struct touch *touch, unsigned char mask)
{
	for (uint64_t i = 0; i < touch->n_bytes; i++)
		touch->start[i] ^= mask;
}

static int
is_inverted(const struct touch *touch, const unsigned char *before,
	    unsigned char mask)
{
	for (uint64_t i = 0; i < touch->n_bytes; i++) {
		if (touch->start[i] != (before[i] ^ mask))
			return 0;
	}
	return 1;
}

static int
overlap(const struct touch *a, const struct touch *b)
{
	uintptr_t x = (uintptr_t)a->start, y = (uintptr_t)b->start;

	return x < y + b->n_bytes && y < x + a->n_bytes;
}

static int
by_size(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	if (x->n_bytes != y->n_bytes)
		return x->n_bytes < y->n_bytes ? 1 : -1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static void
collect(struct touching *t, const struct sl__step *step)
{
	t->n = 0;
	for (uint32_t k = 0; k < step->n_operands; k++) {
		uint32_t buffer = step->operands[k];
		uint64_t n_bytes = t->program->buffers[buffer].n_bytes;
		size_t i = 0;

		if (!n_bytes || !is_in_block(t->program, step->at[k]))
			continue;
		while (i < t->n && (t->list[i].start != step->at[k] ||
				    t->list[i].n_bytes != n_bytes))
			i++;
		if (i == t->n)
			t->list[t->n++] = (struct touch){
				.start = step->at[k],
				.n_bytes = n_bytes,
				.buffer = buffer,
				.is_scratch = k + step->n_scratch >=
					      step->n_operands};
		t->list[i].n_named++;
	}
	if (t->n)
		qsort(t->list, t->n, sizeof(*t->list), by_size);
}

/* Runs the step; afterwards list[] says what it names and what changed. */
static enum sl_status
touching_run(struct touching *t, size_t i, struct sl_error *err)
{
	struct sl__step *step = &t->program->steps[i];
	const unsigned char *before = t->before;
	enum sl_status rc;

	t->step = i;
	collect(t, step);
	save(t, t->before);
	rc = sl__run_step(t->program, i, err);
	if (rc)
		return rc;
	t->jumps = step->jumps;
	save(t, t->after);
	for (size_t k = 0; k < t->n; k++) {
		struct touch *touch = &t->list[k];

		touch->is_written = touch->is_scratch ||
				    memcmp(touch->start, before,
					   (size_t)touch->n_bytes) != 0;
		before += touch->n_bytes;
	}
	return SL_OK;
}

/* Leaves all as the real run did. */
static void
touching_settle(struct touching *t)
{
	put(t, t->after);
	t->program->steps[t->step].jumps = t->jumps;
}

/* Whether it may have been written without a change. */
static int
is_quiet(const struct touch *touch)
{
	return !touch->is_written && !touch->is_input;
}

/* The step once more, with some of what did not change inverted: all of it,
 * or stretch 'only'.  Returns whether it ran to its end. */
static int
run_inverted(struct touching *t, size_t only)
{
	put(t, t->before);
	for (size_t i = 0; i < t->n; i++) {
		if (is_quiet(&t->list[i]) && (only == SIZE_MAX || only == i))
			invert(&t->list[i], mask_of(i));
	}
	return !sl__run_step(t->program, t->step, NULL);
}

static const unsigned char *
before_of(const struct touching *t, size_t i)
{
	const unsigned char *at = t->before;

	for (size_t k = 0; k < i; k++)
		at += t->list[k].n_bytes;
	return at;
}

static int
is_still_inverted(const struct touching *t, size_t i)
{
	return is_inverted(&t->list[i], before_of(t, i), mask_of(i));
}

/* Whether another stretch that is inverted as well lies over this one. */
static int
is_crossed(const struct touching *t, size_t i)
{
	for (size_t k = 0; k < t->n; k++) {
		if (k != i && is_quiet(&t->list[k]) &&
		    overlap(&t->list[i], &t->list[k]))
			return 1;
	}
	return 0;
}

/* A step that fails on what it cannot read has read it. */
static void
find_quiet_writes(struct touching *t)
{
	size_t n_quiet = 0;
	int is_crossed_one = 0;

	for (size_t i = 0; i < t->n; i++) {
		n_quiet += (size_t)is_quiet(&t->list[i]);
		is_crossed_one |= is_quiet(&t->list[i]) && is_crossed(t, i);
	}
	if (!n_quiet)
		return;
	if (!is_crossed_one && run_inverted(t, SIZE_MAX)) {
		for (size_t i = 0; i < t->n; i++)
			t->list[i].is_read = is_quiet(&t->list[i]) &&
					     is_still_inverted(t, i);
	} else {
		for (size_t i = 0; i < t->n; i++)
			t->list[i].is_read = is_quiet(&t->list[i]) &&
					     (!run_inverted(t, i) ||
					      is_still_inverted(t, i));
	}
	for (size_t i = 0; i < t->n; i++) {
		if (is_quiet(&t->list[i]))
			t->list[i].is_written = !t->list[i].is_read;
	}
}

/* Whether a run that began with stretch 'k' inverted came out otherwise than
 * the real one.  Bytes that neither run wrote say nothing. */
static int
came_otherwise(const struct touching *t, size_t k, const unsigned char *result)
{
	size_t at = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct touch *touch = &t->list[i];
		int is_kin = k < t->n && overlap(touch, &t->list[k]);

		if (touch->is_scratch) {
			at += (size_t)touch->n_bytes;
			continue;
		}
		for (uint64_t b = 0; b < touch->n_bytes; b++, at++) {
			unsigned char before = t->before[at];

			if (result[at] == t->after[at])
				continue;
			if (is_kin && t->after[at] == before &&
			    result[at] == (unsigned char)~before)
				continue;
			return 1;
		}
	}
	return 0;
}

/* Results that differ from run to run anyway are no evidence. */
static int
is_repeatable(const struct touching *t)
{
	put(t, t->before);
	if (sl__run_step(t->program, t->step, NULL))
		return 0;
	save(t, t->again);
	return !came_otherwise(t, SIZE_MAX, t->again);
}

/* A step that makes the same of the opposite has no use for it. */
static int
is_used(const struct touching *t, size_t k)
{
	put(t, t->before);
	invert(&t->list[k], 0xff);
	if (sl__run_step(t->program, t->step, NULL))
		return 1;
	save(t, t->again);
	return came_otherwise(t, k, t->again);
}

static int
is_read_over(const struct touching *t, size_t k)
{
	return is_used(t, k) && is_repeatable(t);
}

static int
writes_something(const struct touching *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->list[i].is_written)
			return 1;
	}
	return 0;
}

/* Runs it some more to fill is_written and is_read of what is_known. */
static void
touching_ask(struct touching *t)
{
	int has_result;

	find_quiet_writes(t);
	has_result = writes_something(t);
	for (size_t i = 0; i < t->n; i++) {
		struct touch *touch = &t->list[i];

		if (touch->is_written)
			touch->is_read =
				touch->n_named > 1 ||
				(touch->is_known && is_read_over(t, i));
		else
			touch->is_read = touch->is_doubtful && has_result
						 ? is_used(t, i)
						 : touch->is_known;
	}
}

enum { LINE_BYTES = 64 };

struct tracker {
	struct sl__tensor_lifetimes *out;
	struct sl__program *program;
	struct sl__arena *arena;
	struct touching touching;
	const struct sl__live_tensors_options *how;
	int is_late;       /* it was cut at the deadline */
	int renews_states; /* a training step writes them where they lie */
	int is_torn;       /* a tensor was read of which a part had been lost */
};

static int
is_over(const struct sl__live_tensors_options *how)
{
	return how->deadline_ns && sl__clock_now_ns(NULL) >= how->deadline_ns;
}

static enum sl_status
add_tensor(struct tracker *t, const struct sl__tensor_lifetime *born,
	   struct sl_error *err)
{
	struct sl__tensor_lifetimes *out = t->out;

	if (out->n_tensors == out->cap_tensors) {
		size_t cap = out->cap_tensors ? 2 * out->cap_tensors : 64;
		struct sl__tensor_lifetime *more = sl__arena_realloc_array(
			t->arena, out->tensors, out->n_tensors, cap,
			sizeof(*more));

		if (!more)
			return sl__fail_nomem(err);
		out->tensors = more;
		out->cap_tensors = cap;
	}
	out->tensors[out->n_tensors++] = *born;
	return SL_OK;
}

static int
crosses(const struct sl__tensor_lifetime *tensor, uintptr_t start,
	uint64_t n_bytes)
{
	return start < tensor->start + tensor->n_bytes &&
	       tensor->start < start + n_bytes;
}

static int
holds(const struct sl__tensor_lifetime *tensor, uintptr_t start,
      uint64_t n_bytes)
{
	return start >= tensor->start &&
	       start - tensor->start <= tensor->n_bytes &&
	       n_bytes <= tensor->n_bytes - (start - tensor->start);
}

static int
is_same(const struct sl__tensor_lifetime *tensor, const struct touch *touch)
{
	return tensor->start == (uintptr_t)touch->start &&
	       tensor->n_bytes == touch->n_bytes;
}

/* The tensor in which a stretch lies now; NULL: none has all of it. */
static struct sl__tensor_lifetime *
tensor_at(const struct sl__tensor_lifetimes *out, uintptr_t start,
	  uint64_t n_bytes)
{
	for (size_t i = out->n_tensors; i > 0; i--) {
		struct sl__tensor_lifetime *tensor = &out->tensors[i - 1];

		if (!tensor->is_over && holds(tensor, start, n_bytes))
			return tensor;
	}
	return NULL;
}

/* All that a new tensor lies over is over.  One that the same step reads was
 * needed up to it, and gives its lines to the new one. */
static void
end_others(struct tracker *t, const struct touch *touch, size_t moment)
{
	struct sl__tensor_lifetimes *out = t->out;

	for (size_t i = 0; i < out->n_tensors; i++) {
		struct sl__tensor_lifetime *old = &out->tensors[i];

		if (old->is_over ||
		    !crosses(old, (uintptr_t)touch->start, touch->n_bytes))
			continue;
		old->is_over = 1;
		t->is_torn |= old->is_input &&
			      !(t->renews_states && is_same(old, touch));
		if (touch->is_read && is_same(old, touch) && moment > old->born)
			old->last = moment - 1;
	}
}

static enum sl_status
note_write(struct tracker *t, const struct touch *touch, size_t moment,
	   struct sl_error *err)
{
	struct sl__tensor_lifetime born = {.start = (uintptr_t)touch->start,
					   .n_bytes = touch->n_bytes,
					   .buffer = touch->buffer,
					   .born = moment,
					   .last = moment};
	struct sl__tensor_lifetime *in =
		tensor_at(t->out, born.start, born.n_bytes);

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
note_room(struct tracker *t, const struct touch *touch, size_t moment,
	  struct sl_error *err)
{
	struct sl__tensor_lifetime room = {.start = (uintptr_t)touch->start,
					   .n_bytes = touch->n_bytes,
					   .buffer = touch->buffer,
					   .born = moment,
					   .last = moment,
					   .is_over = 1,
					   .is_idle = 1};

	return add_tensor(t, &room, err);
}

static void
note_read(struct tracker *t, const struct touch *touch, size_t moment)
{
	struct sl__tensor_lifetime *in =
		tensor_at(t->out, (uintptr_t)touch->start, touch->n_bytes);

	if (!in)
		t->is_torn = 1;
	else if (in->last < moment)
		in->last = moment;
}

/* Whether some tensor has a part of it. */
static int
is_across(const struct sl__tensor_lifetimes *out, const struct touch *touch)
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
		struct touch *touch = &t->touching.list[i];
		const struct sl__tensor_lifetime *in = tensor_at(
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
	const struct touching *seen = &t->touching;
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
	t->is_late = is_over(t->how);
	if (t->is_late)
		return sl__fail(err, SL_E_INTERRUPTED, "no time");
	rc = touching_run(&t->touching, i, err);
	if (rc)
		return rc;
	tell_what_is_known(t);
	touching_ask(&t->touching);
	touching_settle(&t->touching);
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
		struct sl__tensor_lifetime input = {.start = (uintptr_t)b->data,
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
		struct sl__tensor_lifetime *in =
			tensor_at(t->out, (uintptr_t)b->data, b->n_bytes);

		if (!in || !b->n_bytes)
			continue;
		in->last = SIZE_MAX;
		in->is_output = 1;
	}
}

/* Room that lies in what is alive anyway takes nothing. */
static void
drop_idle_room(struct sl__tensor_lifetimes *out)
{
	for (size_t i = 0; i < out->n_tensors; i++) {
		struct sl__tensor_lifetime *room = &out->tensors[i];

		for (size_t k = 0; room->is_idle && k < out->n_tensors; k++) {
			const struct sl__tensor_lifetime *other =
				&out->tensors[k];

			if (!other->is_idle &&
			    sl__tensor_is_alive_at(other, room->born) &&
			    crosses(other, room->start, room->n_bytes))
				room->n_bytes = 0;
		}
	}
}

static void
add_up(struct sl__tensor_lifetimes *out)
{
	for (size_t m = 0; m < out->n; m++) {
		for (size_t i = 0; i < out->n_tensors; i++) {
			if (sl__tensor_is_alive_at(&out->tensors[i], m))
				out->live_bytes[m] +=
					sl__tensor_lifetime_line_bytes(
						&out->tensors[i]);
		}
		if (out->live_bytes[m] > out->peak_bytes) {
			out->peak_bytes = out->live_bytes[m];
			out->peak = m;
		}
	}
}

static enum sl_status
monitor(struct tracker *t, struct sl_plan *plan, struct sl_error *err)
{
	struct sl__interceptor interceptor = {around, t};
	struct sl__tensor_lifetimes *out = t->out;
	size_t n = t->program->n_steps;
	enum sl_status rc;

	out->steps = sl__arena_array(t->arena, n, sizeof(*out->steps));
	out->live_bytes =
		sl__arena_array(t->arena, n, sizeof(*out->live_bytes));
	if (!out->steps || !out->live_bytes)
		return sl__fail_nomem(err);
	rc = touching_init(&t->touching, t->program, t->arena, err);
	if (!rc)
		rc = add_inputs(t, err);
	if (!rc)
		rc = sl__plan_intercept(plan, &interceptor, err);
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
sl__live_tensors_track(struct sl__tensor_lifetimes *out, struct sl_plan *plan,
		       const struct sl__live_tensors_options *how,
		       struct sl__arena *arena, struct sl_error *err)
{
	struct tracker t = {.out = out, .arena = arena, .how = how};
	enum sl_status rc;

	memset(out, 0, sizeof(*out));
	rc = sl__plan_select_program(plan, err);
	if (rc)
		return rc;
	t.program = plan->current;
	t.renews_states = !!(plan->options.flags & SL__PLAN_TRAINS);
	if (t.program->is_stepwise) {
		out->absent = "some values have sizes that are found while the "
			      "model runs: they lie outside the plan";
		return SL_OK;
	}
	/* Copies of large operands are pages to be cleared. */
	t.is_late = is_over(how);
	rc = t.is_late ? SL_E_INTERRUPTED : monitor(&t, plan, err);
	if (!rc || !t.is_late)
		return rc;
	memset(out, 0, sizeof(*out));
	out->absent = "no time: each operation has to run several times";
	return SL_OK;
}

enum sl_status
sl__live_tensors_track_or_absent(struct sl__tensor_lifetimes *out,
				 struct sl_plan *plan,
				 const struct sl__live_tensors_options *how,
				 struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc = sl__live_tensors_track(out, plan, how, arena, err);

	if (rc != SL_E_INTERRUPTED && rc != SL_E_NOMEM)
		return rc;
	memset(out, 0, sizeof(*out));
	out->absent = rc == SL_E_NOMEM
			      ? "there is no memory for copies of operands"
			      : "interrupted";
	return SL_OK;
}
