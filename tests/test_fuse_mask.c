/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuse_mask.c - what hides keys from queries, as part of the node. */
#include "rewritten.h"

/* Three heads of 4, over 6 tokens of 2 texts; m are the scores. */
#define HEADS(name, from)                                             \
	name "r = Reshape " from " heads\n" name " = Transpose " name \
	     "r perm=[0,2,1,3]\n"
#define TURN "t = Transpose k perm=[0,1,3,2]\n"
#define SCORES                                                     \
	"in x f32 2,6,12\nin z f32 2,6,12\nin u f32 2,6,12\n"      \
	"const heads i64 4 = 0,0,3,4\nconst flat i64 3 = 0,0,12\n" \
	"const half f32 - = 0.5\n" HEADS("q", "x") HEADS("k", "z") \
		HEADS("v", "u") TURN "m = MatMul q t\n"
#define JOIN "o = Transpose c perm=[0,2,1,3]\ny = Reshape o flat\nout y\n"
#define SOFT "p = Softmax s axis=3\nc = MatMul p v\n"

static void
check_masked(const char *mask, int is_causal, uint32_t n_inputs)
{
	char text[1024];
	struct rewritten r;
	const struct sl__node *node;

	snprintf(text, sizeof(text), SCORES "%s" SOFT JOIN, mask);
	r = rewritten_with(text, 0);
	node = rewritten_maker(&r, "y");
	if (!sl__is_op(node, SL__OP_ONNX_Attention))
		fail_msg("%s: %s", mask, r.nodes);
	assert_int_equal(sl__attribute_int(node, "is_causal", 0), is_causal);
	assert_int_equal(node->n_inputs, n_inputs);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

#define TRIANGLE(a, b)                                                     \
	"= " a "," b "," b "," b "," b "," b "," a "," a "," b "," b "," b \
	"," b "," a "," a "," a "," b "," b "," b "," a "," a "," a "," a  \
	"," b "," b "," a "," a "," a "," a "," a "," b "," a "," a "," a  \
	"," a "," a "," a "\n"

static void
finds_masks(void **state)
{
	(void)state;
	check_masked("in n f32 2,1,1,6\ns = Add m n\n", 0, 4);
	check_masked("in n f32 6,6\ns = Add n m\n", 0, 4);
	check_masked("const n f32 6,6 " TRIANGLE("0", "-1e30") "s = Add m n\n",
		     1, 3);
	check_masked(
		"const n f32 1,1,6,6 " TRIANGLE(
			"0",
			"-1e30") "in l f32 2,1,1,6\nw = Add m n\ns = Add w l\n",
		1, 4);
	check_masked("in n f32 2,1,1,6\nin l f32 3,6,6\nw = Add m n\n"
		     "s = Add w l\n",
		     0, 4);
	/* A triangle that weighs but does not hide. */
	check_masked("const n f32 6,6 " TRIANGLE("0", "-1") "s = Add m n\n", 0,
		     4);
}

static void
finds_choices(void **state)
{
	(void)state;
	check_masked(
		"const n bool 1,1,6,6 " TRIANGLE(
			"1", "0") "const l f32 - = -10000\ns = Where n m l\n",
		1, 3);
	check_masked(
		"const n bool 6,6 " TRIANGLE(
			"0", "1") "const l f32 - = -10000\ns = Where n l m\n",
		1, 3);
	/* Some keys that are not the later ones. */
	check_masked("const n bool 1,6 = 1,0,1,1,1,0\n"
		     "const l f32 - = -3e38\ns = Where n m l\n",
		     0, 4);
	check_masked("const n bool 6 = 1,0,1,1,1,0\n"
		     "const l f32 - = -inf\ns = Where n m l\n",
		     0, 4);
	check_masked("in n bool 2,1,1,6\nconst l f32 - = -3e38\n"
		     "s = Where n m l\n",
		     0, 4);
}

static void
leaves_what_is_not_the_same(void **state)
{
	static const char *const masks[] = {
		/* Nobody knows whether a query has a key left. */
		"in n bool 2,1,1,6\nconst l f32 - = -10000\ns = Where n m l\n",
		/* What is hidden is not. */
		"const n bool 6,6 " TRIANGLE(
			"1", "0") "const l f32 - = 0\ns = Where n m l\n",
		/* Nor what becomes of a query that has none. */
		"in n bool 2,1,1,6\nconst l f32 - = -inf\ns = Where n m l\n",
		/* The mask is scaled; the scores are needed. */
		"in n f32 6,6\nw = Add m n\ns = Mul w half\n",
		"s = Mul m half\nout s\n"};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		struct rewritten r;

		snprintf(text, sizeof(text), SCORES "%s" SOFT JOIN, masks[i]);
		r = rewritten_with(text, 0);
		if (strstr(r.nodes, "Attention"))
			fail_msg("%s: %s", masks[i], r.nodes);
		rewritten_evaluate(&r, 1e-6);
		rewritten_free(&r);
	}
}

