/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quantize.c - a model of reals becomes one of codes: exactly the same
 * where numbers are codes, half a step off where a result is rounded to them;
 * and the engine finds integer forms for all of it.
 */
#include "transform/quantize.h"
#include "rewritten.h"

#define X "in x f32 2,6\nr = Round x\n"
#define W                                                                    \
	"const w f32 6,3 = 1.984375,.5,-.25,.125,1.984375,1,-1,.75,.015625," \
	"0,-.5,-1.984375,1,1,1,-1.5,.25,.5\n"

struct quantized {
	struct graph_text *g;
	struct sl_graph *made;
	size_t n_layers;
	struct sl__opset opset;
	struct sl__value_range ranges[64];
	unsigned char is_wanted[64], is_kept[64];
};

static void
begin(struct quantized *q, const char *text)
{
	memset(q, 0, sizeof(*q));
	q->g = graph_text(text);
	q->opset = (struct sl__opset){"", q->g->version};
	q->g->graph->opsets = &q->opset;
	q->g->graph->n_opsets = 1;
	assert_true(q->g->graph->n_values <= 64);
}

static void
set_range(struct quantized *q, const char *name, double low, double high)
{
	q->ranges[graph_text_value(q->g, name)] =
		(struct sl__value_range){low, high};
}

static enum sl_status
make(struct quantized *q, struct sl_error *err)
{
	const struct sl__quantize_options how = {.graph = q->g->graph,
						 .shapes = q->g->shapes,
						 .is_kept = q->is_kept};

	assert_int_equal(sl__quantize_find_values(q->is_wanted, &how, err),
			 SL_OK);
	return sl__quantize_static(&q->made, &q->n_layers, &how, q->ranges,
				   err);
}

static void
finish(struct quantized *q)
{
	sl_graph_free(q->made);
	graph_text_free(q->g);
}

/* Results differ by no more than 'most'. */
static void
check_difference(struct quantized *q, const char *name, double most)
{
	struct rewritten r = {.g = q->g, .made = q->made};
	struct sl__evaluator *before = rewritten_run(&r, q->g->graph);
	struct sl__evaluator *after = rewritten_run(&r, q->made);
	uint32_t id = graph_text_value(q->g, name);
	const struct sl__runtime_value *x, *y;
	double a, b;

	assert_int_equal(sl__evaluator_value(before, id, &x, NULL), SL_OK);
	assert_int_equal(sl__evaluator_value(after, id, &y, NULL), SL_OK);
	for (uint64_t i = 0; i < x->tensor.n_elements; i++) {
		assert_true(sl__tensor_doubles(&x->tensor, i, 1, &a));
		assert_true(sl__tensor_doubles(&y->tensor, i, 1, &b));
		if (!(fabs(a - b) <= most))
			fail_msg("%g became %g", a, b);
	}
	sl__evaluator_free(before);
	sl__evaluator_free(after);
}

/* What the engine's passes make of it. */
static void
check_forms(struct quantized *q, const char *forms)
{
	const struct sl__shapes_options usual = {0};
	const struct sl__covered_nodes *covers;
	struct sl__shapes *shapes;
	struct sl_graph *fused;
	struct sl_error err;
	char text[1024] = "";

	assert_int_equal(sl__shapes_new(&shapes, q->made, &usual, &err), SL_OK);
	assert_int_equal(
		sl__optimize(&fused, &covers, q->made, shapes, 0, &err), SL_OK);
	for (size_t i = 0; i < fused->blocks[0].n_nodes; i++) {
		strcat(text, i ? " " : "");
		strcat(text, fused->nodes[fused->blocks[0].nodes[i]].type);
	}
	assert_string_equal(text, forms);
	sl_graph_free(fused);
	sl__shapes_free(shapes);
}

