/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect.c - what a model holds, costs and needs, in one struct.
 *
 * The model is surveyed once under the sizes asked for; everything here turns
 * that survey into rows and texts that outlive it and the graph.
 */
#include "analysis/layers.h"
#include "analysis/scaling.h"
#include "base/buf.h"
#include "base/reading.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "cost/backward.h"
#include "driver/analyzed_model.h"
#include "result/fact_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

enum { ALIVE_MOST = 10 };

struct inspector {
	const struct sl_graph *graph;
	const struct sl_inspect_options *options;
	struct sl__analyzed_model study;
	const struct sl__static_analysis *survey; /* the study's */
	struct sl_inspection *out;
	struct sl__arena *arena;
	struct sl_error *err;
};

static enum sl_status
copy_text(struct inspector *i, const char **out, const char *text)
{
	return sl__arena_copy_text(i->arena, out, text, i->err);
}

/* Takes what was written and leaves the buffer empty. */
static enum sl_status
take_text(struct inspector *i, const char **out, struct sl_buf *text)
{
	enum sl_status rc = sl__buf_status(text, i->err);

	if (!rc)
		rc = copy_text(i, out, text->data ? text->data : "");
	sl_buf_release(text);
	return rc;
}

/* "x 1x3x224x224 f32, ..." */
static enum sl_status
list_values(struct inspector *i, const char **out, const uint32_t *values,
	    size_t n)
{
	struct sl_buf text = {0};

	for (size_t k = 0; k < n; k++) {
		const struct sl__value *value = &i->graph->values[values[k]];
		const struct sl__type *type =
			&i->survey->shapes->types[values[k]];
		const char *shape;

		if (value->tensor && value->kind != SL_VALUE_ACTIVATION &&
		    values == i->graph->blocks[0].inputs)
			continue; /* an initializer that is listed as input */
		shape = sl__type_text(i->survey->shapes, type);
		if (i->survey->shapes->is_short) {
			sl_buf_release(&text);
			return sl__fail_nomem(i->err);
		}
		sl__buf_format(&text, "%s%s %s", text.n_bytes ? ", " : "",
			       value->name, shape);
		if (type->dtype != SL_DTYPE_NONE)
			sl__buf_format(&text, " %s",
				       sl_dtype_text(type->dtype));
	}
	return take_text(i, out, &text);
}

/* "batch 1, seq 128": symbols of inputs, as they were bound. */
static enum sl_status
list_sizes(struct inspector *i)
{
	const struct sl__block *main = &i->graph->blocks[0];
	struct sl_buf text = {0};
	unsigned char *seen = sl__arena_alloc(i->arena, i->graph->n_symbols);

	if (!seen)
		return sl__fail_nomem(i->err);
	for (size_t k = 0; k < main->n_inputs; k++) {
		const struct sl__type *type =
			&i->graph->values[main->inputs[k]].declared;

		for (int d = 0; d < type->rank; d++) {
			size_t s;

			if (!sl__is_symbol(type->dims[d]))
				continue;
			s = (size_t)(type->dims[d] - SL__SYMBOL_BASE);
			if (seen[s] || i->survey->shapes->bound[s] < 0)
				continue;
			seen[s] = 1;
			sl__buf_format(&text, "%s%s %lld",
				       text.n_bytes ? ", " : "",
				       i->graph->symbols[s].name,
				       (long long)i->survey->shapes->bound[s]);
		}
	}
	return take_text(i, &i->out->sizes, &text);
}

/* What a symbol was bound to; 'absent' where there is none. */
static int64_t
bound_to(const struct inspector *i, int64_t symbol, int64_t absent)
{
	return symbol ? i->survey->shapes->bound[symbol - SL__SYMBOL_BASE]
		      : absent;
}

/* Tokens of an iteration: a matrix of whole numbers, as they come; one whose
 * name says that it holds ids before others. */
