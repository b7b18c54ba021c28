/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize_weights.c - matrix products whose weights have few bits.
 *
 * Each column of the weights is cut into blocks of 32 numbers with a scale of
 * their own.  Codes of 4 bits reach from -8 to 7: the largest number of a block
 * is -8, whichever its sign, by a scale that may be negative.
 */
#include "base/status.h"
#include "transform/quantize_mark.h"
#include "transform/rewrite_values.h"

#include <math.h>

#include "base/banned.h"

enum { BLOCK = 32 };

/* The weights of a layer as f32: [k][n], or [n][k] where transposed. */
struct matrix {
	const float *numbers;
	void *scratch; /* of numbers that are made when read */
	int64_t k, n, k_stride, n_stride, n_blocks;
};

static int
read_matrix(struct matrix *out, const struct sl__quantizable_layer *layer,
	    struct sl__rewrite *rw)
{
	const struct sl__tensor *t = layer->weights;

	*out = (struct matrix){.k = t->dims[1 - layer->axis],
			       .n = t->dims[layer->axis]};
	out->k_stride = layer->axis ? out->n : 1;
	out->n_stride = layer->axis ? 1 : out->k;
	out->n_blocks = (out->k + BLOCK - 1) / BLOCK;
	if (!t->bytes) {
		out->scratch =
			sl__allocator_alloc(&rw->allocator, (size_t)t->n_bytes);
		if (!out->scratch)
			sl__rewrite_fail(rw, SL_E_NOMEM, "out of memory");
	}
	out->numbers = rw->rc ? NULL
			      : sl__tensor_byte_range(t, 0, (size_t)t->n_bytes,
						      out->scratch);
	return out->numbers != NULL;
}

/* One block of a column as codes; returns its scale, NaN where a number is not
 * finite. */
static float
round_block(const struct matrix *w, int64_t column, int64_t block, int n_bits,
	    unsigned char *codes)
{
	const float *from =
		w->numbers + column * w->n_stride + block * BLOCK * w->k_stride;
	int64_t n = w->k - block * BLOCK < BLOCK ? w->k - block * BLOCK : BLOCK;
	int zero = 1 << (n_bits - 1);
	float most = 0, scale;

	for (int64_t i = 0; i < n; i++) {
		float x = from[i * w->k_stride];

		if (!isfinite(x))
			return NAN;
		if (fabsf(x) > fabsf(most))
			most = x;
	}
	scale = n_bits == 4 ? most / -8 : fabsf(most) / 127;
	for (int64_t i = 0; i < BLOCK; i++) {
		float x = i < n && fabsf(scale) > 0
				  ? nearbyintf(from[i * w->k_stride] / scale)
				  : 0;
		int code = (int)x + zero;

		codes[i] =
			(unsigned char)(code < 2 * zero ? code : 2 * zero - 1);
	}
	return scale;
}

static int
round_matrix(const struct matrix *w, int n_bits, unsigned char *to,
	     float *scales)
{
	unsigned char codes[BLOCK];

	for (int64_t c = 0; c < w->n; c++) {
		for (int64_t b = 0; b < w->n_blocks; b++, scales++) {
			*scales = round_block(w, c, b, n_bits, codes);
			if (isnan(*scales))
				return 0;
			for (int i = 0; n_bits == 8 && i < BLOCK; i++)
				*to++ = codes[i];
			for (int i = 0; n_bits == 4 && i < BLOCK; i += 2)
				*to++ = (unsigned char)(codes[i] |
							codes[i + 1] << 4);
		}
	}
	return 1;
}

/* Codes and scales as inputs of the new node. */
static int
add_weights(struct sl__node_builder *m,
	    const struct sl__quantizable_layer *layer, int n_bits)
{
	struct sl__rewrite *rw = m->rw;
	unsigned char *codes = NULL, *scales = NULL;
	struct matrix w;
	int is_done = read_matrix(&w, layer, rw);
	int64_t dims[3] = {w.n, w.n_blocks, BLOCK * n_bits / 8};
	int64_t n_scales = w.n * w.n_blocks;
	const struct sl__tensor packed = {
		.dtype = SL_DTYPE_U8, .rank = 3, .dims = dims};
	const struct sl__tensor each = {
		.dtype = SL_DTYPE_F32, .rank = 1, .dims = &n_scales};

	if (is_done) {
		sl__node_builder_add_input(
			m, sl__rewrite_add_constant(rw, &packed, &codes));
		sl__node_builder_add_input(
			m, sl__rewrite_add_constant(rw, &each, &scales));
		is_done = codes && scales &&
			  round_matrix(&w, n_bits, codes,
				       (float *)(void *)scales);
	}
	sl__allocator_free(&rw->allocator, w.scratch);
	sl__node_builder_set_int(m, "K", w.k);
	sl__node_builder_set_int(m, "N", w.n);
	sl__node_builder_set_int(m, "bits", n_bits);
	sl__node_builder_set_int(m, "block_size", BLOCK);
	sl__node_builder_set_int(m, "accuracy_level", 4);
	return is_done;
}

/* Whether the node was a layer, which is one of few bits now. */
static int
convert(struct sl__rewrite *rw, const struct sl__quantize_options *how,
	uint32_t id, int n_bits)
{
	struct sl__quantizable_layer layer;
	struct sl__node_builder m;
	uint32_t last;

	if (!sl__quantizable_layer_read(&layer, rw, id, how->is_kept) ||
	    layer.weights->rank != 2 ||
	    layer.weights->dims[1 - layer.axis] < BLOCK)
		return 0;
	sl__node_builder_begin(&m, rw, "com.microsoft", "MatMulNBits", 1);
	m.node.name = rw->nodes[id].node.name;
	sl__node_builder_add_input(&m, sl__rewrite_input(rw, id, 0));
	if (!add_weights(&m, &layer, n_bits)) {
		sl__rewrite_fail(rw, SL_E_DATA,
				 "weights are not finite numbers");
		return 0;
	}
	last = sl__layer_bias_add(&m, id, 2);
	sl__node_builder_add_output(&m, sl__rewrite_output(rw, last));
	sl__node_builder_add_covered(&m, id);
	sl__node_builder_finish(&m);
	return 1;
}

enum sl_status
sl__quantize_weights(struct sl_graph **out, size_t *n_layers,
		     const struct sl__quantize_options *how, int n_bits,
		     struct sl_error *err)
{
	struct sl__rewrite *rw;
	enum sl_status rc = sl__rewrite_new(&rw, how->graph, how->shapes,
					    how->allocator, err);
	size_t n_nodes = rc ? 0 : rw->n_nodes;

	*out = NULL;
	*n_layers = 0;
	if (rc)
		return rc;
	for (uint32_t id = 0; !rw->rc && id < n_nodes; id++)
		*n_layers += convert(rw, how, id, n_bits) != 0;
	rc = sl__quantize_finish(out, rw, *n_layers);
	sl__rewrite_free(rw);
	return rc;
}
