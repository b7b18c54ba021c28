/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - the words by which enums are written and read back. */
#include "result/words.h"
#include "sleuth/gating.h"
#include "sleuth/comparing.h"
#include "sleuth/microbenchmarks.h"
#include "sleuth/observing.h"
#include "sleuth/overheads.h"
#include "sleuth/sweeping.h"
#include "sleuth/training_runs.h"
#include "sleuth/evaluating.h"
#include "sleuth/loading.h"
#include "sleuth/optimizing.h"

#include "base/banned.h"

/* A function of an enum as one of a number, and how many values it has. */
#define WORDS(id, type, text, begins, ends)          \
	static const char *id##_word(unsigned value) \
	{                                            \
		return text((enum type)value);       \
	}                                            \
	const struct sl__vocabulary sl__words_##id = {id##_word, begins, ends};

static const char *
gate_text(enum sl_gate gate)
{
	static const char *const words[] = {"undecided", "ok", "regressed"};

	return (unsigned)gate <= SL_GATE_REGRESSED ? words[gate] : words[0];
}

static const char *
algorithms_text(enum sl_algorithms algorithms)
{
	return algorithms == SL_ALGORITHMS_FIXED ? "fixed" : "measured";
}

static const char *
nan_text(enum sl_nan_policy policy)
{
	return policy == SL_NAN_REFUSED ? "refuse" : "keep";
}

static const char *
memory_method_text(enum sl_memory_method method)
{
	static const char *const words[] = {"auto", "interposed", "resident"};

	return (unsigned)method <= SL_MEMORY_RESIDENT ? words[method]
						      : words[0];
}

static const char *
kept_text(enum sl_kept why)
{
	static const char *const words[] = {"first", "median", "slowest"};

	return (unsigned)why <= SL_KEPT_SLOWEST ? words[why] : words[0];
}

static const char *
stop_text(enum sl_stop stop)
{
	static const char *const words[] = {"runs", "precision", "time",
					    "verdict", "interrupt"};

	return (unsigned)stop <= SL_STOP_INTERRUPT ? words[stop] : "unknown";
}

static const char *
sweep_figure_text(enum sl_sweep_figure figure)
{
	static const char *const words[] = {"time", "kind", "memory", "flops"};

	return (unsigned)figure <= SL_SWEEP_FLOPS ? words[figure] : words[0];
}

/* A figure is counted, or not: then it is derived. */
static const char *
counted_text(unsigned is_counted)
{
	return is_counted ? "counted" : "derived";
}

static const char *
planned_text(unsigned is_planned)
{
	return is_planned ? "plan" : "graph";
}

const char *
sl_memory_category_text(enum sl_memory_category category)
{
	static const char *const texts[SL_N_MEMORY_CATEGORIES] = {
		"activation", "gradient", "state",
		"input",      "output",   "workspace"};

	return (unsigned)category < SL_N_MEMORY_CATEGORIES ? texts[category]
							   : "unknown";
}

const char *
sl_peak_moment_text(enum sl_peak_moment moment)
{
	static const char *const words[SL_N_PEAK_MOMENTS] = {
		"unknown", "while it was planned", "while it ran"};

	return words[(unsigned)moment < SL_N_PEAK_MOMENTS ? moment
							  : SL_PEAK_UNKNOWN];
}

const char *
sl_bound_text(enum sl_bound bound)
{
	static const char *const words[SL_N_BOUNDS] = {
		"unknown",      "compute",  "l2",        "l3",
		"dram",         "overhead", "imbalance", "reference",
		"instructions", "latency",  "layout"};

	return (unsigned)bound < SL_N_BOUNDS ? words[bound] : "unknown";
}

const char *
sl_part_text(enum sl_part part)
{
	static const char *const words[SL_N_PARTS] = {
		"other",     "attention",     "feed-forward",
		"embedding", "normalisation", "convolution",
		"recurrent", "head",          "data movement"};

	return (unsigned)part < SL_N_PARTS ? words[part] : "other";
}

const char *
sl_bottleneck_text(enum sl_bottleneck bottleneck)
{
	static const char *const words[] = {
		"not asked", "inconclusive", "compute", "memory",
		"overhead",  "data",         "mixed",   "imbalance"};

	return (unsigned)bottleneck < sizeof(words) / sizeof(words[0])
		       ? words[bottleneck]
		       : words[0];
}

const struct sl__vocabulary sl__words_planned = {planned_text, 0, 2};

const struct sl__vocabulary sl__words_counted = {counted_text, 0, 2};
WORDS(micro_axis, sl_micro_axis, sl_micro_axis_text, 0, SL_N_MICRO_AXES)
WORDS(micro_class, sl_micro_class, sl_micro_class_text, 0, SL_N_MICRO_CLASSES)
WORDS(micro_crossover_kind, sl_micro_crossover_kind,
      sl_micro_crossover_kind_text, 0, SL_MICRO_CROSSOVER_LEVEL + 1)
WORDS(axis, sl_axis, sl_axis_text, 0, SL_N_AXES)
WORDS(bottleneck, sl_bottleneck, sl_bottleneck_text, SL_BOTTLENECK_INCONCLUSIVE,
      SL_BOTTLENECK_IMBALANCE + 1)
WORDS(rate_unit, sl_rate_unit, sl_rate_unit_text, 0, SL_RATE_FLOPS + 1)
WORDS(sweep_figure, sl_sweep_figure, sweep_figure_text, 0, SL_SWEEP_FLOPS + 1)
WORDS(sweep_kind, sl_sweep_kind, sl_sweep_kind_text, 0,
      SL_SWEEP_KIND_OTHERS + 1)
