/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plan_inputs.c - proves that synthetic inputs make sense for their type,
 * depend on the seed alone, follow the sizes of inputs that are set, and that
 * files are read or refused with their name.
 */
#include "base/arena.h"
#include "model/npy.h"
#include "planned_graph.h"

#include <unistd.h>

static const char lookup[] = "opset 13\n"
			     "in ids i64 n,2\n"
			     "in mask i64 n,2\n"
			     "in flag bool n\n"
			     "in x f32 n,2,3\n"
			     "const table f32 5,3 = 0,1,2,3,4,5,6,7,8,9,10,11,"
			     "12,13,14\n"
			     "const to i64 3 = 0,0,2\n"
			     "r = Gather table ids\n"
			     "h = Add r x\n"
			     "y = Neg h\n"
			     "out y\n"
			     "m = Neg mask\n"
			     "out m\n"
			     "f = Not flag\n"
			     "out f\n";

static struct sl_plan *
plan_of(const struct graph_text *g)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED};
	struct sl_plan *plan;
	struct sl_error err;

	if (sl_plan_new(&plan, g->graph, &how, &err))
		fail_msg("%s", err.text);
	return plan;
}

static void
set_floats(struct sl_plan *plan, int64_t n)
{
	static const float numbers[60] = {1, 2, 3};
	const int64_t dims[] = {n, 2, 3};
	struct sl_array a = {.dtype = SL_DTYPE_F32,
			     .rank = 3,
			     .dims = dims,
			     .data = numbers};
	struct sl_error err;

	if (sl_plan_set_input(plan, "x", &a, &err))
		fail_msg("%s", err.text);
}

static void
fill_and_run(struct sl_plan *plan, uint64_t seed)
{
	struct sl_error err;

	if (sl_plan_fill_inputs(plan, seed, &err) || sl_plan_run(plan, &err))
		fail_msg("%s", err.text);
}

static void
numbers_make_sense(void **state)
{
	struct graph_text *g = graph_text_with(lookup, NULL);
	struct sl_plan *plan = plan_of(g);
	const int64_t *ids, *mask;
	const unsigned char *flag;
	const float *x;
	double sum = 0;

	(void)state;
	fill_and_run(plan, 3);
	ids = input_data(plan, "ids");
	mask = input_data(plan, "mask");
	flag = input_data(plan, "flag");
	x = input_data(plan, "x");
	for (int i = 0; i < 2; i++) {
		assert_true(ids[i] >= 0 && ids[i] < 5);
		assert_int_equal(mask[i], 1);
	}
	assert_int_equal(flag[0], 1);
	for (int i = 0; i < 6; i++) {
		assert_true(isfinite(x[i]));
		sum += fabs((double)x[i]);
	}
	assert_true(sum > 0);
	sl_plan_free(plan);
	graph_text_free(g);
}

static void
numbers_depend_on_the_seed_alone(void **state)
{
	struct graph_text *g = graph_text_with(lookup, NULL);
	struct sl_plan *one = plan_of(g), *two = plan_of(g),
		       *other = plan_of(g);

	(void)state;
	fill_and_run(one, 7);
	fill_and_run(two, 7);
	fill_and_run(other, 8);
	assert_memory_equal(input_data(one, "x"), input_data(two, "x"), 24);
	assert_memory_not_equal(input_data(one, "x"), input_data(other, "x"),
				24);
	sl_plan_free(one);
	sl_plan_free(two);
	sl_plan_free(other);
	graph_text_free(g);
}

/* What is set stays, and the others have its batch, before and after. */
static void
sizes_follow_what_is_set(void **state)
{
	struct graph_text *g = graph_text_with(lookup, NULL);
	struct sl_plan *plan = plan_of(g);
	struct sl_array y;
	struct sl_error err;

	(void)state;
	set_floats(plan, 4);
	fill_and_run(plan, 3);
	assert_int_equal(sl_plan_output(plan, "y", &y, &err), SL_OK);
	assert_int_equal(y.dims[0], 4);
	assert_near((double)((const float *)input_data(plan, "x"))[2], 3, 0);
	sl_plan_free(plan);
	graph_text_free(g);
}

