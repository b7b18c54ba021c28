/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize.c - models of reals into models of small integers.
 *
 * The model stays one of reals: QuantizeLinear and DequantizeLinear stand where
 * a value becomes codes, and integers of weights before a DequantizeLinear.
 * Runtimes, this one among them, compute with the integers in between
 * (fuse_quantized.c).
 */
#include "transform/quantize.h"
#include "base/status.h"
#include "transform/optimize.h"
#include "transform/quantize_mark.h"
#include "transform/rewrite_values.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

enum {
	PIECE = 4096,    /* weights that are read at a time */
	OPSET_LEAST = 13 /* scales along an axis came with it */
};

/* The codes that a class of values has: constants, made when first needed. */
struct codes {
	double scale;
	uint32_t scale_value, zero_value;
	int is_there;
};

struct quantizer {
	const struct sl__quantize_options *how;
	struct sl__rewrite *rw;
	struct sl__quantize_marks marks;
	struct sl__value_range *ranges; /* by root */
	struct codes *codes;            /* by root */
	uint32_t *taken; /* by value: what layers take in its place */
	int version;     /* of the operator set */
	size_t n_layers;
};

/* The model with its normalisations folded into weights, and the marks. */
static enum sl_status
begin(struct quantizer *q, const struct sl__quantize_options *how,
      struct sl_error *err)
{
	enum sl_status rc;

	*q = (struct quantizer){.how = how,
				.version = sl__quantize_opset(how->graph)};
	if (q->version < OPSET_LEAST)
		return sl__fail(err, SL_E_DATA,
				"the model is of operator set %d; scales for "
				"each channel need %d or later",
				q->version, OPSET_LEAST);
	rc = sl__rewrite_new(&q->rw, how->graph, how->shapes, how->allocator,
			     err);
	if (rc)
		return rc;
	sl__pass_dead(q->rw);
	sl__pass_fuse_norm(q->rw);
	sl__quantize_mark(&q->marks, q->rw, how->is_kept);
	return q->rw->rc;
}

enum sl_status
sl__quantize_find_values(unsigned char *is_wanted,
			 const struct sl__quantize_options *how,
			 struct sl_error *err)
{
	struct quantizer q;
	enum sl_status rc = begin(&q, how, err);

	for (size_t i = 0; !rc && i < how->graph->n_values; i++)
		is_wanted[i] = q.marks.is_made[i] || q.marks.is_taken[i];
	sl__rewrite_free(q.rw);
	return rc;
}

/* The node of the model that a layer is: others that it covers were folded into
 * it. */
static uint32_t
layer_node(const struct quantizer *q, uint32_t id)
{
	const struct sl__mutable_node *row = &q->rw->nodes[id];

	for (size_t i = 0; i < row->n_covers; i++) {
		const struct sl__node *node =
			&q->how->graph->nodes[row->covers[i]];

		if (!strcmp(node->type, row->node.type))
			return row->covers[i];
	}
	return row->covers[0];
}

enum sl_status
sl__quantize_find_layers(unsigned char *is_layer,
			 const struct sl__quantize_options *how,
			 struct sl_error *err)
{
	struct sl__quantizable_layer layer;
	struct quantizer q;
	enum sl_status rc = begin(&q, how, err);

	for (uint32_t id = 0; !rc && id < q.rw->n_nodes; id++) {
		if (sl__quantizable_layer_read(&layer, q.rw, id, how->is_kept))
			is_layer[layer_node(&q, id)] = 1;
	}
	sl__rewrite_free(q.rw);
	return rc;
}

/* Each class takes in what all of its values reach; zero is a code. */
static void
join_ranges(struct quantizer *q, const struct sl__value_range *ranges)
{
	size_t n = q->rw->to->n_values;

	q->ranges = sl__rewrite_alloc(q->rw, n, sizeof(*q->ranges));
	q->codes = sl__rewrite_alloc(q->rw, n, sizeof(*q->codes));
	q->taken = sl__rewrite_alloc(q->rw, n, sizeof(*q->taken));
	for (uint32_t i = 0; !q->rw->rc && i < n; i++) {
		uint32_t root = sl__quantize_marks_root(&q->marks, i);

		q->taken[i] = SL__NONE;
		if (i >= q->how->graph->n_values ||
		    (!q->marks.is_made[i] && !q->marks.is_taken[i]))
			continue;
		q->ranges[root].low = fmin(q->ranges[root].low, ranges[i].low);
		q->ranges[root].high =
			fmax(q->ranges[root].high, ranges[i].high);
	}
}

