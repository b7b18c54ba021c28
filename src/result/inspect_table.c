/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_table.c - fields of a model that was inspected: what it is, what it
 * costs, and its nodes.  What it needs is in needs_table.c.
 */
#include "result/inspect_tables.h"
#include "result/words.h"

#include "base/banned.h"

static const struct sl__field dtype_fields[] = {
	SL__F(WORD, sl_dtype_total, dtype, "dtype", "type of number",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_dtype_total, n_elements, "elements", "of that type"),
	SL__F(WHOLE, sl_dtype_total, n_bytes, "bytes", "of these"),
};
static SL__RECORD(dtype_total, "model.parameters.by_dtype", sl_dtype_total,
		  dtype_fields, 0);

static const struct sl__field parameter_fields[] = {
	SL__F(WHOLE, sl_parameters, trainable, "trainable", "weights"),
	SL__F(WHOLE, sl_parameters, statistics, "statistics",
	      "running means and variances of BatchNorm"),
	SL__F(WHOLE, sl_parameters, constants, "constants",
	      "shapes, masks, scales, zero points, windows"),
	SL__F(WHOLE, sl_parameters, tied, "tied", "copies of other weights"),
	SL__F(WHOLE, sl_parameters, n_bytes, "stored_bytes", "of all of them"),
	SL__F(WHOLE, sl_parameters, trainable_bytes, "trainable_bytes",
	      "of the weights"),
	SL__F_LIST(LIST, sl_parameters, by_dtype, n_dtypes, "by_dtype",
		   "what is stored, copies included", .of = &dtype_total),
	SL__F(WHOLE, sl_parameters, n_batch_norms, "batch_norms",
	      "BatchNormalization nodes"),
	SL__F(WHOLE, sl_parameters, n_folded_batch_norms, "folded_batch_norms",
	      "convolutions whose bias is a folded BatchNorm, by names "
	      "and structure tell"),
	SL__F(TEXT, sl_parameters, folding, "folding", "that in words",
	      .is_left_out = 1),
};
static SL__RECORD(parameters, "model.parameters", sl_parameters,
		  parameter_fields, 0);

SL__WHY(no_source, sl_inspection, i,
	i->source && i->source[0] ? NULL : "built in memory")
SL__WHY(no_producer, sl_inspection, i,
	i->producer && i->producer[0] ? NULL : "not named")
SL__WHY(no_opset, sl_inspection, i,
	i->opset ? NULL : "imports no ai.onnx operators")

static const struct sl__field model_fields[] = {
	SL__F(TEXT, sl_inspection, name, "name", "of the model"),
	SL__F(TEXT, sl_inspection, source, "source", "path, or zoo",
	      .why = no_source),
	SL__F(TEXT, sl_inspection, producer, "producer",
	      "the program that wrote it", .why = no_producer),
	SL__F(SIGNED, sl_inspection, ir_version, "ir_version", "of the format"),
	SL__F(SIGNED, sl_inspection, opset, "opset", "of ai.onnx",
	      .why = no_opset),
	SL__F(WHOLE, sl_inspection, n_nodes, "nodes", "of all blocks"),
	SL__F(TEXT, sl_inspection, inputs, "inputs", "names, sizes, types"),
	SL__F(TEXT, sl_inspection, outputs, "outputs", "likewise"),
	SL__F(TEXT, sl_inspection, sizes, "sizes", "how symbols were bound"),
	SL__F(SIGNED, sl_inspection, seq, "seq",
	      "of these, the length of the sequence",
	      .absent = "the model has none"),
	SL__F(SIGNED, sl_inspection, n_tokens, "tokens",
	      "of an iteration, in a batch of sequences of whole numbers",
	      .absent = "no input is one"),
	SL__F(OBJECT, sl_inspection, parameters, "parameters",
	      "numbers that it holds", .of = &parameters),
};

/* Texts that were written as absent are empty, not NULL. */
static void
settle_model(void *record)
{
	struct sl_inspection *i = record;

	i->source = i->source ? i->source : "";
	i->producer = i->producer ? i->producer : "";
}

