/* SPDX-License-Identifier: Apache-2.0 */
/* matching.c - what passes ask of nodes and values before they change them. */
#include "transform/matching.h"

#include <float.h>
#include <math.h>

#include "base/banned.h"

int
sl__has_known_shape(const struct sl__rewrite *rw, uint32_t value)
{
	uint64_t n;

	if (value == SL__NONE || rw->types[value].kind != SL__TYPE_TENSOR ||
	    rw->types[value].dtype == SL_DTYPE_NONE)
		return 0;
	return sl__type_elements(&rw->types[value], &n);
}

int
sl__has_sizes(const struct sl__rewrite *rw, uint32_t value, int rank,
	      const int64_t *dims)
{
	int is_same = rw->types[value].rank == rank;

	for (int d = 0; is_same && d < rank; d++)
		is_same = rw->types[value].dims[d] == dims[d];
	return is_same;
}

int
sl__have_same_dtype_and_dims(const struct sl__rewrite *rw, uint32_t a,
			     uint32_t b)
{
	return sl__has_known_shape(rw, a) && sl__has_known_shape(rw, b) &&
	       rw->types[a].dtype == rw->types[b].dtype &&
	       sl__has_sizes(rw, a, rw->types[b].rank, rw->types[b].dims);
}

int
sl__is_nonempty_f32(const struct sl__rewrite *rw, uint32_t value)
{
	uint64_t n;

	return sl__has_known_shape(rw, value) &&
	       rw->types[value].dtype == SL_DTYPE_F32 &&
	       sl__type_elements(&rw->types[value], &n) && n > 0;
}

uint32_t
sl__other_operand(const struct sl__rewrite *rw, uint32_t node, uint32_t value)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);

	if (!n || n->n_inputs != 2 || n->inputs[0] == n->inputs[1])
		return SL__NONE;
	if (n->inputs[0] == value)
		return n->inputs[1];
	return n->inputs[1] == value ? n->inputs[0] : SL__NONE;
}

int
sl__is_constant_filled_with(const struct sl__rewrite *rw, uint32_t value,
			    double x)
{
	const struct sl__tensor *t = sl__tensor_constant_read(rw, value);
	double element;

	if (!t || t->n_elements == 0)
		return 0;
	for (uint64_t i = 0; i < t->n_elements; i++) {
		if (!sl__tensor_doubles(t, i, 1, &element) || element < x ||
		    element > x || element - element != 0)
			return 0;
	}
	return 1;
}

int
sl__constant_integers(const struct sl__rewrite *rw, uint32_t value,
		      int64_t *out, int most)
{
	const struct sl__tensor *t = sl__tensor_constant_read(rw, value);

	if (!t || t->n_elements > (uint64_t)most ||
	    !sl__tensor_integers(t, 0, (size_t)t->n_elements, out))
		return -1;
	return (int)t->n_elements;
}

int
sl__is_reshape(const struct sl__rewrite *rw, uint32_t node)
{
	static const enum sl__op_id ops[] = {
		SL__OP_ONNX_Reshape, SL__OP_ONNX_Flatten, SL__OP_ONNX_Squeeze,
		SL__OP_ONNX_Unsqueeze};

	return sl__rewrite_node_is_any_op(rw, node, ops, 4);
}

int
sl__has_numpy_broadcasting(const struct sl__node *node)
{
	return node->domain[0] || node->version >= 7;
}

int
sl__is_last_two_dims_transpose(const struct sl__rewrite *rw, uint32_t node)
{
	const int64_t *perm;
	size_t rank, n;

	if (!sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Transpose) ||
	    rw->types[sl__rewrite_output(rw, node)].rank < 2)
		return 0;
	rank = (size_t)rw->types[sl__rewrite_output(rw, node)].rank;
	n = sl__attribute_ints(&rw->nodes[node].node, "perm", &perm);
	if (n != rank)
		return n == 0 && rank == 2; /* all are reversed */
	for (size_t d = 0; d + 2 < n; d++) {
		if (perm[d] != (int64_t)d)
			return 0;
	}
	return perm[n - 2] == (int64_t)n - 1;
}

/* Before version 7 an attribute says whether something is dropped, from 12 on
 * an input does; between them nothing is. */
int
sl__is_noop_dropout(const struct sl__rewrite *rw, uint32_t node)
{
	const struct sl__node *n = sl__rewrite_node(rw, node);
	uint32_t training = sl__rewrite_input(rw, node, 2);

	if (!sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Dropout))
		return 0;
	if (n->version < 7)
		return sl__attribute_int(n, "is_test", 0) != 0;
	return n->version < 12 || training == SL__NONE ||
	       sl__is_constant_filled_with(rw, training, 0);
}

/* One bound: an attribute or an input that is a constant. */
static int
read_bound(const struct sl__rewrite *rw, uint32_t node, size_t i,
	   const char *name, double *bound)
{
	uint32_t value = sl__rewrite_input(rw, node, i);

	*bound = sl__attribute_float(&rw->nodes[node].node, name, *bound);
	return value == SL__NONE || sl__scalar_constant_read(rw, value, bound);
}

int
sl__clip_read_bounds(const struct sl__rewrite *rw, uint32_t node, double *low,
		     double *high)
{
	*low = -(double)FLT_MAX;
	*high = (double)FLT_MAX;
	return sl__rewrite_node_is_op(rw, node, SL__OP_ONNX_Clip) &&
	       read_bound(rw, node, 1, "min", low) &&
	       read_bound(rw, node, 2, "max", high) && *low <= *high;
}

int
sl__is_close(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

int
sl__fits_f32(double x)
{
	return fabs(x) <= (double)FLT_MAX &&
	       (fabs(x) >= (double)FLT_MIN || !(fabs(x) > 0));
}

int
sl__rewrite_node_is_any_op(const struct sl__rewrite *rw, uint32_t node,
			   const enum sl__op_id *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sl__rewrite_node_is_op(rw, node, ops[i]))
			return 1;
	}
	return 0;
}

void
sl__rewrite_each_node(struct sl__rewrite *rw, const enum sl__op_id *ops,
		      size_t n, int is_backwards, sl__node_function *fn)
{
	size_t n_nodes = rw->n_nodes;
	const uint32_t *order = sl__rewrite_node_order(rw);

	for (size_t i = 0; !rw->rc && i < n_nodes; i++) {
		uint32_t id = order[is_backwards ? n_nodes - 1 - i : i];

		if (sl__rewrite_node_is_any_op(rw, id, ops, n))
			fn(rw, id);
	}
}
