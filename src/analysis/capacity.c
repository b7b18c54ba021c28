/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity.c - the largest batch or sequence that fits in given memory.
 *
 * Memory never shrinks as a size grows, so the size is doubled until it does
 * not fit and then halved in between.
 */
#include "arena.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

#include "banned.h"

/* Beyond this nothing real is waited for; the formulas stay exact. */
#define SIZE_MOST (INT64_C(1) << 30)

struct search {
	const struct sl_graph *graph;
	const struct sl_fit_options *how;
	int is_seq;
};

static enum sl_status
need_at(const struct search *s, int64_t size, struct sl_fit *out,
	struct sl_error *err)
{
	static const struct sl_sizes usual = {.struct_size = sizeof(usual)};
	struct sl_sizes sizes = s->how->sizes ? *s->how->sizes : usual;
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .sizes = &sizes,
					 .brief = 1,
					 .allocator = s->how->allocator};
	const struct sl_training *t;
	struct sl_inspection *seen;
	enum sl_status rc;

	*(s->is_seq ? &sizes.seq : &sizes.batch) = size;
	rc = sl_inspect(&seen, s->graph, &how, err);
	if (rc)
		return rc;
	t = &seen->training;
	out->parameters_bytes = (double)seen->memory.parameter_bytes;
	out->gradients_bytes = out->optimizer_bytes = 0;
	out->activations_bytes = (double)seen->memory.live_bytes;
	out->total_bytes = out->parameters_bytes + out->activations_bytes;
	if (s->how->optimizer) {
		out->gradients_bytes = (double)t->gradient_bytes;
		out->optimizer_bytes =
			(double)t->optimizer_bytes[s->how->optimizer];
		out->total_bytes = (double)t->peak_bytes[s->how->optimizer];
		out->activations_bytes =
			out->total_bytes - out->parameters_bytes -
			out->gradients_bytes - out->optimizer_bytes;
	}
	sl_inspection_free(seen);
	return SL_OK;
}

static int
fits(const struct sl_fit *at, const struct search *s)
{
	return at->total_bytes <= s->how->memory_bytes;
}

/* Between one that fits and one that does not. */
static enum sl_status
bisect(const struct search *s, int64_t good, int64_t bad, struct sl_fit *out,
       struct sl_error *err)
{
	while (bad - good > 1) {
		int64_t middle = good + (bad - good) / 2;
		struct sl_fit at = *out;
		enum sl_status rc = need_at(s, middle, &at, err);

		if (rc)
			return rc;
		if (fits(&at, s)) {
			good = middle;
			*out = at;
		} else {
			bad = middle;
			out->next_bytes = at.total_bytes;
		}
	}
	out->largest = good;
	return SL_OK;
}

static enum sl_status
search(const struct search *s, struct sl_fit *out, struct sl_error *err)
{
	enum sl_status rc = need_at(s, 1, out, err);
	int64_t size = 1;

	if (rc || !fits(out, s)) {
		out->next_bytes = out->total_bytes;
		return rc;
	}
	while (size < SIZE_MOST) {
		struct sl_fit at = *out;
		double next;

		rc = need_at(s, 2 * size, &at, err);
		if (rc)
			return rc;
		if (!fits(&at, s)) {
			next = at.total_bytes;
			rc = bisect(s, size, 2 * size, out, err);
			if (out->next_bytes <= 0)
				out->next_bytes = next;
			return rc;
		}
		if (at.total_bytes <= out->total_bytes)
			break;
		*out = at;
		size *= 2;
	}
	out->largest = size;
	out->is_unbounded = 1;
	return SL_OK;
}

static enum sl_status
check(struct search *s, struct sl_error *err)
{
	const char *axis = s->how->axis ? s->how->axis : "batch";

	if (s->how->struct_size != sizeof(*s->how))
		return sl__fail(err, SL_E_USAGE,
				"options of another version of the library");
	if (!(s->how->memory_bytes > 0))
		return sl__fail(err, SL_E_USAGE,
				"how much memory must be given");
	if ((unsigned)s->how->optimizer >= SL_N_OPTIMIZERS)
		return sl__fail(err, SL_E_USAGE, "no such optimizer");
	s->is_seq = !strcmp(axis, "seq");
	if (!s->is_seq && strcmp(axis, "batch") != 0)
		return sl__fail(err, SL_E_USAGE,
				"'%s': what grows must be batch or seq", axis);
	return SL_OK;
}

enum sl_status
sl_fit(struct sl_fit **out, const struct sl_graph *graph,
       const struct sl_fit_options *options, struct sl_error *err)
{
	struct search s = {graph, options, 0};
	struct sl__arena *arena;
	struct sl_fit *fit;
	enum sl_status rc;

	*out = NULL;
	rc = check(&s, err);
	if (rc)
		return rc;
	fit = sl__boxed_new(&arena, options->allocator, sizeof(*fit));
	if (!fit)
		return sl__fail_nomem(err);
	fit->axis = s.is_seq ? "seq" : "batch";
	fit->memory_bytes = options->memory_bytes;
	fit->optimizer = options->optimizer;
	fit->name = sl__arena_string(arena, sl_graph_name(graph));
	rc = fit->name ? search(&s, fit, err) : sl__fail_nomem(err);
	if (rc) {
		sl__boxed_free(fit);
		return rc;
	}
	*out = fit;
	return SL_OK;
}

void
sl_fit_free(struct sl_fit *f)
{
	sl__boxed_free(f);
}
