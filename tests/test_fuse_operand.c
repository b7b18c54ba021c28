/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuse_operand.c - ways that heads are taken apart and put together. */
#include "rewritten.h"

/* The graph keeps the rest of its nodes, has one Attention whose operands are
 * these values of the old graph or new ones ("-"), and computes the same. */
static void
check_operands(const char *text, int rank, const char *const names[3])
{
	struct rewritten r = rewritten_with(text, 0);
	const struct sl__node *node = NULL;

	for (size_t i = 0; i < r.made->n_nodes; i++) {
		if (sl__is_op(&r.made->nodes[i], SL__OP_ONNX_Attention))
			node = &r.made->nodes[i];
	}
	if (!node)
		fail_msg("%s", r.nodes);
	assert_int_equal(sl__attribute_int(node, "q_num_heads", 0) > 0,
			 rank == 3);
	for (size_t i = 0; i < 3; i++) {
		int is_old = node->inputs[i] < r.g->graph->n_values;

		assert_string_equal(
			is_old ? r.g->graph->values[node->inputs[i]].name : "-",
			names[i]);
	}
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

#define HEADS                                                      \
	"in x f32 2,6,12\nin z f32 2,6,12\nin u f32 2,6,12\n"      \
	"const heads i64 4 = 0,0,3,4\nconst flat i64 3 = 0,0,12\n" \
	"const half f32 1 = 0.5\nqr = Reshape x heads\n"           \
	"q = Transpose qr perm=[0,2,1,3]\nkr = Reshape z heads\n"  \
	"k = Transpose kr perm=[0,2,1,3]\nvr = Reshape u heads\n"  \
	"v = Transpose vr perm=[0,2,1,3]\n"
#define END                                      \
	"p = Softmax s axis=3\nc = MatMul p v\n" \
	"o = Transpose c perm=[0,2,1,3]\ny = Reshape o flat\nout y\n"

/* Keys are turned with texts and heads joined for the time being, and scaled
 * after that. */
static void
sees_through_joined_dimensions(void **state)
{
	(void)state;
	check_operands(HEADS "const one i64 3 = 6,6,4\n"
			     "const four i64 4 = 2,3,4,6\n"
			     "a = Reshape k one\nb = Transpose a perm=[0,2,1]\n"
			     "d = Reshape b four\nt = Mul d half\n"
			     "w = Mul q half\ns = MatMul w t\n" END,
		       3, (const char *const[]){"x", "z", "u"});
}

/* A factor of the values is not one of the scores. */
static void
keeps_factors_of_values(void **state)
{
	struct rewritten r = rewritten_with(
		HEADS "t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\n"
		      "p = Softmax s axis=3\nw = Mul half v\nc = MatMul p w\n"
		      "out c\n",
		0);

	(void)state;
	assert_non_null(strstr(r.nodes, "Mul Attention"));
	assert_near(sl__attribute_float(rewritten_maker(&r, "c"), "scale", 0),
		    1, 0);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

/* Tokens before texts: keys that are nowhere in an order the node takes are
 * moved once. */
static void
orders_keys(void **state)
{
	(void)state;
	check_operands("in x f32 6,2,12\nconst heads i64 3 = 6,6,4\n"
		       "const four i64 4 = 2,3,6,4\n"
		       "const turned i64 4 = 2,3,4,6\nqr = Reshape x heads\n"
		       "q1 = Transpose qr perm=[1,0,2]\nq = Reshape q1 four\n"
		       "k1 = Transpose qr perm=[1,2,0]\nt = Reshape k1 turned\n"
		       "s = MatMul q t\np = Softmax s axis=3\nc = MatMul p q\n"
		       "out c\n",
		       4, (const char *const[]){"-", "-", "-"});
}

/* Windows of an image count as texts, and each has a mask of its own. */
static void
takes_masks_of_windows(void **state)
{
	(void)state;
	check_operands("in q f32 4,2,5,8\nin k f32 4,2,5,8\nin v f32 4,2,5,8\n"
		       "in m f32 1,4,1,5,5\nconst five i64 5 = 1,4,2,5,5\n"
		       "const four i64 4 = 4,2,5,5\n"
		       "t = Transpose k perm=[0,1,3,2]\na = MatMul q t\n"
		       "b = Reshape a five\nd = Add b m\ns = Reshape d four\n"
		       "p = Softmax s axis=3\nc = MatMul p v\nout c\n",
		       4, (const char *const[]){"q", "k", "v"});
}

/* What goes into the past must not come out of it. */
static void
leaves_circles(void **state)
{
	struct rewritten r = rewritten_with(
		"in x f32 1,2,3,4\nin h f32 1,2,5,4\nin i f32 1,2,5,4\n"
		"const a i64 1 = 2\n"
		"k = Concat h x axis=2\nv = Concat i x axis=2\n"
		"n = ReduceSum k a keepdims=1\nq = Mul x n\n"
		"t = Transpose k perm=[0,1,3,2]\ns = MatMul q t\n"
		"p = Softmax s axis=3\ny = MatMul p v\nout y\nout k\n",
		0);

	(void)state;
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sees_through_joined_dimensions),
		cmocka_unit_test(keeps_factors_of_values),
		cmocka_unit_test(orders_keys),
		cmocka_unit_test(takes_masks_of_windows),
		cmocka_unit_test(leaves_circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
