/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needs_table.c - fields of what a model needs: memory to run and to train it,
 * how that grows, and what its weights are like.
 */
#include "result/inspect_tables.h"
#include "result/record.h"
#include "result/words.h"

#include "base/banned.h"

#define NOT_RUN "nothing was run"

static const struct sl__field alive_fields[] = {
	SL__F(TEXT, sl_live_value, name, "name", "of the value"),
	SL__F(WHOLE, sl_live_value, n_bytes, "bytes", "its size"),
};
SL__RECORD(sl__table_alive_at_peak, "alive_at_peak", sl_live_value,
	   alive_fields, 0);

SL__WHY(is_unfused, sl_inspection, i,
	i->fused.n_quantize || i->fused.n_dequantize ? NULL : "nothing fuses")
SL__MAKE(make_live_basis, sl_inspection, i, TEXT, text,
	 i->memory.n_unknown ? "at least" : "counted")
SL__MAKE(make_total, sl_inspection, i, WHOLE, whole,
	 i->memory.parameter_bytes + i->memory.live_bytes)
SL__WHY(no_peak, sl_inspection, i,
	i->memory.peak_layer && i->memory.peak_layer[0] ? NULL
							: "no node computes")
SL__WHY(no_cache, sl_inspection, i, i->memory.kv_elements_per_token.absent)
SL__MAKE(make_f16_cache, sl_inspection, i, NUMBER, number,
	 2 * i->memory.kv_elements_per_token.value)

static const struct sl__field live_set_fields[] = {
	SL__F(WHOLE, sl_inspection, memory.parameter_bytes, "parameters_bytes",
	      "stored, copies included"),
	SL__F(WHOLE, sl_inspection, memory.activation_bytes,
	      "activations_bytes", "of all nodes, if none were freed"),
	SL__F(WHOLE, sl_inspection, memory.live_bytes, "live_bytes",
	      "inputs, activations and outputs at the peak"),
	SL__F_MADE(make_live_basis, "live_bytes_basis",
		   "at least: the size of some values is not known"),
	SL__F(WHOLE, sl_inspection, memory.unfused_bytes, "unfused_live_bytes",
	      "live_bytes of an engine that fuses nothing", .why = is_unfused,
	      .is_left_out = 1),
	SL__F(WHOLE, sl_inspection, memory.n_unknown, "unknown_values",
	      "values whose size is not known"),
	SL__F(WHOLE, sl_inspection, memory.once_bytes, "once_bytes",
	      "that every way to compute the model reads or writes"),
	SL__F(WHOLE, sl_inspection, memory.interface_bytes, "interface_bytes",
	      "inputs and outputs of the model"),
	SL__F_MADE(make_total, "total_bytes", "parameters and live set"),
	SL__F(TEXT, sl_inspection, memory.peak_layer, "peak_operation",
	      "that runs then", .why = no_peak),
	SL__F_LIST(LIST, sl_inspection, memory.alive, memory.n_alive,
		   "alive_at_peak", "the ten largest",
		   .of = &sl__table_alive_at_peak),
	SL__F(WHOLE, sl_inspection, memory.n_alive_all, "alive_values",
	      "all of them"),
	SL__F(WHOLE, sl_inspection, memory.others_bytes, "others_bytes",
	      "of those that are not listed"),
	SL__F(WHOLE, sl_inspection, memory.n_attentions, "attentions",
	      "with keys and values that a cache could hold"),
	SL__F(READING, sl_inspection, memory.kv_bytes_per_token,
	      "kv_bytes_per_token", "keys and values of all layers"),
	SL__F(READING, sl_inspection, memory.kv_elements_per_token,
	      "kv_elements_per_token", "likewise, in numbers"),
	SL__F_MADE(make_f16_cache, "kv_bytes_per_token_f16",
		   "their bytes in f16", .why = no_cache),
	SL__F(READING, sl_inspection, memory.kv_bytes, "kv_bytes",
	      "whole batch, at these sizes"),
	SL__F_NEVER("gradients_bytes", "of training", "see training"),
	SL__F_NEVER("optimizer_bytes", "of training", "see training"),
	SL__F_NEVER("workspace_bytes", "of a run", NOT_RUN),
	SL__F_NEVER("planned_bytes", "of a run", NOT_RUN),
	SL__F_NEVER("reserved_bytes", "of a run", NOT_RUN),
	SL__F_NEVER("resident_peak_bytes", "of a run", NOT_RUN),
	SL__F_NEVER("efficiency", "of a run", NOT_RUN),
};
SL__RECORD(sl__table_live_set, "memory", sl_inspection, live_set_fields, 0);