/* Weights are whole steps of 1/64, the largest of each column 127 of them. */
static void
codes_are_exact(void **state)
{
	static const char *const texts[] = {
		X W "const b f32 3 = .5,-3,.015625\ny = Gemm r w b\nout y\n",
		X W "y = MatMul r w\nout y\n",
	};
	static const char *const forms[] = {
		"Round QuantizeLinear QGemm",
		"Round QuantizeLinear MatMulIntegerToFloat"};
	struct quantized q;
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin(&q, texts[i]);
		set_range(&q, "r", -100, 155);
		assert_int_equal(make(&q, &err), SL_OK);
		assert_int_equal(q.n_layers, 1);
		assert_true(q.is_wanted[graph_text_value(q.g, "r")]);
		assert_false(q.is_wanted[graph_text_value(q.g, "y")]);
		check_difference(&q, "y", 1e-5);
		check_forms(&q, forms[i]);
		finish(&q);
	}
}

/* Rows of integers that span 255 are codes too, however they are rounded. */
static void
dynamic_codes_are_exact(void **state)
{
	static const char *const texts[] = {
		"const b f32 3 = .5,-3,.015625\ny = Gemm s w b\nout y\n",
		"const b f32 3 = .5,-3,.25\na = MatMul s w\ny = Add a b\n"
		"out y\n",
		"t = Transpose s\nconst v f32 1,2 = 127,-3\n"
		"y = Gemm t v transB=1\nout y\n",
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct quantized q;
		struct sl__quantize_options how = {0};
		struct sl_error err;
		char text[600];

		/* One row begins with -100, the other ends in 155. */
		snprintf(text, sizeof(text),
			 X W "const o f32 2,6 = -100,0,0,0,0,0,0,0,0,0,0,155\n"
			     "const z f32 2,6 = 0,1,1,1,1,1,1,1,1,1,1,0\n"
			     "m = Mul r z\ns = Add m o\n%s",
			 texts[i]);
		begin(&q, text);
		how.graph = q.g->graph;
		how.shapes = q.g->shapes;
		assert_int_equal(
			sl__quantize_dynamic(&q.made, &q.n_layers, &how, &err),
			SL_OK);
		assert_int_equal(q.n_layers, 1);
		check_difference(&q, "y", 1e-3);
		assert_string_equal(q.made->nodes[q.made->n_nodes - 1].type,
				    "DynamicQuantizeMatMul");
		finish(&q);
	}
}

/* Weights of a normalised convolution are whole steps once it is folded. */
static void
results_are_rounded(void **state)
{
	struct quantized q;
	struct sl_error err;

	(void)state;
	begin(&q, "in x f32 1,1,4,4\nr = Round x\n"
		  "const w f32 2,1,1,3 = 127,3,-9,-2,127,50\n"
		  "const g f32 2 = 0.5,2\nconst s f32 2 = 1,-4\n"
		  "const m f32 2 = 4,0\nconst v f32 2 = 4,1\n"
		  "c = Conv r w pads=[0,1,0,1]\n"
		  "n = BatchNormalization c g s m v epsilon=0.0\n"
		  "y = Relu n\nout y\n");
	set_range(&q, "r", -100, 155);
	set_range(&q, "y", 0, 1024);
	assert_int_equal(make(&q, &err), SL_OK);
	assert_false(q.is_wanted[graph_text_value(q.g, "c")]);
	assert_false(q.is_wanted[graph_text_value(q.g, "n")]);
	/* Half a step, and what f32 rounds of 1024. */
	check_difference(&q, "y", 1024. / 255 / 2 + 1e-3);
	check_forms(&q, "Round QuantizeLinear QLinearConv DequantizeLinear");
	finish(&q);
}

#define RESIDUAL                                                         \
	"in x f32 1,4,8,8\n"                                             \
	"const w f32 4,4,3,3 = random\nconst d f32 4,1,3,3 = random\n"   \
	"const f f32 4,10 = random\n"                                    \
	"a = Conv x w pads=[1,1,1,1]\nb = Relu a\n"                      \
	"p = MaxPool b kernel_shape=[2,2] strides=[2,2]\n"               \
	"c = Conv p d pads=[1,1,1,1] group=4\ne = Add c p\ng = Relu e\n" \
	"h = GlobalAveragePool g\ni = Flatten h\ny = Gemm i f\nout y\n"

