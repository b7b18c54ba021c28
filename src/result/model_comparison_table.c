/* SPDX-License-Identifier: Apache-2.0 */
/* model_comparison_table.c - fields of models that were compared. */
#include "result/tables.h"
#include "result/words.h"
#include "sleuth/comparing.h"

#include "base/banned.h"

#define MS .unit = SL__NS_PER_MS

static const struct sl__field side_model_fields[] = {
	SL__F(TEXT, sl_model_arm_result, model, "name", "of the model"),
	SL__F(TEXT, sl_model_arm_result, source, "source", "path, or zoo"),
};
static SL__RECORD(side_model, "models.model", sl_model_arm_result,
		  side_model_fields, 0);

static const struct sl__field side_memory_fields[] = {
	SL__F(WHOLE, sl_model_arm_result, memory.live_bytes, "live_bytes",
	      "most that is needed at one step"),
	SL__F(WHOLE, sl_model_arm_result, memory.planned_bytes, "planned_bytes",
	      "the block in which activations lie"),
	SL__F(WHOLE, sl_model_arm_result, memory.weight_bytes, "packed_bytes",
	      "weights that were packed or made"),
	SL__F(WHOLE, sl_model_arm_result, memory.mapped_bytes, "mapped_bytes",
	      "weights used where the file has them"),
	SL__F(WHOLE, sl_model_arm_result, memory_bytes, "total_bytes",
	      "planned and weights"),
};
static SL__RECORD(side_memory, "models.memory", sl_model_arm_result,
		  side_memory_fields, 0);

SL__WHY(no_data, sl_model_arm_result, m, m->accuracy.n ? NULL : "no data")

static const struct sl__field side_fields[] = {
	SL__F(TEXT, sl_model_arm_result, name, "name",
	      "by which it is compared"),
	SL__F_GROUP(&side_model, "model", "that was run"),
	SL__F(WORD, sl_model_arm_result, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_model_arm_result, n_threads, "threads",
	      "that it runs on"),
	SL__F(TEXT, sl_model_arm_result, choices, "choices",
	      "a hash of what computes each step: equal ones, equal "
	      "algorithms",
	      .is_left_out = 1),
	SL__F(WHOLE, sl_model_arm_result, batch, "batch", "batch size"),
	SL__F(WHOLE, sl_model_arm_result, n_steps, "steps", "of the plan"),
	SL__F(NUMBER, sl_model_arm_result, plan_ns, "plan_ms",
	      "making the plan", MS),
	SL__F_TIME(sl_model_arm_result, wall_ns, "median",
		   "wall time of an iteration, over the rounds that count",
		   NULL),
	SL__F_TIME(sl_model_arm_result, cpu_ns, "cpu",
		   "CPU time of an iteration, all threads", NULL),
	SL__F(WHOLE, sl_model_arm_result, nominal_flops, "flops",
	      "all arithmetic that the model asks for"),
	SL__F(WHOLE, sl_model_arm_result, executed_flops, "executed_flops",
	      "what the kernels do"),
	SL__F_GROUP(&side_memory, "memory", "of the plan"),
	SL__F_ESTIMATE(sl_model_arm_result, accuracy, "accuracy",
		       "share of the test split that is right", no_data),
	SL__F(WORD, sl_model_arm_result, accuracy_kind, "accuracy_kind",
	      "what is right: a class, whole sequences, tokens",
	      .words = &sl__words_accuracy_kind, .why = no_data),
};
static SL__RECORD(side, "models", sl_model_arm_result, side_fields, 0);

SL__WHY(no_layer_ratio, sl_compared_layer, l,
	!l->n_a || !l->n_b ? "only on one side"
	: l->ratio.n       ? NULL
			   : "too short for the clock")

#define ALONE .absent = "only on the other side"

