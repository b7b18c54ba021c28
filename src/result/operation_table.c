/* SPDX-License-Identifier: Apache-2.0 */
/* operation_table.c - fields of the operations of a profile. */
#include "result/profile_tables.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define MS       .unit = SL__NS_PER_MS
#define GIGA     .unit = 1e9
#define NO_TIME  "it took no time that the clock can tell"
#define NEVER    "it never ran"
#define WORK     SL__REASON(sl_operation, uncounted)
#define OF_LEVEL .words = &sl__words_level, .absent = SL__NO_CEILING

/* Why a rate is absent: what is done is not known, or for how long. */
SL__WHY(no_rate, sl_operation, o, o->uncounted ? o->uncounted : NO_TIME)

static const char *
no_core_rate(const void *record, const void *parent)
{
	const struct sl_operation *o = record;

	return o->uncounted || o->core_flops ? no_rate(record, parent)
					     : SL__NO_PRODUCTS;
}

SL__WHY(no_intensity, sl_operation, o,
	o->uncounted ? o->uncounted : "moves no bytes")

SL__WHY(no_bound, sl_operation, o, o->uncounted ? o->uncounted : SL__NO_CEILING)

static const char *
no_shape(const void *record, const void *parent)
{
	const struct sl_operation *o = record;

	(void)parent;
	if (*o->output_shape)
		return NULL;
	return o->n_covers ? "not inferred" : "covers no node of the model";
}

SL__WHY(no_median, sl_operation, o, o->median_ns.n ? NULL : NEVER)

static const char *
no_counts(const void *record, const void *parent)
{
	const struct sl_profile *p = parent;

	(void)record;
	if (p->n_counted)
		return "only what takes long is counted";
	return p->no_counter ? p->no_counter : "no operation was counted";
}

static const struct sl_fact *
above_ceiling(const void *record)
{
	const struct sl_operation *o = record;

	return o->impossible;
}

static const struct sl__field traffic_fields[] = {
	SL__F(WORD, sl_traffic, level, "level", "where the bytes come from",
	      .words = &sl__words_level),
	SL__F(NUMBER, sl_traffic, predicted_bytes, "predicted_bytes",
	      "from sizes, and from what ran before",
	      .absent = "sizes are found while it runs"),
	SL__F(NUMBER, sl_traffic, least_bytes, "least_bytes",
	      "of these, one way, what no cache can have kept",
	      .absent = "sizes are found while it runs"),
	SL__F(READING, sl_traffic, measured_bytes, "measured_bytes",
	      "by counters: lines that missed"),
};
static SL__RECORD(traffic, "operations.traffic", sl_traffic, traffic_fields, 0);

/* The time under one condition; how sure it is, and of how many calls. */
#define CONDITION(which, stem, what)                                         \
	SL__F(NUMBER, sl_response, at[which].ns, stem "_ms", what, MS,       \
	      SL__REASON(sl_response, at[which].absent)),                    \
		SL__F(NUMBER, sl_response, at[which].spread, stem "_spread", \
		      "from there to the median, as a share of it",          \
		      SL__REASON(sl_response, at[which].absent)),            \
		SL__F(WHOLE, sl_response, at[which].n, stem "_n", "calls")

static const struct sl__field response_fields[] = {
	CONDITION(SL_CONDITION_IN_PLACE, "in_place",
		  "lower quartile of a call, as in any iteration"),
	CONDITION(SL_CONDITION_WARM, "warm", "just after it ran"),
	CONDITION(SL_CONDITION_COLD, "cold", "from empty caches"),
	CONDITION(SL_CONDITION_ALONE, "alone", "on one thread"),
	CONDITION(SL_CONDITION_HOGGED, "hogged",
		  "on one thread, beside a stream from memory"),
	CONDITION(SL_CONDITION_DOUBLED, "doubled", "at twice the batch"),
	SL__F(WHOLE, sl_response, step, "step", "of the plan"),
	SL__F(BOOLEAN, sl_response, is_same_alone, "same_alone",
	      "one thread does the same work with the same kernel"),
	SL__F(NUMBER, sl_response, doubled_flops, "doubled_flops",
	      "arithmetic at twice the batch",
	      SL__REASON(sl_response, at[SL_CONDITION_DOUBLED].absent)),
	SL__F(NUMBER, sl_response, doubled_bytes, "doubled_bytes",
	      "bytes at twice the batch",
	      SL__REASON(sl_response, at[SL_CONDITION_DOUBLED].absent)),
	SL__F(NUMBER, sl_response, n_dependent, "dependent_steps",
	      "of a recurrence, each of which waits for the one before"),
};
static SL__RECORD(responses, "operations.responses", sl_response,
		  response_fields, 0);

