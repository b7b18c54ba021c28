/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory_tensors.c - proves that the tensors of a model are listed with
 * what they are for and how long they are in memory, and that they sum to the
 * bytes that are live at each operation.
 */
#include "graph_text.h"
#include "harness.h"

static void
check_tensor(const struct sl_memory_tensor *t, const char *name,
	     enum sl_memory_category category, size_t first, size_t last)
{
	assert_string_equal(t->name, name);
	assert_int_equal(t->category, category);
	assert_int_equal(t->first, first);
	assert_int_equal(t->last, last);
}

static void
check_sums(const struct sl_memory_use *use)
{
	for (size_t i = 0; i < use->n_timeline; i++) {
		uint64_t sum = 0;

		for (size_t k = 0; k < use->n_tensors; k++) {
			const struct sl_memory_tensor *t = &use->tensors[k];

			assert_true(t->first <= t->last);
			assert_true(t->last < use->n_timeline);
			if (t->first <= i && i <= t->last)
				sum += t->n_bytes;
		}
		assert_int_equal(sum, use->timeline[i].live_bytes);
	}
}

/* Lines of 64 bytes: x is one, each result twice the one before it. */
static void
tensors_have_names_and_lives(void **state)
{
	struct graph_text *g = graph_text_with("opset 13\n"
					       "in x f32 4,4\n"
					       "a = Concat x x axis=0\n"
					       "b = Concat a a axis=0\n"
					       "c = Concat b b axis=0\n"
					       "y = ReduceMax c axes=[0]\n"
					       "out y\n",
					       NULL);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE};
	struct sl_memory_use *use;
	struct sl_error err;

	(void)state;
	if (sl_measure_memory(&use, g->graph, &how, &err))
		fail_msg("%s", err.text);
	assert_int_equal(use->n_timeline, 4);
	check_sums(use);
	assert_int_equal(use->n_tensors, 5);
	check_tensor(&use->tensors[0], "x", SL_MEMORY_INPUT, 0, 3);
	check_tensor(&use->tensors[1], "a", SL_MEMORY_ACTIVATION, 0, 1);
	check_tensor(&use->tensors[2], "b", SL_MEMORY_ACTIVATION, 1, 2);
	check_tensor(&use->tensors[3], "c", SL_MEMORY_ACTIVATION, 2, 3);
	check_tensor(&use->tensors[4], "y", SL_MEMORY_OUTPUT, 3, 3);
	assert_int_equal(use->tensors[3].n_bytes, 8 * 64);
	sl_memory_use_free(use);
	graph_text_free(g);
}

static void
categories_have_words(void **state)
{
	(void)state;
	assert_string_equal(sl_memory_category_text(SL_MEMORY_GRADIENT),
			    "gradient");
	assert_string_equal(sl_memory_category_text(SL_MEMORY_WORKSPACE),
			    "workspace");
	assert_string_equal(
		sl_memory_category_text(
			(enum sl_memory_category)SL_N_MEMORY_CATEGORIES),
		"unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors_have_names_and_lives),
		cmocka_unit_test(categories_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