static int64_t
count_tokens(const struct inspector *i)
{
	const struct sl__block *main = &i->graph->blocks[0];
	int64_t n_tokens = 0;

	for (size_t k = 0; k < main->n_inputs; k++) {
		const struct sl__value *value =
			&i->graph->values[main->inputs[k]];
		const struct sl__type *type =
			&i->survey->shapes->types[main->inputs[k]];

		if (value->tensor || type->rank != 2 || type->dims[0] < 1 ||
		    type->dims[1] < 1 ||
		    (type->dtype != SL_DTYPE_I64 &&
		     type->dtype != SL_DTYPE_I32))
			continue;
		if (strstr(value->name, "ids"))
			return type->dims[0] * type->dims[1];
		if (!n_tokens)
			n_tokens = type->dims[0] * type->dims[1];
	}
	return n_tokens;
}

static enum sl_status
describe_model(struct inspector *i)
{
	const struct sl_graph *graph = i->graph;
	const struct sl__block *main = &graph->blocks[0];
	struct sl_inspection *out = i->out;
	enum sl_status rc;

	rc = copy_text(i, &out->name, graph->name);
	if (!rc)
		rc = copy_text(i, &out->source, graph->source);
	if (!rc)
		rc = copy_text(i, &out->producer, graph->producer);
	if (!rc)
		rc = list_values(i, &out->inputs, main->inputs, main->n_inputs);
	if (!rc)
		rc = list_values(i, &out->outputs, main->outputs,
				 main->n_outputs);
	if (!rc)
		rc = list_sizes(i);
	out->seed = graph->seed;
	out->ir_version = graph->ir_version;
	out->n_nodes = graph->n_nodes;
	out->batch = i->survey->batch;
	out->seq = bound_to(i, sl__shapes_seq_symbol(graph), 0);
	out->past = bound_to(i, sl__shapes_past_symbol(graph), -1);
	out->n_tokens = count_tokens(i);
	for (size_t k = 0; k < graph->n_opsets; k++) {
		const char *domain = graph->opsets[k].domain;

		if (!*domain || !strcmp(domain, "ai.onnx"))
			out->opset = graph->opsets[k].version;
	}
	return rc;
}

static enum sl_status
add_parameter(struct inspector *i, struct sl_parameter_row *row, uint32_t value)
{
	const struct sl__value *v = &i->graph->values[value];
	const struct sl__tensor *t = v->tensor;
	uint32_t tied_to = i->study.roles.tied_to[value];
	int64_t *dims = sl__arena_array(i->arena, t->rank, sizeof(*dims));
	enum sl_status rc;

	if (!dims)
		return sl__fail_nomem(i->err);
	if (t->rank)
		memcpy(dims, t->dims, t->rank * sizeof(*dims));
	row->value_id = value;
	row->role = i->study.roles.role[value];
	row->dtype = t->dtype;
	row->rank = t->rank;
	row->dims = dims;
	row->n_elements =
		sl__parameter_n_elements(&i->study.roles, i->graph, value);
	row->n_bytes = sl__tensor_stored_bytes(t);
	rc = copy_text(i, &row->name, v->name);
	if (!rc && tied_to != SL__NONE)
		rc = copy_text(i, &row->tied_to,
			       i->graph->values[tied_to].name);
	if (!rc && t->storage)
		rc = copy_text(i, &row->storage, t->storage);
	return rc;
}

static void
add_to_totals(struct sl_parameters *p, const struct sl_parameter_row *row,
	      struct sl_dtype_total *by_dtype)
{
	uint64_t *by_role[] = {&p->trainable, &p->statistics, &p->constants,
			       &p->tied};
	uint64_t *n = by_role[row->role];

	*n = sl__saturating_add(*n, row->n_elements);
	p->n_bytes = sl__saturating_add(p->n_bytes, row->n_bytes);
	if (row->role == SL_ROLE_WEIGHT)
		p->trainable_bytes =
			sl__saturating_add(p->trainable_bytes, row->n_bytes);
	by_dtype[row->dtype].dtype = row->dtype;
	by_dtype[row->dtype].n_elements = sl__saturating_add(
		by_dtype[row->dtype].n_elements, row->n_elements);
	by_dtype[row->dtype].n_bytes =
		sl__saturating_add(by_dtype[row->dtype].n_bytes, row->n_bytes);
}

