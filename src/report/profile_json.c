/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_json.c - profiles as JSON (docs/schema.md).
 *
 * Operations are always complete, in the order they run, whatever the screen
 * shows; their times add up to the ledger's.
 */
#include "analysis/ledger_open.h"
#include "base/buf.h"
#include "report/inspect_page.h"
#include "report/machine_page.h"
#include "report/profile_page.h"
#include "report/request_json.h"
#include "report/result_json.h"
#include "report/roof.h"
#include "report/section.h"
#include "result/fact_json.h"
#include "result/record.h"
#include "result/tables.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

static const char NO_TIME[] = "it took no time that the clock can tell";
static const char NO_CEILING[] = "no ceiling was measured";
static const char NO_PRODUCTS[] = "it makes no products";
static const char INFERENCE[] = "nothing was trained";

static void
add_list(struct sl__json *json, const char *key, const char *const *lines,
	 size_t n)
{
	sl__json_array(json, key);
	for (size_t i = 0; i < n; i++)
		sl__json_text(json, NULL, lines[i]);
	sl__json_end_array(json);
}

/* STEM_ms and STEM_ci95_ms, or the absence of both. */
static void
add_maybe_time(struct sl__json *json, const char *stem,
	       const struct sl_estimate *e, const char *absent)
{
	char key[32];

	if (e->n) {
		sl__json_time(json, stem, e);
		return;
	}
	snprintf(key, sizeof(key), "%s_ms", stem);
	sl__json_absent(json, key, absent);
	snprintf(key, sizeof(key), "%s_ci95_ms", stem);
	sl__json_absent(json, key, absent);
}

static void
add_plan(struct sl__json *json, const struct sl_profile *p)
{
	size_t n_reference = 0;

	for (size_t i = 0; i < p->n_operations; i++)
		n_reference += p->operations[i].path >= SL_PATH_REFERENCE;
	sl__json_object(json, "plan");
	sl__json_text(json, "dtype", sl_dtype_text(p->dtype));
	sl__json_integer(json, "threads", (uint64_t)p->n_threads);
	sl__json_number(json, "plan_ms", p->plan_ns / SL__NS_PER_MS);
	sl__json_integer(json, "reference_steps", n_reference);
	sl__json_end_object(json);
}

/* What is alive at the peak, by category; absent where no run was tracked. */
static void
add_categories(struct sl__json *json, const struct sl_memory_use *m)
{
	const struct {
		const char *key;
		uint64_t n_bytes;
	} rows[] = {
		{"activations_bytes", m->activations_bytes},
		{"input_bytes", m->input_bytes},
		{"output_bytes", m->output_bytes},
		{"workspace_bytes", m->workspace_bytes},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (m->tracked_bytes.absent)
			sl__json_absent(json, rows[i].key,
					m->tracked_bytes.absent);
		else
			sl__json_integer(json, rows[i].key, rows[i].n_bytes);
	}
}

