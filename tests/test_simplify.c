/* SPDX-License-Identifier: Apache-2.0 */
#include "rewritten.h"

/* Each line between the input x [2][3] and the output is a node that changes
 * nothing; Neg is what it stands between. */
static void
check_gone(const char *line)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "opset 13\nin x f32 2,3\n"
		 "const zero f32 1 = 0\nconst one f32 1,1 = 1\n"
		 "const none i64 4 = 0,0,0,0\nconst shape i64 2 = 2,3\n"
		 "const from i64 2 = 0,0\nconst to i64 2 = 2,9\n"
		 "const ones i64 2 = 1,1\nconst no bool - = 0\n"
		 "const ratio f32 - = .5\n"
		 "a = Neg x\n%s\ny = Neg b\nout y\n",
		 line);
	check_rewritten(text, "Neg Neg");
}

static void
takes_out_what_changes_nothing(void **state)
{
	(void)state;
	check_gone("b = Identity a");
	check_gone("b = Dropout a ratio");
	check_gone("b = Dropout a ratio no");
	check_gone("b = Reshape a shape");
	check_gone("b = Flatten a axis=1");
	check_gone("b = Cast a to=1");
	check_gone("b = Transpose a perm=[0,1]");
	check_gone("b = Pad a none");
	check_gone("b = Slice a from to");
	check_gone("b = Expand a shape");
	check_gone("b = Tile a ones");
	check_gone("b = Concat a axis=0");
	check_gone("b = Sum a");
	check_gone("b = Split a axis=0");
	check_gone("b = Mul a one");
	check_gone("b = Mul one a");
	check_gone("b = Div a one");
	check_gone("b = Add a zero");
	check_gone("b = Add zero a");
	check_gone("b = Sub a zero");
	check_gone("b = Pow a one");
	check_gone("c = Transpose a\nb = Transpose c");
	check_gone("c = Exp a\nd = Identity c\nb = Identity a");
}

static void
check_kept(const char *line, const char *nodes)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "opset 13\nin x f32 2,2\n"
		 "const zero f32 1 = 0\nconst one f32 1 = 1\n"
		 "const wide f32 3,1,1 = 1,1,1\nconst half f32 2 = 1,.5\n"
		 "const shift i64 4 = 1,0,-1,0\n"
		 "const from i64 1 = -1\nconst to i64 1 = -9\n"
		 "const axis i64 1 = 0\nconst back i64 1 = -1\n"
		 "const ratio f32 - = .5\n"
		 "a = Neg x\n%s\ny = Neg b\nout y\n",
		 line);
	check_rewritten(text, nodes);
}

/* Sizes alone do not prove it. */
static void
keeps_what_changes_something(void **state)
{
	(void)state;
	check_kept("b = Transpose a perm=[1,0]", "Neg Transpose Neg");
	check_kept("b = Pad a shift", "Neg Pad Neg");
	check_kept("b = Slice a from to axis back", "Neg Slice Neg");
	check_kept("b = Mul a half", "Neg Mul Neg");
	check_kept("b = Mul a wide", "Neg Mul Neg");
	check_kept("b = Sub zero a", "Neg Sub Neg");
	check_kept("b = Div one a", "Neg Div Neg");
	check_kept("b,m = Dropout a ratio\nout m", "Neg Dropout Neg");
}

static void
merges_transposes(void **state)
{
	struct rewritten r;
	const int64_t *perm;

	(void)state;
	r = rewritten_with("in x f32 2,3,4\n"
			   "a = Transpose x perm=[1,2,0]\n"
			   "b = Transpose a perm=[0,2,1]\n"
			   "out b\n",
			   0);
	assert_string_equal(r.nodes, "Transpose[Transpose+Transpose]");
	assert_int_equal(
		sl__attribute_ints(rewritten_maker(&r, "b"), "perm", &perm), 3);
	assert_int_equal(perm[0], 1);
	assert_int_equal(perm[1], 0);
	assert_int_equal(perm[2], 2);
	rewritten_evaluate(&r, 0);
	rewritten_free(&r);
	/* The first one is also an output. */
	check_rewritten("in x f32 2,3,4\n"
			"a = Transpose x perm=[1,2,0]\n"
			"b = Transpose a perm=[2,0,1]\n"
			"y = Neg b\n"
			"out y\nout a\n",
			"Transpose Neg");
	/* It goes with the last of those that it is merged with. */
	check_rewritten("in x f32 2,3,4\n"
			"a = Transpose x perm=[1,2,0]\n"
			"b = Transpose a perm=[0,2,1]\n"
			"c = Transpose a perm=[1,0,2]\n"
			"out b\nout c\n",
			"Transpose Transpose[Transpose+Transpose]");
}

static void
merges_views(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with("opset 13\nin x f32 2,3,4\n"
			   "const s i64 2 = 6,4\nconst t i64 1 = 0\n"
			   "a = Reshape x s\n"
			   "b = Unsqueeze a t\n"
			   "c = Flatten b axis=2\n"
			   "d = Neg c\n"
			   "out d\n",
			   0);
	assert_string_equal(r.nodes, "Reshape[Reshape+Unsqueeze+Flatten] Neg");
	rewritten_evaluate(&r, 0);
	rewritten_free(&r);
	/* Nothing is left of a view that is undone. */
	check_rewritten("opset 13\nin x f32 2,3,4\n"
			"const s i64 2 = 6,4\nconst t i64 3 = 2,3,4\n"
			"a = Reshape x s\nb = Reshape a t\nd = Neg b\n"
			"out d\n",
			"Neg");
}

/* Outputs keep their numbers: the node before makes them, or the node that
 * changes nothing stays. */
static void
keeps_outputs(void **state)
{
	(void)state;
	check_rewritten("in x f32 3\na = Neg x\ny = Identity a\nout y\n",
			"Neg");
	check_rewritten("in x f32 3\ny = Identity x\nout y\n", "Identity");
	check_rewritten("in x f32 3\na = Neg x\ny = Identity a\n"
			"out a\nout y\n",
			"Neg Identity");
	check_rewritten("in x f32 3\na = Neg x\ny = Identity a\n"
			"z = Identity a\nw = Exp a\n"
			"out y\nout z\nout w\n",
			"Neg Identity Exp");
	check_rewritten("opset 13\nin x f32 4\na,b = Split x\n"
			"y = Identity b\nz = Add a y\nout y\nout z\n",
			"Split Add");
	check_rewritten("opset 13\nconst w f32 2 = 1,2\nin x f32 2\n"
			"y = Identity w\nz = Add x y\nout y\nout z\n",
			"Add");
}

/* What a body uses is not replaced under it. */
static void
keeps_captures(void **state)
{
	(void)state;
	check_rewritten("in c bool -\nin x f32 2\n"
			"a = Identity x\n"
			"block then\np = Neg a\nout p\nend\n"
			"block else\nq = Exp a\nout q\nend\n"
			"y = If c then_branch=@then else_branch=@else\n"
			"out y\n",
			"Identity If");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_out_what_changes_nothing),
		cmocka_unit_test(keeps_what_changes_something),
		cmocka_unit_test(merges_transposes),
		cmocka_unit_test(merges_views),
		cmocka_unit_test(keeps_outputs),
		cmocka_unit_test(keeps_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
