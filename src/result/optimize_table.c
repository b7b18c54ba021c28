/* SPDX-License-Identifier: Apache-2.0 */
/* optimize_table.c - fields of what changes of a model are worth. */
#include "result/tables.h"
#include "result/words.h"
#include "sleuth/optimizing.h"

#include <math.h>

#include "base/banned.h"

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_optimization, name, "name", "of the model"),
	SL__F(TEXT, sl_optimization, source, "source", "path, or zoo"),
};
static SL__RECORD(model, "model", sl_optimization, model_fields, 0);

static const struct sl__field sensitivity_fields[] = {
	SL__F(TEXT, sl_layer_sensitivity, layer, "layer", "name of the node"),
	SL__F(TEXT, sl_layer_sensitivity, type, "type", "its operator"),
	SL__F(NUMBER, sl_layer_sensitivity, output_error, "output_error",
	      "RMS difference of the first output when this layer alone is in "
	      "8 bits, over the RMS of the output"),
	SL__F(BOOLEAN, sl_layer_sensitivity, is_kept, "kept",
	      "it stays in f32, so that accuracy does"),
};
static SL__RECORD(sensitivity, "variants.changes.sensitivities",
		  sl_layer_sensitivity, sensitivity_fields, 0);

SL__WHY(no_limit, sl_variant_change, c,
	c->n_sensitivities ? NULL : "no limit on accuracy was given")

static const struct sl__field change_fields[] = {
	SL__F(TEXT, sl_variant_change, name, "name", "as asked for"),
	SL__F(TEXT, sl_variant_change, text, "text", "what it did"),
	SL__F(WHOLE, sl_variant_change, n_layers, "layers",
	      "that it changed; 0: only how the model is run"),
	SL__F(WHOLE, sl_variant_change, weights_before_bytes,
	      "weights_before_bytes", "of all weights"),
	SL__F(WHOLE, sl_variant_change, weights_after_bytes,
	      "weights_after_bytes", "of all weights"),
	SL__F(NUMBER, sl_variant_change, drop_of_all, "drop_of_all",
	      "share of accuracy, or of agreement, that all layers in 8 bits "
	      "lose, on the samples that layers are chosen by",
	      .why = no_limit),
	SL__F(NUMBER, sl_variant_change, drop, "drop",
	      "that those lose which were chosen", .why = no_limit),
	SL__F_LIST(LIST, sl_variant_change, sensitivities, n_sensitivities,
		   "sensitivities", "of layers in 8 bits, the largest first",
		   .of = &sensitivity, .is_flat = 1),
};
static SL__RECORD(change, "variants.changes", sl_variant_change, change_fields,
		  0);

SL__WHY(not_timed, sl_variant_result, v,
	v->time_ns.n ? NULL
	: v->refused ? v->refused
		     : "not measured")
SL__WHY(no_ratio, sl_variant_result, v,
	v->ratio.n     ? NULL
	: v->time_ns.n ? "the baseline itself"
	: v->refused   ? v->refused
		       : "not measured")
SL__WHY(no_accuracy, sl_variant_result, v,
	v->accuracy.n        ? NULL
	: v->accuracy_absent ? v->accuracy_absent
	: v->refused         ? v->refused
			     : "not measured")
SL__WHY(no_difference, sl_variant_result, v,
	v->difference.value.n ? NULL : "no labels, or the baseline itself")
SL__WHY(no_promise, sl_variant_result, v,
	!(v->promised > 0) ? "nothing was promised"
	: v->ratio.n       ? NULL
			   : "not measured")
SL__WHY(no_size, sl_variant_result, v, v->size_bytes ? NULL : v->refused)

