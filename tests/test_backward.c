/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_backward.c - FLOPs and memory of a training step: published figures of
 * whole models, and small graphs worked out by hand.
 */
#include "surveyed.h"
#include "inspected.h"

/* Forward and backward: 3 x forward, less the gradient of the first layer's
 * input, which nobody needs; models fed by an embedding need all of it. */
static void
test_published_flops(void **state)
{
	static const struct {
		const char *model;
		uint64_t total_flops;
	} rows[] = {{"resnet50", 24299077632},
		    {"vit-b-16", 105151758336},
		    {"bert-base", 67045294080}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_inspection *seen = inspect(rows[i].model, 0);

		assert_int_equal(seen->training.total_flops,
				 rows[i].total_flops);
		assert_int_equal(seen->training.forward_flops +
					 seen->training.backward_flops,
				 rows[i].total_flops);
		sl_inspection_free(seen);
	}
}

/* 16 bytes per parameter with Adam: GPT-2 1,991,036,928 B. */
static void
test_published_state(void **state)
{
	struct sl_inspection *seen = inspect("gpt2", 0);
	const struct sl_training *t = &seen->training;
	uint64_t n = seen->parameters.trainable;

	(void)state;
	assert_int_equal(t->parameter_bytes + t->gradient_bytes +
				 t->optimizer_bytes[SL_OPTIMIZER_ADAM],
			 1991036928);
	assert_int_equal(t->phase_bytes[SL_OPTIMIZER_ADAM][SL_PHASE_UPDATE],
			 1991036928 + t->other_bytes);
	assert_int_equal(t->optimizer_bytes[SL_OPTIMIZER_SGD], 0);
	assert_int_equal(t->optimizer_bytes[SL_OPTIMIZER_MOMENTUM], 4 * n);
	assert_int_equal(t->optimizer_bytes[SL_OPTIMIZER_ADAMW], 8 * n);
	assert_int_equal(t->total_bytes[SL_OPTIMIZER_ADAM],
			 1991036928 + t->other_bytes + t->activation_bytes);
	assert_true(t->peak_bytes[SL_OPTIMIZER_ADAM] >= 1991036928);
	assert_int_equal(t->total_bytes[SL_OPTIMIZER_ADAM] -
				 t->total_bytes[SL_OPTIMIZER_SGD],
			 8 * n);
	sl_inspection_free(seen);
}

/*
 * x [4][3] -> 5 -> relu -> 2: forward 60 + 40 MACs; backward the weights'
 * gradients (60 + 40) and that of the hidden layer (40).
 */
static void
test_mlp(void **state)
{
	struct surveyed *s =
		survey("in x f32 4,3\n"
		       "const w f32 3,5 = 1,2,3,4,5,6,7,8,9,1,2,3,4,5,6\n"
		       "const v f32 5,2 = 1,2,3,4,5,6,7,8,9,2\n"
		       "const b f32 2 = 1,2\n"
		       "h = MatMul x w\n"
		       "r = Relu h\n"
		       "y = Gemm r v b\n"
		       "out y\n");
	const struct sl_training *t = &s->training;

	(void)state;
	assert_int_equal(t->forward_flops, 2 * 100);
	assert_int_equal(t->backward_flops, 2 * 140);
	assert_near(t->backward_to_forward, 1.4, 1e-12);
	assert_int_equal(t->parameter_bytes, 4 * 27);
	/* x for the first weight; r for the second and for its own slope. */
	assert_int_equal(t->activation_bytes, 4 * (12 + 20));
	/* At the Relu of the forward pass x, h and r are there. */
	assert_int_equal(t->phase_bytes[SL_OPTIMIZER_ADAM][SL_PHASE_FORWARD],
			 4 * 27 * 3 + 4 * (12 + 20 + 20));
	/*
	 * Backwards, at y: kept x, r; gradients of y, r, and of v and b.
	 * At r: kept x, r; gradients of r, h, v, b.  At h: kept x; gradients
	 * of h, v, b, w.
	 */
	assert_int_equal(t->phase_bytes[SL_OPTIMIZER_ADAM][SL_PHASE_BACKWARD],
			 4 * 27 * 3 + 4 * (12 + 20 + 20 + 20 + 12));
	assert_int_equal(t->phase_bytes[SL_OPTIMIZER_SGD][SL_PHASE_BACKWARD],
			 4 * 27 + 4 * (12 + 20 + 20 + 20 + 12));
	assert_int_equal(
		t->phase_bytes[SL_OPTIMIZER_MOMENTUM][SL_PHASE_FORWARD],
		4 * 27 * 2 + 4 * (12 + 20 + 20));
	assert_int_equal(t->phase_bytes[SL_OPTIMIZER_ADAM][SL_PHASE_UPDATE],
			 4 * 27 * 4);
	/* At the peak, r: the gradients of v and b are there. */
	assert_int_equal(t->peak_phase, SL_PHASE_BACKWARD);
	assert_int_equal(t->needs[SL_PHASE_BACKWARD].gradient_bytes, 4 * 12);
	assert_int_equal(t->needs[SL_PHASE_BACKWARD].activation_bytes,
			 4 * (12 + 20 + 20 + 20));
	surveyed_free(s);
}

