/* SPDX-License-Identifier: Apache-2.0 */
/* counter_set.c - hardware counters of several threads, read together. */
#include "timing/counter_set.h"
#include "base/status.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Counters of one thread; written by it alone while threads join. */
struct member {
	int handles[SL_N_EVENTS]; /* -1: not open */
	int errors[SL_N_EVENTS];  /* of opening; 0: open */
	int has_joined;
};

struct sl__counter_set {
	struct sl__counter_backend source;
	struct sl__counter_choice choices[SL_N_EVENTS];
	struct member *members; /* [n_threads] */
	size_t n_threads;
	struct sl__arena *arena;
};

static void
close_event(struct sl__counter_set *set, struct member *m, int e)
{
	if (m->handles[e] >= 0)
		set->source.close(m->handles[e], set->source.ctx);
	m->handles[e] = -1;
}

enum sl_status
sl__counter_set_open(struct sl__counter_set **out,
		     const struct sl__counter_backend *source, size_t n_threads,
		     struct sl__arena *arena, struct sl_error *err)
{
	struct sl__counter_set *set = sl__arena_alloc(arena, sizeof(*set));

	*out = NULL;
	if (!set)
		return sl__fail_nomem(err);
	memset(set, 0, sizeof(*set));
	set->arena = arena;
	if (source)
		set->source = *source;
	else
		sl__counter_backend_kernel(&set->source);
	set->members = sl__arena_array(arena, n_threads, sizeof(*set->members));
	if (!set->members)
		return sl__fail_nomem(err);
	set->n_threads = n_threads;
	for (size_t i = 0; i < n_threads; i++) {
		for (int e = 0; e < SL_N_EVENTS; e++)
			set->members[i].handles[e] = -1;
	}
	*out = set;
	return sl__counters_choose(set->choices, &set->source, arena, err);
}

void
sl__counter_set_close(struct sl__counter_set *set)
{
	for (size_t i = 0; set && i < set->n_threads; i++) {
		for (int e = 0; e < SL_N_EVENTS; e++)
			close_event(set, &set->members[i], e);
	}
}

size_t
sl__counter_set_n_events(const struct sl__counter_set *set)
{
	size_t n = 0;

	for (int e = 0; e < SL_N_EVENTS; e++)
		n += !set->choices[e].absent;
	return n;
}

const char *
sl__counter_set_name(const struct sl__counter_set *set, enum sl_event event,
		     const char **absent)
{
	const struct sl__counter_choice *choice = &set->choices[event];

	*absent = choice->absent;
	return choice->absent ? NULL : choice->code.name;
}

void
sl__counter_set_join(struct sl__counter_set *set, size_t rank)
{
	struct member *m = &set->members[rank];

	for (int e = 0; e < SL_N_EVENTS; e++) {
		int handle;

		if (set->choices[e].absent)
			continue;
		handle = set->source.open(&set->choices[e].code,
					  set->source.ctx);
		m->handles[e] = handle < 0 ? -1 : handle;
		m->errors[e] = handle < 0 ? -handle : 0;
	}
	m->has_joined = 1;
}

/* Why some thread lacks an event; NULL: none does, or out of memory. */
static enum sl_status
find_reason(const struct sl__counter_set *set, int e, const char **reason,
	    struct sl_error *err)
{
	*reason = NULL;
	for (size_t i = 0; i < set->n_threads && !*reason; i++) {
		const struct member *m = &set->members[i];

		if (!m->has_joined) {
			*reason = "a thread of the model could not be reached";
		} else if (m->errors[e]) {
			*reason = sl__counter_open_error_text(
				m->errors[e], set->source.paranoid, set->arena);
			if (!*reason)
				return sl__fail_nomem(err);
		}
	}
	return SL_OK;
}

enum sl_status
sl__counter_set_drop_unopened(struct sl__counter_set *set, struct sl_error *err)
{
	for (int e = 0; e < SL_N_EVENTS; e++) {
		enum sl_status rc;

		if (set->choices[e].absent)
			continue;
		rc = find_reason(set, e, &set->choices[e].absent, err);
		if (rc)
			return rc;
		for (size_t i = 0; set->choices[e].absent && i < set->n_threads;
		     i++)
			close_event(set, &set->members[i], e);
	}
	return SL_OK;
}

enum sl_status
sl__counter_set_read(const struct sl__counter_set *set, size_t rank,
		     struct sl__counter_reading out[SL_N_EVENTS],
		     struct sl_error *err)
{
	const struct member *m = &set->members[rank];

	memset(out, 0, SL_N_EVENTS * sizeof(*out));
	for (int e = 0; e < SL_N_EVENTS; e++) {
		int error;

		if (m->handles[e] < 0)
			continue;
		error = -set->source.read(m->handles[e], &out[e],
					  set->source.ctx);
		if (error)
			return sl__fail_errno(
				err, SL_E_MEASURE, error,
				"the counter of %s cannot be read any more",
				sl_event_text((enum sl_event)e));
	}
	return SL_OK;
}

enum sl_status
sl__counter_tally_add(struct sl__counter_tally *tally,
		      const struct sl__counter_reading *before,
		      const struct sl__counter_reading *after,
		      struct sl_error *err)
{
	if (after->value < before->value ||
	    after->enabled_ns < before->enabled_ns ||
	    after->running_ns < before->running_ns)
		return sl__fail(err, SL_E_MEASURE,
				"a hardware counter ran backwards");
	tally->value += (double)(after->value - before->value);
	tally->enabled_ns += (double)(after->enabled_ns - before->enabled_ns);
	tally->running_ns += (double)(after->running_ns - before->running_ns);
	return SL_OK;
}

double
sl__counter_tally_scaled(const struct sl__counter_tally *tally)
{
	if (tally->running_ns > 0)
		return tally->value *
		       fmax(tally->enabled_ns / tally->running_ns, 1);
	return tally->enabled_ns > 0 ? (double)NAN : tally->value;
}