static int
by_bytes(const void *a, const void *b)
{
	const struct sl_dtype_total *x = a, *y = b;

	return (x->n_bytes < y->n_bytes) - (x->n_bytes > y->n_bytes);
}

static enum sl_status
list_parameters(struct inspector *i)
{
	struct sl_parameters *p = &i->out->parameters;
	struct sl_dtype_total *by_dtype =
		sl__arena_array(i->arena, SL_N_DTYPES, sizeof(*by_dtype));
	struct sl_parameter_row *rows;
	size_t n = 0;
	enum sl_status rc = SL_OK;

	for (size_t v = 0; v < i->graph->n_values; v++)
		n += i->graph->values[v].tensor != NULL;
	rows = sl__arena_array(i->arena, n, sizeof(*rows));
	if (!rows || !by_dtype)
		return sl__fail_nomem(i->err);
	p->rows = rows;
	p->by_dtype = by_dtype;
	for (uint32_t v = 0; !rc && v < i->graph->n_values; v++) {
		if (!i->graph->values[v].tensor)
			continue;
		rc = add_parameter(i, &rows[p->n_rows], v);
		if (!rc)
			add_to_totals(p, &rows[p->n_rows++], by_dtype);
	}
	qsort(by_dtype, SL_N_DTYPES, sizeof(*by_dtype), by_bytes);
	while (p->n_dtypes < SL_N_DTYPES && by_dtype[p->n_dtypes].n_elements)
		p->n_dtypes++;
	p->n_batch_norms = i->study.roles.n_batch_norms;
	p->n_folded_batch_norms = i->study.roles.n_folded;
	if (!rc && i->study.roles.folding)
		rc = copy_text(i, &p->folding, i->study.roles.folding);
	return rc;
}

/* Puts a value among the largest, kept in order. */
static void
add_alive(struct sl_live_value *alive, size_t *n, const char *name,
	  uint64_t n_bytes)
{
	size_t at = *n;

	while (at > 0 && alive[at - 1].n_bytes < n_bytes)
		at--;
	if (at == ALIVE_MOST)
		return;
	if (*n < ALIVE_MOST)
		++*n;
	for (size_t k = *n - 1; k > at; k--)
		alive[k] = alive[k - 1];
	alive[at].name = name;
	alive[at].n_bytes = n_bytes;
}

/* Values that fusion adds have no name but that of their maker. */
static const char *
name_of(const struct sl_graph *graph, size_t value)
{
	const struct sl__value *v = &graph->values[value];

	return *v->name || v->producer == SL__NONE
		       ? v->name
		       : graph->nodes[v->producer].name;
}

static enum sl_status
list_alive(struct inspector *i)
{
	const struct sl__liveness *live =
		sl__static_analysis_liveness(i->survey);
	const struct sl_graph *graph = live->steps->graph;
	struct sl_live_set *memory = &i->out->memory;
	struct sl_live_value *alive =
		sl__arena_array(i->arena, ALIVE_MOST, sizeof(*alive));
	uint64_t all = 0;

	if (!alive)
		return sl__fail_nomem(i->err);
	memory->alive = alive;
	for (size_t v = 0; v < graph->n_values; v++) {
		if (live->storage[v] != v || live->birth[v] == SL__NONE ||
		    live->birth[v] > live->peak_step ||
		    live->death[v] < live->peak_step || !live->n_bytes[v])
			continue;
		add_alive(alive, &memory->n_alive, name_of(graph, v),
			  live->n_bytes[v]);
		memory->n_alive_all++;
		all = sl__saturating_add(all, live->n_bytes[v]);
	}
	for (size_t k = 0; k < memory->n_alive; k++)
		all -= alive[k].n_bytes;
	memory->others_bytes = all;
	for (size_t k = 0; k < memory->n_alive; k++) {
		enum sl_status rc = copy_text(i, &alive[k].name, alive[k].name);

		if (rc)
			return rc;
	}
	return SL_OK;
}