static uint32_t
add_scalar(struct quantizer *q, double x)
{
	return sl__rewrite_add_f32_constant(q->rw, 0, NULL, &x);
}

/* Codes 0 to 255; the scale is what f32 holds of it. */
static const struct codes *
codes_of(struct quantizer *q, uint32_t value)
{
	uint32_t root = sl__quantize_marks_root(&q->marks, value);
	struct codes *c = &q->codes[root];
	double low = q->ranges[root].low, high = q->ranges[root].high;
	int64_t zero;

	if (c->is_there)
		return c;
	c->is_there = 1;
	c->scale = (double)(float)((high - low) / 255);
	if (!(c->scale >= (double)FLT_MIN))
		c->scale = 1; /* nothing but zeros was seen */
	zero = (int64_t)fmin(255, fmax(0, nearbyint(-low / c->scale)));
	c->scale_value = add_scalar(q, c->scale);
	c->zero_value = sl__rewrite_add_integer_constant(q->rw, SL_DTYPE_U8, 0,
							 NULL, &zero);
	return c;
}

static void
add_node(struct quantizer *q, const char *type, const uint32_t *inputs,
	 size_t n, uint32_t output)
{
	struct sl__node_builder m;

	sl__node_builder_begin(&m, q->rw, "", type, q->version);
	sl__node_builder_add_inputs(&m, inputs, n);
	sl__node_builder_add_output(&m, output);
	sl__node_builder_finish(&m);
}

/* 'to' is 'from' through codes. */
static void
add_codes(struct quantizer *q, uint32_t value, uint32_t from, uint32_t to)
{
	const struct codes *c = codes_of(q, value);
	struct sl__type type = q->rw->types[value];
	uint32_t inputs[3] = {from, c->scale_value, c->zero_value};

	type.dtype = SL_DTYPE_U8;
	inputs[0] = sl__rewrite_add_value(q->rw, "", &type);
	add_node(q, "QuantizeLinear", (uint32_t[]){from, inputs[1], inputs[2]},
		 3, inputs[0]);
	add_node(q, "DequantizeLinear", inputs, 3, to);
}

/* What a layer takes for a value. */
static uint32_t
take(struct quantizer *q, uint32_t value)
{
	if (q->marks.is_made[value])
		return value; /* by now it is made of codes */
	if (q->taken[value] == SL__NONE) {
		q->taken[value] =
			sl__rewrite_add_value(q->rw, "", &q->rw->types[value]);
		add_codes(q, value, value, q->taken[value]);
	}
	return q->taken[value];
}

/* The channel of an element: places along 'axis', of 'inner' elements each. */
struct channels {
	uint64_t n, inner;
};

static struct channels
channels_of(const struct sl__quantizable_layer *layer)
{
	const struct sl__tensor *t = layer->weights;
	struct channels c = {(uint64_t)t->dims[layer->axis], 1};

	for (size_t d = (size_t)layer->axis + 1; d < t->rank; d++)
		c.inner *= (uint64_t)t->dims[d];
	return c;
}

/* Symmetric, and so large that the bias fits its 32 bits with room for the
 * sums. */
static int
find_scales(double *scales, const struct sl__quantizable_layer *layer,
	    double x_scale)
{
	const struct sl__tensor *t = layer->weights;
	struct channels c = channels_of(layer);
	double piece[PIECE], b;

	for (uint64_t i = 0; i < t->n_elements; i += PIECE) {
		uint64_t n = t->n_elements - i < PIECE ? t->n_elements - i
						       : PIECE;

		if (!sl__tensor_doubles(t, i, (size_t)n, piece))
			return 0;
		for (uint64_t k = 0; k < n; k++) {
			double *most = &scales[(i + k) / c.inner % c.n];

			*most = fmax(*most, fabs(piece[k]));
		}
	}
	for (uint64_t i = 0; i < c.n; i++) {
		scales[i] = (double)(float)(scales[i] / 127);
		if (layer->bias && sl__tensor_doubles(layer->bias, i, 1, &b))
			scales[i] =
				fmax(scales[i], fabs(b) / (x_scale * 0x1p30));
		if (!(scales[i] >= (double)FLT_MIN))
			scales[i] = 1;
		if (!isfinite(scales[i]))
			return 0;
		scales[i] = (double)(float)scales[i];
	}
	return 1;
}

