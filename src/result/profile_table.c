/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_table.c - fields of a model that was profiled.
 *
 * Operations are always complete, in the order they run, whatever the screen
 * shows; their times add up to the ledger's.
 */
#include "base/status.h"
#include "result/inspect_tables.h"
#include "result/profile_tables.h"
#include "result/record.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define MS      .unit = SL__NS_PER_MS
#define GIGA    .unit = 1e9
#define NO_TIME "it took no time that the clock can tell"

enum { make_reference_steps_kind = SL__FIELD_WHOLE };

static void
make_reference_steps(struct sl__computed_value *out, const void *record,
		     const void *parent)
{
	const struct sl_profile *p = record;

	(void)parent;
	for (size_t i = 0; i < p->n_operations; i++)
		out->whole += p->operations[i].path >= SL_PATH_REFERENCE;
}

static const struct sl__field plan_fields[] = {
	SL__F(WORD, sl_profile, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_profile, n_threads, "threads", "that it runs on"),
	SL__F(TEXT, sl_profile, choices, "choices",
	      "a hash of what computes each step: equal ones, equal "
	      "algorithms",
	      .is_left_out = 1),
	SL__F(NUMBER, sl_profile, plan_ns, "plan_ms", "making the plan", MS),
	SL__F_MADE(make_reference_steps, "reference_steps",
		   "that run on reference kernels"),
	SL__F(SIGNED, sl_profile, batch, "batch", "samples in an iteration"),
	SL__F(WHOLE, sl_profile, n_nodes, "nodes", "of the model"),
};
static SL__RECORD(plan, "plan", sl_profile, plan_fields, 0);

SL__WHY(no_accounting, sl_ledger, l,
	l->absent         ? l->absent
	: l->n_iterations ? NULL
			  : "nothing was recorded")

static const struct sl__field ledger_fields[] = {
	SL__F(WHOLE, sl_ledger, n_iterations, "iterations",
	      "that the means are over"),
	SL__F(WHOLE, sl_ledger, n_left_out, "left_out",
	      "further ones, of disturbed rounds"),
	SL__F(NUMBER, sl_ledger, wall_ns, "wall_ms", "mean of an iteration", MS,
	      .why = no_accounting),
	SL__F(NUMBER, sl_ledger, operations_ns, "operations_ms",
	      "self time of all operations", MS, .why = no_accounting),
	SL__F(NUMBER, sl_ledger, gaps_ns, "gaps_ms", "between them", MS,
	      .why = no_accounting),
	SL__F_TIME(sl_ledger, overhead_ns, "overhead",
		   "recorded minus bare, paired", no_accounting),
	SL__F(NUMBER, sl_ledger, residual_ns, "residual_ms",
	      "what remains, signed", MS, .why = no_accounting),
	SL__F(NUMBER, sl_ledger, overhead_share, "overhead_share", "of wall_ms",
	      .why = no_accounting),
	SL__F(NUMBER, sl_ledger, residual_share, "residual_share", "of wall_ms",
	      .why = no_accounting),
	SL__F(REASON, sl_ledger, absent, "wall_ms_absent",
	      "why nothing was recorded"),
	SL__F(BOOLEAN, sl_ledger, is_closed, "closed",
	      "|residual| is at most 2 % of wall_ms"),
	SL__F(FACT, sl_ledger, open, "open_because",
	      "which entry is uncertain"),
};
static SL__RECORD(ledger, "ledger", sl_ledger, ledger_fields, 0);

/* Why some of the work of an iteration is not counted; NULL: all is. */
static const char *
uncounted_of(const struct sl_profile *p)
{
	for (size_t i = 0; i < p->n_operations; i++) {
		if (p->operations[i].n_calls > 0 && p->operations[i].uncounted)
			return p->operations[i].uncounted;
	}
	return NULL;
}

static const char *
no_rate(const void *record, const void *parent)
{
	const char *uncounted = uncounted_of(parent);

	(void)record;
	return uncounted ? uncounted : NO_TIME;
}

static const char *
no_efficiency(const void *record, const void *parent)
{
	const struct sl_profile *p = parent;
	const char *uncounted = uncounted_of(p);

	(void)record;
	if (p->ceilings.absent)
		return p->ceilings.absent;
	return uncounted ? uncounted : SL__NO_CEILING;
}