SL__RECORD(sl__table_model, "model", sl_inspection, model_fields,
	   .settle = settle_model);

static double
share_of(uint64_t part, uint64_t a, uint64_t b, uint64_t c)
{
	return (double)part / ((double)a + (double)b + (double)c);
}

enum { make_node_share_kind = SL__FIELD_NUMBER };

static void
make_node_share(struct sl__computed_value *out, const void *record,
		const void *parent)
{
	const struct sl_ledger_side *side = record;
	const struct sl_inspection *i = parent;
	const struct sl_coverage *c = &i->coverage;

	out->number = share_of(side->n_nodes, c->counted.n_nodes,
			       c->estimated.n_nodes, c->unknown.n_nodes);
}

enum { make_byte_share_kind = SL__FIELD_NUMBER };

static void
make_byte_share(struct sl__computed_value *out, const void *record,
		const void *parent)
{
	const struct sl_ledger_side *side = record;
	const struct sl_inspection *i = parent;
	const struct sl_coverage *c = &i->coverage;

	out->number = share_of(side->n_bytes, c->counted.n_bytes,
			       c->estimated.n_bytes, c->unknown.n_bytes);
}

static const struct sl__field side_fields[] = {
	SL__F(WHOLE, sl_ledger_side, n_nodes, "nodes", "of the model"),
	SL__F(WHOLE, sl_ledger_side, n_bytes, "bytes",
	      "that they read and write"),
	SL__F_MADE(make_node_share, "share_nodes", "of all nodes",
		   .absent = "no nodes"),
	SL__F_MADE(make_byte_share, "share_bytes", "of all bytes",
		   .absent = "no bytes"),
};
static SL__RECORD(side, "counted", sl_ledger_side, side_fields, 0);

static const struct sl__field coverage_fields[] = {
	SL__F(OBJECT, sl_inspection, coverage.counted, "counted",
	      "exactly, from formulas", .of = &side),
	SL__F(OBJECT, sl_inspection, coverage.estimated, "estimated",
	      "where data decides", .of = &side),
	SL__F(OBJECT, sl_inspection, coverage.unknown, "unknown",
	      "operators without a formula", .of = &side),
	SL__F_LIST(TEXTS, sl_inspection, coverage.names, coverage.n_names,
		   "reasons", "of what is estimated and unknown"),
	SL__F_LIST(FACTS, sl_inspection, unresolved, n_unresolved, "unresolved",
		   "shapes that depend on data"),
};
static SL__RECORD(coverage, "cost.coverage", sl_inspection, coverage_fields, 0);

static const struct sl__field vector_fields[] = {
	SL__F(WHOLE, sl_cost, mul, "mul", "multiplications"),
	SL__F(WHOLE, sl_cost, add, "add", "additions"),
	SL__F(WHOLE, sl_cost, fma, "fma", "multiply-adds"),
	SL__F(WHOLE, sl_cost, div, "div", "divisions and roots"),
	SL__F(WHOLE, sl_cost, exp, "exp", "transcendental functions"),
	SL__F(WHOLE, sl_cost, cmp, "cmp", "comparisons"),
};
static SL__RECORD(vector, "vector", sl_cost, vector_fields, 0);

SL__WHY(not_fused, sl_inspection, i,
	i->fused.n_quantize || i->fused.n_dequantize ? NULL : "none")

static const struct sl__field fused_fields[] = {
	SL__F(WHOLE, sl_fused_nodes, n_quantize, "quantize",
	      "QuantizeLinear nodes that end an operator"),
	SL__F(WHOLE, sl_fused_nodes, n_dequantize, "dequantize",
	      "DequantizeLinear nodes that an operator reads through"),
	SL__F(WHOLE, sl_fused_nodes, n_apart, "apart",
	      "of both kinds that run by themselves"),
};
static SL__RECORD(fused, "cost.fused", sl_fused_nodes, fused_fields, 0);

SL__MAKE(make_operations, sl_inspection, i, WHOLE, whole,
	 sl_cost_operations(&i->cost))

