/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune_weights.c - the smallest weights of each layer set to zero.
 *
 * The layer keeps its sizes: a kernel for dense numbers multiplies as many as
 * before.
 */
#include "base/status.h"
#include "graph/graph_construction.h"
#include "transform/extract.h"
#include "transform/prune.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { PIECE = 1024, HALF = 1 << 16 };

/* Magnitudes of f32 are ordered like their bits. */
static uint32_t
magnitude_bits(double x)
{
	float magnitude = (float)fabs(x);
	uint32_t bits;

	memcpy(&bits, &magnitude, sizeof(bits));
	return bits;
}

/* What is asked of each weight. */
struct weights {
	const struct sl__tensor *from;
	unsigned char *to;
	uint32_t limit;   /* smaller ones go */
	uint64_t n_equal; /* and so many that are equal to it */
	uint64_t *counts; /* [HALF] */
};

/* Counts the upper halves of magnitudes or, of those whose upper half is that
 * of 'limit', the lower ones. */
static void
count_halves(struct weights *w, int is_lower)
{
	double x[PIECE];

	memset(w->counts, 0, HALF * sizeof(*w->counts));
	for (uint64_t at = 0; at < w->from->n_elements; at += PIECE) {
		uint64_t left = w->from->n_elements - at;
		size_t n = left < PIECE ? (size_t)left : PIECE;

		(void)sl__tensor_doubles(w->from, at, n, x);
		for (size_t i = 0; i < n; i++) {
			uint32_t bits = magnitude_bits(x[i]);

			if (!is_lower)
				w->counts[bits >> 16]++;
			else if (bits >> 16 == w->limit >> 16)
				w->counts[bits & (HALF - 1)]++;
		}
	}
}

/* Which count the k-th smallest lies in; *k becomes its place within. */
static uint32_t
find_count(const struct weights *w, uint64_t *k)
{
	uint32_t i = 0;

	for (; i < HALF - 1 && *k >= w->counts[i]; i++)
		*k -= w->counts[i];
	return i;
}

/* The n_gone smallest become zero. */
static void
zero_smallest(struct weights *w, uint64_t n_gone)
{
	uint64_t k = n_gone;
	double x[PIECE];

	count_halves(w, 0);
	w->limit = find_count(w, &k) << 16;
	count_halves(w, 1);
	w->limit |= find_count(w, &k);
	w->n_equal = k;
	for (uint64_t at = 0; at < w->from->n_elements; at += PIECE) {
		uint64_t left = w->from->n_elements - at;
		size_t n = left < PIECE ? (size_t)left : PIECE;

		(void)sl__tensor_doubles(w->from, at, n, x);
		for (size_t i = 0; i < n; i++) {
			uint32_t bits = magnitude_bits(x[i]);
			int is_equal = bits == w->limit && w->n_equal;

			w->n_equal -= (uint64_t)is_equal;
			if (bits < w->limit || is_equal)
				x[i] = 0;
		}
		sl__store_doubles(w->to, w->from->dtype, at, n, x);
	}
}

static enum sl_status
prune_layer(struct sl__pruned *out, const struct sl_graph *graph,
	    uint32_t value, double share, struct sl_error *err)
{
	struct sl__arena *arena = &out->graph->arena;
	struct weights w = {.from = graph->values[value].tensor};
	struct sl__tensor *t = sl__arena_alloc(arena, sizeof(*t));
	uint64_t n_gone = (uint64_t)(share * (double)w.from->n_elements + 1e-9);
	double first;

	if (!sl__tensor_doubles(w.from, 0, 1, &first))
		return sl__fail(err, SL_E_DATA,
				"the numbers of '%.200s' cannot be read",
				graph->values[value].name);
	w.to = sl__arena_alloc(arena, (size_t)w.from->n_bytes);
	w.counts = sl__arena_array(arena, HALF, sizeof(*w.counts));
	if (!t || !w.to || !w.counts)
		return sl__fail_nomem(err);
	zero_smallest(&w, n_gone);
	*t = *w.from;
	t->generator = NULL;
	t->is_mapped = 0;
	t->storage = NULL;
	t->bytes = w.to;
	out->n_layers++;
	out->n_units += w.from->n_elements;
	out->n_removed += n_gone;
	return sl__graph_set_tensor(out->graph, value, t, err);
}

/* Weights of f32 or shorter floats that a node multiplies with. */
static int
is_prunable(const struct sl_graph *graph, const struct sl__node *n)
{
	const struct sl__tensor *t;

	if (!sl__has_weights(n) || n->inputs[1] == SL__NONE)
		return 0;
	t = graph->values[n->inputs[1]].tensor;
	return t && t->rank >= 2 && t->n_elements && !t->is_sparse &&
	       (t->dtype == SL_DTYPE_F32 || t->dtype == SL_DTYPE_F16 ||
		t->dtype == SL_DTYPE_BF16);
}

static enum sl_status
prune_layers(struct sl__pruned *out, const struct sl_graph *graph,
	     const struct sl__prune_options *how, struct sl__arena *scratch,
	     struct sl_error *err)
{
	unsigned char *is_kept = sl__arena_alloc(scratch, graph->n_nodes + 1);
	enum sl_status rc = sl__graph_copy(out->graph, graph, err);

	if (!rc && !is_kept)
		rc = sl__fail_nomem(err);
	if (!rc)
		rc = sl__prune_find_kept(graph, how, is_kept, scratch, err);
	for (size_t i = 0; !rc && i < graph->n_nodes; i++) {
		const struct sl__node *n = &graph->nodes[i];

		/* A weight that several nodes share is pruned once. */
		if (!is_kept[i] && is_prunable(graph, n) &&
		    out->graph->values[n->inputs[1]].tensor ==
			    graph->values[n->inputs[1]].tensor)
			rc = prune_layer(out, graph, n->inputs[1], how->share,
					 err);
	}
	if (!rc && !out->n_removed)
		rc = sl__fail(err, SL_E_DATA,
			      "no weight can be removed: no convolution or "
			      "linear layer has enough of them");
	out->graph->is_builtin = 0;
	out->graph->seed = 0;
	return rc ? rc : sl__graph_freeze(out->graph, err);
}

enum sl_status
sl__prune_weights(struct sl__pruned *out, const struct sl_graph *graph,
		  const struct sl__prune_options *how, struct sl_error *err)
{
	struct sl__arena scratch;
	enum sl_status rc;

	*out = (struct sl__pruned){.held_by = SL__NONE};
	rc = sl__graph_new(&out->graph, &graph->arena.allocator, err);
	if (rc)
		return rc;
	sl__arena_init(&scratch, &graph->arena.allocator);
	rc = prune_layers(out, graph, how, &scratch, err);
	sl__arena_release(&scratch);
	if (rc) {
		sl_graph_free(out->graph);
		out->graph = NULL;
	}
	return rc;
}
