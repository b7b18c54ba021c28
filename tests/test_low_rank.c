/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_low_rank.c - factors have the error that the singular values leave, by
 * closed form; layers whose weights have a low rank give the same outputs as
 * two layers; the smallest weights become zero, and no others.
 */
#include "rewritten.h"
#include "transform/low_rank.h"

/* Rows and columns of H are orthogonal: H diag(s) H / 4 has singular values
 * s. */
static const double hadamard[4][4] = {
	{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}};

static void
singular_values(void **state)
{
	static const double s[] = {8, 4, 0.5, 0.25};
	double w[16] = {0}, left[8], right[8], error = 0;
	struct sl__factors f = {4, 4, 2, w, left, right};
	struct sl__arena arena;

	(void)state;
	for (int i = 0; i < 16; i++) {
		for (int k = 0; k < 4; k++)
			w[i] += hadamard[i / 4][k] * s[k] * hadamard[k][i % 4] /
				4;
	}
	sl__arena_init(&arena, NULL);
	assert_true(sl__factorize(&f, 1, &arena));
	sl__arena_release(&arena);
	for (int i = 0; i < 16; i++) {
		double x = 0;

		for (int k = 0; k < 2; k++)
			x += left[i / 4 * 2 + k] * right[k * 4 + i % 4];
		error += (x - w[i]) * (x - w[i]);
	}
	/* The gap is 8: after four iterations, what is not the best is 8^-8 of
	 * it at most. */
	assert_true(fabs(error - (0.25 + 0.0625)) < 1e-6);
	assert_true(fabs(left[0] * left[1] + left[2] * left[3] +
			 left[4] * left[5] + left[6] * left[7]) < 1e-12);
}

/* Weights of rank 1: u v^T. */
static const char model[] = "in x f32 3,4\n"
			    "const u f32 4,4 = 1,2,3,4,2,4,6,8,-1,-2,-3,-4,"
			    "0.5,1,1.5,2\n"
			    "const v f32 2,4 = 1,-1,2,0.5,2,-2,4,1\n"
			    "const b f32 2 = 0.5,-3\n"
			    "y = MatMul x u\n"
			    "z = Gemm y v b transB=1\n"
			    "out z\n";

static void
layers(void **state)
{
	struct rewritten r = {.g = graph_text(model)};
	struct sl__prune_options how = {.share = 0.25};
	struct sl__low_rank done;
	struct sl_error err;
	const struct sl__node *n;

	(void)state;
	if (sl__low_rank(&done, r.g->graph, &how, 1, &err))
		fail_msg("%s", err.text);
	/* 0.75 * 16 / 8 = 1.5, 0.75 * 8 / 6 = 1. */
	assert_int_equal(done.n_layers, 2);
	assert_int_equal(done.graph->n_nodes, 4);
	assert_true(fabs(done.kept - 1) < 1e-9);
	r.made = done.graph;
	n = rewritten_maker(&r, "z");
	assert_int_equal(n->n_inputs, 3);
	assert_int_equal(done.graph->values[n->inputs[1]].tensor->dims[0], 2);
	assert_int_equal(done.graph->values[n->inputs[1]].tensor->dims[1], 1);
	rewritten_evaluate(&r, 1e-6);
	sl_graph_free(done.graph);
	how.share = 0.9;
	assert_int_equal(sl__low_rank(&done, r.g->graph, &how, 1, &err),
			 SL_E_DATA);
	assert_null(done.graph);
	r.made = NULL;
	rewritten_free(&r);
}

static void
assert_weights(double share, const double expected[6], size_t n_zero)
{
	struct graph_text *g = graph_text("in x f32 1,2\n"
					  "const w f32 2,3 = "
					  "3,-1,2,-4,1,0.5\n"
					  "y = MatMul x w\n"
					  "out y\n");
	struct sl__prune_options how = {.share = share};
	struct sl__pruned done;
	const struct sl__tensor *t;
	struct sl_error err;
	double x[6];

	if (sl__prune_weights(&done, g->graph, &how, &err))
		fail_msg("%s", err.text);
	t = done.graph->values[graph_text_value(g, "w")].tensor;
	assert_true(sl__tensor_doubles(t, 0, 6, x));
	for (int i = 0; i < 6; i++)
		assert_true(x[i] == expected[i]);
	assert_int_equal(done.n_removed, n_zero);
	assert_int_equal(done.n_units, 6);
	assert_int_equal(done.n_layers, 1);
	sl_graph_free(done.graph);
	how.share = 0.1;
	assert_int_equal(sl__prune_weights(&done, g->graph, &how, &err),
			 SL_E_DATA);
	assert_null(done.graph);
	graph_text_free(g);
}

static void
smallest_weights(void **state)
{
	(void)state;
	assert_weights(0.2, (double[]){3, -1, 2, -4, 1, 0}, 1);
	assert_weights(0.34, (double[]){3, 0, 2, -4, 1, 0}, 2);
	assert_weights(0.5, (double[]){3, 0, 2, -4, 0, 0}, 3);
	assert_weights(0.99, (double[]){0, 0, 0, -4, 0, 0}, 5);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(singular_values),
		cmocka_unit_test(layers),
		cmocka_unit_test(smallest_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
