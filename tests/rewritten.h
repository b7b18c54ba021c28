/* SPDX-License-Identifier: Apache-2.0 */
/* rewritten.h - graphs from lines of text, before and after the passes. */
#ifndef SL_TEST_REWRITTEN_H
#define SL_TEST_REWRITTEN_H

#include "ops/evaluate.h"
#include "graph_text.h"
#include "transform/optimize.h"

/*
 * check_rewritten(text, nodes) builds the graph (graph_text.h), runs all
 * passes, compares the nodes that are left with a line such as
 *
 *	sleuth.Conv[Conv+Relu] MaxPool
 *
 * (operators in the order in which they run, in brackets what they cover
 * where that is something else), and computes both graphs with the
 * reference kernels on the same numbers.
 */
struct rewritten {
	struct graph_text *g;
	struct sl_graph *made;
	const struct sl__covered_nodes *covers;
	char nodes[4096];
};

static inline int
rewritten_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static inline void
rewritten_add(struct rewritten *r, const char *word)
{
	assert_true(strlen(r->nodes) + strlen(word) < sizeof(r->nodes));
	strcat(r->nodes, word);
}

static inline void
rewritten_name(struct rewritten *r, uint32_t id)
{
	const struct sl__node *node = &r->made->nodes[id];
	const struct sl__covered_nodes *c = &r->covers[id];
	uint32_t sorted[64];

	if (*node->domain) {
		rewritten_add(r, node->domain);
		rewritten_add(r, ".");
	}
	rewritten_add(r, node->type);
	assert_true(c->n <= 64);
	if (c->n)
		memcpy(sorted, c->nodes, c->n * sizeof(*sorted));
	qsort(sorted, c->n, sizeof(*sorted), rewritten_compare);
	if (c->n == 1 &&
	    !strcmp(r->g->graph->nodes[sorted[0]].type, node->type) &&
	    !*node->domain)
		return;
	rewritten_add(r, "[");
	for (size_t i = 0; i < c->n; i++) {
		rewritten_add(r, i ? "+" : "");
		rewritten_add(r, r->g->graph->nodes[sorted[i]].type);
	}
	rewritten_add(r, "]");
}

static inline struct rewritten
rewritten_with(const char *text, unsigned flags)
{
	struct rewritten r = {.g = graph_text(text)};
	struct sl_error err;
	const struct sl__block *block;

	if (sl__optimize(&r.made, &r.covers, r.g->graph, r.g->shapes, flags,
			 &err))
		fail_msg("%s", err.text);
	block = &r.made->blocks[0];
	for (size_t i = 0; i < block->n_nodes; i++) {
		rewritten_add(&r, i ? " " : "");
		rewritten_name(&r, block->nodes[i]);
	}
	return r;
}

static inline void
rewritten_free(struct rewritten *r)
{
	sl_graph_free(r->made);
	graph_text_free(r->g);
}

/* Random numbers for an input: up to 4 in size, or 0 and 1. */
static inline void
rewritten_lend(struct rewritten *r, struct sl__evaluator *ev, uint32_t value)
{
	const struct sl__type *type = &r->g->shapes->types[value];
	struct sl__tensor *t = graph_text_new(r->g, sizeof(*t));
	unsigned char *bytes;
	double x;

	t->dtype = type->dtype;
	t->rank = (size_t)type->rank;
	t->dims = type->dims;
	assert_true(sl__tensor_compute_size(t));
	t->bytes = bytes = graph_text_new(r->g, (size_t)t->n_bytes + 1);
	for (uint64_t i = 0; i < t->n_elements; i++) {
		x = graph_text_random(r->g->graph->values[value].name, i);
		x = t->dtype == SL_DTYPE_I64 || t->dtype == SL_DTYPE_BOOL
			    ? x > 0
			    : 4 * x;
		sl__store_doubles(bytes, t->dtype, i, 1, &x);
	}
	sl__evaluator_set_tensor(ev, value, t);
}

static inline struct sl__evaluator *
rewritten_run(struct rewritten *r, const struct sl_graph *graph)
{
	const struct sl__block *block = &r->g->graph->blocks[0];
	struct sl__evaluator *ev;
	struct sl_error err;

	assert_int_equal(sl__evaluator_new(&ev, graph, NULL, NULL), SL_OK);
	for (size_t i = 0; i < block->n_inputs; i++)
		rewritten_lend(r, ev, block->inputs[i]);
	if (sl__evaluate_block(ev, 0, &err))
		fail_msg("%s", err.text);
	return ev;
}

/* Outputs have the same type and sizes, and differ by no more than
 * 'tolerance' of the largest number. */
static inline void
rewritten_compare_value(const struct sl__tensor *a, const struct sl__tensor *b,
			double tolerance)
{
	double x, y, most = 0, worst = 0;

	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(a->rank, b->rank);
	for (size_t d = 0; d < a->rank; d++)
		assert_int_equal(a->dims[d], b->dims[d]);
	for (uint64_t i = 0; i < a->n_elements; i++) {
		assert_true(sl__tensor_doubles(a, i, 1, &x));
		assert_true(sl__tensor_doubles(b, i, 1, &y));
		most = fmax(most, fabs(x));
		worst = fmax(worst, isnan(y) ? HUGE_VAL : fabs(x - y));
	}
	if (worst > tolerance * most)
		fail_msg("differs by %g of %g", worst, most);
}

static inline void
rewritten_evaluate(struct rewritten *r, double tolerance)
{
	const struct sl__block *block = &r->g->graph->blocks[0];
	struct sl__evaluator *before = rewritten_run(r, r->g->graph);
	struct sl__evaluator *after = rewritten_run(r, r->made);
	const struct sl__runtime_value *x, *y;

	for (size_t i = 0; i < block->n_outputs; i++) {
		assert_int_equal(sl__evaluator_value(before, block->outputs[i],
						     &x, NULL),
				 SL_OK);
		assert_int_equal(
			sl__evaluator_value(after, block->outputs[i], &y, NULL),
			SL_OK);
		rewritten_compare_value(&x->tensor, &y->tensor, tolerance);
	}
	sl__evaluator_free(before);
	sl__evaluator_free(after);
}

/* Results of f32 that are computed in double and rounded in other places
 * differ by a few of 2^-24. */
static inline void
check_rewritten_with(const char *text, unsigned flags, const char *nodes)
{
	struct rewritten r = rewritten_with(text, flags);

	assert_string_equal(r.nodes, nodes);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

static inline void
check_rewritten(const char *text, const char *nodes)
{
	check_rewritten_with(text, 0, nodes);
}

/* The new graph's node that makes a value of the old one. */
static inline const struct sl__node *
rewritten_maker(const struct rewritten *r, const char *name)
{
	uint32_t id = graph_text_value(r->g, name);

	assert_true(r->made->values[id].producer != SL__NONE);
	return &r->made->nodes[r->made->values[id].producer];
}

#endif
