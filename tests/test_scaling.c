/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scaling.c - how figures grow: coefficients of known polynomials, and
 * of models whose formulas are known on paper.
 */
#include "graph_text.h"
#include "inspected.h"
#include "analysis/scaling.h"

static double
cube(double n)
{
	return n * n * n;
}

static void
test_fit(void **state)
{
	static const int64_t starts[][2] = {{1, 1}, {32, 32}, {5, 3}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct sl_growth row = {.at = 100};
		double values[4];

		for (int k = 0; k < 4; k++) {
			double n = (double)(starts[i][0] + k * starts[i][1]);

			values[k] = 7 + 5 * n + 3 * n * n;
		}
		sl__polynomial_interpolate(&row, values, starts[i][0],
					   starts[i][1]);
		assert_true(row.is_polynomial);
		assert_near(row.constant, 7, 0);
		assert_near(row.linear, 5, 0);
		assert_near(row.quadratic, 3, 0);
		assert_near(row.final_exponent, 2, 0);
		/* n f' / f = (500 + 60000) / 30507 */
		assert_near(row.exponent, 60500.0 / 30507, 1e-12);
	}
}

/* A cube is no quadratic, and a step is none. */
static void
test_not_polynomial(void **state)
{
	double cubes[4] = {cube(1), cube(2), cube(3), cube(4)};
	double steps[4] = {8, 8, 16, 16};
	struct sl_growth row = {.at = 4};

	(void)state;
	sl__polynomial_interpolate(&row, cubes, 1, 1);
	assert_false(row.is_polynomial);
	assert_true(isnan(row.quadratic));
	assert_near(row.exponent, 3, 1e-12);
	sl__polynomial_interpolate(&row, steps, 1, 1);
	assert_false(row.is_polynomial);
	assert_near(row.exponent, 0, 1e-12);
}

static const struct sl_growth *
find(const struct sl_inspection *seen, enum sl_growth_axis axis,
     enum sl_growth_figure figure)
{
	for (size_t i = 0; i < seen->n_growth; i++) {
		if (seen->growth[i].axis == axis &&
		    seen->growth[i].figure == figure)
			return &seen->growth[i];
	}
	return NULL;
}

/* Like find(), for a figure that must be there. */
static const struct sl_growth *
grown(const struct sl_inspection *seen, enum sl_growth_axis axis,
      enum sl_growth_figure figure)
{
	static const struct sl_growth none;
	const struct sl_growth *g = find(seen, axis, figure);

	assert_non_null(g);
	return g ? g : &none;
}

/*
 * GPT-2: per token 2 x (12 x 12 x 768^2 + 768 x 50257) FLOPs, and per pair of
 * tokens 2 x 2 x 12 x 768 in attention; a cache of 12 x 2 x 768 x 4 bytes per
 * token.
 */
static void
test_gpt2(void **state)
{
	static const struct sl_inspect_options how = {0};
	const double per_token = 2.0 * (144.0 * 768 * 768 + 768.0 * 50257);
	const double per_pair = 48.0 * 768;
	struct sl_inspection *seen = inspect_with("gpt2", 0, 64, &how);
	const struct sl_growth *g = grown(seen, SL_GROWTH_SEQ, SL_GROWTH_FLOPS);

	(void)state;
	assert_null(g->absent);
	assert_true(g->is_polynomial);
	assert_int_equal(g->at, 64);
	assert_near(g->constant, 0, 0);
	assert_near(g->linear, per_token, 0);
	assert_near(g->quadratic, per_pair, 0);
	assert_near(g->final_exponent, 2, 0);
	assert_near(g->exponent,
		    (per_token + 2 * 64 * per_pair) /
			    (per_token + 64 * per_pair),
		    1e-12);

	g = grown(seen, SL_GROWTH_SEQ, SL_GROWTH_ATTENTION);
	assert_near(g->linear, 0, 0);
	assert_near(g->quadratic, per_pair, 0);
	assert_near(g->exponent, 2, 0);
	g = grown(seen, SL_GROWTH_SEQ, SL_GROWTH_KV);
	assert_near(g->linear, 73728, 0);
	assert_near(g->final_exponent, 1, 0);
	/* Scores are batch x heads x seq x seq, and outgrow everything. */
	g = grown(seen, SL_GROWTH_SEQ, SL_GROWTH_LIVE);
	assert_near(g->final_exponent, 2, 0);

	g = grown(seen, SL_GROWTH_BATCH, SL_GROWTH_FLOPS);
	assert_near(g->constant, 0, 0);
	assert_near(g->linear, 64 * per_token + 64 * 64 * per_pair, 0);
	assert_near(g->exponent, 1, 0);
	sl_inspection_free(seen);
}

