/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuse_pattern.c - Gelu, Swish and norms that are written out. */
#include "rewritten.h"

/* The graph becomes these nodes, computes the same, and the node that makes y
 * has that number in an attribute. */
static void
check_attribute(const char *text, const char *nodes, const char *name,
		double expected)
{
	struct rewritten r = rewritten_with(text, 0);

	assert_string_equal(r.nodes, nodes);
	assert_near(sl__attribute_float(
			    rewritten_maker(&r, "y"), name,
			    (double)sl__attribute_int(rewritten_maker(&r, "y"),
						      name, 99)),
		    expected, 1e-6 * fabs(expected));
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

static void
check_gelu(const char *text, const char *covered, const char *approximate)
{
	struct rewritten r = rewritten_with(text, 0);
	char nodes[256];

	snprintf(nodes, sizeof(nodes), "Gelu[%s]", covered);
	assert_string_equal(r.nodes, nodes);
	assert_string_equal(sl__attribute_string(rewritten_maker(&r, "y"),
						 "approximate", "none"),
			    approximate);
	rewritten_evaluate(&r, 1e-6);
	rewritten_free(&r);
}

#define GELU                                                            \
	"in x f32 2,3,5\nconst half f32 - = 0.5\nconst one f32 1 = 1\n" \
	"const root f32 - = 1.41421356\n"                               \
	"const inverse f32 - = 0.70710678\n"

static void
finds_gelu_by_erf(void **state)
{
	static const char *const orders[][2] = {
		{"c = Mul x b\ny = Mul c half\nout y\n", "Div+Erf+Add+Mul+Mul"},
		{"c = Mul b half\ny = Mul x c\nout y\n", "Div+Erf+Add+Mul+Mul"},
		{"c = Mul half x\ny = Mul c b\nout y\n", "Div+Erf+Add+Mul+Mul"},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text),
			 GELU "e = Div x root\ng = Erf e\nb = Add g one\n%s",
			 orders[i][0]);
		check_gelu(text, orders[i][1], "none");
	}
	check_gelu(GELU "e = Mul inverse x\ng = Erf e\nb = Add one g\n"
			"c = Mul x b\ny = Mul half c\nout y\n",
		   "Mul+Erf+Add+Mul+Mul", "none");
	/* Multiplied out, and with nodes that change nothing. */
	check_gelu(GELU "i = Cast x to=1\ne = Mul i inverse\ng = Erf e\n"
			"h = Mul x half\nk = Mul h g\ny = Add h k\nout y\n",
		   "Mul+Erf+Mul+Mul+Add", "none");
}

/* Nodes on the way that do change something. */
static void
leaves_what_is_dropped(void **state)
{
	struct rewritten r;

	(void)state;
	r = rewritten_with(GELU "e = Div x root\ng = Erf e\nopset 6\n"
				"d = Dropout g\nopset 16\nb = Add d one\n"
				"c = Mul x b\ny = Mul half c\nout y\n",
			   0);
	assert_string_equal(r.nodes, "Div Erf Dropout Add Mul Mul");
	rewritten_free(&r);
}

#define TANH                                                          \
	"in x f32 4,5\nconst half f32 - = 0.5\nconst one f32 - = 1\n" \
	"const three f32 - = 3\nconst c f32 - = 0.044715\n"           \
	"const s f32 - = 0.79788456\n"

static void
finds_gelu_by_tanh(void **state)
{
	(void)state;
	check_gelu(TANH "h = Mul x half\np = Pow x three\nq = Mul p c\n"
			"r = Add x q\nt = Mul r s\ng = Tanh t\n"
			"b = Add g one\ny = Mul h b\nout y\n",
		   "Mul+Pow+Mul+Add+Mul+Tanh+Add+Mul", "tanh");
	check_gelu(TANH "p = Mul x x\nq = Mul c p\nr = Add one q\n"
			"t = Mul s x\nu = Mul t r\ng = Tanh u\nb = Add one g\n"
			"h = Mul half b\ny = Mul x h\nout y\n",
		   "Mul+Mul+Add+Mul+Mul+Tanh+Add+Mul+Mul", "tanh");
	check_gelu(TANH "p = Mul x x\nq = Mul p x\nr = Mul q c\nu = Add x r\n"
			"t = Mul s u\ng = Tanh t\nb = Add g one\n"
			"h = Mul x b\ny = Mul h half\nout y\n",
		   "Mul+Mul+Mul+Add+Mul+Tanh+Add+Mul+Mul", "tanh");
}

