/* SPDX-License-Identifier: Apache-2.0 */
/* quantize.h - models of reals into models of small integers. */
#ifndef SL_QUANTIZE_H
#define SL_QUANTIZE_H

#include "graph/shapes.h"

/* What is quantized.  The graph outlives the model that is made of it. */
struct sl__quantize_options {
	const struct sl_graph *graph;
	const struct sl__shapes *shapes; /* of it, all sizes bound */
	const unsigned char *is_kept;    /* by node: stays as it is */
	const struct sl_allocator *allocator;
};

struct sl__value_range {
	double low, high;
};

/* Marks the values whose ranges sl__quantize_static() needs; is_wanted[] has a
 * place for each value of the graph. */
enum sl_status sl__quantize_find_values(unsigned char *is_wanted,
					const struct sl__quantize_options *how,
					struct sl_error *err) SL_CHECKED;

/* Marks the layers that sl__quantize_static() changes; is_layer[] has a place
 * for each node of the graph. */
enum sl_status sl__quantize_find_layers(unsigned char *is_layer,
					const struct sl__quantize_options *how,
					struct sl_error *err) SL_CHECKED;

/*
 * Convolutions and matrix products by constants take u8 activations and i8
 * weights, written as QuantizeLinear and DequantizeLinear around each.
 * Activations have one scale and zero point, weights a scale for each output
 * channel, biases are i32.  Pools, residual sums, Concat and what only moves
 * elements pass codes on.  BatchNormalization is folded into the weights
 * before.  Tables that are looked up or added are i8 with a scale for each row.
 * ranges[] is by value of the graph.  *n_layers is how many
 * convolutions and products changed; SL_E_DATA where there are none, and for a
 * model before operator set 13, which brought scales along an axis.
 */
enum sl_status sl__quantize_static(struct sl_graph **out, size_t *n_layers,
				   const struct sl__quantize_options *how,
				   const struct sl__value_range *ranges,
				   struct sl_error *err) SL_CHECKED;

/* Matrix products by constants round their rows to u8 by what each call spans,
 * and have i8 weights with a scale for each column:
 * com.microsoft.DynamicQuantizeMatMul.  Otherwise like sl__quantize_static().
 */
enum sl_status sl__quantize_dynamic(struct sl_graph **out, size_t *n_layers,
				    const struct sl__quantize_options *how,
				    struct sl_error *err) SL_CHECKED;

/*
 * Matrix products by constants keep their rows and have weights of 4 or 8 bits,
 * with a scale for each 32 of a column: com.microsoft.MatMulNBits, which lets
 * a runtime round rows to 8 bits too.  Otherwise like sl__quantize_static().
 */
enum sl_status sl__quantize_weights(struct sl_graph **out, size_t *n_layers,
				    const struct sl__quantize_options *how,
				    int n_bits,
				    struct sl_error *err) SL_CHECKED;

#endif
