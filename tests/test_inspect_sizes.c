/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_inspect_sizes.c - which sizes of a model mean something: its sequence,
 * its cache, and the tokens that an iteration takes in, from names, types and
 * shapes of inputs.
 */
#include "inspected.h"

struct input {
	const char *name;
	enum sl_dtype dtype;
	int64_t dims[4];
	size_t rank;
};

/* A model that hands its inputs on. */
static struct sl_inspection *
inspect_inputs(const struct input *inputs, size_t n)
{
	static const char *const outputs[] = {"p", "q", "r"};
	const struct sl_inspect_options how = {.struct_size = sizeof(how),
					       .brief = 1};
	struct sl_inspection *seen = NULL;
	struct sl_graph *graph = NULL;
	struct sl_builder *b;
	struct sl_error err;

	assert_int_equal(sl_builder_new(&b, "made", NULL, &err), SL_OK);
	for (size_t i = 0; i < n; i++) {
		int x = sl_builder_input(b, inputs[i].name, inputs[i].dtype,
					 inputs[i].rank, inputs[i].dims);

		x = sl_builder_op(b, "Identity", 1, &x);
		sl_builder_output(b, x, outputs[i]);
	}
	assert_int_equal(sl_builder_finish(&graph, b, &err), SL_OK);
	sl_builder_free(b);
	assert_int_equal(sl_inspect(&seen, graph, &how, &err), SL_OK);
	sl_graph_free(graph);
	return seen;
}

static void
tokens_are_matrices_of_whole_numbers(void **state)
{
	static const struct {
		struct input inputs[3];
		size_t n;
		int64_t n_tokens;
	} cases[] = {
		{{{"input_ids", SL_DTYPE_I64, {2, 128}, 2},
		  {"mask", SL_DTYPE_I64, {2, 128}, 2}},
		 2,
		 256},
		/* Ids come before others that look alike. */
		{{{"mask", SL_DTYPE_I64, {1, 129}, 2},
		  {"input_ids", SL_DTYPE_I64, {1, 1}, 2},
		  {"past", SL_DTYPE_F32, {1, 12, 128, 64}, 4}},
		 3,
		 1},
		{{{"words", SL_DTYPE_I32, {4, 10}, 2}}, 1, 40},
		{{{"x", SL_DTYPE_F32, {1, 16000}, 2},
		  {"sr", SL_DTYPE_I64, {1}, 1}},
		 2,
		 0},
		{{{"x", SL_DTYPE_I64, {1, 2, 3}, 3}}, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_inspection *seen =
			inspect_inputs(cases[i].inputs, cases[i].n);

		assert_int_equal(seen->n_tokens, cases[i].n_tokens);
		sl_inspection_free(seen);
	}
}

static void
sequences_and_caches_are_known(void **state)
{
	struct sl_inspection *seen = inspect("gpt2", 96);

	(void)state;
	assert_int_equal(seen->seq, 96);
	assert_int_equal(seen->past, -1);
	assert_int_equal(seen->n_tokens, 96);
	sl_inspection_free(seen);
	seen = inspect("gpt2@kv", 0);
	assert_int_equal(seen->past, 128);
	assert_int_equal(seen->n_tokens, 1);
	sl_inspection_free(seen);
	seen = inspect("lenet5", 0);
	assert_int_equal(seen->seq, 0);
	assert_int_equal(seen->past, -1);
	assert_int_equal(seen->n_tokens, 0);
	sl_inspection_free(seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_matrices_of_whole_numbers),
		cmocka_unit_test(sequences_and_caches_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
