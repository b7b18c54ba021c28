/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.c - the largest batch or sequence that fits in given memory.
 *
 * From the graph, as for an engine that fuses nothing and needs nothing for
 * itself; for inference, what the engine plans replaces it (fit_plan.c).
 * Memory never shrinks as a size grows, so the size is doubled until it does
 * not fit and then halved in between.  A size that the model refuses, after it
 * took a smaller one, ends the search as well: a table of positions has so
 * many rows.
 */
#include "base/arena.h"
#include "base/status.h"
#include "driver/fit_plan.h"
#include "graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

/* Beyond this nothing real is waited for; the formulas stay exact. */
#define SIZE_MOST (INT64_C(1) << 30)

enum answer { FITS, TOO_LARGE, REFUSED };

struct search {
	const struct sl_graph *graph;
	const struct sl_fit_options *how;
	int is_seq;
	struct sl__arena *arena;
	struct sl_error refusal; /* the latest */
	int64_t first;           /* the smallest size that the model takes */
};

/* Takes what one look found; the categories are those at the peak. */
static enum sl_status
take(const struct search *s, struct sl_fit *out,
     const struct sl_inspection *seen, struct sl_error *err)
{
	const struct sl_training *t = &seen->training;
	const struct sl_phase_need *need = &t->needs[t->peak_phase];

	out->parameters_bytes = (double)t->parameter_bytes;
	out->others_bytes = (double)t->other_bytes;
	out->gradients_bytes = out->optimizer_bytes = 0;
	out->activations_bytes = (double)seen->memory.unfused_bytes;
	if (s->how->optimizer) {
		out->gradients_bytes = (double)need->gradient_bytes;
		out->optimizer_bytes =
			(double)t->optimizer_bytes[s->how->optimizer];
		out->activations_bytes = (double)need->activation_bytes;
		out->phase = t->peak_phase;
	}
	out->total_bytes = out->parameters_bytes + out->others_bytes +
			   out->gradients_bytes + out->optimizer_bytes +
			   out->activations_bytes;
	out->n_unknown = seen->memory.n_unknown;
	out->sizes = sl__arena_string(s->arena, seen->sizes);
	return out->sizes ? SL_OK : sl__fail_nomem(err);
}

/* Looks at one size (0: the model's own, *batch tells which). */
static enum sl_status
need_at(const struct search *s, int64_t size, struct sl_fit *out,
	int64_t *batch, struct sl_error *err)
{
	static const struct sl_sizes usual = {.struct_size = sizeof(usual)};
	struct sl_sizes sizes = s->how->sizes ? *s->how->sizes : usual;
	struct sl_inspect_options how = {.struct_size = sizeof(how),
					 .sizes = &sizes,
					 .brief = 1,
					 .allocator = s->how->allocator};
	struct sl_inspection *seen;
	enum sl_status rc;

	*(s->is_seq ? &sizes.seq : &sizes.batch) = size;
	rc = sl_inspect(&seen, s->graph, &how, err);
	if (rc)
		return rc;
	rc = take(s, out, seen, err);
	out->size = size ? size : seen->batch;
	if (batch)
		*batch = seen->batch;
	sl_inspection_free(seen);
	return rc;
}

/* Tries a size larger than one that was taken. */
static enum sl_status
try_size(struct search *s, int64_t size, struct sl_fit *at, enum answer *answer,
	 struct sl_error *err)
{
	struct sl_error refusal;
	enum sl_status rc = need_at(s, size, at, NULL, &refusal);

	*answer = rc                                        ? REFUSED
		  : at->total_bytes <= s->how->memory_bytes ? FITS
							    : TOO_LARGE;
	if (rc == SL_E_DATA) {
		s->refusal = refusal;
		return SL_OK;
	}
	if (rc && err)
		*err = refusal;
	return rc;
}

/* Between one that fits, which *out is for, and one that does not. */
static enum sl_status
bisect(struct search *s, int64_t bad, enum answer why, struct sl_fit *out,
       struct sl_error *err)
{
	while (bad - out->size > 1) {
		int64_t middle = out->size + (bad - out->size) / 2;
		struct sl_fit at = *out;
		enum answer answer;
		enum sl_status rc = try_size(s, middle, &at, &answer, err);

		if (rc)
			return rc;
		if (answer == FITS) {
			at.next_bytes = out->next_bytes;
			*out = at;
			continue;
		}
		bad = middle;
		why = answer;
		out->next_bytes = answer == TOO_LARGE ? at.total_bytes
						      : (double)NAN;
	}
	out->largest = out->size;
	if (why != REFUSED)
		return SL_OK;
	out->limit = sl__arena_string(s->arena, s->refusal.text);
	return out->limit ? SL_OK : sl__fail_nomem(err);
}

