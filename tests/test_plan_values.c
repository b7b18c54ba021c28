/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plan_values.c - proves that outputs stay as they are until the next run,
 * whatever becomes of the inputs, that they are there after a run alone, that
 * inputs are described and may be written where they lie, and that data which
 * is not there is told.
 */
#include "planned_graph.h"

static void
run(struct sl_plan *plan)
{
	struct sl_error err;

	if (sl_plan_run(plan, &err))
		fail_msg("%s", err.text);
}

/* An input, a view of it, a part of it: all outputs. */
static void
outputs_outlast_their_inputs(void **state)
{
	static const char *const names[] = {"x", "v", "p"};
	static const int64_t dims[] = {2, 2};
	static const double one[] = {1, 2, 3, 4}, two[] = {5, 6, 7, 8};
	struct sl_array out[3];
	struct sl_error err;
	struct planned p;

	(void)state;
	planned_start(&p,
		      "opset 13\n"
		      "in x f32 2,2\n"
		      "const n i64 1 = 4\n"
		      "v = Reshape x n\n"
		      "p,q = Split x axis=0\n"
		      "z = Neg q\n"
		      "out x\n"
		      "out v\n"
		      "out p\n"
		      "out z\n",
		      1, 0);
	planned_set(&p, "x", 2, dims, one);
	planned_check(&p);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			sl_plan_output(p.plan, names[i], &out[i], &err), SL_OK);
	planned_set(&p, "x", 2, dims, two);
	for (int i = 0; i < 3; i++)
		assert_near((double)((const float *)out[i].data)[1], 2, 0);
	planned_check(&p);
	assert_near((double)((const float *)out[0].data)[1], 6, 0);
	planned_finish(&p);
}

/* A model without nodes, in all its simplicity. */
static void
an_input_may_be_all_there_is(void **state)
{
	static const int64_t dims[] = {3};
	static const double x[] = {1, 2, 3};
	struct sl_step step;
	struct planned p;

	(void)state;
	planned_start(&p, "in x f32 3\nout x\n", 1, 0);
	planned_set(&p, "x", 1, dims, x);
	planned_check(&p);
	assert_int_equal(sl_plan_step(p.plan, 0, &step), 1);
	assert_string_equal(step.name, "copy x");
	assert_int_equal(step.n_covers, 0);
	assert_int_equal(step.nominal_flops, 0);
	planned_finish(&p);
}

/* What the evaluator holds, too. */
static void
strings_outlast_their_inputs(void **state)
{
	static const int64_t dims[] = {1};
	const char *const one[] = {"one"}, *const two[] = {"another"};
	struct sl_array in = {.dtype = SL_DTYPE_STRING,
			      .rank = 1,
			      .dims = dims,
			      .strings = one};
	struct graph_text *g = graph_text_with("in s f32 1\nout s\n", NULL);
	struct sl_array out;
	struct sl_plan *plan;
	struct sl_error err;

	(void)state;
	g->graph->values[graph_text_value(g, "s")].declared.dtype =
		SL_DTYPE_STRING;
	if (sl_plan_new(&plan, g->graph, NULL, &err) ||
	    sl_plan_set_input(plan, "s", &in, &err))
		fail_msg("%s", err.text);
	run(plan);
	assert_int_equal(sl_plan_output(plan, "s", &out, &err), SL_OK);
	in.strings = two;
	assert_int_equal(sl_plan_set_input(plan, "s", &in, &err), SL_OK);
	assert_string_equal(out.strings[0], "one");
	run(plan);
	assert_int_equal(sl_plan_output(plan, "s", &out, &err), SL_OK);
	assert_string_equal(out.strings[0], "another");
	sl_plan_free(plan);
	graph_text_free(g);
}

static void
check_no_output(struct sl_plan *plan, const char *name)
{
	struct sl_array out;
	struct sl_error err = {0};

	memset(&out, 0x7f, sizeof(out));
	assert_int_equal(sl_plan_output(plan, name, &out, &err), SL_E_USAGE);
	assert_true(err.text[0] != '\0');
	assert_null(out.data);
	assert_int_equal(out.n_elements, 0);
	memset(&out, 0x7f, sizeof(out));
	assert_int_equal(sl_plan_output_item(plan, name, 0, &out, &err),
			 SL_E_USAGE);
	assert_null(out.data);
}

