/* SPDX-License-Identifier: Apache-2.0 */
/* built.h - models built for tests, and what is in them. */
#ifndef SL_TEST_BUILT_H
#define SL_TEST_BUILT_H

#include "harness.h"
#include "model/builder.h"

static inline struct sl_builder *
new_builder(void)
{
	struct sl_builder *b;

	assert_int_equal(sl_builder_new(&b, "test", NULL, NULL), SL_OK);
	return b;
}

static inline struct sl_graph *
finish(struct sl_builder *b)
{
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl_builder_finish(&graph, b, &err))
		fail_msg("%s", err.text);
	sl_builder_free(b);
	return graph;
}

static inline int
image(struct sl_builder *b)
{
	return sl_builder_input(
		b, "x", SL_DTYPE_F32, 4,
		(int64_t[]){sl_builder_symbol(b, "batch", 1), 3, 16, 16});
}

static inline int
tokens(struct sl_builder *b, int64_t width)
{
	return sl_builder_input(b, "x", SL_DTYPE_F32, 3,
				(int64_t[]){sl_builder_symbol(b, "batch", 1),
					    sl_builder_symbol(b, "seq", 0),
					    width});
}

/* The shape of a value, as text, sizes known by name kept. */
static inline void
assert_shape(const struct sl_builder *b, int value, const char *expected)
{
	assert_true(value >= 0);
	assert_string_equal(sl__type_text(b->shapes, &b->shapes->types[value]),
			    expected);
}

static inline size_t
find_node(const struct sl_graph *graph, const char *name, const char *type)
{
	for (size_t i = 0; i < sl_graph_n_nodes(graph); i++) {
		if (!strcmp(sl_graph_node_name(graph, i), name) &&
		    !strcmp(sl_graph_node_type(graph, i), type))
			return i;
	}
	fail_msg("no node %s (%s)", name, type);
	return 0;
}

/* A running sum along the axis that its second input holds: the cost rule is
 * the first to look at that. */
static inline struct sl_graph *
running_sum(void)
{
	struct sl_builder *b = new_builder();
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, (int64_t[]){4, 8});
	int axis = sl_builder_integers(b, "axis", 0, NULL, (int64_t[]){1});

	x = sl_builder_op(b, "CumSum", 2, (int[]){x, axis});
	sl_builder_output(b, x, "y");
	return finish(b);
}

#endif