/* Every turn of a loop keeps what its gradients need: h of 3 numbers, 5
 * times.  Both gradients of a quotient are computed from its divisor. */
static void
test_loops_and_quotients(void **state)
{
	struct surveyed *s = survey("in x f32 1,3\n"
				    "const n i64 - = 5\n"
				    "const w f32 3,3 = 1,2,3,4,5,6,7,8,9\n"
				    "block body\n"
				    "in i i64 -\n"
				    "in more bool -\n"
				    "in h f32 1,3\n"
				    "still = Identity more\n"
				    "a = MatMul h w\n"
				    "r = Relu a\n"
				    "out still\n"
				    "out r\n"
				    "end\n"
				    "y = Loop n - x body=@body\n"
				    "out y\n");

	(void)state;
	/* r of each turn for its slope; x, which the first turn begins with,
	 * for the gradient of w. */
	assert_int_equal(s->training.activation_bytes, 12 + 5 * 12);
	surveyed_free(s);
	s = survey("in x f32 1,3\n"
		   "const w f32 3,3 = 1,2,3,4,5,6,7,8,9\n"
		   "a = MatMul x w\n"
		   "y = Div x a\n"
		   "out y\n");
	assert_int_equal(s->training.activation_bytes, 12 + 12);
	surveyed_free(s);
}

/* What is stored and not trained is there all the time: a mask of 64 bytes, a
 * threshold of 4. */
static void
test_other_stored_numbers(void **state)
{
	struct surveyed *s = survey("in x f32 1,2\n"
				    "const w f32 2,2 = 1,2,3,4\n"
				    "const m bool 2,2 = 1,0,1,0\n"
				    "const z f32 - = 0\n"
				    "a = MatMul x w\n"
				    "y = Where m a z\n"
				    "out y\n");
	const struct sl_training *t = &s->training;

	(void)state;
	assert_int_equal(t->parameter_bytes, 16);
	assert_int_equal(t->other_bytes, 4 + 4);
	assert_int_equal(t->integer_bytes, 0);
	/* x is kept; a and y at the Where. */
	assert_int_equal(t->phase_bytes[SL_OPTIMIZER_SGD][SL_PHASE_FORWARD],
			 16 + 8 + 8 + 8 + 16);
	assert_int_equal(t->total_bytes[SL_OPTIMIZER_NONE], 16 + 8 + 8 + 16);
	surveyed_free(s);
}

/* Training holds what inference does, and more, whatever the optimizer. */
static void
test_needs_no_less_than_inference(void **state)
{
	static const char *const models[] = {"resnet18", "lstm", "gpt2@kv",
					     "bert-base", "mobilenetv2"};

	(void)state;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		struct sl_inspection *seen = inspect(models[i], 0);
		const struct sl_training *t = &seen->training;

		assert_int_equal(t->parameter_bytes + t->other_bytes,
				 seen->memory.parameter_bytes);
		for (int o = SL_OPTIMIZER_SGD; o < SL_N_OPTIMIZERS; o++)
			assert_true(t->peak_bytes[o] >=
				    seen->memory.parameter_bytes +
					    seen->memory.live_bytes);
		sl_inspection_free(seen);
	}
}

/* A constant factor needs no gradient, nor does what depends on inputs only;
 * a product of two activations needs both of its own. */
