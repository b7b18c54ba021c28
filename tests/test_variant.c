/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_variant.c - changes to how a model is run reach the plan's options, in
 * their order; unknown ones and values that make no sense are refused with what
 * was meant.
 */
#include "harness.h"
#include "sleuth.h"

static void
changes_of_running(void **state)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = 4};
	struct sl_plan_options plan = {
		.struct_size = sizeof(plan), .sizes = &sizes, .n_threads = 2};
	struct sl_variant_options how = {.struct_size = sizeof(how),
					 .plan = &plan};
	struct sl_graph *graph = NULL;
	struct sl_variant *v = NULL;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3-2", NULL, &err), SL_OK);
	assert_int_equal(sl_variant_new(&v, graph,
					"threads=1,bf16,fuse=off,batch=8,"
					"algorithms=fixed",
					&how, &err),
			 SL_OK);
	assert_ptr_equal(v->graph, graph);
	assert_int_equal(v->n_changes, 5);
	assert_string_equal(v->changes[0].name, "threads=1");
	assert_non_null(v->changes[4].text);
	assert_int_equal(v->plan.n_threads, 1);
	assert_int_equal(v->plan.dtype, SL_DTYPE_BF16);
	assert_int_equal(v->plan.flags, SL_PLAN_NO_FUSION);
	assert_int_equal(v->plan.algorithms, SL_ALGORITHMS_FIXED);
	assert_int_equal(v->plan.sizes->batch, 8);
	/* 4 * 3 + 3 + 3 * 2 + 2 numbers of f32. */
	assert_int_equal(v->changes[1].weights_before_bytes, 23 * 4);
	assert_int_equal(v->changes[1].weights_after_bytes, 23 * 4);
	sl_variant_free(v);
	sl_graph_free(graph);
}

static void
refused(void **state)
{
	static const struct {
		const char *changes, *text;
	} rows[] = {
		{"thread=2", "did you mean 'threads'?"},
		{"threads", "write 'threads=N'"},
		{"bf16=1", "write 'bf16'"},
		{"threads=0", "'threads=0' needs a whole number from 1"},
		{"bf16,threads=2x", "'threads=2x' needs a whole number"},
		{"batch=99999999999999999999", "needs a whole number"},
		{"fuse=on", "'fuse=on' is not known; 'off' is"},
		{"", "no change is called ''"},
		{"bf16,", "no change is called ''"},
		{"bf16,bf16,bf16,bf16,bf16,bf16,bf16,bf16,bf16",
		 "more than 8 changes"},
	};
	struct sl_graph *graph = NULL;
	struct sl_variant *v;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:4-3-2", NULL, &err), SL_OK);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(
			sl_variant_new(&v, graph, rows[i].changes, NULL, &err),
			SL_E_USAGE);
		assert_null(v);
		assert_non_null(strstr(err.text, rows[i].text));
	}
	sl_graph_free(graph);
}

static void
rules_are_listed(void **state)
{
	size_t n = 0;

	(void)state;
	while (sl_variant_rule_at(n)) {
		assert_non_null(sl_variant_rule_at(n)->name);
		assert_non_null(sl_variant_rule_at(n)->text);
		n++;
	}
	assert_true(n >= 5);
	assert_string_equal(sl_calibration_text(SL_CALIBRATION_MSE), "mse");
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_of_running),
		cmocka_unit_test(refused),
		cmocka_unit_test(rules_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
