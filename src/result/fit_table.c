/* SPDX-License-Identifier: Apache-2.0 */
/* fit_table.c - fields of the largest size that fits. */
#include "result/tables.h"
#include "result/words.h"

#include "base/banned.h"

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_fit, name, "name", "of the model"),
	SL__F(TEXT, sl_fit, source, "source", "path, or zoo"),
	SL__F(TEXT, sl_fit, sizes, "sizes", "all of them, at 'size'"),
};
static SL__RECORD(model, "model", sl_fit, model_fields, 0);

SL__WHY(no_failure, sl_fit_verified, v, v->why)
SL__WHY(none_ran, sl_fit_verified, v, v->runs_at ? NULL : "no size ran")
SL__MAKE(make_as_predicted, sl_fit_verified, v, BOOLEAN, whole, !v->difference)

static const struct sl__field verified_fields[] = {
	SL__F(SIGNED, sl_fit_verified, runs_at, "runs_at",
	      "the largest size at which the model ran; 0: none"),
	SL__F(SIGNED, sl_fit_verified, fails_at, "fails_at",
	      "the next larger one, out of memory", .absent = "",
	      .because = no_failure),
	SL__F(LETTERS, sl_fit_verified, why, "why", "it failed there"),
	SL__F(NUMBER, sl_fit_verified, used_bytes, "used_bytes",
	      "of the memory, at runs_at", .why = none_ran),
	SL__F(NUMBER, sl_fit_verified, weights_bytes, "weights_bytes",
	      "of these, weights made or mapped", .absent = "no size ran"),
	SL__F(NUMBER, sl_fit_verified, block_bytes, "block_bytes",
	      "of these, all activations, gradients among them",
	      .absent = "no size ran"),
	SL__F(NUMBER, sl_fit_verified, optimizer_bytes, "optimizer_bytes",
	      "of these, what the optimizer keeps", .absent = "no size ran"),
	SL__F(SIGNED, sl_fit_verified, planned_at, "planned_at",
	      "the largest size that could be planned"),
	SL__F_MADE(make_as_predicted, "as_predicted",
		   "runs_at is what was predicted"),
	SL__F(TEXT, sl_fit_verified, difference, "difference", "why it is not",
	      .is_left_out = 1),
	SL__F(WHOLE, sl_fit_verified, n_trials, "trials", "processes"),
};
static SL__RECORD(verified, "fit.verified", sl_fit_verified, verified_fields,
		  0);

static int64_t
answer_of(const struct sl_fit *f)
{
	return f->verified.n_trials ? f->verified.runs_at : f->largest;
}

SL__MAKE(make_largest, sl_fit, f, WHOLE, whole, (uint64_t)answer_of(f))
SL__MAKE(make_basis, sl_fit, f, TEXT, text,
	 f->verified.n_trials ? "verified"
	 : f->n_unknown       ? "at most"
			      : "predicted")
SL__MAKE(make_fits, sl_fit, f, BOOLEAN, whole, answer_of(f) > 0)
SL__MAKE(make_fixed, sl_fit, f, BOOLEAN, whole, f->fixed_at > 0)
SL__MAKE(make_activations, sl_fit, f, TEXT, text,
	 f->is_planned  ? "planned"
	 : f->n_unknown ? "at least"
	 : f->optimizer ? "estimated"
			: "counted")
SL__WHY(may_fit, sl_fit, f,
	!f->verified.n_trials && f->largest && f->n_unknown
		? "the size of some values is not known"
		: NULL)
SL__WHY(no_limit, sl_fit, f,
	f->is_cut ? "the search ends there" : "memory ends it")
SL__WHY(no_phase, sl_fit, f,
	!f->optimizer   ? "inference"
	: f->is_planned ? "the plan has one block for all phases"
			: NULL)
SL__WHY(no_gradients, sl_fit, f,
	f->optimizer && f->is_planned ? "they lie among the activations" : NULL)
SL__WHY(no_next, sl_fit, f,
	f->limit        ? "the model takes no more"
	: !f->largest   ? "nothing fits"
	: f->is_planned ? "out of memory while it is planned"
			: "every size looked at fits")
SL__WHY(no_obstacle, sl_fit, f,
	f->verified.n_trials || !*f->verified.why ? "nothing stood in the way"
						  : NULL)
