/* SPDX-License-Identifier: Apache-2.0 */
/* run_table.c - fields of one run of a model. */
#include "result/tables.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define MS         .unit = SL__NS_PER_MS
#define NO_NUMBERS .absent = "no numbers"

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_run, name, "name", "of the model"),
	SL__F(TEXT, sl_run, source, "source", "path, or zoo"),
};
static SL__RECORD(model, "model", sl_run, model_fields, 0);

static const struct sl__field step_fields[] = {
	SL__F(TEXT, sl_step, name, "name", "of the node that does its work"),
	SL__F(TEXT, sl_step, type, "type", "of operator"),
	SL__F(WORD, sl_step, path, "path", "whose kernel it runs on",
	      .words = &sl__words_path),
	SL__F(TEXT, sl_step, kernel, "kernel", "as its library names it"),
	SL__F_LIST(WHOLES, sl_step, covers, n_covers, "covers",
		   "nodes of the model that it does"),
	SL__F(WHOLE, sl_step, core_flops, "flops",
	      "2 x multiply-adds of convolutions and matmuls"),
	SL__F(WHOLE, sl_step, nominal_flops, "nominal_flops",
	      "all arithmetic that the model asks for"),
	SL__F(WHOLE, sl_step, executed_flops, "executed_flops",
	      "what the kernel does"),
	SL__F(WHOLE, sl_step, n_bytes, "bytes", "of its operands, each once"),
};
static SL__RECORD(step, "plan.steps", sl_step, step_fields, 0);

static const struct sl__field plan_fields[] = {
	SL__F(WORD, sl_run, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_run, n_threads, "threads", "that it runs on"),
	SL__F(TEXT, sl_run, choices, "choices",
	      "a hash of what computes each step: equal ones, equal "
	      "algorithms",
	      .is_left_out = 1),
	SL__F(NUMBER, sl_run, plan_ns, "plan_ms", "making the plan, once", MS),
	SL__F(NUMBER, sl_run, run_ns, "run_ms", "the first run, once", MS),
	SL__F(WHOLE, sl_run, n_reference, "reference_steps",
	      "steps on plain loops"),
	SL__F_LIST(LIST, sl_run, steps, n_steps, "steps",
		   "in the order they run", .of = &step),
};
static SL__RECORD(plan, "plan", sl_run, plan_fields, 0);

static const struct sl__field memory_fields[] = {
	SL__F(WHOLE, sl_plan_memory, live_bytes, "live_bytes",
	      "most that is needed at one step"),
	SL__F(WHOLE, sl_plan_memory, planned_bytes, "planned_bytes",
	      "the block in which activations lie"),
	SL__F(WHOLE, sl_plan_memory, weight_bytes, "packed_bytes",
	      "weights that were packed or made"),
	SL__F(WHOLE, sl_plan_memory, mapped_bytes, "mapped_bytes",
	      "weights used where the file has them"),
};
SL__RECORD(sl__table_plan_memory, "memory", sl_plan_memory, memory_fields, 0);

SL__WHY(no_mean, sl_run_output, o,
	isnan(o->mean) && !isnan(o->min) ? "infinite and -infinite" : NULL)

static const struct sl__field output_fields[] = {
	SL__F(TEXT, sl_run_output, name, "name", "of the output"),
	SL__F(WORD, sl_run_output, dtype, "dtype", "of its elements",
	      .words = &sl__words_dtype),
	SL__F_LIST(SIGNEDS, sl_run_output, dims, rank, "shape", "its sizes"),
	SL__F(WHOLE, sl_run_output, n_elements, "elements",
	      "or items of a sequence"),
	SL__F(EXTENDED, sl_run_output, min, "min", "the smallest", NO_NUMBERS),
	SL__F(EXTENDED, sl_run_output, max, "max", "the largest", NO_NUMBERS),
	SL__F(EXTENDED, sl_run_output, mean, "mean", "the mean", NO_NUMBERS,
	      .why = no_mean),
	SL__F(WHOLE, sl_run_output, n_nan, "nan",
	      "elements that are NaN, which the three above leave out"),
};
static SL__RECORD(output, "outputs", sl_run_output, output_fields, 0);

SL__WHY(not_compared, sl_run_output, o,
	o->rule == SL_CHECK_NONE ? o->why : NULL)

static const struct sl__field check_output_fields[] = {
	SL__F(TEXT, sl_run_output, name, "name", "of the output"),
	SL__F(WORD, sl_run_output, rule, "rule", "how it is compared",
	      .words = &sl__words_check_rule),
	SL__F(EXTENDED, sl_run_output, error, "error", "in the rule's unit",
	      NO_NUMBERS, .why = not_compared),
	SL__F(NUMBER, sl_run_output, limit, "limit", "that it may reach",
	      .why = not_compared),
	SL__F(EXTENDED, sl_run_output, largest_error, "largest_error",
	      "absolute", NO_NUMBERS, .why = not_compared),
	SL__F(WHOLE, sl_run_output, worst, "worst_element",
	      "element with the largest error", .why = not_compared),
	SL__F(BOOLEAN, sl_run_output, is_ok, "ok", "within the limit"),
	SL__F(TEXT, sl_run_output, why, "why",
	      "it cannot be compared, or differs though the error is below "
	      "the limit",
	      .is_left_out = 1),
};
static SL__RECORD(check_output, "check.outputs", sl_run_output,
		  check_output_fields, 0);

SL__WHY(by_the_model, sl_run, r, r->tolerance > 0 ? NULL : "by the model")

static const struct sl__field check_fields[] = {
	SL__F(BOOLEAN, sl_run, is_ok, "ok", "all outputs agree"),
	SL__F(NUMBER, sl_run, tolerance, "tolerance", "that was asked for",
	      .why = by_the_model),
	SL__F_LIST(LIST, sl_run, outputs, n_outputs, "outputs",
		   "one for each output", .of = &check_output),
};

/* It is there only where outputs were compared. */
static void
settle_check(void *record)
{
	struct sl_run *r = record;

	r->is_checked = 1;
}

static SL__RECORD(check, "check", sl_run, check_fields, .settle = settle_check);

SL__WHY(all_given, sl_run, r, r->seed ? NULL : "all inputs were given")
SL__WHY(not_checked, sl_run, r, r->is_checked ? NULL : "nothing was compared")

static const struct sl__field run_fields[] = {
	SL__F_GROUP(&model, "model", "that was run"),
	SL__F(WHOLE, sl_run, seed, "seed", "of synthetic inputs",
	      .why = all_given),
	SL__F_GROUP(&plan, "plan", "how it was run"),
	SL__F(OBJECT, sl_run, memory, "memory", "of the plan",
	      .of = &sl__table_plan_memory),
	SL__F_LIST(LIST, sl_run, outputs, n_outputs, "outputs", "what came out",
		   .of = &output),
	SL__F_GROUP(&check, "check", "outputs against their references",
		    .why = not_checked, .is_left_out = 1),
};
SL__RECORD(sl__table_run, "run", sl_run, run_fields, 0);