static void
outputs_are_there_after_a_run(void **state)
{
	static const int64_t two[] = {2}, three[] = {3};
	static const double good[] = {0, 1, 2}, bad[] = {0, 9};
	struct sl_array out;
	struct sl_error err;
	struct planned p;

	(void)state;
	planned_start(&p,
		      "in i i64 n\n"
		      "const t f32 3 = 1,2,3\n"
		      "y = Gather t i\n"
		      "out y\n",
		      1, 0);
	check_no_output(p.plan, "y");
	planned_set(&p, "i", 1, two, good);
	check_no_output(p.plan, "y");
	planned_check(&p);
	check_no_output(p.plan, "i");
	/* Inputs are for the next run; this one's outputs stay. */
	planned_set(&p, "i", 1, three, good);
	assert_int_equal(sl_plan_output(p.plan, "y", &out, &err), SL_OK);
	assert_int_equal(out.n_elements, 2);
	/* Until the plan is made for the new sizes. */
	assert_int_equal(sl_plan_input(p.plan, "i", &out, NULL, &err), SL_OK);
	assert_int_equal(out.n_elements, 3);
	check_no_output(p.plan, "y");
	planned_check(&p);
	planned_set(&p, "i", 1, two, bad);
	assert_int_equal(sl_plan_run(p.plan, &err), SL_E_DATA);
	check_no_output(p.plan, "y");
	planned_finish(&p);
}

static void
inputs_are_described(void **state)
{
	struct sl_array in;
	struct sl_error err;
	struct planned p;
	void *data;

	(void)state;
	planned_start(&p,
		      "in x f32 2,3\n"
		      "y = Neg x\n"
		      "out y\n",
		      1, 0);
	assert_int_equal(sl_plan_input(p.plan, "x", &in, NULL, &err), SL_OK);
	assert_int_equal(in.dtype, SL_DTYPE_F32);
	assert_int_equal(in.rank, 2);
	assert_int_equal(in.dims[1], 3);
	assert_int_equal(in.n_elements, 6);
	assert_int_equal(in.n_bytes, 24);
	/* To look is not to set. */
	assert_int_equal(sl_plan_run(p.plan, &err), SL_E_USAGE);
	assert_int_equal(sl_plan_input(p.plan, "x", &in, &data, &err), SL_OK);
	assert_ptr_equal(in.data, data);
	for (int i = 0; i < 6; i++)
		((float *)data)[i] = (float)i;
	run(p.plan);
	assert_int_equal(sl_plan_output(p.plan, "y", &in, &err), SL_OK);
	assert_near((double)((const float *)in.data)[5], -5, 0);
	assert_int_equal(sl_plan_input(p.plan, "y", &in, &data, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "no input 'y'"));
	assert_null(data);
	assert_null(in.data);
	planned_finish(&p);
}

/* The pointer that the type asks for, not the other. */
static void
data_must_be_there(void **state)
{
	static const int64_t dims[] = {1};
	static const char *const strings[] = {"x"};
	static const float number = 1;
	struct sl_array in = {.dtype = SL_DTYPE_F32,
			      .rank = 1,
			      .dims = dims,
			      .strings = strings};
	struct graph_text *g = graph_text_with("in x f32 1\n"
					       "in s f32 1\n"
					       "y = Neg x\n"
					       "out y\n"
					       "out s\n",
					       NULL);
	struct sl_plan *plan;
	struct sl_error err = {0};

	(void)state;
	g->graph->values[graph_text_value(g, "s")].declared.dtype =
		SL_DTYPE_STRING;
	assert_int_equal(sl_plan_new(&plan, g->graph, NULL, &err), SL_OK);
	assert_int_equal(sl_plan_set_input(plan, "x", &in, &err), SL_E_USAGE);
	assert_non_null(strstr(err.text, "no data"));
	in.data = &number;
	assert_int_equal(sl_plan_set_input(plan, "x", &in, &err), SL_OK);
	in.dtype = SL_DTYPE_STRING;
	assert_int_equal(sl_plan_set_input(plan, "s", &in, &err), SL_OK);
	in.strings = NULL;
	assert_int_equal(sl_plan_set_input(plan, "s", &in, &err), SL_E_USAGE);
	sl_plan_free(plan);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_outlast_their_inputs),
		cmocka_unit_test(an_input_may_be_all_there_is),
		cmocka_unit_test(strings_outlast_their_inputs),
		cmocka_unit_test(outputs_are_there_after_a_run),
		cmocka_unit_test(inputs_are_described),
		cmocka_unit_test(data_must_be_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
