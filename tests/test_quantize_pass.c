/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quantize_pass.c - operators between DequantizeLinear and
 * QuantizeLinear become their integer forms and cover what they replace;
 * clipping disappears where the codes end at its bounds and is a Clip of
 * codes elsewhere; movements move codes; pairs that do nothing go; and what
 * does not fit stays as it is.  Each rewritten graph computes what the
 * original one does.
 */
#include "rewritten.h"

#define SCALES                                                                 \
	"opset 13\nconst sx f32 - = 0.0313\nconst sw f32 - = 0.00789\n"        \
	"const sy f32 - = 0.1017\nconst six f32 - = 6\nconst zero f32 - = 0\n" \
	"const s6 f32 - = 0.02352941\n"                                        \
	"const i0 i64 - = 0\nconst i99 i64 - = 99\nconst i120 i64 - = 120\n"   \
	"const i128 i64 - = 128\nu0 = Cast i0 to=2\nu99 = Cast i99 to=2\n"     \
	"u120 = Cast i120 to=2\nu128 = Cast i128 to=2\nz = Cast i0 to=3\n"
#define IMAGE                                                     \
	SCALES "in x f32 1,4,6,6\nxq = QuantizeLinear x sx u99\n" \
	       "xd = DequantizeLinear xq sx u99\n"
#define CONV                                    \
	IMAGE "const w f32 8,4,3,3 = random\n"  \
	      "wq = QuantizeLinear w sw z\n"    \
	      "wd = DequantizeLinear wq sw z\n" \
	      "a = Conv xd wd pads=[1,1,1,1]\n"
#define Q              "QuantizeLinear"
#define DQ             "DequantizeLinear"
#define INT_CONV(more) "QLinearConv[" DQ "+" DQ "+Conv" more "]"

static void
convolutions_become_integer(void **state)
{
	(void)state;
	check_rewritten(CONV "yq = QuantizeLinear a sy u120\n"
			     "y = DequantizeLinear yq sy u120\nout y\n",
			Q " " INT_CONV("+" Q) " " DQ);
	/* The result may be the model's. */
	check_rewritten(CONV "y = QuantizeLinear a sy u120\nout y\n",
			Q " " INT_CONV("+" Q));
	/* A bias of integers; no bias; zero points left out. */
	check_rewritten(IMAGE "const w f32 8,4,1,1 = random\n"
			      "wq = QuantizeLinear w sw z\n"
			      "wd = DequantizeLinear wq sw\n"
			      "const l i64 8 = 9,-5,300,0,1,2,-700,4\n"
			      "bq = Cast l to=6\nbs = Mul sx sw\n"
			      "bd = DequantizeLinear bq bs\n"
			      "a = Conv xd wd bd\n"
			      "y = QuantizeLinear a sy\nout y\n",
			Q " QLinearConv[" DQ "+" DQ "+" DQ "+Conv+" Q "]");
	check_rewritten(IMAGE "const w f32 8,4,1,1 = random\n"
			      "wq = QuantizeLinear w sw u128\n"
			      "wd = DequantizeLinear wq sw u128\n"
			      "a = Conv xd wd\n"
			      "y = QuantizeLinear a sy u99\nout y\n",
			Q " " INT_CONV("+" Q));
	/* A scale for each channel. */
	check_rewritten(IMAGE
			"const w f32 2,4,1,1 = random\n"
			"const ws f32 2 = 0.00789,0.0123\n"
			"const zz i64 2 = 0,0\nz2 = Cast zz to=3\n"
			"wq = QuantizeLinear w ws z2 axis=0\n"
			"wd = DequantizeLinear wq ws z2 axis=0\n"
			"a = Conv xd wd\ny = QuantizeLinear a sy u99\nout y\n",
			Q " " INT_CONV("+" Q));
}

/* A bias of reals is rounded to the scale of the sums, some 1 / 400 of a
 * code here: that many results may be the next code. */
