/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that move elements against the reference kernels, which must be
 * met exactly: every operator over sizes that are and are not multiples of
 * tiles and blocks, and all widths of elements.
 */
#include "engine_case.h"
#include "built.h"

static void
check_all(const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_case(&(struct engine_case){.text = lines[i],
						 .low = -100,
						 .high = 100,
						 .share = 1e-30});
}
#define CHECK_ALL(lines) check_all(lines, sizeof(lines) / sizeof(*(lines)))

static void
transpose(void **state)
{
	static const char *const lines[] = {
		"Transpose 13 (f32[37,53])",
		"Transpose 13 (i64[37,53])",
		"Transpose 13 (f16[37,53])",
		"Transpose 13 (int8[37,53])",
		"Transpose 13 (f32[2,3,4,5]) perm=[0,2,3,1]",
		"Transpose 13 (f32[2,3,4,5]) perm=[0,3,1,2]",
		"Transpose 13 (f32[2,33,4,35]) perm=[0,2,1,3]",
		"Transpose 13 (f32[2,33,4,35]) perm=[3,1,2,0]",
		"Transpose 13 (f32[1,33,1,35]) perm=[0,2,1,3]",
		"Transpose 13 (i64[5,6,7,2,3]) perm=[4,0,2,1,3]",
		"Transpose 13 (f32[])",
		"Transpose 13 (f32[3,300,700]) perm=[0,2,1]",
	};

	(void)state;
	CHECK_ALL(lines);
}

static void
pieces(void **state)
{
	static const char *const lines[] = {
		"Concat 13 (f32[2,3,4], f32[2,5,4]) axis=1",
		"Concat 13 (f32[2,3,4], f32[2,3,1], f32[2,3,9]) axis=-1",
		"Concat 13 (i64[1], i64[1], i64[1]) axis=0",
		"Concat 13 (f32[0,4], f32[3,4]) axis=0",
		"Concat 13 (int8[5,300000], int8[2,300000]) axis=0",
		"Concat 13 (f16[5,3]) axis=0",
		"Split 13 (f32[2,6,5]) axis=1 -> 3",
		"Split 18 (f32[6,5], i64[2]={1,5}) axis=0 -> 2",
		"Split 18 (f32[2,7]) axis=1 num_outputs=3 -> 3",
		"Slice 13 (f32[9,8,7], i64[2]={1,0}, i64[2]={7,5}, "
		"i64[2]={0,2})",
		"Slice 13 (f32[9,8,7], i64[1]={-1}, i64[1]={-100}, i64[1]={1}, "
		"i64[1]={-2})",
		"Slice 13 (f32[9,8,7], i64[1]={2}, i64[1]={5})",
		"Slice 13 (f32[3,20], i64[1]={1}, i64[1]={1000}, i64[1]={1}, "
		"i64[1]={3})",
		"Slice 1 (f32[9,8,7]) starts=[1,2] ends=[3,9] axes=[0,1]",
		"DepthToSpace 13 (f32[2,36,3,5]) blocksize=3",
		"DepthToSpace 13 (f32[2,36,3,5]) blocksize=3 mode=CRD",
		"SpaceToDepth 13 (f32[2,4,6,9]) blocksize=3",
		"SpaceToDepth 28 (f32[2,4,6,9]) blocksize=3 mode=CRD",
	};

	(void)state;
	CHECK_ALL(lines);
}