SL__WHY(not_tried, sl_fit, f,
	f->verified.n_trials ? NULL
	: *f->verified.why   ? f->verified.why
			     : "nothing was run")

static const struct sl__field answer_fields[] = {
	SL__F(WORD, sl_fit, axis, "axis", "that grows",
	      .words = &sl__words_growth_axis),
	SL__F_MADE(make_largest, "largest", "that fits; 0: none"),
	SL__F_MADE(make_basis, "largest_basis",
		   "verified where it ran, else predicted, or at most"),
	SL__F(WORD, sl_fit, is_planned, "predicted_from",
	      "plan where the engine planned it, else graph",
	      .words = &sl__words_planned),
	SL__F(TEXT, sl_fit, unplanned, "not_planned",
	      "why it is from the graph", .is_left_out = 1),
	SL__F(WHOLE, sl_fit, n_plans, "plans", "that were made"),
	SL__F(SIGNED, sl_fit, largest, "predicted_largest",
	      "before anything ran"),
	SL__F(SIGNED, sl_fit, graph_largest, "graph_largest",
	      "in an engine that fuses nothing and needs nothing for itself"),
	SL__F(SIGNED, sl_fit, graph_size, "graph_size",
	      "graph_largest, or the smallest"),
	SL__F(NUMBER, sl_fit, graph_bytes, "graph_bytes",
	      "parameters and live set at graph_size"),
	SL__F_MADE(make_fits, "fits", "some size does", .why = may_fit),
	SL__F_MADE(make_fixed, "fixed", "the model takes one size alone"),
	SL__F(SIGNED, sl_fit, fixed_at, "fixed_at", "that size",
	      .absent = "not fixed"),
	SL__F(BOOLEAN, sl_fit, is_unbounded, "unbounded",
	      "memory does not grow along the axis"),
	SL__F(BOOLEAN, sl_fit, is_cut, "search_ended",
	      "larger sizes were not looked at"),
	SL__F(TEXT, sl_fit, limit, "note", "why the model takes no more",
	      .because = no_limit),
	SL__F(WHOLE, sl_fit, n_unknown, "unknown_values",
	      "values whose size is not known"),
	SL__F(SIGNED, sl_fit, size, "size",
	      "that the bytes are for: the largest, or the smallest"),
	SL__F(WORD, sl_fit, optimizer, "optimizer", "none: inference",
	      .words = &sl__words_optimizer),
	SL__F(WORD, sl_fit, phase, "phase", "of training that needs most",
	      .words = &sl__words_phase, .why = no_phase),
	SL__F(NUMBER, sl_fit, memory_bytes, "memory_bytes", "to fit into"),
	SL__F(NUMBER, sl_fit, parameters_bytes, "parameters_bytes",
	      "of a plan: weights as the engine keeps them"),
	SL__F(NUMBER, sl_fit, others_bytes, "others_bytes",
	      "not trained; of a plan: what the engine needs for itself"),
	SL__F(NUMBER, sl_fit, activations_bytes, "activations_bytes",
	      "of a plan: the block that all lie in"),
	SL__F_MADE(make_activations, "activations_basis",
		   "planned, counted, estimated or at least"),
	SL__F(NUMBER, sl_fit, gradients_bytes, "gradients_bytes", "of training",
	      .why = no_gradients),
	SL__F(NUMBER, sl_fit, optimizer_bytes, "optimizer_bytes",
	      "of training"),
	SL__F(NUMBER, sl_fit, total_bytes, "total_bytes", "their sum"),
	SL__F(NUMBER, sl_fit, next_bytes, "next_bytes",
	      "total at the next larger size", .because = no_next),
	{.key = "basis",
	 .kind = SL__FIELD_SAYS,
	 .absent = "predicted",
	 .meaning = "of these bytes"},
	SL__F(OBJECT, sl_fit, verified, "verified",
	      "what processes with so much private memory showed",
	      .of = &verified, .why = not_tried),
	SL__F(LETTERS, sl_fit, verified.why, "not_verified",
	      "why it could not be tried", .why = no_obstacle,
	      .is_left_out = 1),
};
static SL__RECORD(answer, "fit", sl_fit, answer_fields, 0);

static const struct sl__field fit_fields[] = {
	SL__F_GROUP(&model, "model", "that is to fit"),
	SL__F_GROUP(&answer, "fit", "the largest size"),
};
SL__RECORD(sl__table_fit, "fit", sl_fit, fit_fields, 0);
