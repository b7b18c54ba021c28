/* SPDX-License-Identifier: Apache-2.0 */
/*
 * training_loss.c - what a model's output is compared with, and how.
 *
 * A softmax or sigmoid that the model ends in is part of its loss: the loss is
 * of the scores before it, which is the same number, computed without
 * overflow.  Classes are along the last dimension of [n, c] and [n, s, c]
 * (text), along the second of images [n, c, h, w].
 */
#include "base/dtype.h"
#include "base/status.h"
#include "transform/training.h"

#include <string.h>

#include "base/banned.h"

/* The input of the node that makes a value where that is this operator. */
static uint32_t
before(const struct sl__node_writer *w, uint32_t value, enum sl__op_id op)
{
	uint32_t maker = w->graph->values[value].producer;

	return maker != SL__NONE && sl__is_op(&w->graph->nodes[maker], op)
		       ? w->graph->nodes[maker].inputs[0]
		       : SL__NONE;
}

/* Scores as [n, c] or [n, c, h, w] and targets as they belong to them. */
static void
shape_classes(struct sl__training_graph *t, struct sl__node_writer *w,
	      uint32_t *scores, uint32_t *targets)
{
	struct sl__type y = sl__node_writer_type(w, *scores), type = y;
	int64_t dims[SL__RANK_MOST], n = 1;
	int axis = y.rank == 3 ? 2 : 1, rank = 0;

	if (!w->rc && y.rank < 2)
		sl__node_writer_fail(w, SL_E_DATA,
				     "an output without classes has no "
				     "cross-entropy");
	if (w->rc)
		return;
	for (int d = 0; d < y.rank; d++) {
		if (d == axis)
			continue;
		dims[rank++] = y.dims[d];
		n *= y.dims[d];
	}
	t->n_classes = y.dims[axis];
	type.dtype = SL_DTYPE_I64;
	type.rank = rank;
	type.dims = dims;
	t->target = *targets =
		sl__node_writer_add_input(w, "target", &type, SL_VALUE_INPUT);
	if (y.rank == 3) {
		const int64_t rows[] = {n, y.dims[2]};

		*scores = sl__node_writer_reshape(w, *scores, rows, 2);
		*targets = sl__node_writer_reshape(w, *targets, rows, 1);
	}
}

/* Sum or mean of all elements. */
static uint32_t
reduce_all(struct sl__node_writer *w, enum sl__op_id op, uint32_t value)
{
	sl__node_writer_set_int(w, "keepdims", 0);
	return sl__node_writer_add(w, op, &value, 1);
}

/* The mean over targets that count of the mean over classes of -log p. */
static uint32_t
smooth_loss(struct sl__node_writer *w, uint32_t logs, uint32_t targets,
	    const struct sl__training_options *options)
{
	enum sl_dtype dtype = sl__node_writer_type(w, logs).dtype;
	const int64_t axis = 1;
	uint32_t axes = sl__node_writer_integers(w, &axis, 1), each, counts;

	sl__node_writer_set_int(w, "keepdims", 0);
	each = SL__ADD_NODE(w, ONNX_ReduceMean, logs, axes);
	each = SL__ADD_NODE(w, ONNX_Neg, each);
	if (!options->has_ignored)
		return reduce_all(w, SL__OP_ONNX_ReduceMean, each);
	counts = SL__ADD_NODE(w, ONNX_Equal, targets,
			      sl__node_writer_scalar(w, SL_DTYPE_I64,
						     (double)options->ignored));
	counts = SL__ADD_NODE(w, ONNX_Not, counts);
	sl__node_writer_set_int(w, "to", dtype);
	counts = SL__ADD_NODE(w, ONNX_Cast, counts);
	each = SL__ADD_NODE(w, ONNX_Mul, each, counts);
	return SL__ADD_NODE(w, ONNX_Div,
			    reduce_all(w, SL__OP_ONNX_ReduceSum, each),
			    reduce_all(w, SL__OP_ONNX_ReduceSum, counts));
}

