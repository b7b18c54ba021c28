/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep.c - sweeps of small models: structure, limits, failures. */
#include "harness.h"
#include "json_check.h"

#include "sleuth.h"

enum { N_VALUES = 4 };

static const int64_t values[N_VALUES] = {1, 2, 4, 8};

static struct sl_sweep_options
short_sweep(enum sl_axis axis)
{
	return (struct sl_sweep_options){
		.struct_size = sizeof(struct sl_sweep_options),
		.axis = axis,
		.values = values,
		.n_values = N_VALUES,
		.n_visits = 3,
		.n_runs = 2,
		.flags = SL_PROFILE_NO_CEILINGS,
	};
}

static struct sl_graph *
open_model(const char *name)
{
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl_graph_open(&graph, name, NULL, &err))
		fail_msg("%s", err.text);
	return graph;
}

static struct sl_sweep *
sweep_of(const struct sl_sweep_model *models, size_t n,
	 const struct sl_sweep_options *how)
{
	struct sl_sweep *sweep;
	struct sl_error err = {0};

	if (sl_sweep(&sweep, models, n, how, &err))
		fail_msg("%s", err.text);
	return sweep;
}

static void
assert_json_valid(const struct sl_sweep *sweep)
{
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_JSON};
	struct sl_buf out = {0};

	assert_int_equal(sl_sweep_render(sweep, &how, &out, NULL), SL_OK);
	assert_true(json_valid(out.data));
	sl_buf_release(&out);
	for (int f = SL_FORMAT_TEXT; f <= SL_FORMAT_MARKDOWN; f++) {
		how.format = (enum sl_format)f;
		assert_int_equal(sl_sweep_render(sweep, &how, &out, NULL),
				 SL_OK);
		assert_true(out.n_bytes > 0);
		sl_buf_release(&out);
	}
}

static void
assert_point(const struct sl_sweep_point *p, int64_t value)
{
	double rate = (double)value / p->latency_ns.value * 1e9;

	assert_int_equal(p->value, value);
	assert_null(p->absent);
	assert_int_equal(p->n_visits, 3);
	assert_true(p->latency_ns.value > 0);
	assert_true(p->latency_ns.lo <= p->latency_ns.value);
	assert_true(p->latency_ns.hi >= p->latency_ns.value);
	assert_close(p->samples_per_s, rate, 1e-9);
	assert_close(p->rate_per_s.value, rate, 1e-9);
	assert_close(p->rate_per_s.lo, (double)value / p->latency_ns.hi * 1e9,
		     1e-9);
	/* 8 x 16 and 16 x 4, with biases. */
	assert_int_equal(p->parameters, 8 * 16 + 16 + 16 * 4 + 4);
	assert_int_equal(p->flops, 2 * (8 * 16 + 16 * 4) * value);
	assert_true(isnan(p->compute_efficiency));
}

static void
test_batch(void **state)
{
	struct sl_graph *graph = open_model("mlp:8-16-4");
	struct sl_sweep_model model = {.name = "small", .graph = graph};
	struct sl_sweep_options how = short_sweep(SL_AXIS_BATCH);
	struct sl_sweep *sweep = sweep_of(&model, 1, &how);
	const struct sl_sweep_series *s = &sweep->series[0];
	size_t n_visits = 0, n_disturbed = 0;

	(void)state;
	sl_graph_free(graph);
	assert_int_equal(sweep->n_series, 1);
	assert_string_equal(s->name, "small");
	assert_int_equal(s->n_points, N_VALUES);
	assert_int_equal(s->n_measured, N_VALUES);
	for (size_t i = 0; i < N_VALUES; i++)
		assert_point(&s->points[i], values[i]);
	assert_int_equal(s->exponents[0].figure, SL_SWEEP_TIME);
	assert_int_equal(s->exponents[0].exponent.n, 3 * N_VALUES);
	assert_near(s->exponents[0].formula, 1, 1e-9);
	for (size_t i = 0; i < N_VALUES; i++) {
		n_visits += s->points[i].n_visits;
		n_disturbed += s->points[i].n_disturbed;
	}
	assert_int_equal(s->best.absent != NULL, 2 * n_disturbed > n_visits);
	assert_json_valid(sweep);
	sl_sweep_free(sweep);
}

