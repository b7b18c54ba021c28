/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - the words by which enums are written and read back. */
#ifndef SL_WORDS_H
#define SL_WORDS_H

#include "result/field.h"

extern const struct sl__vocabulary sl__words_access, sl__words_accuracy_change,
	sl__words_accuracy_kind, sl__words_objective, sl__words_scores,
	sl__words_split, sl__words_algorithms, sl__words_bottleneck,
	sl__words_bound, sl__words_gain, sl__words_kept,
	sl__words_memory_category, sl__words_memory_method,
	sl__words_memory_pattern, sl__words_nan, sl__words_part,
	sl__words_peak_moment, sl__words_trial, sl__words_cache_kind,
	sl__words_check_rule, sl__words_growth_axis, sl__words_growth_figure,
	sl__words_convention, sl__words_dtype, sl__words_fitness,
	sl__words_gate, sl__words_gate_metric, sl__words_isa_cause,
	sl__words_isa_level, sl__words_level, sl__words_load_verdict,
	sl__words_loss, sl__words_scenario, sl__words_method,
	sl__words_optimizer, sl__words_path, sl__words_phase, sl__words_role,
	sl__words_stop, sl__words_train_end, sl__words_trained,
	sl__words_verdict, sl__words_comparison_basis, sl__words_warmup,
	sl__words_instrumentation, sl__words_work, sl__words_basis,
	sl__words_axis, sl__words_bottleneck, sl__words_feed, sl__words_counted,
	sl__words_micro_axis, sl__words_micro_class,
	sl__words_micro_crossover_kind, sl__words_planned, sl__words_rate_unit,
	sl__words_schedule, sl__words_step_phase, sl__words_sweep_figure,
	sl__words_sweep_kind, sl__words_variant_reason;

#endif
