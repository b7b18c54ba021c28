/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuse_attention.c - attention that is written out, as one node. */
#include "engine/plan.h"
#include "rewritten.h"

/* One head or several of 4, over 6 tokens of 2 texts. */
#define HEADS(name, from)                                             \
	name "r = Reshape " from " heads\n" name " = Transpose " name \
	     "r perm=[0,2,1,3]\n"
#define TOKENS                                                          \
	"in x f32 2,6,12\nin z f32 2,6,12\nin u f32 2,6,12\n"           \
	"const heads i64 4 = 0,0,3,4\nconst flat i64 3 = 0,0,12\n"      \
	"const half f32 - = 0.5\nconst two f32 - = 2\n" HEADS("q", "x") \
		HEADS("k", "z") HEADS("v", "u")
#define TURN  "t = Transpose k perm=[0,1,3,2]\n"
#define JOIN  "o = Transpose c perm=[0,2,1,3]\ny = Reshape o flat\nout y\n"
#define SOFT  "p = Softmax s axis=3\nc = MatMul p v\n"
#define SPLIT "Reshape+Transpose+Reshape+Transpose+Reshape+Transpose+Transpose+"

struct found {
	struct rewritten r;
	const struct sl__node *node; /* the Attention */
};

/* The only node that is left, and that computes the same. */
static struct found
find(const char *text, const char *nodes)
{
	struct found f = {.r = rewritten_with(text, 0)};

	assert_string_equal(f.r.nodes, nodes);
	rewritten_evaluate(&f.r, 1e-6);
	for (size_t i = 0; i < f.r.made->n_nodes; i++) {
		if (sl__is_op(&f.r.made->nodes[i], SL__OP_ONNX_Attention))
			f.node = &f.r.made->nodes[i];
	}
	assert_non_null(f.node);
	return f;
}

static void
check_found(const char *text, const char *nodes, double scale, int is_causal,
	    uint32_t n_inputs)
{
	struct found f = find(text, nodes);

	assert_near(sl__attribute_float(f.node, "scale", 0), scale, 1e-6);
	assert_int_equal(sl__attribute_int(f.node, "is_causal", 0), is_causal);
	assert_int_equal(f.node->n_inputs, n_inputs);
	rewritten_free(&f.r);
}

static void
finds_heads_beside(void **state)
{
	struct found f;

	(void)state;
	f = find(TOKENS TURN "m = MatMul q t\ns = Mul m half\n" SOFT JOIN,
		 "Attention[" SPLIT "MatMul+Mul+Softmax+MatMul+Transpose+"
		 "Reshape]");
	assert_int_equal(sl__attribute_int(f.node, "q_num_heads", 0), 3);
	assert_int_equal(sl__attribute_int(f.node, "kv_num_heads", 0), 3);
	rewritten_free(&f.r);
	/* The keys turned at once; the scale on both sides. */
	check_found(
		"in x f32 1,6,12\nconst heads i64 4 = 0,0,3,4\n"
		"const flat i64 3 = 0,0,12\nconst a f32 - = 0.5\n"
		"const b f32 - = 3\n" HEADS("q", "x") HEADS(
			"v",
			"x") "kr = Reshape x heads\nt = Transpose kr "
			     "perm=[0,2,3,1]\n"
			     "w = Mul q a\nz = Div t b\ns = MatMul w z\n" SOFT
				     JOIN,
		"Attention[Reshape+Transpose+Reshape+Transpose+Reshape+"
		"Transpose+Mul+Div+MatMul+Softmax+MatMul+Transpose+"
		"Reshape]",
		0.5 / 3, 0, 3);
}

/* Texts and heads in one dimension, tokens before texts. */
static void
finds_stacks(void **state)
{
	(void)state;
	check_found(
		"in x f32 2,6,12\nconst heads i64 4 = 0,0,3,4\n"
		"const flat i64 3 = 0,0,12\nconst one i64 3 = 6,6,4\n"
		"const four i64 4 = 2,3,6,4\n" HEADS(
			"a",
			"x") "q = Reshape a one\nt = Transpose q perm=[0,2,1]\n"
			     "s = MatMul q t\np = Softmax s axis=2\nd = MatMul "
			     "p q\n"
			     "c = Reshape d four\n" JOIN,
		"Attention[Reshape+Transpose+Reshape+Transpose+MatMul+"
		"Softmax+MatMul+Reshape+Transpose+Reshape]",
		1, 0, 3);
	check_found("in x f32 6,1,12\nconst heads i64 3 = 6,3,4\n"
		    "const flat i64 2 = 6,12\nqr = Reshape x heads\n"
		    "q = Transpose qr perm=[1,0,2]\n"
		    "t = Transpose q perm=[0,2,1]\ns = MatMul q t\n"
		    "p = Softmax s axis=2\nc = MatMul p q\n"
		    "o = Transpose c perm=[1,0,2]\ny = Reshape o flat\n"
		    "out y\n",
		    "Reshape[] Reshape[] Reshape[] "
		    "Attention[Reshape+Transpose+Transpose+MatMul+"
		    "Softmax+MatMul+Transpose+Reshape] Reshape[]",
		    1, 0, 3);
}