static void
finds_swish(void **state)
{
	(void)state;
	check_attribute("in x f32 3,4\ng = Sigmoid x\ny = Mul x g\nout y\n",
			"Swish[Sigmoid+Mul]", "alpha", 1);
	check_attribute("in x f32 3,4\nconst k f32 - = 1.702\nt = Mul x k\n"
			"g = Sigmoid t\ny = Mul g x\nout y\n",
			"Swish[Mul+Sigmoid+Mul]", "alpha", 1.702);
}

static void
leaves_other_functions(void **state)
{
	(void)state;
	/* Another factor, another number inside, another operand. */
	check_rewritten(GELU "e = Div x root\ng = Erf e\nb = Add g one\n"
			     "c = Mul x b\ny = Mul c root\nout y\n",
			"Div Erf Add Mul Mul");
	check_rewritten(GELU "e = Div x half\ng = Erf e\nb = Add g one\n"
			     "c = Mul x b\ny = Mul c half\nout y\n",
			"Div Erf Add Mul Mul");
	check_rewritten("in x f32 3,4\nin z f32 3,4\ng = Sigmoid x\n"
			"y = Mul z g\nout y\n",
			"Sigmoid Mul");
	/* The gate is needed by itself. */
	check_rewritten("in x f32 3,4\ng = Sigmoid x\ny = Mul x g\n"
			"out y\nout g\n",
			"Sigmoid Mul");
}

#define NORM                                                           \
	"in x f32 2,3,8\nconst two f32 - = 2\nconst e f32 - = 0.001\n" \
	"const g f32 8 = random\nconst b f32 8 = random\n"             \
	"const one f32 - = 1\nconst minus f32 - = -0.5\n"

static void
finds_layer_norm(void **state)
{
	(void)state;
	check_attribute(NORM "m = ReduceMean x axes=[2]\nd = Sub x m\n"
			     "p = Pow d two\nv = ReduceMean p axes=[2]\n"
			     "w = Add v e\nr = Sqrt w\nn = Div d r\n"
			     "s = Mul n g\ny = Add s b\nout y\n",
			"LayerNormalization[ReduceMean+Sub+Pow+ReduceMean+Add+"
			"Sqrt+Div+Mul+Add]",
			"epsilon", 0.001);
	/* Each mean and difference for itself, a product for the square. */
	check_attribute(NORM "m = ReduceMean x axes=[2]\nd = Sub x m\n"
			     "k = ReduceMean x axes=[2]\nf = Sub x k\n"
			     "p = Mul d d\nv = ReduceMean p axes=[2]\n"
			     "w = Add e v\nr = Sqrt w\ni = Reciprocal r\n"
			     "n = Mul i f\ns = Mul g n\ny = Add b s\nout y\n",
			"LayerNormalization[ReduceMean+Sub+ReduceMean+Sub+Mul+"
			"ReduceMean+Add+Sqrt+Reciprocal+Mul+Mul+Add]",
			"axis", -1);
	/* Neither factor nor summand; a cast that changes nothing. */
	check_attribute(NORM "m = ReduceMean x axes=[2]\nd = Sub x m\n"
			     "c = Cast d to=1\np = Pow c two\n"
			     "v = ReduceMean p axes=[2]\nw = Add v e\n"
			     "i = Pow w minus\ny = Mul d i\nout y\n",
			"LayerNormalization[ReduceMean+Sub+Pow+ReduceMean+Add+"
			"Pow+Mul]",
			"epsilon", 0.001);
}

/* s = g / deviation, x s + (b - mean s). */
static void
finds_the_norm_of_tensorflow(void **state)
{
	(void)state;
	check_attribute(NORM "m = ReduceMean x axes=[2]\nd = Sub x m\n"
			     "p = Mul d d\nv = ReduceMean p axes=[2]\n"
			     "w = Add v e\nr = Sqrt w\ni = Reciprocal r\n"
			     "s = Mul i g\nt = Mul x s\nu = Mul m s\n"
			     "z = Sub b u\ny = Add t z\nout y\n",
			"LayerNormalization[ReduceMean+Sub+Mul+ReduceMean+Add+"
			"Sqrt+Reciprocal+Mul+Mul+Mul+Sub+Add]",
			"epsilon", 0.001);
}

