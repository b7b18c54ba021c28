/* SPDX-License-Identifier: Apache-2.0 */
#include "rewritten.h"

/* What a value holds in the new graph, as a constant. */
static const struct sl__tensor *
constant(const struct rewritten *r, const char *name)
{
	const struct sl__tensor *t =
		r->made->values[graph_text_value(r->g, name)].tensor;

	assert_non_null(t);
	return t;
}

static void
computes_constants(void **state)
{
	struct rewritten r;
	double x[4];

	(void)state;
	r = rewritten_with("opset 13\nin x f32 2,2\nconst a f32 2,2 = 1,2,3,4\n"
			   "b = Transpose a\nc = Neg b\ny = Add x c\nout y\n",
			   0);
	assert_string_equal(r.nodes, "Add");
	assert_true(sl__tensor_doubles(constant(&r, "c"), 0, 4, x));
	assert_near(x[0], -1, 0);
	assert_near(x[1], -3, 0);
	assert_near(x[2], -2, 0);
	assert_near(x[3], -4, 0);
	rewritten_evaluate(&r, 0);
	rewritten_free(&r);
}

/* Sizes, and what exporters make of them. */
static void
computes_sizes(void **state)
{
	struct rewritten r;
	int64_t sizes[2];

	(void)state;
	r = rewritten_with("opset 13\nin x f32 2,3,4\n"
			   "const first i64 - = 0\nconst rest i64 1 = -1\n"
			   "const axis i64 1 = 0\n"
			   "s = Shape x\nn = Gather s first\n"
			   "m = Unsqueeze n axis\nt = Concat m rest axis=0\n"
			   "a = Reshape x t\ny = Neg a\nout y\n",
			   0);
	assert_string_equal(r.nodes, "Reshape Neg");
	assert_true(sl__tensor_integers(constant(&r, "t"), 0, 2, sizes));
	assert_int_equal(sizes[0], 2);
	assert_int_equal(sizes[1], -1);
	rewritten_evaluate(&r, 0);
	rewritten_free(&r);
}

static void
keeps_outputs(void **state)
{
	(void)state;
	check_rewritten("in x f32 2\nconst a f32 2 = 1,2\ny = Neg a\n"
			"z = Add x y\nout y\nout z\n",
			"Add");
	check_rewritten("in x f32 2,3\ny = Shape x\nout y\n", "");
}

static void
leaves_what_it_must(void **state)
{
	(void)state;
	/* A constant that would be much larger than what it comes from. */
	check_rewritten("opset 13\nin x f32 1\nconst a f32 1 = 2\n"
			"const s i64 1 = 1000000\n"
			"b = Expand a s\ny = Mul x b\nout y\n",
			"Expand Mul");
	/* Bodies, though they may use what is folded. */
	check_rewritten("in c bool -\nconst w f32 2 = 1,2\n"
			"a = Neg w\n"
			"block then\np = Neg a\nout p\nend\n"
			"block else\nq = Exp a\nout q\nend\n"
			"y = If c then_branch=@then else_branch=@else\n"
			"out y\n",
			"If");
}

static void
leaves_random_numbers(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with("opset 13\ny = RandomNormal shape=[2,2] seed=1.5\n"
			   "out y\n",
			   0);
	assert_string_equal(r.nodes, "RandomNormal");
	rewritten_free(&r);
}

/* What cannot be computed is left to fail when it runs, if it ever does. */
static void
leaves_what_fails(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with("opset 13\nin x f32 2\nconst a f32 2 = 1,2\n"
			   "const i i64 2 = 7,0\nb = GatherElements a i\n"
			   "y = Add x b\nout y\n",
			   0);
	assert_string_equal(r.nodes, "GatherElements Add");
	rewritten_free(&r);
	r = rewritten_with("opset 13\nin x f32 2\nconst a f32 2 = 1,2\n"
			   "const i i64 2 = 7,0\nb = GatherElements a i\n"
			   "c = Neg b\ny = Abs x\nout y\n",
			   0);
	assert_string_equal(r.nodes, "Abs");
	rewritten_free(&r);
}

/* A node whose operand was replaced meanwhile is computed from the new one:
 * weights stay packed until the quantized kernels have had them. */
static void
folds_what_was_rewired(void **state)
{
	(void)state;
	check_rewritten_with("opset 13\nin x f32 2,2\n"
			     "const q i64 2,2 = 1,2,3,4\n"
			     "const s f32 - = .5\n"
			     "c = Cast q to=3\n"
			     "w = DequantizeLinear c s\n"
			     "i = Identity w\nt = Transpose i\n"
			     "y = Add x t\nout y\n",
			     SL__OPTIMIZE_NO_FUSION, "Add");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computes_constants),
		cmocka_unit_test(computes_sizes),
		cmocka_unit_test(keeps_outputs),
		cmocka_unit_test(leaves_what_it_must),
		cmocka_unit_test(leaves_random_numbers),
		cmocka_unit_test(leaves_what_fails),
		cmocka_unit_test(folds_what_was_rewired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