static const struct sl__field rate_fields[] = {
	SL__F(NUMBER, sl_rates, samples_per_s, "samples_per_s", "at the median",
	      .absent = NO_TIME),
	SL__F(READING, sl_rates, tokens_per_s, "tokens_per_s",
	      "of models of text"),
	SL__F(NUMBER, sl_rates, flops_per_s, "gflops_per_s",
	      "of convolutions and products", GIGA, .because = no_rate),
	SL__F(NUMBER, sl_rates, executed_flops_per_s, "executed_gflops_per_s",
	      "of all that kernels do", GIGA, .because = no_rate),
	SL__F(NUMBER, sl_rates, bytes_per_s, "gbytes_per_s", "of operands",
	      GIGA, .because = no_rate),
	SL__F(NUMBER, sl_rates, compute_efficiency, "compute_efficiency",
	      "least time of the arithmetic, as a share of the median",
	      .because = no_efficiency),
	SL__F(NUMBER, sl_rates, bandwidth_efficiency, "bandwidth_efficiency",
	      "least time of the bytes, likewise", .because = no_efficiency),
	SL__F(NUMBER, sl_rates, bound_ns, "bound_ms",
	      "least time by the roofline", MS, .because = no_efficiency),
};
static SL__RECORD(rates, "rates", sl_rates, rate_fields, 0);

SL__WHY(no_limit, sl_ceiling_level, level,
	level->size_bytes == UINT64_MAX ? "no limit" : NULL)

static const struct sl__field level_fields[] = {
	SL__F(WORD, sl_ceiling_level, level, "level", "of memory",
	      .words = &sl__words_level),
	SL__F(WHOLE, sl_ceiling_level, size_bytes, "size_bytes",
	      "one thread's working set up to this", .why = no_limit),
	SL__F(NUMBER, sl_ceiling_level, bytes_per_s.value, "gbytes_per_s",
	      "all threads together", GIGA),
	SL__F(INTERVAL, sl_ceiling_level, bytes_per_s, "ci95",
	      "its 95 % interval", GIGA),
	SL__F(WHOLE, sl_ceiling_level, bytes_per_s.n, "n", "probes"),
};

static void
settle_level(void *record)
{
	struct sl_ceiling_level *l = record;

	if (l->level == SL_LEVEL_DRAM && !l->size_bytes)
		l->size_bytes = UINT64_MAX;
}

static SL__RECORD(level, "roofline.levels", sl_ceiling_level, level_fields,
		  .settle = settle_level);

static const struct sl__field peak_fields[] = {
	SL__F(WORD, sl_ceiling_peak, dtype, "dtype", "of the arithmetic",
	      .words = &sl__words_dtype),
	SL__F(TEXT, sl_ceiling_peak, isa, "isa", "instructions"),
	SL__F(NUMBER, sl_ceiling_peak, flops_per_s.value, "gflops_per_s",
	      "all threads; a multiply-add is 2", GIGA),
	SL__F(INTERVAL, sl_ceiling_peak, flops_per_s, "ci95",
	      "its 95 % interval", GIGA),
	SL__F(WHOLE, sl_ceiling_peak, flops_per_s.n, "n", "probes"),
};
static SL__RECORD(peak, "roofline.peaks", sl_ceiling_peak, peak_fields, 0);

SL__WHY(no_peak, sl_ceilings, c,
	c->absent          ? c->absent
	: c->flops_per_s.n ? NULL
			   : SL__NO_CEILING)

/* Of the memory that is farthest away. */
static const struct sl_estimate *
bandwidth_of(const struct sl_ceilings *c)
{
	return c->n_levels ? &c->levels[c->n_levels - 1].bytes_per_s : NULL;
}

static const char *
no_bandwidth(const void *record, const void *parent)
{
	const struct sl_ceilings *c = record;
	const struct sl_estimate *e = bandwidth_of(c);

	(void)parent;
	if (c->absent)
		return c->absent;
	return e && e->n ? NULL : SL__NO_CEILING;
}

static const char *
no_ridge(const void *record, const void *parent)
{
	const char *why = no_peak(record, parent);

	return why ? why : no_bandwidth(record, parent);
}

SL__WHY(no_step, sl_ceilings, c,
	c->step_ns.n ? NULL
	: c->absent  ? c->absent
		     : SL__NO_CEILING)

enum { make_bandwidth_kind = SL__FIELD_NUMBER };

