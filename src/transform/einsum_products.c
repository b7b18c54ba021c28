/* SPDX-License-Identifier: Apache-2.0 */
/*
 * einsum_products.c - Einsum as matrix products.
 *
 * A label that both operands and the result have numbers matrices; one that
 * both operands have and nobody else needs is summed over; the others are rows
 * and columns.  So each operand is brought into the order (matrices, rows,
 * sums) or (matrices, sums, columns), which often is the one it has.  Several
 * operands are taken in pairs from the left, a single one is transposed and
 * summed.  Diagonals, broadcasting and types other than f32 stay as they are.
 */
#include "ops/einsum.h"
#include "transform/expansion.h"
#include "transform/matching.h"
#include "transform/optimize.h"
#include "transform/rewrite_values.h"

#include <string.h>

#include "base/banned.h"

/* Labels in the order of a value's dimensions. */
struct labels {
	int at[SL__EINSUM_LABELS];
	int n;
};

struct operand {
	uint32_t value;
	struct labels labels;
};

struct einsum {
	struct sl__expansion by;
	struct operand operands[SL__EINSUM_OPERANDS];
	size_t n;
	struct labels result;
	int64_t sizes[SL__EINSUM_LABELS];
};

static int
has(const struct labels *l, int label)
{
	for (int i = 0; i < l->n; i++) {
		if (l->at[i] == label)
			return 1;
	}
	return 0;
}

/* Those that are not there yet. */
static void
append(struct labels *to, const struct labels *from)
{
	for (int i = 0; i < from->n; i++) {
		if (!has(to, from->at[i]))
			to->at[to->n++] = from->at[i];
	}
}

static int
are_same(const struct labels *a, const struct labels *b)
{
	return a->n == b->n &&
	       !memcmp(a->at, b->at, (size_t)a->n * sizeof(*a->at));
}

/* The product of the sizes, as one dimension. */
static int64_t
size_of(const struct einsum *e, const struct labels *l)
{
	int64_t n = 1;

	for (int i = 0; i < l->n; i++)
		n *= e->sizes[l->at[i]];
	return n;
}

static void
dims_of(const struct einsum *e, const struct labels *l, int64_t *dims)
{
	for (int i = 0; i < l->n; i++)
		dims[i] = e->sizes[l->at[i]];
}

/* The value in the order of these labels, all of which it has; as 'out' unless
 * that is SL__NONE. */
static uint32_t
reorder(const struct einsum *e, const struct operand *o,
	const struct labels *order, uint32_t out)
{
	int64_t perm[SL__EINSUM_LABELS];

	if (out == SL__NONE && are_same(&o->labels, order))
		return o->value;
	for (int i = 0; i < order->n; i++) {
		perm[i] = 0;
		while (o->labels.at[perm[i]] != order->at[i])
			perm[i]++;
	}
	return sl__expansion_add_transpose(&e->by, o->value, perm, out);
}

/* Sums the value over the labels that are not in 'kept'; the result is 'out'
 * unless that is SL__NONE. */
static void
sum_over(const struct einsum *e, struct operand *o, const struct labels *kept,
	 uint32_t out)
{
	int64_t axes[SL__EINSUM_LABELS], dims[SL__EINSUM_LABELS], n = 0;
	struct labels left = {.n = 0};
	struct sl__node_builder m;

	for (int i = 0; i < o->labels.n; i++) {
		if (has(kept, o->labels.at[i]))
			left.at[left.n++] = o->labels.at[i];
		else
			axes[n++] = i;
	}
	if (!n || e->by.rw->rc)
		return;
	dims_of(e, &left, dims);
	if (out == SL__NONE)
		out = sl__expansion_value(&e->by, SL_DTYPE_F32, left.n, dims);
	sl__expansion_begin(&m, &e->by, "", "ReduceSum", 13);
	sl__node_builder_set_int(&m, "keepdims", 0);
	sl__node_builder_add_input(&m, o->value);
	sl__node_builder_add_input(
		&m, sl__rewrite_add_integer_constant(e->by.rw, SL_DTYPE_I64, 1,
						     &n, axes));
	o->value = sl__expansion_finish(&m, &e->by, out);
	o->labels = left;
}

/* What the labels of a pair of operands are for. */
struct roles {
	struct labels matrices, rows, sums, columns;
};

/* Those of the result in its order; those that are summed over as 'a' has
 * them. */
static void
find_roles(struct roles *r, const struct operand *a, const struct operand *b,
	   const struct labels *result)
{
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < result->n; i++) {
		int label = result->at[i];
		int of_a = has(&a->labels, label),
		    of_b = has(&b->labels, label);
		struct labels *to = of_a && of_b ? &r->matrices
				    : of_a       ? &r->rows
						 : &r->columns;

		to->at[to->n++] = label;
	}
	for (int i = 0; i < a->labels.n; i++) {
		if (!has(result, a->labels.at[i]))
			r->sums.at[r->sums.n++] = a->labels.at[i];
	}
}

/* Labels first, second, third as one stack of matrices: of two dimensions
 * where nothing numbers them. */
static uint32_t
as_matrices(const struct einsum *e, const struct operand *o,
	    const struct labels *first, const struct labels *second,
	    const struct labels *third)
{
	struct labels order = {.n = 0};
	int64_t dims[] = {size_of(e, first), size_of(e, second),
			  size_of(e, third)};
	int skip = first->n == 0;
	uint32_t value;

	append(&order, first);
	append(&order, second);
	append(&order, third);
	value = reorder(e, o, &order, SL__NONE);
	return sl__has_sizes(e->by.rw, value, 3 - skip, dims + skip)
		       ? value
		       : sl__expansion_add_reshape(&e->by, value, 3 - skip,
						   dims + skip, SL__NONE);
}