static void
add_readings(struct sl__json *json, const struct sl_memory_use *m)
{
	const struct {
		const char *key;
		struct sl_reading reading;
	} rows[] = {
		{"tracked_bytes", m->tracked_bytes},
		{"resident_base_bytes", m->resident_base_bytes},
		{"resident_bytes", m->resident_bytes},
		{"resident_peak_bytes", m->resident_peak_bytes},
		{"touched_bytes", m->touched_bytes},
		{"file_bytes", m->file_bytes},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		sl__json_reading(json, rows[i].key, rows[i].reading);
}

static void
add_moments(struct sl__json *json, const struct sl_profile *p)
{
	const struct sl_memory_use *m = &p->memory;

	if (m->n_timeline && m->peak_operation < p->n_operations)
		sl__json_text(json, "peak_operation",
			      p->operations[m->peak_operation].name);
	else
		sl__json_absent(json, "peak_operation",
				m->tracked_bytes.absent
					? m->tracked_bytes.absent
					: "no run was tracked");
	sl__json_array(json, "alive_at_peak");
	for (size_t i = 0; i < m->n_alive; i++) {
		sl__json_object(json, NULL);
		sl__json_text(json, "name", m->alive[i].name);
		sl__json_integer(json, "bytes", m->alive[i].n_bytes);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
	if (m->n_timeline)
		sl__json_text(json, "timeline_basis",
			      m->tracked_bytes.absent ? "planned" : "tracked");
	else
		sl__json_absent(json, "timeline_basis",
				m->tracked_bytes.absent
					? m->tracked_bytes.absent
					: "no step ran");
	sl__json_array(json, "timeline");
	for (size_t i = 0; i < m->n_timeline; i++) {
		sl__json_object(json, NULL);
		sl__json_integer(json, "operation", m->timeline[i].operation);
		sl__json_integer(json, "live_bytes", m->timeline[i].live_bytes);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

/* One from figures that cannot be is no fact. */
static void
add_efficiency(struct sl__json *json, const struct sl_memory_use *m)
{
	const char *absent =
		m->resident_peak_bytes.absent   ? m->resident_peak_bytes.absent
		: m->resident_base_bytes.absent ? m->resident_base_bytes.absent
		: m->unplanned                  ? m->unplanned
						: NULL;

	if (!isfinite(m->efficiency) && !absent && m->impossible)
		sl__json_absent_fact(json, "efficiency", m->impossible);
	else
		sl__json_finite(json, "efficiency", m->efficiency,
				absent ? absent
				       : "resident memory did not grow");
}

static void
add_memory(struct sl__json *json, const struct sl_profile *p)
{
	const struct sl_memory_use *m = &p->memory;

	sl__json_object(json, "memory");
	sl__json_integer(json, "parameters_bytes", m->parameters_bytes);
	add_categories(json, m);
	sl__json_absent(json, "gradients_bytes", INFERENCE);
	sl__json_absent(json, "optimizer_bytes", INFERENCE);
	if (m->unplanned)
		sl__json_absent(json, "live_bytes", m->unplanned);
	else
		sl__json_integer(json, "live_bytes", m->live_bytes);
	if (m->tracked_bytes.absent)
		sl__json_absent(json, "path_bytes", m->tracked_bytes.absent);
	else
		sl__json_integer(json, "path_bytes", m->path_bytes);
	sl__json_integer(json, "planned_bytes", m->planned_bytes);
	sl__json_integer(json, "reserved_bytes", m->reserved_bytes);
	sl__json_integer(json, "packed_bytes", m->packed_bytes);
	sl__json_integer(json, "mapped_bytes", m->mapped_bytes);
	sl__json_integer(json, "records_bytes", m->records_bytes);
	sl__json_integer(json, "rounding_bytes", m->rounding_bytes);
	add_readings(json, m);
	if (m->peak_moment)
		sl__json_text(json, "resident_peak_moment", m->peak_moment);
	else
		sl__json_absent(json, "resident_peak_moment", "not known");
	sl__json_boolean(json, "resident_peak_is_least", !m->is_peak_reset);
	sl__json_finite(json, "library_bytes", m->library_bytes,
			"not measured");
	sl__json_finite(json, "predicted_bytes", m->predicted_bytes,
			"not predicted");
	sl__json_finite(json, "predicted_least_bytes", m->predicted_least_bytes,
			"not predicted");
	add_efficiency(json, m);
	add_moments(json, p);
	if (m->impossible)
		sl__json_fact(json, "impossible", m->impossible);
	sl__json_end_object(json);
}

static void
add_ledger(struct sl__json *json, const struct sl_profile *p)
{
	const struct sl_ledger *l = &p->ledger;
	static const char *const keys[] = {
		"wall_ms",        "operations_ms",    "gaps_ms",
		"overhead_ms",    "overhead_ci95_ms", "residual_ms",
		"overhead_share", "residual_share"};
	struct sl_fact open = sl__ledger_open(p);

	sl__json_object(json, "ledger");
	sl__json_integer(json, "iterations", l->n_iterations);
	sl__json_integer(json, "left_out", l->n_left_out);
	if (l->absent || !l->n_iterations) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			sl__json_absent(json, keys[i],
					l->absent ? l->absent
						  : "nothing was recorded");
	} else {
		sl__json_number(json, "wall_ms", l->wall_ns / SL__NS_PER_MS);
		sl__json_number(json, "operations_ms",
				l->operations_ns / SL__NS_PER_MS);
		sl__json_number(json, "gaps_ms", l->gaps_ns / SL__NS_PER_MS);
		sl__json_time(json, "overhead", &l->overhead_ns);
		sl__json_number(json, "residual_ms",
				l->residual_ns / SL__NS_PER_MS);
		sl__json_number(json, "overhead_share", l->overhead_share);
		sl__json_number(json, "residual_share", l->residual_share);
	}
	sl__json_boolean(json, "closed", l->is_closed);
	if (open.kind)
		sl__json_fact(json, "open_because", &open);
	sl__json_end_object(json);
}

/* Why some of the work of a pass is not counted; NULL: all is. */
static const char *
uncounted_of(const struct sl_profile *p)
{
	for (size_t i = 0; i < p->n_operations; i++) {
		if (p->operations[i].n_calls > 0 && p->operations[i].uncounted)
			return p->operations[i].uncounted;
	}
	return NULL;
}

static void
add_rates(struct sl__json *json, const struct sl_profile *p)
{
	const struct sl_rates *r = &p->rates;
	const char *uncounted = uncounted_of(p);
	const char *no_rate = uncounted ? uncounted : NO_TIME;
	const char *absent = p->ceilings.absent ? p->ceilings.absent
			     : uncounted        ? uncounted
						: NO_CEILING;

	sl__json_object(json, "rates");
	sl__json_finite(json, "samples_per_s", r->samples_per_s, NO_TIME);
	sl__json_reading(json, "tokens_per_s", r->tokens_per_s);
	sl__json_finite(json, "gflops_per_s", r->flops_per_s / 1e9, no_rate);
	sl__json_finite(json, "executed_gflops_per_s",
			r->executed_flops_per_s / 1e9, no_rate);
	sl__json_finite(json, "gbytes_per_s", r->bytes_per_s / 1e9, no_rate);
	sl__json_finite(json, "compute_efficiency", r->compute_efficiency,
			absent);
	sl__json_finite(json, "bandwidth_efficiency", r->bandwidth_efficiency,
			absent);
	sl__json_finite(json, "bound_ms", r->bound_ns / SL__NS_PER_MS, absent);
	sl__json_end_object(json);
}

static void
add_times(struct sl__json *json, const struct sl_operation *o)
{
	static const char never[] = "it never ran";

	sl__json_number(json, "self_ms", o->self_ns / SL__NS_PER_MS);
	sl__json_finite(json, "share", o->share, NO_TIME);
	add_maybe_time(json, "median", &o->median_ns, never);
	sl__json_finite(json, "min_ms", o->min_ns / SL__NS_PER_MS, never);
	sl__json_finite(json, "max_ms", o->max_ns / SL__NS_PER_MS, never);
}

static void
add_count(struct sl__json *json, const char *key, uint64_t n, const char *why)
{
	if (why)
		sl__json_absent(json, key, why);
	else
		sl__json_integer(json, key, n);
}

static void
add_level(struct sl__json *json, const char *key, enum sl_level level)
{
	if (level)
		sl__json_text(json, key, sl_level_text(level));
	else
		sl__json_absent(json, key, NO_CEILING);
}

static void
add_work(struct sl__json *json, const struct sl_operation *o)
{
	const char *why = o->uncounted;
	const char *no_rate = why ? why : NO_TIME;

	add_count(json, "flops", o->core_flops, why);
	add_count(json, "all_flops", o->nominal_flops, why);
	add_count(json, "executed_flops", o->executed_flops, why);
	add_count(json, "bytes", o->n_bytes, why);
	sl__json_finite(json, "gflops_per_s", o->flops_per_s / 1e9,
			why || o->core_flops ? no_rate : NO_PRODUCTS);
	sl__json_finite(json, "executed_gflops_per_s",
			o->executed_flops_per_s / 1e9, no_rate);
	sl__json_finite(json, "gbytes_per_s", o->bytes_per_s / 1e9, no_rate);
	sl__json_finite(json, "intensity", o->intensity,
			why ? why : "moves no bytes");
	sl__json_integer(json, "working_set_bytes", o->working_set_bytes);
	add_level(json, "level", o->level);
}

static void
add_traffic(struct sl__json *json, const struct sl_operation *o)
{
	sl__json_array(json, "traffic");
	for (size_t i = 0; i < o->n_traffic; i++) {
		const struct sl_traffic *t = &o->traffic[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "level", sl_level_text(t->level));
		sl__json_finite(json, "predicted_bytes", t->predicted_bytes,
				"sizes are found while it runs");
		sl__json_finite(json, "least_bytes", t->least_bytes,
				"sizes are found while it runs");
		sl__json_reading(json, "measured_bytes", t->measured_bytes);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

/* How it answered the experiments, where it was asked. */
static void
add_responses(struct sl__json *json, const struct sl_response *r)
{
	static const char *const keys[SL_N_CONDITIONS] = {
		"in_place_ms", "warm_ms",   "cold_ms",
		"alone_ms",    "hogged_ms", "doubled_ms"};
	const struct sl_timed *doubled = &r->at[SL_CONDITION_DOUBLED];

	sl__json_object(json, "responses");
	for (int k = 0; k < SL_N_CONDITIONS; k++)
		sl__json_finite(json, keys[k], r->at[k].ns / SL__NS_PER_MS,
				r->at[k].absent);
	sl__json_finite(json, "doubled_flops", r->doubled_flops,
			doubled->absent);
	sl__json_finite(json, "doubled_bytes", r->doubled_bytes,
			doubled->absent);
	sl__json_end_object(json);
}

static void
add_judgement(struct sl__json *json, const struct sl_operation *o)
{
	const struct sl_judgement *j = &o->judgement;

	sl__json_text(json, "bound", sl_bound_text(j->bound));
	sl__json_number(json, "confidence", j->confidence);
	sl__json_facts(json, "evidence", j->evidence, j->n_evidence);
	sl__json_facts(json, "against", j->against, j->n_against);
	if (o->response)
		add_responses(json, o->response);
	if (o->impossible && !isfinite(o->ceiling_share))
		sl__json_absent_fact(json, "ceiling_share", o->impossible);
	else
		sl__json_finite(json, "ceiling_share", o->ceiling_share,
				o->uncounted ? o->uncounted : NO_CEILING);
	add_level(json, "roof", o->roof);
	sl__json_finite(json, "bound_ms", o->bound_ns / SL__NS_PER_MS,
			o->uncounted ? o->uncounted : NO_CEILING);
	if (o->impossible)
		sl__json_fact(json, "impossible", o->impossible);
}

static void
add_operation(struct sl__json *json, const struct sl_profile *p, size_t i)
{
	const struct sl_operation *o = &p->operations[i];

	sl__json_object(json, NULL);
	sl__json_text(json, "name", o->name);
	sl__json_text(json, "type", o->type);
	sl__json_text(json, "role", sl_part_text(o->part));
	sl__json_text(json, "phase", "forward");
	sl__json_text(json, "path", o->module);
	sl__json_text(json, "engine", sl_path_text(o->path));
	sl__json_text(json, "kernel", o->kernel);
	add_list(json, "covers", o->covers, o->n_covers);
	sl__json_number(json, "calls", o->n_calls);
	sl__json_integer(json, "parameters", o->parameters);
	if (*o->output_shape)
		sl__json_text(json, "output_shape", o->output_shape);
	else
		sl__json_absent(json, "output_shape",
				o->n_covers ? "not inferred"
					    : "covers no node of the model");
	sl__json_reading(json, "memory_bytes", sl__profile_live(p, i));
	add_times(json, o);
	add_work(json, o);
	add_traffic(json, o);
	add_judgement(json, o);
	sl__profile_json_counts(json, p, o);
	sl__json_end_object(json);
}

static void
add_groups(struct sl__json *json, const char *key,
	   const struct sl_operation_group *groups, size_t n)
{
	sl__json_array(json, key);
	for (size_t i = 0; i < n; i++) {
		const struct sl_operation_group *g = &groups[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "name", g->name);
		sl__json_integer(json, "operations", g->n_operations);
		sl__json_number(json, "self_ms", g->self_ns / SL__NS_PER_MS);
		sl__json_finite(json, "share", g->share, NO_TIME);
		sl__json_integer(json, "flops", g->core_flops);
		sl__json_integer(json, "all_flops", g->nominal_flops);
		sl__json_integer(json, "executed_flops", g->executed_flops);
		sl__json_integer(json, "bytes", g->n_bytes);
		sl__json_finite(json, "gflops_per_s",
				g->core_flops
					? (double)g->core_flops / g->self_ns
					: (double)NAN,
				g->core_flops ? NO_TIME : NO_PRODUCTS);
		sl__json_finite(json, "executed_gflops_per_s",
				(double)g->executed_flops / g->self_ns,
				NO_TIME);
		sl__json_finite(json, "gbytes_per_s",
				(double)g->n_bytes / g->self_ns, NO_TIME);
		sl__json_integer(json, "parameters", g->parameters);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_rate(struct sl__json *json, const char *key, const char *interval,
	 const struct sl_estimate *e, const char *absent)
{
	if (absent || !e->n) {
		sl__json_absent(json, key, absent ? absent : NO_CEILING);
		sl__json_absent(json, interval, absent ? absent : NO_CEILING);
		return;
	}
	sl__json_number(json, key, e->value / 1e9);
	sl__section_bounds(json, interval, e, 1e9);
}

static void
add_levels(struct sl__json *json, const struct sl_ceilings *c)
{
	sl__json_array(json, "levels");
	for (size_t i = 0; i < c->n_levels; i++) {
		const struct sl_ceiling_level *level = &c->levels[i];

		sl__json_object(json, NULL);
		sl__json_text(json, "level", sl_level_text(level->level));
		if (level->size_bytes == UINT64_MAX)
			sl__json_absent(json, "size_bytes", "no limit");
		else
			sl__json_integer(json, "size_bytes", level->size_bytes);
		add_rate(json, "gbytes_per_s", "ci95", &level->bytes_per_s,
			 NULL);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_peaks(struct sl__json *json, const struct sl_ceilings *c)
{
	sl__json_array(json, "peaks");
	for (size_t i = 0; i < c->n_peaks; i++) {
		sl__json_object(json, NULL);
		sl__json_text(json, "dtype", sl_dtype_text(c->peaks[i].dtype));
		sl__json_text(json, "isa",
			      c->peaks[i].isa ? c->peaks[i].isa : "");
		add_rate(json, "gflops_per_s", "ci95", &c->peaks[i].flops_per_s,
			 NULL);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_roofline(struct sl__json *json, const struct sl_profile *p)
{
	static const struct sl_estimate none = {0};
	const struct sl_ceilings *c = &p->ceilings;
	const struct sl_estimate *memory =
		c->n_levels ? &c->levels[c->n_levels - 1].bytes_per_s : &none;

	sl__json_object(json, "roofline");
	sl__json_text(json, "dtype", sl_dtype_text(p->dtype));
	sl__json_integer(json, "threads", (uint64_t)p->n_threads);
	add_rate(json, "peak_gflops_per_s", "peak_ci95", &c->flops_per_s,
		 c->absent);
	add_rate(json, "bandwidth_gbytes_per_s", "bandwidth_ci95", memory,
		 c->absent);
	sl__json_finite(json, "ridge",
			c->flops_per_s.n && memory->n ? c->ridge : (double)NAN,
			c->absent ? c->absent : NO_CEILING);
	add_maybe_time(json, "step", &c->step_ns,
		       c->absent ? c->absent : NO_CEILING);
	add_peaks(json, c);
	add_levels(json, c);
	sl__json_end_object(json);
}

static void
add_verdict(struct sl__json *json, const struct sl_finding *f)
{
	sl__json_object(json, "verdict");
	sl__json_text(json, "bottleneck", sl_bottleneck_text(f->bottleneck));
	sl__json_number(json, "confidence", f->confidence);
	sl__json_facts(json, "evidence", f->evidence, f->n_evidence);
	sl__json_facts(json, "against", f->against, f->n_against);
	sl__json_object(json, "shares");
	for (int b = 0; b < SL_N_BOUNDS; b++)
		sl__json_finite(json, sl_bound_text((enum sl_bound)b),
				f->shares[b], "not looked into");
	sl__json_end_object(json);
	sl__json_end_object(json);
}

static void
add_measured(struct sl__json *json, const struct sl_amdahl *a)
{
	const char *absent = a->absent ? a->absent : "not measured";

	if (a->measured_limit.n) {
		sl__json_estimate(json, "measured_speedup_limit",
				  &a->measured_limit);
		return;
	}
	sl__json_absent(json, "measured_speedup_limit", absent);
	sl__json_absent(json, "measured_speedup_limit_ci95", absent);
}

static void
add_part(struct sl__json *json, const struct sl_profile *p,
	 const struct sl_amdahl *a)
{
	struct sl__arena arena;
	const char *text;

	sl__arena_init(&arena, NULL);
	text = sl__amdahl_text(&arena, p, a);
	if (text)
		sl__json_text(json, "operation", text);
	else
		sl__buf_break(json->out);
	sl__arena_release(&arena);
	sl__json_integer(json, "operation_index", a->operation);
	sl__json_boolean(json, "is_type", a->is_type);
}

static void
add_amdahl(struct sl__json *json, const struct sl_profile *p)
{
	sl__json_array(json, "amdahl");
	for (size_t i = 0; i < p->n_amdahl; i++) {
		const struct sl_amdahl *a = &p->amdahl[i];

		sl__json_object(json, NULL);
		add_part(json, p, a);
		sl__json_integer(json, "operations", a->n_operations);
		sl__json_number(json, "share", a->share);
		sl__json_number(json, "predicted_speedup_2", a->at_2);
		sl__json_number(json, "predicted_speedup_4", a->at_4);
		sl__json_number(json, "predicted_speedup_10", a->at_10);
		sl__json_finite(json, "predicted_speedup_limit", a->limit,
				"it is all of the time");
		add_measured(json, a);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

/* A text that was made for 'key', or the failure to make it. */
static void
add_made(struct sl__json *json, const char *key, enum sl_status rc,
	 struct sl_buf *text)
{
	if (rc)
		sl__buf_break(json->out);
	else
		sl__json_text(json, key, text->data);
	sl_buf_release(text);
}

static void
add_trial(struct sl__json *json, const struct sl_trial *trial)
{
	sl__json_object(json, "trial");
	sl__json_text(json, "action", sl_trial_action_text(trial->action));
	sl__json_integer(json, "value", (uint64_t)trial->value);
	sl__json_integer(json, "from", (uint64_t)trial->from);
	sl__json_integer(json, "to", (uint64_t)trial->to);
	sl__json_text(json, "dtype", sl_dtype_text(trial->dtype));
	if (trial->layer)
		sl__json_text(json, "layer", trial->layer);
	else
		sl__json_absent(json, "layer", "it is of the whole model");
	sl__json_end_object(json);
}

static void
add_proposal(struct sl__json *json, const struct sl_profile *p,
	     const struct sl_advice *a)
{
	struct sl_buf expected = {0}, command = {0};

	sl__json_object(json, NULL);
	sl__json_fact(json, "text", &a->what);
	add_made(json, "expected", sl_advice_expected(a, &expected, NULL),
		 &expected);
	sl__json_fact(json, "basis", &a->basis);
	sl__json_finite(json, "least_speedup", a->least, "not bounded");
	sl__json_finite(json, "most_speedup", a->most, "not bounded");
	sl__json_text(json, "gain", sl_gain_text(a->gain));
	sl__json_finite(json, "now_ms", a->now_ns / SL__NS_PER_MS, NO_TIME);
	if (a->trial.action)
		add_made(json, "command",
			 sl_advice_command(p, a, &command, NULL), &command);
	else
		sl__json_absent(json, "command",
				"no command of this version tests it");
	add_trial(json, &a->trial);
	sl__json_end_object(json);
}

static void
add_advice(struct sl__json *json, const struct sl_profile *p)
{
	sl__json_array(json, "advice");
	for (size_t i = 0; i < p->n_advice; i++)
		add_proposal(json, p, &p->advice[i]);
	sl__json_end_array(json);
}

static void
add_profile(struct sl__json *json, const struct sl_profile *p)
{
	sl__json_request(json, &p->request);
	sl__record_object(json, "model", &sl__table_model, p->model, NULL);
	sl__record_object(json, "cost", &sl__table_cost, p->model, NULL);
	add_plan(json, p);
	sl__json_latency(json, &p->latency);
	sl__json_integer(json, "calls_per_sample", p->calls_per_sample);
	sl__json_integer(json, "passes", p->n_passes);
	add_memory(json, p);
	add_ledger(json, p);
	add_rates(json, p);
	sl__json_array(json, "operations");
	for (size_t i = 0; i < p->n_operations; i++)
		add_operation(json, p, i);
	sl__json_end_array(json);
	sl__json_integer(json, "operations_for_80_percent", p->n_for_80);
	add_groups(json, "by_role", p->by_part, p->n_parts);
	add_groups(json, "by_type", p->by_type, p->n_types);
	add_groups(json, "by_path", p->by_module, p->n_modules);
	add_roofline(json, p);
	sl__profile_json_counters(json, p);
	add_verdict(json, &p->verdict);
	add_amdahl(json, p);
	add_advice(json, p);
	sl__json_facts(json, "impossible", p->impossible, p->n_impossible);
	sl__json_facts(json, "remarks", p->remarks, p->n_remarks);
	sl__json_noise(json, &p->noise);
	sl__json_ending(json, p->elapsed_s, p->stopped_by, p->seed);
}

static void
add_layer(struct sl__json *json, const struct sl_layer_profile *l)
{
	sl__json_object(json, "layer");
	sl__json_text(json, "model", l->model);
	sl__json_text(json, "name", l->layer);
	sl__json_integer(json, "operations", l->n_operations);
	sl__json_time(json, "context", &l->context_ns);
	sl__json_time(json, "alone", &l->alone_ns);
	sl__json_estimate(json, "ratio", &l->ratio);
	sl__json_fact(json, "finding", &l->finding);
	sl__json_end_object(json);
}

void
sl__profile_json(struct sl__json *json, const void *result)
{
	const struct sl__profile_result *r = result;
	const struct sl_machine *machine = r->profiles[0]->machine;

	if (machine)
		sl__record_object(json, "machine", &sl__table_machine, machine,
				  NULL);
	else
		sl__json_absent(json, "machine", sl__no_roof);
	if (r->view.layer)
		add_layer(json, r->view.layer);
	if (r->n == 1) {
		add_profile(json, r->profiles[0]);
		return;
	}
	sl__json_array(json, "results");
	for (size_t k = 0; k < r->n; k++) {
		sl__json_object(json, NULL);
		add_profile(json, r->profiles[k]);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}
