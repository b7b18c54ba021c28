/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that sizes are cancelled as products and differences should be, and
 * that the chains which exporters compute shapes with fold to the end, with
 * numbers and with symbols.
 */
#include "graph_text.h"
#include "ops/moving.h"

/* Shapes of a graph with the symbols n, s and h. */
static struct graph_text *
with_symbols(int64_t *n, int64_t *s, int64_t *h)
{
	struct graph_text *g =
		graph_text("in x f32 n,s,h\ny = Relu x\nout y\n");
	const int64_t *dims = g->shapes->types[graph_text_value(g, "x")].dims;

	*n = dims[0];
	*s = dims[1];
	*h = dims[2];
	return g;
}

static void
test_quotients(void **state)
{
	int64_t n, s, h;
	struct graph_text *g = with_symbols(&n, &s, &h);
	struct sl__shapes *shapes = g->shapes;
	int64_t ns = sl__size_mul(shapes, n, s);

	(void)state;
	assert_int_equal(sl__size_quotient(shapes, (int64_t[]){6, 4}, 2,
					   (int64_t[]){8}, 1),
			 3);
	assert_int_equal(
		sl__size_quotient(shapes, (int64_t[]){6}, 1, (int64_t[]){4}, 1),
		-1);
	assert_int_equal(
		sl__size_quotient(shapes, (int64_t[]){6}, 1, (int64_t[]){0}, 1),
		-1);
	assert_int_equal(sl__size_quotient(shapes, (int64_t[]){n, 12, s}, 3,
					   (int64_t[]){s, n, 4}, 3),
			 3);
	assert_true(sl__size_quotient(shapes, (int64_t[]){n, 12, s}, 3,
				      (int64_t[]){n, 12}, 2) == s);
	/* A product that came up as one symbol is taken apart. */
	assert_true(sl__size_quotient(shapes, (int64_t[]){ns, 768}, 2,
				      (int64_t[]){n, 768}, 2) == s);
	assert_true(sl__size_quotient(shapes, (int64_t[]){n, s, 768}, 3,
				      (int64_t[]){ns}, 1) == 768);
	assert_string_equal(
		sl__size_name(shapes,
			      sl__size_quotient(shapes, (int64_t[]){n, 6}, 2,
						(int64_t[]){4}, 1)),
		"((3*n)/2)");
	graph_text_free(g);
}

static void
test_differences(void **state)
{
	int64_t n, s, h;
	struct graph_text *g = with_symbols(&n, &s, &h);
	struct sl__shapes *shapes = g->shapes;
	int64_t sum = sl__size_add(shapes, n, s);
	int64_t next = sl__size_add(shapes, n, 1);

	(void)state;
	assert_int_equal(sl__size_difference(shapes, 7, 3), 4);
	assert_int_equal(sl__size_difference(shapes, n, n), 0);
	assert_true(sl__size_difference(shapes, sum, n) == s);
	assert_true(sl__size_difference(shapes, sum, s) == n);
	assert_int_equal(sl__size_difference(shapes, next, n), 1);
	assert_string_equal(
		sl__size_name(shapes, sl__size_difference(shapes, sum, h)),
		"((n+s)-h)");
	graph_text_free(g);
}

/* Sizes of which nothing is known are not the same because both are "?". */
static void
test_unknown_sizes_do_not_cancel(void **state)
{
	int64_t n, s, h;
	struct graph_text *g = with_symbols(&n, &s, &h);
	struct sl__shapes *shapes = g->shapes;
	int64_t a = sl__size_new(shapes, "?"), b = sl__size_new(shapes, "?");
	int64_t two_a = sl__size_mul(shapes, a, 2);

	(void)state;
	assert_false(two_a == sl__size_mul(shapes, b, 2));
	assert_false(sl__size_quotient(shapes, &a, 1, &b, 1) == 1);
	assert_false(sl__size_quotient(shapes, &two_a, 1, &b, 1) == 2);
	assert_false(sl__size_difference(shapes, sl__size_add(shapes, a, 1),
					 b) == 1);
	graph_text_free(g);
}

/* PyTorch: x.view(x.size(0), x.size(1), 12, -1). */
static void
test_view_of_a_torch_export(void **state)
{
	static const char *const sizes[][2] = {{"n,s,768", "nxsx12x64"},
					       {"2,7,768", "2x7x12x64"}};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct graph_text *g;

		snprintf(text, sizeof(text),
			 "opset 13\nin x f32 %s\n"
			 "const i0 i64 - = 0\nconst i1 i64 - = 1\n"
			 "const at i64 1 = 0\nconst heads i64 1 = 12\n"
			 "const rest i64 1 = -1\n"
			 "sh = Shape x\nd0 = Gather sh i0\n"
			 "sh2 = Shape x\nd1 = Gather sh2 i1\n"
			 "u0 = Unsqueeze d0 at\nu1 = Unsqueeze d1 at\n"
			 "to = Concat u0 u1 heads rest axis=0\n"
			 "y = Reshape x to\nout y\n",
			 sizes[i][0]);
		g = graph_text(text);
		assert_string_equal(shape_of(g, "y"), sizes[i][1]);
		assert_int_equal(g->shapes->n_unresolved, 0);
		graph_text_free(g);
	}
}

/* tf2onnx: Shape, Cast, Slice, Concat, Cast, Reshape; and Tile by it. */
static void
test_slice_of_a_tensorflow_export(void **state)
{
	struct graph_text *g = graph_text(
		"opset 11\nin x f32 n,5,6\n"
		"const from i64 1 = 0\nconst to i64 1 = 1\n"
		"const rest i64 2 = 3,10\nconst ones i64 2 = 1,1\n"
		"sh = Shape x\nc = Cast sh to=6\nb = Slice c from to from\n"
		"bb = Cast b to=7\nwhole = Concat bb rest axis=0\n"
		"y = Reshape x whole\n"
		"often = Concat bb ones axis=0\nz = Tile y often\n"
		"out z\n");

	(void)state;
	assert_string_equal(shape_of(g, "y"), "nx3x10");
	assert_string_equal(shape_of(g, "z"), "(n*n)x3x10");
	graph_text_free(g);
}

/* What depends on data leaves the sizes beside it alone. */
static void
test_partly_unknown_shape(void **state)
{
	struct graph_text *g = graph_text(
		"opset 13\nin x f32 8,6\nin k i64 1\nconst six i64 1 = 6\n"
		"to = Concat k six axis=0\ny = ConstantOfShape to\n"
		"const half i64 1 = 3\nto2 = Concat k half axis=0\n"
		"z = Reshape x to2\nout y\nout z\n");

	(void)state;
	assert_string_equal(shape_of(g, "y"), "?x6");
	/* 48 elements in rows of 3 */
	assert_string_equal(shape_of(g, "z"), "16x3");
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotients),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_unknown_sizes_do_not_cancel),
		cmocka_unit_test(test_view_of_a_torch_export),
		cmocka_unit_test(test_slice_of_a_tensorflow_export),
		cmocka_unit_test(test_partly_unknown_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