/* a times b, with the labels of 'result', in that order; as 'out' unless that
 * is SL__NONE. */
static struct operand
multiply(const struct einsum *e, struct operand a, struct operand b,
	 const struct labels *result, uint32_t out)
{
	struct operand y = {.value = SL__NONE};
	struct roles r;
	int64_t dims[SL__EINSUM_LABELS];
	int skip;

	find_roles(&r, &a, &b, result);
	if (r.columns.n && r.rows.n &&
	    r.columns.at[0] == result->at[r.matrices.n]) {
		struct operand first = a;

		a = b;
		b = first;
		find_roles(&r, &a, &b, result);
	}
	dims[0] = size_of(e, &r.matrices);
	dims[1] = size_of(e, &r.rows);
	dims[2] = size_of(e, &r.columns);
	skip = r.matrices.n == 0;
	y.value = sl__expansion_add_joined(
		&e->by, "MatMul", 13,
		(uint32_t[]){
			as_matrices(e, &a, &r.matrices, &r.rows, &r.sums),
			as_matrices(e, &b, &r.matrices, &r.sums, &r.columns)},
		sl__expansion_type(SL_DTYPE_F32, 3 - skip, dims + skip));
	append(&y.labels, &r.matrices);
	append(&y.labels, &r.rows);
	append(&y.labels, &r.columns);
	dims_of(e, &y.labels, dims);
	y.value = sl__expansion_add_reshape(
		&e->by, y.value, y.labels.n, dims,
		are_same(&y.labels, result) ? out : SL__NONE);
	if (!are_same(&y.labels, result))
		y.value = reorder(e, &y, result, out);
	y.labels = *result;
	return y;
}

/* Labels of operands 0 and 1 that the result or a later operand has; those
 * that both have come first. */
static struct labels
labels_of_pair(const struct einsum *e)
{
	struct labels l = {.n = 0};

	for (int pass = 0; pass < 3; pass++) {
		const struct labels *of = &e->operands[pass / 2].labels;

		for (int i = 0; i < of->n; i++) {
			int label = of->at[i], is_needed;

			is_needed = has(&e->result, label);
			for (size_t k = 2; k < e->n; k++)
				is_needed |= has(&e->operands[k].labels, label);
			if (is_needed && !has(&l, label) &&
			    (pass || has(&e->operands[1].labels, label)))
				l.at[l.n++] = label;
		}
	}
	return l;
}

/* Labels that one operand alone has, and not the result, are summed first. */
static void
sum_lonely(struct einsum *e)
{
	for (size_t i = 0; i < e->n; i++) {
		struct labels kept = e->result;

		for (size_t k = 0; k < e->n; k++) {
			if (k != i)
				append(&kept, &e->operands[k].labels);
		}
		sum_over(e, &e->operands[i], &kept, SL__NONE);
	}
}

static void
expand(struct einsum *e, uint32_t out)
{
	if (e->n == 1) {
		struct labels order = e->result, *own = &e->operands[0].labels;

		for (int i = 0; i < own->n; i++) {
			if (!has(&e->result, own->at[i]))
				order.at[order.n++] = own->at[i];
		}
		e->operands[0].value =
			reorder(e, &e->operands[0], &order,
				order.n == e->result.n ? out : SL__NONE);
		*own = order;
		sum_over(e, &e->operands[0], &e->result, out);
		return;
	}
	sum_lonely(e);
	while (e->n > 1 && !e->by.rw->rc) {
		struct labels made = e->n == 2 ? e->result : labels_of_pair(e);

		e->operands[0] = multiply(e, e->operands[0], e->operands[1],
					  &made, e->n == 2 ? out : SL__NONE);
		e->n--;
		memmove(e->operands + 1, e->operands + 2,
			(e->n - 1) * sizeof(*e->operands));
	}
}

/* No label twice in a term, and each as large wherever it is. */
static int
take_term(struct einsum *e, struct labels *to,
	  const struct sl__einsum_term *term, const int64_t *dims)
{
	for (size_t d = 0; d < term->n; d++) {
		int64_t *size = &e->sizes[term->labels[d]];

		if (has(to, term->labels[d]) || (*size && *size != dims[d]))
			return 0;
		*size = dims[d];
		to->at[to->n++] = term->labels[d];
	}
	return 1;
}

static void
replace(struct sl__rewrite *rw, uint32_t id)
{
	const struct sl__node *node = &rw->nodes[id].node;
	struct sl__einsum_term terms[SL__EINSUM_OPERANDS + 1];
	struct einsum e = {.by = {rw, id}, .n = node->n_inputs};
	int ranks[SL__EINSUM_OPERANDS];
	uint32_t out = node->outputs[0];

	if (e.n > SL__EINSUM_OPERANDS || !sl__is_nonempty_f32(rw, out))
		return;
	for (size_t i = 0; i < e.n; i++) {
		e.operands[i].value = node->inputs[i];
		if (!sl__is_nonempty_f32(rw, node->inputs[i]))
			return;
		ranks[i] = rw->types[node->inputs[i]].rank;
	}
	if (!sl__einsum_read(sl__attribute_string(node, "equation", ""), e.n,
			     ranks, terms))
		return;
	for (size_t i = 0; i < e.n; i++) {
		if (!take_term(&e, &e.operands[i].labels, &terms[i],
			       rw->types[node->inputs[i]].dims))
			return;
	}
	if (terms[e.n].n &&
	    take_term(&e, &e.result, &terms[e.n], rw->types[out].dims))
		expand(&e, out);
}

void
sl__pass_einsum_products(struct sl__rewrite *rw)
{
	static const enum sl__op_id ops[] = {SL__OP_ONNX_Einsum};

	sl__rewrite_each_node(rw, ops, 1, 0, replace);
}
