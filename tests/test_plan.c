/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plan.c - proves what plans promise: answers, the same bits every time,
 * other sizes on the way, no allocation after the first run, several at
 * once, and what they say to wrong use.
 */
#include "counting.h"
#include "graph_text.h"
#include "engine/plan.h"
#include "plan_input.h"

#include <pthread.h>

/* y = relu(x w + b), z = softmax(y) */
static const char perceptron[] = "opset 13\n"
				 "in x f32 n,3\n"
				 "const w f32 3,2 = 1,-1,2,0,0.5,1\n"
				 "const b f32 2 = 0.25,-1\n"
				 "h = MatMul x w\n"
				 "s = Add h b\n"
				 "y = Relu s\n"
				 "z = Softmax y\n"
				 "out y\n"
				 "out z\n";

static struct sl_plan *
plan_of(const struct graph_text *g, int64_t batch, int n_threads,
	const struct sl_allocator *allocator)
{
	struct sl_sizes sizes = {.struct_size = sizeof(sizes), .batch = batch};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .sizes = &sizes,
				      .n_threads = n_threads,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .allocator = allocator};
	struct sl_plan *plan;
	struct sl_error err;

	if (sl_plan_new(&plan, g->graph, &how, &err))
		fail_msg("%s", err.text);
	return plan;
}

static struct sl_array
floats(const float *data, const int64_t *dims, size_t rank)
{
	struct sl_array a = {.dtype = SL_DTYPE_F32,
			     .rank = rank,
			     .dims = dims,
			     .data = data};

	return a;
}

static const float *
output(struct sl_plan *plan, const char *name, uint64_t n_elements)
{
	struct sl_array a;
	struct sl_error err;

	if (sl_plan_output(plan, name, &a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(a.dtype, SL_DTYPE_F32);
	assert_int_equal(a.n_elements, n_elements);
	return a.data;
}

static void
set_x(struct sl_plan *plan, const float *x, int64_t batch)
{
	const int64_t dims[] = {batch, 3};
	struct sl_array a = floats(x, dims, 2);
	struct sl_error err;

	if (sl_plan_set_input(plan, "x", &a, &err))
		fail_msg("%s", err.text);
}

static void
run(struct sl_plan *plan)
{
	struct sl_error err;

	if (sl_plan_run(plan, &err))
		fail_msg("%s", err.text);
}

/* By hand: x w = (1 + 4 + 1.5, -1 + 0 + 3). */
static void
gives_the_answer(void **state)
{
	struct graph_text *g = graph_text_with(perceptron, NULL);
	struct sl_plan *plan = plan_of(g, 1, 1, NULL);
	const float x[] = {1, 2, 3};
	const float *y, *z;

	(void)state;
	set_x(plan, x, 1);
	run(plan);
	y = output(plan, "y", 2);
	assert_near((double)y[0], 6.75, 1e-6);
	assert_near((double)y[1], 1, 1e-6);
	z = output(plan, "z", 2);
	assert_near((double)z[0], 1 / (1 + exp(-5.75)), 1e-6);
	assert_near((double)(z[0] + z[1]), 1, 1e-6);
	sl_plan_free(plan);
	graph_text_free(g);
}

/* A batch that comes later is planned later, and known when it comes again;
 * inputs keep their contents over it. */
static void
takes_other_sizes(void **state)
{
	struct graph_text *g = graph_text_with(perceptron, NULL);
	struct sl_plan *plan = plan_of(g, 1, 1, NULL);
	const float x[] = {1, 2, 3, -1, -2, -3};
	const float *y;

	(void)state;
	for (int round = 0; round < 3; round++) {
		set_x(plan, x, 2);
		run(plan);
		y = output(plan, "y", 4);
		assert_near((double)y[0], 6.75, 1e-6);
		assert_near((double)y[2], 0, 0);
		set_x(plan, x, 1);
		run(plan);
		y = output(plan, "y", 2);
		assert_near((double)y[0], 6.75, 1e-6);
		assert_int_equal(plan->n_programs, 2);
	}
	sl_plan_free(plan);
	graph_text_free(g);
}

static const char layers[] = "opset 13\n"
			     "in x f32 1,64\n"
			     "in w f32 64,64\n"
			     "a = MatMul x w\n"
			     "b = Tanh a\n"
			     "c = MatMul b w\n"
			     "d = Add c x\n"
			     "y = Softmax d\n"
			     "out y\n";

static void
copy_answer(float *to, int n_threads)
{
	struct graph_text *g = graph_text_with(layers, NULL);
	struct sl_plan *plan = plan_of(g, 0, n_threads, NULL);
	struct sl_error err;

	assert_int_equal(sl_plan_fill_inputs(plan, 3, &err), SL_OK);
	run(plan);
	run(plan);
	memcpy(to, output(plan, "y", 64), 64 * sizeof(*to));
	sl_plan_free(plan);
	graph_text_free(g);
}

static void
gives_the_same_bits(void **state)
{
	float one[64], again[64], two[64];

	(void)state;
	copy_answer(one, 1);
	copy_answer(again, 1);
	assert_memory_equal(one, again, sizeof(one));
	copy_answer(two, 2);
	/* Sums of 64 products in another order: 64 half units at most. */
	for (int i = 0; i < 64; i++)
		assert_near((double)one[i], (double)two[i], 64 * 6e-8);
}

static void
runs_without_allocating(void **state)
{
	struct counting c = {0};
	struct sl_allocator allocator = counting_allocator(&c);
	struct graph_text *g = graph_text_with(layers, NULL);
	struct sl_plan *plan = plan_of(g, 0, 2, &allocator);
	struct sl_error err;
	int before;

	(void)state;
	assert_int_equal(sl_plan_fill_inputs(plan, 3, &err), SL_OK);
	run(plan);
	before = c.n_requests;
	for (int i = 0; i < 10; i++)
		run(plan);
	assert_int_equal(c.n_requests, before);
	sl_plan_free(plan);
	assert_int_equal(c.n_out, 0);
	graph_text_free(g);
}

static void *
run_often(void *ctx)
{
	struct sl_plan *plan = ctx;
	struct sl_error err;

	for (int i = 0; i < 50; i++) {
		if (sl_plan_run(plan, &err))
			return plan;
	}
	return NULL;
}

/* Plans of one graph at the same time give what each gives alone. */
static void
runs_beside_others(void **state)
{
	struct graph_text *g = graph_text_with(layers, NULL);
	struct sl_plan *plans[3];
	pthread_t threads[3];
	struct sl_error err;
	float alone[64];
	void *failed;

	(void)state;
	copy_answer(alone, 1);
	for (int i = 0; i < 3; i++) {
		plans[i] = plan_of(g, 0, 1, NULL);
		assert_int_equal(sl_plan_fill_inputs(plans[i], 3, &err), SL_OK);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, run_often, plans[i]),
			0);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
		assert_memory_equal(output(plans[i], "y", 64), alone,
				    sizeof(alone));
		sl_plan_free(plans[i]);
	}
	graph_text_free(g);
}

