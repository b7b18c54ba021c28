/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/post_op.h"
#include "rewritten.h"

static void
takes_bias_and_function(void **state)
{
	(void)state;
	check_rewritten("in x f32 2,5,3\nconst w f32 3,4 = random\n"
			"const b f32 4 = random\nin z f32 2,5,4\n"
			"a = MatMul x w\nc = Add b a\nd = Relu c\n"
			"y = Add d z\nout y\n",
			"sleuth.MatMul[MatMul+Add+Relu+Add]");
	check_rewritten("in x f32 5,3\nconst w f32 3,4 = random\n"
			"const b f32 1,4 = random\n"
			"a = MatMul x w\ny = Add a b\nout y\n",
			"sleuth.MatMul[MatMul+Add]");
	/* Stacks of matrices that nobody knows beforehand. */
	check_rewritten("in x f32 2,5,3\nin w f32 2,3,4\n"
			"a = MatMul x w\ny = Tanh a\nout y\n",
			"sleuth.MatMul[MatMul+Tanh]");
}

/* The bias has one dimension, whatever it had before. */
static void
flattens_the_bias(void **state)
{
	struct rewritten r;
	const struct sl__node *node;
	const struct sl__tensor *t;

	(void)state;
	r = rewritten_with("in x f32 5,3\nconst w f32 3,4 = random\n"
			   "const b f32 1,4 = random\n"
			   "y = Gemm x w b beta=2.0\nout y\n",
			   0);
	node = rewritten_maker(&r, "y");
	assert_int_equal(node->n_inputs, 3);
	t = r.made->values[node->inputs[2]].tensor;
	assert_int_equal(t->rank, 1);
	assert_int_equal(t->dims[0], 4);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

static void
takes_gemms(void **state)
{
	(void)state;
	check_rewritten("in x f32 3,5\nconst w f32 4,3 = random\n"
			"const b f32 4 = random\n"
			"a = Gemm x w b transA=1 transB=1 alpha=0.5 beta=-2.0\n"
			"y = Sigmoid a\nout y\n",
			"sleuth.MatMul[Gemm+Sigmoid]");
	check_rewritten("in x f32 5,3\nconst w f32 3,4 = random\n"
			"in c f32 5,4\na = Gemm x w c\ny = Relu a\nout y\n",
			"sleuth.MatMul[Gemm+Relu]");
	/* A third operand that is neither a row nor whole, or is scaled. */
	check_rewritten("in x f32 5,3\nconst w f32 3,4 = random\n"
			"in c f32 5,1\ny = Gemm x w c\nout y\n",
			"Gemm");
	check_rewritten("in x f32 5,3\nconst w f32 3,4 = random\n"
			"in c f32 5,4\ny = Gemm x w c beta=2.0\nout y\n",
			"Gemm");
}

/* The model's product y is rewritten to one that transposes its operands so. */
static void
check_transposes(const char *text, const char *nodes, int a, int b)
{
	struct rewritten r = rewritten_with(text, 0);
	const struct sl__node *y = rewritten_maker(&r, "y");

	assert_string_equal(r.nodes, nodes);
	assert_int_equal(sl__attribute_int(y, "transA", -1), a);
	assert_int_equal(sl__attribute_int(y, "transB", -1), b);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

static void
absorbs_transpositions(void **state)
{
	(void)state;
	check_transposes("in x f32 2,5,3\nin w f32 2,4,3\n"
			 "t = Transpose w perm=[0,2,1]\n"
			 "y = MatMul x t\nout y\n",
			 "sleuth.MatMul[Transpose+MatMul]", 0, 1);
	check_rewritten("in x f32 3,5\nin w f32 4,3\n"
			"s = Transpose x\nt = Transpose w perm=[1,0]\n"
			"y = MatMul s t\nout y\n",
			"sleuth.MatMul[Transpose+Transpose+MatMul]");
	/* For others it stays; other dimensions it cannot move. */
	check_rewritten("in x f32 5,3\nin w f32 4,3\n"
			"t = Transpose w\ny = MatMul x t\nout y\nout t\n",
			"Transpose sleuth.MatMul[MatMul]");
	check_rewritten("in x f32 2,5,3\nin w f32 3,2,4\n"
			"t = Transpose w perm=[1,0,2]\n"
			"y = MatMul x t\nout y\n",
			"Transpose sleuth.MatMul[MatMul]");
}

/* As in a training step, whose weights and biases are inputs. */
static void
takes_biases_that_change(void **state)
{
	(void)state;
	check_rewritten("in x f32 2,5,3\nin w f32 3,4\nin b f32 4\n"
			"a = MatMul x w\nc = Add a b\ny = Relu c\nout y\n",
			"sleuth.MatMul[MatMul+Add+Relu]");
	check_rewritten("in x f32 5,3\nin w f32 4,3\nin b f32 4\n"
			"y = Gemm x w b transB=1\nout y\n",
			"sleuth.MatMul[Gemm]");
	/* No row of the result's, or scaled. */
	check_rewritten("in x f32 5,3\nin w f32 3,4\nin b f32 1\n"
			"a = MatMul x w\ny = Add a b\nout y\n",
			"sleuth.MatMul[MatMul] Add");
	check_rewritten("in x f32 5,3\nin w f32 4,3\nin b f32 4\n"
			"y = Gemm x w b transB=1 beta=2.0\nout y\n",
			"Gemm");
}

/* (a b)' is b' a': the gradient of a weight that was transposed. */
static void
transposes_the_result(void **state)
{
	(void)state;
	check_transposes("in x f32 5,3\nin g f32 5,4\n"
			 "a = com.microsoft.FusedMatMul x g transA=1 "
			 "alpha=0.5\ny = Transpose a perm=[1,0]\nout y\n",
			 "sleuth.MatMul[FusedMatMul+Transpose]", 1, 0);
	check_rewritten("in x f32 5,3\nin w f32 4,3\n"
			"t = Transpose w\na = MatMul x t\ny = Transpose a\n"
			"out y\n",
			"sleuth.MatMul[Transpose+MatMul+Transpose]");
	/* After a bias; of a stack; of a batch that FusedMatMul transposes. */
	check_rewritten("in x f32 5,3\nin w f32 3,4\nin b f32 4\n"
			"a = Gemm x w b\ny = Transpose a\nout y\n",
			"sleuth.MatMul[Gemm] Transpose");
	check_rewritten("in x f32 2,5,3\nin w f32 3,4\na = MatMul x w\n"
			"y = Transpose a perm=[0,2,1]\nout y\n",
			"sleuth.MatMul[MatMul] Transpose");
	check_rewritten("in x f32 5,2,3\nin w f32 2,3,4\n"
			"y = com.microsoft.FusedMatMul x w transBatchA=1\n"
			"out y\n",
			"com.microsoft.FusedMatMul[FusedMatMul]");
}

static void
absorbs_factors(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with("in x f32 5,3\nin w f32 3,4\n"
			   "const k f32 - = 3\nconst l f32 1 = 4\n"
			   "const b f32 4 = random\n"
			   "a = Mul k x\nc = MatMul a w\nd = Div c l\n"
			   "e = Mul d k\nf = Add e b\ny = Mul f k\nout y\n",
			   0);
	assert_string_equal(r.nodes,
			    "sleuth.MatMul[Mul+MatMul+Div+Mul+Add+Mul]");
	assert_near(sl__attribute_float(rewritten_maker(&r, "y"), "alpha", 0),
		    2.25, 0);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
	/* The scaled operand is needed too; it has more dimensions. */
	check_rewritten("in x f32 5,3\nin w f32 3,4\nconst k f32 - = 3\n"
			"a = Mul k x\ny = MatMul a w\nout y\nout a\n",
			"Mul sleuth.MatMul[MatMul]");
	check_rewritten("in x f32 5,3\nin w f32 3,4\nconst k f32 1,1,1 = 3\n"
			"a = Mul k x\ny = MatMul a w\nout y\n",
			"Mul sleuth.MatMul[MatMul]");
}

/* The product of the factors stays a number of f32. */
static void
leaves_factors_beyond_all(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with("in x f32 5,3\nin w f32 3,4\n"
			   "const k f32 - = 1e-30\nconst l f32 - = 1e-39\n"
			   "a = Mul k x\nc = MatMul a w\nd = Mul c k\n"
			   "y = Div d l\nout y\n",
			   0);
	assert_string_equal(r.nodes, "sleuth.MatMul[Mul+MatMul+Mul] Div");
	assert_near(sl__attribute_float(rewritten_maker(&r, "d"), "alpha", 0),
		    1e-30, 1e-36);
	rewritten_free(&r);
}

/* More factors than a node covers: the rest stay nodes. */
static void
ends_long_chains(void **state)
{
	enum { N = 200 };
	char text[8192];
	struct rewritten r;
	size_t n = 0, n_covered = 0;

	(void)state;
	n += (size_t)snprintf(text, sizeof(text),
			      "in x f32 5,3\nin w f32 3,4\n"
			      "const k0 f32 - = 2\nconst k1 f32 - = .5\n"
			      "a0 = MatMul x w\n");
	for (int i = 0; i < N; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "a%d = Mul a%d k%d\n", i + 1, i, i % 2);
	snprintf(text + n, sizeof(text) - n, "y = Neg a%d\nout y\n", N);
	r = rewritten_with(text, 0);
	for (size_t i = 0; i < r.made->n_nodes; i++) {
		assert_true(r.covers[i].n <= SL__NODE_BUILDER_COVERS);
		n_covered += r.covers[i].n;
	}
	assert_int_equal(n_covered, N + 2);
	assert_true(r.made->n_nodes < N);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

static void
leaves_what_is_no_product_of_matrices(void **state)
{
	(void)state;
	check_rewritten("in x f32 3\nin w f32 3,4\na = MatMul x w\n"
			"y = Relu a\nout y\n",
			"MatMul Relu");
	check_rewritten("in x i64 2,3\nin w i64 3,4\ny = MatMul x w\nout y\n",
			"MatMul");
	check_rewritten_with("in x f32 2,3\nin w f32 3,4\na = MatMul x w\n"
			     "y = Relu a\nout y\n",
			     SL__OPTIMIZE_NO_FUSION, "MatMul Relu");
	/* The sum has more elements than the product. */
	check_rewritten("in x f32 1,3\nconst w f32 3,4 = random\n"
			"const b f32 2,1,4 = random\n"
			"a = MatMul x w\ny = Add a b\nout y\n",
			"sleuth.MatMul[MatMul] Add");
}

/* A stack of rows that is laid out as a matrix for the product. */
static void
multiplies_stacks(void **state)
{
	(void)state;
	check_rewritten("opset 13\nin x f32 2,5,3\nconst w f32 3,4 = random\n"
			"const s i64 2 = 10,3\nconst t i64 3 = 2,5,4\n"
			"const b f32 4 = random\nin z f32 2,5,4\n"
			"a = Reshape x s\nc = MatMul a w\nd = Reshape c t\n"
			"e = Add d b\nf = Relu e\ny = Add f z\nout y\n",
			"sleuth.MatMul[Reshape+MatMul+Reshape+Add+Relu+Add]");
	/* The bias may come before the stack is restored, the matrix may be
	 * needed by others. */
	check_rewritten("opset 13\nin x f32 2,5,3\nconst w f32 3,4 = random\n"
			"const s i64 2 = 10,3\nconst t i64 3 = 2,5,4\n"
			"const b f32 4 = random\n"
			"a = Reshape x s\nc = Gemm a w b\nd = Reshape c t\n"
			"y = Tanh d\nout y\nout a\n",
			"Reshape sleuth.MatMul[Gemm+Reshape+Tanh]");
	/* Another stack than it was. */
	check_rewritten("opset 13\nin x f32 2,5,3\nconst w f32 3,4 = random\n"
			"const s i64 2 = 10,3\nconst t i64 3 = 5,2,4\n"
			"a = Reshape x s\nc = MatMul a w\nd = Reshape c t\n"
			"y = Tanh d\nout y\n",
			"Reshape sleuth.MatMul[MatMul] Reshape Tanh");
	check_rewritten("opset 13\nin x f32 2,5,3\nconst w f32 3,4 = random\n"
			"const s i64 2 = 10,3\nconst t i64 3 = 2,10,2\n"
			"a = Reshape x s\nc = MatMul a w\nd = Reshape c t\n"
			"y = Tanh d\nout y\n",
			"Reshape sleuth.MatMul[MatMul] Reshape Tanh");
}

/* Of two whose sum is taken the later one takes it. */
static void
adds_to_the_later(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with("in x f32 2,3\nin v f32 3,4\nin w f32 3,4\n"
			   "a = MatMul x v\nb = MatMul x w\n"
			   "y = Add b a\nout y\n",
			   0);
	assert_string_equal(r.nodes,
			    "sleuth.MatMul[MatMul] sleuth.MatMul[MatMul+Add]");
	assert_string_equal(rewritten_maker(&r, "y")->name, "b");
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_bias_and_function),
		cmocka_unit_test(flattens_the_bias),
		cmocka_unit_test(takes_gemms),
		cmocka_unit_test(absorbs_transpositions),
		cmocka_unit_test(takes_biases_that_change),
		cmocka_unit_test(transposes_the_result),
		cmocka_unit_test(absorbs_factors),
		cmocka_unit_test(leaves_factors_beyond_all),
		cmocka_unit_test(ends_long_chains),
		cmocka_unit_test(leaves_what_is_no_product_of_matrices),
		cmocka_unit_test(multiplies_stacks),
		cmocka_unit_test(adds_to_the_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