static const struct sl__field cost_fields[] = {
	SL__F(SIGNED, sl_inspection, batch, "batch", "samples"),
	SL__F(WHOLE, sl_inspection, cost.macs, "macs",
	      "multiply-adds of convolutions, matmuls and recurrent layers"),
	SL__F(WHOLE, sl_inspection, flops, "flops", "2 x macs"),
	SL__F(WHOLE, sl_inspection, flops_per_sample, "flops_per_sample",
	      "the same for one sample"),
	SL__F_MADE(make_operations, "operations", "all of the vector"),
	SL__F(WHOLE, sl_inspection, n_bytes, "bytes",
	      "weights, read and written"),
	SL__F(WHOLE, sl_inspection, cost.weight_bytes, "weight_bytes",
	      "weights that are read"),
	SL__F(WHOLE, sl_inspection, cost.read_bytes, "read_bytes",
	      "other operands"),
	SL__F(WHOLE, sl_inspection, cost.written_bytes, "written_bytes",
	      "results"),
	SL__F(OBJECT, sl_inspection, fused, "fused",
	      "nodes that are counted as part of their neighbours",
	      .of = &fused, .why = not_fused, .is_left_out = 1),
	SL__F(NUMBER, sl_inspection, intensity, "intensity",
	      "operations per byte", .absent = "moves no bytes"),
	SL__F(OBJECT, sl_inspection, cost, "vector", "operations by kind",
	      .of = &vector),
	SL__F(BY_WORD, sl_inspection, conventions, "conventions",
	      "what counting tools would print, for the whole batch",
	      .words = &sl__words_convention),
	SL__F_GROUP(&coverage, "coverage", "how sure the counts are"),
};
SL__RECORD(sl__table_cost, "cost", sl_inspection, cost_fields, 0);

static const struct sl__field item_fields[] = {
	SL__F(TEXT, sl_difference, text, "text", "what is counted otherwise"),
	SL__F(SIGNED, sl_difference, amount, "macs", "B − A"),
};
static SL__RECORD(item, "explanations.items", sl_difference, item_fields, 0);

static const struct sl__field explanation_fields[] = {
	SL__F(WORD, sl_explanation, a, "a", "convention",
	      .words = &sl__words_convention),
	SL__F(WORD, sl_explanation, b, "b", "another",
	      .words = &sl__words_convention),
	SL__F(WHOLE, sl_explanation, a_count, "a_macs", "what A counts"),
	SL__F(WHOLE, sl_explanation, b_count, "b_macs", "what B counts"),
	SL__F_LIST(LIST, sl_explanation, rows, n_rows, "items",
		   "they sum to the difference", .of = &item),
};
static SL__RECORD(explanation, "explanations", sl_explanation,
		  explanation_fields, 0);

SL__WHY(no_role, sl_layer, l,
	l->is_causal || l->cost.work == SL_WORK_PRODUCT
		? NULL
		: "known for attention's matmuls only")
SL__MAKE(make_role, sl_layer, l, TEXT, text,
	 l->is_causal ? "causal attention" : "attention")
SL__WHY(no_shape, sl_layer, l,
	l->output_shape && l->output_shape[0] ? NULL : "not inferred")

SL__WHY(no_cost, sl_layer, l,
	l->cost.basis != SL_BASIS_UNKNOWN ? NULL
	: l->cost.why                     ? l->cost.why
					  : "cost unknown")

SL__MAKE(make_layer_flops, sl_layer, l, WHOLE, whole, 2 * l->cost.macs)
SL__MAKE(make_layer_operations, sl_layer, l, WHOLE, whole,
	 sl_cost_operations(&l->cost))
SL__MAKE(make_layer_bytes, sl_layer, l, WHOLE, whole, sl_cost_bytes(&l->cost))

