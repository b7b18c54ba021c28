/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_fresh.c - what was measured now against a baseline measured with it.
 *
 * The comparison has decided about the whole time, by a test that holds however
 * often it looked; here each limit becomes a row.  Memory and FLOPs of plans are
 * exact.  Under load the order of a pair is still decided by a coin, so that a
 * proved regression stands; but "no worse" is not believed where most of the
 * measurement was disturbed.
 */
#include "base/arena.h"
#include "base/status.h"
#include "sleuth/gating.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static const struct sl_gate_limit defaults[] = {{.metric = SL_GATE_TIME},
						{.metric = SL_GATE_MEMORY}};
enum { N_DEFAULTS = sizeof(defaults) / sizeof(defaults[0]) };

/* What is compared: models, or commands. */
struct sides {
	const struct sl_model_comparison *models; /* NULL: commands */
	const struct sl_bench *commands;
	const struct sl_comparison *comparison;
	const struct sl_noise *noise;
};

static void
judge_layer(struct sl_gate_row *row, const struct sides *s)
{
	const struct sl_arm_comparison *pair = s->models ? s->models->pairs
							 : NULL;

	for (size_t i = 0; pair && i < pair->n_layers; i++) {
		const struct sl_compared_layer *l = &pair->layers[i];

		if (strcmp(l->name, row->layer) != 0)
			continue;
		row->before = l->a_ns;
		row->now = l->b_ns;
		row->ratio = l->ratio;
		if (!l->ratio.n || isnan(l->ratio.lo))
			row->invalid = "one side lacks the layer, or it ran "
				       "in too few rounds";
		else if (l->ratio.lo > 1 + row->limit)
			row->verdict = SL_GATE_REGRESSED;
		else if (l->ratio.hi <= 1 + row->limit)
			row->verdict = SL_GATE_OK;
		return;
	}
	row->invalid = pair ? "no layer has this name"
			    : "commands have no layers";
}

static void
judge_time(struct sl_gate_row *row, const struct sides *s)
{
	const struct sl_comparison *c = s->comparison;

	if (row->layer) {
		judge_layer(row, s);
		return;
	}
	row->limit = c->margin;
	row->before = s->models ? s->models->sides[0].wall_ns.value
				: s->commands->results[0].wall.median.value;
	row->now = s->models ? s->models->sides[1].wall_ns.value
			     : s->commands->results[1].wall.median.value;
	row->ratio = c->ratio;
	row->verdict = c->gate;
	if (isnan(c->ratio.lo))
		row->invalid = "too few rounds for an interval: it needs more "
			       "time";
}

/* The two figures; NaN: there are none. */
static void
read_exact(struct sl_gate_row *row, const struct sides *s)
{
	const struct sl_model_arm_result *m = s->models ? s->models->sides
							: NULL;

	row->before = row->now = (double)NAN;
	if (row->metric == SL_GATE_MEMORY && m) {
		row->before = (double)m[0].memory_bytes;
		row->now = (double)m[1].memory_bytes;
	} else if (row->metric == SL_GATE_MEMORY && s->commands) {
		row->before = s->commands->results[0].peak_bytes.value;
		row->now = s->commands->results[1].peak_bytes.value;
	} else if (row->metric == SL_GATE_FLOPS && m) {
		row->before = (double)m[0].nominal_flops;
		row->now = (double)m[1].nominal_flops;
	}
}

static void
judge_exact(struct sl_gate_row *row, const struct sides *s)
{
	double ratio;

	read_exact(row, s);
	if (isnan(row->before) || isnan(row->now)) {
		row->invalid = "this comparison does not have it";
		return;
	}
	ratio = row->now > row->before || row->now < row->before
			? row->now / row->before
			: 1;
	row->ratio = (struct sl_estimate){ratio, ratio, ratio, 1, 0, 0};
	row->verdict = ratio > 1 + row->limit ? SL_GATE_REGRESSED : SL_GATE_OK;
}