static void
repeats(void **state)
{
	static const char *const lines[] = {
		"Expand 13 (f32[3,1,5], i64[4]={2,3,4,5})",
		"Expand 13 (i64[], i64[2]={3,4})",
		"Expand 13 (bool[4,1], i64[2]={4,300})",
		"Expand 13 (f32[3,4], i64[1]={1})",
		"Tile 13 (f32[2,3,4], i64[3]={2,1,3})",
		"Tile 13 (int8[5], i64[1]={7})",
		"Pad 18 (f32[2,3,4], i64[6]={1,0,2,0,3,1}, f32[]={7})",
		"Pad 18 (f32[2,3,4], i64[6]={0,0,2,0,0,1})",
		"Pad 18 (f32[2,5,7], i64[6]={1,2,3,0,1,6}) mode=edge",
		("Pad 18 (f32[2,5,7], i64[4]={2,3,1,6}, _, i64[2]={1,2}) "
		 "mode=reflect"),
		"Pad 19 (i64[5,7], i64[4]={2,3,1,6}) mode=wrap",
		"Pad 18 (f32[5,7], i64[4]={-1,3,1,-2})",
		"Pad 18 (f32[5,7], i64[4]={-1,3,1,-2}) mode=reflect",
		"Pad 2 (f32[5,7]) pads=[1,2,3,4] value=1.5",
	};

	(void)state;
	CHECK_ALL(lines);
}

static void
choices(void **state)
{
	static const char *const lines[] = {
		"Where 16 (bool[3,4,5], f32[3,4,5], f32[3,4,5])",
		"Where 16 (bool[5], f32[3,4,5], f32[])",
		"Where 16 (bool[3,1,1], i64[4,5], i64[3,4,1])",
		"Where 16 (bool[4,5], f16[], f16[4,5])",
		"Where 16 (bool[400,501], f32[400,501], f32[])",
		"Trilu 14 (f32[3,5,7])",
		"Trilu 14 (f32[3,5,7], i64[]={2}) upper=0",
		"Trilu 14 (i64[5,7], i64[]={-3})",
		"Trilu 14 (f32[5,7], i64[]={100}) upper=0",
	};

	(void)state;
	CHECK_ALL(lines);
}

static void
indices(void **state)
{
	static const char *const lines[] = {
		"Gather 13 (f32[9,4,5], i64[2,3])",
		"Gather 13 (f32[4,9,5], i32[7]) axis=1",
		"Gather 13 (f32[4,9], i64[7]) axis=-1",
		"Gather 13 (f32[9,4,5], i64[]={-2}) axis=0",
		"Gather 13 (f32[9,1000], i64[80]) axis=0",
		"GatherElements 13 (f32[9,9], i64[4,9]) axis=0",
		"GatherElements 13 (i64[5,9], i64[5,4]) axis=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		check_case(&(struct engine_case){
			.text = lines[i], .low = -9, .high = 9});
}

/* An index beyond the end is refused when the model runs. */
static void
wrong_index(void **state)
{
	struct sl_graph *graph =
		engine_case_graph("Gather 13 (f32[3,4], i64[2])");
	struct sl_error err = {0};
	struct sl_plan *plan;
	int64_t *indices;

	(void)state;
	assert_int_equal(sl_plan_new(&plan, graph, NULL, &err), SL_OK);
	assert_int_equal(sl_plan_fill_inputs(plan, 1, &err), SL_OK);
	indices = input_data(plan, "in1");
	indices[0] = 1;
	indices[1] = 3;
	assert_int_equal(sl_plan_run(plan, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "outside of 3"));
	sl_plan_free(plan);
	sl_graph_free(graph);
}

/* Sizes that the file promises of a list that comes with the run: what does
 * not hold is refused, on all paths. */
