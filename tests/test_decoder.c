/* SPDX-License-Identifier: Apache-2.0 */
/* test_decoder.c - inputs of decoders, and what comes out with a cache. */
#include "tiny_decoder.h"

#include "experiment/decoder.h"

/* The last row of logits of an iteration. */
static void
run_iteration(struct sl__decoder *d, int64_t n_past, int64_t n_new,
	      float *logits)
{
	struct sl_sizes sizes;
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .sizes = &sizes,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE};
	struct sl_error err = {0};
	struct sl_array out;
	struct sl_plan *plan = NULL;
	enum sl_status rc = sl__decoder_sizes(d, n_past, n_new, &sizes, &err);

	if (!rc)
		rc = sl_plan_new(&plan, d->graph, &how, &err);
	if (!rc)
		rc = sl__decoder_set_inputs(d, plan, n_past, &err);
	if (!rc)
		rc = sl_plan_run(plan, &err);
	if (!rc)
		rc = sl_plan_output(plan, "logits", &out, &err);
	if (!rc && d->has_cache)
		rc = sl__decoder_keep_state(d, plan, n_past + n_new, &err);
	if (rc)
		fail_msg("%s", err.text);
	assert_int_equal(out.dims[1], n_new);
	memcpy(logits, (const float *)out.data + (n_new - 1) * TINY_WORDS,
	       TINY_WORDS * sizeof(float));
	sl_plan_free(plan);
}

static void
assert_same_logits(const float *a, const float *b)
{
	double largest = 0, difference = 0;

	for (int i = 0; i < TINY_WORDS; i++) {
		double size = fabs((double)a[i]);
		double off = fabs((double)a[i] - (double)b[i]);

		/* Not by fmax(), over which gcc 12 for ARM stumbles. */
		largest = size > largest ? size : largest;
		difference = off > difference ? off : difference;
	}
	assert_true(largest > 0.1);
	assert_true(difference <= 1e-5 * largest);
}

/* Token by token with the states that come back, a decoder says what it says
 * when it computes all tokens every time. */
static void
test_same_logits(void **state)
{
	struct sl_graph *plain = tiny_decoder(TINY_PLAIN);
	struct sl_graph *step = tiny_decoder(TINY_STEP);
	float a[TINY_WORDS], b[TINY_WORDS];
	struct sl__decoder without, with;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__decoder_open(&without, plain, 0, 7, &arena, NULL),
			 SL_OK);
	assert_int_equal(sl__decoder_open(&with, step, 0, 7, &arena, NULL),
			 SL_OK);
	for (int64_t n = 1; n <= 6; n++) {
		run_iteration(&without, 0, n, a);
		run_iteration(&with, n - 1, 1, b);
		assert_int_equal(with.kept_context, n);
		assert_same_logits(a, b);
	}
	sl__decoder_close(&without);
	sl__decoder_close(&with);
	sl__arena_release(&arena);
	sl_graph_free(plain);
	sl_graph_free(step);
}

/* A prompt that goes in at once leaves the states that single tokens do. */
static void
test_same_states(void **state)
{
	struct sl_graph *cached = tiny_decoder(TINY_CACHED);
	float a[TINY_WORDS], b[TINY_WORDS];
	struct sl__decoder at_once, by_token;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__decoder_open(&at_once, cached, 0, 7, &arena, NULL),
			 SL_OK);
	assert_int_equal(
		sl__decoder_open(&by_token, cached, 0, 7, &arena, NULL), SL_OK);
	/* Without a triangle only the newest token may be looked at, and keys
	 * do not depend on what is attended to in one layer. */
	run_iteration(&at_once, 0, 4, a);
	for (int64_t n = 1; n <= 4; n++)
		run_iteration(&by_token, n - 1, 1, b);
	assert_same_logits(a, b);
	run_iteration(&at_once, 4, 1, a);
	run_iteration(&by_token, 4, 1, b);
	assert_same_logits(a, b);
	sl__decoder_close(&at_once);
	sl__decoder_close(&by_token);
	sl__arena_release(&arena);
	sl_graph_free(cached);
}

static const struct sl_input_shape *
shape_of(const struct sl_sizes *sizes, const char *input)
{
	size_t i = 0;

	while (i + 1 < sizes->n_shapes &&
	       strcmp(sizes->shapes[i].input, input) != 0)
		i++;
	assert_string_equal(sizes->shapes[i].input, input);
	return &sizes->shapes[i];
}

static void
assert_dims(const struct sl_sizes *sizes, const char *input, size_t rank,
	    const int64_t *dims)
{
	const struct sl_input_shape *s = shape_of(sizes, input);

	assert_int_equal(s->rank, rank);
	for (size_t k = 0; k < rank; k++)
		assert_int_equal(s->dims[k], dims[k]);
}