static uint64_t
sum_interface(const struct inspector *i, const uint32_t *values, size_t n)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < n; k++) {
		uint64_t n_bytes;

		if (!i->graph->values[values[k]].tensor &&
		    sl__type_bytes(&i->survey->shapes->types[values[k]],
				   &n_bytes))
			sum = sl__saturating_add(sum, n_bytes);
	}
	return sum;
}

static enum sl_status
describe_memory(struct inspector *i)
{
	const struct sl__liveness *live =
		sl__static_analysis_liveness(i->survey);
	const struct sl__execution_order *steps = live->steps;
	const struct sl__block *main = &i->graph->blocks[0];
	const struct sl__kv *kv = &i->survey->kv;
	struct sl_live_set *memory = &i->out->memory;
	enum sl_status rc;

	memory->parameter_bytes = i->out->parameters.n_bytes;
	memory->live_bytes = live->peak_bytes;
	memory->once_bytes = i->survey->once_bytes;
	memory->unfused_bytes = i->survey->liveness.peak_bytes;
	memory->n_unknown = live->n_unknown;
	memory->activation_bytes = live->activation_bytes;
	memory->interface_bytes = sl__saturating_add(
		sum_interface(i, main->inputs, main->n_inputs),
		sum_interface(i, main->outputs, main->n_outputs));
	memory->n_attentions = kv->n_attentions;
	memory->kv_bytes = kv->absent ? sl__absent(kv->absent)
				      : sl__present(kv->bytes);
	memory->kv_bytes_per_token = kv->absent
					     ? sl__absent(kv->absent)
					     : sl__present(kv->bytes_per_token);
	memory->kv_elements_per_token =
		kv->absent ? sl__absent(kv->absent)
			   : sl__present(kv->elements_per_token);
	rc = copy_text(
		i, &memory->peak_layer,
		steps->n
			? steps->graph->nodes[steps->rows[live->peak_step].node]
				  .name
			: "");
	return rc ? rc : list_alive(i);
}

static enum sl_status
explain(struct inspector *i)
{
	const struct sl_inspect_options *o = i->options;
	int is_pair = o->n_explain > 1;
	size_t n = o->n_explain - (size_t)is_pair;
	struct sl_explanation *rows;
	enum sl_status rc = SL_OK;

	for (int c = 0; c < SL_N_CONVENTIONS; c++)
		i->out->conventions[c] = sl__convention_count(
			&i->survey->tally, (enum sl_convention)c);
	if (!o->n_explain)
		return SL_OK;
	rows = sl__arena_array(i->arena, n, sizeof(*rows));
	if (!rows)
		return sl__fail_nomem(i->err);
	i->out->explanations = rows;
	i->out->n_explanations = n;
	for (size_t k = 0; !rc && k < n; k++)
		rc = sl__convention_reconcile(
			&rows[k], &i->survey->tally,
			is_pair ? o->explain[0] : SL_CONVENTION_CORE,
			o->explain[k + (size_t)is_pair], i->arena, i->err);
	return rc;
}

/* What could settle a shape: contents of the model's inputs, in general. */
static enum sl_fact_kind
remedy_of(const struct inspector *i, const struct sl__node *node)
{
	if (!node->op)
		return SL_FACT_SHAPE_UNDECLARED;
	return i->study.how.contents ? SL_FACT_SHAPE_OPEN
				     : SL_FACT_SHAPE_OF_INPUTS;
}