/* Codes of weights, -127 to 127. */
static int
round_weights(signed char *to, const struct sl__quantizable_layer *layer,
	      const double *scales)
{
	const struct sl__tensor *t = layer->weights;
	struct channels c = channels_of(layer);
	double piece[PIECE];

	for (uint64_t i = 0; i < t->n_elements; i += PIECE) {
		uint64_t n = t->n_elements - i < PIECE ? t->n_elements - i
						       : PIECE;

		if (!sl__tensor_doubles(t, i, (size_t)n, piece))
			return 0;
		for (uint64_t k = 0; k < n; k++) {
			double x = piece[k] / scales[(i + k) / c.inner % c.n];

			to[i + k] = (signed char)fmin(127,
						      fmax(-127, nearbyint(x)));
		}
	}
	return 1;
}

/* A DequantizeLinear of constant integers, with a scale for each place along
 * an axis.  Zero points may be left out, but not in ONNX Runtime's integer form
 * of Gemm. */
static uint32_t
add_constant(struct quantizer *q, const struct sl__type *type, uint32_t codes,
	     uint32_t scales, int axis, int has_zeros)
{
	uint32_t y = sl__rewrite_add_value(q->rw, "", type);
	struct sl__node_builder m;

	sl__node_builder_begin(&m, q->rw, "", "DequantizeLinear", q->version);
	sl__node_builder_set_int(&m, "axis", axis);
	sl__node_builder_add_input(&m, codes);
	sl__node_builder_add_input(&m, scales);
	if (has_zeros) {
		struct sl__tensor zeros = {.dtype = SL_DTYPE_I8,
					   .rank = 1,
					   .dims = &type->dims[axis]};
		unsigned char *bytes;

		sl__node_builder_add_input(
			&m, sl__rewrite_add_constant(q->rw, &zeros, &bytes));
	}
	sl__node_builder_add_output(&m, y);
	sl__node_builder_finish(&m);
	return y;
}

static uint32_t
add_bias(struct quantizer *q, const struct sl__quantizable_layer *layer,
	 const double *scales, double x_scale)
{
	uint32_t value = sl__rewrite_input(q->rw, layer->node, 2), codes;
	const struct sl__tensor *t = layer->bias;
	struct sl__tensor like = {
		.dtype = SL_DTYPE_I32, .rank = 1, .dims = t->dims};
	double *units = sl__rewrite_alloc(q->rw, (size_t)t->n_elements,
					  sizeof(*units)),
	       b;
	unsigned char *bytes;

	codes = sl__rewrite_add_constant(q->rw, &like, &bytes);
	for (uint64_t i = 0; !q->rw->rc && i < t->n_elements; i++) {
		int64_t code;

		units[i] = (double)(float)(x_scale * scales[i]);
		if (!sl__tensor_doubles(t, i, 1, &b) || !isfinite(b))
			b = 0;
		code = (int64_t)nearbyint(b / units[i]);
		sl__store_integers(bytes, SL_DTYPE_I32, i, 1, &code);
	}
	if (q->rw->rc)
		return value;
	return add_constant(
		q, &q->rw->types[value], codes,
		sl__rewrite_add_f32_constant(q->rw, 1, t->dims, units), 0, 0);
}

/* Weights as codes with a scale for each place along the layer's axis;
 * SL__NONE where they are not finite. */