static const struct sl__field layer_fields[] = {
	SL__F(TEXT, sl_layer, name, "name", "of the node"),
	SL__F(TEXT, sl_layer, type, "type", "of operator"),
	SL__F(TEXT, sl_layer, domain, "domain", "of the operator"),
	SL__F(WHOLE, sl_layer, node_id, "node", "its number in the model"),
	SL__F_MADE(make_role, "role", "in its network", .why = no_role),
	SL__F(BOOLEAN, sl_layer, is_causal, "causal",
	      "a matmul of causal attention"),
	{.key = "phase",
	 .kind = SL__FIELD_SAYS,
	 .absent = "forward",
	 .meaning = "of training"},
	SL__F_NOTHING("covers", "nothing is fused"),
	SL__F(TEXT, sl_layer, path, "path", "of modules, from its name"),
	SL__F(WHOLE, sl_layer, n_calls, "calls",
	      "1; of bodies of loops more, of branches not taken 0"),
	SL__F(WORD, sl_layer, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_layer, parameters, "parameters",
	      "trainable ones that it is the first to use"),
	SL__F(TEXT, sl_layer, output_shape, "output_shape",
	      "of the first output", .why = no_shape),
	SL__F(WHOLE, sl_layer, output_bytes, "memory_bytes", "of its outputs"),
	SL__F(WORD, sl_layer, cost.work, "work", "kind of work",
	      .words = &sl__words_work),
	SL__F(WORD, sl_layer, cost.basis, "basis", "how sure its cost is",
	      .words = &sl__words_basis),
	SL__F(TEXT, sl_layer, cost.why, "why", "it is not counted",
	      .is_left_out = 1),
	SL__F(WHOLE, sl_layer, cost.macs, "macs", "multiply-adds of the core",
	      .why = no_cost),
	SL__F_MADE(make_layer_flops, "flops", "2 x macs", .why = no_cost),
	SL__F_MADE(make_layer_operations, "operations", "all of the vector",
		   .why = no_cost),
	SL__F(NUMBER, sl_layer, share, "share",
	      "of the model's core FLOPs; of all operations where it has no "
	      "core",
	      .why = no_cost, .absent = "nothing is computed"),
	SL__F_MADE(make_layer_bytes, "bytes", "weights, read and written"),
	SL__F(WHOLE, sl_layer, cost.weight_bytes, "weight_bytes",
	      "weights that are read"),
	SL__F(WHOLE, sl_layer, cost.read_bytes, "read_bytes", "other operands"),
	SL__F(WHOLE, sl_layer, cost.written_bytes, "written_bytes", "results"),
	SL__F(NUMBER, sl_layer, intensity, "intensity", "operations per byte",
	      .why = no_cost, .absent = "moves no bytes"),
	SL__F(OBJECT, sl_layer, cost, "vector", "operations by kind",
	      .of = &vector),
	SL__F(WHOLE, sl_layer, cost.in_elements, "in_elements",
	      "of the first input"),
	SL__F(WHOLE, sl_layer, cost.out_elements, "out_elements",
	      "of the first output"),
};

static void
settle_layer(void *record)
{
	struct sl_layer *l = record;

	l->output_shape = l->output_shape ? l->output_shape : "";
}

static SL__RECORD(layer, "operations", sl_layer, layer_fields,
		  .settle = settle_layer);

SL__MAKE(make_group_flops, sl_layer_group, g, WHOLE, whole, 2 * g->macs)

static const struct sl__field group_fields[] = {
	SL__F(TEXT, sl_layer_group, name, "name", "type or path"),
	SL__F(WHOLE, sl_layer_group, n_layers, "nodes", "of that kind"),
	SL__F(WHOLE, sl_layer_group, parameters, "parameters", "trainable"),
	SL__F(WHOLE, sl_layer_group, macs, "macs", "of the core"),
	SL__F_MADE(make_group_flops, "flops", "2 x macs"),
	SL__F(WHOLE, sl_layer_group, operations, "operations",
	      "all of the vector"),
	SL__F(WHOLE, sl_layer_group, n_bytes, "bytes",
	      "weights, read and written"),
	SL__F(NUMBER, sl_layer_group, share, "share", "as of operations",
	      .absent = "nothing is computed"),
};
static SL__RECORD(group, "node_group", sl_layer_group, group_fields, 0);