/* A phase of training gathers what struct sl_training has by phase. */
struct phase {
	enum sl_phase phase;
	uint64_t flops;
	struct sl_phase_need need;
	uint64_t peak_bytes[SL_N_OPTIMIZERS];
};

SL__WHY(no_flops, phase, p, p->phase == SL_PHASE_UPDATE ? "not counted" : NULL)
SL__MAKE(make_phase_memory, phase, p, WHOLE, whole,
	 p->peak_bytes[SL_OPTIMIZER_ADAM])

static const struct sl__field phase_fields[] = {
	SL__F(WORD, phase, phase, "name", "of the phase",
	      .words = &sl__words_phase),
	SL__F_NEVER("ms", "of a step", NOT_RUN),
	SL__F_NEVER("ci95_ms", "of a step", NOT_RUN),
	SL__F(WHOLE, phase, flops, "flops", "of the core", .why = no_flops),
	SL__F_NEVER("bytes", "that move", "not counted"),
	SL__F_MADE(make_phase_memory, "memory_bytes", "with Adam's state"),
	SL__F(WHOLE, phase, need.gradient_bytes, "gradients_bytes",
	      "of weights that are there"),
	SL__F(WHOLE, phase, need.activation_bytes, "activations_bytes",
	      "kept and in use, and their gradients"),
	SL__F(BY_WORD, phase, peak_bytes, "peak_bytes",
	      "all of it, by optimizer", .words = &sl__words_trained),
};
static SL__RECORD(phase_table, "training.phases", phase, phase_fields, 0);

static void
write_phases(struct sl__json *json, const struct sl__field *f,
	     const void *record)
{
	const struct sl_training *t = record;

	sl__json_array(json, f->key);
	for (int p = 0; p < SL_N_PHASES; p++) {
		struct phase phase = {.phase = (enum sl_phase)p,
				      .flops = p ? t->backward_flops
						 : t->forward_flops,
				      .need = t->needs[p]};

		for (int k = 0; k < SL_N_OPTIMIZERS; k++)
			phase.peak_bytes[k] = t->phase_bytes[k][p];
		sl__record_write_object(json, NULL, &phase_table, &phase, t);
	}
	sl__json_end_array(json);
}

static enum sl_status
read_phases(void *record, const struct sl__json_value *list,
	    struct sl__arena *arena, struct sl_error *err)
{
	struct sl_training *t = record;
	const struct sl__json_value *e = list->first;
	enum sl_status rc = SL_OK;

	for (int p = 0; !rc && e && p < SL_N_PHASES; p++, e = e->next) {
		struct phase phase = {0};

		rc = sl__record_read(&phase, &phase_table, e, arena, err);
		t->needs[p] = phase.need;
		for (int k = 0; k < SL_N_OPTIMIZERS; k++)
			t->phase_bytes[k][p] = phase.peak_bytes[k];
	}
	return rc;
}

SL__MAKE(make_total_memory, sl_training, t, WHOLE, whole,
	 t->total_bytes[SL_OPTIMIZER_ADAM])

static const struct sl__field training_fields[] = {
	SL__F(WHOLE, sl_training, forward_flops, "forward_flops",
	      "of the core: 2 x macs"),
	SL__F(WHOLE, sl_training, backward_flops, "backward_flops", "likewise"),
	SL__F(WHOLE, sl_training, total_flops, "total_flops", "their sum"),
	SL__F(NUMBER, sl_training, backward_to_forward, "backward_to_forward",
	      "their ratio", .absent = "no matmuls to differentiate"),
	SL__F_NEVER("total_ms", "of a step", NOT_RUN),
	SL__F(WHOLE, sl_training, parameter_bytes, "parameters_bytes",
	      "trainable"),
	SL__F(WHOLE, sl_training, integer_bytes, "integer_parameters_bytes",
	      "of these, stored as integers: training would keep them in a "
	      "wider type"),
	SL__F(WHOLE, sl_training, other_bytes, "other_stored_bytes",
	      "statistics, constants and copies"),
	SL__F(WHOLE, sl_training, gradient_bytes, "gradients_bytes",
	      "of the weights"),
	SL__F(WHOLE, sl_training, activation_bytes, "activations_bytes",
	      "kept from forward to backward"),
	SL__F_SAYS("activations_basis", "estimated",
		   "from what gradients need"),
	SL__F(BY_WORD, sl_training, optimizer_bytes, "optimizer_bytes",
	      "state, by optimizer", .words = &sl__words_trained),
	SL__F(BY_WORD, sl_training, total_bytes, "total_bytes",
	      "everything together, by optimizer", .words = &sl__words_trained),
	SL__F(BY_WORD, sl_training, peak_bytes, "peak_bytes",
	      "the largest of the phases", .words = &sl__words_trained),
	SL__F_MADE(make_total_memory, "total_memory_bytes", "with Adam"),
	SL__F(WORD, sl_training, peak_phase, "peak_phase", "that needs most",
	      .words = &sl__words_phase),
	SL__F_SAYS("phases_optimizer", "adam", "whose state memory_bytes has"),
	{.key = "phases",
	 .kind = SL__FIELD_OWN,
	 .made = SL__FIELD_LIST,
	 .write = write_phases,
	 .read = read_phases,
	 .meaning = "forward, backward, update"},
};
SL__RECORD(sl__table_training, "training", sl_training, training_fields, 0);

