/* SPDX-License-Identifier: Apache-2.0 */
/* prune.c - which channels go. */
#include "transform/prune.h"
#include "base/status.h"
#include "graph/execution_order.h"
#include "transform/extract.h"

#include <math.h>
#include <stdlib.h>

#include "base/banned.h"

struct pruning {
	const struct sl__prune_options *how;
	const struct sl_graph *graph;
	struct sl__units units;
	struct sl__value_users users;
	struct sl__arena arena;
	double *score;          /* by root: of the weights that make it */
	unsigned char *is_made; /* by root: by weights that are known */
	uint64_t *kind; /* by root: the same where the same dimensions of the
			   same weights are touched as often */
	unsigned char *is_removed; /* by root */
	struct sl_error *err;
};

/* Which input of a node holds weights, and which of their dimensions counts
 * what is made; 0: none does. */
static int
find_weight(const struct pruning *p, const struct sl__node *n, uint32_t *weight,
	    int *axis)
{
	int rank;

	if (n->block || n->n_inputs < 2 || n->inputs[1] == SL__NONE ||
	    !p->graph->values[n->inputs[1]].tensor)
		return 0;
	*weight = n->inputs[1];
	rank = sl__units_rank(&p->units, *weight);
	if (sl__is_op(n, SL__OP_ONNX_Conv))
		*axis = 0;
	else if (sl__is_op(n, SL__OP_ONNX_ConvTranspose))
		*axis = 1;
	else if (sl__is_op(n, SL__OP_ONNX_Gemm))
		*axis = !sl__attribute_int(n, "transB", 0);
	else if (sl__is_op(n, SL__OP_ONNX_MatMul))
		*axis = rank - 1;
	else
		return 0;
	return rank >= 2;
}

/* The sum of squares for each index of a dimension. */
static enum sl_status
sum_squares(struct pruning *p, uint32_t weight, int axis, double **out)
{
	enum { PIECE = 1024 };
	const struct sl__tensor *t = p->graph->values[weight].tensor;
	size_t size = (size_t)t->dims[axis];
	double *sums = sl__arena_array(&p->arena, size, sizeof(*sums));
	double x[PIECE];
	uint64_t inner = 1;

	*out = sums;
	if (!sums)
		return sl__fail_nomem(p->err);
	for (size_t d = (size_t)axis + 1; d < t->rank; d++)
		inner *= (uint64_t)t->dims[d];
	for (uint64_t at = 0; at < t->n_elements; at += PIECE) {
		size_t n = t->n_elements - at < PIECE
				   ? (size_t)(t->n_elements - at)
				   : PIECE;

		if (!sl__tensor_doubles(t, at, n, x))
			return sl__fail(p->err, SL_E_DATA,
					"the numbers of '%.200s' cannot be "
					"read",
					p->graph->values[weight].name);
		for (size_t i = 0; i < n; i++)
			sums[(at + i) / inner % size] += x[i] * x[i];
	}
	return SL_OK;
}

/* What the only user of a value, where it is a BatchNormalization, multiplies
 * channel i by; 1. */
static double
norm_scale(const struct pruning *p, uint32_t value, size_t i)
{
	const struct sl__node *n;
	const struct sl__tensor *scale, *variance;
	double s, v;

	if (p->users.first[value + 1] - p->users.first[value] != 1)
		return 1;
	n = &p->graph->nodes[p->users.nodes[p->users.first[value]]];
	if (!sl__is_op(n, SL__OP_ONNX_BatchNormalization))
		return 1;
	scale = p->graph->values[n->inputs[1]].tensor;
	variance = p->graph->values[n->inputs[4]].tensor;
	if (!scale || !variance || i >= scale->n_elements ||
	    i >= variance->n_elements || !sl__tensor_doubles(scale, i, 1, &s) ||
	    !sl__tensor_doubles(variance, i, 1, &v))
		return 1;
	return fabs(s) / sqrt(v + sl__attribute_float(n, "epsilon", 1e-5));
}

