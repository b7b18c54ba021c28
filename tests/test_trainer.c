/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trainer.c - training through the public functions: losses fall, what is
 * frozen stays, gradients are those of the loss, wrong input is refused.
 */
#include "harness.h"
#include "sleuth.h"

#include <math.h>
#include <string.h>

static struct sl_graph *
open_model(const char *name)
{
	struct sl_graph *graph;
	struct sl_error err = {0};

	if (sl_graph_open(&graph, name, NULL, &err))
		fail_msg("%s", err.text);
	return graph;
}

static struct sl_trainer *
open_trainer(const struct sl_graph *graph,
	     const struct sl_training_options *how)
{
	struct sl_plan_options plan = SL_PLAN_OPTIONS_INIT;
	struct sl_sizes sizes = SL_SIZES_INIT;
	struct sl_trainer *trainer;
	struct sl_error err = {0};

	sizes.batch = 4;
	plan.sizes = &sizes;
	plan.n_threads = 1;
	plan.algorithms = SL_ALGORITHMS_FIXED;
	if (sl_trainer_open(&trainer, graph, how, &plan, &err))
		fail_msg("%s", err.text);
	return trainer;
}

static double
step(struct sl_trainer *trainer)
{
	struct sl_error err = {0};
	double loss = -1;

	if (sl_train_step(trainer, &loss, &err))
		fail_msg("%s", err.text);
	return loss;
}

static const float *
parameter(struct sl_trainer *trainer, const char *name, uint64_t *n)
{
	struct sl_array array;
	struct sl_error err = {0};

	if (sl_trainer_parameter(trainer, name, &array, &err))
		fail_msg("%s", err.text);
	*n = array.n_elements;
	return array.data;
}

static void
test_losses_fall(void **state)
{
	struct sl_graph *graph = open_model("mlp:8-6-3");

	(void)state;
	for (int loss = 0; loss < SL_N_LOSSES; loss++) {
		for (int o = SL_OPTIMIZER_SGD; o < SL_N_OPTIMIZERS; o++) {
			struct sl_training_options how =
				SL_TRAINING_OPTIONS_INIT;
			struct sl_trainer *trainer;
			double first, last = 0;

			how.loss = (enum sl_loss)loss;
			how.optimizer = (enum sl_optimizer)o;
			how.learning_rate = 0.01;
			trainer = open_trainer(graph, &how);
			first = step(trainer);
			for (int i = 0; i < 20; i++)
				last = step(trainer);
			if (!(last < first))
				fail_msg("%s, %s: %g, then %g",
					 sl_loss_text(how.loss),
					 sl_optimizer_text(how.optimizer),
					 first, last);
			assert_true(sl_trainer_has_synthetic_target(trainer));
			sl_trainer_close(trainer);
		}
	}
	sl_graph_free(graph);
}

/* Of SGD, an update is the rate times the gradient. */
static void
test_gradients_are_what_sgd_takes_off(void **state)
{
	struct sl_graph *graph = open_model("mlp:8-6-3");
	struct sl_training_options how = SL_TRAINING_OPTIONS_INIT;
	struct sl_trainer *trainer;
	struct sl_array gradient;
	struct sl_error err = {0};
	const char *name;
	float before[64];
	uint64_t n;

	(void)state;
	how.optimizer = SL_OPTIMIZER_SGD;
	how.learning_rate = 0.5;
	how.flags = SL_TRAINING_KEEP_GRADIENTS;
	trainer = open_trainer(graph, &how);
	assert_int_equal(sl_trainer_n_parameters(trainer), 4);
	name = sl_trainer_parameter_name(trainer, 0);
	assert_null(sl_trainer_parameter_name(trainer, 4));
	memcpy(before, parameter(trainer, name, &n), sizeof(float) * 48);
	assert_int_equal(n, 48);
	assert_int_equal(sl_trainer_gradient(trainer, name, &gradient, &err),
			 SL_E_USAGE);
	step(trainer);
	assert_int_equal(sl_trainer_gradient(trainer, name, &gradient, &err),
			 SL_OK);
	assert_int_equal(gradient.n_elements, n);
	for (uint64_t i = 0; i < n; i++) {
		float after = parameter(trainer, name, &n)[i];
		float g = ((const float *)gradient.data)[i];

		assert_true(fabsf(before[i] - 0.5f * g - after) < 1e-6f);
	}
	assert_int_equal(sl_trainer_parameter(trainer, "none", &gradient, &err),
			 SL_E_DATA);
	sl_trainer_close(trainer);
	sl_graph_free(graph);
}

static void
test_frozen_parameters_are_not_trained(void **state)
{
	struct sl_graph *graph = open_model("mlp:8-6-3");
	struct sl_training_options how = SL_TRAINING_OPTIONS_INIT;
	struct sl_trainer *trainer = open_trainer(graph, &how);
	struct sl_error err = {0};
	char pattern[200];
	size_t n = sl_trainer_n_parameters(trainer);

	(void)state;
	snprintf(pattern, sizeof(pattern), "^%s$",
		 sl_trainer_parameter_name(trainer, 0));
	how.freeze = pattern;
	sl_trainer_close(trainer);
	trainer = open_trainer(graph, &how);
	assert_int_equal(sl_trainer_n_parameters(trainer), n - 1);
	sl_trainer_close(trainer);
	how.freeze = "nothing is called so";
	assert_int_equal(sl_trainer_open(&trainer, graph, &how, NULL, &err),
			 SL_E_DATA);
	assert_null(trainer);
	how.freeze = ".*";
	assert_int_equal(sl_trainer_open(&trainer, graph, &how, NULL, &err),
			 SL_E_DATA);
	assert_string_equal(err.text, "all parameters are frozen: there is "
				      "nothing to train");
	how.freeze = "(";
	assert_int_equal(sl_trainer_open(&trainer, graph, &how, NULL, &err),
			 SL_E_DATA);
	sl_graph_free(graph);
}

static void
test_targets_are_checked(void **state)
{
	struct sl_graph *graph = open_model("mlp:8-6-3");
	struct sl_training_options how = SL_TRAINING_OPTIONS_INIT;
	struct sl_trainer *trainer = open_trainer(graph, &how);
	int64_t classes[] = {0, 2, 1, 2}, dims[] = {4};
	struct sl_array target = {.dtype = SL_DTYPE_I64,
				  .rank = 1,
				  .dims = dims,
				  .data = classes};
	struct sl_error err = {0};
	double given, drawn;

	(void)state;
	assert_int_equal(sl_trainer_set_input(trainer, "target", &target, &err),
			 SL_OK);
	given = step(trainer);
	assert_false(sl_trainer_has_synthetic_target(trainer));
	classes[3] = 3;
	assert_int_equal(sl_trainer_set_input(trainer, "target", &target, &err),
			 SL_E_DATA);
	assert_string_equal(err.text,
			    "target 3 is class 3: the output has 3 classes");
	drawn = step(trainer);
	assert_true(given != drawn);
	assert_true(sl_trainer_has_synthetic_target(trainer));
	assert_int_equal(sl_trainer_set_input(
				 trainer, sl_trainer_parameter_name(trainer, 0),
				 &target, &err),
			 SL_E_DATA);
	sl_trainer_close(trainer);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses_fall),
		cmocka_unit_test(test_gradients_are_what_sgd_takes_off),
		cmocka_unit_test(test_frozen_parameters_are_not_trained),
		cmocka_unit_test(test_targets_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