static void
settle(struct sl_gate_check *out)
{
	out->is_invalid = !out->n_rows;
	out->verdict = SL_GATE_OK;
	for (size_t i = 0; i < out->n_rows; i++) {
		enum sl_gate verdict = out->rows[i].verdict;

		out->is_invalid |= out->rows[i].invalid != NULL;
		if (out->verdict != SL_GATE_REGRESSED && verdict != SL_GATE_OK)
			out->verdict = verdict;
	}
}

static enum sl_status
judge_all(struct sl_gate_check *out, const struct sides *s,
	  const struct sl_gate_limit *limits, size_t n, struct sl__arena *arena,
	  struct sl_error *err)
{
	struct sl_gate_row *rows = sl__arena_array(arena, n, sizeof(*rows));
	enum sl_status rc = rows ? SL_OK : sl__fail_nomem(err);

	out->rows = rows;
	out->n_baselines = 1;
	out->is_fresh = 1;
	out->is_disturbed = 2 * s->noise->n_disturbed > s->noise->n_slots;
	for (size_t i = 0; !rc && i < n; i++) {
		struct sl_gate_row *row = &rows[out->n_rows++];

		*row = (struct sl_gate_row){.metric = limits[i].metric,
					    .limit = limits[i].share,
					    .before = (double)NAN,
					    .now = (double)NAN};
		rc = sl__arena_copy_text(arena, &row->name, s->comparison->b,
					 err);
		row->layer = sl__arena_string(arena, limits[i].layer);
		if (rc || (limits[i].layer && !row->layer))
			return sl__fail_nomem(err);
		if (row->metric != SL_GATE_TIME)
			judge_exact(row, s);
		else
			judge_time(row, s);
		if (row->metric == SL_GATE_TIME && out->is_disturbed &&
		    row->verdict == SL_GATE_OK)
			row->verdict = SL_GATE_UNDECIDED;
		if (row->invalid)
			row->verdict = SL_GATE_UNDECIDED;
	}
	settle(out);
	return rc;
}

/* What is judged where nothing is asked for: memory where it was measured, which
 * that of very small commands is not. */
static size_t
count_defaults(const struct sides *s)
{
	struct sl_gate_row memory = {.metric = SL_GATE_MEMORY};

	read_exact(&memory, s);
	return isnan(memory.before) || isnan(memory.now) ? N_DEFAULTS - 1
							 : N_DEFAULTS;
}

static enum sl_status
gate_fresh(struct sl_gate_check **out, const struct sides *s,
	   const struct sl_gate_limit *limits, size_t n, struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl_gate_check *check =
		sl__arena_object_new(&arena, NULL, sizeof(*check));
	enum sl_status rc;

	*out = NULL;
	if (!check)
		return sl__fail_nomem(err);
	rc = n ? judge_all(check, s, limits, n, arena, err)
	       : judge_all(check, s, defaults, count_defaults(s), arena, err);
	*out = sl__arena_object_free_on_error(check, rc);
	return rc;
}

enum sl_status
sl_gate_models(struct sl_gate_check **out,
	       const struct sl_model_comparison *comparison,
	       const struct sl_gate_limit *limits, size_t n_limits,
	       struct sl_error *err)
{
	struct sides s = {.models = comparison, .noise = &comparison->noise};

	*out = NULL;
	if (comparison->n < 2)
		return sl__fail(err, SL_E_USAGE, "a gate needs two models");
	s.comparison = &comparison->pairs[0].comparison;
	return gate_fresh(out, &s, limits, n_limits, err);
}

enum sl_status
sl_gate_commands(struct sl_gate_check **out, const struct sl_bench *bench,
		 const struct sl_gate_limit *limits, size_t n_limits,
		 struct sl_error *err)
{
	struct sides s = {.commands = bench, .noise = &bench->noise};

	*out = NULL;
	if (bench->n_results < 2)
		return sl__fail(err, SL_E_USAGE, "a gate needs two commands");
	s.comparison = &bench->comparisons[0];
	return gate_fresh(out, &s, limits, n_limits, err);
}