static void
a_bias_of_reals_is_rounded(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with(IMAGE "const w f32 8,4,1,1 = random\n"
				 "const b f32 8 = random\n"
				 "wq = QuantizeLinear w sw z\n"
				 "wd = DequantizeLinear wq sw z\n"
				 "a = Conv xd wd b\n"
				 "y = QuantizeLinear a sy u120\nout y\n",
			   0);
	assert_string_equal(r.nodes, Q " " INT_CONV("+" Q));
	rewritten_evaluate(&r, 1.0 / 120);
	rewritten_free(&r);
}

/* Where the sums count in larger units than the result, rounding would show:
 * 0.3 of 1 is 30 codes here. */
static void
a_bias_finer_than_the_sums_stays(void **state)
{
	(void)state;
	check_rewritten(SCALES "const one f32 - = 1\nconst fine f32 - = .01\n"
			       "in x f32 1,4,6,6\n"
			       "xq = QuantizeLinear x one u99\n"
			       "xd = DequantizeLinear xq one u99\n"
			       "const w f32 8,4,1,1 = random\n"
			       "const b f32 1 = .3\nconst n i64 1 = 8\n"
			       "c = Expand b n\n"
			       "wq = QuantizeLinear w one z\n"
			       "wd = DequantizeLinear wq one z\n"
			       "a = Conv xd wd c\n"
			       "y = QuantizeLinear a fine u120\nout y\n",
			Q " " DQ " sleuth.Conv[Conv] " Q);
	check_rewritten(SCALES "const one f32 - = 1\nconst fine f32 - = .01\n"
			       "in x f32 3,4\n"
			       "xq = QuantizeLinear x one u99\n"
			       "xd = DequantizeLinear xq one u99\n"
			       "const w f32 4,5 = random\n"
			       "const b f32 5 = .3,.3,.3,.3,.3\n"
			       "wq = QuantizeLinear w one z\n"
			       "wd = DequantizeLinear wq one z\n"
			       "a = Gemm xd wd b\n"
			       "y = QuantizeLinear a fine u120\nout y\n",
			Q " " DQ " sleuth.MatMul[Gemm] " Q);
}

static void
clipping_goes_where_codes_end(void **state)
{
	(void)state;
	check_rewritten(CONV "r = Relu a\ny = QuantizeLinear r sy u0\nout y\n",
			Q " " INT_CONV("+Relu+" Q));
	check_rewritten(CONV "r = Clip a zero six\n"
			     "y = QuantizeLinear r s6 u0\nout y\n",
			Q " " INT_CONV("+Clip+" Q));
}

static void
clipping_stays_where_codes_go_on(void **state)
{
	(void)state;
	check_rewritten(CONV "r = Relu a\ny = QuantizeLinear r sy u99\n"
			     "out y\n",
			Q " " INT_CONV("") " Clip[Relu+" Q "]");
	check_rewritten(CONV "r = Clip a zero six\n"
			     "y = QuantizeLinear r sy u0\nout y\n",
			Q " " INT_CONV("") " Clip[Clip+" Q "]");
	check_rewritten(IMAGE "r = Relu xd\ny = QuantizeLinear r sx u99\n"
			      "out y\n",
			Q " Clip[Relu+" Q "]");
}

/* Weights that have no middle, a bias that is made, results that are seen
 * before they are quantized, a second user. */
