/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_native_view.c - proves that a value which products left in bf16 stays
 * so when it is seen in other sizes: no step brings it to f32 and back.
 *
 * Results are compared with those of an f32 plan.  Each of three layers rounds
 * its operands and its result to 2^-9: 2% of the largest element.
 */
#include "planned_graph.h"

static const char tail[] = "opset 13\n"
			   "in x f32 1,16,6,6\n"
			   "const w f32 32,16,3,3 = random\n"
			   "const v f32 32,10 = random\n"
			   "const b f32 10 = random\n"
			   "a = Conv x w\n"
			   "r = Relu a\n"
			   "p = GlobalAveragePool r\n"
			   "f = Flatten p\n"
			   "y = Gemm f v b\n"
			   "out y\n";

static const char heads[] = "opset 13\n"
			    "in x f32 2,6,32\n"
			    "const w f32 32,48 = random\n"
			    "const v f32 24,40 = random\n"
			    "const four i64 4 = 2,6,2,24\n"
			    "const three i64 3 = 2,6,80\n"
			    "a = MatMul x w\n"
			    "r = Reshape a four\n"
			    "m = MatMul r v\n"
			    "y = Reshape m three\n"
			    "out y\n";

static struct sl_plan *
plan_of(const struct graph_text *g, enum sl_dtype dtype)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 2,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .dtype = dtype};
	struct sl_plan *plan;
	struct sl_error err;
	struct sl_array array;
	void *data;
	float *x;

	if (sl_plan_new(&plan, g->graph, &how, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sl_plan_input(plan, "x", &array, &data, &err), SL_OK);
	assert_non_null(data);
	x = data;
	for (int i = 0; i < 2 * 6 * 32; i++)
		x[i] = (float)(i * 37 % 101) / 50.0F - 1;
	if (sl_plan_run(plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static int
n_reorders(const struct sl_plan *plan)
{
	struct sl_step step;
	int n = 0;

	for (size_t i = 0; sl_plan_step(plan, i, &step); i++)
		n += !strncmp(step.name, "reorder ", 8);
	return n;
}

static void
compare(struct sl_plan *plan, struct sl_plan *expected)
{
	struct sl_array a, e;
	const float *p, *q;
	struct sl_error err;
	double most = 0;

	assert_int_equal(sl_plan_output(plan, "y", &a, &err), SL_OK);
	assert_int_equal(sl_plan_output(expected, "y", &e, &err), SL_OK);
	p = a.data;
	q = e.data;
	for (int i = 0; i < (int)e.dims[e.rank - 1]; i++) {
		double size = fabs((double)q[i]);

		/* Not by fmax(), over which gcc 12 for ARM stumbles. */
		most = size > most ? size : most;
	}
	assert_true(most > 0);
	for (int i = 0; i < (int)e.dims[e.rank - 1]; i++)
		assert_near((double)p[i], (double)q[i], .02 * most);
}

static void
check(const char *text, int most)
{
	struct graph_text *g = graph_text_with(text, NULL);
	struct sl_plan *narrow = plan_of(g, SL_DTYPE_BF16);
	struct sl_plan *wide = plan_of(g, SL_DTYPE_F32);

	compare(narrow, wide);
	if (n_reorders(narrow) > most)
		fail_msg("%d reorders in%s", n_reorders(narrow), text);
	sl_plan_free(narrow);
	sl_plan_free(wide);
	graph_text_free(g);
}

/* x, and what comes out. */
static void
narrow_values_stay(void **state)
{
	(void)state;
	check(tail, 1);
	check(heads, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(narrow_values_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
