/* SPDX-License-Identifier: Apache-2.0 */
/* builder_layers.h - layers and short forms beyond the public header. */
#ifndef SL_BUILDER_LAYERS_H
#define SL_BUILDER_LAYERS_H

#include "model/builder.h"
#include "sleuth/models.h"

/*
 * Like the layers of the public header: each returns the value it makes, -1
 * after a failure, and takes the name, attributes and gain that were set.
 */

/* The next layer's weights are scaled by this: below 1 at the end of residual
 * branches, whose sum would grow with the depth else. */
void sl__builder_set_weight_gain(struct sl_builder *b, double gain);

/* Layers from here on begin as training does: norms 1, biases and shifts 0.
 * Otherwise they differ a little, as those of trained models do. */
void sl__builder_set_untrained(struct sl_builder *b);

/* With about this scale, and shifts of this deviation. */
int sl__builder_batch_norm(struct sl_builder *b, int x, double scale,
			   double shift);

/* Operators with one, two and three inputs. */
int sl__builder_op1(struct sl_builder *b, const char *type, int x);
int sl__builder_op2(struct sl_builder *b, const char *type, int x, int y);
int sl__builder_op3(struct sl_builder *b, const char *type, int x, int y,
		    int z);

/* Reshape to constant sizes (0 keeps one, -1 is the rest), Transpose. */
int sl__builder_reshape(struct sl_builder *b, int x, size_t n,
			const int64_t *sizes);
int sl__builder_transpose(struct sl_builder *b, int x, size_t n,
			  const int64_t *order);

/* Concat of n values. */
int sl__builder_concat(struct sl_builder *b, int64_t axis, size_t n,
		       const int *values);

/* n equal parts along the last dimension: their numbers follow each other. */
int sl__builder_split(struct sl_builder *b, int x, int64_t n);

/* Dimensions first .. end - 1 of x, as a list computed by the model. */
int sl__builder_shape_slice(struct sl_builder *b, int x, int64_t first,
			    int64_t end);

/* Dimension d of x as a single integer computed by the model. */
int sl__builder_shape_dim(struct sl_builder *b, int x, int64_t d);

/* Rows of a table of weights; 'table' is [n][width]. */
int sl__builder_embedding_weight(struct sl_builder *b, const char *name,
				 int64_t n, int64_t width, double deviation);
int sl__builder_gather(struct sl_builder *b, int table, int rows);

/* x * sigmoid(x), as exporters write it. */
int sl__builder_silu(struct sl_builder *b, int x);

/* [batch][n][heads * width] to [batch][heads][n][width], and back. */
int sl__builder_split_heads(struct sl_builder *b, int x, int64_t heads,
			    int64_t width);
int sl__builder_join_heads(struct sl_builder *b, int x, int64_t heads,
			   int64_t width);

/*
 * The heart of attention, softmax(q k / sqrt(width)) v: q is [..., n, width],
 * k and v are [..., m, width].  'mask' is added to the products, -1 for none.
 */
int sl__builder_attend(struct sl_builder *b, const int qkv[3], int64_t width,
		       int mask);

/* [n][n] for n = dimension d of x, with the most negative number above the
 * diagonal and 0 elsewhere: what a causal model adds to its products. */
int sl__builder_causal_mask(struct sl_builder *b, int x, int64_t d);

#endif