#define EVENT(which, name)                                                     \
	SL__F(NUMBER, sl_operation_counts, of[which], name, "of a call, mean", \
	      SL__REASON(sl_operation_counts, absent[which]),                  \
	      .absent = "its counter had no turn")

static const struct sl__field count_fields[] = {
	SL__F(WHOLE, sl_operation_counts, n_calls, "calls", "counted"),
	EVENT(SL_EVENT_CYCLES, "cycles"),
	EVENT(SL_EVENT_INSTRUCTIONS, "instructions"),
	EVENT(SL_EVENT_STALLS, "stalls"),
	EVENT(SL_EVENT_L1_MISSES, "l1_misses"),
	EVENT(SL_EVENT_L2_MISSES, "l2_misses"),
	EVENT(SL_EVENT_L3_MISSES, "l3_misses"),
};
static SL__RECORD(counts, "operations.counters", sl_operation_counts,
		  count_fields, 0);

static const struct sl__field operation_fields[] = {
	SL__F(TEXT, sl_operation, name, "name", "of the first node it covers"),
	SL__F(TEXT, sl_operation, type, "type", "of operator"),
	SL__F(WORD, sl_operation, part, "role", "what it is for in the network",
	      .words = &sl__words_part),
	SL__F(WORD, sl_operation, phase, "phase", "of a training step",
	      .words = &sl__words_step_phase),
	SL__F(TEXT, sl_operation, module, "path", "module, from node names"),
	SL__F(WORD, sl_operation, path, "engine", "what computes it",
	      .words = &sl__words_path),
	SL__F(TEXT, sl_operation, kernel, "kernel", "by name"),
	SL__F(WORD, sl_operation, dtype, "dtype", "whose arithmetic it does",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_operation, step, "step", "of the plan"),
	SL__F_LIST(TEXTS, sl_operation, covers, n_covers, "covers",
		   "nodes of the model"),
	SL__F(NUMBER, sl_operation, n_calls, "calls",
	      "per iteration; below 1 in a branch"),
	SL__F(WHOLE, sl_operation, parameters, "parameters", "trainable"),
	SL__F(TEXT, sl_operation, output_shape, "output_shape", "sizes",
	      .why = no_shape),
	SL__F(READING, sl_operation, memory_bytes, "memory_bytes",
	      "live while it runs"),
	SL__F(NUMBER, sl_operation, self_ns, "self_ms", "mean per iteration",
	      MS),
	SL__F(NUMBER, sl_operation, share, "share", "of the self time of all",
	      .absent = NO_TIME),
	SL__F_TIME(sl_operation, median_ns, "median", "of a call", no_median),
	SL__F(NUMBER, sl_operation, min_ns, "min_ms", "the shortest call", MS,
	      .absent = NEVER),
	SL__F(NUMBER, sl_operation, max_ns, "max_ms", "the longest call", MS,
	      .absent = NEVER),
	SL__F(WHOLE, sl_operation, core_flops, "flops",
	      "of a call: 2 x the multiply-adds of convolutions and products",
	      WORK),
	SL__F(WHOLE, sl_operation, nominal_flops, "all_flops",
	      "all arithmetic that the model asks for", WORK),
	SL__F(WHOLE, sl_operation, executed_flops, "executed_flops",
	      "what the kernel does", WORK),
	SL__F(WHOLE, sl_operation, n_bytes, "bytes", "operands", WORK),
	SL__F(NUMBER, sl_operation, flops_per_s, "gflops_per_s",
	      "flops at the median of a call", GIGA, .because = no_core_rate),
	SL__F(NUMBER, sl_operation, executed_flops_per_s,
	      "executed_gflops_per_s", "executed_flops, likewise", GIGA,
	      .because = no_rate),
	SL__F(NUMBER, sl_operation, bytes_per_s, "gbytes_per_s",
	      "bytes, likewise", GIGA, .because = no_rate),
	SL__F(NUMBER, sl_operation, intensity, "intensity",
	      "executed operations per byte", .because = no_intensity),
	SL__F(WHOLE, sl_operation, working_set_bytes, "working_set_bytes",
	      "bytes accessed by one call"),
	SL__F(WORD, sl_operation, level, "level",
	      "smallest memory that holds it", OF_LEVEL),
	SL__F_PLACED(LIST, sl_operation, traffic, n_traffic, "traffic",
		     "bytes between caches, nearest first", .of = &traffic),
	SL__F(WORD, sl_operation, judgement.bound, "bound",
	      "what keeps it from being faster", .words = &sl__words_bound),
	SL__F(NUMBER, sl_operation, judgement.confidence, "confidence",
	      "0 to 1; 0 where unknown"),
	SL__F(WORD, sl_operation, judgement.nearest[0], "likeliest_bound",
	      "decided or not; unknown: none of the others",
	      .words = &sl__words_bound),
	SL__F(NUMBER, sl_operation, judgement.likelihood[0],
	      "likeliest_probability", "0 where nothing was judged"),
	SL__F(WORD, sl_operation, judgement.nearest[1], "second_bound",
	      "the next", .words = &sl__words_bound),
	SL__F(NUMBER, sl_operation, judgement.likelihood[1],
	      "second_probability", "likewise"),
	SL__F_LIST(FACTS, sl_operation, judgement.evidence,
		   judgement.n_evidence, "evidence", "what speaks for it"),
	SL__F_LIST(FACTS, sl_operation, judgement.against, judgement.n_against,
		   "against", "what speaks against it"),
	SL__F(POINTER, sl_operation, response, "responses",
	      "how it answered experiments", .of = &responses),
	SL__F(NUMBER, sl_operation, ceiling_share, "ceiling_share",
	      "bound_ms of median_ms", .fact = above_ceiling,
	      .because = no_bound),
	SL__F(WORD, sl_operation, roof, "roof", "that bounds it", OF_LEVEL),
	SL__F(NUMBER, sl_operation, bound_ns, "bound_ms",
	      "the roofline's least time for a call", MS, .because = no_bound),
	SL__F(FACT_AT, sl_operation, impossible, "impossible",
	      "a rate above what the machine does, and the likely cause"),
	SL__F(POINTER, sl_operation, counts, "counters",
	      "what the CPU's counters said, all threads", .of = &counts,
	      .because = no_counts),
};