static void
promised_sizes(void **state)
{
	static const struct {
		const char *text, *name;
		int64_t dims[4], list[4];
		int rank;
	} rows[] = {
		{"Reshape 13 (f32[4], i64[2])", "in1", {8, 8}, {2, 2}, 2},
		{"Reshape 13 (f32[12], i64[2])", "in1", {2, 2}, {3, 4}, 2},
		{"Squeeze 13 (f32[1,2,1], i64[1])", "in1", {2, 1}, {2}, 2},
		{"Expand 13 (f32[1], i64[1])", "in1", {8}, {3}, 1},
		{"Tile 13 (f32[2], i64[1])", "in1", {8}, {2}, 1},
		{"Resize 13 (f32[3,4], _, _, i64[2])",
		 "in3",
		 {9, 9},
		 {6, 8},
		 2},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		struct sl_graph *graph = engine_case_graph(rows[i / 2].text);
		struct sl_plan_options how = {.struct_size = sizeof(how),
					      .flags = i % 2 ? SL_PLAN_REFERENCE
							     : 0};
		struct sl_error err = {0};
		struct sl_plan *plan;
		int64_t *list;

		graph->values[graph->blocks[0].outputs[0]].declared =
			(struct sl__type){.kind = SL__TYPE_TENSOR,
					  .dtype = SL_DTYPE_F32,
					  .rank = rows[i / 2].rank,
					  .dims = rows[i / 2].dims};
		assert_int_equal(sl_plan_new(&plan, graph, &how, &err), SL_OK);
		assert_int_equal(sl_plan_fill_inputs(plan, 1, &err), SL_OK);
		list = input_data(plan, rows[i / 2].name);
		assert_non_null(list);
		for (int k = 0; k < 2 && rows[i / 2].list[k]; k++)
			list[k] = rows[i / 2].list[k];
		assert_int_equal(sl_plan_run(plan, &err), SL_E_DATA);
		if (!strstr(err.text, "than the model says"))
			fail_msg("%s: %s", rows[i / 2].text, err.text);
		sl_plan_free(plan);
		sl_graph_free(graph);
	}
}

/* More rows of indices than the data has. */
static void
too_many_indices(void **state)
{
	struct sl_graph *graph = engine_case_graph(
		"GatherElements 13 (f32[2,3], i64[5,3]) axis=1");
	struct sl_error err = {0};
	struct sl_plan *plan = NULL;
	enum sl_status rc = sl_plan_new(&plan, graph, NULL, &err);

	(void)state;
	if (!rc) {
		assert_int_equal(sl_plan_fill_inputs(plan, 1, &err), SL_OK);
		rc = sl_plan_run(plan, &err);
	}
	assert_int_equal(rc, SL_E_DATA);
	sl_plan_free(plan);
	sl_graph_free(graph);
}

static void
casts(void **state)
{
	static const char *const types[] = {"f32",   "f16",   "bf16", "int64",
					    "int32", "uint8", "int8", "bool"};
	static const int numbers[] = {1, 10, 16, 7, 6, 2, 3, 9};
	char line[96];

	(void)state;
	for (size_t i = 0; i < 64; i++) {
		struct engine_case c = {
			.text = line, .low = -90, .high = 90, .share = 1e-30};

		snprintf(line, sizeof(line), "Cast 19 (%s[1111]) to=%d",
			 types[i / 8], numbers[i % 8]);
		/* A negative real has no place in uint8. */
		if (numbers[i % 8] == 2)
			c.low = 0;
		check_case(&c);
	}
}

/* Elements in the order in which convolutions leave them; 20 channels do not
 * fill their blocks. */
static void
after_convolutions(void **state)
{
	(void)state;
	for (int64_t channels = 20; channels <= 32; channels += 12) {
		struct sl_conv2d conv = {.out_channels = channels,
					 .padding = 1};
		struct sl_builder *b = new_builder();
		int x = sl_builder_input(b, "x", SL_DTYPE_F32, 4,
					 (int64_t[]){2, 16, 9, 7});
		int c = sl_builder_conv2d(b, x, &conv);
		int d = sl_builder_conv2d(b, x, &conv);
		int cat, t;
		struct sl_graph *graph;

		sl_builder_int(b, "axis", 1);
		cat = sl_builder_op(b, "Concat", 3, (int[]){c, d, x});
		sl_builder_ints(b, "perm", 4, (int64_t[]){0, 2, 3, 1});
		t = sl_builder_op(b, "Transpose", 1, &d);
		sl_builder_output(b, sl_builder_conv2d(b, cat, &conv), "y");
		sl_builder_output(b, t, "t");
		graph = finish(b);
		check_graph(graph,
			    &(struct engine_case){.text = "convolutions"});
		sl_graph_free(graph);
	}
}