SL__WHY(no_growth, sl_growth, g, g->absent)
SL__WHY(no_polynomial, sl_growth, g,
	g->absent           ? g->absent
	: !g->is_polynomial ? "no polynomial of degree 2"
			    : NULL)

static const struct sl__field growth_fields[] = {
	SL__F(WORD, sl_growth, axis, "axis", "size that grows",
	      .words = &sl__words_growth_axis),
	SL__F(WORD, sl_growth, figure, "figure", "what grows with it",
	      .words = &sl__words_growth_figure),
	SL__F(SIGNED, sl_growth, at, "at", "size inspected"),
	SL__F(TEXT, sl_growth, absent, "growth_absent",
	      "why there is no telling", .is_left_out = 1),
	SL__F(NUMBER, sl_growth, exponent, "exponent",
	      "d log figure / d log size at that size", .why = no_growth,
	      .absent = "the figure is 0"),
	SL__F(NUMBER, sl_growth, final_exponent, "final_exponent",
	      "for large sizes", .why = no_growth, .absent = "the figure is 0"),
	SL__F(BOOLEAN, sl_growth, is_polynomial, "polynomial",
	      "the three coefficients give every size that was tried"),
	SL__F(NUMBER, sl_growth, constant, "constant", "of the polynomial",
	      .why = no_polynomial),
	SL__F(NUMBER, sl_growth, linear, "linear", "of the polynomial",
	      .why = no_polynomial),
	SL__F(NUMBER, sl_growth, quadratic, "quadratic", "of the polynomial",
	      .why = no_polynomial),
};
SL__RECORD(sl__table_growth, "growth", sl_growth, growth_fields, 0);

SL__WHY(not_read, sl_weight_row, w, w->absent)

#define BEYOND .why = not_read, .absent = "beyond what a double holds"

static const struct sl__field weight_fields[] = {
	SL__F(TEXT, sl_weight_row, name, "name", "of the tensor"),
	SL__F(WHOLE, sl_weight_row, n_elements, "elements", "numbers"),
	SL__F(NUMBER, sl_weight_row, mean, "mean", "of them", BEYOND),
	SL__F(NUMBER, sl_weight_row, std, "std", "standard deviation", BEYOND),
	SL__F(NUMBER, sl_weight_row, min, "min", "the smallest", BEYOND),
	SL__F(NUMBER, sl_weight_row, max, "max", "the largest", BEYOND),
	SL__F(NUMBER, sl_weight_row, zero_share, "zero_share", "exactly 0",
	      BEYOND),
	SL__F(NUMBER, sl_weight_row, small_share, "small_share",
	      "below 1e-3 of the largest in magnitude", BEYOND),
	SL__F(WHOLE, sl_weight_row, n_odd, "not_finite", "NaN or infinite"),
	SL__F(WHOLE, sl_weight_row, n_channels, "channels",
	      "of the first dimension", .why = not_read, .is_left_out = 1),
	SL__F(WHOLE, sl_weight_row, n_dead_channels, "dead_channels", "all 0",
	      .why = not_read, .is_left_out = 1),
	{.key = "histogram",
	 .kind = SL__FIELD_WHOLES,
	 SL__AT(sl_weight_row, histogram),
	 .n_bytes = sizeof(uint64_t),
	 .most = 32,
	 .why = not_read,
	 .meaning = "from min to max"},
	SL__F(REASON, sl_weight_row, absent, "histogram_absent",
	      "why its numbers were not read"),
};
SL__RECORD(sl__table_weight, "weights", sl_weight_row, weight_fields, 0);