static void
other_convolutions_stay(void **state)
{
	(void)state;
	check_rewritten(IMAGE "const w f32 8,4,1,1 = random\n"
			      "wq = QuantizeLinear w sw u120\n"
			      "wd = DequantizeLinear wq sw u120\n"
			      "a = Conv xd wd\n"
			      "y = QuantizeLinear a sy u99\nout y\n",
			Q " " DQ " sleuth.Conv[Conv] " Q);
	check_rewritten(IMAGE "const w f32 8,4,1,1 = random\n"
			      "wq = QuantizeLinear w sw z\nin b f32 8\n"
			      "wd = DequantizeLinear wq sw z\n"
			      "a = Conv xd wd b\n"
			      "y = QuantizeLinear a sy u99\nout y\n",
			Q " " DQ " sleuth.Conv[Conv] " Q);
	check_rewritten(CONV "y = QuantizeLinear a sy u120\nout y\nout a\n",
			Q " " DQ " sleuth.Conv[Conv] " Q);
	check_rewritten(CONV "y = QuantizeLinear a sy u120\nt = Tanh a\n"
			     "out y\nout t\n",
			Q " " DQ " sleuth.Conv[Conv] " Q " Tanh");
}

static void
products_become_integer(void **state)
{
	(void)state;
	check_rewritten(SCALES
			"in x f32 3,16\nxq = QuantizeLinear x sx u99\n"
			"xd = DequantizeLinear xq sx u99\n"
			"const w f32 16,5 = random\n"
			"wq = QuantizeLinear w sw z\n"
			"wd = DequantizeLinear wq sw z\na = MatMul xd wd\n"
			"y = QuantizeLinear a sy u120\nout y\n",
			Q " QLinearMatMul[" DQ "+" DQ "+MatMul+" Q "]");
	check_rewritten(
		SCALES "in x f32 3,16\nxq = QuantizeLinear x sx u99\n"
		       "xd = DequantizeLinear xq sx u99\n"
		       "const w f32 16,5 = random\nconst b f32 5 = random\n"
		       "wq = QuantizeLinear w sw z\n"
		       "wd = DequantizeLinear wq sw z\na = MatMul xd wd\n"
		       "c = Add a b\ny = QuantizeLinear c sy u120\nout y\n",
		Q " com.microsoft.QGemm[" DQ "+" DQ "+MatMul+Add+" Q "]");
	check_rewritten(SCALES
			"in x f32 3,16\nxq = QuantizeLinear x sx u99\n"
			"xd = DequantizeLinear xq sx u99\n"
			"const w f32 5,16 = random\nconst b f32 5 = random\n"
			"wq = QuantizeLinear w sw z\n"
			"wd = DequantizeLinear wq sw z\n"
			"a = Gemm xd wd b transB=1 alpha=0.5 beta=2.0\n"
			"y = QuantizeLinear a sy u120\nout y\n",
			Q " com.microsoft.QGemm[" DQ "+" DQ "+Gemm+" Q "]");
}

/* The sum has more dimensions than the product; a vector has no columns. */
static void
other_products_stay(void **state)
{
	(void)state;
	check_rewritten(SCALES
			"in x f32 3,16\nxq = QuantizeLinear x sx u99\n"
			"xd = DequantizeLinear xq sx u99\n"
			"const w f32 16,5 = random\n"
			"const b f32 1,1,5 = random\n"
			"wq = QuantizeLinear w sw z\n"
			"wd = DequantizeLinear wq sw z\na = MatMul xd wd\n"
			"c = Add a b\ny = QuantizeLinear c sy u120\nout y\n",
			Q " com.microsoft.MatMulIntegerToFloat[" DQ "+" DQ
			  "+MatMul] Add " Q);
	check_rewritten(SCALES
			"in x f32 3,2\nxq = QuantizeLinear x sx u99\n"
			"xd = DequantizeLinear xq sx u99\n"
			"const w f32 2 = random\n"
			"const ws f32 2 = 0.00789,0.0123\n"
			"const zz i64 2 = 0,0\nz2 = Cast zz to=3\n"
			"wq = QuantizeLinear w ws z2 axis=0\n"
			"wd = DequantizeLinear wq ws z2 axis=0\n"
			"a = MatMul xd wd\ny = QuantizeLinear a sy u120\n"
			"out y\n",
			Q " " DQ " MatMul " Q);
	check_rewritten(SCALES
			"in x f32 3,16\nxq = QuantizeLinear x sx u99\n"
			"xd = DequantizeLinear xq sx u99\n"
			"const w f32 16 = random\n"
			"wq = QuantizeLinear w sw z\n"
			"wd = DequantizeLinear wq sw z\na = MatMul xd wd\n"
			"y = QuantizeLinear a sy u120\nout y\n",
			Q " QLinearMatMul[" DQ "+" DQ "+MatMul+" Q "]");
}