static void
check_refused(struct sl_plan *plan, const char *name,
	      const struct sl_array *value, enum sl_status expected,
	      const char *text)
{
	struct sl_error err = {0};

	assert_int_equal(sl_plan_set_input(plan, name, value, &err), expected);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

static void
refuses_what_does_not_fit(void **state)
{
	struct graph_text *g = graph_text_with(perceptron, NULL);
	struct sl_plan *plan = plan_of(g, 1, 1, NULL);
	const int64_t dims[] = {1, 3}, wide[] = {1, 4}, flat[] = {3};
	const float x[4] = {1, 2, 3, 4};
	struct sl_array good = floats(x, dims, 2), bad;
	struct sl_error err = {0};
	struct sl_array out;

	(void)state;
	assert_int_equal(sl_plan_run(plan, &err), SL_E_USAGE);
	assert_string_equal(err.text, "input 'x' was not set");
	check_refused(plan, "z", &good, SL_E_DATA, "no input 'z'");
	bad = floats(x, wide, 2);
	check_refused(plan, "x", &bad, SL_E_DATA,
		      "dimension 1 of input 'x' is 3, not 4");
	bad = floats(x, flat, 1);
	check_refused(plan, "x", &bad, SL_E_DATA, "2 dimensions, not 1");
	bad = good;
	bad.dtype = SL_DTYPE_I32;
	check_refused(plan, "x", &bad, SL_E_DATA, "takes f32, not int32");
	bad = good;
	bad.data = NULL;
	check_refused(plan, "x", &bad, SL_E_USAGE, "no data");
	assert_int_equal(sl_plan_output(plan, "x", &out, &err), SL_E_USAGE);
	assert_null(input_data(plan, "y"));
	sl_plan_free(plan);
	graph_text_free(g);
}

static void
refuses_nan_where_told(void **state)
{
	struct graph_text *g = graph_text_with(perceptron, NULL);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .nan_policy = SL_NAN_REFUSED};
	const int64_t dims[] = {1, 3};
	const float x[3] = {1, NAN, 3};
	struct sl_array a = floats(x, dims, 2);
	struct sl_plan *plan;

	(void)state;
	assert_int_equal(sl_plan_new(&plan, g->graph, &how, NULL), SL_OK);
	check_refused(plan, "x", &a, SL_E_DATA,
		      "element 1 of input 'x' is not a number");
	sl_plan_free(plan);
	graph_text_free(g);
}

static void
names_the_node_it_cannot_run(void **state)
{
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in x f32 2\n"
					       "h = Relu x\n"
					       "y = FluxCapacitor h\n"
					       "out y\n",
					       NULL);
	struct sl_plan *plan;
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl_plan_new(&plan, g->graph, NULL, &err), SL_E_ABSENT);
	assert_null(plan);
	if (!strstr(err.text, "node '") || !strstr(err.text, "FluxCapacitor"))
		fail_msg("%s", err.text);
	graph_text_free(g);
}

/* Every request for memory fails once: nothing leaks, nothing crashes, and
 * the failure is told as what it is. */
static void
survives_failing_memory(void **state)
{
	struct graph_text *g = graph_text_with(layers, NULL);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED};

	(void)state;
	for (int fail_at = 1;; fail_at++) {
		struct counting c = {.fail_at = fail_at};
		struct sl_allocator allocator = counting_allocator(&c);
		struct sl_plan *plan;
		struct sl_error err = {0};
		enum sl_status rc;

		how.allocator = &allocator;
		rc = sl_plan_new(&plan, g->graph, &how, &err);
		if (!rc)
			rc = sl_plan_fill_inputs(plan, 1, &err);
		if (!rc)
			rc = sl_plan_run(plan, &err);
		sl_plan_free(plan);
		assert_int_equal(c.n_out, 0);
		if (c.n_requests < fail_at) {
			assert_int_equal(rc, SL_OK);
			break;
		}
		assert_true(rc == SL_E_NOMEM || rc == SL_OK);
	}
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_answer),
		cmocka_unit_test(takes_other_sizes),
		cmocka_unit_test(gives_the_same_bits),
		cmocka_unit_test(runs_without_allocating),
		cmocka_unit_test(runs_beside_others),
		cmocka_unit_test(refuses_what_does_not_fit),
		cmocka_unit_test(refuses_nan_where_told),
		cmocka_unit_test(names_the_node_it_cannot_run),
		cmocka_unit_test(survives_failing_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
