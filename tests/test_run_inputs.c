/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_run_inputs.c - proves of sl_run() that inputs and sizes come from where
 * it was told: a folder, files of their own, a batch, a shape, a seed; and that
 * what is missing or does not fit is told with its name.
 */
#include "run_case.h"

static void
files_are_repeated_along_the_batch(void **state)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = 6};
	struct sl_run_options how = options(&sizes);
	struct sl_run *r;

	(void)state;
	put_case(6.75F);
	how.check_folder = folder;
	r = run(&how);
	assert_true(r->is_ok);
	assert_int_equal(r->outputs[0].dims[0], 6);
	assert_near(r->outputs[0].mean, 7.75 / 4, 1e-6);
	sl_run_free(r);
	put_case(7);
	r = run(&how);
	assert_false(r->is_ok);
	sl_run_free(r);
	/* Two rows cannot become three, nor one. */
	put_case(6.75F);
	sizes.batch = 3;
	check_refused(&how, SL_E_DATA, "batch 3: ");
	sizes.batch = 1;
	check_refused(&how, SL_E_DATA, "batch 1: ");
}

static void
a_fixed_batch_stays(void **state)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = 4};
	struct sl_run_options how = options(&sizes);
	struct graph_text *fixed = graph_text_with("in x f32 2,3\n"
						   "y = Neg x\n"
						   "out y\n",
						   NULL);
	struct sl_run *r;
	struct sl_error err;

	(void)state;
	put_case(6.75F);
	how.check_folder = folder;
	fixed->graph->name = fixed->graph->source = "";
	assert_int_equal(sl_run(&r, fixed->graph, &how, &err), SL_E_DATA);
	assert_non_null(strstr(err.text, "batch"));
	graph_text_free(fixed);
}

/* Sizes come from the file, and the others are as asked. */
static void
inputs_have_files_of_their_own(void **state)
{
	static const int64_t dims[] = {2, 3};
	struct sl__tensor t = {.dtype = SL_DTYPE_F32,
			       .rank = 2,
			       .dims = dims,
			       .bytes = (const unsigned char *)x_rows};
	char path[128];
	struct sl_input_file file = {"x", path};
	struct sl_run_options how = options(NULL);
	struct sl_run *r;
	struct sl_error err;

	(void)state;
	snprintf(path, sizeof(path), "%s/rows.npy", folder);
	assert_true(sl__tensor_compute_size(&t));
	assert_int_equal(sl__npy_write(&t, path, NULL, &err), SL_OK);
	how.inputs = &file;
	how.n_inputs = 1;
	r = run(&how);
	assert_false(r->is_checked);
	assert_true(r->is_ok);
	assert_int_equal(r->seed, 0);
	assert_int_equal(r->outputs[0].dims[0], 2);
	assert_near(r->outputs[0].max, 6.75, 1e-6);
	sl_run_free(r);
	file.input = "z";
	check_refused(&how, SL_E_DATA, "'z'");
	file.input = "x";
	snprintf(path, sizeof(path), "%s/none.npy", folder);
	check_refused(&how, SL_E_IO, "none.npy");
	snprintf(path, sizeof(path), "%s/input_0.txt", folder);
	check_refused(&how, SL_E_IO, "input_0.txt");
}

static void
folders_of_inputs_are_read(void **state)
{
	struct sl_run_options how = options(NULL);
	struct sl_run *r;

	(void)state;
	put_case(6.75F);
	how.inputs_folder = folder;
	r = run(&how);
	assert_false(r->is_checked);
	assert_int_equal(r->seed, 0);
	assert_near(r->outputs[0].max, 6.75, 1e-6);
	sl_run_free(r);
	how.inputs_folder = "/tmp/no such folder";
	check_refused(&how, SL_E_IO, "/tmp/no such folder");
}

static void
made_up_inputs_follow_the_seed(void **state)
{
	struct sl_run_options how = options(NULL);
	double means[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		static const uint64_t seeds[] = {0, 1, 7, 7};
		struct sl_run *r;

		how.seed = seeds[i];
		r = run(&how);
		assert_int_equal(r->seed, seeds[i] ? seeds[i] : 1);
		means[i] = r->outputs[0].mean;
		sl_run_free(r);
	}
	assert_true(means[0] == means[1]);
	assert_true(means[2] == means[3]);
	assert_true(means[0] != means[2]);
}

