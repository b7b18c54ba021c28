/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_matmul.c - products by oneDNN against the reference kernels.
 *
 * A sum of k products of f32 is off by k / 2 roundings (6e-8 each) at most and
 * by their square root usually, relative to its largest partial sum: 1e-5 of
 * the largest element holds for k up to 300.  With bf16 operands each product
 * is off by two roundings of 2^-9, the result by a third: 2% of the largest.
 */
#include "matmul_case.h"

static void
transposed_stacked_and_vectors(void **state)
{
	(void)state;
	check_kernel("MatMul 13 (f32[5,7], f32[7,9])");
	check_kernel("MatMul 13 (f32[2,3,5,7], f32[7,9])");
	check_kernel("MatMul 13 (f32[2,3,5,7], f32[2,3,7,9])");
	check_kernel("MatMul 13 (f32[2,1,5,7], f32[3,7,9])");
	check_kernel("MatMul 13 (f32[5,7], f32[4,7,9])");
	check_kernel("MatMul 13 (f32[3,1,7], f32[7,9])");
	check_kernel("MatMul 13 (f32[3,1,7], f32[3,7,9])");
	check_kernel("MatMul 13 (f32[7], f32[7,9])");
	check_kernel("MatMul 13 (f32[2,5,7], f32[7])");
	check_kernel("MatMul 13 (f32[7], f32[7])");
	check_kernel("MatMul 13 (f32[33,130], f32[130,65])");
	check_kernel("com.microsoft.FusedMatMul 1 (f32[2,7,5], f32[2,9,7]) "
		     "transA=1 transB=1 alpha=0.5");
	check_kernel("com.microsoft.FusedMatMul 1 (f32[5,2,7], f32[9,2,7]) "
		     "transBatchA=1 transBatchB=1 transB=1");
	check_kernel("Gemm 13 (f32[7,5], f32[9,7]) transA=1 transB=1");
	check_kernel("Gemm 13 (f32[8,1], f32[1,9])");
}

static void
constant_right_matrices(void **state)
{
	static const struct matmul_case cases[] = {
		{"MatMul 13 (f32[17,33], f32[33,29])", .constants = 2,
		 .kernel = "oneDNN"},
		{"MatMul 13 (f32[2,3,5,64], f32[64,48])", .constants = 2,
		 .kernel = "oneDNN"},
		{"MatMul 13 (f32[2,9,30], f32[2,30,31])", .constants = 2},
		{"MatMul 13 (f32[20,31], f32[31])", .constants = 2},
		{"Gemm 13 (f32[7,31], f32[20,31]) transB=1", .constants = 2},
		{"Gemm 13 (f32[31,7], f32[20,31]) transA=1 transB=1",
		 .constants = 2},
		{"MatMul 13 (f32[20,31], f32[31,3])", .constants = 1},
		{"MatMul 13 (f32[20,31], f32[31,3])", .constants = 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_product(&cases[i]);
}

static void
third_operand_of_gemm(void **state)
{
	static const char *const shapes[] = {"",      "[9]",   "[1]",  "[1,9]",
					     "[8,1]", "[8,9]", "[1,1]"};
	char text[160];

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (unsigned constants = 0; constants < 3; constants += 2) {
			struct matmul_case c = {text, .constants = constants};

			snprintf(text, sizeof(text),
				 "Gemm 13 (f32[8,7], f32[7,9], f32%s) "
				 "alpha=0.75 beta=-1.5",
				 i ? shapes[i] : "[]");
			check_product(&c);
			snprintf(text, sizeof(text),
				 "Gemm 13 (f32[8,7], f32[7,9], f32%s)",
				 i ? shapes[i] : "[]");
			check_product(&c);
		}
	}
	check_kernel("Gemm 13 (f32[8,7], f32[7,9], f32[9]) beta=0.0");
	check_kernel("com.microsoft.FusedGemm 1 (f32[8,7], f32[7,9], f32[9]) "
		     "activation=LeakyRelu activation_alpha=0.25");
	check_kernel("com.microsoft.FusedGemm 1 (f32[8,7], f32[7,9], f32[9]) "
		     "activation=Tanh");
}

static void
every_operation_of_a_chain(void **state)
{
	static const char *const words[] = {
		"relu",      "leaky_relu", "clip",         "sigmoid",
		"tanh",      "elu",        "silu",         "gelu",
		"gelu_tanh", "linear",     "hard_sigmoid", "hard_swish"};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct matmul_case c = {
			"sleuth.MatMul 1 (f32[9,5], f32[5,19], f32[19])",
			.constants = 6, .post_ops = words[i], .alpha = 0.25F,
			.beta = 0.75F};

		check_product(&c);
	}
}