/* Masks span all tokens, positions the new ones, states the old ones. */
static void
test_sizes(void **state)
{
	struct sl_graph *cached = tiny_decoder(TINY_CACHED);
	struct sl__decoder d;
	struct sl__arena arena;
	struct sl_sizes sizes;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__decoder_open(&d, cached, 2, 1, &arena, NULL),
			 SL_OK);
	assert_true(d.has_cache);
	assert_true(sl__decoder_takes_whole_prompt(&d));
	assert_int_equal(d.vocabulary, TINY_WORDS);
	assert_int_equal(sl__decoder_sizes(&d, 5, 3, &sizes, NULL), SL_OK);
	assert_dims(&sizes, "input_ids", 2, (int64_t[]){2, 3});
	assert_dims(&sizes, "position_ids", 2, (int64_t[]){2, 3});
	assert_dims(&sizes, "attention_mask", 2, (int64_t[]){2, 8});
	assert_dims(&sizes, "past.key", 4,
		    (int64_t[]){2, TINY_HEADS, 5, TINY_HEAD});
	assert_near(sl__decoder_state_bytes(&d, 5), 2.0 * 5 * TINY_KV_BYTES, 0);
	sl__decoder_close(&d);
	sl__arena_release(&arena);
	sl_graph_free(cached);
}

static const int64_t *
integers_of(struct sl_plan *plan, const char *input, uint64_t n)
{
	struct sl_array array;

	assert_int_equal(sl_plan_input(plan, input, &array, NULL, NULL), SL_OK);
	assert_int_equal(array.n_elements, n);
	return array.data;
}

/* A token depends on its place alone; positions count on. */
static void
test_numbers(void **state)
{
	struct sl_graph *cached = tiny_decoder(TINY_CACHED);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .flags = SL_PLAN_NO_CACHE};
	int64_t text[8] = {0};
	struct sl__decoder d;
	struct sl__arena arena;
	struct sl_sizes sizes;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__decoder_open(&d, cached, 0, 3, &arena, NULL),
			 SL_OK);
	how.sizes = &sizes;
	for (int64_t n_past = 0; n_past <= 3; n_past += 3) {
		uint64_t n = (uint64_t)(8 - n_past);
		const int64_t *x;
		struct sl_plan *plan;

		assert_int_equal(
			sl__decoder_sizes(&d, n_past, (int64_t)n, &sizes, NULL),
			SL_OK);
		assert_int_equal(sl_plan_new(&plan, cached, &how, NULL), SL_OK);
		assert_int_equal(sl__decoder_set_inputs(&d, plan, n_past, NULL),
				 SL_OK);
		x = integers_of(plan, "input_ids", n);
		for (uint64_t i = 0; i < n; i++) {
			assert_true(x[i] >= 0 && x[i] < TINY_WORDS);
			if (n_past)
				assert_int_equal(x[i],
						 text[i + (uint64_t)n_past]);
			else
				text[i] = x[i];
		}
		x = integers_of(plan, "position_ids", n);
		for (uint64_t i = 0; i < n; i++)
			assert_int_equal(x[i], n_past + (int64_t)i);
		x = integers_of(plan, "attention_mask", 8);
		for (int i = 0; i < 8; i++)
			assert_int_equal(x[i], 1);
		sl_plan_free(plan);
	}
	sl__decoder_close(&d);
	sl__arena_release(&arena);
	sl_graph_free(cached);
}

/* An input that is no part of a decoder is named. */
static void
test_not_understood(void **state)
{
	struct sl_builder *b = new_builder();
	int64_t dims[] = {sl_builder_symbol(b, "batch", 1),
			  sl_builder_symbol(b, "seq", 4)};
	int tokens = sl_builder_input(b, "input_ids", SL_DTYPE_I64, 2, dims);
	int image = sl_builder_input(b, "pixels", SL_DTYPE_F32, 2, dims);
	struct sl_error err = {0};
	struct sl__arena arena;
	struct sl__decoder d;
	struct sl_graph *graph;

	(void)state;
	sl_builder_output(b, tokens, "same");
	sl_builder_output(b, sl_builder_op(b, "Relu", 1, &image), "y");
	graph = finish(b);
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__decoder_open(&d, graph, 0, 1, &arena, &err),
			 SL_E_DATA);
	assert_non_null(strstr(err.text, "'pixels' is not understood"));
	sl__decoder_close(&d);
	sl__arena_release(&arena);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_logits),
		cmocka_unit_test(test_same_states),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