/* Scores are whole numbers from 0 to 2^18, so that nothing is rounded. */
static void
check_large(const char *mask, int is_causal, uint32_t n_inputs)
{
	char text[1024];
	struct rewritten r;
	const struct sl__node *node;

	snprintf(text, sizeof(text),
		 "in a f32 1,1,6,4\nin b f32 1,1,6,4\nin v f32 1,1,6,4\n"
		 "const big f32 - = 4096\nd = Round a\nq = Abs d\n"
		 "e = Round b\nk = Abs e\n" TURN "g = MatMul q t\n"
		 "m = Mul g big\n%s" SOFT "out c\n",
		 mask);
	r = rewritten_with(text, 0);
	node = rewritten_maker(&r, "c");
	if (!sl__is_op(node, SL__OP_ONNX_Attention))
		fail_msg("%s: %s", mask, r.nodes);
	assert_int_equal(sl__attribute_int(node, "is_causal", 0), is_causal);
	assert_int_equal(node->n_inputs, n_inputs);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

/* What is added hides only as much as it says; what replaces a score hides
 * it, however large it is. */
static void
hides_no_more_and_no_less(void **state)
{
	(void)state;
	check_large("const n f32 6,6 " TRIANGLE("0", "-10000") "s = Add m n\n",
		    0, 4);
	check_large("const n f32 6,6 " TRIANGLE("0", "-1e16") "s = Add m n\n",
		    1, 3);
	check_large("const n bool 6,6 " TRIANGLE("1",
						 "0") "const l f32 - = -10000\n"
						      "s = Where n m l\n",
		    1, 3);
	check_large("const n bool 1,6 = 1,0,1,1,1,0\n"
		    "const l f32 - = -10000\ns = Where n m l\n",
		    0, 4);
}

/* The third query sees nothing: NaN, unless the model says 0. */
#define BLIND                                                       \
	"in q f32 1,1,3,4\nin k f32 1,1,2,4\nin v f32 1,1,2,4\n"    \
	"const zero f32 - = 0\nconst low f32 - = -inf\n"            \
	"const add f32 3,2 = 0,0,0,-inf,-inf,-inf\n"                \
	"const seen bool 3,2 = 1,1,1,0,0,0\nin any bool 3,2\n" TURN \
	"m = MatMul q t\n"

static void
leaves_what_nothing_is_left_of(void **state)
{
	static const char *const masks[] = {"s = Add m add\n",
					    "s = Where seen m low\n",
					    "s = Where any m low\n"};
	char text[1024];
	struct rewritten r;

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		snprintf(text, sizeof(text), BLIND "%s" SOFT "out c\n",
			 masks[i]);
		r = rewritten_with(text, 0);
		if (strstr(r.nodes, "Attention"))
			fail_msg("%s: %s", masks[i], r.nodes);
		rewritten_free(&r);
		snprintf(text, sizeof(text),
			 BLIND "%sg = Softmax s axis=3\nb = IsNaN g\n"
			       "p = Where b zero g\nc = MatMul p v\nout c\n",
			 masks[i]);
		r = rewritten_with(text, 0);
		if (!strstr(r.nodes, "Attention"))
			fail_msg("%s: %s", masks[i], r.nodes);
		rewritten_evaluate(&r, 1e-6);
		rewritten_free(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_masks),
		cmocka_unit_test(finds_choices),
		cmocka_unit_test(leaves_what_is_not_the_same),
		cmocka_unit_test(hides_no_more_and_no_less),
		cmocka_unit_test(leaves_what_nothing_is_left_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
