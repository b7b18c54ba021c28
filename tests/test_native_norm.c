/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalizations against the reference kernels, which take the variance from
 * the mean in double; here both are sums of f32 in lanes, good to a few units
 * in the last place for the lengths of real rows.
 */
#include "engine_case.h"
#include "built.h"

static void
layers(void **state)
{
	static const char *const lines[] = {
		"LayerNormalization 17 (f32[3,5,37], f32[37], f32[37])",
		"LayerNormalization 17 (f32[3,5,37], f32[37])",
		"LayerNormalization 17 (f32[3,5,37], f32[5,37], f32[5,37]) "
		"axis=1",
		"LayerNormalization 17 (f32[3,5,37], f32[37], f32[37]) "
		"epsilon=0.1 -> 3",
		"LayerNormalization 17 (f32[2,300,768], f32[768], f32[768])",
		"RMSNormalization 23 (f32[3,5,37], f32[37])",
		"SimplifiedLayerNormalization 1 (f32[3,5,37], f32[37]) -> 2",
		"com.microsoft.SkipLayerNormalization 1 (f32[3,5,37], "
		"f32[3,5,37], f32[37], f32[37], f32[37]) -> 4",
		"com.microsoft.SkipLayerNormalization 1 (f32[3,5,37], "
		"f32[5,37], f32[37], f32[37])",
		"com.microsoft.SkipLayerNormalization 1 (f32[3,5,37], "
		"f32[1,5,37], f32[37])",
		"com.microsoft.SkipSimplifiedLayerNormalization 1 "
		"(f32[3,5,37], f32[3,5,37], f32[37], f32[37]) -> 4",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		check_kernel(lines[i]);
		/* Far from 0, and no smaller for it. */
		check_case(&(struct engine_case){.text = lines[i],
						 .low = 30,
						 .high = 34,
						 .share = 1e-4});
	}
	/* Scales that are not one for each element of a row. */
	check_case(&(struct engine_case){
		"LayerNormalization 17 (f32[3,5,37], f32[1])",
		.is_reference = 1});
}

static void
images(void **state)
{
	static const char *const lines[] = {
		"InstanceNormalization 6 (f32[2,3,5,7], f32[3], f32[3])",
		"InstanceNormalization 6 (f32[2,3,50], f32[3], f32[3])",
		"GroupNormalization 21 (f32[2,6,5,7], f32[6], f32[6]) "
		"num_groups=3",
		"GroupNormalization 18 (f32[2,6,5,7], f32[3], f32[3]) "
		"num_groups=3",
		"GroupNormalization 21 (f32[2,64,50,37], f32[64], f32[64]) "
		"num_groups=32",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		check_kernel(lines[i]);
}

/* Rows of bf16 between products: what differs is the rounding of each, 2^-8
 * of an element. */
static void
short_rows(void **state)
{
	struct sl_builder *b = new_builder();
	int x = sl_builder_input(b, "x", SL_DTYPE_F32, 3,
				 (int64_t[]){2, 9, 64});
	int y = sl_builder_linear(b, x, 96, 1);
	struct sl_graph *graph;

	(void)state;
	y = sl_builder_layer_norm(b, y);
	sl_builder_output(b, sl_builder_linear(b, y, 32, 1), "y");
	graph = finish(b);
	check_graph(graph, &(struct engine_case){.text = "bf16",
						 .dtype = SL_DTYPE_BF16,
						 .share = 0.02});
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers),
		cmocka_unit_test(images),
		cmocka_unit_test(short_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