static void
settle_operation(void *record)
{
	struct sl_operation *o = record;

	o->output_shape = o->output_shape ? o->output_shape : "";
}

SL__RECORD(sl__table_operation, "operations", sl_operation, operation_fields,
	   .settle = settle_operation);

/* A rate of all of a group, in 10^9 a second; from the time as it is written,
 * so that it is the same when that is read back. */
static double
rate_of(const struct sl_operation_group *g, uint64_t n)
{
	return (double)n / (g->self_ns / SL__NS_PER_MS) / 1e6;
}

SL__MAKE(make_core_rate, sl_operation_group, g, NUMBER, number,
	 g->core_flops ? rate_of(g, g->core_flops) : (double)NAN)
SL__MAKE(make_executed_rate, sl_operation_group, g, NUMBER, number,
	 rate_of(g, g->executed_flops))
SL__MAKE(make_bytes_rate, sl_operation_group, g, NUMBER, number,
	 rate_of(g, g->n_bytes))
SL__WHY(no_group_rate, sl_operation_group, g,
	g->core_flops ? NO_TIME : SL__NO_PRODUCTS)

static const struct sl__field group_fields[] = {
	SL__F(TEXT, sl_operation_group, name, "name", "role, type or path"),
	SL__F(WHOLE, sl_operation_group, n_operations, "operations",
	      "of that kind"),
	SL__F(NUMBER, sl_operation_group, self_ns, "self_ms",
	      "mean per iteration", MS),
	SL__F(NUMBER, sl_operation_group, share, "share",
	      "of the self time of all", .absent = NO_TIME),
	SL__F(WHOLE, sl_operation_group, core_flops, "flops",
	      "of an iteration, as of operations"),
	SL__F(WHOLE, sl_operation_group, nominal_flops, "all_flops",
	      "likewise"),
	SL__F(WHOLE, sl_operation_group, executed_flops, "executed_flops",
	      "likewise"),
	SL__F(WHOLE, sl_operation_group, n_bytes, "bytes", "likewise"),
	SL__F_MADE(make_core_rate, "gflops_per_s", "over self_ms",
		   .because = no_group_rate),
	SL__F_MADE(make_executed_rate, "executed_gflops_per_s", "likewise",
		   .absent = NO_TIME),
	SL__F_MADE(make_bytes_rate, "gbytes_per_s", "likewise",
		   .absent = NO_TIME),
	SL__F(WHOLE, sl_operation_group, parameters, "parameters", "trainable"),
};
SL__RECORD(sl__table_operation_group, "operation_group", sl_operation_group,
	   group_fields, 0);
