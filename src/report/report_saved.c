/* SPDX-License-Identifier: Apache-2.0 */
/* report_saved.c - a saved result, rendered by what renders its kind. */
#include "report/render.h"
#include "result/function_profile.h"
#include "result/saved_result.h"
#include "result/tables.h"
#include "sleuth/comparing.h"
#include "sleuth/gating.h"
#include "sleuth/generating.h"
#include "sleuth/overheads.h"
#include "sleuth/storing.h"
#include "sleuth/suites.h"
#include "sleuth/sweeping.h"
#include "sleuth/training_runs.h"
#include "sleuth/evaluating.h"
#include "sleuth/loading.h"
#include "sleuth/optimizing.h"

#include "base/banned.h"

/* A function of one struct as one of any record. */
#define RENDER(id, type, function)                                         \
	static enum sl_status id(const void *record,                       \
				 const struct sl_render_options *how,      \
				 struct sl_buf *out, struct sl_error *err) \
	{                                                                  \
		const struct type *result = record;                        \
                                                                           \
		return function(result, how, out, err);                    \
	}

RENDER(bench, sl_bench, sl_bench_render)
RENDER(comparisons, sl_comparisons, sl_comparisons_render)
RENDER(function, sl__function_profile, sl__function_profile_render)
RENDER(evaluation, sl_evaluation, sl_evaluation_render)
RENDER(fit, sl_fit, sl_fit_render)
RENDER(generation, sl_generation, sl_generation_render)
RENDER(load, sl_load, sl_load_render)
RENDER(machine, sl_machine, sl_machine_render)
RENDER(measurement, sl_measurement, sl_measurement_render)
RENDER(memory, sl_memory, sl_memory_render)
RENDER(optimization, sl_optimization, sl_optimization_render)
RENDER(overhead, sl_overhead_study, sl_overhead_study_render)
RENDER(run, sl_run, sl_run_render)
RENDER(scopes, sl_scopes, sl_scopes_render)
RENDER(selfcheck, sl_selfcheck, sl_selfcheck_render)
RENDER(sweep, sl_sweep, sl_sweep_render)
RENDER(model_comparison, sl_model_comparison, sl_model_comparison_render)
RENDER(gate, sl_gate_check, sl_gate_check_render)
RENDER(history, sl_history, sl_history_render)
RENDER(stored_runs, sl_stored_runs, sl_stored_runs_render)
RENDER(suite, sl_suite, sl_suite_render)
RENDER(train, sl_train_result, sl_train_render)
RENDER(zoo, sl_zoo_list, sl_zoo_render)

static enum sl_status
inspections(const void *record, const struct sl_render_options *how,
	    struct sl_buf *out, struct sl_error *err)
{
	const struct sl__inspections_document *i = record;

	return sl_inspection_render(i->list, i->n, NULL, how, out, err);
}

static enum sl_status
profiles(const void *record, const struct sl_render_options *how,
	 struct sl_buf *out, struct sl_error *err)
{
	const struct sl__profiles_document *p = record;
	const struct sl_profile_view view = {.struct_size = sizeof(view),
					     .layer = p->layer};

	return sl_profile_render(p->list, p->n, &view, how, out, err);
}

static enum sl_status
microbenches(const void *record, const struct sl_render_options *how,
	     struct sl_buf *out, struct sl_error *err)
{
	const struct sl__microbench_document *m = record;

	return sl_microbench_render(m->list, m->n, how, out, err);
}

static const struct {
	const struct sl__record *table;
	enum sl_status (*render)(const void *record,
				 const struct sl_render_options *how,
				 struct sl_buf *out, struct sl_error *err);
} kinds[] = {
	{&sl__table_bench, bench},
	{&sl__table_comparisons, comparisons},
	{&sl__table_function, function},
	{&sl__table_evaluation, evaluation},
	{&sl__table_optimization, optimization},
	{&sl__table_fit, fit},
	{&sl__table_generation, generation},
	{&sl__table_inspections, inspections},
	{&sl__table_load, load},
	{&sl__table_machine_document, machine},
	{&sl__table_measurement, measurement},
	{&sl__table_memory, memory},
	{&sl__table_microbench, microbenches},
	{&sl__table_overhead, overhead},
	{&sl__table_profiles, profiles},
	{&sl__table_run, run},
	{&sl__table_scopes, scopes},
	{&sl__table_selfcheck, selfcheck},
	{&sl__table_sweep, sweep},
	{&sl__table_model_comparison, model_comparison},
	{&sl__table_gate, gate},
	{&sl__table_history, history},
	{&sl__table_stored_runs, stored_runs},
	{&sl__table_suite, suite},
	{&sl__table_train, train},
	{&sl__table_zoo, zoo},
};

enum sl_status
sl_result_render(const struct sl_result *result,
		 const struct sl_render_options *how, struct sl_buf *out,
		 struct sl_error *err)
{
	struct sl_render_options mine;
	enum sl_status rc = sl__render_options_copy(&mine, how, err);

	if (rc)
		return rc;
	mine.command = result->head.command;
	mine.version = result->head.version;
	mine.command_line = result->head.command_line;
	mine.host = result->head.host;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].table == result->table)
			return kinds[i].render(result->record, &mine, out, err);
	}
	return sl__render_refuse_format(err, result->table->name);
}