static void
make_bandwidth(struct sl__computed_value *out, const void *record,
	       const void *parent)
{
	const struct sl_estimate *e = bandwidth_of(record);

	(void)parent;
	out->number = e ? e->value / 1e9 : (double)NAN;
}

static const struct sl__field bandwidth_fields[] = {
	SL__F(INTERVAL, sl_ceiling_level, bytes_per_s, "bandwidth_ci95",
	      "its 95 % interval", GIGA),
};
static SL__RECORD(bandwidth, "roofline", sl_ceiling_level, bandwidth_fields, 0);

static void
write_bandwidth(struct sl__json *json, const struct sl__field *f,
		const void *record)
{
	const struct sl_ceilings *c = record;

	(void)f;
	sl__record_write_members(json, &bandwidth, &c->levels[c->n_levels - 1],
				 c);
}

static const struct sl__field ceiling_fields[] = {
	SL__F(NUMBER, sl_ceilings, flops_per_s.value, "peak_gflops_per_s",
	      "of arithmetic, meanwhile, all threads", GIGA, .why = no_peak),
	SL__F(INTERVAL, sl_ceilings, flops_per_s, "peak_ci95",
	      "its 95 % interval", GIGA, .why = no_peak),
	SL__F(WHOLE, sl_ceilings, flops_per_s.n, "peak_n", "probes",
	      .why = no_peak),
	SL__F_MADE(make_bandwidth, "bandwidth_gbytes_per_s", "of DRAM",
		   .why = no_bandwidth),
	{.key = "bandwidth_ci95",
	 .kind = SL__FIELD_OWN,
	 .made = SL__FIELD_INTERVAL,
	 .write = write_bandwidth,
	 .why = no_bandwidth,
	 .meaning = "its 95 % interval"},
	SL__F(NUMBER, sl_ceilings, ridge, "ridge",
	      "operations per byte at which DRAM stops to bound",
	      .why = no_ridge),
	SL__F_TIME(sl_ceilings, step_ns, "step",
		   "the least that any step takes", no_step),
	SL__F(WORD, sl_ceilings, dtype, "peak_dtype", "that the peak is of",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_ceilings, n_threads, "peak_threads",
	      "that reached them"),
	SL__F(TEXT, sl_ceilings, absent, "no_ceilings", "why there are none",
	      .is_left_out = 1),
	SL__F_PLACED(LIST, sl_ceilings, peaks, n_peaks, "peaks",
		     "of all types that operations may compute in",
		     .of = &peak),
	SL__F_PLACED(LIST, sl_ceilings, levels, n_levels, "levels",
		     "nearest first", .of = &level),
};
SL__RECORD(sl__table_ceilings, "ceilings", sl_ceilings, ceiling_fields, 0);

static const struct sl__field roofline_fields[] = {
	SL__F(WORD, sl_profile, dtype, "dtype", "of the plan", .is_outer = 1,
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_profile, n_threads, "threads", "of the plan",
	      .is_outer = 1),
	SL__F_GROUP(&sl__table_ceilings, NULL, NULL),
};
static SL__RECORD(roofline, "roofline", sl_ceilings, roofline_fields, 0);

SL__WHY(not_counted, sl_counter_use, use,
	use->counter  ? NULL
	: use->absent ? use->absent
		      : "not counted")

enum { make_event_kind = SL__FIELD_TEXT };

static void
make_event(struct sl__computed_value *out, const void *record,
	   const void *parent)
{
	const struct sl_profile *p = parent;
	const struct sl_counter_use *use = record;

	out->text = sl_event_text((enum sl_event)(use - p->counters));
}

static const struct sl__field counter_fields[] = {
	SL__F_MADE(make_event, "event", "that it counts"),
	SL__F(TEXT, sl_counter_use, counter, "counter",
	      "as the kernel or libpfm4 name it", .why = not_counted),
	SL__F(NUMBER, sl_counter_use, running_share, "running_share",
	      "of the time in which it was wanted", .why = not_counted),
	SL__F(REASON, sl_counter_use, absent, "counter_absent",
	      "why it was not counted"),
};
static SL__RECORD(counter, "counters", sl_counter_use, counter_fields, 0);

