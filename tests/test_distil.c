/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_distil.c - a linear student of a linear teacher becomes the teacher,
 * since only that leaves no difference for all inputs; what cannot be learned
 * from is refused, a fixed batch is kept, and the same seed gives the same bits.
 */
#include "harness.h"
#include "driver/distil.h"
#include "graph/graph.h"
#include "sleuth.h"

#include <math.h>
#include <string.h>

enum { N_IN = 4, N_SAMPLES = 640 };

/* Numbers between -1 and 1 that follow from sample and place alone. */
static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	float *x = inputs[0];

	(void)ctx;
	(void)split;
	(void)err;
	/* Squares: multiples would be sines of one frequency, which lie in a
	 * plane. */
	for (size_t i = 0; i < N_IN; i++) {
		double k = (double)(N_IN * index + i + 1);

		x[i] = (float)sin(0.7 * k * k);
	}
	labels[0] = 0;
	return SL_OK;
}

static struct sl_dataset *
samples(void)
{
	static const int64_t four = N_IN;
	static const struct sl_data_input input = {"", SL_DTYPE_F32, 1, &four};
	struct sl_data_source source = SL_DATA_SOURCE_INIT;
	struct sl_dataset *data;

	source.name = "numbers";
	source.inputs = &input;
	source.n_inputs = source.n_labels = 1;
	source.n_classes = 2;
	source.n_samples[SL_SPLIT_TRAIN] = N_SAMPLES;
	source.fill = fill;
	assert_int_equal(sl_dataset_new(&data, &source, NULL, NULL), SL_OK);
	return data;
}

static struct sl_graph *
model(const char *name, uint64_t seed)
{
	const struct sl_graph_options how = {.struct_size = sizeof(how),
					     .seed = seed};
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl_graph_open(&graph, name, &how, &err))
		fail_msg("%s", err.text);
	return graph;
}

/* What a model gives for one sample that was not learned from. */
static void
answer(const struct sl_graph *graph, float out[3])
{
	static const float x[N_IN] = {0.3F, -0.8F, 0.1F, 0.6F};
	static const int64_t dims[] = {1, N_IN};
	const struct sl_plan_options how = {.struct_size = sizeof(how),
					    .n_threads = 1};
	const struct sl_array input = {.dtype = SL_DTYPE_F32,
				       .rank = 2,
				       .dims = dims,
				       .data = x,
				       .n_elements = N_IN,
				       .n_bytes = sizeof(x)};
	struct sl_plan *plan;
	struct sl_array y;
	struct sl_error err = {0};

	if (sl_plan_new(&plan, graph, &how, &err) ||
	    sl_plan_set_input(
		    plan, sl_graph_value_name(graph, sl_graph_input(graph, 0)),
		    &input, &err) ||
	    sl_plan_run(plan, &err) ||
	    sl_plan_output(
		    plan, sl_graph_value_name(graph, sl_graph_output(graph, 0)),
		    &y, &err))
		fail_msg("%s", err.text);
	assert_int_equal(y.n_elements, 3);
	memcpy(out, y.data, 3 * sizeof(*out));
	sl_plan_free(plan);
}

static void
becomes_the_teacher(void **state)
{
	struct sl_dataset *data = samples();
	struct sl_graph *teacher = model("mlp:4-3", 7);
	struct sl_graph *student = model("mlp:4-3", 8);
	const struct sl__distil_options how = {
		.data = data, .n_epochs = 200, .n_threads = 1, .seed = 1};
	struct sl__distilled done, again;
	float wanted[3], before[3], after[3], same[3];
	struct sl_error err = {0};
	double distance = 0, was = 0;

	(void)state;
	answer(teacher, wanted);
	answer(student, before);
	if (sl__distil(&done, student, teacher, &how, &err))
		fail_msg("%s", err.text);
	answer(done.graph, after);
	for (size_t i = 0; i < 3; i++) {
		distance += fabs((double)(after[i] - wanted[i]));
		was += fabs((double)(before[i] - wanted[i]));
	}
	assert_true(was > 0.1);
	assert_true(distance < 0.02 * was);
	assert_true(done.error > 0 && done.error < 0.02);

	assert_int_equal(sl__distil(&again, student, teacher, &how, &err),
			 SL_OK);
	answer(again.graph, same);
	assert_memory_equal(same, after, sizeof(same));
	sl_graph_free(again.graph);
	sl_graph_free(done.graph);
	sl_graph_free(student);
	sl_graph_free(teacher);
	sl_dataset_close(data);
}

/* A student whose batch is 8 is taught by eights, also by a teacher that takes
 * any number. */
static void
a_fixed_batch_is_kept(void **state)
{
	struct sl_dataset *data = samples();
	const struct sl__distil_options how = {
		.data = data, .n_epochs = 1, .n_threads = 1, .seed = 1};
	struct sl_graph *teacher = model("mlp:4-3", 7), *student;
	struct sl__distilled done;
	struct sl_builder *b;
	struct sl_error err = {0};
	int x;

	(void)state;
	assert_int_equal(sl_builder_new(&b, "eights", NULL, &err), SL_OK);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, (int64_t[]){8, N_IN});
	sl_builder_output(b, sl_builder_linear(b, x, 3, 1), "y");
	if (sl_builder_finish(&student, b, &err))
		fail_msg("%s", err.text);
	sl_builder_free(b);
	if (sl__distil(&done, student, teacher, &how, &err))
		fail_msg("%s", err.text);
	assert_true(done.error > 0);
	sl_graph_free(done.graph);
	sl_graph_free(student);
	sl_graph_free(teacher);
	sl_dataset_close(data);
}

static void
refused(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct sl_dataset *data = samples();
	struct sl_graph *teacher = model("mlp:4-3", 7);
	struct sl_graph *other = model("mlp:4-5", 8);
	struct sl_graph *wider = model("mlp:6-3", 8);
	struct sl__distil_options how = {
		.data = data, .n_epochs = 1, .n_threads = 1, .seed = 1};
	struct sl__distilled done;
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl__distil(&done, other, teacher, &how, &err),
			 SL_E_DATA);
	assert_null(done.graph);
	assert_int_equal(sl__distil(&done, wider, teacher, &how, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "takes 6"));
	how.interrupt = &stop;
	assert_int_equal(sl__distil(&done, teacher, teacher, &how, &err),
			 SL_E_INTERRUPTED);
	assert_null(done.graph);
	sl_graph_free(wider);
	sl_graph_free(other);
	sl_graph_free(teacher);
	sl_dataset_close(data);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(becomes_the_teacher),
		cmocka_unit_test(a_fixed_batch_is_kept),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