static void
finds_norms_over_more_dimensions(void **state)
{
	(void)state;
	check_attribute("in x f32 2,3,4\nconst e f32 - = 0.001\n"
			"const g f32 1,3,4 = random\nm = ReduceMean x "
			"axes=[1,2]\nd = Sub x m\np = Mul d d\n"
			"v = ReduceMean p axes=[2,1]\nw = Add v e\n"
			"r = Sqrt w\nn = Div d r\ny = Mul n g\nout y\n",
			"LayerNormalization[ReduceMean+Sub+Mul+ReduceMean+Add+"
			"Sqrt+Div+Mul]",
			"axis", -2);
}

static void
finds_norms_without_means(void **state)
{
	(void)state;
	check_attribute(NORM "p = Mul x x\nv = ReduceMean p axes=[2]\n"
			     "w = Add v e\nr = Sqrt w\nn = Div x r\n"
			     "y = Mul n g\nout y\n",
			"RMSNormalization[Mul+ReduceMean+Add+Sqrt+Div+Mul]",
			"epsilon", 0.001);
	check_attribute(NORM "p = Pow x two\nv = ReduceMean p axes=[2]\n"
			     "w = Add v e\nr = Sqrt w\ni = Div one r\n"
			     "n = Mul x i\ny = Mul g n\nout y\n",
			"RMSNormalization[Pow+ReduceMean+Add+Sqrt+Div+Mul+Mul]",
			"axis", -1);
}

static void
leaves_other_arithmetic(void **state)
{
	(void)state;
	/* Means over another dimension, or over two different ones. */
	check_rewritten(NORM "m = ReduceMean x axes=[1]\nd = Sub x m\n"
			     "p = Mul d d\nv = ReduceMean p axes=[1]\n"
			     "w = Add v e\nr = Sqrt w\ny = Div d r\nout y\n",
			"ReduceMean Sub Mul ReduceMean Add Sqrt Div");
	check_rewritten(NORM "m = ReduceMean x axes=[1,2]\nd = Sub x m\n"
			     "p = Mul d d\nv = ReduceMean p axes=[2]\n"
			     "w = Add v e\nr = Sqrt w\nn = Div x r\n"
			     "y = Mul n g\nout y\n",
			"ReduceMean Sub Mul ReduceMean Add Sqrt Div Mul");
	/* The numerator is something else. */
	check_rewritten(NORM "in z f32 2,3,8\np = Mul x x\n"
			     "v = ReduceMean p axes=[2]\nw = Add v e\n"
			     "r = Sqrt w\ny = Div z r\nout y\n",
			"Mul ReduceMean Add Sqrt Div");
}

/* What others need of the norm is computed as before. */
static void
keeps_what_is_needed(void **state)
{
	(void)state;
	check_rewritten(NORM "m = ReduceMean x axes=[2]\nd = Sub x m\n"
			     "p = Pow d two\nv = ReduceMean p axes=[2]\n"
			     "w = Add v e\nr = Sqrt w\nn = Div d r\n"
			     "s = Mul n g\ny = Add s b\nout y\nout d\n",
			"ReduceMean Sub LayerNormalization[Pow+ReduceMean+Add+"
			"Sqrt+Div+Mul+Add]");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_gelu_by_erf),
		cmocka_unit_test(leaves_what_is_dropped),
		cmocka_unit_test(finds_gelu_by_tanh),
		cmocka_unit_test(finds_swish),
		cmocka_unit_test(leaves_other_functions),
		cmocka_unit_test(finds_layer_norm),
		cmocka_unit_test(finds_the_norm_of_tensorflow),
		cmocka_unit_test(finds_norms_over_more_dimensions),
		cmocka_unit_test(finds_norms_without_means),
		cmocka_unit_test(leaves_other_arithmetic),
		cmocka_unit_test(keeps_what_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
