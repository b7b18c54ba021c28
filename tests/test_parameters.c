/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_parameters.c - every tensor is what it is used as: weights, statistics,
 * constants and tied copies, in small graphs that show one rule each, and in
 * one network that others stored in three ways.
 */
#include "surveyed.h"
#include "graph/op_rules.h"

static void
test_layers(void **state)
{
	struct surveyed *s = survey("in x f32 1,2,4,4\n"
				    "const w f32 3,2,1,1 = 1,2,3,4,5,6\n"
				    "const b f32 3 = 1,2,3\n"
				    "const scale f32 3 = 1,2,3\n"
				    "const shift f32 3 = 1,2,3\n"
				    "const mean f32 3 = 1,2,3\n"
				    "const var f32 3 = 1,2,3\n"
				    "const one f32 1 = 1\n"
				    "const shape i64 2 = 1,-1\n"
				    "const low f32 - = 0\n"
				    "const idle f32 3 = 1,2,3\n"
				    "y = Conv x w b\n"
				    "z = BatchNormalization y scale shift mean "
				    "var\n"
				    "u = Clip z low\n"
				    "v = PRelu u one\n"
				    "r = Reshape v shape\n"
				    "out r\n");
	static const char *const weights[] = {"w", "b", "scale", "shift",
					      "one"};
	static const char *const constants[] = {"shape", "low", "idle"};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(role_of(s, weights[i]), "weight");
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(role_of(s, constants[i]), "constant");
	assert_string_equal(role_of(s, "mean"), "statistic");
	assert_string_equal(role_of(s, "var"), "statistic");
	assert_int_equal(s->roles.n_batch_norms, 1);
	assert_null(s->roles.folding);
	assert_int_equal(s->roles.first_user[graph_text_value(s->text, "one")],
			 maker_of(s->text, "v"));
	assert_int_equal(s->roles.first_user[graph_text_value(s->text, "idle")],
			 SL__NONE);
	surveyed_free(s);
}

/* Biases and scales are weights, single numbers are not, unless they are the
 * bias of a layer with one output. */
static void
test_elements(void **state)
{
	struct surveyed *s =
		survey("in x f32 2,3\n"
		       "const mean f32 3 = 1,2,3\n"
		       "const w f32 3,4 = 1,2,3,4,5,6,7,8,9,1,2,3\n"
		       "const bias f32 4 = 1,2,3,4\n"
		       "const gain f32 4 = 1,2,3,5\n"
		       "const half f32 - = 0.5\n"
		       "const column f32 4,1 = 1,2,3,4\n"
		       "const last f32 1 = 7\n"
		       "const eps f32 1 = 1\n"
		       "const high f32 - = 9\n"
		       "const hann_buffer f32 4 = 1,2,3,6\n"
		       "u = Clip x - high\n"
		       "c = Sub u mean\n"
		       "p = MatMul c w\n"
		       "q = Add p bias\n"
		       "r = Mul q gain\n"
		       "s = Mul r hann_buffer\n"
		       "h = Mul s half\n"
		       "i = Add h eps\n"
		       "j = MatMul i column\n"
		       "k = Add j last\n"
		       "out k\n");

	(void)state;
	assert_string_equal(role_of(s, "mean"), "constant"); /* prepares x */
	assert_string_equal(role_of(s, "w"), "weight");
	assert_string_equal(role_of(s, "bias"), "weight");
	assert_string_equal(role_of(s, "gain"), "weight");
	assert_string_equal(role_of(s, "half"), "constant");
	/* A filter by its name; "gain" is too short to have one. */
	assert_string_equal(role_of(s, "hann_buffer"), "constant");
	assert_string_equal(role_of(s, "eps"), "constant");
	assert_string_equal(role_of(s, "last"), "weight");
	surveyed_free(s);
}

/* Equal and transposed copies of a matrix; not vectors, and not matrices of
 * one value. */
