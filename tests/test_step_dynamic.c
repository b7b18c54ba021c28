/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_step_dynamic.c - proves that what is known only when the model runs is
 * computed by plans as the evaluator computes it, run after run: counts that
 * depend on contents, sequences, loops and text, between steps whose sizes
 * are planned; and that sizes which turn out to be others than the model says
 * are refused, not written over memory.
 */
#include "planned_graph.h"

static const int64_t six[] = {6}, three_two[] = {3, 2};

static void
check_contents(struct planned *p, const char *name, const int64_t *dims,
	       size_t rank)
{
	static const double lists[][6] = {{0, 1, 0, 2, 0, -3},
					  {1, 1, 1, 1, 1, 1},
					  {0, 0, 0, 0, 0, 0},
					  {0, 0, 0, 0, 0, 7},
					  {0, 1, 0, 2, 0, -3}};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		planned_set(p, name, rank, dims, lists[i]);
		planned_check(p);
	}
}

/* What was found is gathered, summed to one number, and used by steps. */
static void
counts_depend_on_contents(void **state)
{
	struct planned p;

	(void)state;
	planned_start(&p,
		      "opset 13\n"
		      "in x f32 6\n"
		      "h = Abs x\n"
		      "i = NonZero h\n"
		      "const zero i64 1 = 0\n"
		      "j = Squeeze i zero\n"
		      "g = Gather h j\n"
		      "s = ReduceSum g zero keepdims=1\n"
		      "y = Add h s\n"
		      "z = Exp g\n"
		      "n = Neg h\n"
		      "out y\n"
		      "out z\n"
		      "out i\n"
		      "out n\n",
		      2, 0);
	assert_true(p.plan->current->is_stepwise);
	assert_true(planned_n_path(&p, SL_PATH_STEPWISE) > 0);
	/* Add does not depend on how many there are. */
	assert_true(planned_n_path(&p, SL_PATH_STEPWISE) <
		    sl_plan_n_steps(p.plan));
	check_contents(&p, "x", six, 1);
	planned_finish(&p);
}

