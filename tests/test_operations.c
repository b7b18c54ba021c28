/* SPDX-License-Identifier: Apache-2.0 */
/* test_operations.c - steps as operations, with times that are made up. */
#include "harness.h"
#include "analysis/operations.h"

enum { N_STEPS = 5, N = 4 };

/* A perceptron of five layers, and iterations over it. */
struct made {
	struct sl_graph *graph;
	struct sl_plan *plan;
	struct sl_inspection *model;
	struct sl__timed_iterations iterations;
	double sums[N_STEPS], min[N_STEPS], max[N_STEPS];
	uint64_t n_calls[N_STEPS];
	float rows[N * N_STEPS];
	struct sl__arena arena;
	struct sl_profile profile;
};

static void
open_made(struct made *m)
{
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE};
	struct sl_error err;

	memset(m, 0, sizeof(*m));
	sl__arena_init(&m->arena, NULL);
	if (sl_graph_open(&m->graph, "mlp:8-8-8-8-8-2", NULL, &err) ||
	    sl_plan_new(&m->plan, m->graph, &how, &err) ||
	    sl_inspect(&m->model, m->graph, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sl_plan_n_steps(m->plan), N_STEPS);
	m->iterations.n_steps = N_STEPS;
	m->iterations.n_recorded = N;
	m->iterations.step_ns = m->sums;
	m->iterations.step_min_ns = m->min;
	m->iterations.step_max_ns = m->max;
	m->iterations.n_calls = m->n_calls;
	m->iterations.rows = m->rows;
	m->iterations.n_rows = N;
}

static void
close_made(struct made *m)
{
	sl__arena_release(&m->arena);
	sl_inspection_free(m->model);
	sl_plan_free(m->plan);
	sl_graph_free(m->graph);
}

/* Every iteration takes ns[s] for step s, less or more by a tenth in turn. */
static void
list(struct made *m, const double *ns)
{
	struct sl__operation_sources from = {m->graph, m->plan, m->model,
					     &m->iterations};
	struct sl_error err;

	for (size_t s = 0; s < N_STEPS; s++) {
		m->sums[s] = ns[s] * N;
		m->n_calls[s] = N;
		m->min[s] = 0.9 * ns[s];
		m->max[s] = 1.1 * ns[s];
		for (size_t r = 0; r < N; r++)
			m->rows[r * N_STEPS + s] =
				(float)((r % 2 ? 0.9 : 1.1) * ns[s]);
	}
	memset(&m->profile, 0, sizeof(m->profile));
	if (sl__operations_of(&m->profile, &from, &m->arena, &err))
		fail_msg("%s", err.text);
}

static void
times(void **state)
{
	static const double ns[] = {100, 400, 250, 50, 200};
	static const size_t order[] = {1, 2, 4, 0, 3};
	struct made m;
	double shares = 0;

	(void)state;
	open_made(&m);
	list(&m, ns);
	assert_int_equal(m.profile.n_operations, N_STEPS);
	for (size_t s = 0; s < N_STEPS; s++) {
		const struct sl_operation *op = &m.profile.operations[s];

		assert_int_equal(op->step, s);
		assert_near(op->self_ns, ns[s], 0);
		assert_near(op->share, ns[s] / 1000, 1e-15);
		assert_near(op->n_calls, 1, 0);
		assert_close(op->median_ns.value, ns[s], 1e-7);
		assert_int_equal(op->median_ns.n, N);
		assert_near(op->min_ns, 0.9 * ns[s], 0);
		assert_near(op->max_ns, 1.1 * ns[s], 0);
		assert_close(op->flops_per_s,
			     (double)op->core_flops / op->median_ns.value * 1e9,
			     1e-12);
		assert_close(op->bytes_per_s,
			     (double)op->n_bytes / op->median_ns.value * 1e9,
			     1e-12);
		assert_close(op->intensity,
			     (double)op->executed_flops / (double)op->n_bytes,
			     1e-12);
		shares += op->share;
		assert_int_equal(m.profile.by_time[s], order[s]);
	}
	assert_near(shares, 1, 1e-12);
	/* 400 + 250 are 65 %; with 200 more they are 85 %. */
	assert_int_equal(m.profile.n_for_80, 3);
	close_made(&m);
}

