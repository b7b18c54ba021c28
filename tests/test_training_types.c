/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_training_types.c - training steps in bf16: their losses are those of f32
 * within bf16's resolution, all states are f32, and updates far below the
 * resolution of a weight in bf16 add up as they do in f32.
 */
#include "engine/training_plan.h"
#include "graph_text.h"

#include <math.h>

/* Three layers of [256][64], a norm, an activation. */
static const char model[] = "in x f32 256,64\n"
			    "const s f32 64 = random\n"
			    "const z f32 64 = random\n"
			    "const w1 f32 64,64 = random\n"
			    "const w2 f32 64,64 = random\n"
			    "const w3 f32 64,5 = random\n"
			    "a = MatMul x w1\n"
			    "b = LayerNormalization a s z\n"
			    "c = MatMul b w2\n"
			    "d = Tanh c\n"
			    "y = MatMul d w3\n"
			    "out y\n";

enum { STEPS = 20, WEIGHTS = 64 * 5 };

struct curve {
	double losses[STEPS];
	float before[WEIGHTS], after[WEIGHTS]; /* w3 */
};

static void
fill_inputs(struct sl__training_plan *p)
{
	const struct sl_graph *graph = p->training->graph;
	const struct sl__block *main = &graph->blocks[0];
	struct sl_error err = {0};

	for (size_t i = 0; i < main->n_inputs; i++) {
		const struct sl__value *v = &graph->values[main->inputs[i]];
		struct sl_array array;
		void *data;

		if (v->kind != SL_VALUE_INPUT)
			continue;
		if (sl_plan_input(p->plan, v->name, &array, &data, &err))
			fail_msg("%s", err.text);
		for (uint64_t k = 0; k < array.n_elements; k++) {
			double x = array.dtype == SL_DTYPE_I64
					   ? (double)(k % 5)
					   : graph_text_random(v->name, k);

			sl__store_doubles(data, array.dtype, k, 1, &x);
		}
	}
}

static void
copy_weights(float *to, struct sl__training_plan *p)
{
	struct sl_error err = {0};

	for (size_t i = 0; i < p->training->n_states; i++) {
		uint32_t old = p->training->states[i].old;
		struct sl_array array;
		void *data;

		if (sl__training_plan_state(p, i, &array, &data, &err))
			fail_msg("%s", err.text);
		assert_int_not_equal(array.dtype, SL_DTYPE_BF16);
		if (!strcmp(p->training->graph->values[old].name, "w3"))
			memcpy(to, data, WEIGHTS * sizeof(*to));
	}
}

static void
train(struct curve *out, enum sl_dtype dtype, enum sl_optimizer optimizer,
      double rate)
{
	const struct sl__training_options training = {.optimizer = optimizer};
	const struct sl_plan_options options = {.struct_size = sizeof(options),
						.n_threads = 1,
						.dtype = dtype,
						.algorithms =
							SL_ALGORITHMS_FIXED};
	struct graph_text *text = graph_text(model);
	struct sl__training_plan *p;
	struct sl_error err = {0};

	if (sl__training_plan_new(&p, text->graph, NULL, &training, &options,
				  &err))
		fail_msg("%s", err.text);
	fill_inputs(p);
	copy_weights(out->before, p);
	for (int i = 0; i < STEPS; i++) {
		if (sl__training_plan_step(p, rate, &out->losses[i], NULL,
					   &err))
			fail_msg("%s", err.text);
	}
	copy_weights(out->after, p);
	sl__training_plan_free(p);
	graph_text_free(text);
}

/* A number in bf16 is off by at most 2^-9; a loss is a mean of 256. */
static void
test_losses_are_close(void **state)
{
	static struct curve f32, bf16;

	(void)state;
	train(&f32, SL_DTYPE_F32, SL_OPTIMIZER_ADAM, 0.01);
	train(&bf16, SL_DTYPE_BF16, SL_OPTIMIZER_ADAM, 0.01);
	for (int i = 0; i < STEPS; i++)
		assert_near(bf16.losses[i], f32.losses[i],
			    0x1p-6 * f32.losses[i]);
	assert_true(bf16.losses[STEPS - 1] < 0.8 * bf16.losses[0]);
}

/* At this rate all steps together move a weight by less than half of what lies
 * between two numbers near 0.1 in bf16: kept so, it would stay. */
static void
test_small_updates_add_up(void **state)
{
	static struct curve f32, bf16;
	double moved = 0, apart = 0;

	(void)state;
	train(&f32, SL_DTYPE_F32, SL_OPTIMIZER_SGD, 1e-5);
	train(&bf16, SL_DTYPE_BF16, SL_OPTIMIZER_SGD, 1e-5);
	assert_memory_equal(f32.before, bf16.before, sizeof(f32.before));
	for (int i = 0; i < WEIGHTS; i++) {
		double by = (double)f32.after[i] - (double)f32.before[i];

		assert_true(fabs(by) < 0x1p-13);
		moved += fabs(by);
		apart += fabs((double)bf16.after[i] - (double)f32.after[i]);
	}
	assert_true(moved > 0);
	assert_true(apart < 0.05 * moved);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses_are_close),
		cmocka_unit_test(test_small_updates_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
