/* SPDX-License-Identifier: Apache-2.0 */
#include "rewritten.h"

static struct sl__rewrite *
begin(struct graph_text *g)
{
	struct sl__rewrite *rw;

	assert_int_equal(sl__rewrite_new(&rw, g->graph, g->shapes, NULL, NULL),
			 SL_OK);
	return rw;
}

/* Without any change the graph is the same. */
static void
copies(void **state)
{
	struct graph_text *g = graph_text("in x f32 2\nconst w f32 2 = 1,2\n"
					  "a = Add x w\ny = Neg a\nout y\n");
	struct sl__rewrite *rw = begin(g);
	const struct sl__covered_nodes *covers;
	struct sl_graph *made;

	(void)state;
	assert_int_equal(sl__rewrite_finish(rw, &made, &covers), SL_OK);
	sl__rewrite_free(rw);
	assert_int_equal(made->n_values, g->graph->n_values);
	assert_int_equal(made->n_nodes, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_string_equal(made->nodes[i].type,
				    g->graph->nodes[i].type);
		assert_int_equal(covers[i].n, 1);
		assert_int_equal(covers[i].nodes[0], i);
	}
	assert_int_equal(made->blocks[0].outputs[0],
			 g->graph->blocks[0].outputs[0]);
	sl_graph_free(made);
	graph_text_free(g);
}

static void
looks_around(void **state)
{
	struct graph_text *g = graph_text("in x f32 2\nconst w f32 1 = 2.5\n"
					  "a = Add x w\nb = Mul a a\n"
					  "y = Neg b\nout y\n");
	struct sl__rewrite *rw = begin(g);
	uint32_t add = maker_of(g, "a"), mul = maker_of(g, "b");
	double x;

	(void)state;
	assert_true(sl__rewrite_node_is_op(rw, add, SL__OP_ONNX_Add));
	assert_false(sl__rewrite_node_is_op(rw, add, SL__OP_ONNX_Mul));
	assert_false(sl__rewrite_node_is_op(rw, SL__NONE, SL__OP_ONNX_Mul));
	assert_int_equal(sl__rewrite_input(rw, add, 1),
			 graph_text_value(g, "w"));
	assert_int_equal(sl__rewrite_input(rw, add, 2), SL__NONE);
	assert_true(sl__scalar_constant_read(rw, graph_text_value(g, "w"), &x));
	assert_near(x, 2.5, 0);
	assert_false(
		sl__scalar_constant_read(rw, graph_text_value(g, "x"), &x));
	/* 'a' is used twice, 'y' from outside. */
	assert_int_equal(sl__rewrite_only_user(rw, graph_text_value(g, "a")),
			 SL__NONE);
	assert_int_equal(sl__rewrite_only_user(rw, graph_text_value(g, "b")),
			 maker_of(g, "y"));
	assert_int_equal(sl__rewrite_only_user(rw, graph_text_value(g, "y")),
			 SL__NONE);
	sl__rewrite_remove_node(rw, mul);
	assert_null(sl__rewrite_node(rw, mul));
	assert_int_equal(rw->uses[graph_text_value(g, "a")].n, 0);
	assert_int_equal(sl__rewrite_producer(rw, graph_text_value(g, "b")),
			 SL__NONE);
	sl__rewrite_free(rw);
	graph_text_free(g);
}

/* Two nodes in one that has attributes of every kind. */
static void
makes_nodes(void **state)
{
	struct graph_text *g =
		graph_text("in x f32 1,1,3\nin w f32 1,1,1\n"
			   "a = Conv x w group=1 pads=[1,0]\ny = Relu a\n"
			   "out y\n");
	struct sl__rewrite *rw = begin(g);
	const char *const words[] = {"relu", "tanh"};
	const float numbers[] = {.5f, 1.5f};
	const int64_t sizes[] = {2, 2};
	const struct sl__covered_nodes *covers;
	const struct sl__node *node;
	struct sl_graph *made;
	struct sl__node_builder m;
	uint32_t id;

	(void)state;
	sl__node_builder_begin(&m, rw, "sleuth", "Conv", 1);
	sl__node_builder_copy_attributes(&m, maker_of(g, "a"));
	sl__node_builder_add_input(&m, graph_text_value(g, "x"));
	sl__node_builder_add_input(&m, graph_text_value(g, "w"));
	sl__node_builder_add_input(&m, SL__NONE);
	sl__node_builder_add_output(&m, graph_text_value(g, "y"));
	sl__node_builder_drop_attribute(&m, "group");
	sl__node_builder_set_int(&m, "one", 1);
	sl__node_builder_set_int(&m, "one", 7);
	sl__node_builder_set_ints(&m, "pads", sizes, 2);
	sl__node_builder_set_float(&m, "real", 2.5f);
	sl__node_builder_set_floats(&m, "post_alpha", numbers, 2);
	sl__node_builder_set_string(&m, "word", "text");
	sl__node_builder_set_strings(&m, "post", words, 2);
	sl__node_builder_add_covered(&m, maker_of(g, "a"));
	sl__node_builder_add_covered(&m, maker_of(g, "y"));
	id = sl__node_builder_finish(&m);
	assert_int_equal(rw->rc, SL_OK);
	assert_int_equal(sl__rewrite_producer(rw, graph_text_value(g, "y")),
			 id);
	assert_int_equal(sl__rewrite_finish(rw, &made, &covers), SL_OK);
	sl__rewrite_free(rw);
	assert_int_equal(made->n_nodes, 1);
	node = &made->nodes[0];
	assert_true(sl__is_op(node, SL__OP_SLEUTH_Conv));
	assert_string_equal(node->name, "a");
	assert_int_equal(covers[0].n, 2);
	assert_null(sl__attribute_find(node, "group"));
	assert_int_equal(sl__attribute_int(node, "one", 0), 7);
	assert_int_equal(sl__attribute_find(node, "pads")->ints[0], 2);
	assert_near(sl__attribute_float(node, "real", 0), 2.5, 0);
	assert_near((double)sl__attribute_find(node, "post_alpha")->floats[1],
		    1.5, 0);
	assert_string_equal(sl__attribute_string(node, "word", ""), "text");
	assert_string_equal(sl__attribute_find(node, "post")->strings[1],
			    "tanh");
	sl_graph_free(made);
	graph_text_free(g);
}