static const struct sl__field variant_fields[] = {
	SL__F(TEXT, sl_variant_result, name, "name",
	      "its changes; of the first, baseline"),
	SL__F_LIST(LIST, sl_variant_result, changes, n_changes, "changes",
		   "what each did, in order", .of = &change, .is_flat = 1),
	SL__F(TEXT, sl_variant_result, refused, "refused",
	      "why it could not be made or run", .is_left_out = 1),
	SL__F(WORD, sl_variant_result, reason, "reason",
	      "why it was measured: asked for; usual, as the model allows it; "
	      "verdict: it acts on what bounds the model; advice of a profile",
	      .words = &sl__words_variant_reason),
	SL__F(NUMBER, sl_variant_result, promised, "promised_speedup",
	      "the most that the profile of the model says it gains",
	      .absent = "nothing was promised"),
	SL__F(BOOLEAN, sl_variant_result, is_promise_broken, "promise_broken",
	      "all of the interval is beyond that", .why = no_promise),
	SL__F_TIME(sl_variant_result, time_ns, "median", "of an iteration",
		   not_timed),
	SL__F(SIGNED, sl_variant_result, batch, "batch", "batch size",
	      .why = not_timed),
	SL__F(NUMBER, sl_variant_result, ratio.value, "time_ratio",
	      "to the baseline's, per sample", .why = no_ratio),
	SL__F(INTERVAL, sl_variant_result, ratio, "ci95",
	      "its 95 % interval, always valid", .why = no_ratio),
	SL__F(WHOLE, sl_variant_result, ratio.n, "rounds", "behind it",
	      .why = no_ratio),
	SL__F(WHOLE, sl_variant_result, memory_bytes, "memory_bytes",
	      "activations and weights, as planned", .why = not_timed),
	SL__F(WHOLE, sl_variant_result, size_bytes, "size_bytes",
	      "of the model as an ONNX file, with its weights", .why = no_size),
	SL__F(WHOLE, sl_variant_result, executed_flops, "executed_flops",
	      "of an iteration", .why = not_timed),
	SL__F(NUMBER, sl_variant_result, accuracy.value, "accuracy",
	      "share that is right, or that agrees with the baseline",
	      .why = no_accuracy),
	SL__F(INTERVAL, sl_variant_result, accuracy, "accuracy_ci95",
	      "its 95 % interval", .why = no_accuracy),
	SL__F(WHOLE, sl_variant_result, accuracy.n, "accuracy_n",
	      "samples behind it", .why = no_accuracy),
	SL__F(WORD, sl_variant_result, accuracy_kind, "accuracy_kind",
	      "what is right: a class, whole sequences, tokens; agreement: "
	      "there are no labels",
	      .words = &sl__words_accuracy_kind, .why = no_accuracy),
	SL__F(TEXT, sl_variant_result, accuracy_absent, "accuracy_refused",
	      "why it could not be judged", .is_left_out = 1),
	SL__F(NUMBER, sl_variant_result, difference.value.value,
	      "accuracy_delta", "less the baseline's, over the same samples",
	      .why = no_difference),
	SL__F(INTERVAL, sl_variant_result, difference.value,
	      "accuracy_delta_ci95", "its 95 % interval", .why = no_difference),
	SL__F(WHOLE, sl_variant_result, difference.value.n, "accuracy_delta_n",
	      "samples behind it", .why = no_difference),
	SL__F(WHOLE, sl_variant_result, difference.n_gained, "gained",
	      "samples that it is more right about than the baseline",
	      .why = no_difference),
	SL__F(WHOLE, sl_variant_result, difference.n_lost, "lost",
	      "samples that it is less right about", .why = no_difference),
	SL__F(NUMBER, sl_variant_result, difference.log_e, "accuracy_log_e",
	      "ln of the e-value against as many gained as lost",
	      .why = no_difference),
	SL__F(WORD, sl_variant_result, difference.change, "accuracy_verdict",
	      "lower, higher, or no difference that is proved",
	      .words = &sl__words_accuracy_change, .why = no_difference),
	SL__F(NUMBER, sl_variant_result, output_error, "output_error",
	      "RMS difference of the first output from the baseline's, over "
	      "the RMS of that",
	      .absent = "not compared"),
	SL__F(WORD, sl_variant_result, verdict, "verdict",
	      "of time against the baseline", .words = &sl__words_verdict,
	      .why = no_ratio),
	SL__F(NUMBER, sl_variant_result, most_speedup, "most_speedup",
	      "that operations, peaks and bytes explain",
	      .absent = "no peaks are known, or another number of threads"),
	SL__F(BOOLEAN, sl_variant_result, is_implausible, "implausible",
	      "faster than the machine allows"),
	SL__F(BOOLEAN, sl_variant_result, is_pareto, "pareto",
	      "no other is as good in time, memory, size and accuracy and "
	      "better in one"),
	SL__F(BOOLEAN, sl_variant_result, is_within, "within_limits",
	      "all limits that were given"),
	SL__F(BOOLEAN, sl_variant_result, is_accurate, "accurate",
	      "it loses no more than it may"),
	SL__F(TEXT, sl_variant_result, file, "file", "that it was written to",
	      .absent = "not written"),
};