static enum sl_status
score_layer(struct pruning *p, const struct sl__node *n)
{
	const struct sl__tensor *t;
	uint32_t weight, first;
	double *norms, mean = 0;
	enum sl_status rc;
	int axis;

	if (!find_weight(p, n, &weight, &axis))
		return SL_OK;
	t = p->graph->values[weight].tensor;
	rc = sum_squares(p, weight, axis, &norms);
	if (rc)
		return rc;
	first = sl__units_first(&p->units, weight, axis);
	for (size_t i = 0; i < (size_t)t->dims[axis]; i++) {
		norms[i] = sqrt(norms[i]) * norm_scale(p, n->outputs[0], i);
		mean += norms[i] / (double)t->dims[axis];
	}
	for (size_t i = 0; i < (size_t)t->dims[axis]; i++) {
		uint32_t root = sl__units_root(&p->units, first + (uint32_t)i);

		p->is_made[root] = 1;
		p->score[root] += mean > 0 ? norms[i] / mean : 0;
	}
	return SL_OK;
}

/* Sums over what a group touches; equal sums of a mixing function (Steele et
 * al. 2014, "splitmix64") mean equal terms. */
static void
find_kinds(struct pruning *p)
{
	const struct sl__units *u = &p->units;

	for (uint32_t v = 0; v < p->graph->n_values; v++) {
		if (!p->graph->values[v].tensor)
			continue;
		for (int d = 0; d < sl__units_rank(u, v); d++) {
			uint32_t first = sl__units_first(u, v, d);
			uint64_t x = ((uint64_t)v << 8 | (uint64_t)d) + 1;

			x *= 0x9e3779b97f4a7c15;
			x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
			x = (x ^ x >> 27) * 0x94d049bb133111eb;
			x ^= x >> 31;
			for (int64_t i = 0; i < sl__units_size(u, v, d); i++)
				p->kind[sl__units_root(
					u, first + (uint32_t)i)] += x;
		}
	}
}

/* A group that may go. */
struct candidate {
	uint64_t kind;
	double score;
	uint32_t root;
};

/* By kind, the least first, and of equal ones the last of the model. */
static int
compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->score != y->score)
		return x->score < y->score ? -1 : 1;
	return (x->root < y->root) - (x->root > y->root);
}

static size_t
list_candidates(struct pruning *p, struct candidate *list,
		struct sl__pruned *out)
{
	const struct sl__units *u = &p->units;
	unsigned head = p->how->kind == SL__PRUNE_HEADS ? SL__UNIT_HEAD : 0;
	size_t n = 0;

	for (uint32_t r = 0; r < u->n; r++) {
		if (u->parent[r] != r || !p->is_made[r] ||
		    (u->flags[r] & SL__UNIT_HEAD) != head)
			continue;
		if (!(u->flags[r] & SL__UNIT_HELD)) {
			out->n_units++;
			list[n++] =
				(struct candidate){p->kind[r], p->score[r], r};
		} else if (u->held_by[r] != SL__NONE) {
			out->n_units++;
			out->n_held++;
			if (out->held_by > u->held_by[r])
				out->held_by = u->held_by[r];
		}
	}
	return n;
}

static void
choose(struct pruning *p, struct candidate *list, size_t n,
       struct sl__pruned *out)
{
	size_t end;

	qsort(list, n, sizeof(*list), compare_candidates);
	for (size_t i = 0; i < n; i = end) {
		size_t n_gone;

		for (end = i; end < n && list[end].kind == list[i].kind;)
			end++;
		/* 0.29 of 100 are 29, however the product is rounded. */
		n_gone =
			(size_t)floor(p->how->share * (double)(end - i) + 1e-9);
		if (n_gone == end - i)
			n_gone--;
		for (size_t k = 0; k < n_gone; k++)
			p->is_removed[list[i + k].root] = 1;
		out->n_removed += n_gone;
	}
}

