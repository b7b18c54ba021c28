/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_step_branch.c - proves that an If whose condition is found when the
 * model runs is planned as jumps, and that either way gives what the
 * evaluator gives: with captured values,
 * branches in branches, outer values as outputs, several outputs, values in
 * other forms on one path only, and buffers that steps write over.
 */
#include "planned_graph.h"

static const int64_t four[] = {4}, image[] = {1, 16, 5, 5};
static const double yes[] = {1}, no[] = {0};

/* Both ways, one after the other and again, with other numbers. */
static void
check_both_ways(const char *text, size_t rank, const int64_t *dims,
		unsigned flags)
{
	static const int ways[] = {1, 0, 0, 1, 1};

	for (int n_threads = 1; n_threads <= 2; n_threads++) {
		struct planned p;

		planned_start(&p, text, n_threads, flags);
		assert_int_equal(planned_n_path(&p, SL_PATH_STEPWISE), 0);
		assert_true(planned_n_kernel(&p, "branch") > 0);
		assert_int_equal(planned_n_kernel(&p, "branch"),
				 planned_n_kernel(&p, "jump"));
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
			planned_set(&p, "c", 0, NULL, ways[i] ? yes : no);
			planned_fill(&p, "x", rank, dims, i + 1);
			planned_check(&p);
		}
		planned_finish(&p);
	}
}

static void
check_all(const char *text, size_t rank, const int64_t *dims)
{
	check_both_ways(text, rank, dims, 0);
	check_both_ways(text, rank, dims, SL_PLAN_NO_FUSION);
	check_both_ways(text, rank, dims, SL_PLAN_REFERENCE);
}

static void
either_branch_is_taken(void **state)
{
	(void)state;
	check_all("in c bool -\n"
		  "in x f32 4\n"
		  "block then\n"
		  "t = Neg x\n"
		  "out t\n"
		  "end\n"
		  "block else\n"
		  "e = Exp x\n"
		  "e2 = Sqrt e\n"
		  "out e2\n"
		  "end\n"
		  "y = If c then_branch=@then else_branch=@else\n"
		  "z = Add y x\n"
		  "out z\n"
		  "out y\n",
		  1, four);
}

/* h is made before, used in one branch and after; both may be written over
 * only when nobody needs them. */
static void
captured_values_survive(void **state)
{
	(void)state;
	check_all("in c bool -\n"
		  "in x f32 4\n"
		  "h = Exp x\n"
		  "k = Neg h\n"
		  "block then\n"
		  "t = Relu k\n"
		  "t2 = Sub t h\n"
		  "out t2\n"
		  "end\n"
		  "block else\n"
		  "e = Abs k\n"
		  "e2 = Neg e\n"
		  "out e2\n"
		  "end\n"
		  "y = If c then_branch=@then else_branch=@else\n"
		  "z = Mul y h\n"
		  "w = Add z k\n"
		  "out w\n",
		  1, four);
}

static void
outputs_may_be_outer_values(void **state)
{
	(void)state;
	check_all("in c bool -\n"
		  "in x f32 4\n"
		  "const w f32 4 = 5,6,7,8\n"
		  "h = Exp x\n"
		  "block then\n"
		  "out h\n"
		  "out w\n"
		  "end\n"
		  "block else\n"
		  "e = Neg h\n"
		  "out x\n"
		  "out e\n"
		  "end\n"
		  "y,z = If c then_branch=@then else_branch=@else\n"
		  "s = Neg y\n"
		  "u = Relu h\n"
		  "out s\n"
		  "out z\n"
		  "out u\n",
		  1, four);
}

/* Both outputs of a branch are the same value, and outputs of the If are
 * outputs of the model. */
static void
one_value_may_be_two_outputs(void **state)
{
	(void)state;
	check_all("in c bool -\n"
		  "in x f32 4\n"
		  "block then\n"
		  "t = Neg x\n"
		  "out t\n"
		  "out t\n"
		  "end\n"
		  "block else\n"
		  "e = Abs x\n"
		  "f = Exp e\n"
		  "out e\n"
		  "out f\n"
		  "end\n"
		  "y,z = If c then_branch=@then else_branch=@else\n"
		  "out y\n"
		  "out z\n",
		  1, four);
}

static void
branches_may_be_in_branches(void **state)
{
	static const char text[] =
		"in c bool -\n"
		"in x f32 4\n"
		"h = Exp x\n"
		"const zero f32 - = 0\n"
		"const first i64 - = 0\n"
		"a = Gather x first\n"
		"d = Greater a zero\n"
		"block then\n"
		"t = Neg h\n"
		"block deep_then\n"
		"p = Add t x\n"
		"out p\n"
		"end\n"
		"block deep_else\n"
		"q = Mul t h\n"
		"out q\n"
		"end\n"
		"r = If d then_branch=@deep_then else_branch=@deep_else\n"
		"r2 = Abs r\n"
		"out r2\n"
		"end\n"
		"block else\n"
		"block more_then\n"
		"out h\n"
		"end\n"
		"block more_else\n"
		"v = Neg x\n"
		"out v\n"
		"end\n"
		"s = If d then_branch=@more_then else_branch=@more_else\n"
		"out s\n"
		"end\n"
		"y = If c then_branch=@then else_branch=@else\n"
		"z = Sub y h\n"
		"out z\n";

	(void)state;
	check_all(text, 1, four);
}