/* Sizes that come again take no more memory, however often. */
static void
known_sizes_take_no_more_memory(void **state)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct graph_text *g = graph_text_with("in x f32 n,2,3\n"
					       "y = Neg x\n"
					       "out y\n",
					       NULL);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .allocator = &allocator};
	struct sl_plan *plan;
	struct sl_error err;
	int n_out = 0;

	(void)state;
	assert_int_equal(sl_plan_new(&plan, g->graph, &how, &err), SL_OK);
	for (int i = 0; i < 4000; i++) {
		set_floats(plan, 1 + i % 2);
		assert_int_equal(sl_plan_run(plan, &err), SL_OK);
		if (i == 3)
			n_out = c.n_out;
	}
	assert_int_equal(c.n_out, n_out);
	sl_plan_free(plan);
	assert_int_equal(c.n_out, 0);
	graph_text_free(g);
}

/* Sizes that do not go together are told when the model is to run, and
 * setting them right mends it. */
static void
sizes_that_disagree_are_refused(void **state)
{
	struct graph_text *g = graph_text_with(lookup, NULL);
	struct sl_plan *plan = plan_of(g);
	struct sl_error err;

	(void)state;
	fill_and_run(plan, 3);
	set_floats(plan, 4);
	assert_int_equal(sl_plan_run(plan, &err), SL_E_DATA);
	assert_int_equal(sl_plan_run(plan, &err), SL_E_DATA);
	set_floats(plan, 1);
	if (sl_plan_run(plan, &err))
		fail_msg("%s", err.text);
	sl_plan_free(plan);
	graph_text_free(g);
}

static void
files_are_read_or_refused(void **state)
{
	static const float numbers[] = {5, 6, 7, 8, 9, 10};
	static const int64_t dims[] = {1, 2, 3};
	struct sl__tensor t = {.dtype = SL_DTYPE_F32,
			       .rank = 3,
			       .dims = dims,
			       .bytes = (const unsigned char *)numbers};
	struct graph_text *g = graph_text_with(lookup, NULL);
	struct sl_plan *plan = plan_of(g);
	char folder[] = "/tmp/sleuth-plan-XXXXXX", path[64];
	struct sl_error err;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.npy", folder);
	assert_true(sl__tensor_compute_size(&t));
	assert_int_equal(sl__npy_write(&t, path, NULL, &err), SL_OK);
	if (sl_plan_load_input(plan, "x", path, &err))
		fail_msg("%s", err.text);
	assert_memory_equal(input_data(plan, "x"), numbers, sizeof(numbers));
	assert_int_equal(sl_plan_load_input(plan, "ids", path, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(sl_plan_load_input(plan, "z", path, &err), SL_E_DATA);
	assert_int_equal(sl_plan_load_input(plan, "x", folder, &err), SL_E_IO);
	assert_int_equal(sl_plan_load_input(plan, "x", "/no/such.npy", &err),
			 SL_E_IO);
	assert_int_equal(sl_plan_load_input(plan, "x", "/etc/hostname", &err),
			 SL_E_USAGE);
	assert_non_null(strstr(err.text, ".npy"));
	/* Of a folder all inputs are asked for. */
	assert_int_equal(sl_plan_load_inputs(plan, folder, &err), SL_E_IO);
	assert_non_null(strstr(err.text, "ids.npy"));
	unlink(path);
	rmdir(folder);
	sl_plan_free(plan);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_make_sense),
		cmocka_unit_test(numbers_depend_on_the_seed_alone),
		cmocka_unit_test(sizes_follow_what_is_set),
		cmocka_unit_test(known_sizes_take_no_more_memory),
		cmocka_unit_test(sizes_that_disagree_are_refused),
		cmocka_unit_test(files_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