static void
chains_with_operands(void **state)
{
	static const struct matmul_case cases[] = {
		{"sleuth.MatMul 1 (f32[2,9,5], f32[5,19], f32[19], "
		 "f32[2,9,19], f32[19]) alpha=0.5",
		 .constants = 6, .post_ops = "gelu add mul"},
		/* Not as bias, and repeated over stacks. */
		{"sleuth.MatMul 1 (f32[2,9,5], f32[5,19], _, f32[9,1], "
		 "f32[2,1,19])",
		 .constants = 2, .post_ops = "add mul"},
		{"sleuth.MatMul 1 (f32[2,3,9,5], f32[2,3,5,19], _, "
		 "f32[2,1,1,19], f32[1])",
		 .post_ops = "add mul"},
		/* A function twice. */
		{"sleuth.MatMul 1 (f32[9,5], f32[5,19], _, f32[19]) alpha=0.5",
		 .constants = 2, .post_ops = "add linear tanh", .alpha = 0.25F,
		 .beta = 0.75F},
		{"sleuth.MatMul 1 (f32[9,5], f32[19,5], _, f32[9,19], "
		 "f32[9,19], f32[9,19]) transB=1",
		 .constants = 2, .post_ops = "add relu mul add"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_product(&cases[i]);
}

static void
halves_of_the_width(void **state)
{
	static const struct matmul_case cases[] = {
		{"MatMul 13 (f32[33,70], f32[70,65])", .constants = 2},
		{"MatMul 13 (f32[2,33,70], f32[2,70,65])", .constants = 0},
		{"sleuth.MatMul 1 (f32[9,50], f32[50,19], f32[19], f32[9,19])",
		 .constants = 6, .post_ops = "add relu"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct matmul_case c = cases[i];

		c.dtype = SL_DTYPE_BF16;
		c.share = 0.02;
		check_product(&c);
	}
}

static void
not_for_it(void **state)
{
	static const char *const texts[] = {
		"MatMul 13 (i32[8,7], i32[7,9])",
		"MatMul 13 (f64[8,7], f64[7,9])",
		"MatMul 13 (f32[8,0], f32[0,9])",
		"MatMul 13 (f32[0,7], f32[7,9])",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_case(&(struct engine_case){.text = texts[i],
						 .is_reference = 1});
}

static uint32_t
add_value(struct sl_graph *graph, const char *name, int64_t rows,
	  int64_t columns)
{
	int64_t *dims = sl__arena_alloc(&graph->arena, 2 * sizeof(*dims));
	struct sl_error err;
	uint32_t id;

	assert_non_null(dims);
	dims[0] = rows;
	dims[1] = columns;
	assert_int_equal(sl__graph_add_value(graph, &id, name, 0, &err), SL_OK);
	graph->values[id].kind = SL_VALUE_INPUT;
	graph->values[id].declared =
		(struct sl__type){SL__TYPE_TENSOR, SL_DTYPE_F32, 2, dims, NULL};
	return id;
}

static void
add_node(struct sl_graph *graph, const char *type, const uint32_t *inputs,
	 uint32_t n, uint32_t output)
{
	struct sl__node node = {.name = type,
				.domain = "",
				.type = type,
				.version = 13,
				.n_inputs = n,
				.n_outputs = 1,
				.inputs = inputs,
				.outputs = &output};
	struct sl_error err;
	uint32_t id;

	assert_int_equal(sl__graph_add_node(graph, &id, &node, &err), SL_OK);
}

/*
 * r = abs(x); y = a w + r; z = r w + r; the first sum must not be written
 * over r, which is needed, nor the second, which multiplies it; and then
 * u = z w + y over y is free.  They are larger than what a kernel computes
 * before it writes.
 */
static void
residuals_stay_as_long_as_needed(void **state)
{
	static const struct sl__tensor_generator normal = {
		.kind = SL__TENSOR_GENERATOR_NORMAL, .seed = 3, .scale = 0.25};
	static const char *const names[] = {"a", "x", "w", "r", "p", "y",
					    "q", "z", "s", "u", "v"};
	enum { A, X, W, R, P, Y, Q, Z, S, U, V, N, SIZE = 150 };
	struct sl__tensor weights = {.dtype = SL_DTYPE_F32, .rank = 2};
	struct sl_graph *graph;
	struct engine_case c = {.text = "residuals"};
	struct sl_plan *plan;
	struct sl_error err = {0};
	uint32_t ids[N];

	(void)state;
	assert_int_equal(sl__graph_new(&graph, NULL, &err), SL_OK);
	for (int i = 0; i < N; i++)
		ids[i] = add_value(graph, names[i], SIZE, SIZE);
	for (int i = R; i < N; i++)
		graph->values[ids[i]].kind = SL_VALUE_ACTIVATION;
	weights.dims = graph->values[ids[W]].declared.dims;
	weights.generator = &normal;
	assert_true(sl__tensor_compute_size(&weights));
	graph->values[ids[W]].kind = SL_VALUE_PARAMETER;
	graph->values[ids[W]].tensor = &weights;
	assert_int_equal(sl__graph_set_inputs(graph, 0, ids, 2, &err), SL_OK);
	add_node(graph, "Abs", &ids[X], 1, ids[R]);
	add_node(graph, "MatMul", (uint32_t[]){ids[A], ids[W]}, 2, ids[P]);
	add_node(graph, "Add", (uint32_t[]){ids[P], ids[R]}, 2, ids[Y]);
	add_node(graph, "MatMul", (uint32_t[]){ids[R], ids[W]}, 2, ids[Q]);
	add_node(graph, "Add", (uint32_t[]){ids[R], ids[Q]}, 2, ids[Z]);
	add_node(graph, "MatMul", (uint32_t[]){ids[Z], ids[W]}, 2, ids[S]);
	add_node(graph, "Add", (uint32_t[]){ids[S], ids[Y]}, 2, ids[U]);
	add_node(graph, "Neg", &ids[U], 1, ids[V]);
	assert_int_equal(sl__graph_set_outputs(graph, 0, &ids[V], 1, &err),
			 SL_OK);
	assert_int_equal(sl__graph_freeze(graph, &err), SL_OK);
	check_graph(graph, &c);
	plan = engine_case_plan(graph, &c, 0, 1);
	assert_int_equal(sl_plan_n_steps(plan), 5); /* sums are fused */
	sl_plan_free(plan);
	sl_graph_free(graph);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(transposed_stacked_and_vectors),
		cmocka_unit_test(constant_right_matrices),
		cmocka_unit_test(third_operand_of_gemm),
		cmocka_unit_test(every_operation_of_a_chain),
		cmocka_unit_test(chains_with_operands),
		cmocka_unit_test(halves_of_the_width),
		cmocka_unit_test(not_for_it),
		cmocka_unit_test(residuals_stay_as_long_as_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
