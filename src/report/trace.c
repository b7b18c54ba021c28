/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - the iterations that a profile keeps, as Chrome's trace events.
 *
 * Each iteration is a thread: an event for the whole of it, and in it one for
 * each operation.  All begin at 0, so that a slow iteration lies under the
 * median one; when it really began is among the arguments.  Moments are rounded
 * to whole nanoseconds before durations are taken, so that events neither
 * overlap nor leave their iteration in any reader.  Names are events too: those
 * of an iteration come right before it, so that a limit cuts off whole
 * iterations, not names of iterations that are there.
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "sleuth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { LIMIT = 100000, PROCESS = 1, NAMES_OF_PASS = 2 };

struct tracer {
	struct sl__json json;
	const struct sl_profile *profile;
	size_t limit, n_written, n_dropped;
	uint64_t thread; /* of the iteration under way */
};

/* Whether iteration i is the median one, whatever else it was kept for. */
static int
is_median(const struct sl_profile *p, size_t i)
{
	for (size_t k = 0; k < p->n_iterations; k++) {
		if (p->iterations[k].nth == p->iterations[i].nth &&
		    p->iterations[k].why == SL_KEPT_MEDIAN)
			return 1;
	}
	return 0;
}

/* Whether the same iteration stands in the list before i under another name. */
static int
is_repeated(const struct sl_profile *p, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (p->iterations[k].nth == p->iterations[i].nth)
			return 1;
	}
	return 0;
}

/* The iterations in the order they are written, the median one first: calls
 * 'write' for each. */
static void
each_pass(struct tracer *t, void (*write)(struct tracer *t, size_t i))
{
	const struct sl_profile *p = t->profile;

	t->thread = 0;
	for (int others = 0; others < 2; others++) {
		for (size_t i = 0; i < p->n_iterations; i++) {
			if (is_repeated(p, i) || is_median(p, i) == others)
				continue;
			t->thread++;
			write(t, i);
		}
	}
}

/* Operations of an iteration: marks but for the end. */
static size_t
n_events_of(const struct sl_trace_iteration *it)
{
	return it->n_events ? it->n_events - 1 : 0;
}

