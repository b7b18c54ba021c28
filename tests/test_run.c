/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_run.c - proves of sl_run() that outputs are compared, sequences
 * too, summarized and written, each to a file of its own, that what is missing
 * is told with its name, and that failing allocations leak nothing.
 */
#include "run_case.h"

static void
outputs_are_compared(void **state)
{
	struct sl_run_options how = options(NULL);
	struct sl_run *r;

	(void)state;
	put_case(6.75F);
	how.check_folder = folder;
	r = run(&how);
	assert_true(r->is_checked && r->is_ok);
	assert_int_equal(r->seed, 0);
	assert_int_equal(r->n_threads, 1);
	assert_int_equal(r->dtype, SL_DTYPE_F32);
	assert_string_equal(r->name, "perceptron");
	assert_int_equal(r->n_outputs, 2);
	assert_string_equal(r->outputs[0].name, "y");
	assert_int_equal(r->outputs[0].rule, SL_CHECK_LARGEST);
	assert_int_equal(r->outputs[0].dims[0], 2);
	assert_near(r->outputs[0].min, 0, 0);
	assert_near(r->outputs[0].max, 6.75, 1e-6);
	assert_near(r->outputs[0].mean, 7.75 / 4, 1e-6);
	assert_int_equal(r->outputs[1].rule, SL_CHECK_EXACT);
	assert_true(r->n_steps > 0 && r->plan_ns > 0 && r->run_ns > 0);
	assert_true(r->memory.planned_bytes >= r->memory.live_bytes);
	sl_run_free(r);
	/* 0.25 of 7: no failure, but not the same. */
	put_case(7);
	r = run(&how);
	assert_false(r->is_ok || r->outputs[0].is_ok);
	assert_true(r->outputs[1].is_ok);
	assert_near(r->outputs[0].error, 0.25 / 7, 1e-6);
	assert_int_equal(r->outputs[0].worst, 0);
	sl_run_free(r);
	how.tolerance = 0.04;
	r = run(&how);
	assert_true(r->is_ok);
	assert_near(r->tolerance, 0.04, 0);
	sl_run_free(r);
}

