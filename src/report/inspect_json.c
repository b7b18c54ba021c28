/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_json.c - what was found in models as JSON (docs/schema.md).
 *
 * Counts are integers in full precision.  All layers and tensors are there,
 * whatever the screen shows.
 */
#include "report/hardware_page.h"
#include "report/inspect_page.h"
#include "report/result_json.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static const char UNKNOWN[] = "cost unknown";

#define NOT_RUN "nothing was run"

static void
add_signed(struct sl__json *json, const char *key, int64_t value)
{
	if (value < 0)
		sl__json_number(json, key, (double)value);
	else
		sl__json_integer(json, key, (uint64_t)value);
}

static void
add_maybe_text(struct sl__json *json, const char *key, const char *text,
	       const char *absent)
{
	if (text && *text)
		sl__json_text(json, key, text);
	else
		sl__json_absent(json, key, absent);
}

static void
add_parameters(struct sl__json *json, const struct sl_parameters *p)
{
	sl__json_object(json, "parameters");
	sl__json_integer(json, "trainable", p->trainable);
	sl__json_integer(json, "statistics", p->statistics);
	sl__json_integer(json, "constants", p->constants);
	sl__json_integer(json, "tied", p->tied);
	sl__json_integer(json, "stored_bytes", p->n_bytes);
	sl__json_integer(json, "trainable_bytes", p->trainable_bytes);
	sl__json_array(json, "by_dtype");
	for (size_t k = 0; k < p->n_dtypes; k++) {
		sl__json_object(json, NULL);
		sl__json_text(json, "dtype",
			      sl_dtype_text(p->by_dtype[k].dtype));
		sl__json_integer(json, "elements", p->by_dtype[k].n_elements);
		sl__json_integer(json, "bytes", p->by_dtype[k].n_bytes);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
	sl__json_integer(json, "batch_norms", p->n_batch_norms);
	sl__json_integer(json, "folded_batch_norms", p->n_folded_batch_norms);
	if (p->folding)
		sl__json_text(json, "folding", p->folding);
	sl__json_end_object(json);
}

void
sl__json_model(struct sl__json *json, const struct sl_inspection *i)
{
	sl__json_object(json, "model");
	sl__json_text(json, "name", i->name);
	add_maybe_text(json, "source", i->source, "built in memory");
	add_maybe_text(json, "producer", i->producer, "not named");
	if (i->opset)
		sl__json_integer(json, "opset", (uint64_t)i->opset);
	else
		sl__json_absent(json, "opset", "imports no ai.onnx operators");
	sl__json_integer(json, "nodes", i->n_nodes);
	sl__json_text(json, "inputs", i->inputs);
	sl__json_text(json, "outputs", i->outputs);
	sl__json_text(json, "sizes", i->sizes ? i->sizes : "");
	add_parameters(json, &i->parameters);
	sl__json_end_object(json);
}

static void
add_side(struct sl__json *json, const char *key,
	 const struct sl_ledger_side *side, const struct sl_coverage *c)
{
	double nodes = (double)c->counted.n_nodes +
		       (double)c->estimated.n_nodes +
		       (double)c->unknown.n_nodes;
	double bytes = (double)c->counted.n_bytes +
		       (double)c->estimated.n_bytes +
		       (double)c->unknown.n_bytes;

	sl__json_object(json, key);
	sl__json_integer(json, "nodes", side->n_nodes);
	sl__json_integer(json, "bytes", side->n_bytes);
	sl__json_finite(json, "share_nodes", (double)side->n_nodes / nodes,
			"no nodes");
	sl__json_finite(json, "share_bytes", (double)side->n_bytes / bytes,
			"no bytes");
	sl__json_end_object(json);
}

static void
add_coverage(struct sl__json *json, const struct sl_inspection *i)
{
	const struct sl_coverage *c = &i->coverage;

	sl__json_object(json, "coverage");
	add_side(json, "counted", &c->counted, c);
	add_side(json, "estimated", &c->estimated, c);
	add_side(json, "unknown", &c->unknown, c);
	sl__json_array(json, "reasons");
	for (size_t k = 0; k < c->n_names; k++)
		sl__json_text(json, NULL, c->names[k]);
	sl__json_end_array(json);
	sl__json_array(json, "unresolved");
	for (size_t k = 0; k < i->n_unresolved; k++)
		sl__json_text(json, NULL, i->unresolved[k]);
	sl__json_end_array(json);
	sl__json_end_object(json);
}

static void
add_vector(struct sl__json *json, const struct sl_cost *c)
{
	sl__json_object(json, "vector");
	sl__json_integer(json, "mul", c->mul);
	sl__json_integer(json, "add", c->add);
	sl__json_integer(json, "fma", c->fma);
	sl__json_integer(json, "div", c->div);
	sl__json_integer(json, "exp", c->exp);
	sl__json_integer(json, "cmp", c->cmp);
	sl__json_end_object(json);
}

static int
is_fused(const struct sl_inspection *i)
{
	return i->fused.n_quantize || i->fused.n_dequantize;
}

static void
add_fused(struct sl__json *json, const struct sl_inspection *i)
{
	if (!is_fused(i))
		return;
	sl__json_object(json, "fused");
	sl__json_integer(json, "quantize", i->fused.n_quantize);
	sl__json_integer(json, "dequantize", i->fused.n_dequantize);
	sl__json_integer(json, "apart", i->fused.n_apart);
	sl__json_end_object(json);
}

void
sl__json_cost(struct sl__json *json, const struct sl_inspection *i)
{
	sl__json_object(json, "cost");
	add_signed(json, "batch", i->batch);
	sl__json_integer(json, "macs", i->cost.macs);
	sl__json_integer(json, "flops", i->flops);
	sl__json_integer(json, "flops_per_sample", i->flops_per_sample);
	sl__json_integer(json, "operations", sl_cost_operations(&i->cost));
	sl__json_integer(json, "bytes", i->n_bytes);
	sl__json_integer(json, "weight_bytes", i->cost.weight_bytes);
	sl__json_integer(json, "read_bytes", i->cost.read_bytes);
	sl__json_integer(json, "written_bytes", i->cost.written_bytes);
	add_fused(json, i);
	sl__json_finite(json, "intensity", i->intensity, "moves no bytes");
	add_vector(json, &i->cost);
	sl__json_object(json, "conventions");
	for (int k = 0; k < SL_N_CONVENTIONS; k++)
		sl__json_integer(json,
				 sl_convention_text((enum sl_convention)k),
				 i->conventions[k]);
	sl__json_end_object(json);
	add_coverage(json, i);
	sl__json_end_object(json);
}

static void
add_explanations(struct sl__json *json, const struct sl_inspection *i)
{
	if (!i->n_explanations)
		return;
	sl__json_array(json, "explanations");
	for (size_t k = 0; k < i->n_explanations; k++) {
		const struct sl_explanation *e = &i->explanations[k];

		sl__json_object(json, NULL);
		sl__json_text(json, "a", sl_convention_text(e->a));
		sl__json_text(json, "b", sl_convention_text(e->b));
		sl__json_integer(json, "a_macs", e->a_count);
		sl__json_integer(json, "b_macs", e->b_count);
		sl__json_array(json, "items");
		for (size_t r = 0; r < e->n_rows; r++) {
			sl__json_object(json, NULL);
			sl__json_text(json, "text", e->rows[r].text);
			add_signed(json, "macs", e->rows[r].amount);
			sl__json_end_object(json);
		}
		sl__json_end_array(json);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

/* What only a run, or a training step, has. */
static void
add_not_run(struct sl__json *json)
{
	static const char *const rows[][2] = {
		{"gradients_bytes", "see training"},
		{"optimizer_bytes", "see training"},
		{"workspace_bytes", NOT_RUN},
		{"planned_bytes", NOT_RUN},
		{"reserved_bytes", NOT_RUN},
		{"resident_peak_bytes", NOT_RUN},
		{"efficiency", NOT_RUN},
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
		sl__json_absent(json, rows[k][0], rows[k][1]);
}

static void
add_memory(struct sl__json *json, const struct sl_inspection *i)
{
	const struct sl_live_set *m = &i->memory;
	struct sl_reading f16 = m->kv_elements_per_token;

	sl__json_object(json, "memory");
	sl__json_integer(json, "parameters_bytes", m->parameter_bytes);
	sl__json_integer(json, "activations_bytes", m->activation_bytes);
	sl__json_integer(json, "live_bytes", m->live_bytes);
	sl__json_text(json, "live_bytes_basis",
		      m->n_unknown ? "at least" : "counted");
	if (is_fused(i))
		sl__json_integer(json, "unfused_live_bytes", m->unfused_bytes);
	sl__json_integer(json, "unknown_values", m->n_unknown);
	sl__json_integer(json, "once_bytes", m->once_bytes);
	sl__json_integer(json, "total_bytes",
			 m->parameter_bytes + m->live_bytes);
	add_maybe_text(json, "peak_operation", m->peak_layer,
		       "no node computes");
	sl__json_array(json, "alive_at_peak");
	for (size_t k = 0; k < m->n_alive; k++) {
		sl__json_object(json, NULL);
		sl__json_text(json, "name", m->alive[k].name);
		sl__json_integer(json, "bytes", m->alive[k].n_bytes);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
	sl__json_integer(json, "alive_values", m->n_alive_all);
	sl__json_integer(json, "others_bytes", m->others_bytes);
	sl__json_integer(json, "attentions", m->n_attentions);
	sl__json_reading(json, "kv_bytes_per_token", m->kv_bytes_per_token);
	f16.value *= 2;
	sl__json_reading(json, "kv_bytes_per_token_f16", f16);
	sl__json_reading(json, "kv_bytes", m->kv_bytes);
	add_not_run(json);
	sl__json_end_object(json);
}

/* With Adam's state. */
static void
add_phase(struct sl__json *json, const struct sl_training *t,
	  enum sl_phase phase)
{
	sl__json_object(json, NULL);
	sl__json_text(json, "name", sl_phase_text(phase));
	sl__json_absent(json, "ms", NOT_RUN);
	sl__json_absent(json, "ci95_ms", NOT_RUN);
	if (phase == SL_PHASE_UPDATE)
		sl__json_absent(json, "flops", "not counted");
	else
		sl__json_integer(json, "flops",
				 phase == SL_PHASE_FORWARD ? t->forward_flops
							   : t->backward_flops);
	sl__json_absent(json, "bytes", "not counted");
	sl__json_integer(json, "memory_bytes",
			 t->phase_bytes[SL_OPTIMIZER_ADAM][phase]);
	sl__json_integer(json, "gradients_bytes",
			 t->needs[phase].gradient_bytes);
	sl__json_integer(json, "activations_bytes",
			 t->needs[phase].activation_bytes);
	sl__json_object(json, "peak_bytes");
	for (int k = SL_OPTIMIZER_SGD; k < SL_N_OPTIMIZERS; k++)
		sl__json_integer(json, sl_optimizer_text((enum sl_optimizer)k),
				 t->phase_bytes[k][phase]);
	sl__json_end_object(json);
	sl__json_end_object(json);
}

static void
add_per_optimizer(struct sl__json *json, const char *key, const uint64_t *bytes)
{
	sl__json_object(json, key);
	for (int k = SL_OPTIMIZER_SGD; k < SL_N_OPTIMIZERS; k++)
		sl__json_integer(json, sl_optimizer_text((enum sl_optimizer)k),
				 bytes[k]);
	sl__json_end_object(json);
}

static void
add_training(struct sl__json *json, const struct sl_training *t)
{
	sl__json_object(json, "training");
	sl__json_integer(json, "forward_flops", t->forward_flops);
	sl__json_integer(json, "backward_flops", t->backward_flops);
	sl__json_integer(json, "total_flops", t->total_flops);
	sl__json_finite(json, "backward_to_forward", t->backward_to_forward,
			"no products to differentiate");
	sl__json_absent(json, "total_ms", NOT_RUN);
	sl__json_integer(json, "parameters_bytes", t->parameter_bytes);
	sl__json_integer(json, "integer_parameters_bytes", t->integer_bytes);
	sl__json_integer(json, "other_stored_bytes", t->other_bytes);
	sl__json_integer(json, "gradients_bytes", t->gradient_bytes);
	sl__json_integer(json, "activations_bytes", t->activation_bytes);
	sl__json_text(json, "activations_basis", "estimated");
	add_per_optimizer(json, "optimizer_bytes", t->optimizer_bytes);
	add_per_optimizer(json, "total_bytes", t->total_bytes);
	add_per_optimizer(json, "peak_bytes", t->peak_bytes);
	sl__json_integer(json, "total_memory_bytes",
			 t->total_bytes[SL_OPTIMIZER_ADAM]);
	sl__json_text(json, "peak_phase", sl_phase_text(t->peak_phase));
	sl__json_text(json, "phases_optimizer",
		      sl_optimizer_text(SL_OPTIMIZER_ADAM));
	sl__json_array(json, "phases");
	for (int p = 0; p < SL_N_PHASES; p++)
		add_phase(json, t, (enum sl_phase)p);
	sl__json_end_array(json);
	sl__json_end_object(json);
}

static void
add_coefficients(struct sl__json *json, const struct sl_growth *g,
		 const char *absent)
{
	const struct {
		const char *key;
		double value;
	} rows[] = {{"constant", g->constant},
		    {"linear", g->linear},
		    {"quadratic", g->quadratic}};

	if (!absent && !g->is_polynomial)
		absent = "no polynomial of degree 2";
	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		if (absent)
			sl__json_absent(json, rows[k].key, absent);
		else
			sl__json_number(json, rows[k].key, rows[k].value);
	}
}

static void
add_growth(struct sl__json *json, const struct sl_inspection *i)
{
	sl__json_array(json, "growth");
	for (size_t k = 0; k < i->n_growth; k++) {
		const struct sl_growth *g = &i->growth[k];

		sl__json_object(json, NULL);
		sl__json_text(json, "axis", g->axis);
		sl__json_text(json, "figure", g->figure);
		add_signed(json, "at", g->at);
		sl__json_finite(json, "exponent",
				g->absent ? (double)NAN : g->exponent,
				g->absent ? g->absent : "the figure is 0");
		sl__json_finite(json, "final_exponent",
				g->absent ? (double)NAN : g->final_exponent,
				g->absent ? g->absent : "the figure is 0");
		sl__json_boolean(json, "polynomial",
				 !g->absent && g->is_polynomial);
		add_coefficients(json, g, g->absent);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_layer_cost(struct sl__json *json, const struct sl_layer *l)
{
	const struct sl_cost *c = &l->cost;

	sl__json_text(json, "work", sl_work_text(c->work));
	sl__json_text(json, "basis", sl_basis_text(c->basis));
	if (c->why)
		sl__json_text(json, "why", c->why);
	if (c->basis == SL_BASIS_UNKNOWN) {
		sl__json_absent(json, "macs", c->why ? c->why : UNKNOWN);
		sl__json_absent(json, "flops", c->why ? c->why : UNKNOWN);
		sl__json_absent(json, "operations", c->why ? c->why : UNKNOWN);
		sl__json_absent(json, "share", c->why ? c->why : UNKNOWN);
	} else {
		sl__json_integer(json, "macs", c->macs);
		sl__json_integer(json, "flops", 2 * c->macs);
		sl__json_integer(json, "operations", sl_cost_operations(c));
		sl__json_finite(json, "share", l->share, "nothing is computed");
	}
	sl__json_integer(json, "bytes", sl_cost_bytes(&l->cost));
	if (c->basis == SL_BASIS_UNKNOWN)
		sl__json_absent(json, "intensity", c->why ? c->why : UNKNOWN);
	else
		sl__json_finite(json, "intensity", l->intensity,
				"moves no bytes");
}

static const char *
role_of(const struct sl_layer *l)
{
	if (l->is_causal)
		return "causal attention";
	return l->cost.work == SL_WORK_PRODUCT ? "attention" : NULL;
}

static void
add_layers(struct sl__json *json, const struct sl_inspection *i)
{
	sl__json_array(json, "operations");
	for (size_t k = 0; k < i->n_layers; k++) {
		const struct sl_layer *l = &i->layers[k];

		sl__json_object(json, NULL);
		sl__json_text(json, "name", l->name);
		sl__json_text(json, "type", l->type);
		sl__json_text(json, "domain", l->domain ? l->domain : "");
		add_maybe_text(json, "role", role_of(l),
			       "known of attention's products only");
		sl__json_text(json, "phase", "forward");
		sl__json_array(json, "covers"); /* nothing is fused */
		sl__json_end_array(json);
		sl__json_text(json, "path", l->path ? l->path : "");
		sl__json_integer(json, "calls", l->n_calls);
		sl__json_text(json, "dtype", sl_dtype_text(l->dtype));
		sl__json_integer(json, "parameters", l->parameters);
		add_maybe_text(json, "output_shape", l->output_shape,
			       "not inferred");
		sl__json_integer(json, "memory_bytes", l->output_bytes);
		add_layer_cost(json, l);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_groups(struct sl__json *json, const char *key,
	   const struct sl_layer_group *groups, size_t n)
{
	sl__json_array(json, key);
	for (size_t k = 0; k < n; k++) {
		const struct sl_layer_group *g = &groups[k];

		sl__json_object(json, NULL);
		sl__json_text(json, "name", g->name);
		sl__json_integer(json, "nodes", g->n_layers);
		sl__json_integer(json, "parameters", g->parameters);
		sl__json_integer(json, "macs", g->macs);
		sl__json_integer(json, "flops", 2 * g->macs);
		sl__json_integer(json, "operations", g->operations);
		sl__json_integer(json, "bytes", g->n_bytes);
		sl__json_finite(json, "share", g->share, "nothing is computed");
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_tensors(struct sl__json *json, const struct sl_parameters *p)
{
	sl__json_array(json, "tensors");
	for (size_t k = 0; k < p->n_rows; k++) {
		const struct sl_parameter_row *row = &p->rows[k];

		sl__json_object(json, NULL);
		sl__json_text(json, "name", row->name);
		sl__json_text(json, "role", sl_role_text(row->role));
		sl__json_text(json, "dtype", sl_dtype_text(row->dtype));
		sl__json_array(json, "shape");
		for (size_t d = 0; d < row->rank; d++)
			add_signed(json, NULL, row->dims[d]);
		sl__json_end_array(json);
		sl__json_integer(json, "elements", row->n_elements);
		sl__json_integer(json, "bytes", row->n_bytes);
		if (row->tied_to)
			sl__json_text(json, "tied_to", row->tied_to);
		if (row->storage)
			sl__json_text(json, "file", row->storage);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_distribution(struct sl__json *json, const struct sl_weight_row *w)
{
	const struct {
		const char *key;
		double value;
	} figures[] = {{"mean", w->mean},
		       {"std", w->std},
		       {"min", w->min},
		       {"max", w->max},
		       {"zero_share", w->zero_share},
		       {"small_share", w->small_share}};

	for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); k++) {
		if (w->absent)
			sl__json_absent(json, figures[k].key, w->absent);
		else
			sl__json_finite(json, figures[k].key, figures[k].value,
					"beyond what a double holds");
	}
	sl__json_integer(json, "not_finite", w->n_odd);
	if (w->absent) {
		sl__json_absent(json, "histogram", w->absent);
		return;
	}
	sl__json_integer(json, "channels", w->n_channels);
	sl__json_integer(json, "dead_channels", w->n_dead_channels);
	sl__json_array(json, "histogram");
	for (size_t b = 0; b < sizeof(w->histogram) / sizeof(*w->histogram);
	     b++)
		sl__json_integer(json, NULL, w->histogram[b]);
	sl__json_end_array(json);
}

static void
add_weights(struct sl__json *json, const struct sl_inspection *i)
{
	if (!i->n_weights)
		return;
	sl__json_array(json, "weights");
	for (size_t k = 0; k < i->n_weights; k++) {
		const struct sl_weight_row *w = &i->weights[k];

		sl__json_object(json, NULL);
		sl__json_text(json, "name", w->name);
		sl__json_integer(json, "elements", w->n_elements);
		add_distribution(json, w);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}

static void
add_inspection(struct sl__json *json, const struct sl_inspection *i)
{
	sl__json_model(json, i);
	if (i->seed)
		sl__json_integer(json, "seed", i->seed);
	sl__json_cost(json, i);
	add_explanations(json, i);
	add_memory(json, i);
	add_training(json, &i->training);
	add_growth(json, i);
	add_layers(json, i);
	add_groups(json, "by_type", i->by_type, i->n_types);
	add_groups(json, "by_path", i->by_path, i->n_paths);
	add_tensors(json, &i->parameters);
	add_weights(json, i);
}

void
sl__inspect_json(struct sl__json *json, const void *result)
{
	const struct sl__inspect_result *r = result;

	if (r->n_models == 1) {
		add_inspection(json, r->models[0]);
		if (r->view.hardware)
			sl__hardware_json(json, r->view.hardware[0]);
		return;
	}
	sl__json_array(json, "results");
	for (size_t m = 0; m < r->n_models; m++) {
		sl__json_object(json, NULL);
		add_inspection(json, r->models[m]);
		if (r->view.hardware)
			sl__hardware_json(json, r->view.hardware[m]);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}