/* What does not fit is refused at the end, with everything as it was. */
static void
refuses_too_much(void **state)
{
	struct graph_text *g = graph_text("in x f32 2\ny = Neg x\nout y\n");
	struct sl__rewrite *rw = begin(g);
	struct sl__node_builder m;
	struct sl_error err;

	(void)state;
	rw->err = &err;
	sl__node_builder_begin_like(&m, rw, maker_of(g, "y"));
	for (int i = 0; i <= SL__NODE_BUILDER_INPUTS; i++)
		sl__node_builder_add_input(&m, graph_text_value(g, "x"));
	sl__node_builder_add_output(&m, graph_text_value(g, "y"));
	sl__node_builder_add_covered(&m, maker_of(g, "y"));
	sl__node_builder_finish(&m);
	assert_int_equal(rw->rc, SL_E_ABSENT);
	assert_non_null(strstr(err.text, "more inputs"));
	assert_non_null(sl__rewrite_node(rw, maker_of(g, "y")));
	sl__rewrite_free(rw);
	graph_text_free(g);
}

static void
rewires(void **state)
{
	struct graph_text *g = graph_text("in x f32 2\na = Neg x\nb = Exp a\n"
					  "y = Add a b\nout y\n");
	struct sl__rewrite *rw = begin(g);
	uint32_t x = graph_text_value(g, "x"), a = graph_text_value(g, "a");

	(void)state;
	sl__rewrite_replace_value(rw, a, x);
	assert_int_equal(rw->uses[a].n, 0);
	assert_int_equal(rw->uses[x].n, 3);
	assert_int_equal(sl__rewrite_input(rw, maker_of(g, "b"), 0), x);
	assert_int_equal(sl__rewrite_input(rw, maker_of(g, "y"), 0), x);
	/* The original never changes. */
	assert_int_equal(g->graph->nodes[maker_of(g, "b")].inputs[0], a);
	sl__rewrite_free(rw);
	graph_text_free(g);
}

/* Whatever allocation fails, nothing is lost. */
static void
survives_want_of_memory(void **state)
{
	struct graph_text *g =
		graph_text("opset 13\nin x f16 1,3,2\n"
			   "const w f16 2,3,1 = random\nconst k f16 2,1 = 1,2\n"
			   "a = Conv x w\nb = Mul a k\nc = Relu b\n"
			   "d = Transpose c\ne = Transpose d\ny = Identity e\n"
			   "out y\n");
	struct counting counting = {0};
	struct sl_allocator allocator = counting_allocator(&counting);
	struct sl__shapes_options options = {.allocator = &allocator};
	const struct sl__covered_nodes *covers;
	struct sl_graph *made;
	struct sl__shapes *shapes;
	enum sl_status rc;

	(void)state;
	for (int n = 1;; n++) {
		counting.fail_at = 0;
		assert_int_equal(
			sl__shapes_new(&shapes, g->graph, &options, NULL),
			SL_OK);
		counting.n_requests = 0;
		counting.fail_at = n;
		rc = sl__optimize(&made, &covers, g->graph, shapes, 0, NULL);
		counting.fail_at = 0;
		sl__shapes_free(shapes);
		if (!rc)
			break;
		assert_int_equal(rc, SL_E_NOMEM);
		assert_int_equal(counting.n_out, 0);
	}
	sl_graph_free(made);
	assert_int_equal(counting.n_out, 0);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(looks_around),
		cmocka_unit_test(makes_nodes),
		cmocka_unit_test(refuses_too_much),
		cmocka_unit_test(rewires),
		cmocka_unit_test(survives_want_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