/* What a refused variant has none of. */
static void
settle_variant(void *record)
{
	struct sl_variant_result *v = record;

	v->time_ns.method = SL_METHOD_ORDER;
	v->ratio.method = SL_METHOD_SIGN;
	if (!v->difference.value.n)
		v->difference.log_e = (double)NAN;
}

static SL__RECORD(variant, "variants", sl_variant_result, variant_fields,
		  .settle = settle_variant);

SL__WHY(not_judged, sl_optimization, o,
	o->is_applied                ? "not measured"
	: o->recommended != SIZE_MAX ? NULL
				     : "no variant is within the limits")
SL__MAKE(make_recommended, sl_optimization, o, TEXT, text,
	 o->recommended < o->n_variants ? o->variants[o->recommended].name : "")

SL__WHY(not_profiled, sl_optimization, o,
	o->bottleneck == SL_BOTTLENECK_NOT_ASKED ? "variants were named" : NULL)

static const struct sl__field optimization_fields[] = {
	SL__F_GROUP(&model, "model", "that was changed"),
	SL__F(TEXT, sl_optimization, data, "data", "the data set",
	      .absent = "synthetic inputs"),
	SL__F(WORD, sl_optimization, bottleneck, "verdict",
	      "what bounds the model as it is, by the profile that chose what "
	      "to try",
	      .words = &sl__words_bottleneck, .why = not_profiled),
	SL__F(WORD, sl_optimization, cause, "cause", "that makes most of it",
	      .words = &sl__words_bound, .why = not_profiled),
	SL__F(NUMBER, sl_optimization, confidence, "confidence", "of that",
	      .why = not_profiled),
	SL__F_LIST(TEXTS, sl_optimization, left_out, n_left_out, "left_out",
		   "changes that were not tried, since they act on something "
		   "else"),
	SL__F(BOOLEAN, sl_optimization, is_applied, "applied",
	      "changes were applied and nothing was measured"),
	SL__F(WORD, sl_optimization, objective, "objective",
	      "what the recommended variant is the best in",
	      .words = &sl__words_objective),
	SL__F(NUMBER_BY_WORD, sl_optimization, limits.of, "limits",
	      "nanoseconds of an iteration and bytes at most, accuracy at "
	      "least; 0: none",
	      .words = &sl__words_objective),
	SL__F(NUMBER, sl_optimization, accuracy_drop, "accuracy_drop",
	      "that the recommended variant may have"),
	SL__F_LIST(LIST, sl_optimization, variants, n_variants, "variants",
		   "the model as it is, then changed", .of = &variant),
	SL__F_MADE(make_recommended, "recommended", "its name",
		   .why = not_judged),
	SL__F(INDEX, sl_optimization, recommended, "recommended_index",
	      "its place in the list", .absent = "none"),
	SL__F(INDEX, sl_optimization, closest, "closest_index",
	      "the place of the one that came closest to the limits",
	      .absent = "not asked for, or they are met"),
	SL__F(WHOLE, sl_optimization, n_rounds, "rounds", "that count"),
	SL__F(OBJECT, sl_optimization, noise, "noise",
	      "what else happened meanwhile", .of = &sl__table_noise),
	SL__F_ENDING(sl_optimization),
};
SL__RECORD(sl__table_optimization, "optimization", sl_optimization,
	   optimization_fields, 0);
