/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_post_op.c - every pair of operations after convolutions, also by
 * channel, and after products, against the reference kernels; and longer
 * chains.  test_dnnl_post_op_bf16.c does the pairs in bf16.
 */
#include "engine/dnnl_post_op.h"
#include "post_op_pairs.h"

static void
pairs(void **state)
{
	(void)state;
	check_post_op_pairs(SL_DTYPE_F32);
}

/* What does not fit may come late in a chain, with operands on both sides. */
static void
long_chains(void **state)
{
	static const struct {
		const char *text, *post_ops;
	} rows[] = {
		{"sleuth.Conv 1 (f32[1,2,6,5], f32[10,2,3,3], f32[10], "
		 "f32[1,10,4,3], f32[10,1,1], f32[1,10,4,3])",
		 "linear add hard_sigmoid mul clip add relu"},
		{"sleuth.Conv 1 (f32[1,2,6,5], f32[10,2,3,3], f32[10], "
		 "f32[1,10,4,3], f32[1,10,4,3])",
		 "relu add relu mul leaky_relu tanh"},
		{"sleuth.MatMul 1 (f32[9,18], f32[18,19], f32[19], "
		 "f32[9,19], f32[19])",
		 "linear add hard_sigmoid mul clip"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct matmul_case c = {.text = rows[i].text,
					.post_ops = rows[i].post_ops,
					.constants = 6,
					.alpha = .25F,
					.beta = .75F,
					.more = .125F};

		check_product(&c);
	}
}

static void
functions_of_every_kind(void **state)
{
	struct sl__dnnl_eltwise changes[SL__ELTWISE_CHAIN_MAX];

	(void)state;
	for (int i = 0; i < SL__N_POST_OPS; i++) {
		struct sl__post_op post_op = {.kind = (enum sl__post_op_kind)i};
		int n = sl__dnnl_eltwise_chain(changes, &post_op);

		assert_int_equal(n == 0, is_post_op_join(post_op.kind));
		assert_int_equal(sl__dnnl_post_op_n_dnnl_ops(&post_op),
				 n ? n : 1);
		for (int k = 0; k < n; k++)
			assert_int_not_equal(changes[k].kind,
					     dnnl_alg_kind_undef);
	}
}

static void
a_function_twice(void **state)
{
	static const struct sl__post_op post_ops[] = {
		{.kind = SL__POST_OP_RELU, .alpha = 3},
		{.kind = SL__POST_OP_ADD, .alpha = 1},
		{.kind = SL__POST_OP_RELU, .alpha = 5},
		{.kind = SL__POST_OP_ADD, .alpha = 2},
		{.kind = SL__POST_OP_CLIP, .beta = 1},
		{.kind = SL__POST_OP_HARD_SIGMOID},
		{.kind = SL__POST_OP_LEAKY_RELU, .alpha = 1},
	};
	static const struct sl__post_op clips[] = {
		{.kind = SL__POST_OP_CLIP, .beta = 6},
		{.kind = SL__POST_OP_HARD_SIGMOID},
	};

	(void)state;
	/* A relu ignores its parameters; a leaky one is the same function. */
	assert_int_equal(sl__dnnl_post_ops_n_fusable(post_ops, 7), 6);
	assert_int_equal(sl__dnnl_post_ops_n_fusable(post_ops, 6), 6);
	assert_int_equal(sl__dnnl_post_ops_n_fusable(post_ops, 0), 0);
	assert_int_equal(sl__dnnl_post_ops_n_fusable(clips, 2), 1);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),
		cmocka_unit_test(long_chains),
		cmocka_unit_test(functions_of_every_kind),
		cmocka_unit_test(a_function_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
