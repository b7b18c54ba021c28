/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - operations summed up, and iterations as timelines. */
#include "result/groups.h"
#include "base/map.h"
#include "base/status.h"
#include "result/iteration_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

/* What operations are told apart by. */
struct key {
	enum { KEY_TYPE, KEY_MODULE, KEY_PART, KEY_ALIKE } kind;
	size_t depth; /* of module paths; 0: all of it */
};

/* The path up to the end of its depth-th part. */
static const char *
cut(const char *path, size_t depth, struct sl__arena *arena)
{
	const char *end = path;
	char *text;

	for (size_t i = 0; i < depth && end; i++)
		end = strchr(end + (i > 0), '/');
	if (!depth || !end)
		return path;
	text = sl__arena_string(arena, path);
	if (text)
		text[end - path] = '\0';
	return text;
}

/* The name with a '*' for each number in it. */
static const char *
without_numbers(const char *name, struct sl__arena *arena)
{
	char *text = sl__arena_string(arena, name), *to = text;

	for (const char *c = name; text && *c; c++) {
		if (*c < '0' || *c > '9')
			*to++ = *c;
		else if (to == text || to[-1] != '*')
			*to++ = '*';
	}
	if (text)
		*to = '\0';
	return text;
}

static const char *
name_of(const struct sl_operation *op, const struct key *key,
	struct sl__arena *arena)
{
	if (key->kind == KEY_TYPE)
		return op->type;
	if (key->kind == KEY_PART)
		return sl_part_text(op->part);
	if (key->kind == KEY_ALIKE)
		return without_numbers(op->name, arena);
	return cut(op->module, key->depth, arena);
}

/* So much work of one call in an iteration, for operations that are not always
 * run. */
static uint64_t
of_pass(uint64_t work, double n_calls)
{
	if (n_calls < 1 || n_calls > 1)
		return (uint64_t)llround((double)work * n_calls);
	return work;
}

static void
add(struct sl_operation_group *g, const struct sl_operation *op)
{
	g->n_operations++;
	g->self_ns += op->self_ns;
	g->share += op->share;
	g->core_flops += of_pass(op->core_flops, op->n_calls);
	g->nominal_flops += of_pass(op->nominal_flops, op->n_calls);
	g->executed_flops += of_pass(op->executed_flops, op->n_calls);
	g->n_bytes += of_pass(op->n_bytes, op->n_calls);
	g->parameters += op->parameters;
}

static int
by_time(const void *a, const void *b)
{
	const struct sl_operation_group *x = a, *y = b;

	if (x->self_ns < y->self_ns || x->self_ns > y->self_ns)
		return x->self_ns < y->self_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static struct sl_operation_group *
find(struct sl__map *ids, struct sl_operation_group *groups, const char *name,
     struct sl_error *err)
{
	const size_t *known = sl__map_find(ids, name);
	size_t id = ids->n;

	if (known)
		return &groups[*known];
	if (sl__map_put(ids, name, id, err))
		return NULL;
	groups[id].name = name;
	return &groups[id];
}

/* NULL when out of memory. */
static struct sl_operation_group *
group(const struct sl_profile *p, const struct key *key,
      struct sl__arena *arena, size_t *n)
{
	struct sl_operation_group *groups =
		sl__arena_array(arena, p->n_operations, sizeof(*groups));
	struct sl__map ids;

	sl__map_init(&ids, arena);
	for (size_t i = 0; groups && i < p->n_operations; i++) {
		const char *name = name_of(&p->operations[i], key, arena);
		struct sl_operation_group *g =
			name ? find(&ids, groups, name, NULL) : NULL;

		if (!g)
			return NULL;
		add(g, &p->operations[i]);
	}
	*n = ids.n;
	if (groups)
		qsort(groups, ids.n, sizeof(*groups), by_time);
	return groups;
}

const struct sl_operation_group *
sl__groups_by_module(const struct sl_profile *p, size_t depth,
		     struct sl__arena *arena, size_t *n)
{
	const struct key key = {KEY_MODULE, depth};

	return group(p, &key, arena, n);
}

const struct sl_operation_group *
sl__groups_alike(const struct sl_profile *p, struct sl__arena *arena, size_t *n)
{
	const struct key key = {KEY_ALIKE, 0};

	return group(p, &key, arena, n);
}

enum sl_status
sl__profile_fill_groups(struct sl_profile *out, struct sl__arena *arena,
			struct sl_error *err)
{
	const struct key type = {KEY_TYPE, 0}, part = {KEY_PART, 0};

	out->by_type = group(out, &type, arena, &out->n_types);
	out->by_module = sl__groups_by_module(out, 1, arena, &out->n_modules);
	out->by_part = group(out, &part, arena, &out->n_parts);
	if (!out->by_type || !out->by_module || !out->by_part)
		return sl__fail_nomem(err);
	return SL_OK;
}

static enum sl_status
draw(struct sl_trace_iteration *out, const struct sl__traced_iteration *kept,
     const struct sl__timed_iterations *iterations, struct sl__arena *arena,
     struct sl_error *err)
{
	size_t n = kept->events.n_stamps;
	struct sl_trace_event *events =
		sl__arena_array(arena, n, sizeof(*events));

	if (!events)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct sl__timestamp *m = &kept->events.stamps[i];

		events[i].operation = m->step == SL__NONE ? SIZE_MAX : m->step;
		events[i].start_ns = (double)(m->ticks - kept->begin) /
				     iterations->ticks_per_ns;
	}
	out->nth = kept->nth;
	out->start_ns = (double)(kept->begin - iterations->origin) /
			iterations->ticks_per_ns;
	out->wall_ns =
		(double)(kept->end - kept->begin) / iterations->ticks_per_ns;
	out->events = events;
	out->n_events = n;
	return SL_OK;
}

enum sl_status
sl__profile_fill_timelines(struct sl_profile *out,
			   const struct sl__timed_iterations *iterations,
			   struct sl__arena *arena, struct sl_error *err)
{
	struct sl_trace_iteration *rows = sl__arena_array(
		arena, iterations->kept.n_slow + 2, sizeof(*rows));
	enum sl_status rc;

	out->n_iterations = 0;
	if (!rows)
		return sl__fail_nomem(err);
	out->iterations = rows;
	if (!iterations->n_recorded)
		return SL_OK;
	rows[0].why = SL_KEPT_FIRST;
	rc = draw(&rows[0], &iterations->kept.first, iterations, arena, err);
	rows[1].why = SL_KEPT_MEDIAN;
	if (!rc)
		rc = draw(&rows[1], &iterations->kept.median, iterations, arena,
			  err);
	for (size_t i = 0; !rc && i < iterations->kept.n_slow; i++) {
		rows[2 + i].why = SL_KEPT_SLOWEST;
		rc = draw(&rows[2 + i], &iterations->kept.slow[i], iterations,
			  arena, err);
	}
	if (!rc)
		out->n_iterations = iterations->kept.n_slow + 2;
	return rc;
}