static enum sl_status
list_unresolved(struct inspector *i)
{
	const struct sl__shapes *shapes = i->survey->shapes;
	struct sl__facts list;

	sl__facts_init(&list, i->arena, NULL, 0);
	for (size_t k = 0; k < shapes->n_unresolved; k++) {
		const struct sl__unresolved_shape *u = &shapes->unresolved[k];
		const struct sl__node *node = &i->graph->nodes[u->node];
		const struct sl_fact here = {remedy_of(i, node),
					     {0},
					     {i->graph->values[u->value].name,
					      node->name, node->type,
					      u->why ? u->why : "not known"}};
		const struct sl_fact *fact = sl__fact_copy(&here, i->arena);

		if (!fact)
			return sl__fail_nomem(i->err);
		sl__facts_add(&list, *fact);
	}
	i->out->unresolved = list.list;
	i->out->n_unresolved = list.n;
	return list.has_failed ? sl__fail_nomem(i->err) : SL_OK;
}

static enum sl_status
describe_cost(struct inspector *i)
{
	const struct sl__qdq_fused_model *fused = i->survey->fused;
	struct sl_inspection *out = i->out;
	enum sl_status rc =
		sl__inspection_fill_layers(out, i->survey, i->arena, i->err);

	if (rc)
		return rc;
	if (fused) {
		out->fused.n_quantize = fused->n_quantize;
		out->fused.n_dequantize = fused->n_dequantize;
		out->fused.n_apart = fused->n_apart;
	}
	out->flops = sl__saturating_mul(out->cost.macs, 2);
	out->flops_per_sample = out->flops / (uint64_t)out->batch;
	out->n_bytes = sl_cost_bytes(&out->cost);
	out->intensity = out->n_bytes ? (double)sl_cost_operations(&out->cost) /
						(double)out->n_bytes
				      : (double)NAN;
	return explain(i);
}

static enum sl_status
describe(struct inspector *i)
{
	struct sl_inspection *out = i->out;
	enum sl_status rc;

	rc = describe_model(i);
	if (!rc)
		rc = list_parameters(i);
	if (!rc)
		rc = describe_cost(i);
	if (!rc)
		rc = describe_memory(i);
	if (!rc)
		rc = sl__training_of(&out->training, &i->survey->forward,
				     &i->survey->attentions,
				     &i->survey->liveness, i->arena, i->err);
	if (!rc)
		rc = list_unresolved(i);
	if (!rc && !i->options->brief)
		rc = sl__static_cost_polynomials(&out->growth, &out->n_growth,
						 i->survey, &i->study.how,
						 i->arena, i->err);
	if (!rc && i->options->weights)
		rc = sl__weight_rows_compute(&out->weights, &out->n_weights,
					     i->graph, &i->study.roles,
					     i->arena, i->err);
	return rc;
}

static enum sl_status
take_options(struct sl_inspect_options *o,
	     const struct sl_inspect_options *options, struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(o, sizeof(*o), options,
					     "sl_inspect_options", err);

	if (rc)
		return rc;
	for (size_t k = 0; k < o->n_explain; k++) {
		if ((unsigned)o->explain[k] >= SL_N_CONVENTIONS)
			return sl__fail(err, SL_E_USAGE,
					"no such convention: %d",
					(int)o->explain[k]);
	}
	return SL_OK;
}

enum sl_status
sl_inspect(struct sl_inspection **out, const struct sl_graph *graph,
	   const struct sl_inspect_options *options, struct sl_error *err)
{
	struct sl_inspect_options how;
	struct inspector i = {.graph = graph, .options = &how, .err = err};
	enum sl_status rc = take_options(&how, options, err);

	*out = NULL;
	if (rc)
		return rc;
	i.out = sl__arena_object_new(&i.arena, i.options->allocator,
				     sizeof(*i.out));
	if (!i.out)
		return sl__fail_nomem(err);
	rc = sl__analyzed_model_open(&i.study, graph, i.options->sizes,
				     i.options->allocator, err);
	i.survey = i.study.survey;
	if (!rc)
		rc = describe(&i);
	*out = sl__arena_object_free_on_error(i.out, rc);
	sl__analyzed_model_close(&i.study);
	return rc;
}

void
sl_inspection_free(struct sl_inspection *i)
{
	sl__arena_object_free(i);
}