static void
test_tied(void **state)
{
	struct surveyed *s = survey("in i i64 2\n"
				    "const table f32 3,2 = 1,2,3,4,5,6\n"
				    "const head f32 2,3 = 1,3,5,2,4,6\n"
				    "const again f32 3,2 = 1,2,3,4,5,6\n"
				    "const other f32 3,2 = 1,2,9,4,5,6\n"
				    "const ones f32 2,2 = 1,1,1,1\n"
				    "const more f32 2,2 = 1,1,1,1\n"
				    "const b f32 3 = 1,2,3\n"
				    "const c f32 3 = 1,2,3\n"
				    "e = Gather table i\n"
				    "h = MatMul e head\n"
				    "f = Add h b\n"
				    "g = Add f c\n"
				    "j = MatMul g again\n"
				    "l = MatMul j ones\n"
				    "m = MatMul l more\n"
				    "n = Transpose other perm=[1,0]\n"
				    "o = MatMul m n\n"
				    "out o\n");
	uint32_t table = graph_text_value(s->text, "table");

	(void)state;
	assert_string_equal(role_of(s, "table"), "weight");
	assert_string_equal(role_of(s, "head"), "tied copy");
	assert_string_equal(role_of(s, "again"), "tied copy");
	assert_int_equal(s->roles.tied_to[graph_text_value(s->text, "head")],
			 table);
	assert_string_equal(role_of(s, "other"), "weight");
	assert_string_equal(role_of(s, "ones"), "weight");
	assert_string_equal(role_of(s, "more"), "weight");
	assert_string_equal(role_of(s, "b"), "weight");
	assert_string_equal(role_of(s, "c"), "weight");
	/* The transpose is not what computes with it. */
	assert_int_equal(
		s->roles.first_user[graph_text_value(s->text, "other")],
		maker_of(s->text, "o"));
	surveyed_free(s);
}

/* Masks, waves and their frequencies are computed, not learnt. */
static void
test_constants_betrayed(void **state)
{
	struct surveyed *s = survey(
		"in i i64 4\n"
		"in t f32 4,1\n"
		"const w f32 4,4 = 1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7\n"
		"const mask f32 1,4,4 = 1,0,0,0,1,1,0,0,1,1,1,0,1,1,1,1\n"
		"const waves f32 4,4 = 0,0,1,1,0.84147,0.0099,0.5403,0.9999,"
		"0.9093,0.01999,-0.4161,0.9998,0.14112,0.02999,-0.98999,"
		"0.99955\n"
		"const rates f32 4 = 1,0.1,0.01,0.001\n"
		"const places f32 4,4 = 3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3\n"
		"e = Gather places i\n"
		"p = Gather waves i\n"
		"a = Add e p\n"
		"m = MatMul a w\n"
		"n = Mul m mask\n"
		"r = Mul t rates\n"
		"c = Cos r\n"
		"o = Mul n c\n"
		"out o\n");

	(void)state;
	assert_string_equal(role_of(s, "w"), "weight");
	assert_string_equal(role_of(s, "places"), "weight");
	assert_string_equal(role_of(s, "mask"), "constant");
	assert_string_equal(role_of(s, "waves"), "constant");
	assert_string_equal(role_of(s, "rates"), "constant");
	surveyed_free(s);
}

/* A weight is found through what a body takes over and what it uses. */
static void
test_bodies(void **state)
{
	struct surveyed *s =
		survey("in c bool -\n"
		       "in x f32 1,2\n"
		       "const w f32 2,2 = 1,2,3,4\n"
		       "block yes\n"
		       "const v f32 2,2 = 4,3,2,1\n"
		       "a = MatMul x w\n"
		       "b = MatMul a v\n"
		       "out b\n"
		       "end\n"
		       "block no\n"
		       "const k f32 1,2 = 1,2\n"
		       "d = Identity k\n"
		       "out d\n"
		       "end\n"
		       "y = If c then_branch=@yes else_branch=@no\n"
		       "const u f32 2,2 = 5,6,7,8\n"
		       "z = MatMul y u\n"
		       "out z\n");

	(void)state;
	assert_string_equal(role_of(s, "w"), "weight");
	assert_string_equal(role_of(s, "v"), "weight");
	assert_string_equal(role_of(s, "k"), "weight");
	surveyed_free(s);
}

/* What PyTorch's exporters leave of a BatchNorm. */
static void
test_folding(void **state)
{
	struct surveyed *s = survey("in x f32 1,1,4,4\n"
				    "const onnx::Conv_7 f32 2,1,1,1 = 1,2\n"
				    "const onnx::Conv_8 f32 2 = 1,2\n"
				    "const c.weight f32 3,2,1,1 = 1,2,3,4,5,6\n"
				    "const c.weight_bias f32 3 = 1,2,3\n"
				    "const d.weight f32 1,3,1,1 = 1,2,3\n"
				    "const d.bias f32 1 = 1\n"
				    "a = Conv x onnx::Conv_7 onnx::Conv_8\n"
				    "b = Conv a c.weight c.weight_bias\n"
				    "d = Conv b d.weight d.bias\n"
				    "out d\n");

	(void)state;
	assert_int_equal(s->roles.n_folded, 2);
	assert_non_null(strstr(s->roles.folding, "2 of 3 convolutions"));
	assert_non_null(strstr(s->roles.folding, "5 more trainable"));
	assert_non_null(strstr(s->roles.folding, "10 statistics"));
	surveyed_free(s);
}