static void
test_reach(void **state)
{
	struct surveyed *s = survey("in x f32 2,2\n"
				    "in z f32 2,2\n"
				    "const w f32 2,2 = 1,2,3,4\n"
				    "free = MatMul x z\n"
				    "a = MatMul free w\n"
				    "b = MatMul a z\n"
				    "c = MatMul a b\n"
				    "i = ArgMax c axis=1 keepdims=0\n"
				    "d = Gather c i\n"
				    "out d\n");

	(void)state;
	assert_int_equal(s->training.forward_flops, 2 * 4 * 8);
	/* a: w; b: a; c: a and b. */
	assert_int_equal(s->training.backward_flops, 2 * 4 * 8);
	surveyed_free(s);
}

/* Nothing to train. */
static void
test_no_weights(void **state)
{
	struct surveyed *s = survey("in x f32 2,2\n"
				    "y = MatMul x x\n"
				    "out y\n");

	(void)state;
	assert_int_equal(s->training.backward_flops, 0);
	assert_int_equal(s->training.gradient_bytes, 0);
	assert_int_equal(s->training.activation_bytes, 0);
	surveyed_free(s);
}

/* What a loop computes from a weight comes in again. */
static void
test_loop(void **state)
{
	struct surveyed *s = survey("in x f32 1,2\n"
				    "const n i64 - = 3\n"
				    "const go bool - = 1\n"
				    "const w f32 2,2 = 1,2,3,4\n"
				    "block body\n"
				    "in i i64 -\n"
				    "in more bool -\n"
				    "in h f32 1,2\n"
				    "still = Identity more\n"
				    "c = MatMul h w\n"
				    "out still\n"
				    "out c\n"
				    "end\n"
				    "y = Loop n go x body=@body\n"
				    "out y\n");

	(void)state;
	assert_int_equal(s->training.forward_flops, 2 * 3 * 4);
	assert_int_equal(s->training.backward_flops, 2 * 2 * 3 * 4);
	surveyed_free(s);
}

#ifdef SL_TEST_MODELS
/* The same networks stored in different ways train alike: as an LSTM or as
 * its products, in f32 or quantized. */
static void
test_same_networks(void **state)
{
	static const char *const pairs[][2] = {
		{"silero_vad_v6", "silero_vad_op18_ifless"},
		{"micro_kws_fp32", "micro_kws_qdq"},
		{"micro_kws_fp32", "micro_kws_qop"},
	};
	char path[512], inputs[512];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint64_t flops[2];

		for (int k = 0; k < 2; k++) {
			struct sl_sizes sizes = {.struct_size = sizeof(sizes),
						 .inputs_folder = inputs};
			struct sl_inspect_options how = {.struct_size =
								 sizeof(how),
							 .sizes = &sizes,
							 .brief = 1};
			struct sl_inspection *seen = NULL;
			struct sl_graph *graph;
			struct sl_error err;

			snprintf(path, sizeof(path), "%s/%s/model.onnx",
				 SL_TEST_MODELS, pairs[i][k]);
			snprintf(inputs, sizeof(inputs),
				 "%s/%s/test_data_set_0", SL_TEST_MODELS,
				 pairs[i][k]);
			if (sl_graph_open(&graph, path, NULL, &err) ||
			    sl_inspect(&seen, graph, &how, &err))
				fail_msg("%s", err.text);
			flops[k] = seen->training.total_flops;
			sl_inspection_free(seen);
			sl_graph_free(graph);
		}
		assert_int_equal(flops[0], flops[1]);
	}
}
#endif

/* Fed by an embedding, so that nothing is saved at the first layer. */
static void
test_recurrent_products_cost_three_times(void **state)
{
	struct sl_inspection *seen = inspect("lstm", 0);

	(void)state;
	assert_int_equal(seen->training.total_flops,
			 3 * seen->training.forward_flops);
	sl_inspection_free(seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_flops),
		cmocka_unit_test(test_published_state),
		cmocka_unit_test(test_mlp),
		cmocka_unit_test(test_loops_and_quotients),
		cmocka_unit_test(test_other_stored_numbers),
		cmocka_unit_test(test_needs_no_less_than_inference),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_no_weights),
		cmocka_unit_test(test_loop),
#ifdef SL_TEST_MODELS
		cmocka_unit_test(test_same_networks),
#endif
		cmocka_unit_test(test_recurrent_products_cost_three_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
