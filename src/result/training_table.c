/* SPDX-License-Identifier: Apache-2.0 */
/* training_table.c - fields of a training step that was profiled. */
#include "result/profile_tables.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define MS .unit = SL__NS_PER_MS

static const struct sl__field phase_fields[] = {
	SL__F(WORD, sl_training_phase, phase, "name", "of the phase",
	      .words = &sl__words_step_phase),
	SL__F(NUMBER, sl_training_phase, ns.value, "ms",
	      "median over the steps that were kept", MS),
	SL__F(INTERVAL, sl_training_phase, ns, "ci95_ms", "its 95 % interval",
	      MS),
	SL__F(WHOLE, sl_training_phase, ns.n, "n", "steps behind it"),
	SL__F(NUMBER, sl_training_phase, share, "share",
	      "of the self time of all operations"),
	SL__F(WHOLE, sl_training_phase, n_operations, "operations", "in it"),
	SL__F(WHOLE, sl_training_phase, core_flops, "flops",
	      "2 x multiply-adds of convolutions and matmuls"),
	SL__F(WHOLE, sl_training_phase, n_bytes, "bytes",
	      "of operands, each once"),
	SL__F(READING, sl_training_phase, memory_bytes, "memory_bytes",
	      "most that is live in it"),
};
static SL__RECORD(phase, "training.phases", sl_training_phase, phase_fields, 0);

/* NaN where there is nothing to compare with. */
static double
ratio(double a, double b)
{
	return b > 0 ? a / b : (double)NAN;
}

SL__MAKE(make_layer_flops_ratio, sl_training_layer, l, NUMBER, number,
	 ratio((double)l->backward_flops, (double)l->forward_flops))

static const struct sl__field layer_fields[] = {
	SL__F(TEXT, sl_training_layer, name, "name",
	      "of the operation in the forward pass"),
	SL__F(TEXT, sl_training_layer, type, "type", "of operator"),
	SL__F(NUMBER, sl_training_layer, forward_ns, "forward_ms",
	      "mean in a step, as are the next three", MS),
	SL__F(NUMBER, sl_training_layer, backward_input_ns, "backward_input_ms",
	      "gradients of its inputs, and those computed together with them",
	      MS),
	SL__F(NUMBER, sl_training_layer, backward_weight_ns,
	      "backward_weight_ms", "gradients of its parameters", MS),
	SL__F(NUMBER, sl_training_layer, update_ns, "update_ms",
	      "of its parameters", MS),
	SL__F(NUMBER, sl_training_layer, recompute_ns, "recompute_ms",
	      "its activations again, for the backward pass", MS),
	SL__F(NUMBER, sl_training_layer, backward_to_forward,
	      "backward_to_forward",
	      "times, both parts of the backward pass together",
	      .absent = "no time in the forward pass"),
	SL__F(WHOLE, sl_training_layer, forward_flops, "forward_flops",
	      "2 x multiply-adds of convolutions and matmuls"),
	SL__F(WHOLE, sl_training_layer, backward_flops, "backward_flops",
	      "likewise"),
	SL__F_MADE(make_layer_flops_ratio, "backward_to_forward_flops",
		   "their ratio", .absent = "no FLOPs in the forward pass"),
};
static SL__RECORD(layer, "training.layers", sl_training_layer, layer_fields, 0);

static const struct sl_training_phase *
phase_of(const struct sl_training_profile *t, enum sl_phase wanted)
{
	static const struct sl_training_phase none;

	for (size_t k = 0; k < t->n_phases; k++) {
		if (t->phases[k].phase == wanted)
			return &t->phases[k];
	}
	return &none;
}

SL__MAKE(make_forward_flops, sl_training_profile, t, WHOLE, whole,
	 phase_of(t, SL_PHASE_FORWARD)->core_flops)
SL__MAKE(make_backward_flops, sl_training_profile, t, WHOLE, whole,
	 phase_of(t, SL_PHASE_BACKWARD)->core_flops)
SL__MAKE(make_total_flops, sl_training_profile, t, WHOLE, whole,
	 phase_of(t, SL_PHASE_FORWARD)->core_flops +
		 phase_of(t, SL_PHASE_BACKWARD)->core_flops)
