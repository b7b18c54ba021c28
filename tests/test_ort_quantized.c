/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ort_quantized.c - models that ONNX Runtime's own quantizers made run
 * here and give what ONNX Runtime gives (tests/oracles/ort_quantized.py), as
 * planned, node by node and with the reference kernels.
 */
#include "harness.h"
#include "sleuth.h"

#include <stdio.h>

static void
check_model(const char *name, unsigned flags)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1,
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .flags = flags | SL_PLAN_NO_CACHE};
	struct sl_run_options how = {.struct_size = sizeof(how), .plan = &plan};
	struct sl_graph *graph;
	struct sl_run *run;
	struct sl_error err;
	char folder[512], path[600];

	snprintf(folder, sizeof(folder), "%s/ort_quantized/%s", SL_TEST_DATA,
		 name);
	snprintf(path, sizeof(path), "%s/model.onnx", folder);
	how.check_folder = folder;
	if (sl_graph_open(&graph, path, NULL, &err))
		fail_msg("%s: %s", name, err.text);
	if (sl_run(&run, graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	assert_true(run->is_checked);
	if (!run->is_ok)
		fail_msg("%s, flags %u: %g of %g", name, flags,
			 run->outputs[0].error, run->outputs[0].limit);
	sl_run_free(run);
	sl_graph_free(graph);
}

static void
models_agree(void **state)
{
	static const char *const names[] = {
		"image_qdq_u8",    "image_qdq_s8",
		"image_operators", "matrix_qdq",
		"image_dynamic",   "matrix_dynamic",
		"matrix_4_bits",   "matrix_4_bits_symmetric",
		"matrix_8_bits"};
	static const unsigned flags[] = {0, SL_PLAN_NO_FUSION,
					 SL_PLAN_REFERENCE | SL_PLAN_NO_FUSION};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t k = 0; k < 3; k++)
			check_model(names[i], flags[k]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(models_agree)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