static const struct sl__field hog_fields[] = {
	SL__F(NUMBER, sl_hog_effect, dram, "dram", "a stream from memory"),
	SL__F(NUMBER, sl_hog_effect, l3, "l3", "one from the third cache"),
	SL__F(NUMBER, sl_hog_effect, l2, "l2", "one from the second"),
	SL__F(NUMBER, sl_hog_effect, compute, "compute", "arithmetic"),
};
static SL__RECORD(hog, "hog", sl_hog_effect, hog_fields, 0);

static const struct sl__field verdict_fields[] = {
	SL__F(WORD, sl_finding, bottleneck, "bottleneck",
	      "what bounds the model", .words = &sl__words_bottleneck,
	      .absent = "not asked"),
	SL__F(WORD, sl_finding, cause, "cause",
	      "the bound that makes most of it", .words = &sl__words_bound),
	SL__F(NUMBER, sl_finding, confidence, "confidence", "0 to 1"),
	SL__F_LIST(FACTS, sl_finding, evidence, n_evidence, "evidence",
		   "what speaks for it"),
	SL__F_LIST(FACTS, sl_finding, against, n_against, "against",
		   "what speaks against it"),
	SL__F(NUMBER_BY_WORD, sl_finding, shares, "shares",
	      "of time, by the operations' bounds", .words = &sl__words_bound,
	      .absent = "not looked into"),
};
static SL__RECORD(verdict, "verdict", sl_finding, verdict_fields, 0);

SL__WHY(not_ablated, sl_amdahl, a,
	a->measured_limit.n ? NULL
	: a->absent         ? a->absent
			    : "not measured")

static const struct sl__field amdahl_fields[] = {
	SL__F_SPOKEN(SL__SENTENCE_PART, "operation", "all of a type, or one"),
	SL__F(WHOLE, sl_amdahl, operation, "operation_index",
	      "the only one, or the first of its type"),
	SL__F(BOOLEAN, sl_amdahl, is_type, "is_type",
	      "all operations of that type"),
	SL__F(WHOLE, sl_amdahl, n_operations, "operations", "of these"),
	SL__F(NUMBER, sl_amdahl, share, "share",
	      "of the iteration; where a limit was measured and time sufficed "
	      "for it, of iterations recorded in the same rounds"),
	SL__F(NUMBER, sl_amdahl, at_2, "predicted_speedup_2",
	      "of the model, if these took half the time"),
	SL__F(NUMBER, sl_amdahl, at_4, "predicted_speedup_4", "a quarter"),
	SL__F(NUMBER, sl_amdahl, at_10, "predicted_speedup_10", "a tenth"),
	SL__F(EXTENDED, sl_amdahl, limit, "predicted_speedup_limit",
	      "no time at all", .absent = "it is all of the time"),
	SL__F(EXTENDED, sl_amdahl, limit_lo, "predicted_speedup_limit_lo",
	      "where the cost of recording is known worst, and what is not "
	      "attributed is not theirs",
	      .absent = "it is all of the time"),
	SL__F(EXTENDED, sl_amdahl, limit_hi, "predicted_speedup_limit_hi",
	      "or where it is", .absent = "it may be all of the time"),
	SL__F_ESTIMATE(sl_amdahl, measured_limit, "measured_speedup_limit",
		       "with these replaced by their stored output",
		       not_ablated),
	SL__F(REASON, sl_amdahl, absent, "measured_speedup_limit_absent",
	      "why it was not measured"),
};
static SL__RECORD(amdahl, "amdahl", sl_amdahl, amdahl_fields, 0);

static const struct sl__field trial_fields[] = {
	SL__F(WORD, sl_trial, action, "action", "what to run",
	      .words = &sl__words_trial),
	SL__F(SIGNED, sl_trial, value, "value",
	      "threads or batch that are advised; tokens"),
	SL__F(SIGNED, sl_trial, from, "from", "the range of a sweep"),
	SL__F(SIGNED, sl_trial, to, "to", "likewise"),
	SL__F(WORD, sl_trial, dtype, "dtype", "to compute in",
	      .words = &sl__words_dtype),
	SL__F(TEXT, sl_trial, layer, "layer", "that is profiled alone",
	      .absent = "it is of the whole model"),
	SL__F(TEXT, sl_trial, changes, "changes",
	      "that the model is tried with",
	      .absent = "the model is tried as it is"),
};
static SL__RECORD(trial, "advice.trial", sl_trial, trial_fields, 0);

