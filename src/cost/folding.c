/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folding.c - BatchNorms that an exporter folded into convolutions.
 *
 * Folding leaves a convolution with a bias and no trace but names: PyTorch's
 * exporters call what they made "onnx::Conv_497" or "497" beside weights that
 * kept their module's name, or "conv1.weight_bias"; TensorFlow's writes
 * "fused_bn" or keeps the BatchNorm's name on the result.  What carries no such
 * name is not claimed.
 */
#include "base/status.h"
#include "cost/parameters.h"
#include "graph/op_rules.h"

#include <ctype.h>
#include <string.h>

#include "base/banned.h"

static int
is_number(const char *text)
{
	if (!*text)
		return 0;
	while (isdigit((unsigned char)*text))
		text++;
	return !*text;
}

/* "onnx::Conv_497", "497": made by PyTorch's exporter. */
static int
is_anonymous(const char *name)
{
	static const char prefix[] = "onnx::Conv_";

	if (!strncmp(name, prefix, sizeof(prefix) - 1))
		name += sizeof(prefix) - 1;
	return is_number(name);
}

/* "bn" as a word of its own, or a longer form of it. */
static int
mentions_batch_norm(const char *name)
{
	const char *at = name;

	if (strstr(name, "BatchNorm") || strstr(name, "batch_norm") ||
	    strstr(name, "batchnorm"))
		return 1;
	while ((at = strstr(at, "bn"))) {
		int starts = at == name || !isalpha((unsigned char)at[-1]);

		if (starts && !isalpha((unsigned char)at[2]))
			return 1;
		at += 2;
	}
	return 0;
}

/* "conv1.weight_bias" beside "conv1.weight": PyTorch's newer exporter. */
static int
is_derived(const char *bias, const char *weight)
{
	size_t n = strlen(weight);

	return !strncmp(bias, weight, n) && !strcmp(bias + n, "_bias");
}

/* The parameter behind an input, through a dequantization or a second name;
 * or SL__NONE. */
static uint32_t
parameter_of(const struct sl_graph *graph, const struct sl__node *node,
	     uint32_t i)
{
	uint32_t value = i < node->n_inputs ? node->inputs[i] : SL__NONE;
	const struct sl__node *producer;

	if (value == SL__NONE || graph->values[value].tensor)
		return value;
	if (graph->values[value].producer == SL__NONE)
		return SL__NONE;
	producer = &graph->nodes[graph->values[value].producer];
	if (!sl__is_op(producer, SL__OP_ONNX_DequantizeLinear) &&
	    !sl__is_op(producer, SL__OP_ONNX_Identity))
		return SL__NONE;
	value = producer->inputs[0];
	return value != SL__NONE && graph->values[value].tensor ? value
								: SL__NONE;
}

struct tally {
	size_t n_anonymous, n_named; /* convolutions, by what betrays them */
	uint64_t anonymous_channels, named_channels;
	size_t n_convs;
	int has_module_names; /* some weight kept its module's */
};

static void
tally_conv(struct tally *tally, const struct sl_graph *graph,
	   const struct sl__node *node)
{
	int is_q = sl__is_op(node, SL__OP_ONNX_QLinearConv);
	uint32_t weight = parameter_of(graph, node, is_q ? 3 : 1);
	uint32_t bias = parameter_of(graph, node, is_q ? 8 : 2);
	uint32_t out = node->n_outputs ? node->outputs[0] : SL__NONE;
	uint64_t n_channels;
	const char *w, *b;

	tally->n_convs++;
	if (weight == SL__NONE || bias == SL__NONE)
		return;
	w = graph->values[weight].name;
	b = graph->values[bias].name;
	n_channels = graph->values[bias].tensor->n_elements;
	if (is_anonymous(w) && is_anonymous(b)) {
		tally->n_anonymous++;
		tally->anonymous_channels += n_channels;
	} else if (is_derived(b, w) || mentions_batch_norm(w) ||
		   mentions_batch_norm(b) ||
		   (out != SL__NONE &&
		    mentions_batch_norm(graph->values[out].name))) {
		tally->n_named++;
		tally->named_channels += n_channels;
	}
}

static void
take_stock(struct tally *tally, struct sl__roles *roles,
	   const struct sl_graph *graph)
{
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct sl__node *node = &graph->nodes[i];

		if (sl__is_op(node, SL__OP_ONNX_BatchNormalization))
			roles->n_batch_norms++;
		if (sl__is_op(node, SL__OP_ONNX_Conv) ||
		    sl__is_op(node, SL__OP_ONNX_ConvTranspose) ||
		    sl__is_op(node, SL__OP_ONNX_QLinearConv) ||
		    sl__is_op(node, SL__OP_MS_FusedConv))
			tally_conv(tally, graph, node);
	}
	for (size_t v = 0; v < graph->n_values; v++) {
		const struct sl__value *value = &graph->values[v];

		if (value->tensor && roles->role[v] == SL_ROLE_WEIGHT &&
		    strchr(value->name, '.') && !is_anonymous(value->name))
			tally->has_module_names = 1;
	}
}

enum sl_status
sl__roles_find_folded_norms(struct sl__roles *roles,
			    const struct sl_graph *graph,
			    struct sl__arena *arena, struct sl_error *err)
{
	struct tally tally = {0};
	uint64_t n_channels;

	take_stock(&tally, roles, graph);
	/* Old exporters numbered everything: a number alone says nothing. */
	if (!tally.has_module_names)
		tally.n_anonymous = tally.anonymous_channels = 0;
	roles->n_folded = tally.n_anonymous + tally.n_named;
	if (!roles->n_folded)
		return SL_OK;
	n_channels = tally.anonymous_channels + tally.named_channels;
	/* A BatchNorm has a scale and a shift per channel where the folded
	 * convolution has a bias, and two statistics. */
	roles->folding = sl__arena_format(
		arena,
		"%zu of %zu convolutions carry a bias that was a BatchNorm, "
		"judged by their names; unfolded, the model has %llu more "
		"trainable parameters and %llu statistics",
		roles->n_folded, tally.n_convs, (unsigned long long)n_channels,
		(unsigned long long)(2 * n_channels));
	return roles->folding ? SL_OK : sl__fail_nomem(err);
}
