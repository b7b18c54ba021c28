/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - the tables of all results. */
#ifndef SL_TABLES_H
#define SL_TABLES_H

#include "result/rows.h"
#include "sleuth/microbenchmarks.h"

/* Parts that several results have. */
extern const struct sl__record sl__table_latency, sl__table_noise,
	sl__table_alive_at_peak, sl__table_comparison, sl__table_cost,
	sl__table_inspection, sl__table_machine, sl__table_model,
	sl__table_plan_memory, sl__table_profile;

/* Results as documents. */
extern const struct sl__record sl__table_bench, sl__table_comparisons,
	sl__table_evaluation, sl__table_fit, sl__table_function,
	sl__table_generation, sl__table_load, sl__table_machine_document,
	sl__table_measurement, sl__table_memory, sl__table_optimization,
	sl__table_overhead, sl__table_run, sl__table_scopes,
	sl__table_selfcheck, sl__table_sweep, sl__table_model_comparison,
	sl__table_gate, sl__table_history, sl__table_live_runs,
	sl__table_stored_runs, sl__table_suite, sl__table_train, sl__table_zoo;

/* Models that were inspected, as a document has them: the first inline where it
 * is the only one, else a list. */
struct sl__inspections_document {
	const struct sl_inspection *const *list;
	size_t n;
};
extern const struct sl__record sl__table_inspections;

/* Models that were profiled, likewise. */
struct sl__profiles_document {
	const struct sl_profile *const *list;
	size_t n;                             /* at least 1 */
	const struct sl_machine *machine;     /* of the first; NULL: none */
	const struct sl_layer_profile *layer; /* NULL: a model is profiled */
};
extern const struct sl__record sl__table_profiles;

/* Operators over sizes, likewise. */
struct sl__microbench_document {
	const struct sl_microbench *const *list;
	size_t n; /* at least 1 */
};
extern const struct sl__record sl__table_microbench;

/* elapsed_ms, stopped_by, seed: how a measurement ended. */
#define SL__F_ENDING(s)                                                    \
	SL__F(NUMBER, s, elapsed_s, "elapsed_ms",                          \
	      "time that measuring took, set-up included", .factor = 1e3), \
		SL__F(WORD, s, stopped_by, "stopped_by", "why it ended",   \
		      .words = &sl__words_stop),                           \
		SL__F(WHOLE, s, seed, "seed",                              \
		      "of everything random: the order of runs, the "      \
		      "bootstrap")

#endif