/* Where nothing quantizes the result, and a bias is of the sums' unit. */
static void
products_give_reals(void **state)
{
	(void)state;
	check_rewritten(SCALES
			"in x f32 2,3,16\nxq = QuantizeLinear x sx u99\n"
			"xd = DequantizeLinear xq sx u99\n"
			"const w f32 16,5 = random\nconst b f32 5 = random\n"
			"wq = QuantizeLinear w sw z\n"
			"wd = DequantizeLinear wq sw z\na = MatMul xd wd\n"
			"y = Add b a\nout y\n",
			Q " com.microsoft.MatMulIntegerToFloat[" DQ "+" DQ
			  "+MatMul+Add]");
	check_rewritten(SCALES "const one f32 - = 1\n"
			       "in x f32 3,16\nxq = QuantizeLinear x one u99\n"
			       "xd = DequantizeLinear xq one u99\n"
			       "const w f32 5,16 = random\n"
			       "const b f32 5 = 3,1,-4,1,5\n"
			       "wq = QuantizeLinear w one z\n"
			       "wd = DequantizeLinear wq one z\n"
			       "y = Gemm xd wd b transB=1\nout y\n",
			Q " com.microsoft.QGemm[" DQ "+" DQ "+Gemm]");
}

static void
others_become_integer(void **state)
{
	(void)state;
	check_rewritten(IMAGE "in v f32 1,4,6,6\nvq = QuantizeLinear v sw u0\n"
			      "vd = DequantizeLinear vq sw u0\n"
			      "a = Add xd vd\ny = QuantizeLinear a sy u99\n"
			      "out y\n",
			Q " " Q " com.microsoft.QLinearAdd[" DQ "+" DQ "+Add+" Q
			  "]");
	check_rewritten(IMAGE "a = Mul xd xd\ny = QuantizeLinear a sy u99\n"
			      "out y\n",
			Q " com.microsoft.QLinearMul[" DQ "+Mul+" Q "]");
	check_rewritten(IMAGE "a = AveragePool xd kernel_shape=[2,2]\n"
			      "y = QuantizeLinear a sy u99\nout y\n",
			Q " com.microsoft.QLinearAveragePool[" DQ
			  "+AveragePool+" Q "]");
	check_rewritten(IMAGE "a = GlobalAveragePool xd\n"
			      "y = QuantizeLinear a sx u99\nout y\n",
			Q " com.microsoft.QLinearGlobalAveragePool[" DQ
			  "+GlobalAveragePool+" Q "]");
	check_rewritten(IMAGE "a = Sigmoid xd\n"
			      "y = QuantizeLinear a sw u0\nout y\n",
			Q " com.microsoft.QLinearSigmoid[" DQ "+Sigmoid+" Q
			  "]");
	check_rewritten(IMAGE "a = LeakyRelu xd alpha=0.1\n"
			      "y = QuantizeLinear a sx u99\nout y\n",
			Q " com.microsoft.QLinearLeakyRelu[" DQ "+LeakyRelu+" Q
			  "]");
	check_rewritten(IMAGE "a = Softmax xd axis=1\n"
			      "y = QuantizeLinear a sw u0\nout y\n",
			Q " com.microsoft.QLinearSoftmax[" DQ "+Softmax+" Q
			  "]");
}