/* A SequenceProto of two tensors of one element each. */
static void
put_sequence(const char *name, float first, float second)
{
	const float items[] = {first, second};
	unsigned char bytes[64] = {0x10, 1}; /* elem_type: tensor */
	size_t n = 2;
	char path[128];
	FILE *file;

	for (int i = 0; i < 2; i++) {
		static const unsigned char head[] = {0x1a, 10, 0x08, 1,
						     0x10, 1,  0x4a, 4};

		memcpy(bytes + n, head, sizeof(head));
		memcpy(bytes + n + sizeof(head), &items[i], 4);
		n += sizeof(head) + 4;
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void
sequences_are_compared(void **state)
{
	static const unsigned char two[] = {2};
	static const float x[] = {3, -5};
	static const struct sl__type element = {
		.kind = SL__TYPE_TENSOR, .dtype = SL_DTYPE_F32, .rank = -1};
	struct sl_run_options how = options(NULL);
	struct graph_text *before = g;
	struct sl__type *declared;
	struct sl_run *r;

	(void)state;
	g = graph_text_with("opset 13\n"
			    "in x f32 2\n"
			    "y = SplitToSequence x axis=0\n"
			    "out y\n",
			    NULL);
	g->graph->name = g->graph->source = "";
	declared = &g->graph->values[graph_text_value(g, "y")].declared;
	*declared = (struct sl__type){.kind = SL__TYPE_SEQUENCE,
				      .element = &element};
	put_pb("input_0.pb", 1, 1, two, x, sizeof(x));
	put_sequence("output_0.pb", 3, -5);
	how.check_folder = folder;
	r = run(&how);
	assert_true(r->is_ok && r->outputs[0].is_ok);
	assert_int_equal(r->outputs[0].rule, SL_CHECK_LARGEST);
	assert_int_equal(r->outputs[0].n_elements, 2);
	sl_run_free(r);
	put_sequence("output_0.pb", 3, -4);
	r = run(&how);
	assert_false(r->is_ok || r->outputs[0].is_ok);
	assert_near(r->outputs[0].error, 0.25, 1e-9);
	assert_near(r->outputs[0].largest_error, 1, 0);
	sl_run_free(r);
	graph_text_free(g);
	g = before;
}

static void
infinities_have_no_mean(void **state)
{
	static const unsigned char two[] = {2};
	static const float x[] = {INFINITY, -INFINITY};
	struct sl_run_options how = options(NULL);
	struct graph_text *before = g;
	struct sl_run *r;

	(void)state;
	g = graph_text_with("in x f32 2\n"
			    "y = Neg x\n"
			    "out y\n",
			    NULL);
	g->graph->name = g->graph->source = "";
	put_pb("input_0.pb", 1, 1, two, x, sizeof(x));
	how.inputs_folder = folder;
	r = run(&how);
	assert_int_equal(r->outputs[0].n_nan, 0);
	assert_true(isinf(r->outputs[0].min) && isinf(r->outputs[0].max));
	assert_true(isnan(r->outputs[0].mean));
	sl_run_free(r);
	graph_text_free(g);
	g = before;
}

static void
missing_references_are_told(void **state)
{
	struct sl_run_options how = options(NULL);
	char path[128];

	(void)state;
	put_case(6.75F);
	snprintf(path, sizeof(path), "%s/output_1.pb", folder);
	assert_int_equal(unlink(path), 0);
	how.check_folder = folder;
	check_refused(&how, SL_E_IO, "output_1.pb");
	snprintf(path, sizeof(path), "%s/input_0.pb", folder);
	assert_int_equal(unlink(path), 0);
	check_refused(&how, SL_E_IO, "input_0.pb");
}

static void
outputs_are_written(void **state)
{
	struct sl_run_options how = options(NULL);
	struct sl__file_mapping file = {0};
	struct sl__arena arena;
	struct sl__tensor t;
	char path[128];
	double x;

	(void)state;
	put_case(6.75F);
	how.inputs_folder = folder;
	how.output_folder = folder;
	sl_run_free(run(&how));
	snprintf(path, sizeof(path), "%s/y.npy", folder);
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__file_mapping_open(&file, path, NULL), SL_OK);
	assert_int_equal(
		sl__npy_read(&t, &arena, file.bytes, file.n_bytes, NULL),
		SL_OK);
	assert_int_equal(t.n_elements, 4);
	assert_true(sl__tensor_doubles(&t, 0, 1, &x));
	assert_near(x, 6.75, 1e-6);
	sl__file_mapping_close(&file);
	sl__arena_release(&arena);
	snprintf(path, sizeof(path), "%s/a.npy", folder);
	assert_int_equal(access(path, R_OK), 0);
	how.output_folder = "/tmp/no such folder";
	check_refused(&how, SL_E_IO, "/tmp/no such folder");
}

static void
two_outputs_need_two_files(void **state)
{
	char long_name[600], text[1024];
	struct sl_run_options how = options(NULL);
	struct graph_text *before = g;
	struct sl_run *r;

	(void)state;
	how.output_folder = folder;
	g = graph_text_with("in x f32 2\n"
			    "a/b = Neg x\n"
			    "a_b = Abs x\n"
			    "out a/b\n"
			    "out a_b\n",
			    NULL);
	g->graph->name = g->graph->source = "";
	check_refused(&how, SL_E_DATA, "'a/b' and 'a_b'");
	graph_text_free(g);
	/* One value that is an output twice is written as one file. */
	g = graph_text_with("in x f32 2\n"
			    "y = Neg x\n"
			    "out y\n"
			    "out y\n",
			    NULL);
	g->graph->name = g->graph->source = "";
	r = run(&how);
	sl_run_free(r);
	graph_text_free(g);
	/* A name that no file can have is told, not cut. */
	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	snprintf(text, sizeof(text), "in x f32 2\n%s = Neg x\nout %s\n", "y",
		 "y");
	g = graph_text_with(text, NULL);
	g->graph->name = g->graph->source = "";
	g->graph->values[graph_text_value(g, "y")].name = long_name;
	check_refused(&how, SL_E_IO, "nnn");
	graph_text_free(g);
	g = before;
}

static void
defaults_are_enough(void **state)
{
	struct sl_run_options how = {.struct_size = sizeof(how)};
	struct sl_plan_options wrong = {.struct_size = 1};
	struct sl_error err;
	struct sl_run *r;

	(void)state;
	if (sl_run(&r, g->graph, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r->seed, 1);
	sl_run_free(r);
	how.plan = &wrong;
	check_refused(&how, SL_E_USAGE, "sl_plan_options");
	how.struct_size = 1;
	check_refused(&how, SL_E_USAGE, "sl_run_options");
}

static void
failing_memory_leaks_nothing(void **state)
{
	struct sl_run_options how = options(NULL);

	(void)state;
	put_case(6.75F);
	how.check_folder = folder;
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_run *r;
		struct sl_error err = {0};
		enum sl_status rc;

		plan.allocator = &allocator;
		rc = sl_run(&r, g->graph, &how, &err);
		sl_run_free(r);
		assert_int_equal(c.n_out, 0);
		if (c.n_requests < fail_at) {
			assert_int_equal(rc, SL_OK);
			break;
		}
		assert_true(rc == SL_E_NOMEM || rc == SL_OK);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_are_compared),
		cmocka_unit_test(sequences_are_compared),
		cmocka_unit_test(infinities_have_no_mean),
		cmocka_unit_test(missing_references_are_told),
		cmocka_unit_test(outputs_are_written),
		cmocka_unit_test(two_outputs_need_two_files),
		cmocka_unit_test(defaults_are_enough),
		cmocka_unit_test(failing_memory_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