SL__WHY(no_command, sl_advice, a,
	a->trial.action ? NULL : "no command of this version tests it")

SL__WHY(not_tried, sl_advice, a,
	a->measured.n ? NULL : "the profile did not try it")

static const struct sl__field advice_fields[] = {
	SL__F(FACT, sl_advice, what, "text", "what to do"),
	SL__F_SPOKEN(SL__SENTENCE_EXPECTED, "expected", "what it promises"),
	SL__F(FACT, sl_advice, basis, "basis", "the measurement behind it"),
	SL__F(NUMBER, sl_advice, least, "least_speedup", "at least",
	      .absent = "not bounded"),
	SL__F(NUMBER, sl_advice, most, "most_speedup", "at most",
	      .absent = "not bounded"),
	SL__F(NUMBER, sl_advice, measured.value, "measured_speedup",
	      "when the profile tried it", .why = not_tried, .is_left_out = 1),
	SL__F(INTERVAL, sl_advice, measured, "measured_speedup_ci95",
	      "where another run finds it, with 95 %", .why = not_tried,
	      .is_left_out = 1),
	SL__F(WHOLE, sl_advice, measured.n, "measured_speedup_n",
	      "rounds behind it", .why = not_tried, .is_left_out = 1),
	SL__F(WORD, sl_advice, gain, "gain", "what the speed-up is of",
	      .words = &sl__words_gain),
	SL__F(NUMBER, sl_advice, now_ns, "now_ms", "an iteration takes now", MS,
	      .absent = NO_TIME),
	SL__F_SPOKEN(SL__SENTENCE_COMMAND, "command", "that tests it",
		     .why = no_command),
	SL__F(OBJECT, sl_advice, trial, "trial", "the test", .of = &trial),
};
static SL__RECORD(advice, "advice", sl_advice, advice_fields, 0);

static const struct sl__field event_fields[] = {
	SL__F(SIGNED, sl_trace_event, operation, "operation",
	      "that begins, by its index; -1: the end"),
	SL__F(NUMBER, sl_trace_event, start_ns, "start_ms",
	      "since the iteration began", MS),
};
static SL__RECORD(event, "iterations.events", sl_trace_event, event_fields, 0);

static const struct sl__field iteration_fields[] = {
	SL__F(WORD, sl_trace_iteration, why, "why", "it is kept",
	      .words = &sl__words_kept),
	SL__F(WHOLE, sl_trace_iteration, nth, "nth",
	      "recorded ones counted from 0"),
	SL__F(NUMBER, sl_trace_iteration, start_ns, "start_ms",
	      "since the first recorded one", MS),
	SL__F(NUMBER, sl_trace_iteration, wall_ns, "wall_ms", "its time", MS),
	SL__F_LIST(LIST, sl_trace_iteration, events, n_events, "events",
		   "in order", .of = &event, .is_flat = 1),
};
static SL__RECORD(iteration, "iterations", sl_trace_iteration, iteration_fields,
		  0);

static void
write_graph_nodes(struct sl__json *json, const struct sl__field *f,
		  const void *record)
{
	const struct sl_profile *p = record;

	sl__json_array(json, f->key);
	for (size_t i = 0; i < p->n_operations; i++)
		sl__json_text(json, NULL, p->operations[i].name);
	sl__json_end_array(json);
}

static const struct sl__field edge_fields[] = {
	SL__F(WHOLE, sl_operation_edge, from, "from",
	      "the operation that makes it, by its index"),
	SL__F(WHOLE, sl_operation_edge, to, "to", "the one that uses it"),
};
static SL__RECORD(edge, "graph.edges", sl_operation_edge, edge_fields, 0);

static const struct sl__field graph_fields[] = {
	{.key = "nodes",
	 .kind = SL__FIELD_OWN,
	 SL__AT(sl_profile, operations),
	 .made = SL__FIELD_TEXTS,
	 .write = write_graph_nodes,
	 .meaning = "names of the operations, in the order they run"},
	SL__F_LIST(LIST, sl_profile, edges, n_edges, "edges",
		   "who uses what others make", .of = &edge, .is_flat = 1),
};
static SL__RECORD(graph, "graph", sl_profile, graph_fields, 0);

static const struct sl__field growth_fields[] = {
	SL__F_LIST(LIST, sl_inspection, growth, n_growth, "growth",
		   "how static figures grow with sizes",
		   .of = &sl__table_growth),
};
static SL__RECORD(growth, "growth", sl_inspection, growth_fields, 0);