/* A convolution may leave f in blocks; one branch reads it row by row, and so
 * does what follows, whichever way was taken.  The other way round for x. */
static void
forms_of_one_path_are_not_the_others(void **state)
{
	static const char text[] =
		"in c bool -\n"
		"in x f32 1,16,5,5\n"
		"const w f32 7,16,1,1 = 1,2,-1,3,-2,1,4,2,-3,1,2,-1,1,0,2,1,-1,"
		"2\n"
		"const v f32 16,7,1,1 = 3,1,-2,2,1,-1,4,1,2,-3,1,1,2,-1,2,1\n"
		"const flat i64 2 = 7,25\n"
		"const image i64 4 = 1,7,5,5\n"
		"f = Conv x w\n"
		"block then\n"
		"t = Reshape f flat\n"
		"t2 = Tanh t\n"
		"t3 = Reshape t2 image\n"
		"out t3\n"
		"end\n"
		"block else\n"
		"e = Conv f v\n"
		"e2 = Conv e w\n"
		"out e2\n"
		"end\n"
		"y = If c then_branch=@then else_branch=@else\n"
		"a = Reshape f flat\n"
		"b = Conv x w\n"
		"d = Add b y\n"
		"r = Relu x\n"
		"out a\n"
		"out d\n"
		"out r\n";

	(void)state;
	check_all(text, 4, image);
}

/* Steps that join the branches belong to the If, not to the last node. */
static void
joints_belong_to_the_if(void **state)
{
	struct planned p;
	struct sl_step step;

	(void)state;
	planned_start(&p,
		      "in c bool -\n"
		      "in x f32 4\n"
		      "block then\n"
		      "t = Neg x\n"
		      "out t\n"
		      "end\n"
		      "block else\n"
		      "e = Exp x\n"
		      "out e\n"
		      "end\n"
		      "y = If c then_branch=@then else_branch=@else\n"
		      "out y\n",
		      1, 0);
	for (size_t i = 0; sl_plan_step(p.plan, i, &step); i++) {
		int is_joint = !strcmp(step.kernel, "branch") ||
			       !strcmp(step.kernel, "jump") ||
			       !strcmp(step.kernel, "copy");

		assert_int_equal(is_joint, !strcmp(step.name, "y"));
		assert_int_equal(is_joint, !strcmp(step.type, "If"));
	}
	planned_finish(&p);
}

/* Views of captured values, whose buffers later steps would write over. */
static void
views_keep_what_they_see(void **state)
{
	(void)state;
	check_all("in c bool -\n"
		  "in x f32 4\n"
		  "const two i64 2 = 2,2\n"
		  "h = Exp x\n"
		  "v = Reshape h two\n"
		  "block then\n"
		  "t = Neg h\n"
		  "t2 = Reshape t two\n"
		  "out t2\n"
		  "end\n"
		  "block else\n"
		  "out v\n"
		  "end\n"
		  "y = If c then_branch=@then else_branch=@else\n"
		  "n = Relu h\n"
		  "m = Neg v\n"
		  "z = Add y m\n"
		  "out z\n"
		  "out n\n",
		  1, four);
}

/* Nothing to copy, and a branch without a node. */
static void
outputs_may_be_empty(void **state)
{
	const int64_t none[] = {0, 4};

	(void)state;
	check_all("in c bool -\n"
		  "in x f32 0,4\n"
		  "block then\n"
		  "t = Neg x\n"
		  "out t\n"
		  "end\n"
		  "block else\n"
		  "out x\n"
		  "end\n"
		  "y = If c then_branch=@then else_branch=@else\n"
		  "out y\n",
		  2, none);
}

/* What cannot be run at all is no hindrance where it is not taken. */
static void
unknown_branches_need_not_be_taken(void **state)
{
	struct graph_text *g =
		graph_text_with("in c bool -\n"
				"in x f32 4\n"
				"block then\n"
				"t = Neg x\n"
				"out t\n"
				"end\n"
				"block else\n"
				"e = Abs x\n"
				"out e\n"
				"end\n"
				"y = If c then_branch=@then else_branch=@else\n"
				"out y\n",
				NULL);
	struct sl__node *node = &g->graph->nodes[maker_of(g, "e")];
	struct sl_plan *plan;
	struct sl_error err;

	(void)state;
	node->domain = "ai.onnx.ml";
	node->type = "DictVectorizer";
	node->op = &sl__ops[SL__OP_ML_DictVectorizer];
	if (sl_plan_new(&plan, g->graph, NULL, &err) ||
	    sl_plan_fill_inputs(plan, 1, &err) || sl_plan_run(plan, &err))
		fail_msg("%s", err.text);
	*(unsigned char *)input_data(plan, "c") = 0;
	assert_int_equal(sl_plan_run(plan, &err), SL_E_ABSENT);
	sl_plan_free(plan);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(either_branch_is_taken),
		cmocka_unit_test(captured_values_survive),
		cmocka_unit_test(outputs_may_be_outer_values),
		cmocka_unit_test(one_value_may_be_two_outputs),
		cmocka_unit_test(branches_may_be_in_branches),
		cmocka_unit_test(forms_of_one_path_are_not_the_others),
		cmocka_unit_test(joints_belong_to_the_if),
		cmocka_unit_test(views_keep_what_they_see),
		cmocka_unit_test(outputs_may_be_empty),
		cmocka_unit_test(unknown_branches_need_not_be_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