static enum sl_status
fail_nothing(const struct pruning *p, const struct sl__pruned *found)
{
	const char *what = p->how->kind == SL__PRUNE_HEADS ? "head of attention"
							   : "channel";
	const struct sl__node *n;

	if (found->held_by != SL__NONE) {
		n = &p->graph->nodes[found->held_by];
		return sl__fail(p->err, SL_E_DATA,
				"no %s can be removed: what node '%.200s' "
				"(%.60s) makes of them cannot be followed",
				what, n->name, n->type);
	}
	if (found->n_units)
		return sl__fail(p->err, SL_E_DATA,
				"no %s can be removed: the share of each layer "
				"is less than one",
				what);
	if (p->how->kind == SL__PRUNE_HEADS)
		return sl__fail(p->err, SL_E_DATA,
				"no heads of attention were found");
	return sl__fail(p->err, SL_E_DATA,
			"no channel can be removed: every convolution and "
			"linear layer makes outputs of the model");
}

enum sl_status
sl__prune_find_kept(const struct sl_graph *graph,
		    const struct sl__prune_options *how, unsigned char *is_kept,
		    struct sl__arena *scratch, struct sl_error *err)
{
	unsigned char *is_found = sl__arena_alloc(scratch, graph->n_nodes + 1);
	enum sl_status rc = SL_OK;

	if (!is_found)
		return sl__fail_nomem(err);
	for (size_t i = 0; !rc && i < how->n_keep; i++) {
		rc = sl__extract_find_nodes(graph, how->keep[i], is_found,
					    scratch, err);
		for (size_t k = 0; !rc && k < graph->n_nodes; k++)
			is_kept[k] |= is_found[k];
	}
	return rc;
}

static enum sl_status
hold_kept(struct pruning *p)
{
	unsigned char *is_kept =
		sl__arena_alloc(&p->arena, p->graph->n_nodes + 1);
	enum sl_status rc;

	if (!is_kept)
		return sl__fail_nomem(p->err);
	rc = sl__prune_find_kept(p->graph, p->how, is_kept, &p->arena, p->err);
	for (uint32_t i = 0; !rc && i < p->graph->n_nodes; i++) {
		if (is_kept[i])
			sl__units_hold_node(&p->units, i);
	}
	return rc;
}

static enum sl_status
prune(struct pruning *p, struct sl__pruned *out)
{
	struct candidate *list;
	uint32_t n = p->units.n;
	enum sl_status rc = hold_kept(p);

	if (rc)
		return rc;
	p->score = sl__arena_array(&p->arena, n, sizeof(*p->score));
	p->is_made = sl__arena_array(&p->arena, n, sizeof(*p->is_made));
	p->kind = sl__arena_array(&p->arena, n, sizeof(*p->kind));
	p->is_removed = sl__arena_array(&p->arena, n, sizeof(*p->is_removed));
	list = sl__arena_array(&p->arena, n, sizeof(*list));
	if (!p->score || !p->is_made || !p->kind || !p->is_removed || !list)
		return sl__fail_nomem(p->err);
	for (size_t i = 0; !rc && i < p->graph->n_nodes; i++)
		rc = score_layer(p, &p->graph->nodes[i]);
	if (rc)
		return rc;
	find_kinds(p);
	choose(p, list, list_candidates(p, list, out), out);
	if (!out->n_removed)
		return fail_nothing(p, out);
	return sl__prune_build(&out->graph, &out->n_layers, &p->units,
			       p->is_removed, &p->arena, p->err);
}

enum sl_status
sl__prune(struct sl__pruned *out, const struct sl_graph *graph,
	  const struct sl__prune_options *how, struct sl_error *err)
{
	const struct sl__shapes_options keep = {
		.free_sizes = SL__UNBOUND_KEEP,
		.allocator = &graph->arena.allocator};
	struct pruning p = {.how = how, .graph = graph, .err = err};
	struct sl__shapes *shapes = NULL;
	enum sl_status rc;

	*out = (struct sl__pruned){.held_by = SL__NONE};
	sl__arena_init(&p.arena, &graph->arena.allocator);
	rc = sl__shapes_new(&shapes, graph, &keep, err);
	if (!rc)
		rc = sl__value_users_find(&p.users, graph, &p.arena, err);
	if (!rc)
		rc = sl__units_find(&p.units, shapes, &p.arena, err);
	if (!rc)
		rc = prune(&p, out);
	sl__shapes_free(shapes);
	sl__arena_release(&p.arena);
	return rc;
}
