/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/post_op.h"
#include "rewritten.h"

#include <float.h>

#define CONV                                                         \
	"opset 14\nin x f32 1,3,4,4\nconst w f32 2,3,3,3 = random\n" \
	"const c f32 2 = random\nconst three f32 - = 3\n"            \
	"const six f32 1 = 6\nconst zero f32 - = 0\n"                \
	"const sixth f32 - = .16666667\nconst two f32 - = 2\n"       \
	"a = Conv x w c pads=[1,1,1,1]\n"

/* The nodes after a Conv become its one operation 'word'. */
static void
check_function(const char *lines, const char *covers, const char *word)
{
	char text[1024], nodes[256];
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	struct rewritten r;

	snprintf(text, sizeof(text), CONV "%s\nout y\n", lines);
	snprintf(nodes, sizeof(nodes), "sleuth.Conv[Conv+%s]", covers);
	r = rewritten_with(text, 0);
	assert_string_equal(r.nodes, nodes);
	assert_int_equal(sl__post_ops_read(rewritten_maker(&r, "y"), post_ops),
			 1);
	assert_string_equal(sl__post_op_name(post_ops[0].kind), word);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

static void
takes_functions(void **state)
{
	(void)state;
	check_function("y = Relu a", "Relu", "relu");
	check_function("y = LeakyRelu a", "LeakyRelu", "leaky_relu");
	check_function("y = LeakyRelu a alpha=0.3", "LeakyRelu", "leaky_relu");
	check_function("y = Sigmoid a", "Sigmoid", "sigmoid");
	check_function("y = Tanh a", "Tanh", "tanh");
	check_function("y = Elu a alpha=1.5", "Elu", "elu");
	check_function("y = HardSigmoid a", "HardSigmoid", "hard_sigmoid");
	check_function("y = HardSigmoid a alpha=0.1 beta=0.3", "HardSigmoid",
		       "hard_sigmoid");
	check_function("y = HardSwish a", "HardSwish", "hard_swish");
	check_function("y = Gelu a", "Gelu", "gelu");
	check_function("y = Gelu a approximate='tanh'", "Gelu", "gelu_tanh");
	check_function("y = com.microsoft.QuickGelu a alpha=1.7", "QuickGelu",
		       "silu");
	check_function("y = Swish a alpha=0.5", "Swish", "silu");
}

static void
takes_clips(void **state)
{
	(void)state;
	check_function("y = Clip a zero six", "Clip", "clip");
	check_function("y = Clip a - two", "Clip", "clip");
	check_function("const all f32 - = inf\ny = Clip a zero all", "Clip",
		       "relu");
	check_function("y = Clip a zero", "Clip", "clip");
	check_function("opset 6\ny = Clip a min=-0.5 max=0.5", "Clip", "clip");
}

/* A bound that is left out is the last number of the type. */
static void
takes_bounds_of_the_type(void **state)
{
	static const char *const lines[] = {"y = Clip a\n",
					    "opset 6\ny = Clip a\n"};
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	char text[1024];
	struct rewritten r;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), CONV "%sout y\n", lines[i]);
		r = rewritten_with(text, 0);
		assert_int_equal(
			sl__post_ops_read(rewritten_maker(&r, "y"), post_ops),
			1);
		assert_int_equal(post_ops[0].kind, SL__POST_OP_CLIP);
		assert_near((double)post_ops[0].alpha, -(double)FLT_MAX, 0);
		assert_near((double)post_ops[0].beta, (double)FLT_MAX, 0);
		rewritten_free(&r);
	}
}

static void
takes_products_with_gates(void **state)
{
	(void)state;
	check_function("s = Sigmoid a\ny = Mul a s", "Sigmoid+Mul", "silu");
	check_function("s = Sigmoid a\ny = Mul s a", "Sigmoid+Mul", "silu");
	check_function("s = HardSigmoid a alpha=0.16666667\ny = Mul a s",
		       "HardSigmoid+Mul", "hard_swish");
	check_function("p = Add a three\nq = Clip p zero six\nr = Mul a q\n"
		       "y = Div r six",
		       "Add+Clip+Mul+Div", "hard_swish");
	check_function("p = Add three a\nq = Clip p zero six\n"
		       "r = Mul q sixth\ny = Mul r a",
		       "Add+Clip+Mul+Mul", "hard_swish");
}

static void
leaves_gates_that_are_others(void **state)
{
	(void)state;
	/* Not a sixth; not x itself; the gate is seen. */
	check_rewritten(CONV "s = HardSigmoid a\ny = Mul a s\nout y\n",
			"sleuth.Conv[Conv] HardSigmoid Mul");
	check_rewritten(CONV "p = Add a three\nq = Clip p zero two\n"
			     "r = Mul a q\ny = Div r six\nout y\n",
			"sleuth.Conv[Conv] Add Clip Mul Div");
	check_rewritten(CONV "s = Sigmoid a\ny = Mul a s\nout y\nout s\n",
			"sleuth.Conv[Conv] Sigmoid Mul");
	check_rewritten(CONV "y = Mul a a\nout y\n", "sleuth.Conv[Conv] Mul");
}