/* Kinds share the operations' time out among themselves. */
static void
test_kinds(void **state)
{
	struct sl_graph *graph = open_model("attention:16,64");
	struct sl_sweep_model model = {.name = "attention", .graph = graph};
	struct sl_sweep_options how = short_sweep(SL_AXIS_BATCH);
	struct sl_sweep *sweep = sweep_of(&model, 1, &how);
	const struct sl_sweep_series *s = &sweep->series[0];
	double sum = 0;
	int has_products = 0;

	(void)state;
	for (size_t i = 0; i < s->n_exponents; i++) {
		if (s->exponents[i].figure != SL_SWEEP_KIND)
			continue;
		sum += s->exponents[i].share_last;
		has_products |= s->exponents[i].kind == SL_SWEEP_KIND_ATTENTION;
	}
	assert_true(has_products);
	assert_true(sum > 0.5 && sum < 1 + 1e-9);
	sl_sweep_free(sweep);
	sl_graph_free(graph);
}

/* Products of attention grow with the square of the sequence, projections
 * with the sequence: by their formulas, exactly. */
static void
test_seq(void **state)
{
	struct sl_builder *b;
	struct sl_graph *graph;
	struct sl_sweep_model model = {.name = "built"};
	struct sl_sweep_options how = short_sweep(SL_AXIS_SEQ);
	struct sl_sweep *sweep;
	int x;

	(void)state;
	assert_int_equal(sl_builder_new(&b, "built", NULL, NULL), SL_OK);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 3,
			     (int64_t[]){sl_builder_symbol(b, "batch", 1),
					 sl_builder_symbol(b, "seq", 8), 64});
	x = sl_builder_linear(b, x, 64, 1);
	sl_builder_output(b, x, "y");
	assert_int_equal(sl_builder_finish(&graph, b, NULL), SL_OK);
	sl_builder_free(b);
	model.graph = graph;
	sweep = sweep_of(&model, 1, &how);
	assert_int_equal(sweep->rate_unit, SL_RATE_TOKENS);
	assert_int_equal(sweep->series[0].n_measured, N_VALUES);
	assert_close(sweep->series[0].points[3].rate_per_s.value,
		     8 / sweep->series[0].points[3].latency_ns.value * 1e9,
		     1e-9);
	sl_sweep_free(sweep);
	sl_graph_free(graph);
}

static void
test_width(void **state)
{
	const struct sl_sweep_model model = {.name = "mlp:8-5-6-4"};
	struct sl_sweep_options how = short_sweep(SL_AXIS_WIDTH);
	struct sl_sweep *sweep = sweep_of(&model, 1, &how);
	const struct sl_sweep_point *last =
		&sweep->series[0].points[N_VALUES - 1];

	(void)state;
	assert_int_equal(last->parameters, 8 * 8 + 8 + 8 * 8 + 8 + 8 * 4 + 4);
	assert_int_equal(last->flops, 2 * (8 * 8 + 8 * 8 + 8 * 4));
	sl_sweep_free(sweep);
}

static void
test_several_models(void **state)
{
	struct sl_graph *graphs[2] = {open_model("mlp:8-16-4"),
				      open_model("mlp:64-64-64")};
	const struct sl_sweep_model models[2] = {
		{.name = "small", .graph = graphs[0]},
		{.name = "large", .graph = graphs[1]}};
	struct sl_sweep_options how = short_sweep(SL_AXIS_BATCH);
	struct sl_sweep *sweep = sweep_of(models, 2, &how);

	(void)state;
	assert_int_equal(sweep->n_series, 2);
	assert_string_equal(sweep->series[1].name, "large");
	assert_json_valid(sweep);
	sl_sweep_free(sweep);
	sl_graph_free(graphs[0]);
	sl_graph_free(graphs[1]);
}