static const struct sl__field layer_fields[] = {
	SL__F(TEXT, sl_compared_layer, name, "name", "of the layer"),
	SL__F(TEXT, sl_compared_layer, type, "type", "of operator"),
	SL__F(WHOLE, sl_compared_layer, n_a, "steps_a", "of A that do it"),
	SL__F(WHOLE, sl_compared_layer, n_b, "steps_b", "of B"),
	SL__F(TEXT, sl_compared_layer, a_kernel, "kernel_a",
	      "of the first step", ALONE),
	SL__F(TEXT, sl_compared_layer, b_kernel, "kernel_b",
	      "of the first step", ALONE),
	SL__F(NUMBER, sl_compared_layer, a_ns, "a_ms", "median in an iteration",
	      MS, ALONE),
	SL__F(NUMBER, sl_compared_layer, b_ns, "b_ms", "median in an iteration",
	      MS, ALONE),
	SL__F(WHOLE, sl_compared_layer, ratio.n, "ratio_n", "rounds behind it"),
	SL__F(NUMBER, sl_compared_layer, ratio.value, "ratio",
	      "B / A; per sample where the comparison is",
	      .why = no_layer_ratio),
	SL__F(INTERVAL, sl_compared_layer, ratio, "ratio_ci95",
	      "its 95 % interval", .why = no_layer_ratio),
	SL__F(NUMBER, sl_compared_layer, log_e, "log_e",
	      "ln of the e-value against \"within the margin\"",
	      .absent = "not tested"),
	SL__F(BOOLEAN, sl_compared_layer, is_tested, "tested",
	      "on both sides, and not too short for the clock"),
	SL__F(BOOLEAN, sl_compared_layer, is_named, "named",
	      "differs by more than the margin: e-BH over all that were "
	      "tested"),
	SL__F_TIME(sl_compared_layer, change_ns, "change",
		   "B - A, mean over rounds; per sample where the comparison "
		   "is",
		   NULL),
	SL__F(BOOLEAN, sl_compared_layer, has_other_kernel, "other_algorithm",
	      "another algorithm, although work and settings are the same"),
};
static SL__RECORD(layer, "layers", sl_compared_layer, layer_fields, 0);

SL__WHY(undecided, sl_arm_comparison, p,
	p->comparison.verdict ? NULL : "undecided")
SL__WHY(no_wall, sl_arm_comparison, p, p->absent[SL_COMPARISON_BASIS_WALL])
SL__WHY(no_cpu, sl_arm_comparison, p, p->absent[SL_COMPARISON_BASIS_CPU])
SL__WHY(no_layers, sl_arm_comparison, p, p->absent[SL_COMPARISON_BASIS_LAYERS])

static const char *
no_typical_layer(const void *record, const void *parent)
{
	const struct sl_arm_comparison *p = record;

	if (no_layers(record, parent))
		return no_layers(record, parent);
	return p->layers_ratio.n ? NULL : "no layer is long enough to be timed";
}

static const struct sl__field evidence_fields[] = {
	SL__F(NUMBER, sl_arm_comparison, log_e, "log_e",
	      "ln of the average e-value against \"no change\""),
	SL__F(NUMBER, sl_arm_comparison, log_e_of[SL_COMPARISON_BASIS_WALL],
	      "wall_log_e", "by wall time", .why = no_wall),
	SL__F(REASON, sl_arm_comparison, absent[SL_COMPARISON_BASIS_WALL],
	      "wall_log_e_absent", "why wall time is silent"),
	SL__F(NUMBER, sl_arm_comparison, log_e_of[SL_COMPARISON_BASIS_CPU],
	      "cpu_log_e", "by CPU time", .why = no_cpu),
	SL__F(REASON, sl_arm_comparison, absent[SL_COMPARISON_BASIS_CPU],
	      "cpu_log_e_absent", "why CPU time is silent"),
	SL__F(NUMBER, sl_arm_comparison, log_e_of[SL_COMPARISON_BASIS_LAYERS],
	      "layers_log_e", "by the typical layer", .why = no_layers),
	SL__F(REASON, sl_arm_comparison, absent[SL_COMPARISON_BASIS_LAYERS],
	      "layers_log_e_absent", "why layers are silent"),
	SL__F(WORD, sl_arm_comparison, decided_by, "decided_by",
	      "the largest e-value when the verdict fell",
	      .words = &sl__words_comparison_basis, .why = undecided),
	SL__F(WORD, sl_arm_comparison, wall_verdict, "wall_verdict",
	      "by wall time alone", .words = &sl__words_verdict),
	SL__F(WORD, sl_arm_comparison, cpu.verdict, "cpu_verdict",
	      "by CPU time alone", .words = &sl__words_verdict, .why = no_cpu),
	SL__F_ESTIMATE(sl_arm_comparison, layers_ratio, "layers_ratio",
		       "B / A of the typical layer", no_typical_layer),
	SL__F(WHOLE, sl_arm_comparison, n_other_kernels, "other_algorithms",
	      "layers with the same settings and the same work, but another "
	      "algorithm; above 0: no difference is claimed"),
};
static SL__RECORD(evidence, "evidence", sl_arm_comparison, evidence_fields, 0);

SL__WHY(not_evaluated, sl_arm_comparison, p,
	p->accuracy.value.n ? NULL : "no data")

static const struct sl__field paired_fields[] = {
	SL__F_ESTIMATE(sl_arm_comparison, accuracy.value, "delta",
		       "accuracy B - A over the same samples", not_evaluated),
	SL__F(WHOLE, sl_arm_comparison, accuracy.n_gained, "gained",
	      "samples that B is more right about", .why = not_evaluated),
	SL__F(WHOLE, sl_arm_comparison, accuracy.n_lost, "lost",
	      "samples that B is less right about", .why = not_evaluated),
	SL__F(NUMBER, sl_arm_comparison, accuracy.log_e, "log_e",
	      "ln of the e-value against as many gained as lost",
	      .why = not_evaluated),
	SL__F(WORD, sl_arm_comparison, accuracy.change, "verdict",
	      "lower, higher, or no difference that is proved",
	      .words = &sl__words_accuracy_change, .why = not_evaluated),
};
static SL__RECORD(paired, "compare.accuracy", sl_arm_comparison, paired_fields,
		  0);