/* Without a batch nothing is repeated: four rows are not two. */
static void
other_sizes_than_the_reference_are_told(void **state)
{
	static const unsigned char one_row[] = {1, 2};
	const float y[] = {6.75F, 1};
	struct sl_run_options how = options(NULL);
	struct sl_run *r;

	(void)state;
	put_case(6.75F);
	put_pb("output_0.pb", 1, 2, one_row, y, sizeof(y));
	how.check_folder = folder;
	r = run(&how);
	assert_false(r->is_ok || r->outputs[0].is_ok);
	assert_int_equal(r->outputs[0].rule, SL_CHECK_NONE);
	assert_string_equal(r->outputs[0].why,
			    "dimension 0 is 2, in the reference 1");
	sl_run_free(r);
}

static const char two_inputs[] = "in x f32 n,2\n"
				 "in m f32 k,2\n"
				 "in s f32 1\n"
				 "y = Add x s\n"
				 "z = Neg m\n"
				 "out y\n"
				 "out z\n";

static void
put_npy(const char *name, size_t rank, const int64_t *dims, const float *x)
{
	struct sl__tensor t = {.dtype = SL_DTYPE_F32,
			       .rank = rank,
			       .dims = dims,
			       .bytes = (const unsigned char *)x};
	struct sl_error err;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_true(sl__tensor_compute_size(&t));
	assert_int_equal(sl__npy_write(&t, path, NULL, &err), SL_OK);
}

/* A folder serves the inputs that have no file of their own, and must have all
 * of those; sizes of both count, and those that are said. */
static void
sources_of_inputs_mix(void **state)
{
	static const int64_t three[] = {3, 2}, one[] = {1};
	static const float x[] = {1, 2, 3, 4, 5, 6}, s[] = {10};
	const struct sl_input_shape shape = {"m", three, 2};
	struct sl_sizes sizes = {
		.struct_size = sizeof(sizes), .shapes = &shape, .n_shapes = 1};
	struct sl_run_options how = options(&sizes);
	struct graph_text *before = g;
	char path[128];
	struct sl_input_file file = {"m", path};
	struct sl_run *r;

	(void)state;
	g = graph_text_with(two_inputs, NULL);
	g->graph->name = g->graph->source = "";
	snprintf(path, sizeof(path), "%s/input_0.pb", folder);
	(void)unlink(path);
	snprintf(path, sizeof(path), "%s/own.npy", folder);
	put_npy("x.npy", 2, three, x);
	put_npy("own.npy", 2, three, x);
	how.inputs_folder = folder;
	check_refused(&how, SL_E_IO, "'m'");
	how.inputs = &file;
	how.n_inputs = 1;
	check_refused(&how, SL_E_IO, "'s'");
	put_npy("s.npy", 1, one, s);
	r = run(&how);
	assert_int_equal(r->seed, 0);
	assert_near(r->outputs[0].max, 16, 0);
	assert_int_equal(r->outputs[1].dims[0], 3);
	assert_near(r->outputs[1].min, -6, 0);
	sl_run_free(r);
	graph_text_free(g);
	g = before;
}

/* A shape that is said beside a folder is not lost over it. */
static void
shapes_beside_a_folder_count(void **state)
{
	static const int64_t five[] = {5, 3};
	const struct sl_input_shape shape = {"x", five, 2};
	struct sl_sizes sizes = {
		.struct_size = sizeof(sizes), .shapes = &shape, .n_shapes = 1};
	struct sl_run_options how = options(&sizes);

	(void)state;
	put_case(6.75F);
	how.inputs_folder = folder;
	/* The file has two rows, not five. */
	check_refused(&how, SL_E_DATA, "'n' is 5 already");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_repeated_along_the_batch),
		cmocka_unit_test(a_fixed_batch_stays),
		cmocka_unit_test(inputs_have_files_of_their_own),
		cmocka_unit_test(folders_of_inputs_are_read),
		cmocka_unit_test(made_up_inputs_follow_the_seed),
		cmocka_unit_test(other_sizes_than_the_reference_are_told),
		cmocka_unit_test(sources_of_inputs_mix),
		cmocka_unit_test(shapes_beside_a_folder_count),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