static const struct sl__field tensor_fields[] = {
	SL__F(TEXT, sl_parameter_row, name, "name", "of the tensor"),
	SL__F(WHOLE, sl_parameter_row, value_id, "value",
	      "its number in the model"),
	SL__F(WORD, sl_parameter_row, role, "role", "what it is for",
	      .words = &sl__words_role),
	SL__F(WORD, sl_parameter_row, dtype, "dtype", "of its numbers",
	      .words = &sl__words_dtype),
	SL__F_LIST(SIGNEDS, sl_parameter_row, dims, rank, "shape", "its sizes"),
	SL__F(WHOLE, sl_parameter_row, n_elements, "elements", "numbers"),
	SL__F(WHOLE, sl_parameter_row, n_bytes, "bytes", "as stored"),
	SL__F(TEXT, sl_parameter_row, tied_to, "tied_to",
	      "of a copy: the weight", .is_left_out = 1),
	SL__F(TEXT, sl_parameter_row, storage, "file", "that holds it",
	      .is_left_out = 1),
};
static SL__RECORD(tensor, "tensors", sl_parameter_row, tensor_fields, 0);

SL__WHY(no_seed, sl_inspection, i, i->seed ? NULL : "no weights are generated")

static const struct sl__field inspection_fields[] = {
	SL__F_GROUP(&sl__table_model, "model", "what it is"),
	SL__F(WHOLE, sl_inspection, seed, "seed", "of generated weights",
	      .why = no_seed, .is_left_out = 1),
	SL__F_GROUP(&sl__table_cost, "cost", "what it computes and moves"),
	SL__F_LIST(LIST, sl_inspection, explanations, n_explanations,
		   "explanations", "why tools differ", .of = &explanation,
		   .is_left_out = 1),
	SL__F_GROUP(&sl__table_live_set, "memory", "of inference"),
	SL__F(OBJECT, sl_inspection, training, "training", "of one step",
	      .of = &sl__table_training),
	SL__F_LIST(LIST, sl_inspection, growth, n_growth, "growth",
		   "how figures grow with sizes", .of = &sl__table_growth),
	SL__F_LIST(LIST, sl_inspection, layers, n_layers, "operations",
		   "every node, in the order they run", .of = &layer),
	SL__F_LIST(LIST, sl_inspection, by_type, n_types, "by_type",
		   "most work first", .of = &group),
	SL__F_LIST(LIST, sl_inspection, by_path, n_paths, "by_path",
		   "most work first", .of = &group),
	SL__F_LIST(LIST, sl_inspection, parameters.rows, parameters.n_rows,
		   "tensors", "in the order of the file", .of = &tensor),
	SL__F_LIST(LIST, sl_inspection, weights, n_weights, "weights",
		   "what the numbers are like", .of = &sl__table_weight,
		   .is_left_out = 1),
	SL__F(POINTER, sl_inspection, hardware, NULL, NULL,
	      .of = &sl__table_hardware),
};
/* Without a row, nobody asked for machines. */
static void
settle_inspection(void *record)
{
	struct sl_inspection *i = record;

	if (i->hardware && !i->hardware->n_rows)
		i->hardware = NULL;
}

SL__RECORD(sl__table_inspection, "inspect", sl_inspection, inspection_fields,
	   .settle = settle_inspection);

SL__WHY(are_several, sl__inspections_document, i,
	i->n > 1 ? "several models" : NULL)

static const char *
is_one(const void *record, const void *parent)
{
	return are_several(record, parent) ? NULL : "one model";
}

static const struct sl__field document_fields[] = {
	SL__F_LIST(FIRST, sl__inspections_document, list, n, NULL,
		   "the only model", .of = &sl__table_inspection,
		   .is_of_pointers = 1, .why = are_several),
	SL__F_LIST(LIST, sl__inspections_document, list, n, "results",
		   "several models", .of = &sl__table_inspection,
		   .is_of_pointers = 1, .why = is_one, .is_left_out = 1),
};
SL__RECORD(sl__table_inspections, "inspect", sl__inspections_document,
	   document_fields, 0);