static const struct sl__field pair_fields[] = {
	SL__F(OBJECT, sl_arm_comparison, comparison, "comparison",
	      "B against A, by all evidence", .of = &sl__table_comparison),
	SL__F_GROUP(&evidence, "evidence", "three e-processes"),
	SL__F(OBJECT, sl_arm_comparison, cpu, "cpu_comparison",
	      "the same of CPU time, alone", .of = &sl__table_comparison),
	SL__F_LIST(LIST, sl_arm_comparison, layers, n_layers, "layers",
		   "in the order of A, then those of B alone", .of = &layer),
	SL__F_LIST(WHOLES, sl_arm_comparison, by_change, n_layers, "by_change",
		   "layers: named first, then by the change of their time"),
	SL__F(WHOLE, sl_arm_comparison, n_named, "named_layers",
	      "layers that differ"),
	SL__F(WHOLE, sl_arm_comparison, n_only_a, "only_a",
	      "layers of A alone"),
	SL__F(WHOLE, sl_arm_comparison, n_only_b, "only_b",
	      "layers of B alone"),
	SL__F(NUMBER, sl_arm_comparison, only_a_ns, "only_a_ms",
	      "sum of their medians", MS),
	SL__F(NUMBER, sl_arm_comparison, only_b_ns, "only_b_ms",
	      "sum of their medians", MS),
	SL__F_TIME(sl_arm_comparison, change_ns, "change",
		   "wall time B - A, mean over rounds; what layers change and "
		   "rest_change_ms are its parts",
		   NULL),
	SL__F(NUMBER, sl_arm_comparison, rest_change_ns, "rest_change_ms",
	      "of that, outside of layers", MS),
	SL__F_GROUP(&paired, "accuracy", "samples gained and lost"),
	SL__F(NUMBER, sl_arm_comparison, output_error, "output_error",
	      "RMS difference of the first output, over its RMS",
	      SL__REASON(sl_arm_comparison, outputs_absent),
	      .absent = "the output is 0"),
	SL__F(NUMBER, sl_arm_comparison, largest_error, "largest_error",
	      "largest difference of the first output, over its largest "
	      "number",
	      SL__REASON(sl_arm_comparison, outputs_absent),
	      .absent = "the output is 0"),
	SL__F(REASON, sl_arm_comparison, outputs_absent, "output_error_absent",
	      "why outputs are not compared"),
};
static SL__RECORD(pair, "compare", sl_arm_comparison, pair_fields, 0);

SL__WHY(is_one_pair, sl_model_comparison, v,
	v->n_pairs > 1 ? NULL : "two models")

static const struct sl__field comparison_fields[] = {
	SL__F_LIST(LIST, sl_model_comparison, sides, n, "models", "A first",
		   .of = &side),
	SL__F(BOOLEAN, sl_model_comparison, is_per_sample, "per_sample",
	      "batches differ: ratios are of time per sample"),
	SL__F_LIST(FIRST, sl_model_comparison, pairs, n_pairs, NULL,
		   "the first of the others against A", .of = &pair),
	SL__F_LIST(LIST, sl_model_comparison, pairs, n_pairs, "results",
		   "all of the others, where there are several", .of = &pair,
		   .why = is_one_pair, .is_left_out = 1),
	SL__F(WHOLE, sl_model_comparison, iterations_per_slot,
	      "iterations_per_slot", "above 1 for short iterations"),
	SL__F(WHOLE, sl_model_comparison, n_placements, "placements",
	      "of plans in memory, in which a round counted"),
	SL__F(WHOLE, sl_model_comparison, placements_enough,
	      "placements_enough",
	      "with fewer, only layers that differ by more than "
	      "placement_reach are named"),
	SL__F(NUMBER, sl_model_comparison, placement_reach, "placement_reach",
	      "relative change"),
	SL__F(TEXT, sl_model_comparison, renewal_absent, "placements_ended_by",
	      "why plans were no longer made anew", .absent = "nothing failed"),
	SL__F(BOOLEAN, sl_model_comparison, is_disturbed, "is_disturbed",
	      "others had more than 15 % of the CPUs: same and not slower are "
	      "not claimed, and nothing between different numbers of threads"),
	SL__F(OBJECT, sl_model_comparison, noise, "noise",
	      "what disturbed the measurement", .of = &sl__table_noise),
	SL__F_ENDING(sl_model_comparison),
};
SL__RECORD(sl__table_model_comparison, "compare", sl_model_comparison,
	   comparison_fields, 0);
