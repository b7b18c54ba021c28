/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rewrite_blocks.c - proves that passes see bodies: a branch that is
 * known to be taken lies in the block of its If, the other one is gone, and
 * what is left of bodies is folded and fused like the model itself, but never
 * across the edge of a body.
 */
#include "rewritten.h"

/* The operators of a block that a node of the new graph runs, in order. */
static void
check_body(const struct rewritten *r, const char *maker, const char *attribute,
	   const char *nodes)
{
	const struct sl__node *node = rewritten_maker(r, maker);
	const struct sl__attribute *a = sl__attribute_find(node, attribute);
	struct rewritten body = *r;

	assert_non_null(a);
	body.nodes[0] = '\0';
	for (size_t i = 0; i < r->made->blocks[a->block].n_nodes; i++) {
		rewritten_add(&body, i ? " " : "");
		rewritten_name(&body, r->made->blocks[a->block].nodes[i]);
	}
	assert_string_equal(body.nodes, nodes);
}

/* Sizes decide; the branch that is taken fuses with what is around it. */
static void
branches_that_are_known_to_be_taken_are_inlined(void **state)
{
	(void)state;
	check_rewritten("in x f32 1,2,5,5\n"
			"const w f32 3,2,1,1 = 1,2,3,4,5,6\n"
			"const batch i64 - = 0\n"
			"const one i64 - = 1\n"
			"s = Shape x\n"
			"n = Gather s batch\n"
			"c = Equal n one\n"
			"f = Conv x w\n"
			"block then\n"
			"t = Relu f\n"
			"out t\n"
			"end\n"
			"block else\n"
			"e = Neg f\n"
			"e2 = Flatten e\n"
			"out e2\n"
			"end\n"
			"y = If c then_branch=@then else_branch=@else\n"
			"z = Neg y\n"
			"out z\n",
			"sleuth.Conv[Conv+Relu] Neg");
}

/* An If in a branch gives what the branch gives, and is an output too; the
 * other If gives an outer value. */
static void
taken_branches_may_lie_in_taken_branches(void **state)
{
	(void)state;
	check_rewritten(
		"in x f32 4\n"
		"const yes bool - = 1\n"
		"const no bool - = 0\n"
		"block then\n"
		"block deep_then\n"
		"p = Neg x\n"
		"out p\n"
		"end\n"
		"block deep_else\n"
		"q = Abs x\n"
		"q2 = Exp q\n"
		"out q2\n"
		"end\n"
		"r = If no then_branch=@deep_then else_branch=@deep_else\n"
		"out r\n"
		"end\n"
		"block else\n"
		"v = Tanh x\n"
		"out v\n"
		"end\n"
		"y = If yes then_branch=@then else_branch=@else\n"
		"block same_then\n"
		"out x\n"
		"end\n"
		"block same_else\n"
		"w = Sqrt x\n"
		"out w\n"
		"end\n"
		"u = If yes then_branch=@same_then else_branch=@same_else\n"
		"z = Add y u\n"
		"out y\n"
		"out z\n",
		"Abs Exp Add");
}

static void
outputs_of_the_model_keep_their_names(void **state)
{
	(void)state;
	check_rewritten("in x f32 4\n"
			"const yes bool - = 1\n"
			"block then\n"
			"out x\n"
			"end\n"
			"block else\n"
			"w = Sqrt x\n"
			"out w\n"
			"end\n"
			"y = If yes then_branch=@then else_branch=@else\n"
			"out y\n",
			"Identity[If]");
}

/* Weights that a body slices are constants, and a convolution takes the Relu
 * behind it; h, which the model makes, stays outside, and what another block
 * uses is not fused. */
static void
bodies_are_folded_and_fused(void **state)
{
	struct rewritten r =
		rewritten_with("in c bool -\n"
			       "in x f32 1,2,5,5\n"
			       "const all f32 4,2,1,1 = 1,2,3,4,5,6,7,8\n"
			       "const from i64 1 = 0\n"
			       "const to i64 1 = 2\n"
			       "h = Conv x all\n"
			       "block then\n"
			       "w = Slice all from to\n"
			       "f = Conv x w\n"
			       "t = Relu f\n"
			       "idle = Exp t\n"
			       "out t\n"
			       "end\n"
			       "block else\n"
			       "e = Relu h\n"
			       "e2 = Neg e\n"
			       "out e2\n"
			       "end\n"
			       "y = If c then_branch=@then else_branch=@else\n"
			       "out y\n",
			       0);

	(void)state;
	assert_string_equal(r.nodes, "sleuth.Conv[Conv] If");
	check_body(&r, "y", "then_branch", "sleuth.Conv[Conv+Relu]");
	check_body(&r, "y", "else_branch", "Relu Neg");
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

/* A body runs as often as it does; what does not change in it is computed
 * before. */
static void
loops_are_folded(void **state)
{
	struct rewritten r = rewritten_with("in x f32 4\n"
					    "const n i64 - = 3\n"
					    "const yes bool - = 1\n"
					    "const a f32 4 = 1,2,3,4\n"
					    "block body\n"
					    "in i i64 -\n"
					    "in go bool -\n"
					    "in s f32 4\n"
					    "b = Exp a\n"
					    "d = Mul s b\n"
					    "d2 = Identity d\n"
					    "k = Identity go\n"
					    "out k\n"
					    "out d2\n"
					    "end\n"
					    "y = Loop n yes x body=@body\n"
					    "out y\n",
					    0);

	(void)state;
	assert_string_equal(r.nodes, "Loop");
	check_body(&r, "y", "body", "Mul");
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

/* Nobody uses what the If gives: its branches go with it, those in a branch
 * that is not known to be taken too. */
static void
bodies_go_with_their_node(void **state)
{
	(void)state;
	check_rewritten(
		"in c bool -\n"
		"in x f32 4\n"
		"h = Exp x\n"
		"block then\n"
		"block deep_then\n"
		"p = Neg h\n"
		"out p\n"
		"end\n"
		"block deep_else\n"
		"out h\n"
		"end\n"
		"r = If c then_branch=@deep_then else_branch=@deep_else\n"
		"out r\n"
		"end\n"
		"block else\n"
		"out x\n"
		"end\n"
		"y = If c then_branch=@then else_branch=@else\n"
		"z = Abs h\n"
		"out z\n",
		"Exp Abs");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			branches_that_are_known_to_be_taken_are_inlined),
		cmocka_unit_test(taken_branches_may_lie_in_taken_branches),
		cmocka_unit_test(outputs_of_the_model_keep_their_names),
		cmocka_unit_test(bodies_are_folded_and_fused),
		cmocka_unit_test(loops_are_folded),
		cmocka_unit_test(bodies_go_with_their_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
