/* SPDX-License-Identifier: Apache-2.0 */
/* quantize_mark.h - which values of a model become codes. */
#ifndef SL_QUANTIZE_MARK_H
#define SL_QUANTIZE_MARK_H

#include "transform/quantize.h"
#include "transform/rewrite.h"

/* A convolution or matrix product by a constant. */
struct sl__quantizable_layer {
	uint32_t node;
	int axis; /* of the weights: output channels */
	const struct sl__tensor *weights, *bias; /* bias may be NULL */
};

/* Whether a node of the rewrite is one that is not kept. */
int sl__quantizable_layer_read(struct sl__quantizable_layer *out,
			       const struct sl__rewrite *rw, uint32_t node,
			       const unsigned char *is_kept);

/*
 * Whether a node looks rows up in a constant table (Gather along its first
 * dimension) or adds one (positions): 'weights' is the table, 'axis' the
 * dimension of its rows, and *operand which input it is.  Rows of fewer than 8
 * numbers are not worth a scale, one row is a bias, and tables of more than a
 * MiB stay.
 */
int sl__quantizable_table_read(struct sl__quantizable_layer *out,
			       size_t *operand, const struct sl__rewrite *rw,
			       uint32_t node, const unsigned char *is_kept);

/*
 * By value of the rewrite.  A value that is 'made' of codes is quantized by
 * whoever makes it, for all that use it; one that is only 'taken' is for the
 * layers that take it.  Values of one scale have the same root.
 */
struct sl__quantize_marks {
	unsigned char *is_made, *is_taken;
	uint32_t *parents; /* towards the root */
};

/* Storage is the rewrite's, whose failure it is. */
void sl__quantize_mark(struct sl__quantize_marks *out, struct sl__rewrite *rw,
		       const unsigned char *is_kept);

uint32_t sl__quantize_marks_root(const struct sl__quantize_marks *marks,
				 uint32_t value);

/* Gives a product's bias, its own or what an Add after it adds, to the node that
 * takes its place, after so many inputs left out; returns the node whose result
 * the new one gives. */
uint32_t sl__layer_bias_add(struct sl__node_builder *m, uint32_t id,
			    int n_left_out);

/* The version of ONNX's own operator set; 0: the model has none. */
int sl__quantize_opset(const struct sl_graph *graph);

/* The quantized model: what nothing needs any more is gone.  SL_E_DATA where no
 * layer changed. */
enum sl_status sl__quantize_finish(struct sl_graph **out,
				   struct sl__rewrite *rw,
				   size_t n_layers) SL_CHECKED;

#endif