static const struct sl__field profile_fields[] = {
	SL__F(OBJECT, sl_profile, request, "request", "what was asked for",
	      .of = &sl__table_request),
	SL__F(POINTER, sl_profile, model, "model", "what it is",
	      .of = &sl__table_model),
	SL__F(POINTER, sl_profile, model, "cost", "what it computes and moves",
	      .of = &sl__table_cost),
	SL__F_GROUP(&plan, "plan", "how it was run"),
	SL__F(OBJECT, sl_profile, latency, "latency", "of bare iterations",
	      .of = &sl__table_latency),
	SL__F(WHOLE, sl_profile, calls_per_sample, "calls_per_sample",
	      "iterations that are timed together"),
	SL__F(WHOLE, sl_profile, n_timed, "timed_iterations", "in all"),
	SL__F(WHOLE, sl_profile, sample_stride, "sample_stride",
	      "every nth iteration was kept"),
	SL__F(OBJECT, sl_profile, memory, "memory", "that it takes",
	      .of = &sl__table_memory_use),
	SL__F(OBJECT, sl_profile, ledger, "ledger", "where the wall time goes",
	      .of = &ledger),
	SL__F(OBJECT, sl_profile, rates, "rates", "how fast it is",
	      .of = &rates),
	SL__F_LIST(LIST, sl_profile, operations, n_operations, "operations",
		   "in the order they run", .of = &sl__table_operation),
	SL__F(WHOLE, sl_profile, n_for_80, "operations_for_80_percent",
	      "of the longest, that make 80 % of the time"),
	SL__F(WHOLE, sl_profile, n_hot, "operations_experimented_on",
	      "of the longest"),
	SL__F_LIST(WHOLES, sl_profile, by_time, n_operations, "by_time",
		   "operations by their index, longest first"),
	SL__F_LIST(LIST, sl_profile, by_part, n_parts, "by_role",
		   "longest first", .of = &sl__table_operation_group),
	SL__F_LIST(LIST, sl_profile, by_type, n_types, "by_type",
		   "longest first", .of = &sl__table_operation_group),
	SL__F_LIST(LIST, sl_profile, by_module, n_modules, "by_path",
		   "longest first", .of = &sl__table_operation_group),
	SL__F_GROUP(&graph, "graph", "how operations hang together"),
	SL__F(OBJECT, sl_profile, ceilings, "roofline",
	      "what the machine reached meanwhile", .of = &roofline),
	{.key = "counters",
	 .kind = SL__FIELD_LIST,
	 SL__AT(sl_profile, counters),
	 .most = SL_N_EVENTS,
	 .of = &counter,
	 .meaning = "of the CPU, and how each was used"},
	SL__F(WHOLE, sl_profile, n_counted, "operations_counted",
	      "with counts"),
	SL__F(TEXT, sl_profile, no_counter, "no_counters", "why none was read",
	      .is_left_out = 1),
	SL__F(OBJECT, sl_profile, hog, "hog",
	      "how much longer pure work takes beside a memory hog",
	      .of = &hog),
	SL__F(NUMBER, sl_profile, others_share, "others_share",
	      "of all CPUs, taken by others during experiments"),
	SL__F(OBJECT, sl_profile, verdict, "verdict", "what bounds it",
	      .of = &verdict),
	SL__F_LIST(LIST, sl_profile, amdahl, n_amdahl, "amdahl",
		   "if only this were faster", .of = &amdahl),
	SL__F_LIST(LIST, sl_profile, advice, n_advice, "advice", "best first",
		   .of = &advice),
	SL__F_LIST(FACTS, sl_profile, impossible, n_impossible, "impossible",
		   "what the physics check found"),
	SL__F_LIST(FACTS, sl_profile, remarks, n_remarks, "remarks",
		   "what was left out, and why"),
	SL__F(OBJECT, sl_profile, noise, "noise", "what disturbed it",
	      .of = &sl__table_noise),
	SL__F(POINTER, sl_profile, training, "training", "of a training step",
	      .of = &sl__table_training_profile),
	SL__F_LIST(LIST, sl_profile, iterations, n_iterations, "iterations",
		   "whole timelines", .of = &iteration),
	SL__F(TEXT, sl_profile, why, "why", "the operation asked about",
	      .is_left_out = 1),
	SL__F(POINTER, sl_profile, model, NULL, NULL, .of = &growth),
	SL__F_ENDING(sl_profile),
};

