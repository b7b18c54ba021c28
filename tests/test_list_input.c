/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that the chains which exporters compute shapes with fold to the end,
 * with numbers and with symbols, and across loops.
 */
#include "graph_text.h"

/* PyTorch: x.view(x.size(0), x.size(1), 12, -1). */
static void
test_view_of_a_torch_export(void **state)
{
	static const char *const sizes[][2] = {{"n,s,768", "n,s,12,64"},
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
	assert_string_equal(shape_of(g, "y"), "n,3,10");
	assert_string_equal(shape_of(g, "z"), "(n*n),3,10");
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

/* The body gives one row more than it gets; after the last run that is what
 * the value has, not one row less than what was collected. */
static void
test_size_after_a_loop_is_another(void **state)
{
	struct graph_text *g = graph_text(
		"in x f32 n,3\nconst m i64 - = 4\nconst row f32 1,3 = 1,2,3\n"
		"block body\nin i i64 -\nin go bool -\nin a f32 ?\n"
		"stay = Identity go\nnext = Concat a row axis=0\n"
		"out stay\nout next\nout next\nend\n"
		"y,all = Loop m - x body=@body\nout y\nout all\n");
	const struct sl__type *types = g->shapes->types;
	const int64_t *y = types[graph_text_value(g, "y")].dims;
	const int64_t *all = types[graph_text_value(g, "all")].dims;

	(void)state;
	assert_string_equal(shape_of(g, "y"), "?x3");
	assert_string_equal(shape_of(g, "all"), "4x(?+1)x3");
	assert_false(sl__size_sub_cancelling(g->shapes, all[1], y[0]) == 1);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view_of_a_torch_export),
		cmocka_unit_test(test_slice_of_a_tensorflow_export),
		cmocka_unit_test(test_partly_unknown_shape),
		cmocka_unit_test(test_size_after_a_loop_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
