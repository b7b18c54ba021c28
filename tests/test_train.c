/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_train.c - a model trained on samples whose answer is known: the loss
 * falls, the test split is right, a run that is interrupted and resumed has the
 * bits of one that was not, and an early stop has the best parameters.
 */
#include "harness.h"
#include "sleuth.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "test_train.checkpoint";

/* The class is the larger of two numbers, of which no two samples are alike. */
static enum sl_status
fill_larger(void *ctx, enum sl_split split, size_t index, void *const *inputs,
	    int64_t *labels, struct sl_error *err)
{
	size_t k = index * 3 + (size_t)split;
	float *x = inputs[0];

	(void)ctx;
	(void)err;
	x[0] = (float)(k * 7919 % 1009) / 1009;
	x[1] = (float)(k * 104729 % 997) / 997;
	labels[0] = x[1] > x[0];
	return SL_OK;
}

struct task {
	struct sl_dataset *data;
	struct sl_graph *graph;
	struct sl_train_options how;
	struct sl_plan_options plan;
};

static const int64_t two = 2;
static const struct sl_data_input numbers = {"", SL_DTYPE_F32, 1, &two};

static void
setup(struct task *t)
{
	struct sl_data_source source = SL_DATA_SOURCE_INIT;
	struct sl_error err = {0};

	memset(t, 0, sizeof(*t));
	source.name = "larger";
	source.inputs = &numbers;
	source.n_inputs = source.n_labels = 1;
	source.n_classes = 2;
	source.n_samples[SL_SPLIT_TRAIN] = 320;
	source.n_samples[SL_SPLIT_VALIDATION] = 64;
	source.n_samples[SL_SPLIT_TEST] = 100;
	source.fill = fill_larger;
	if (sl_dataset_new(&t->data, &source, NULL, &err) ||
	    sl_graph_open(&t->graph, "mlp:2-16-2", NULL, &err))
		fail_msg("%s", err.text);
	t->plan = (struct sl_plan_options){.struct_size = sizeof(t->plan),
					   .n_threads = 1,
					   .algorithms = SL_ALGORITHMS_FIXED};
	t->how = (struct sl_train_options){
		.struct_size = sizeof(t->how), .plan = &t->plan, .n_epochs = 6};
}

static void
teardown(struct task *t)
{
	sl_graph_free(t->graph);
	sl_dataset_close(t->data);
	unlink(path);
}

static struct sl_train_result *
train(const struct task *t)
{
	struct sl_train_result *found;
	struct sl_error err = {0};

	if (sl_train(&found, t->graph, t->data, &t->how, &err))
		fail_msg("%s", err.text);
	return found;
}

