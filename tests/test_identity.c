/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_identity.c - proves that tensors that differ are told apart, by their
 * place in the model, what they hold or what they are made from, and that
 * those alike are not.
 */
#include "graph_text.h"
#include "graph/tensor_fingerprint.h"

static const char model_text[] = "opset 13\n"
				 "in x f32 n,64\n"
				 "const w f32 64,64 = random\n"
				 "const v f32 64,64 = random\n"
				 "h = MatMul x w\n"
				 "y = MatMul h v\n"
				 "out y\n";

static struct sl__tensor
tensor_of(const float *bytes, const int64_t *dim)
{
	struct sl__tensor t = {.dtype = SL_DTYPE_F32,
			       .rank = 1,
			       .dims = dim,
			       .bytes = (const unsigned char *)bytes};

	assert_true(sl__tensor_compute_size(&t));
	return t;
}

static int
are_equal(const struct sl__tensor *a, const struct sl__tensor *b,
	  const struct sl_graph *model)
{
	struct sl__tensor_fingerprint x, y;

	assert_true(sl__tensor_fingerprint_of(&x, a, model));
	assert_true(sl__tensor_fingerprint_of(&y, b, model));
	return sl__tensor_fingerprint_equal(&x, &y);
}

static void
tells_tensors_apart(void **state)
{
	struct graph_text *g = graph_text_with(model_text, NULL);
	const struct sl_graph *model = g->graph;
	const struct sl__tensor *w =
		model->values[graph_text_value(g, "w")].tensor;
	const struct sl__tensor *v =
		model->values[graph_text_value(g, "v")].tensor;
	float one[37], two[37];
	int64_t dim = 37, less = 36;
	struct sl__tensor a, b;
	struct sl__tensor_fingerprint id;

	(void)state;
	assert_true(are_equal(w, w, model));
	assert_false(are_equal(w, v, model));
	for (int i = 0; i < 37; i++)
		one[i] = two[i] = (float)i;
	a = tensor_of(one, &dim);
	b = tensor_of(two, &dim);
	assert_true(are_equal(&a, &b, model));
	for (int i = 0; i < 37; i++) {
		two[i] += 1e-4f;
		assert_false(are_equal(&a, &b, model));
		two[i] = one[i];
	}
	b = tensor_of(two, &less);
	assert_false(are_equal(&a, &b, model));
	a.absent = "no file";
	assert_false(sl__tensor_fingerprint_of(&id, &a, model));
	graph_text_free(g);
}

/* Neighbours, reversals and bits that move must not cancel. */
static void
keeps_places_apart(void **state)
{
	struct graph_text *g = graph_text_with(model_text, NULL);
	int64_t dim = 64;
	float zeros[64] = {0}, bit[64];
	struct sl__tensor_fingerprint seen[64 + 1];
	struct sl__tensor t = tensor_of(zeros, &dim);

	(void)state;
	assert_true(sl__tensor_fingerprint_of(&seen[64], &t, g->graph));
	for (int i = 0; i < 64; i++) {
		memset(bit, 0, sizeof(bit));
		bit[i] = 1;
		t = tensor_of(bit, &dim);
		assert_true(sl__tensor_fingerprint_of(&seen[i], &t, g->graph));
	}
	for (int i = 0; i <= 64; i++) {
		for (int k = 0; k < i; k++) {
			assert_true(seen[i].words[0] != seen[k].words[0]);
			assert_true(seen[i].words[1] != seen[k].words[1]);
		}
	}
	graph_text_free(g);
}

static void
knows_recipes(void **state)
{
	struct graph_text *g = graph_text_with(model_text, NULL);
	const struct sl_graph *model = g->graph;
	double factors[64] = {1, 2, 3}, others[64] = {1, 2, 3};
	struct sl__tensor_generator made = {
		.kind = SL__TENSOR_GENERATOR_SCALED,
		.of = model->values[graph_text_value(g, "w")].tensor,
		.factors = factors,
		.taps = 64,
		.results = 64,
		.inputs = 1};
	struct sl__tensor_generator again = made;
	struct sl__tensor a = *made.of, b = a;

	(void)state;
	a.bytes = b.bytes = NULL;
	a.generator = &made;
	b.generator = &again;
	again.factors = others;
	assert_true(are_equal(&a, &b, model));
	others[63] = 1;
	assert_false(are_equal(&a, &b, model));
	again.factors = factors;
	again.of = model->values[graph_text_value(g, "v")].tensor;
	assert_false(are_equal(&a, &b, model));
	again = made;
	again.taps = 1;
	again.inputs = 64;
	assert_false(are_equal(&a, &b, model));
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_tensors_apart),
		cmocka_unit_test(keeps_places_apart),
		cmocka_unit_test(knows_recipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