/* Quantizing changes places with what moves, however much of it there is. */
static void
movements_move_codes(void **state)
{
	(void)state;
	check_rewritten(IMAGE "a = Transpose xd perm=[0,2,3,1]\n"
			      "y = QuantizeLinear a sx u99\nout y\n",
			Q " Transpose[" DQ "+Transpose+" Q "]");
	check_rewritten(CONV "r = Relu a\n"
			     "m = MaxPool r kernel_shape=[2,2]\n"
			     "y = QuantizeLinear m sy u0\nout y\n",
			Q " " INT_CONV("+Relu") " MaxPool[MaxPool+" Q "]");
	check_rewritten(IMAGE "const p i64 8 = 0,0,1,1,0,0,1,1\n"
			      "a = Pad xd p six\n"
			      "y = QuantizeLinear a sx u99\nout y\n",
			Q " Pad[" DQ "+Pad+" Q "]");
	check_rewritten(IMAGE "a = Concat xd xd axis=1\n"
			      "y = QuantizeLinear a sx u99\nout y\n",
			Q " Concat[" DQ "+Concat+" Q "]");
	/* On other scales the codes are made anew first. */
	check_rewritten(IMAGE "a = Transpose xd perm=[0,2,3,1]\n"
			      "b = Flatten a\n"
			      "y = QuantizeLinear b sy u0\nout y\n",
			Q " " DQ " " Q "[] Transpose Flatten[Flatten+" Q "]");
}

/* Nothing is gained where reals are not far. */
static void
movements_of_reals_stay(void **state)
{
	(void)state;
	check_rewritten(SCALES "in x f32 2,3\na = Transpose x perm=[1,0]\n"
			       "y = QuantizeLinear a sx u99\nout y\n",
			"Transpose " Q);
}

static void
pairs_that_do_nothing_go(void **state)
{
	(void)state;
	check_rewritten(IMAGE "q = QuantizeLinear xd sx u99\n"
			      "y = DequantizeLinear q sx u99\nout y\n",
			Q "[" Q "+" Q "] " DQ);
	/* Not with another zero point, and not an output of the model. */
	check_rewritten(IMAGE "q = QuantizeLinear xd sx u0\n"
			      "y = DequantizeLinear q sx u0\nout y\n",
			Q " " DQ " " Q " " DQ);
}

/* Two convolutions of one image, and a third user of it as reals. */
static void
shared_operands_serve_all(void **state)
{
	(void)state;
	check_rewritten(CONV "y = QuantizeLinear a sy u120\n"
			     "c = Conv xd wd\nv = QuantizeLinear c sy u99\n"
			     "out y\nout v\n",
			Q " QLinearConv[Conv+" Q "] " INT_CONV("+" Q));
	check_rewritten(CONV "y = QuantizeLinear a sy u120\n"
			     "t = Tanh xd\nout y\nout t\n",
			Q " " DQ " QLinearConv[" DQ "+Conv+" Q "] Tanh");
}

static void
without_fusion_nothing_happens(void **state)
{
	(void)state;
	check_rewritten_with(CONV "y = QuantizeLinear a sy u120\nout y\n",
			     SL__OPTIMIZE_NO_FUSION, Q " " DQ " Conv " Q);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolutions_become_integer),
		cmocka_unit_test(a_bias_of_reals_is_rounded),
		cmocka_unit_test(a_bias_finer_than_the_sums_stays),
		cmocka_unit_test(clipping_goes_where_codes_end),
		cmocka_unit_test(clipping_stays_where_codes_go_on),
		cmocka_unit_test(other_convolutions_stay),
		cmocka_unit_test(products_become_integer),
		cmocka_unit_test(other_products_stay),
		cmocka_unit_test(products_give_reals),
		cmocka_unit_test(others_become_integer),
		cmocka_unit_test(movements_move_codes),
		cmocka_unit_test(movements_of_reals_stay),
		cmocka_unit_test(pairs_that_do_nothing_go),
		cmocka_unit_test(shared_operands_serve_all),
		cmocka_unit_test(without_fusion_nothing_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