/* Its output for one sample, by which parameters are compared. */
static void
run_model(const struct sl_graph *graph, float out[2])
{
	struct sl_plan *plan;
	struct sl_array a;
	struct sl_error err = {0};

	if (sl_plan_new(&plan, graph, NULL, &err) ||
	    sl_plan_fill_inputs(plan, 3, &err) || sl_plan_run(plan, &err) ||
	    sl_plan_output(plan, "y", &a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(a.n_bytes, 8);
	memcpy(out, a.data, 8);
	sl_plan_free(plan);
}

static void
it_learns(void **state)
{
	struct task t;
	struct sl_train_result *r;

	(void)state;
	setup(&t);
	t.how.n_epochs = 40;
	r = train(&t);
	assert_int_equal(r->n_done, 400);
	assert_int_equal(r->n_steps, 400);
	assert_int_equal(r->parameters, 2 * 16 + 16 + 16 * 2 + 2);
	assert_int_equal(r->n_points, 40);
	assert_true(r->n_curve <= 200);
	assert_int_equal(r->curve[r->n_curve - 1].step, 400);
	assert_true(r->curve[r->n_curve - 1].loss < r->curve[0].loss);
	assert_int_equal(r->test.accuracy.n, 100);
	assert_true(r->test.accuracy.value >= 0.95);
	assert_true(r->test.accuracy.lo < r->test.accuracy.value);
	assert_null(r->unevaluated);
	sl_train_free(r);
	teardown(&t);
}

static volatile sig_atomic_t stop;

static void
stop_at_25(const struct sl_train_progress *now, void *ctx)
{
	(void)ctx;
	stop = now->step >= 25;
}

static void
resumed_to_the_same_bits(void **state)
{
	struct task t;
	struct sl_train_result *whole, *half, *rest;
	float a[2], b[2];

	(void)state;
	setup(&t);
	whole = train(&t);
	t.how.checkpoint = path;
	t.how.progress = stop_at_25;
	t.how.interrupt = &stop;
	half = train(&t);
	assert_int_equal(half->end, SL_TRAIN_INTERRUPTED);
	assert_int_equal(half->n_done, 25);
	assert_int_equal(half->test.accuracy.n, 0);
	assert_non_null(half->unevaluated);
	stop = 0;
	t.how.progress = NULL;
	t.how.is_resumed = 1;
	rest = train(&t);
	assert_int_equal(rest->end, SL_TRAIN_FINISHED);
	assert_int_equal(rest->resumed_at, 25);
	run_model(whole->trained, a);
	run_model(rest->trained, b);
	assert_memory_equal(a, b, sizeof(a));
	run_model(half->trained, b);
	assert_memory_not_equal(a, b, sizeof(a));
	assert_int_equal(whole->n_curve, rest->n_curve);
	assert_memory_equal(whole->curve, rest->curve,
			    whole->n_curve * sizeof(*whole->curve));
	assert_memory_equal(whole->validation, rest->validation,
			    whole->n_points * sizeof(*whole->validation));
	sl_train_free(whole);
	sl_train_free(half);
	sl_train_free(rest);
	teardown(&t);
}

/* At such a rate the loss of the validation split rises again at once. */
static void
an_early_stop_has_the_best(void **state)
{
	const struct sl_training_options wild = {.struct_size = sizeof(wild),
						 .optimizer = SL_OPTIMIZER_SGD,
						 .learning_rate = 30};
	struct task t;
	struct sl_train_result *r;
	double best = 1e300;
	uint64_t step = 0;

	(void)state;
	setup(&t);
	t.how.n_epochs = 200;
	t.how.training = &wild;
	t.how.patience = 2;
	r = train(&t);
	assert_int_equal(r->end, SL_TRAIN_STOPPED_EARLY);
	for (size_t i = 0; i < r->n_points; i++) {
		if (r->validation[i].loss < best) {
			best = r->validation[i].loss;
			step = r->validation[i].step;
		}
	}
	assert_int_equal(r->best_step, step);
	assert_int_equal(r->n_done, step + 2 * 10);
	sl_train_free(r);
	teardown(&t);
}

static void
what_does_not_fit_is_named(void **state)
{
	static const struct {
		const char *model, *text;
	} cases[] = {
		{"mlp:3-2", "input 'x' of the model takes 3; a sample of "
			    "larger has 2"},
		{"mlp:2-1", "larger has 2 classes; output 'y' has scores for "
			    "1"},
	};
	struct task t;
	struct sl_train_result *r;
	struct sl_error err;

	(void)state;
	setup(&t);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sl_graph_free(t.graph);
		assert_int_equal(
			sl_graph_open(&t.graph, cases[i].model, NULL, &err),
			SL_OK);
		assert_int_equal(sl_train(&r, t.graph, t.data, &t.how, &err),
				 SL_E_DATA);
		assert_string_equal(err.text, cases[i].text);
		assert_null(r);
	}
	t.how.is_resumed = 1;
	assert_int_equal(sl_train(&r, t.graph, t.data, &t.how, &err),
			 SL_E_USAGE);
	teardown(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_learns),
		cmocka_unit_test(resumed_to_the_same_bits),
		cmocka_unit_test(an_early_stop_has_the_best),
		cmocka_unit_test(what_does_not_fit_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