/* How many of the longest make 80 %. */
static void
eighty_percent(void **state)
{
	static const struct {
		double ns[N_STEPS];
		size_t n;
	} cases[] = {
		{{80, 5, 5, 5, 5}, 1},
		{{79, 6, 5, 5, 5}, 2},
		{{5, 30, 5, 50, 10}, 2},
		{{20, 20, 20, 20, 20}, 4},
		{{100, 0, 0, 0, 0}, 1},
		{{21, 20, 20, 20, 19}, 4},
		{{0.1, 0.2, 0.3, 0.2, 0.2}, 4}, /* 0.9: 0.7 is too little */
		{{1e-3, 1e9, 1e-3, 1e-3, 1e-3}, 1},
	};
	struct made m;

	(void)state;
	open_made(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double share = 0;

		list(&m, cases[i].ns);
		assert_int_equal(m.profile.n_for_80, cases[i].n);
		for (size_t s = 0; s < N_STEPS; s++)
			share += m.profile.operations[s].share;
		assert_near(share, 1, 1e-12);
	}
	close_made(&m);
}

/* Names, parameters and shapes are the model's; one layer has 8 x 8 weights
 * and 8 biases. */
static void
descriptions(void **state)
{
	static const double ns[] = {1, 1, 1, 1, 1};
	struct made m;
	struct sl_step step;

	(void)state;
	open_made(&m);
	list(&m, ns);
	for (size_t s = 0; s < N_STEPS; s++) {
		const struct sl_operation *op = &m.profile.operations[s];

		assert_true(sl_plan_step(m.plan, s, &step));
		assert_string_equal(op->name, step.name);
		assert_string_equal(op->type, step.type);
		assert_string_equal(op->kernel, step.kernel);
		assert_int_equal(op->n_covers, step.n_covers);
		assert_int_equal(op->nominal_flops, step.nominal_flops);
		/* Products alone; biases are on top. */
		assert_int_equal(op->core_flops, 2 * 8 * (s < 4 ? 8 : 2));
		assert_true(op->nominal_flops > op->core_flops);
		assert_null(op->uncounted);
		assert_int_equal(op->parameters, s < 4 ? 72 : 18);
		assert_string_equal(op->output_shape, s < 4 ? "1x8" : "1x2");
		/* Equal times keep the order in which they run. */
		assert_int_equal(m.profile.by_time[s], s);
	}
	close_made(&m);
}

/* A step in a branch that is not taken has no times. */
static void
steps_that_do_not_run(void **state)
{
	static const double ns[] = {100, 300, 0, 0, 0};
	struct made m;

	(void)state;
	open_made(&m);
	list(&m, ns);
	m.n_calls[1] = N / 2;
	m.n_calls[4] = 0;
	for (size_t r = 0; r < N; r++) {
		m.rows[r * N_STEPS + 4] = NAN;
		if (r % 2)
			m.rows[r * N_STEPS + 1] = NAN;
	}
	memset(&m.profile, 0, sizeof(m.profile));
	assert_int_equal(sl__operations_of(&m.profile,
					   &(struct sl__operation_sources){
						   m.graph, m.plan, m.model,
						   &m.iterations},
					   &m.arena, NULL),
			 SL_OK);
	assert_near(m.profile.operations[1].n_calls, 0.5, 0);
	/* Calls that were left out took 270 ns, the others 330: a rate is that
	 * of the median of calls that were made, whatever their mean. */
	assert_close(m.profile.operations[1].bytes_per_s,
		     (double)m.profile.operations[1].n_bytes / 330 * 1e9, 1e-7);
	assert_true(isnan(m.profile.operations[4].flops_per_s));
	assert_int_equal(m.profile.operations[1].median_ns.n, N / 2);
	assert_near(m.profile.operations[4].n_calls, 0, 0);
	assert_true(isnan(m.profile.operations[4].min_ns));
	assert_true(isnan(m.profile.operations[4].max_ns));
	assert_int_equal(m.profile.operations[4].median_ns.n, 0);
	close_made(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(eighty_percent),
		cmocka_unit_test(descriptions),
		cmocka_unit_test(steps_that_do_not_run),
	};

	return cmocka_run_group_tests_name("operations", tests, NULL, NULL);
}