static void
sequences_come_out(void **state)
{
	struct sl_array a, item;
	struct planned p;
	struct sl_error err;

	(void)state;
	planned_start(&p,
		      "opset 13\n"
		      "in x f32 3,2\n"
		      "h = Neg x\n"
		      "s = SplitToSequence h axis=0\n"
		      "const at i64 - = 1\n"
		      "e = SequenceErase s at\n"
		      "f = SequenceInsert e x\n"
		      "k = SequenceLength f\n"
		      "u = SequenceAt f at\n"
		      "w = Abs u\n"
		      "out f\n"
		      "out k\n"
		      "out w\n",
		      1, 0);
	check_contents(&p, "x", three_two, 2);
	assert_int_equal(sl_plan_output(p.plan, "f", &a, &err), SL_OK);
	assert_int_equal(a.dtype, SL_DTYPE_NONE);
	assert_int_equal(a.n_elements, 3);
	assert_null(a.data);
	assert_int_equal(sl_plan_output_item(p.plan, "f", 2, &item, &err),
			 SL_OK);
	assert_int_equal(item.rank, 2);
	assert_int_equal(item.dims[0], 3);
	assert_true(((const float *)item.data)[5] == -3);
	assert_int_equal(sl_plan_output_item(p.plan, "f", 3, &item, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_plan_output_item(p.plan, "w", 0, &item, &err),
			 SL_E_USAGE);
	planned_finish(&p);
}

/* sum += x trip times, with captured h; the count is an input. */
static void
loops_run_in_plans(void **state)
{
	static const double trips[] = {3, 2, 1, 5, 3};
	static const int64_t one[] = {1};
	struct planned p;

	(void)state;
	planned_start(&p,
		      "opset 13\n"
		      "in n i64 1\n"
		      "in x f32 3,2\n"
		      "h = Abs x\n"
		      "const yes bool - = 1\n"
		      "block body\n"
		      "in i i64 -\n"
		      "in go bool -\n"
		      "in sum f32 3,2\n"
		      "stay = Identity go\n"
		      "next = Add sum h\n"
		      "part = Neg next\n"
		      "out stay\n"
		      "out next\n"
		      "out part\n"
		      "end\n"
		      "last,parts = Loop n yes x body=@body\n"
		      "y = Exp last\n"
		      "z = Neg h\n"
		      "out y\n"
		      "out parts\n"
		      "out z\n",
		      2, 0);
	for (size_t i = 0; i < sizeof(trips) / sizeof(trips[0]); i++) {
		planned_set(&p, "n", 1, one, &trips[i]);
		planned_fill(&p, "x", 2, three_two, i + 1);
		planned_check(&p);
	}
	planned_finish(&p);
}

/* Without a scan there may be no trip at all. */
static void
loops_may_not_run_at_all(void **state)
{
	static const int64_t one[] = {1};
	static const double trips[] = {0, 2, 0};
	struct planned p;

	(void)state;
	planned_start(&p,
		      "opset 13\n"
		      "in n i64 1\n"
		      "in x f32 3,2\n"
		      "const yes bool - = 1\n"
		      "block body\n"
		      "in i i64 -\n"
		      "in go bool -\n"
		      "in sum f32 3,2\n"
		      "stay = Identity go\n"
		      "next = Add sum x\n"
		      "out stay\n"
		      "out next\n"
		      "end\n"
		      "last = Loop n yes x body=@body\n"
		      "y = Neg last\n"
		      "out y\n",
		      1, 0);
	for (size_t i = 0; i < sizeof(trips) / sizeof(trips[0]); i++) {
		planned_set(&p, "n", 1, one, &trips[i]);
		planned_fill(&p, "x", 2, three_two, i + 1);
		planned_check(&p);
	}
	planned_finish(&p);
}

static void
set_words(struct sl_plan *plan, const char *const *words, int64_t n)
{
	struct sl_array a = {.dtype = SL_DTYPE_STRING,
			     .rank = 1,
			     .dims = &n,
			     .strings = words};
	struct sl_error err;

	if (sl_plan_set_input(plan, "s", &a, &err))
		fail_msg("%s", err.text);
}

/* Text is held by the evaluator; numbers read from it are planned, and their
 * count changes with that of the words. */
static void
text_of_other_sizes_is_planned_anew(void **state)
{
	static const char *const words[] = {"1.5", "-2", "4", "8", "16"};
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in s f32 n\n"
					       "h = Cast s to=1\n"
					       "y = Neg h\n"
					       "out y\n",
					       NULL);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1};
	struct sl_plan *plan;
	struct sl_error err;

	(void)state;
	g->graph->values[graph_text_value(g, "s")].declared.dtype =
		SL_DTYPE_STRING;
	if (sl_plan_new(&plan, g->graph, &how, &err))
		fail_msg("%s", err.text);
	for (int64_t n = 5; n >= 1; n -= 2) {
		struct sl_array y;

		set_words(plan, words, n);
		if (sl_plan_run(plan, &err))
			fail_msg("%s", err.text);
		assert_int_equal(sl_plan_output(plan, "y", &y, &err), SL_OK);
		assert_int_equal(y.n_elements, n);
		for (int64_t i = 0; i < n; i++)
			assert_near((double)((const float *)y.data)[i],
				    -strtod(words[i], NULL), 0);
	}
	sl_plan_free(plan);
	graph_text_free(g);
}