/* What lies between layers stays codes, and layers that are kept do not
 * become any. */
static void
codes_are_passed_on(void **state)
{
	struct quantized q;
	struct sl_error err;

	(void)state;
	for (int keeps = 0; keeps < 2; keeps++) {
		begin(&q, RESIDUAL);
		for (size_t i = 0; i < q.g->graph->n_values; i++)
			q.ranges[i] = (struct sl__value_range){-20, 20};
		/* The second convolution is node 3. */
		q.is_kept[3] = (unsigned char)keeps;
		assert_int_equal(make(&q, &err), SL_OK);
		assert_int_equal(q.n_layers, keeps ? 2 : 3);
		assert_true(q.is_wanted[graph_text_value(q.g, "p")]);
		assert_false(q.is_wanted[graph_text_value(q.g, "e")]);
		check_forms(&q, keeps ? "QuantizeLinear QLinearConv Clip "
					"MaxPool DequantizeLinear Conv "
					"GlobalAveragePool Flatten "
					"QuantizeLinear QGemm"
				      : "QuantizeLinear QLinearConv Clip "
					"MaxPool QLinearConv QLinearAdd Clip "
					"QLinearGlobalAveragePool Flatten "
					"QGemm");
		finish(&q);
	}
}

/* Rows of a table are codes with a scale each, whether they are looked up or
 * added; a bias, which is one row, and one with a number that is not finite
 * stay. */
static void
tables_are_codes(void **state)
{
	struct quantized q;
	struct sl_error err;

	(void)state;
	begin(&q, X W "const t f32 2,8 = 1.984375,.5,-.25,.125,0,1,-1,.75,"
		      "127,-3,4,0,1,100,-127,2\n"
		      "const i i64 3 = 1,0,1\n"
		      "const p f32 3,8 = 12.7,1,2,3,4,5,6,7,1,2,3,4,5,6,7,12.7,"
		      "0,0,0,0,0,0,0,0\n"
		      "const n f32 3,8 = inf,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
		      "0,0,0,0,0,0,0,0\n"
		      "const b f32 1,8 = 100,.3,.3,.3,.3,.3,.3,.3\n"
		      "const d f32 1,1,8 = 100,.3,.3,.3,.3,.3,.3,.3\n"
		      "e = Gather t i\ns = Add e p\nu = Add s n\n"
		      "f = Add e b\ng = Add e d\ny = MatMul r w\n"
		      "out y\nout e\nout s\nout u\nout f\nout g\n");
	set_range(&q, "r", -128, 127);
	if (make(&q, &err))
		fail_msg("%s", err.text);
	assert_int_equal(q.n_layers, 1);
	check_difference(&q, "e", 0);
	check_difference(&q, "s", 0.05 + 1e-5);
	check_difference(&q, "f", 0);
	check_difference(&q, "g", 0);
	finish(&q);
}

static void
refused(void **state)
{
	static const struct sl__value_range none[8];
	struct sl__quantize_options how = {0};
	struct quantized q;
	struct sl_error err;

	(void)state;
	begin(&q, "in x f32 2,3\nin w f32 3,3\ny = MatMul x w\nout y\n");
	assert_int_equal(make(&q, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "no layer with constant weights"));
	how.graph = q.g->graph;
	how.shapes = q.g->shapes;
	q.opset.version = 11;
	assert_int_equal(
		sl__quantize_static(&q.made, &q.n_layers, &how, none, &err),
		SL_E_DATA);
	assert_non_null(strstr(err.text, "operator set 11"));
	finish(&q);
	begin(&q, "in x f32 2,1\nconst w f32 1,1 = inf\ny = MatMul x w\n"
		  "out y\n");
	assert_int_equal(make(&q, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "not finite"));
	finish(&q);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_exact),
		cmocka_unit_test(dynamic_codes_are_exact),
		cmocka_unit_test(results_are_rounded),
		cmocka_unit_test(codes_are_passed_on),
		cmocka_unit_test(tables_are_codes),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
