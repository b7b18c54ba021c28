/* SPDX-License-Identifier: Apache-2.0 */
#include "rewritten.h"
#include "sleuth.h"

/* Half precision has 11 digits of base 2; what is rounded after each node on
 * one side and once on the other differs by a few halves of the last. */
static void
check_widened(const char *text, const char *nodes)
{
	struct rewritten r = rewritten_with(text, SL__OPTIMIZE_NO_FUSION);

	assert_string_equal(r.nodes, nodes);
	rewritten_evaluate(&r, 4 * 0x1p-11);
	rewritten_free(&r);
}

static void
computes_in_single(void **state)
{
	struct rewritten r;
	struct sl__shapes_options options = {0};
	struct sl__shapes *shapes;

	(void)state;
	r = rewritten_with("opset 13\nin x f16 2,3\n"
			   "const w f16 3,4 = random\n"
			   "a = MatMul x w\ny = Tanh a\nout y\n",
			   SL__OPTIMIZE_NO_FUSION);
	assert_string_equal(r.nodes, "Cast[] MatMul Tanh Cast[]");
	assert_int_equal(sl__shapes_new(&shapes, r.made, &options, NULL),
			 SL_OK);
	for (uint32_t v = 0; v < r.made->n_values; v++) {
		int is_outside = v == graph_text_value(r.g, "x") ||
				 v == graph_text_value(r.g, "y");

		if (shapes->types[v].kind == SL__TYPE_TENSOR)
			assert_int_equal(shapes->types[v].dtype,
					 is_outside ? SL_DTYPE_F16
						    : SL_DTYPE_F32);
	}
	rewritten_evaluate(&r, 4 * 0x1p-11);
	rewritten_free(&r);
	sl__shapes_free(shapes);
}

/* The sum of 3000 ones and the 0.25 that half precision would lose. */
static void
keeps_digits(void **state)
{
	struct rewritten r;
	struct sl__evaluator *ev;
	const struct sl__runtime_value *y;
	double sum;

	(void)state;
	r = rewritten_with("opset 13\nin x f16 1\nconst big f16 1 = 3000\n"
			   "const small f16 1 = 0.25\n"
			   "a = Add x big\nb = Add a small\nc = Sub b big\n"
			   "y = Sub c x\nout y\n",
			   SL__OPTIMIZE_NO_FUSION);
	ev = rewritten_run(&r, r.made);
	assert_int_equal(
		sl__evaluator_value(ev, graph_text_value(r.g, "y"), &y, NULL),
		SL_OK);
	assert_true(sl__tensor_doubles(&y->tensor, 0, 1, &sum));
	assert_near(sum, .25, 3000 * 0x1p-23);
	sl__evaluator_free(ev);
	rewritten_free(&r);
}

static void
drops_casts(void **state)
{
	(void)state;
	check_widened("opset 13\nin x f32 2,3\nconst w f16 3,4 = random\n"
		      "a = Cast x to=10\nb = MatMul a w\ny = Cast b to=1\n"
		      "out y\n",
		      "MatMul");
	/* Other types are converted to single instead. */
	check_widened("opset 13\nin x i64 3\nconst w f16 3 = 1,2,3\n"
		      "a = Cast x to=10\nb = Mul a w\ny = Cast b to=7\n"
		      "out y\n",
		      "Cast Mul Cast");
}

/* An output that is used further is used wide. */
static void
keeps_outputs_narrow(void **state)
{
	(void)state;
	check_widened("opset 13\nin x f16 3\na = Neg x\ny = Exp a\n"
		      "out y\nout a\n",
		      "Cast[] Neg Cast[] Exp Cast[]");
	check_widened("opset 13\nin x f16 3\nconst w f16 3 = 1,2,3\n"
		      "y = Add x w\nout y\nout w\n",
		      "Cast[] Add Cast[]");
}

static void
leaves_graphs_alone(void **state)
{
	(void)state;
	check_rewritten("opset 13\nin x f32 3\ny = Neg x\nout y\n", "Neg");
	check_rewritten("opset 13\nin c bool -\nin x f16 2\n"
			"block then\np = Neg x\nout p\nend\n"
			"block else\nq = Abs x\nout q\nend\n"
			"y = If c then_branch=@then else_branch=@else\n"
			"out y\n",
			"If");
	/* Bits are not numbers. */
	check_rewritten("opset 26\nin x f16 2\ny = BitCast x to=4\nout y\n",
			"BitCast");
}

/* Nodes that name the type they compute in name the wide one. */
static void
widens_what_is_computed_in(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with("opset 17\nin x f16 2,3\nconst w f16 3 = 1,2,3\n"
			   "a,m = LayerNormalization x w stash_type=10\n"
			   "y = Add a m\nout y\n",
			   SL__OPTIMIZE_NO_FUSION);
	assert_string_equal(r.nodes, "Cast[] LayerNormalization Add Cast[]");
	assert_int_equal(sl__attribute_int(rewritten_maker(&r, "a"),
					   "stash_type", SL_DTYPE_NONE),
			 SL_DTYPE_F32);
	rewritten_evaluate(&r, 4 * 0x1p-11);
	rewritten_free(&r);
}

/* The reference path rounds where the model says so: 1 + 2^-12 becomes 1. */
static void
leaves_the_reference_alone(void **state)
{
	static const char *text = "opset 13\nin x f32 1\na = Cast x to=10\n"
				  "y = Cast a to=1\nout y\n";
	const float x = 1 + 0x1p-12F;
	const int64_t dim = 1;
	struct sl_array in = {.dtype = SL_DTYPE_F32, .rank = 1}, out;
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = 1,
					  .flags = SL_PLAN_REFERENCE};
	struct sl_plan *plan;
	struct rewritten r;

	(void)state;
	r = rewritten_with(text, SL__OPTIMIZE_NO_WIDENING);
	assert_string_equal(r.nodes, "Cast Cast");
	in.dims = &dim;
	in.data = &x;
	in.n_elements = 1;
	in.n_bytes = sizeof(x);
	assert_int_equal(sl_plan_new(&plan, r.g->graph, &options, NULL), SL_OK);
	assert_int_equal(sl_plan_set_input(plan, "x", &in, NULL), SL_OK);
	assert_int_equal(sl_plan_run(plan, NULL), SL_OK);
	assert_int_equal(sl_plan_output(plan, "y", &out, NULL), SL_OK);
	assert_near((double)*(const float *)out.data, 1, 0);
	sl_plan_free(plan);
	rewritten_free(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computes_in_single),
		cmocka_unit_test(keeps_digits),
		cmocka_unit_test(drops_casts),
		cmocka_unit_test(keeps_outputs_narrow),
		cmocka_unit_test(leaves_graphs_alone),
		cmocka_unit_test(widens_what_is_computed_in),
		cmocka_unit_test(leaves_the_reference_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
