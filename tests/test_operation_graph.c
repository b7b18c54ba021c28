/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_operation_graph.c - operations hang together as the model says, through
 * reorders, fused nodes, results that lie in one another and values that are
 * used twice.
 */
#include "harness.h"
#include "analysis/operation_graph.h"
#include "engine/plan.h"
#include "sleuth.h"

struct planned {
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct sl__arena arena;
	struct sl_profile profile;
};

static void
plan(struct planned *out, struct sl_graph *graph, unsigned flags)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .flags = flags | SL_PLAN_NO_CACHE,
				      .algorithms = SL_ALGORITHMS_FIXED};
	struct sl_error err;

	memset(out, 0, sizeof(*out));
	out->graph = graph;
	sl__arena_init(&out->arena, NULL);
	assert_int_equal(sl_plan_new(&out->plan, graph, &how, &err), SL_OK);
	assert_int_equal(sl__operation_graph(&out->profile, out->plan->current,
					     &out->arena, &err),
			 SL_OK);
}

static void
drop(struct planned *p)
{
	sl_plan_free(p->plan);
	sl_graph_free(p->graph);
	sl__arena_release(&p->arena);
}

/* Whether a path leads from the step of one name to that of another. */
static int
leads(const struct planned *p, const char *from, const char *to)
{
	size_t n = sl_plan_n_steps(p->plan);
	unsigned char *is_reached = test_calloc(n, 1);
	int is_found = 0;

	for (size_t i = 0; i < n; i++) {
		struct sl_step step;

		(void)sl_plan_step(p->plan, i, &step);
		is_reached[i] |= !strcmp(step.name, from);
		for (size_t e = 0; e < p->profile.n_edges; e++) {
			const struct sl_operation_edge *x =
				&p->profile.edges[e];

			if (x->to == i)
				is_reached[i] |= is_reached[x->from];
		}
		is_found |= is_reached[i] && !strcmp(step.name, to) &&
			    strcmp(from, to) != 0;
	}
	test_free(is_reached);
	return is_found;
}

/* Every step but the first hangs on the one before, and each residual block
 * has an edge more. */
static void
residual_blocks(void **state)
{
	struct sl_graph *graph;
	struct planned p;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "resnet18", NULL, &err), SL_OK);
	plan(&p, graph, 0);
	assert_int_equal(p.profile.n_edges, sl_plan_n_steps(p.plan) - 1 + 8);
	for (size_t i = 0; i < p.profile.n_edges; i++)
		assert_true(p.profile.edges[i].from < p.profile.edges[i].to);
	drop(&p);
}

/* Two branches from one value into a Concat, whose inputs may lie in it. */
static void
branches(void **state)
{
	const int64_t dims[] = {1, 4, 8, 8};

	(void)state;
	for (unsigned flags = 0; flags < 2; flags++) {
		struct sl_builder *b;
		struct sl_graph *graph;
		struct planned p;
		struct sl_error err;
		int x, left, right, both;

		assert_int_equal(sl_builder_new(&b, "branches", NULL, &err),
				 SL_OK);
		x = sl_builder_input(b, "x", SL_DTYPE_F32, 4, dims);
		sl_builder_name(b, "first");
		x = sl_builder_op(b, "Sigmoid", 1, &x);
		sl_builder_name(b, "left");
		left = sl_builder_op(b, "Tanh", 1, &x);
		sl_builder_name(b, "right");
		right = sl_builder_op(b, "Exp", 1, &x);
		sl_builder_name(b, "both");
		sl_builder_int(b, "axis", 1);
		both = sl_builder_op(b, "Concat", 2,
				     (const int[]){left, right});
		sl_builder_name(b, "last");
		both = sl_builder_op(b, "Neg", 1, &both);
		sl_builder_output(b, both, "y");
		assert_int_equal(sl_builder_finish(&graph, b, &err), SL_OK);
		sl_builder_free(b);
		plan(&p, graph, flags ? SL_PLAN_NO_FUSION : 0);
		assert_true(leads(&p, "first", "left"));
		assert_true(leads(&p, "first", "right"));
		assert_true(leads(&p, "left", "last"));
		assert_true(leads(&p, "right", "last"));
		assert_false(leads(&p, "left", "right"));
		assert_false(leads(&p, "right", "left"));
		drop(&p);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(residual_blocks),
		cmocka_unit_test(branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
