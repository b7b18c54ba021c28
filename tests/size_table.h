/* SPDX-License-Identifier: Apache-2.0 */
/* size_table.h - sizes of three dimensions, and nothing else of a model. */
#ifndef SL_TEST_SIZE_TABLE_H
#define SL_TEST_SIZE_TABLE_H

#include "graph/graph_construction.h"
#include "size_text.h"

enum { N, S, H, N_SYMBOLS };

static const char *const plain_names[N_SYMBOLS] = {"n", "s", "h"};

struct table {
	struct sl_graph *graph;
	struct sl__shapes *shapes;
	int64_t of[N_SYMBOLS];
};

static inline struct table
table_of(const char *const *names, const struct sl_allocator *allocator)
{
	struct table t = {0};

	assert_int_equal(sl__graph_new(&t.graph, NULL, NULL), SL_OK);
	for (size_t i = 0; i < N_SYMBOLS; i++)
		assert_int_equal(sl__graph_intern_symbol(t.graph, &t.of[i],
							 names[i], NULL),
				 SL_OK);
	assert_int_equal(
		sl__shapes_new_empty(&t.shapes, t.graph, allocator, NULL),
		SL_OK);
	return t;
}

static inline void
table_free(struct table *t)
{
	sl__shapes_free(t->shapes);
	sl_graph_free(t->graph);
}

#endif