static uint32_t
class_loss(struct sl__training_graph *t, struct sl__node_writer *w,
	   const struct sl__training_options *options)
{
	uint32_t scores = before(w, t->output, SL__OP_ONNX_Softmax);
	uint32_t logs = before(w, t->output, SL__OP_ONNX_LogSoftmax);
	int is_nll = options->loss == SL_LOSS_NLL, is_smooth;
	uint32_t targets = SL__NONE, loss;

	if (is_nll && scores != SL__NONE && !w->rc)
		w->rc = sl__fail(w->err, SL_E_DATA,
				 "output '%.200s' is that of a Softmax: the "
				 "loss nll takes logarithms of probabilities, "
				 "cross-entropy takes these",
				 w->graph->values[t->output].name);
	is_smooth = options->smoothing > 0;
	if (!is_nll && logs != SL__NONE)
		scores = logs;
	if (is_nll || scores == SL__NONE)
		scores = t->output;
	shape_classes(t, w, &scores, &targets);
	if (!is_nll && is_smooth) {
		sl__node_writer_set_int(w, "axis", 1);
		scores = SL__ADD_NODE(w, ONNX_LogSoftmax, scores);
		is_nll = 1;
	}
	if (options->has_ignored)
		sl__node_writer_set_int(w, "ignore_index", options->ignored);
	loss = is_nll ? SL__ADD_NODE(w, ONNX_NegativeLogLikelihoodLoss, scores,
				     targets)
		      : SL__ADD_NODE(w, ONNX_SoftmaxCrossEntropyLoss, scores,
				     targets);
	if (!is_smooth)
		return loss;
	return SL__ADD_NODE(
		w, ONNX_Add,
		sl__node_writer_scale(w, loss, 1 - options->smoothing),
		sl__node_writer_scale(w,
				      smooth_loss(w, scores, targets, options),
				      options->smoothing));
}

/* (y - t)^2, or softplus(x) - x t, which is -t log p - (1 - t) log(1 - p). */
static uint32_t
element_loss(struct sl__training_graph *t, struct sl__node_writer *w,
	     const struct sl__training_options *options)
{
	uint32_t x = t->output, each;
	struct sl__type type = sl__node_writer_type(w, x);

	t->target =
		sl__node_writer_add_input(w, "target", &type, SL_VALUE_INPUT);
	if (options->loss == SL_LOSS_MSE) {
		each = SL__ADD_NODE(w, ONNX_Sub, x, t->target);
		each = SL__ADD_NODE(w, ONNX_Mul, each, each);
	} else {
		if (before(w, x, SL__OP_ONNX_Sigmoid) != SL__NONE)
			x = before(w, x, SL__OP_ONNX_Sigmoid);
		each = SL__ADD_NODE(w, ONNX_Sub,
				    SL__ADD_NODE(w, ONNX_Softplus, x),
				    SL__ADD_NODE(w, ONNX_Mul, x, t->target));
	}
	return reduce_all(w, SL__OP_ONNX_ReduceMean, each);
}

/* The output that is trained. */
static enum sl_status
find_output(struct sl__training_graph *t, const struct sl__node_writer *w,
	    const char *name)
{
	const struct sl__block *main = &w->graph->blocks[0];

	for (size_t k = 0; k < main->n_outputs; k++) {
		t->output = main->outputs[k];
		if (name && strcmp(w->graph->values[t->output].name, name) != 0)
			continue;
		if (sl__dtype_family(w->shapes->types[t->output].dtype) ==
		    SL__DTYPE_FLOAT)
			return SL_OK;
		return sl__fail(w->err, SL_E_DATA,
				"output '%.200s' holds no real numbers: it "
				"cannot be trained",
				w->graph->values[t->output].name);
	}
	return sl__fail(w->err, SL_E_DATA, "the model has no output '%.200s'",
			name ? name : "");
}

void
sl__training_add_loss(struct sl__training_graph *t,
		      struct sl__differentiation *d,
		      const struct sl__training_options *options)
{
	struct sl__node_writer *w = &d->w;

	if (!w->rc)
		w->rc = find_output(t, w, options->output);
	w->phase = SL_PHASE_LOSS;
	w->forward = SL__NONE;
	w->name = "loss";
	if (w->rc)
		return;
	t->loss = options->loss == SL_LOSS_MSE || options->loss == SL_LOSS_BCE
			  ? element_loss(t, w, options)
			  : class_loss(t, w, options);
	if (!w->rc)
		w->graph->values[t->loss].name = "loss";
}