static uint64_t
whole_ns(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

/* Whether there is room for one event more. */
static int
takes(struct tracer *t)
{
	if (t->n_written == t->limit)
		return 0;
	t->n_written++;
	return 1;
}

static void
open_event(struct tracer *t, const char *name, const char *phase)
{
	sl__json_object(&t->json, NULL);
	t->json.is_flat = 1;
	sl__json_text(&t->json, "name", name);
	sl__json_text(&t->json, "ph", phase);
	sl__json_integer(&t->json, "pid", PROCESS);
}

static void
close_event(struct tracer *t)
{
	sl__json_end_object(&t->json);
	t->json.is_flat = 0;
}

/* A stretch of the thread's time, in microseconds; leaves "args" open. */
static void
open_slice(struct tracer *t, const char *name, uint64_t from_ns, uint64_t to_ns)
{
	open_event(t, name, "X");
	sl__json_integer(&t->json, "tid", t->thread);
	sl__json_number(&t->json, "ts", (double)from_ns / 1e3);
	sl__json_number(&t->json, "dur", (double)(to_ns - from_ns) / 1e3);
	sl__json_object(&t->json, "args");
}

static void
close_slice(struct tracer *t)
{
	sl__json_end_object(&t->json);
	close_event(t);
}

/* What it does, by names as in JSON, and how fast in this very call. */
static void
add_work(struct sl__json *json, const struct sl_operation *op, double ns)
{
	sl__json_integer(json, "flops", op->core_flops);
	sl__json_integer(json, "all_flops", op->nominal_flops);
	sl__json_integer(json, "executed_flops", op->executed_flops);
	sl__json_integer(json, "bytes", op->n_bytes);
	if (ns > 0 && op->core_flops)
		sl__json_number(json, "gflops_per_s",
				(double)op->core_flops / ns);
	if (ns > 0)
		sl__json_number(json, "executed_gflops_per_s",
				(double)op->executed_flops / ns);
}

static void
add_operation(struct tracer *t, const struct sl_operation *op, uint64_t from_ns,
	      uint64_t to_ns)
{
	struct sl__json *json = &t->json;

	open_slice(t, op->name, from_ns, to_ns);
	sl__json_text(json, "type", op->type);
	sl__json_text(json, "part", sl_part_text(op->part));
	if (*op->module)
		sl__json_text(json, "module", op->module);
	sl__json_text(json, "kernel", op->kernel);
	sl__json_text(json, "path", sl_path_text(op->path));
	if (*op->output_shape)
		sl__json_text(json, "shape", op->output_shape);
	if (!op->uncounted)
		add_work(json, op, (double)(to_ns - from_ns));
	if (op->n_traffic &&
	    isfinite(op->traffic[op->n_traffic - 1].predicted_bytes))
		sl__json_number(json, "memory_traffic_bytes",
				op->traffic[op->n_traffic - 1].predicted_bytes);
	sl__json_text(json, "bound", sl_bound_text(op->judgement.bound));
	close_slice(t);
}

/* What is live while operation k of the iteration runs; NULL: not known.  Both
 * lists are in the order in which operations ran: *at goes on. */
static const struct sl_memory_moment *
moment_of(const struct tracer *t, const struct sl_trace_iteration *it, size_t k,
	  size_t *at)
{
	const struct sl_memory_use *m = &t->profile->memory;

	while (*at < m->n_timeline &&
	       m->timeline[*at].operation < it->events[k].operation)
		++*at;
	if (*at == m->n_timeline ||
	    m->timeline[*at].operation != it->events[k].operation)
		return NULL;
	return &m->timeline[*at];
}

/* Where the track of live memory comes from, or why there is none. */
static const char *
live_memory_of(const struct sl_memory_use *m)
{
	if (!m->tracked_bytes.absent)
		return m->n_timeline ? "tracked in a run" : "no step ran";
	return m->n_timeline ? "from the plan: no run was tracked"
			     : m->tracked_bytes.absent;
}

static void
add_memory(struct tracer *t, const struct sl_trace_iteration *it)
{
	size_t at = 0;

	for (size_t k = 0; k < n_events_of(it); k++) {
		const struct sl_memory_moment *now = moment_of(t, it, k, &at);

		if (!now)
			continue;
		if (!takes(t))
			return;
		open_event(t, "live memory", "C");
		sl__json_number(&t->json, "ts",
				(double)whole_ns(it->events[k].start_ns) / 1e3);
		sl__json_object(&t->json, "args");
		sl__json_integer(&t->json, "bytes", now->live_bytes);
		close_slice(t);
	}
}

static void
add_pass(struct tracer *t, size_t i)
{
	const struct sl_trace_iteration *it = &t->profile->iterations[i];
	uint64_t end_ns = whole_ns(it->wall_ns);

	if (!takes(t))
		return;
	open_slice(t, "iteration", 0, end_ns);
	sl__json_integer(&t->json, "nth", it->nth);
	sl__json_number(&t->json, "began_ms", it->start_ns / 1e6);
	close_slice(t);
	for (size_t k = 0; k < n_events_of(it); k++) {
		uint64_t from = whole_ns(it->events[k].start_ns);
		uint64_t to = whole_ns(it->events[k + 1].start_ns);

		if (!takes(t))
			return;
		to = to < end_ns ? to : end_ns;
		from = from < to ? from : to;
		add_operation(t,
			      &t->profile->operations[it->events[k].operation],
			      from, to);
	}
	if (is_median(t->profile, i))
		add_memory(t, it);
}

/* A fact about the process or a thread: a name, or a number where that is
 * NULL. */
static void
add_meta(struct tracer *t, const char *what, const char *name)
{
	if (!takes(t))
		return;
	open_event(t, what, "M");
	sl__json_integer(&t->json, "tid", t->thread);
	sl__json_object(&t->json, "args");
	if (name)
		sl__json_text(&t->json, "name", name);
	else
		sl__json_integer(&t->json, "sort_index", t->thread);
	close_slice(t);
}

/* "first iteration, slowest iteration 1": all the reasons for which it was
 * kept. */
static void
name_thread(struct tracer *t, size_t i)
{
	const struct sl_profile *p = t->profile;
	char name[256] = "";
	size_t n_slow = 0;

	for (size_t k = 0; k < p->n_iterations; k++) {
		const struct sl_trace_iteration *it = &p->iterations[k];
		size_t used = strlen(name);

		n_slow += it->why == SL_KEPT_SLOWEST;
		if (it->nth != p->iterations[i].nth)
			continue;
		if (it->why == SL_KEPT_SLOWEST)
			snprintf(name + used, sizeof(name) - used,
				 "%sslowest iteration %zu", used ? ", " : "",
				 n_slow);
		else
			snprintf(name + used, sizeof(name) - used,
				 "%s%s iteration", used ? ", " : "",
				 it->why == SL_KEPT_FIRST ? "first" : "median");
	}
	add_meta(t, "thread_name", name);
	add_meta(t, "thread_sort_index", NULL);
}

static void
add_named_pass(struct tracer *t, size_t i)
{
	name_thread(t, i);
	add_pass(t, i);
}

static void
count_pass(struct tracer *t, size_t i)
{
	const struct sl_trace_iteration *it = &t->profile->iterations[i];
	size_t at = 0;

	t->n_written += NAMES_OF_PASS + 1 + n_events_of(it);
	for (size_t k = 0; is_median(t->profile, i) && k < n_events_of(it); k++)
		t->n_written += moment_of(t, it, k, &at) != NULL;
}

static void
add_other(struct tracer *t)
{
	const struct sl_profile *p = t->profile;
	size_t n;

	/* As many as there would be without a limit; the process has a name. */
	t->n_written = 1;
	each_pass(t, count_pass);
	n = t->n_written;
	t->n_written = 0;
	t->n_dropped = n > t->limit ? n - t->limit : 0;

	sl__json_object(&t->json, "otherData");
	sl__json_text(&t->json, "tool", "sleuth");
	sl__json_text(&t->json, "version", sl_version());
	sl__json_text(&t->json, "model", p->name);
	sl__json_text(&t->json, "source", p->source);
	sl__json_integer(&t->json, "passes_recorded", p->ledger.n_iterations);
	sl__json_integer(&t->json, "events", n < t->limit ? n : t->limit);
	sl__json_integer(&t->json, "dropped_events", t->n_dropped);
	sl__json_text(&t->json, "live_memory", live_memory_of(&p->memory));
	sl__json_end_object(&t->json);
}

enum sl_status
sl_profile_trace(const struct sl_profile *profile,
		 const struct sl_trace_options *options, struct sl_buf *out,
		 struct sl_error *err)
{
	struct sl_trace_options how;
	struct tracer t = {.profile = profile, .limit = LIMIT};
	enum sl_status rc = sl__options_copy(&how, sizeof(how), options,
					     "sl_trace_options", err);

	if (rc)
		return rc;
	if (how.limit)
		t.limit = how.limit;
	sl__json_init(&t.json, out);
	sl__json_object(&t.json, NULL);
	sl__json_text(&t.json, "displayTimeUnit", "ms");
	add_other(&t);
	if (how.n_dropped)
		*how.n_dropped = t.n_dropped;
	sl__json_array(&t.json, "traceEvents");
	t.thread = 0;
	add_meta(&t, "process_name", profile->name);
	each_pass(&t, add_named_pass);
	sl__json_end_array(&t.json);
	sl__json_end_object(&t.json);
	return sl__buf_status(out, err);
}