static void
settle_profile(void *record)
{
	struct sl_profile *p = record;

	if (p->model) {
		p->name = p->model->name;
		p->source = p->model->source;
	}
}

/* Whether all that names an operation by its index names one there is. */
static const char *
check_profile(const void *record)
{
	const struct sl_profile *p = record;
	size_t n = p->n_operations;
	int is_wrong = !p->model || (p->by_time == NULL) != (n == 0) ||
		       p->n_hot > n || p->n_for_80 > n;

	for (size_t i = 0; p->by_time && i < n; i++)
		is_wrong |= p->by_time[i] >= n;
	for (size_t i = 0; i < p->n_amdahl; i++)
		is_wrong |= p->amdahl[i].operation >= n;
	for (size_t i = 0; i < p->n_edges; i++)
		is_wrong |= p->edges[i].to >= n ||
			    p->edges[i].from >= p->edges[i].to;
	for (size_t i = 0; i < p->memory.n_timeline; i++)
		is_wrong |= p->memory.timeline[i].operation >= n;
	for (size_t i = 0; i < p->memory.n_tensors; i++)
		is_wrong |= p->memory.tensors[i].first >
				    p->memory.tensors[i].last ||
			    p->memory.tensors[i].last >= p->memory.n_timeline;
	for (size_t i = 0; i < p->n_iterations; i++) {
		const struct sl_trace_iteration *it = &p->iterations[i];

		for (size_t k = 0; k < it->n_events; k++)
			is_wrong |= it->events[k].operation >= n &&
				    it->events[k].operation != SIZE_MAX;
	}
	return is_wrong ? "no model, or an operation that is not there" : NULL;
}

SL__RECORD(sl__table_profile, "profile", sl_profile, profile_fields,
	   .settle = settle_profile, .check = check_profile);

static const struct sl__field layer_fields[] = {
	SL__F(TEXT, sl_layer_profile, model, "model", "that it is of"),
	SL__F(TEXT, sl_layer_profile, layer, "name", "of the layer"),
	SL__F(WHOLE, sl_layer_profile, n_operations, "operations",
	      "of the model's plan that do its work"),
	SL__F_TIME(sl_layer_profile, context_ns, "context",
		   "median of an iteration, within the model", NULL),
	SL__F_TIME(sl_layer_profile, alone_ns, "alone", "likewise, by itself",
		   NULL),
	SL__F_ESTIMATE(sl_layer_profile, ratio, "ratio", "within / alone",
		       NULL),
	SL__F(FACT, sl_layer_profile, finding, "finding",
	      "what the difference means"),
};
static SL__RECORD(layer, "layer", sl_layer_profile, layer_fields, 0);

SL__WHY(are_several, sl__profiles_document, r,
	r->n > 1 ? "several models" : NULL)

static const char *
is_one(const void *record, const void *parent)
{
	return are_several(record, parent) ? NULL : "one model";
}

static const struct sl__field document_fields[] = {
	SL__F(POINTER, sl__profiles_document, machine, "machine",
	      "that it ran on", .of = &sl__table_machine,
	      .absent = "run `sleuth machine` first"),
	SL__F(POINTER, sl__profiles_document, layer, "layer",
	      "whose profile this is, alone and within its model",
	      .of = &layer),
	SL__F_LIST(FIRST, sl__profiles_document, list, n, NULL,
		   "the only model", .of = &sl__table_profile,
		   .is_of_pointers = 1, .why = are_several),
	SL__F_LIST(LIST, sl__profiles_document, list, n, "results",
		   "several models", .of = &sl__table_profile,
		   .is_of_pointers = 1, .why = is_one, .is_left_out = 1),
};

/* All ran on the one machine. */
static void
settle_document(void *record)
{
	struct sl__profiles_document *r = record;

	for (size_t i = 0; i < r->n; i++)
		((struct sl_profile *)(uintptr_t)r->list[i])->machine =
			r->machine;
	if (r->layer && r->n)
		((struct sl_layer_profile *)(uintptr_t)r->layer)->alone =
			r->list[0];
}

SL__RECORD(sl__table_profiles, "profile", sl__profiles_document,
	   document_fields, .settle = settle_document);