SL__MAKE(make_recompute_flops, sl_training_profile, t, WHOLE, whole,
	 phase_of(t, SL_PHASE_RECOMPUTE)->core_flops)
SL__MAKE(make_price, sl_training_profile, t, NUMBER, number,
	 (1 - t->keeping_ratio.value) * (t->step_ns / SL__NS_PER_MS))
SL__WHY(not_compared, sl_training_profile, t,
	t->n_segments < 2     ? "no segments are computed again"
	: !t->keeping_ratio.n ? "there was no time to compare"
			      : NULL)
SL__WHY(not_again, sl_training_profile, t,
	t->n_segments < 2 ? "no segments are computed again" : NULL)
SL__MAKE(make_flops_ratio, sl_training_profile, t, NUMBER, number,
	 ratio((double)phase_of(t, SL_PHASE_BACKWARD)->core_flops,
	       (double)phase_of(t, SL_PHASE_FORWARD)->core_flops))

/* From the milliseconds that are written, which are read back to the bit. */
SL__MAKE(make_rate, sl_training_profile, t, NUMBER, number,
	 ratio(1e-6 * (double)(phase_of(t, SL_PHASE_FORWARD)->core_flops +
			       phase_of(t, SL_PHASE_BACKWARD)->core_flops),
	       t->step_ns / SL__NS_PER_MS))
SL__MAKE(make_total_memory, sl_training_profile, t, WHOLE, whole,
	 t->parameters_bytes + t->kept_bytes + t->gradients_bytes +
		 t->optimizer_bytes[t->optimizer])

static const struct sl__field augmentation_fields[] = {
	SL__F(WHOLE, sl_augmentation, shift, "shift",
	      "pixels each way, at most"),
	SL__F(BOOLEAN, sl_augmentation, flip, "flip", "half are mirrored"),
	SL__F(NUMBER, sl_augmentation, noise, "noise",
	      "standard deviation of what is added"),
};
static SL__RECORD(augmentation, "training.augmentation", sl_augmentation,
		  augmentation_fields, 0);

SL__MAKE(make_speedup, sl_feed_comparison, c, NUMBER, number,
	 ratio(1, c->ratio.value))

static const struct sl__field comparison_fields[] = {
	SL__F(WORD, sl_feed_comparison, feed, "fed_from", "what B is",
	      .words = &sl__words_feed),
	SL__F(WHOLE, sl_feed_comparison, n_prefetch, "prefetch_threads",
	      "of B"),
	SL__F(NUMBER, sl_feed_comparison, ratio.value, "ratio",
	      "time of a step, B / A, median over rounds"),
	SL__F(INTERVAL, sl_feed_comparison, ratio, "ci95", "its 95 % interval"),
	SL__F_MADE(make_speedup, "speedup", "1 / ratio", .absent = "no time"),
	SL__F(WORD, sl_feed_comparison, verdict, "verdict",
	      "B against A, with a margin of 1 %", .words = &sl__words_verdict),
	SL__F(WHOLE, sl_feed_comparison, ratio.n, "rounds", "of random order"),
};
static SL__RECORD(comparison, "training.comparisons", sl_feed_comparison,
		  comparison_fields, 0);

