/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile_backward.c - proves that a profile of the backward pass has
 * forward, loss and backward and no update, whatever optimizer is asked for,
 * and that one of a training step has the update too.
 */
#include "harness.h"
#include "sleuth.h"

typedef enum sl_status profile_function(struct sl_profile **,
					const struct sl_graph *,
					const struct sl_training_options *,
					const struct sl_profile_options *,
					struct sl_error *);

/* Which phases take time, a bit each. */
static unsigned
phases_of(profile_function *profile, const struct sl_training_options *training)
{
	struct sl_profile_options how = SL_PROFILE_OPTIONS_INIT;
	struct sl_graph *graph;
	struct sl_profile *p;
	struct sl_error err;
	unsigned seen = 0;

	how.flags = SL_PROFILE_BRIEF;
	how.n_runs = 3;
	if (sl_graph_open(&graph, "mlp:16-8-4", NULL, &err) ||
	    profile(&p, graph, training, &how, &err))
		fail_msg("%s", err.text);
	assert_non_null(p->training);
	for (size_t i = 0; i < p->training->n_phases; i++)
		seen |= 1u << p->training->phases[i].phase;
	assert_true(p->training->step_ns > 0);
	sl_profile_free(p);
	sl_graph_free(graph);
	return seen;
}

static void
the_update_is_left_out(void **state)
{
	const unsigned gradients = 1u << SL_PHASE_FORWARD |
				   1u << SL_PHASE_LOSS |
				   1u << SL_PHASE_BACKWARD;
	struct sl_training_options adam = SL_TRAINING_OPTIONS_INIT;

	(void)state;
	adam.optimizer = SL_OPTIMIZER_ADAM;
	assert_int_equal(phases_of(sl_profile_backward, NULL), gradients);
	assert_int_equal(phases_of(sl_profile_backward, &adam), gradients);
	assert_int_equal(phases_of(sl_profile_training, &adam),
			 gradients | 1u << SL_PHASE_UPDATE);
}

static void
options_of_another_size_are_refused(void **state)
{
	struct sl_training_options training = {.struct_size = 3};
	struct sl_graph *graph;
	struct sl_profile *p;
	struct sl_error err;

	(void)state;
	if (sl_graph_open(&graph, "mlp:16-8-4", NULL, &err))
		fail_msg("%s", err.text);
	assert_int_equal(sl_profile_backward(&p, graph, &training, NULL, &err),
			 SL_E_USAGE);
	assert_null(p);
	sl_graph_free(graph);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_update_is_left_out),
		cmocka_unit_test(options_of_another_size_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