static uint32_t
add_weights(struct quantizer *q, const struct sl__quantizable_layer *layer,
	    uint32_t value, double *scales, int has_zeros)
{
	struct sl__rewrite *rw = q->rw;
	struct sl__tensor like = {.dtype = SL_DTYPE_I8,
				  .rank = layer->weights->rank,
				  .dims = layer->weights->dims};
	int64_t n = layer->weights->dims[layer->axis];
	unsigned char *bytes;
	uint32_t codes = sl__rewrite_add_constant(rw, &like, &bytes);

	if (!bytes || !round_weights((signed char *)bytes, layer, scales))
		return SL__NONE;
	return add_constant(q, &rw->types[value], codes,
			    sl__rewrite_add_f32_constant(rw, 1, &n, scales),
			    layer->axis, has_zeros);
}

/* The inputs of a layer; 0 where its weights are not finite. */
static int
add_layer_inputs(struct quantizer *q, struct sl__node_builder *m,
		 const struct sl__quantizable_layer *layer)
{
	struct sl__rewrite *rw = q->rw;
	uint32_t x = sl__rewrite_input(rw, layer->node, 0);
	uint32_t w = sl__rewrite_input(rw, layer->node, 1);
	int64_t n = layer->weights->dims[layer->axis];
	double x_scale = codes_of(q, x)->scale;
	double *scales = sl__rewrite_alloc(rw, (size_t)n, sizeof(*scales));

	if (!scales || !find_scales(scales, layer, x_scale))
		return 0;
	w = add_weights(
		q, layer, w, scales,
		sl__rewrite_node_is_op(rw, layer->node, SL__OP_ONNX_Gemm));
	if (w == SL__NONE)
		return 0;
	sl__node_builder_add_input(m, take(q, x));
	sl__node_builder_add_input(m, w);
	if (layer->bias)
		sl__node_builder_add_input(m,
					   add_bias(q, layer, scales, x_scale));
	return 1;
}

/* A table as codes, once for all who read it; itself where it cannot be. */
static uint32_t
take_table(struct quantizer *q, const struct sl__quantizable_layer *table,
	   uint32_t value)
{
	int64_t n = table->weights->dims[table->axis];
	double *scales;
	uint32_t made = SL__NONE;

	if (q->taken[value] != SL__NONE)
		return q->taken[value];
	scales = sl__rewrite_alloc(q->rw, (size_t)n, sizeof(*scales));
	if (scales && find_scales(scales, table, 1))
		made = add_weights(q, table, value, scales, 0);
	q->taken[value] = made == SL__NONE ? value : made;
	return q->taken[value];
}

/* Embeddings and positions: computed with as before, kept in a quarter of the
 * bytes. */
static void
convert_table(struct quantizer *q, uint32_t id)
{
	const struct sl__node *node = sl__rewrite_node(q->rw, id);
	struct sl__quantizable_layer table;
	struct sl__node_builder m;
	size_t operand;

	if (!node || !sl__quantizable_table_read(&table, &operand, q->rw, id,
						 q->how->is_kept))
		return;
	sl__node_builder_begin_like(&m, q->rw, id);
	for (size_t i = 0; i < node->n_inputs; i++)
		sl__node_builder_add_input(
			&m, i == operand
				    ? take_table(q, &table, node->inputs[i])
				    : node->inputs[i]);
	sl__node_builder_add_covered(&m, id);
	sl__node_builder_add_output(&m, node->outputs[0]);
	sl__node_builder_finish(&m);
}

/* The node again, with codes for its inputs and what it makes. */
static void
convert(struct quantizer *q, uint32_t id)
{
	const struct sl__node *node = sl__rewrite_node(q->rw, id);
	struct sl__quantizable_layer layer;
	uint32_t y = node && node->n_outputs == 1 ? node->outputs[0] : SL__NONE;
	int is_layer =
		sl__quantizable_layer_read(&layer, q->rw, id, q->how->is_kept);
	int is_made = y != SL__NONE && q->marks.is_made[y];
	struct sl__node_builder m;

	if (!is_layer && !is_made) {
		convert_table(q, id);
		return;
	}
	sl__node_builder_begin_like(&m, q->rw, id);
	if (!is_layer)
		sl__node_builder_add_inputs(&m, node->inputs, node->n_inputs);
	else if (!add_layer_inputs(q, &m, &layer)) {
		sl__rewrite_fail(q->rw, SL_E_DATA,
				 "weights are not finite numbers");
		return;
	}
	q->n_layers += is_layer != 0;
	sl__node_builder_add_covered(&m, id);
	if (!is_made) {
		sl__node_builder_add_output(&m, y);
		sl__node_builder_finish(&m);
		return;
	}
	sl__node_builder_add_output(
		&m, sl__rewrite_add_value(q->rw, "", &q->rw->types[y]));
	sl__node_builder_finish(&m);
	add_codes(q, y, m.outputs[0], y);
}