/* A sequence may be given, and stays for all runs. */
static void
sequences_go_in(void **state)
{
	struct counting n = {0};
	struct sl_allocator allocator = counting_allocator(&n);
	static const struct sl__type item = {
		.kind = SL__TYPE_TENSOR, .dtype = SL_DTYPE_F32, .rank = -1};
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in s f32 ?\n"
					       "const at i64 - = 1\n"
					       "h = SequenceAt s at\n"
					       "y = Neg h\n"
					       "out y\n",
					       NULL);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .allocator = &allocator};
	struct sl__type *type =
		&g->graph->values[graph_text_value(g, "s")].declared;
	struct sl__runtime_value list = {0};
	struct sl_plan *plan;
	struct sl_error err;
	struct sl_array y;

	(void)state;
	type->kind = SL__TYPE_SEQUENCE;
	type->element = &item;
	assert_int_equal(sl__runtime_value_alloc_list(&list, SL__TYPE_SEQUENCE,
						      SL_DTYPE_F32, 2, NULL,
						      NULL),
			 SL_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sl__runtime_value_alloc_tensor(
					 &list.items[i], SL_DTYPE_F32, 2,
					 three_two, NULL, NULL),
				 SL_OK);
		memset(list.items[i].bytes, 0, 24);
		*(float *)(void *)list.items[i].bytes = (float)i + 1;
	}
	if (sl_plan_new(&plan, g->graph, &how, &err) ||
	    sl__plan_set_input(plan, 0, &list, &err))
		fail_msg("%s", err.text);
	sl__runtime_value_clear(&list, NULL);
	for (int run = 0; run < 3; run++) {
		if (sl_plan_run(plan, &err))
			fail_msg("%s", err.text);
		assert_int_equal(sl_plan_output(plan, "y", &y, &err), SL_OK);
		assert_int_equal(y.n_elements, 6);
		assert_near((double)*(const float *)y.data, -2, 0);
	}
	sl_plan_free(plan);
	assert_int_equal(n.n_out, 0);
	graph_text_free(g);
}

/* The model says that there are two; what is found decides. */
static void
declared_sizes_must_hold(void **state)
{
	static const int64_t two[] = {1, 2};
	static const double fits[] = {0, 1, 0, 2, 0, 0};
	static const double more[] = {1, 1, 1, 1, 0, 0};
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in x f32 6\n"
					       "i = NonZero x\n"
					       "y = Add i i\n"
					       "out y\n",
					       NULL);
	struct sl__type *said =
		&g->graph->values[graph_text_value(g, "i")].declared;
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1};
	struct sl_plan *plan;
	struct sl_error err = {0};
	struct sl_array y;
	float *x;

	(void)state;
	*said = (struct sl__type){.kind = SL__TYPE_TENSOR,
				  .dtype = SL_DTYPE_I64,
				  .rank = 2,
				  .dims = two};
	if (sl_plan_new(&plan, g->graph, &how, &err))
		fail_msg("%s", err.text);
	for (int round = 0; round < 3; round++) {
		x = input_data(plan, "x");
		assert_non_null(x);
		for (int i = 0; i < 6; i++)
			x[i] = (float)fits[i];
		if (sl_plan_run(plan, &err))
			fail_msg("%s", err.text);
		assert_int_equal(sl_plan_output(plan, "y", &y, &err), SL_OK);
		assert_int_equal(y.n_elements, 2);
		assert_int_equal(((const int64_t *)y.data)[1], 6);
		for (int i = 0; i < 6; i++)
			x[i] = (float)more[i];
		assert_int_equal(sl_plan_run(plan, &err), SL_E_DATA);
		if (!strstr(err.text, "node 'i'"))
			fail_msg("%s", err.text);
	}
	sl_plan_free(plan);
	graph_text_free(g);
}

static void
failures_name_the_node(void **state)
{
	static const double wrong[] = {0, 0, 0, 0, 0, 9};
	struct planned p;
	struct sl_error err;

	(void)state;
	planned_start(&p,
		      "opset 13\n"
		      "in x i64 6\n"
		      "const t f32 3 = 1,2,3\n"
		      "i = Unique x\n"
		      "y = Gather t i\n"
		      "out y\n",
		      1, 0);
	planned_set(&p, "x", 1, six, wrong);
	assert_int_equal(sl_plan_run(p.plan, &err), SL_E_DATA);
	if (!strstr(err.text, "node 'y' (Gather)") ||
	    strstr(strstr(err.text, "node") + 1, "node"))
		fail_msg("%s", err.text);
	planned_finish(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_depend_on_contents),
		cmocka_unit_test(sequences_come_out),
		cmocka_unit_test(loops_run_in_plans),
		cmocka_unit_test(loops_may_not_run_at_all),
		cmocka_unit_test(text_of_other_sizes_is_planned_anew),
		cmocka_unit_test(sequences_go_in),
		cmocka_unit_test(declared_sizes_must_hold),
		cmocka_unit_test(failures_name_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