static const struct sl__field training_fields[] = {
	SL__F(WORD, sl_training_profile, loss, "loss", "that is minimised",
	      .words = &sl__words_loss),
	SL__F(WORD, sl_training_profile, optimizer, "optimizer",
	      "that updates the parameters", .words = &sl__words_optimizer),
	SL__F(WHOLE, sl_training_profile, n_micro_batches, "micro_batches",
	      "of a step, whose gradients are averaged before the update; "
	      "model.batch is that of one"),
	SL__F(BOOLEAN, sl_training_profile, has_synthetic_target,
	      "synthetic_target",
	      "no target was given: the loss says nothing of the model"),
	SL__F(NUMBER, sl_training_profile, last_loss, "last_loss",
	      "of the last step that ran",
	      .absent = "infinite, or that step was interrupted"),
	SL__F(TEXT, sl_training_profile, data, "data",
	      "set that steps are fed from",
	      .absent = "every step has the same inputs"),
	SL__F(WHOLE, sl_training_profile, n_prefetch, "prefetch_threads",
	      "that make batches ahead"),
	SL__F(OBJECT, sl_training_profile, augmentation, "augmentation",
	      "of the samples", .of = &augmentation),
	SL__F_LIST(LIST, sl_training_profile, comparisons, n_comparisons,
		   "comparisons",
		   "of steps fed in another way (B) with those fed as they are "
		   "(A)",
		   .of = &comparison),
	SL__F_LIST(FACTS, sl_training_profile, findings, n_findings, "findings",
		   "what stands out in a step"),
	SL__F_LIST(LIST, sl_training_profile, phases, n_phases, "phases",
		   "in the order they run", .of = &phase),
	SL__F_LIST(LIST, sl_training_profile, layers, n_layers, "layers",
		   "in the order they run", .of = &layer, .is_flat = 1),
	SL__F(NUMBER, sl_training_profile, other_ns, "other_ms",
	      "of operations that belong to no layer: the loss, reorders", MS),
	SL__F_MADE(make_forward_flops, "forward_flops",
		   "2 x multiply-adds of convolutions and matmuls"),
	SL__F_MADE(make_backward_flops, "backward_flops", "likewise"),
	SL__F_MADE(make_total_flops, "total_flops", "their sum"),
	SL__F_MADE(make_recompute_flops, "recompute_flops",
		   "what is computed again, in neither"),
	SL__F(WHOLE, sl_training_profile, n_segments, "segments",
	      "of the forward pass, computed again but for the last"),
	SL__F(WHOLE, sl_training_profile, keeping_live_bytes,
	      "keeping_live_bytes",
	      "memory.live_bytes of a step that keeps all activations",
	      .why = not_again),
	SL__F(NUMBER, sl_training_profile, keeping_ratio.value, "keeping_ratio",
	      "time of a step that keeps all activations / of this one, median "
	      "over rounds",
	      .why = not_compared),
	SL__F(INTERVAL, sl_training_profile, keeping_ratio, "keeping_ci95",
	      "its 95 % interval"),
	SL__F(WHOLE, sl_training_profile, keeping_ratio.n, "keeping_rounds",
	      "of random order"),
	SL__F_MADE(make_price, "recompute_price_ms",
		   "(1 - keeping_ratio) x total_ms", .why = not_compared),
	SL__F(NUMBER, sl_training_profile, backward_to_forward,
	      "backward_to_forward", "times of the phases",
	      .absent = "no time in the forward pass"),
	SL__F(NUMBER, sl_training_profile, step_ns, "total_ms",
	      "median of the whole step", MS),
	SL__F(NUMBER, sl_training_profile, samples_per_s, "samples_per_s",
	      "at the median", .absent = "the batch is not known"),
	SL__F_MADE(make_rate, "total_gflops_per_s", "total_flops at the median",
		   .absent = "no time"),
	SL__F_MADE(make_flops_ratio, "backward_to_forward_flops",
		   "the same of FLOPs",
		   .absent = "no FLOPs in the forward pass"),
	SL__F(WHOLE, sl_training_profile, parameters_bytes, "parameters_bytes",
	      "that are trained"),
	SL__F(WHOLE, sl_training_profile, kept_bytes, "activations_bytes",
	      "alive between forward and backward pass, in the plan"),
	SL__F(WHOLE, sl_training_profile, gradients_bytes, "gradients_bytes",
	      "of all parameters"),
	SL__F(BY_WORD, sl_training_profile, optimizer_bytes, "optimizer_bytes",
	      "moments, by optimizer: what runs has them, the others would",
	      .words = &sl__words_trained),
	SL__F_MADE(make_total_memory, "total_memory_bytes",
		   "parameters, activations, gradients and moments of the "
		   "optimizer that runs"),
};
SL__RECORD(sl__table_training_profile, "profile.training", sl_training_profile,
	   training_fields, 0);