/* The smallest size that the model takes: 1, or the batch it has when that is
 * left to it. */
static enum sl_status
begin(struct search *s, struct sl_fit *out, struct sl_error *err)
{
	struct sl_error unused;
	enum sl_status rc = need_at(s, 1, out, NULL, err), own;
	int64_t batch = 0;

	if (rc != SL_E_DATA || s->is_seq)
		return rc;
	own = need_at(s, 0, out, &batch, &unused);
	if (own && own != SL_E_DATA && err)
		*err = unused;
	if (own)
		return own;
	return batch > 1 ? SL_OK : rc;
}

/* Whether the model takes one size alone: twice as much is refused, and one
 * more too. */
static enum sl_status
find_fixed(struct search *s, struct sl_fit *out, struct sl_error *err)
{
	for (int i = 0; i < 2; i++) {
		struct sl_fit at = *out;
		enum answer answer;
		enum sl_status rc = try_size(s,
					     i ? out->size + 1 : 2 * out->size,
					     &at, &answer, err);

		if (rc || answer != REFUSED)
			return rc;
	}
	out->fixed_at = out->size;
	out->limit = sl__arena_string(s->arena, s->refusal.text);
	return out->limit ? SL_OK : sl__fail_nomem(err);
}

static enum sl_status
search(struct search *s, struct sl_fit *out, struct sl_error *err)
{
	enum sl_status rc = begin(s, out, err);
	double first_bytes;

	if (!rc)
		rc = find_fixed(s, out, err);
	if (rc)
		return rc;
	s->first = out->size;
	out->next_bytes = (double)NAN;
	if (out->total_bytes > s->how->memory_bytes)
		return SL_OK;
	out->largest = out->size;
	if (out->fixed_at)
		return SL_OK;
	first_bytes = out->total_bytes;
	while (out->size < SIZE_MOST) {
		struct sl_fit at = *out;
		enum answer answer;

		rc = try_size(s, 2 * out->size, &at, &answer, err);
		if (rc)
			return rc;
		if (answer != FITS) {
			if (answer == TOO_LARGE)
				out->next_bytes = at.total_bytes;
			return bisect(s, 2 * out->size, answer, out, err);
		}
		*out = at;
	}
	out->largest = out->size;
	/* It grows somewhere, or nowhere. */
	out->is_cut = out->total_bytes > first_bytes;
	out->is_unbounded = !out->is_cut;
	return SL_OK;
}

/* The graph's answer, then the engine's. */
static enum sl_status
predict(struct search *s, struct sl_fit *fit, struct sl_error *err)
{
	enum sl_status rc = search(s, fit, err);

	if (rc)
		return rc;
	fit->graph_largest = fit->largest;
	fit->graph_bytes = fit->total_bytes;
	fit->graph_size = fit->size;
	if (s->how->optimizer)
		fit->unplanned = "the engine does not train";
	else if (s->how->graph_only)
		fit->unplanned = "only the graph was asked";
	else
		rc = sl__fit_plan(fit, s->graph, s->how, s->first, s->arena,
				  err);
	return rc;
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
	struct search s = {.graph = graph, .how = options};
	struct sl_fit *fit;
	enum sl_status rc;

	*out = NULL;
	rc = check(&s, err);
	if (rc)
		return rc;
	fit = sl__boxed_new(&s.arena, options->allocator, sizeof(*fit));
	if (!fit)
		return sl__fail_nomem(err);
	fit->axis = s.is_seq ? SL_GROWTH_SEQ : SL_GROWTH_BATCH;
	fit->memory_bytes = options->memory_bytes;
	fit->optimizer = options->optimizer;
	fit->name = sl__arena_string(s.arena, sl_graph_name(graph));
	fit->source = sl__arena_string(s.arena, graph->source);
	rc = fit->name && fit->source ? predict(&s, fit, err)
				      : sl__fail_nomem(err);
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
