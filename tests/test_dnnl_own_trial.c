/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dnnl_own_trial.c - own convolutions beside oneDNN's: each is timed, is
 * taken where the remembered choice names it, and computes the same as the
 * reference kernels.
 * Winograd's transforms of F(4, 3) lose some three bits: 1e-4 of the largest
 * element.
 */
#include "compute/gemm_blocked.h"
#include "choice_folder.h"
#include "conv_graph.h"
#include "needs_dnnl.h"
#include "engine/dnnl_choice.h"

static struct sl_plan_options
options_of(const struct folder *f)
{
	return (struct sl_plan_options){.struct_size =
						sizeof(struct sl_plan_options),
					.n_threads = 1,
					.dtype = SL_DTYPE_F32,
					.cache_folder = f->path};
}

/* Every choice in the folder becomes that kernel. */
static void
remember(const struct folder *f, const char *kernel)
{
	struct sl_plan_options options = options_of(f);
	struct sl__choices *c;
	struct sl_error err = {0};

	assert_int_equal(sl__choices_new(&c, &options, &err), SL_OK);
	assert_true(c->n > 0);
	for (size_t i = 0; i < c->n; i++) {
		c->rows[i].is_own = 1;
		c->rows[i].n_loaded = 0; /* undisturbed */
		c->rows[i].elapsed_ns = 1;
		snprintf(c->rows[i].kernel, sizeof(c->rows[i].kernel), "%s",
			 kernel);
	}
	c->is_changed = 1;
	sl__choices_save(c);
	assert_false(c->is_changed);
	sl__choices_free(c);
}

/* How many steps are of a kernel whose name begins so; the outputs are those of
 * the reference kernels. */
static int
run_and_count(const struct sl_graph *graph, const struct folder *f,
	      const char *name, const char *kernel)
{
	struct sl_plan_options options = options_of(f);
	struct engine_case c = {.text = name, .share = 1e-4};
	struct sl_plan *plan, *plain;
	struct sl__runtime_value got, expected;
	struct sl_error err = {0};
	struct sl_step step;
	int n = 0;

	if (sl_plan_new(&plan, graph, &options, &err))
		fail_msg("%s: %s", name, err.text);
	plain = engine_case_plan(graph, &c, SL_PLAN_REFERENCE, 1);
	engine_case_fill(plan, &c);
	assert_int_equal(sl_plan_run(plan, &err), SL_OK);
	assert_int_equal(sl__plan_output_value(plan, 0, &got, &err), SL_OK);
	assert_int_equal(sl__plan_output_value(plain, 0, &expected, &err),
			 SL_OK);
	engine_case_compare(&c, &got.tensor, &expected.tensor);
	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		n += !strncmp(step.kernel, kernel, strlen(kernel));
	sl_plan_free(plan);
	sl_plan_free(plain);
	return n;
}

static void
each_is_taken(void **state)
{
	static const struct {
		const char *line, *choice, *kernel;
	} rows[] = {
		/* The width of the image is one. */
		{"Conv 11 (f32[1,48,37,1], f32[40,48,5,1], f32[40])",
		 "own_conv", "conv:"},
		{"Conv 11 (f32[2,17,9,11], f32[33,17,3,2], f32[33]) "
		 "strides=[2,1] pads=[1,0,2,1]",
		 "own_conv", "conv:"},
		{"Conv 11 (f32[1,12,13,13], f32[8,6,3,3], f32[8]) group=2 "
		 "dilations=[2,2]",
		 "own_conv", "conv:"},
		{"ConvTranspose 11 (f32[1,24,6,7], f32[24,20,4,4], f32[20]) "
		 "strides=[2,2]",
		 "own_conv", "conv:"},
		{"Conv 11 (f32[1,35,17,15], f32[35,1,3,3], f32[35]) group=35 "
		 "pads=[1,1,1,1] strides=[2,2]",
		 "own_depthwise", "depthwise:"},
		{"Conv 11 (f32[1,64,18,17], f32[40,64,3,3], f32[40]) "
		 "pads=[1,1,1,1]",
		 "own_winograd", "winograd_"},
	};

	(void)state;
	needs_dnnl();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_graph *graph =
			conv_graph(rows[i].line, 2, NULL, 0, NULL);
		int is_winograd = rows[i].kernel[0] == 'w';
		struct folder f;

		folder_new(&f);
		(void)run_and_count(graph, &f, rows[i].line, rows[i].kernel);
		remember(&f, rows[i].choice);
		/* Narrow vectors have no Winograd. */
		if (run_and_count(graph, &f, rows[i].line, rows[i].kernel) !=
			    1 &&
		    !(is_winograd && sl__gemm_blocked_panel() % 16))
			fail_msg("%s: not by %s", rows[i].line, rows[i].kernel);
		folder_free(&f);
		sl_graph_free(graph);
	}
}

/* With what follows it: a sum over its own source, and one over an operand
 * that lies row-major. */
static void
with_epilogues(void **state)
{
	static const char *const endings[][4] = {
		{"AddX", "Relu", NULL},
		{"Add", "Clip", "MulC", NULL},
		{"Sigmoid", "Mul", "Add", NULL},
	};
	static const char line[] = "Conv 11 (f32[1,24,11,9], f32[24,24,3,3], "
				   "f32[24]) pads=[1,1,1,1]";
	static const int64_t dims[] = {1, 24, 11, 9};

	(void)state;
	needs_dnnl();
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		struct sl_graph *graph =
			conv_graph(line, 2, endings[i], 4, dims);
		struct folder f;

		folder_new(&f);
		(void)run_and_count(graph, &f, line, "conv:");
		remember(&f, "own_conv");
		assert_int_equal(run_and_count(graph, &f, line, "conv:"), 1);
		folder_free(&f);
		sl_graph_free(graph);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_taken),
		cmocka_unit_test(with_epilogues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