/* In their order, with their operands, numbers as lines. */
static void
takes_chains(void **state)
{
	struct sl__post_op post_ops[SL__POST_OPS_MAX];
	struct rewritten r;

	(void)state;
	r = rewritten_with(CONV "in z f32 1,2,4,4\nin g f32 1,2,4,4\n"
				"b = Sigmoid a\nd = Mul b two\ne = Add z d\n"
				"f = Relu e\nh = Mul f g\ni = Sub three h\n"
				"y = Div i six\nout y\n",
			   0);
	assert_string_equal(r.nodes, "sleuth.Conv[Conv+Sigmoid+Mul+Add+Relu+"
				     "Mul+Sub+Div]");
	assert_int_equal(sl__post_ops_read(rewritten_maker(&r, "y"), post_ops),
			 7);
	assert_int_equal(post_ops[1].kind, SL__POST_OP_LINEAR);
	assert_near((double)post_ops[1].alpha, 2, 0);
	assert_int_equal(post_ops[2].kind, SL__POST_OP_ADD);
	assert_int_equal(post_ops[2].input, 3);
	assert_int_equal(post_ops[4].kind, SL__POST_OP_MUL);
	assert_int_equal(post_ops[4].input, 4);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

/* No more than a node has room for. */
static void
ends_long_chains(void **state)
{
	(void)state;
	check_rewritten(CONV "b = Tanh a\nd = Tanh b\ne = Tanh d\nf = Tanh e\n"
			     "g = Tanh f\nh = Tanh g\ni = Tanh h\nj = Tanh i\n"
			     "y = Tanh j\nout y\n",
			"sleuth.Conv[Conv+Tanh+Tanh+Tanh+Tanh+Tanh+Tanh+Tanh+"
			"Tanh] Tanh");
}

/* Of two whose sum is taken the later one takes it. */
static void
adds_to_the_later(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with(CONV "b = Relu a\n"
				"d = Conv b v pads=[1,1,1,1]\n"
				"e = Conv x u\n"
				"f = Add d e\ny = Relu f\nout y\n"
				"const v f32 2,2,3,3 = random\n"
				"const u f32 2,3,1,1 = random\n",
			   0);
	assert_string_equal(r.nodes, "sleuth.Conv[Conv+Relu] sleuth.Conv[Conv] "
				     "sleuth.Conv[Conv+Add+Relu]");
	assert_string_equal(rewritten_maker(&r, "y")->name, "e");
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

static void
leaves_results_that_are_needed(void **state)
{
	(void)state;
	check_rewritten(CONV "y = Relu a\nout y\nout a\n",
			"sleuth.Conv[Conv] Relu");
	check_rewritten(CONV "b = Relu a\ny = Sub b a\nout y\n",
			"sleuth.Conv[Conv] Relu Sub");
	/* Sizes that are broadcast. */
	check_rewritten(CONV "in z f32 1,2,1,1\ny = Add a z\nout y\n",
			"sleuth.Conv[Conv] Add");
	check_rewritten(CONV "in z f32 5,2,4,4\ny = Add a z\nout y\n",
			"sleuth.Conv[Conv] Add");
	/* 1 / z is no number of f32. */
	check_rewritten(CONV "const z f32 - = 1e-39\ny = Div a z\nout y\n",
			"sleuth.Conv[Conv] Div");
	/* Bounds that are not known. */
	check_rewritten(CONV "in z f32 -\ny = Clip a z\nout y\n",
			"sleuth.Conv[Conv] Clip");
	check_rewritten_with(CONV "y = Relu a\nout y\n", SL__OPTIMIZE_NO_FUSION,
			     "Conv Relu");
}

/* The fused node costs what its parts do, less what lies between them. */
static void
counts_what_it_covers(void **state)
{
	struct rewritten r;
	struct sl__shapes_options options = {0};
	struct sl__shapes *shapes;
	struct sl_cost fused, conv;

	(void)state;
	r = rewritten_with(CONV "in z f32 1,2,4,4\nb = Add a z\ny = Relu b\n"
				"out y\n",
			   0);
	assert_int_equal(sl__shapes_new(&shapes, r.made, &options, NULL),
			 SL_OK);
	sl__cost_node(shapes, r.made->blocks[0].nodes[0], &fused);
	conv = r.g->costs.per_call[maker_of(r.g, "a")];
	assert_int_equal(fused.basis, SL_BASIS_COUNTED);
	assert_int_equal(fused.macs, conv.macs);
	assert_int_equal(fused.macs, 32 * 27);
	assert_int_equal(fused.add, conv.add + 32);
	assert_int_equal(fused.cmp, 32);
	assert_int_equal(fused.read_bytes, 4 * (48 + 32));
	assert_int_equal(fused.written_bytes, 4 * 32);
	sl__shapes_free(shapes);
	rewritten_free(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_functions),
		cmocka_unit_test(takes_clips),
		cmocka_unit_test(takes_bounds_of_the_type),
		cmocka_unit_test(takes_products_with_gates),
		cmocka_unit_test(leaves_gates_that_are_others),
		cmocka_unit_test(takes_chains),
		cmocka_unit_test(ends_long_chains),
		cmocka_unit_test(adds_to_the_later),
		cmocka_unit_test(leaves_results_that_are_needed),
		cmocka_unit_test(counts_what_it_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