/* Where something needs the heads apart, they stay so. */
static void
finds_heads_apart(void **state)
{
	(void)state;
	check_found("in q f32 2,3,6,4\nin k f32 2,3,7,4\nin v f32 2,3,7,5\n"
		    "t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\n" SOFT
		    "out c\n",
		    "Attention[Transpose+MatMul+Softmax+MatMul]", 1, 0, 3);
	/* Queries are changed after their heads were taken apart. */
	check_found("in x f32 1,6,12\nconst heads i64 4 = 0,0,3,4\n"
		    "const flat i64 3 = 0,0,12\n" HEADS(
			    "a", "x") "q = Cos a\nkr = Reshape x heads\n"
				      "t = Transpose kr perm=[0,2,3,1]\n" HEADS(
					      "v",
					      "x") "s = MatMul q t\n" SOFT JOIN,
		    "Reshape Reshape[] Transpose[] Transpose Cos Reshape "
		    "Transpose "
		    "Attention[Reshape+Transpose+MatMul+Softmax+MatMul] "
		    "Transpose Reshape",
		    1, 0, 3);
}

static void
finds_shared_keys(void **state)
{
	struct found f;

	(void)state;
	/* Copied for each head. */
	f = find("in q f32 1,4,6,8\nin h f32 1,2,6,8\nin g f32 1,2,6,8\n"
		 "const a i64 1 = 2\nconst many i64 5 = 1,2,2,6,8\n"
		 "const all i64 4 = 1,4,6,8\nk1 = Unsqueeze h a\n"
		 "k2 = Expand k1 many\nk = Reshape k2 all\n"
		 "v1 = Unsqueeze g a\nv2 = Expand v1 many\n"
		 "v = Reshape v2 all\n" TURN "s = MatMul q t\n" SOFT "out c\n",
		 "Attention[Unsqueeze+Expand+Reshape+Unsqueeze+Expand+Reshape+"
		 "Transpose+MatMul+Softmax+MatMul]");
	assert_string_equal(f.r.g->graph->values[f.node->inputs[1]].name, "h");
	rewritten_free(&f.r);
	/* In a dimension of their own. */
	check_found("in q f32 1,2,3,6,8\nin k f32 1,2,1,6,8\n"
		    "in v f32 1,2,1,6,8\nt = Transpose k perm=[0,1,2,4,3]\n"
		    "s = MatMul q t\np = Softmax s axis=4\nc = MatMul p v\n"
		    "out c\n",
		    "Reshape[] Reshape[] Reshape[] "
		    "Attention[Transpose+MatMul+Softmax+MatMul] Reshape[]",
		    1, 0, 3);
}

/* Weights that are dropped on the way to the values. */
static void
leaves_training(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with(TOKENS TURN "s = MatMul q t\ng = Softmax s axis=3\n"
				       "opset 6\np = Dropout g\nopset 16\n"
				       "c = MatMul p v\n" JOIN,
			   0);
	assert_null(strstr(r.nodes, "Attention"));
	rewritten_free(&r);
	check_found(TOKENS TURN "s = MatMul q t\ng = Softmax s axis=3\n"
				"opset 6\np = Dropout g is_test=1\nopset 16\n"
				"c = MatMul p v\n" JOIN,
		    "Attention[" SPLIT "MatMul+Softmax+MatMul+Transpose+"
		    "Reshape]",
		    1, 0, 3);
}

/* A factor that f32 has no number for. */
static void
leaves_factors_beyond_all(void **state)
{
	(void)state;
	check_rewritten("in q f32 1,1,6,4\nin k f32 1,1,6,4\n"
			"in v f32 1,1,6,4\nconst a f32 - = 1e-30\n" TURN
			"n = MatMul q t\nl = Mul n a\ns = Mul l a\n" SOFT
			"out c\n",
			"sleuth.MatMul[Transpose+MatMul+Mul+Mul] "
			"Softmax sleuth.MatMul[MatMul]");
}

static void
finds_what_caps_and_guards(void **state)
{
	struct found f;

	(void)state;
	f = find("in q f32 1,1,6,4\nin k f32 1,1,6,4\nin v f32 1,1,6,4\n"
		 "const a f32 - = 0.25\nconst cap f32 - = 3\n"
		 "const zero f32 - = 0\n" TURN "m = MatMul q t\nn = Mul m a\n"
		 "d = Div n cap\ne = Tanh d\ns = Mul e cap\n"
		 "g = Softmax s axis=3\nb = IsNaN g\np = Where b zero g\n"
		 "c = MatMul p v\nout c\n",
		 "Attention[Transpose+MatMul+Mul+Div+Tanh+Mul+Softmax+IsNaN+"
		 "Where+MatMul]");
	assert_near(sl__attribute_float(f.node, "softcap", 0), 3, 1e-6);
	assert_near(sl__attribute_float(f.node, "scale", 0), 0.25, 1e-6);
	rewritten_free(&f.r);
}

