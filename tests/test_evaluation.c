/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_evaluation.c - accuracy, top-5, loss and confusion matrix are those of
 * scikit-learn on the same scores (oracles/evaluation.py), whatever the batch
 * and whether the model ends in a softmax; sequences count by token and as a
 * whole; Student's interval of skewed losses covers.
 */
#include "harness.h"
#include "base/rng.h"
#include "sleuth.h"
#include "stats/bootstrap.h"

enum { N = 200, C = 7 };

/* The scores are the samples: the model hands them on. */
struct recorded {
	float scores[N][C];
	int64_t labels[N];
	struct sl_data_source source;
};

static uint64_t
draw(uint64_t *state, uint64_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % n;
}

static enum sl_status
fill(void *ctx, enum sl_split split, size_t index, void *const *inputs,
     int64_t *labels, struct sl_error *err)
{
	const struct recorded *r = ctx;

	(void)split;
	(void)err;
	memcpy(inputs[0], r->scores[index], sizeof(r->scores[index]));
	labels[0] = r->labels[index];
	return SL_OK;
}

/* As the oracle draws them. */
static struct sl_dataset *
open_recorded(struct recorded *r)
{
	static const int64_t dims[] = {C};
	static const struct sl_data_input input = {"", SL_DTYPE_F32, 1, dims};
	struct sl_dataset *data;
	uint64_t state = 1;

	for (size_t i = 0; i < N; i++) {
		size_t label = (size_t)draw(&state, C);
		double scores[C];

		for (size_t k = 0; k < C; k++)
			scores[k] =
				(double)draw(&state, 40) / 10 + (double)k / 64;
		scores[label] += 2;
		for (size_t k = 0; k < C; k++)
			r->scores[i][k] = (float)scores[k];
		r->labels[i] = (int64_t)label;
	}
	r->source = (struct sl_data_source){.struct_size = sizeof(r->source),
					    .name = "recorded",
					    .inputs = &input,
					    .n_inputs = 1,
					    .n_labels = 1,
					    .n_classes = C,
					    .n_samples = {0, 0, N},
					    .fill = fill,
					    .ctx = r};
	assert_false(sl_dataset_new(&data, &r->source, NULL, NULL));
	return data;
}

/* x [batch][rest] through one operator. */
static struct sl_graph *
build(const char *type, size_t rank, const int64_t *rest)
{
	struct sl_builder *b;
	struct sl_graph *graph;
	struct sl_error err;
	int64_t dims[3];
	int x;

	assert_false(sl_builder_new(&b, "scores", NULL, &err));
	dims[0] = sl_builder_symbol(b, "batch", 1);
	memcpy(dims + 1, rest, rank * sizeof(*rest));
	x = sl_builder_input(b, "x", SL_DTYPE_F32, rank + 1, dims);
	x = sl_builder_op(b, type, 1, &x);
	sl_builder_output(b, x, "y");
	if (sl_builder_finish(&graph, b, &err))
		fail_msg("%s", err.text);
	sl_builder_free(b);
	return graph;
}

static void
check_recorded(const struct sl_evaluation *e)
{
	static const uint64_t confusion[C][C] = {
		{19, 0, 2, 3, 2, 1, 2}, {0, 14, 3, 1, 3, 1, 0},
		{0, 1, 17, 2, 0, 2, 0}, {0, 1, 1, 21, 3, 2, 3},
		{2, 1, 3, 4, 28, 2, 4}, {1, 4, 1, 1, 4, 16, 2},
		{1, 0, 3, 2, 3, 2, 12}};
	static const double recall[C] = {0.65517241, 0.63636364, 0.77272727,
					 0.67741935, 0.63636364, 0.55172414,
					 0.52173913},
			    precision[C] = {0.82608696, 0.66666667, 0.56666667,
					    0.61764706, 0.65116279, 0.61538462,
					    0.52173913};

	assert_int_equal(e->kind, SL_ACCURACY_TOP1);
	assert_int_equal(e->split, SL_SPLIT_TEST);
	assert_int_equal(e->accuracy.n, N);
	assert_near(e->accuracy.value, 127.0 / N, 1e-12);
	assert_near(e->top5.value, 196.0 / N, 1e-12);
	assert_int_equal(e->token.n, 0);
	/* The scores of a softmax are f32. */
	assert_near(e->loss.value, 1.0252818037652047, 1e-6);
	assert_near(e->loss.lo, 0.9234947736983278, 1e-6);
	assert_near(e->loss.hi, 1.127068833832082, 1e-6);
	assert_int_equal(e->n_figures, C);
	for (size_t i = 0; i < C; i++) {
		for (size_t k = 0; k < C; k++)
			assert_int_equal(e->confusion[i * C + k],
					 confusion[i][k]);
		assert_near(e->classes[i].recall.value, recall[i], 1e-8);
		assert_near(e->classes[i].precision.value, precision[i], 1e-8);
		assert_true(e->classes[i].recall.lo < recall[i] &&
			    recall[i] < e->classes[i].recall.hi);
	}
}