static void
resizes(void **state)
{
	static const char *const modes[] = {
		"nearest nearest_mode=floor",
		"nearest nearest_mode=ceil",
		"nearest nearest_mode=round_prefer_ceil",
		"nearest",
		"linear",
	};
	static const char *const places[] = {"half_pixel", "asymmetric",
					     "align_corners",
					     "pytorch_half_pixel"};
	char line[256];

	(void)state;
	for (size_t i = 0; i < 20; i++) {
		snprintf(line, sizeof(line),
			 "Resize 13 (f32[2,3,5,7], _, f32[4]={1,1,2,1.7}) "
			 "coordinate_transformation_mode=%s mode=%s",
			 places[i % 4], modes[i / 4]);
		check_kernel(line);
		snprintf(line, sizeof(line),
			 "Resize 13 (f32[3,9,8], _, _, i64[3]={3,4,13}) "
			 "coordinate_transformation_mode=%s mode=%s",
			 places[i % 4], modes[i / 4]);
		check_kernel(line);
	}
	check_kernel("Upsample 9 (f32[1,2,3,4], f32[4]={1,1,2,3})");
	check_kernel("Resize 10 (f32[1,2,6,4], f32[4]={1,1,0.5,2})");
	check_kernel("ScatterND 16 (f32[4,5,6], i64[2,1]={3,-3}, f32[2,5,6])");
	check_kernel("ScatterND 16 (f32[4,5], i64[3,2]={3,1,0,0,3,1}, f32[3])");
	check_kernel("ScatterND 18 (f32[4,5], i64[3,1]={3,1,-1}, f32[3,5]) "
		     "reduction=add");
	check_kernel("ScatterND 18 (f32[4,5], i64[3,2]={3,1,0,0,3,1}, f32[3]) "
		     "reduction=mul");
	check_case(&(struct engine_case){
		"ScatterND 18 (f32[4,5], i64[3,1]={2,1,2}, f32[3,5]) "
		"reduction=max",
		.has_ends = 1});
	check_case(&(struct engine_case){
		"ScatterND 18 (f32[4,5], i64[3,1]={2,1,2}, f32[3,5]) "
		"reduction=min",
		.has_ends = 1});
}

/* An image in the order in which convolutions leave it. */
static void
resized_blocks(void **state)
{
	static const char *const modes[] = {"nearest", "linear"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct sl_conv2d conv = {.out_channels = i / 2 ? 20 : 32,
					 .padding = 1};
		struct sl_builder *b = new_builder();
		int x = sl_builder_input(b, "x", SL_DTYPE_F32, 4,
					 (int64_t[]){2, 16, 9, 7});
		int scales = sl_builder_floats(b, "s", 1, (int64_t[]){4},
					       (float[]){1, 1, 2, 2});
		int c = sl_builder_conv2d(b, x, &conv), y;
		struct sl_graph *graph;

		sl_builder_text(b, "mode", modes[i % 2]);
		y = sl_builder_op(b, "Resize", 3, (int[]){c, -1, scales});
		sl_builder_output(b, sl_builder_conv2d(b, y, &conv), "y");
		graph = finish(b);
		check_graph(graph, &(struct engine_case){.text = modes[i % 2]});
		sl_graph_free(graph);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transpose),
		cmocka_unit_test(pieces),
		cmocka_unit_test(repeats),
		cmocka_unit_test(choices),
		cmocka_unit_test(indices),
		cmocka_unit_test(wrong_index),
		cmocka_unit_test(promised_sizes),
		cmocka_unit_test(too_many_indices),
		cmocka_unit_test(casts),
		cmocka_unit_test(after_convolutions),
		cmocka_unit_test(resizes),
		cmocka_unit_test(resized_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
