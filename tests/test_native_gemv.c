/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_gemv.c - few rows times constant weights against the reference
 * kernels; why the tolerances are what they are stands in test_dnnl_matmul.c.
 */
#include "matmul_case.h"

static void
one_to_four_rows_of_any_length(void **state)
{
	static const int lengths[] = {1, 15, 16, 17, 63, 64, 65, 130, 200};
	char text[100];

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int m = 1; m <= 4; m++) {
			struct matmul_case c = {text, .constants = 2,
						.kernel = "gemv"};
			int k = lengths[i];

			if (k % 2)
				snprintf(text, sizeof(text),
					 "MatMul 13 (f32[%d,%d], f32[%d,70])",
					 m, k, k);
			else
				snprintf(text, sizeof(text),
					 "Gemm 13 (f32[%d,%d], f32[70,%d]) "
					 "transB=1",
					 m, k, k);
			check_product(&c);
			c.dtype = SL_DTYPE_BF16;
			c.share = 0.02;
			check_product(&c);
		}
	}
}

static void
other_shapes(void **state)
{
	static const struct matmul_case cases[] = {
		{"MatMul 13 (f32[33], f32[33,9])", .constants = 2,
		 .kernel = "gemv"},
		{"MatMul 13 (f32[33], f32[33])", .constants = 2,
		 .kernel = "gemv"},
		{"MatMul 13 (f32[1,1,33], f32[33,1])", .constants = 2,
		 .kernel = "gemv"},
		{"MatMul 13 (f32[2,1,33], f32[33,300])", .constants = 2,
		 .kernel = "gemv"},
		{"MatMul 13 (f32[2,1,2,33], f32[1,1,33,6])", .constants = 2,
		 .kernel = "gemv"},
		{"Gemm 13 (f32[33,3], f32[33,6], f32[3,1]) transA=1 alpha=2.0 "
		 "beta=0.5",
		 .constants = 2, .kernel = "gemv"},
		/* Enough for two threads. */
		{"MatMul 13 (f32[1,250], f32[250,3001])", .constants = 2,
		 .kernel = "gemv"},
		/* Five rows are oneDNN's. */
		{"MatMul 13 (f32[5,33], f32[33,9])", .constants = 2,
		 .kernel = "oneDNN"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_product(&cases[i]);
}

static void
every_operation_of_a_chain(void **state)
{
	static const char *const words[] = {
		"add relu",    "mul leaky_relu",   "mul clip",
		"mul sigmoid", "mul tanh",         "mul elu",
		"mul silu",    "add gelu",         "add gelu_tanh",
		"mul linear",  "mul hard_sigmoid", "mul hard_swish"};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct matmul_case c = {
			"sleuth.MatMul 1 (f32[2,5], f32[5,519], f32[519], "
			"f32[2,519])",
			.constants = 6,
			.post_ops = words[i],
			.alpha = 0.25F,
			.beta = 0.75F,
			.kernel = "gemv"};

		check_product(&c);
		c.text = "sleuth.MatMul 1 (f32[1,1,5], f32[5,70], f32[70], "
			 "f32[1])";
		check_product(&c);
		c.dtype = SL_DTYPE_BF16;
		c.share = 0.03;
		check_product(&c);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_to_four_rows_of_any_length),
		cmocka_unit_test(other_shapes),
		cmocka_unit_test(every_operation_of_a_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