static void
figures_are_those_of_scikit_learn(void **state)
{
	static const struct {
		const char *type;
		enum sl_scores scores;
		int64_t batch;
	} cases[] = {{"Identity", SL_SCORES_LOGITS, 0},
		     {"Identity", SL_SCORES_LOGITS, 1},
		     {"Softmax", SL_SCORES_PROBABILITIES, 7},
		     {"LogSoftmax", SL_SCORES_LOG_PROBABILITIES, 256}};
	static const int64_t rest[] = {C};
	static struct recorded r;
	struct sl_dataset *data = open_recorded(&r);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_evaluate_options how = SL_EVALUATE_OPTIONS_INIT;
		struct sl_graph *graph = build(cases[i].type, 1, rest);
		struct sl_evaluation *e;
		struct sl_error err;

		how.batch = cases[i].batch;
		if (sl_evaluate(&e, graph, data, &how, &err))
			fail_msg("%s", err.text);
		assert_int_equal(e->scores, cases[i].scores);
		assert_int_equal(e->batch, how.batch ? how.batch : 32);
		check_recorded(e);
		sl_evaluation_free(e);
		sl_graph_free(graph);
	}
	sl_dataset_close(data);
}

/* Four sequences of three positions and two classes, of which the first is
 * given: right tokens are 2, 2, 1 and 0 of 2. */
static enum sl_status
fill_tokens(void *ctx, enum sl_split split, size_t index, void *const *inputs,
	    int64_t *labels, struct sl_error *err)
{
	static const int64_t predicted[4][3] = {
		{0, 1, 0}, {1, 1, 1}, {0, 0, 1}, {0, 0, 1}};
	static const int64_t expected[4][3] = {
		{-1, 1, 0}, {-1, 1, 1}, {-1, 0, 0}, {-1, 1, 0}};
	float *scores = inputs[0];

	(void)ctx;
	(void)split;
	(void)err;
	for (size_t i = 0; i < 3; i++) {
		scores[2 * i] = predicted[index][i] ? 0 : 1;
		scores[2 * i + 1] = predicted[index][i] ? 1 : 0;
		labels[i] = expected[index][i];
	}
	return SL_OK;
}

static void
sequences_count_by_token_and_as_a_whole(void **state)
{
	static const int64_t dims[] = {3, 2};
	static const struct sl_data_input input = {"x", SL_DTYPE_F32, 2, dims};
	static const struct sl_data_source source = {.struct_size =
							     sizeof(source),
						     .name = "tokens",
						     .inputs = &input,
						     .n_inputs = 1,
						     .n_labels = 3,
						     .n_classes = 2,
						     .n_samples = {4, 0, 0},
						     .fill = fill_tokens};
	static const uint64_t confusion[] = {2, 2, 1, 3};
	struct sl_graph *graph = build("Identity", 2, dims);
	struct sl_dataset *data;
	struct sl_evaluation *e;
	struct sl_error err;

	(void)state;
	assert_false(sl_dataset_new(&data, &source, NULL, NULL));
	if (sl_evaluate(&e, graph, data, NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(e->kind, SL_ACCURACY_EXACT);
	assert_near(e->accuracy.value, 0.5, 0);
	assert_near(e->token.value, 0.625, 1e-12);
	assert_int_equal(e->top5.n, 0);
	/* A right token costs log(1 + 1/e), a wrong one 1 more: 3 of 8. */
	assert_near(e->loss.value, log(1 + exp(-1)) + 0.375, 1e-6);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(e->confusion[i], confusion[i]);
	sl_evaluation_free(e);
	sl_dataset_close(data);
	sl_graph_free(graph);
}

/* Exponential losses, 359 as of the digits: of 4000 intervals 95 % cover to
 * within 0.35 % of simulation error; that the mean of a skewed sample is not
 * quite normal takes half a percent. */
static void
the_interval_of_losses_covers(void **state)
{
	enum { N_LOSSES = 359, N_TRIALS = 4000 };
	static double x[N_LOSSES];
	struct sl__rng rng;
	size_t n = 0;

	(void)state;
	sl__rng_init(&rng, 11);
	for (size_t t = 0; t < N_TRIALS; t++) {
		struct sl_estimate e;

		for (size_t i = 0; i < N_LOSSES; i++)
			x[i] = sl__rng_exponential(&rng);
		e = sl__student_mean(x, N_LOSSES, 0.05);
		n += e.lo <= 1 && 1 <= e.hi;
	}
	assert_near((double)n / N_TRIALS, 0.947, 0.011);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_scikit_learn),
		cmocka_unit_test(sequences_count_by_token_and_as_a_whole),
		cmocka_unit_test(the_interval_of_losses_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