WORDS(access, sl_access, sl_access_text, 0, SL_ACCESS_CHASE + 1)
WORDS(algorithms, sl_algorithms, algorithms_text, 0, SL_ALGORITHMS_FIXED + 1)
WORDS(bound, sl_bound, sl_bound_text, 0, SL_N_BOUNDS)
WORDS(gain, sl_gain, sl_gain_text, 0, SL_N_GAINS)
WORDS(kept, sl_kept, kept_text, 0, SL_KEPT_SLOWEST + 1)
WORDS(nan, sl_nan_policy, nan_text, 0, SL_NAN_REFUSED + 1)
WORDS(part, sl_part, sl_part_text, 0, SL_N_PARTS)
WORDS(memory_category, sl_memory_category, sl_memory_category_text, 0,
      SL_N_MEMORY_CATEGORIES)
WORDS(peak_moment, sl_peak_moment, sl_peak_moment_text, 0, SL_N_PEAK_MOMENTS)
WORDS(trial, sl_trial_action, sl_trial_action_text, 0, SL_N_TRIAL_ACTIONS)
WORDS(basis, sl_basis, sl_basis_text, 0, SL_BASIS_UNKNOWN + 1)
WORDS(cache_kind, sl_cache_kind, sl_cache_kind_text, 0, SL_N_CACHE_KINDS)
WORDS(check_rule, sl_check_rule, sl_check_rule_text, 0, SL_CHECK_RMS + 1)
WORDS(convention, sl_convention, sl_convention_text, 0, SL_N_CONVENTIONS)
WORDS(dtype, sl_dtype, sl_dtype_text, 0, SL_N_DTYPES)
WORDS(fitness, sl_fitness, sl_fitness_text, 0, SL_FITNESS_UNKNOWN + 1)
WORDS(growth_axis, sl_growth_axis, sl_growth_axis_text, 0, SL_N_GROWTH_AXES)
WORDS(growth_figure, sl_growth_figure, sl_growth_figure_text, 0,
      SL_N_GROWTH_FIGURES)
WORDS(gate, sl_gate, gate_text, 0, SL_GATE_REGRESSED + 1)
WORDS(gate_metric, sl_gate_metric, sl_gate_metric_text, 0, SL_N_GATE_METRICS)
WORDS(isa_cause, sl_isa_cause, sl_isa_cause_text, 0, SL_N_ISA_CAUSES)
WORDS(isa_level, sl_isa_level, sl_isa_level_text, 0, SL_N_ISA_LEVELS)
WORDS(level, sl_level, sl_level_text, 0, SL_N_LEVELS)
WORDS(load_verdict, sl_load_verdict, sl_load_verdict_text, 0,
      SL_LOAD_INVALID + 1)
WORDS(scenario, sl_scenario, sl_scenario_text, 0, SL_N_SCENARIOS)
WORDS(memory_method, sl_memory_method, memory_method_text, 0,
      SL_MEMORY_RESIDENT + 1)
WORDS(memory_pattern, sl_memory_pattern, sl_memory_pattern_text, 0,
      SL_MEMORY_SPIKE + 1)
WORDS(method, sl_method, sl_method_text, 0, SL_METHOD_BATCH + 1)
WORDS(optimizer, sl_optimizer, sl_optimizer_text, 0, SL_N_OPTIMIZERS)
WORDS(accuracy_change, sl_accuracy_change, sl_accuracy_change_text, 0,
      SL_N_ACCURACY_CHANGES)
WORDS(objective, sl_objective, sl_objective_text, 0, SL_N_OBJECTIVES)
WORDS(variant_reason, sl_variant_reason, sl_variant_reason_text, 0,
      SL_N_VARIANT_REASONS)
WORDS(accuracy_kind, sl_accuracy_kind, sl_accuracy_kind_text, 0,
      SL_N_ACCURACY_KINDS)
WORDS(scores, sl_scores, sl_scores_text, 0, SL_N_SCORES)
WORDS(split, sl_split, sl_split_text, 0, SL_N_SPLITS)
WORDS(path, sl_path, sl_path_text, 0, SL_N_PATHS)
WORDS(feed, sl_feed, sl_feed_text, 0, SL_N_FEEDS)
WORDS(loss, sl_loss, sl_loss_text, 0, SL_N_LOSSES)
WORDS(phase, sl_phase, sl_phase_text, 0, SL_N_PHASES)
WORDS(step_phase, sl_phase, sl_phase_text, 0, SL_PHASE_RECOMPUTE + 1)
WORDS(role, sl_role, sl_role_text, 0, SL_ROLE_TIED + 1)
WORDS(schedule, sl_schedule, sl_schedule_text, 0, SL_N_SCHEDULES)
WORDS(stop, sl_stop, stop_text, 0, SL_STOP_INTERRUPT + 1)
WORDS(train_end, sl_train_end, sl_train_end_text, 0, SL_N_TRAIN_ENDS)
WORDS(trained, sl_optimizer, sl_optimizer_text, SL_OPTIMIZER_SGD,
      SL_N_OPTIMIZERS)
WORDS(verdict, sl_verdict, sl_verdict_text, 0, SL_VERDICT_SAME + 1)
WORDS(comparison_basis, sl_comparison_basis, sl_comparison_basis_text, 0,
      SL_N_COMPARISON_BASES)
WORDS(warmup, sl_warmup_class, sl_warmup_text, 0, SL_WARMUP_NONE + 1)
WORDS(instrumentation, sl_instrumentation, sl_instrumentation_text, 0,
      SL_N_INSTRUMENTATIONS)
WORDS(work, sl_work, sl_work_text, 0, SL_N_WORKS)