enum sl_status
sl__quantize_static(struct sl_graph **out, size_t *n_layers,
		    const struct sl__quantize_options *how,
		    const struct sl__value_range *ranges, struct sl_error *err)
{
	struct quantizer q;
	enum sl_status rc = begin(&q, how, err);
	size_t n_nodes;

	*out = NULL;
	if (rc)
		goto out;
	join_ranges(&q, ranges);
	n_nodes = q.rw->n_nodes;
	for (uint32_t id = 0; !q.rw->rc && id < n_nodes; id++)
		convert(&q, id);
	*n_layers = q.n_layers;
	rc = sl__quantize_finish(out, q.rw, q.n_layers);
out:
	sl__rewrite_free(q.rw);
	return rc;
}

/* Codes [k][n] and their scales as inputs of a product that rounds its rows; 0
 * where the weights are not finite. */
static int
add_columns(struct sl__node_builder *m, struct sl__quantizable_layer *layer)
{
	struct sl__rewrite *rw = m->rw;
	int64_t k = layer->weights->dims[1 - layer->axis];
	int64_t n = layer->weights->dims[layer->axis], dims[2] = {k, n};
	struct sl__tensor like = {
		.dtype = SL_DTYPE_I8, .rank = 2, .dims = dims};
	double *scales = sl__rewrite_alloc(rw, (size_t)n, sizeof(*scales));
	signed char *rows =
		sl__allocator_alloc(&rw->allocator, (size_t)(k * n));
	unsigned char *codes;
	int is_done;

	layer->bias = NULL; /* stays f32 */
	sl__node_builder_add_input(m,
				   sl__rewrite_add_constant(rw, &like, &codes));
	if (!rows)
		sl__rewrite_fail(rw, SL_E_NOMEM, "out of memory");
	is_done = !rw->rc && find_scales(scales, layer, 1) &&
		  round_weights(rows, layer, scales);
	for (int64_t i = 0; is_done && i < k * n; i++)
		codes[layer->axis ? i : i % k * n + i / k] =
			(unsigned char)rows[i];
	sl__allocator_free(&rw->allocator, rows);
	if (is_done)
		sl__node_builder_add_input(
			m, sl__rewrite_add_f32_constant(rw, 1, &n, scales));
	return is_done;
}

/* Whether the node was a product, which rounds its rows now. */
static int
convert_to_dynamic(struct sl__rewrite *rw,
		   const struct sl__quantize_options *how, uint32_t id)
{
	struct sl__quantizable_layer layer;
	struct sl__node_builder m;
	uint32_t last;

	if (!sl__quantizable_layer_read(&layer, rw, id, how->is_kept) ||
	    layer.weights->rank != 2 ||
	    rw->types[sl__rewrite_input(rw, id, 0)].rank < 2)
		return 0;
	sl__node_builder_begin(&m, rw, "com.microsoft", "DynamicQuantizeMatMul",
			       1);
	m.node.name = rw->nodes[id].node.name;
	sl__node_builder_add_input(&m, sl__rewrite_input(rw, id, 0));
	if (!add_columns(&m, &layer)) {
		sl__rewrite_fail(rw, SL_E_DATA,
				 "weights are not finite numbers");
		return 0;
	}
	last = sl__layer_bias_add(&m, id, 1);
	sl__node_builder_add_output(&m, sl__rewrite_output(rw, last));
	sl__node_builder_add_covered(&m, id);
	sl__node_builder_finish(&m);
	return 1;
}

enum sl_status
sl__quantize_dynamic(struct sl_graph **out, size_t *n_layers,
		     const struct sl__quantize_options *how,
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
		*n_layers += convert_to_dynamic(rw, how, id) != 0;
	rc = sl__quantize_finish(out, rw, *n_layers);
	sl__rewrite_free(rw);
	return rc;
}