#ifdef SL_TEST_MODELS
static uint64_t
count(const char *folder)
{
	char path[512];
	struct sl_graph *graph;
	struct sl_error err;
	uint64_t n = 0;

	snprintf(path, sizeof(path), "%s/%s/model.onnx", SL_TEST_MODELS,
		 folder);
	if (sl_graph_open(&graph, path, NULL, &err) ||
	    sl_count_parameters(&n, graph, &err))
		fail_msg("%s", err.text);
	sl_graph_free(graph);
	return n;
}

/* The same keyword spotter in f32, with quantize-dequantize pairs, and with
 * quantized operators; its layers are Conv 8x8x1x16, 6x6x16x12, 4x4x12x16 and
 * dense 480-32-16-10, each with a bias. */
static void
test_three_ways(void **state)
{
	const uint64_t n = (64 * 16 + 16) + (36 * 16 * 12 + 12) +
			   (16 * 12 * 16 + 16) + (480 * 32 + 32) +
			   (32 * 16 + 16) + (16 * 10 + 10);

	(void)state;
	assert_int_equal(count("micro_kws_fp32"), n);
	assert_int_equal(count("micro_kws_qdq"), n);
	assert_int_equal(count("micro_kws_qop"), n);
	/* Windows of a Fourier transform are fixed: both files hold the same
	 * two networks. */
	assert_int_equal(count("silero_vad_v6"),
			 count("silero_vad_op18_ifless"));
}
#endif

/* An operator that multiplies has factors, and this file must know which: a
 * row that is missing makes its weights constants. */
static void
test_products_have_factors(void **state)
{
	static sl__cost_function *const products[] = {
		sl__cost_attention,        sl__cost_conv,
		sl__cost_conv_transpose,   sl__cost_deform_conv,
		sl__cost_einsum,           sl__cost_gemm,
		sl__cost_group_query,      sl__cost_layer_norm,
		sl__cost_linear_attention, sl__cost_matmul,
		sl__cost_matmul_nbits,     sl__cost_multi_head,
		sl__cost_recurrent,        sl__cost_projected_attention,
		sl__cost_rms_norm,         sl__cost_skip_layer_norm,
		sl__cost_skip_rms_norm};

	(void)state;
	for (size_t i = 0; i < SL__N_OPS; i++) {
		struct sl__node node = {.op = &sl__ops[i]};
		int is_any = 0;

		for (size_t k = 0; k < sizeof(products) / sizeof(products[0]);
		     k++) {
			if (sl__ops[i].cost != products[k])
				continue;
			for (size_t in = 0; in < 4; in++)
				is_any |= sl__node_input_use_code(&node, in) ==
					  'f';
			if (!is_any)
				fail_msg("%s has no factor", sl__ops[i].type);
		}
	}
}

/* Two numbers of four bits to a byte: 8 x 4 of them in 16 bytes. */
static void
test_packed_numbers(void **state)
{
	struct surveyed *s =
		survey("in x f32 1,8\n"
		       "const b bool 4,1,4 = 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n"
		       "const s f32 4 = 1,2,3,4\n"
		       "y = com.microsoft.MatMulNBits x b s K=8 N=4 bits=4 "
		       "block_size=16\n"
		       "out y\n");
	size_t b = graph_text_value(s->text, "b");

	(void)state;
	assert_int_equal(sl__parameter_n_elements(&s->roles, s->text->graph, b),
			 32);
	assert_int_equal(
		sl__parameter_n_elements(&s->roles, s->text->graph,
					 graph_text_value(s->text, "s")),
		4);
	surveyed_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_tied),
		cmocka_unit_test(test_constants_betrayed),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_products_have_factors),
		cmocka_unit_test(test_packed_numbers),
#ifdef SL_TEST_MODELS
		cmocka_unit_test(test_three_ways),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