/* A size that the model refuses is one point less. */
static void
test_failed_point(void **state)
{
	struct sl_builder *b;
	struct sl_graph *graph;
	struct sl_sweep_model model = {.name = "fixed"};
	struct sl_sweep_options how = short_sweep(SL_AXIS_BATCH);
	struct sl_sweep *sweep;
	int x;

	(void)state;
	assert_int_equal(sl_builder_new(&b, "fixed", NULL, NULL), SL_OK);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, (int64_t[]){2, 8});
	x = sl_builder_linear(b, x, 4, 1);
	sl_builder_output(b, x, "y");
	assert_int_equal(sl_builder_finish(&graph, b, NULL), SL_OK);
	sl_builder_free(b);
	model.graph = graph;
	sweep = sweep_of(&model, 1, &how);
	assert_int_equal(sweep->series[0].n_measured, 1);
	assert_non_null(sweep->series[0].points[0].absent);
	assert_null(sweep->series[0].points[1].absent);
	assert_non_null(sweep->series[0].knee.absent);
	assert_non_null(sweep->series[0].exponents[0].absent);
	assert_json_valid(sweep);
	sl_sweep_free(sweep);
	sl_graph_free(graph);
}

static void
test_interrupted(void **state)
{
	struct sl_graph *graph = open_model("mlp:8-16-4");
	struct sl_sweep_model model = {.name = "small", .graph = graph};
	struct sl_sweep_options how = short_sweep(SL_AXIS_BATCH);
	volatile sig_atomic_t interrupt = 1;
	struct sl_sweep *sweep;
	struct sl_error err;

	(void)state;
	how.interrupt = &interrupt;
	assert_int_equal(sl_sweep(&sweep, &model, 1, &how, &err),
			 SL_E_INTERRUPTED);
	assert_null(sweep);
	sl_graph_free(graph);
}

static void
test_limits_that_nothing_meets(void **state)
{
	struct sl_graph *graph = open_model("mlp:8-16-4");
	struct sl_sweep_model model = {.name = "small", .graph = graph};
	struct sl_sweep_options how = short_sweep(SL_AXIS_BATCH);
	struct sl_sweep *sweep;

	(void)state;
	how.latency_s = 1e-12;
	sweep = sweep_of(&model, 1, &how);
	assert_non_null(sweep->series[0].best.absent);
	assert_int_equal(sweep->series[0].best.n_over_latency, N_VALUES);
	assert_json_valid(sweep);
	sl_sweep_free(sweep);
	sl_graph_free(graph);
}

static void
test_wrong_use(void **state)
{
	struct sl_graph *graph = open_model("mlp:8-16-4");
	struct sl_sweep_model model = {.name = "small", .graph = graph};
	struct sl_sweep_options how = short_sweep(SL_AXIS_SEQ);
	static const int64_t down[] = {4, 2};
	struct sl_sweep *sweep;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_sweep(&sweep, &model, 1, &how, &err), SL_E_DATA);
	how.axis = SL_AXIS_WIDTH;
	assert_int_equal(sl_sweep(&sweep, &model, 1, &how, &err), SL_E_USAGE);
	how = short_sweep(SL_AXIS_BATCH);
	how.values = down;
	how.n_values = 2;
	assert_int_equal(sl_sweep(&sweep, &model, 1, &how, &err), SL_E_USAGE);
	assert_int_equal(sl_sweep(&sweep, &model, 0, &how, &err), SL_E_USAGE);
	assert_int_equal(sl_sweep(&sweep, &model, 1, NULL, &err), SL_E_USAGE);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_seq),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_several_models),
		cmocka_unit_test(test_failed_point),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_limits_that_nothing_meets),
		cmocka_unit_test(test_wrong_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
