/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tied.c - weights that are copies of others.
 *
 * Exporters write a shared weight twice, often transposed.  Weights of rank 2
 * and more are put into buckets by type and dimensions; a bucket with company
 * is told apart by signatures of few numbers, and only where these agree are
 * all numbers compared.  Tensors of one value everywhere are not ties: fresh
 * norms are all ones.
 */
#include "base/hash.h"
#include "base/status.h"
#include "cost/tensor_patterns.h"
#include "cost/parameters.h"

#include <stdlib.h>

#include "base/banned.h"

/* Different tensors of one signature that are told apart; more than a few
 * are a synthetic file, whose copies may go unnoticed. */
enum { RIVALS_MOST = 8 };

struct candidate {
	uint64_t shape;     /* hash of type and dimensions */
	uint64_t signature; /* of numbers; where the shape has company */
	uint32_t value;
};

static uint64_t
shape_hash(const struct sl__tensor *t)
{
	/* A matrix and its transpose fall into the same bucket. */
	if (t->rank == 2 && t->dims[0] > t->dims[1]) {
		const int64_t dims[] = {t->dims[1], t->dims[0]};

		return sl__hash(dims, sizeof(dims), t->dtype);
	}
	return sl__hash(t->dims, t->rank * sizeof(t->dims[0]), t->dtype);
}

static int
by_shape(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->shape != y->shape)
		return x->shape < y->shape ? -1 : 1;
	if (x->signature != y->signature)
		return x->signature < y->signature ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/* Signatures, for shapes that occur more than once. */
static void
sign(struct candidate *c, size_t n, const struct sl_graph *graph)
{
	for (size_t i = 0; i < n; i++) {
		int has_company = (i > 0 && c[i - 1].shape == c[i].shape) ||
				  (i + 1 < n && c[i + 1].shape == c[i].shape);

		if (has_company)
			c[i].signature = sl__tensor_content_hash(
				graph->values[c[i].value].tensor);
	}
}

/* The rival that t is a copy of; n_rivals where there is none. */
static size_t
find_original(const struct sl_graph *graph, const uint32_t *rivals,
	      size_t n_rivals, const struct sl__tensor *t)
{
	for (size_t k = 0; k < n_rivals; k++) {
		enum sl__tensor_match how =
			sl__tensor_compare(graph->values[rivals[k]].tensor, t);

		if (how == SL__TENSOR_MATCH_EQUAL ||
		    how == SL__TENSOR_MATCH_TRANSPOSED)
			return k;
		if (how == SL__TENSOR_MATCH_ONE_VALUE)
			break;
	}
	return n_rivals;
}

/* A run of one shape and signature, in the order of the file. */
static void
tie_run(struct sl__roles *roles, const struct sl_graph *graph,
	const struct candidate *run, size_t n)
{
	uint32_t rivals[RIVALS_MOST];
	size_t n_rivals = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t value = run[i].value;
		size_t k = find_original(graph, rivals, n_rivals,
					 graph->values[value].tensor);

		if (k < n_rivals) {
			roles->role[value] = SL_ROLE_TIED;
			roles->tied_to[value] = rivals[k];
		} else if (n_rivals < RIVALS_MOST) {
			rivals[n_rivals++] = value;
		}
	}
}

static int
is_candidate(const struct sl__roles *roles, const struct sl_graph *graph,
	     size_t v)
{
	const struct sl__tensor *t = graph->values[v].tensor;

	return t && roles->role[v] == SL_ROLE_WEIGHT && t->rank >= 2 &&
	       !t->is_sparse && !t->absent;
}

enum sl_status
sl__roles_tie(struct sl__roles *roles, const struct sl_graph *graph,
	      struct sl__arena *arena, struct sl_error *err)
{
	struct candidate *c;
	size_t n = 0;

	for (size_t v = 0; v < graph->n_values; v++)
		n += (size_t)is_candidate(roles, graph, v);
	c = sl__arena_array(arena, n, sizeof(*c));
	if (!c)
		return sl__fail_nomem(err);
	n = 0;
	for (size_t v = 0; v < graph->n_values; v++) {
		if (!is_candidate(roles, graph, v))
			continue;
		c[n].shape = shape_hash(graph->values[v].tensor);
		c[n++].value = (uint32_t)v;
	}
	qsort(c, n, sizeof(*c), by_shape);
	sign(c, n, graph);
	qsort(c, n, sizeof(*c), by_shape);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && c[end].shape == c[i].shape &&
				  c[end].signature == c[i].signature;)
			end++;
		if (end - i > 1)
			tie_run(roles, graph, c + i, end - i);
	}
	return SL_OK;
}
