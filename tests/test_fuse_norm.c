/* SPDX-License-Identifier: Apache-2.0 */
#include "rewritten.h"

/* Statistics of n channels; the variance is positive. */
#define STATISTICS                                                  \
	"const s f32 4 = 1.5,-2,.5,3\nconst b f32 4 = 1,2,-3,.25\n" \
	"const m f32 4 = .5,-1,2,0\nconst v f32 4 = 1,.25,4,.01\n"

static void
goes_into_a_convolution(void **state)
{
	(void)state;
	check_rewritten(STATISTICS "in x f32 2,3,5,5\n"
				   "const w f32 4,3,3,3 = random\n"
				   "a = Conv x w pads=[1,1,1,1]\n"
				   "y = BatchNormalization a s b m v "
				   "epsilon=0.001\nout y\n",
			"sleuth.Conv[Conv+BatchNormalization]");
	/* With a bias, in groups, and with the older version. */
	check_rewritten(STATISTICS "opset 9\nin x f32 1,4,6\n"
				   "const w f32 4,2,3 = random\n"
				   "const c f32 4 = random\n"
				   "a = Conv x w c group=2\n"
				   "y = BatchNormalization a s b m v\nout y\n",
			"sleuth.Conv[Conv+BatchNormalization]");
}

/* Channels of the result lie in dimension 1 of the weight, by groups. */
static void
goes_into_a_transposed_convolution(void **state)
{
	(void)state;
	check_rewritten(STATISTICS "in x f32 1,6,3,3\n"
				   "const w f32 6,2,2,2 = random\n"
				   "a = ConvTranspose x w group=2\n"
				   "y = BatchNormalization a s b m v\nout y\n",
			"ConvTranspose[ConvTranspose+BatchNormalization]");
}

static void
goes_into_a_product(void **state)
{
	(void)state;
	check_rewritten(STATISTICS "in x f32 2,3\n"
				   "const w f32 3,4 = random\n"
				   "const c f32 1,4 = random\n"
				   "a = Gemm x w c alpha=0.5 beta=3.0\n"
				   "y = BatchNormalization a s b m v\nout y\n",
			"sleuth.MatMul[Gemm+BatchNormalization]");
	check_rewritten(STATISTICS "in x f32 2,3\n"
				   "const w f32 4,3 = random\n"
				   "a = Gemm x w transB=1\n"
				   "y = BatchNormalization a s b m v\nout y\n",
			"sleuth.MatMul[Gemm+BatchNormalization]");
	check_rewritten(STATISTICS "in x f32 2,3\n"
				   "const w f32 3,4 = random\n"
				   "a = MatMul x w\n"
				   "y = BatchNormalization a s b m v\nout y\n",
			"sleuth.MatMul[MatMul+BatchNormalization]");
}

static void
takes_arithmetic_by_channel(void **state)
{
	(void)state;
	check_rewritten("in x f32 1,3,4,4\nconst w f32 2,3,1,1 = random\n"
			"const k f32 2,1,1 = 2,-3\nconst l f32 1,2,1,1 = 5,7\n"
			"const n f32 - = 4\n"
			"a = Conv x w\nb = Mul k a\nc = Add b l\nd = Sub n c\n"
			"e = Div d n\nf = Sub e k\nout f\n",
			"sleuth.Conv[Conv+Mul+Add+Sub+Div+Sub]");
}

static void
stays_where_it_cannot_go(void **state)
{
	struct rewritten r;

	(void)state;
	/* Nothing before it. */
	check_rewritten(STATISTICS "in x f32 2,4,3\n"
				   "y = BatchNormalization x s b m v\nout y\n",
			"BatchNormalization");
	/* The result between is used, or an output. */
	check_rewritten(STATISTICS "in x f32 1,3,4\n"
				   "const w f32 4,3,1 = random\n"
				   "a = Conv x w\n"
				   "c = BatchNormalization a s b m v\n"
				   "y = Sub c a\nout y\n",
			"sleuth.Conv[Conv] BatchNormalization Sub");
	check_rewritten(STATISTICS "in x f32 1,3,4\n"
				   "const w f32 4,3,1 = random\n"
				   "a = Conv x w\n"
				   "y = BatchNormalization a s b m v\n"
				   "out y\nout a\n",
			"sleuth.Conv[Conv] BatchNormalization");
	/* Weights or statistics are no constants. */
	check_rewritten(STATISTICS "in x f32 1,3,4\nin w f32 4,3,1\n"
				   "a = Conv x w\n"
				   "y = BatchNormalization a s b m v\nout y\n",
			"sleuth.Conv[Conv] BatchNormalization");
	check_rewritten(STATISTICS "in x f32 1,3,4\nin n f32 4\n"
				   "const w f32 4,3,1 = random\n"
				   "a = Conv x w\n"
				   "y = BatchNormalization a s b n v\nout y\n",
			"sleuth.Conv[Conv] BatchNormalization");
	/* A row is not a channel; the result grows. */
	check_rewritten("in x f32 1,3,4\nconst w f32 4,3,1 = random\n"
			"const k f32 4 = random\n"
			"a = Conv x w\ny = Mul a k\nout y\n",
			"sleuth.Conv[Conv] Mul");
	check_rewritten("in x f32 1,3,4\nconst w f32 1,3,1 = random\n"
			"const k f32 1,5,1 = random\n"
			"a = Conv x w\ny = Mul a k\nout y\n",
			"sleuth.Conv[Conv] Mul");
	/* 1 / sqrt(0). */
	r = rewritten_with("in x f32 1,1,2\nconst w f32 1,1,1 = 1\n"
			   "const s f32 1 = 1\nconst v f32 1 = 0\n"
			   "a = Conv x w\n"
			   "y = BatchNormalization a s s s v epsilon=0.0\n"
			   "out y\n",
			   0);
	assert_string_equal(r.nodes, "sleuth.Conv[Conv] BatchNormalization");
	rewritten_free(&r);
}

static void
is_switched_off(void **state)
{
	(void)state;
	check_rewritten_with(STATISTICS
			     "in x f32 1,3,4\nconst w f32 4,3,1 = random\n"
			     "a = Conv x w\n"
			     "y = BatchNormalization a s b m v\nout y\n",
			     SL__OPTIMIZE_NO_FUSION, "Conv BatchNormalization");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_into_a_convolution),
		cmocka_unit_test(goes_into_a_transposed_convolution),
		cmocka_unit_test(goes_into_a_product),
		cmocka_unit_test(takes_arithmetic_by_channel),
		cmocka_unit_test(stays_where_it_cannot_go),
		cmocka_unit_test(is_switched_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
