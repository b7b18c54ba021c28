/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quantize_weights.c - weights of 4 and 8 bits are within a step of what
 * they were, the largest of each block to the bit; biases go along; layers that
 * are kept or short stay.
 */
#include "transform/quantize.h"
#include "graph_text.h"
#include "sleuth.h"

#include <math.h>

static struct sl_graph *
make(struct graph_text *g, int n_bits, size_t *n_layers, size_t kept)
{
	unsigned char is_kept[16] = {0};
	const struct sl__quantize_options how = {
		.graph = g->graph, .shapes = g->shapes, .is_kept = is_kept};
	struct sl_graph *made;
	struct sl_error err;

	is_kept[kept] = 1;
	if (sl__quantize_weights(&made, n_layers, &how, n_bits, &err))
		fail_msg("%s", err.text);
	return made;
}

/* Element [k][n] of a node's weights, as its codes have it. */
static double
element(const struct sl_graph *made, const struct sl__node *node, int n_bits,
	int64_t k, int64_t n, double *scale)
{
	const struct sl__tensor *codes = made->values[node->inputs[1]].tensor;
	const struct sl__tensor *scales = made->values[node->inputs[2]].tensor;
	int64_t n_blocks = codes->dims[1], block = n * n_blocks + k / 32;
	const unsigned char *b = codes->bytes + block * codes->dims[2];

	assert_true(sl__tensor_doubles(scales, (uint64_t)block, 1, scale));
	if (n_bits == 8)
		return (b[k % 32] - 128) * *scale;
	return ((b[k % 32 / 2] >> k % 2 * 4 & 15) - 8) * *scale;
}

static void
check_weights(const char *text, int n_bits, int is_transposed)
{
	struct graph_text *g = graph_text(text);
	const struct sl__tensor *w =
		g->graph->values[graph_text_value(g, "w")].tensor;
	size_t n_layers;
	struct sl_graph *made = make(g, n_bits, &n_layers, 15);
	const struct sl__node *node = &made->nodes[0];

	assert_int_equal(n_layers, 1);
	assert_int_equal(made->n_nodes, 1);
	assert_string_equal(node->type, "MatMulNBits");
	assert_int_equal(node->n_inputs, 6);
	for (int64_t n = 0; n < 3; n++) {
		for (int64_t k = 0; k < 40; k++) {
			double x, scale,
				y = element(made, node, n_bits, k, n, &scale);
			double most = n_bits == 4 ? 8 : 127;

			assert_true(sl__tensor_doubles(
				w,
				(uint64_t)(is_transposed ? n * 40 + k
							 : k * 3 + n),
				1, &x));
			/* What has no code takes the next: half a step more. */
			assert_true(fabs(x - y) <=
				    fabs(scale) * (n_bits == 4 ? 1 : .501));
			if (fabs(x) >= fabs(scale) * most * .9999999)
				assert_true(fabs(x - y) <= 1e-7);
		}
	}
	sl_graph_free(made);
	graph_text_free(g);
}

static void
codes_are_near(void **state)
{
	(void)state;
	for (int n_bits = 4; n_bits <= 8; n_bits += 4) {
		check_weights("in x f32 2,5,40\nconst w f32 40,3 = random\n"
			      "const b f32 3 = random\n"
			      "a = MatMul x w\ny = Add a b\nout y\n",
			      n_bits, 0);
		check_weights("in x f32 2,40\nconst w f32 3,40 = random\n"
			      "const b f32 3 = random\n"
			      "y = Gemm x w b transB=1\nout y\n",
			      n_bits, 1);
	}
}

static void
others_stay(void **state)
{
	struct graph_text *g =
		graph_text("in x f32 2,40\nconst w f32 40,40 = random\n"
			   "const v f32 40,31 = random\n"
			   "const u f32 31,3 = random\n"
			   "a = MatMul x w\nb = MatMul a w\nc = MatMul b v\n"
			   "y = MatMul c u\nout y\n");
	size_t n_layers;
	struct sl_graph *made = make(g, 4, &n_layers, 1);

	(void)state;
	assert_int_equal(n_layers, 2);
	assert_string_equal(made->nodes[0].type, "MatMulNBits");
	assert_string_equal(made->nodes[1].type, "MatMul");
	assert_string_equal(made->nodes[2].type, "MatMulNBits");
	assert_string_equal(made->nodes[3].type, "MatMul");
	sl_graph_free(made);
	graph_text_free(g);
}

static void
variants(void **state)
{
	static const char *const changes[] = {"int8-weights", "int4-weights"};
	struct sl_graph *graph;
	struct sl_variant *v;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_graph_open(&graph, "mlp:64-64-8", NULL, NULL),
			 SL_OK);
	for (size_t i = 0; i < 2; i++) {
		uint64_t codes = i ? 2304 : 4608; /* of 64 x 64 and 64 x 8 */
		/* 2 blocks in each of 72 columns, and 72 biases. */
		uint64_t rest = (2 * 72 + 72) * 4;

		assert_int_equal(
			sl_variant_new(&v, graph, changes[i], NULL, &err),
			SL_OK);
		assert_int_equal(v->changes[0].n_layers, 2);
		assert_int_equal(v->changes[0].weights_after_bytes,
				 codes + rest);
		sl_variant_free(v);
	}
	sl_graph_free(graph);
	assert_int_equal(sl_graph_open(&graph, "conv:3,4,3,8", NULL, NULL),
			 SL_OK);
	assert_int_equal(sl_variant_new(&v, graph, "int4-weights", NULL, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "no layer"));
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_near),
		cmocka_unit_test(others_stay),
		cmocka_unit_test(variants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