/* A network without a sequence grows with its batch alone. */
static void
test_resnet(void **state)
{
	static const struct sl_inspect_options how = {0};
	struct sl_inspection *seen = inspect_with("resnet18", 7, 0, &how);
	const struct sl_growth *g =
		grown(seen, SL_GROWTH_BATCH, SL_GROWTH_FLOPS);

	(void)state;
	assert_int_equal(g->at, 7);
	assert_near(g->linear, 2 * 1814073344.0, 0);
	assert_near(g->constant, 0, 0);
	assert_null(find(seen, SL_GROWTH_SEQ, SL_GROWTH_FLOPS));
	assert_null(find(seen, SL_GROWTH_BATCH, SL_GROWTH_ATTENTION));
	assert_null(find(seen, SL_GROWTH_BATCH, SL_GROWTH_KV));
	assert_int_equal(seen->flops_per_sample, 2 * UINT64_C(1814073344));
	sl_inspection_free(seen);
}

/* A batch that the model fixes is said to be so, once. */
static void
test_fixed(void **state)
{
	struct sl_builder *b;
	struct sl_graph *graph;
	struct sl_inspection *seen;
	const int64_t dims[] = {2, 3};
	int x;

	(void)state;
	assert_int_equal(sl_builder_new(&b, "fixed", NULL, NULL), SL_OK);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, dims);
	x = sl_builder_linear(b, x, 4, 1);
	sl_builder_output(b, x, "y");
	assert_int_equal(sl_builder_finish(&graph, b, NULL), SL_OK);
	sl_builder_free(b);
	assert_int_equal(sl_inspect(&seen, graph, NULL, NULL), SL_OK);
	assert_int_equal(seen->batch, 2);
	assert_int_equal(seen->n_growth, 1);
	assert_non_null(seen->growth[0].absent);
	sl_inspection_free(seen);
	sl_graph_free(graph);
}

/*
 * GPT-2 with a cache: each token of the past costs two products of 768 in each
 * of 12 layers, and 12 x 2 x 768 numbers in the cache, which has the new token
 * too.
 */
static void
test_past(void **state)
{
	static const struct sl_inspect_options how = {0};
	struct sl_inspection *seen = inspect_with("gpt2@kv", 0, 0, &how);
	const struct sl_growth *g = grown(seen, SL_GROWTH_PAST, SL_GROWTH_KV);

	(void)state;
	assert_null(g->absent);
	assert_near(g->linear, 12.0 * 2 * 768 * 4, 0);
	assert_near(g->constant, 12.0 * 2 * 768 * 4, 0);
	assert_near(g->exponent, (double)g->at / (double)(g->at + 1), 1e-12);
	g = grown(seen, SL_GROWTH_PAST, SL_GROWTH_FLOPS);
	assert_near(g->linear, 2.0 * 2 * 12 * 768, 0);
	assert_near(g->quadratic, 0, 0);
	assert_near(g->final_exponent, 1, 0);
	assert_near(seen->memory.kv_elements_per_token.value, 12 * 2 * 768, 0);
	sl_inspection_free(seen);
	seen = inspect_with("gpt2", 0, 0, &how);
	assert_null(find(seen, SL_GROWTH_PAST, SL_GROWTH_FLOPS));
	sl_inspection_free(seen);
}

/* Where there is nothing to grow, or no telling, that is said. */
static void
test_no_telling(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"in x f32 n,3\ny = Relu x\nout y\n",
		 "nothing here is a convolution or a matmul"},
		{"in x f32 n,3\ny = Frobnicate x\nout y\n",
		 "the cost of a node is not known"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct graph_text *text = graph_text(cases[i].text);
		struct sl_inspection *seen;
		const struct sl_growth *g;

		assert_int_equal(sl_inspect(&seen, text->graph, NULL, NULL),
				 SL_OK);
		g = grown(seen, SL_GROWTH_BATCH, SL_GROWTH_FLOPS);
		assert_string_equal(g->absent, cases[i].says);
		assert_true(isnan(g->exponent));
		assert_true(isnan(g->final_exponent));
		assert_true(isnan(g->linear));
		assert_true(isnan(seen->training.backward_to_forward));
		g = find(seen, SL_GROWTH_BATCH, SL_GROWTH_LIVE);
		if (i == 0) {
			g = grown(seen, SL_GROWTH_BATCH, SL_GROWTH_LIVE);
			assert_null(g->absent);
			assert_near(g->linear, 2 * 3 * 4, 0);
			assert_near(seen->layers[0].share, 1, 0);
		} else {
			assert_true(!g || g->absent);
			assert_true(isnan(seen->layers[0].share));
		}
		sl_inspection_free(seen);
		graph_text_free(text);
	}
}

static void
test_fit_of_nothing(void **state)
{
	const double zeros[4] = {0, 0, 0, 0};
	struct sl_growth row = {.at = 4};

	(void)state;
	sl__polynomial_interpolate(&row, zeros, 1, 1);
	assert_true(row.is_polynomial);
	assert_true(isnan(row.exponent));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_not_polynomial),
		cmocka_unit_test(test_gpt2),
		cmocka_unit_test(test_resnet),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_no_telling),
		cmocka_unit_test(test_fit_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