static void
finds_the_past(void **state)
{
	struct found f;

	(void)state;
	f = find("in x f32 1,2,12\nin pk f32 1,3,5,4\nin pv f32 1,3,5,4\n"
		 "const heads i64 4 = 0,0,3,4\nconst flat i64 3 = "
		 "0,0,12\n" HEADS("q", "x") HEADS("a", "x")
			 HEADS("b", "x") "k = Concat pk a axis=2\nv = Concat "
					 "pv b axis=2\n" TURN
					 "s = MatMul q t\n" SOFT JOIN
					 "out k\nout v\n",
		 "Attention[Reshape+Transpose+Reshape+Transpose+Reshape+"
		 "Transpose+Concat+Concat+Transpose+MatMul+Softmax+MatMul+"
		 "Transpose+Reshape]");
	assert_int_equal(f.node->n_inputs, 6);
	assert_int_equal(f.node->n_outputs, 3);
	rewritten_free(&f.r);
	/* Keys are kept turned, and nobody needs all values. */
	f = find("in x f32 1,2,12\nin pk f32 1,3,5,4\nin pv f32 1,3,5,4\n"
		 "const heads i64 4 = 0,0,3,4\nconst flat i64 3 = "
		 "0,0,12\n" HEADS("q", "x")
			 HEADS("b", "x") "r = Reshape x heads\n"
					 "a = Transpose r perm=[0,2,3,1]\n"
					 "h = Transpose pk perm=[0,1,3,2]\nt = "
					 "Concat h a axis=3\n"
					 "w = Transpose t perm=[0,1,3,2]\nv = "
					 "Concat pv b axis=2\n"
					 "s = MatMul q t\n" SOFT JOIN "out w\n",
		 "Attention[Reshape+Transpose+Reshape+Transpose+Reshape+"
		 "Transpose+Transpose+Concat+Transpose+Concat+MatMul+Softmax+"
		 "MatMul+Transpose+Reshape]");
	assert_true(f.node->n_outputs == 3 && f.node->outputs[2] == SL__NONE);
	rewritten_free(&f.r);
}

static size_t
count_of(const struct sl_graph *graph, const struct sl__shapes *shapes,
	 enum sl__op_id op, enum sl__op_id left)
{
	const struct sl__covered_nodes *covers;
	struct sl_graph *made;
	struct sl_error err;
	size_t n = 0;

	if (sl__optimize(&made, &covers, graph, shapes, 0, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < made->n_nodes; i++) {
		n += sl__is_op(&made->nodes[i], op) != 0;
		assert_false(sl__is_op(&made->nodes[i], left));
	}
	sl_graph_free(made);
	return n;
}

static void
check_model(const char *name, const char *dims, size_t n)
{
	struct sl_graph_options options = {.struct_size = sizeof(options)};
	struct sl_dim_size dim = {.name = "seq_len", .size = 5};
	struct sl_sizes sizes = {.struct_size = sizeof(sizes)};
	struct sl__shapes_options how = {.sizes = &sizes};
	struct sl__shapes *shapes = NULL;
	struct sl_graph *graph;
	struct sl_error err;

	if (dims) {
		sizes.dims = &dim;
		sizes.n_dims = 1;
	}
	if (sl_graph_open(&graph, name, &options, &err) ||
	    sl__shapes_new(&shapes, graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	assert_int_equal(count_of(graph, shapes, SL__OP_ONNX_Attention,
				  SL__OP_ONNX_Softmax),
			 n);
	sl__shapes_free(shapes);
	sl_graph_free(graph);
}

static void
finds_all_of_a_model(void **state)
{
	(void)state;
	check_model("bert-base", NULL, 12);
	check_model("vit-b-16", NULL, 12);
	check_model("gpt2", NULL, 12);
	check_model("gpt2@kv", NULL, 12);
	check_model("tinyllama", NULL, 22);
	check_model("tinyllama@kv", NULL, 22);
#ifdef SL_TEST_MODELS
	check_model(SL_TEST_MODELS "/gpt2_past_tiny/model.onnx", "seq_len", 12);
	check_model(SL_TEST_MODELS "/tf_bert_qa_tiny/model.onnx", NULL, 24);
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_heads_beside),
		cmocka_unit_test(finds_stacks),
		cmocka_unit_test(finds_heads_apart),
		cmocka_unit_test(finds_shared_keys),
		cmocka_unit_test(leaves_training),
		cmocka_unit_test(leaves_factors_beyond_all),
		cmocka_unit_test(finds_what_caps_and_guards),
		cmocka_unit_test(finds_the_past),
		cmocka_unit_test(finds_all_of_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
