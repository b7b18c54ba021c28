/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_recurrent.c - proves that LSTM, GRU and RNN run over samples of
 * different lengths in all directions, with the states, peepholes, clips and
 * activations that a node may have.
 *
 * The figures of whole sequences are those of the formulas in ONNX's
 * description, computed with NumPy in 64 bits (oracles/recurrent.py); the
 * rest are closed forms.
 */
#include "evaluated.h"

#define X_STEPS   "f64[3,2,1]={-0.3,0.4,-0.2,0.5,-0.1,0.6}"
#define X_SAMPLES "f64[2,3,1]={-0.3,-0.2,-0.1,0.4,0.5,0.6}"
#define LENGTHS   "i32[2]={2,3}"

/* Both directions of an LSTM of one unit, with everything there is. */
#define LSTM_WEIGHTS                                                         \
	"f64[2,4,1]={0.2,-0.4,0.3,-0.3,0.4,-0.2,0.5,-0.1}, "                 \
	"f64[2,4,1]={-0.6,0.1,-0.5,0.2,-0.4,0.3,-0.3,0.4}, "                 \
	"f64[2,8]={-0.1,0.6,0,-0.6,0.1,-0.5,0.2,-0.4,0.3,-0.3,0.4,-0.2,0.5," \
	"-0.1,0.6,0}"
#define PEEPHOLES "f64[2,3]={0.1,-0.5,0.2,-0.4,0.3,-0.3}"

static void
test_reverse_lstm_starts_at_each_samples_end(void **state)
{
	(void)state;
	check_evaluated("LSTM 14 (" X_STEPS ", f64[1,4,1]={0.2,-0.4,0.3,-0.3}, "
			"f64[1,4,1]={-0.6,0.1,-0.5,0.2}, _, " LENGTHS ") "
			"hidden_size=1 direction=reverse -> 3",
			"f64[3,1,2,1]={0.03112475,-0.06458039,0.01526502,"
			"-0.06008682,0,-0.04142974} "
			"f64[1,2,1]={0.03112475,-0.06458039} "
			"f64[1,2,1]={0.05875533,-0.141765}");
}

static void
test_bidirectional_lstm_with_all_inputs(void **state)
{
	(void)state;
	check_evaluated(
		"LSTM 14 (" X_STEPS ", " LSTM_WEIGHTS ", " LENGTHS ", "
		"f64[2,2,1]={0.4,-0.2,0.5,-0.1}, "
		"f64[2,2,1]={-0.4,0.3,-0.3,0.4}, " PEEPHOLES ") "
		"hidden_size=1 direction=bidirectional -> 3",
		"f64[3,2,2,1]={-0.2700239,-0.1365596,-0.1060607,-0.08910982,"
		"-0.3518886,-0.296108,-0.0840164,-0.03334461,0,-0.3841448,0,"
		"0.03709328} "
		"f64[2,2,1]={-0.3518886,-0.3841448,-0.1060607,-0.08910982} "
		"f64[2,2,1]={-0.6479542,-0.8361682,-0.279269,-0.251093}");
}

/* The same numbers, the samples first. */
static void
test_layout_puts_samples_first(void **state)
{
	(void)state;
	check_evaluated(
		"LSTM 14 (" X_SAMPLES ", " LSTM_WEIGHTS ", " LENGTHS ", "
		"f64[2,2,1]={0.4,0.5,-0.2,-0.1}, "
		"f64[2,2,1]={-0.4,-0.3,0.3,0.4}, " PEEPHOLES ") "
		"hidden_size=1 direction=bidirectional layout=1 -> 3",
		"f64[2,3,2,1]={-0.2700239,-0.1060607,-0.3518886,-0.0840164,0,"
		"0,-0.1365596,-0.08910982,-0.296108,-0.03334461,-0.3841448,"
		"0.03709328} "
		"f64[2,2,1]={-0.3518886,-0.1060607,-0.3841448,-0.08910982} "
		"f64[2,2,1]={-0.6479542,-0.279269,-0.8361682,-0.251093}");
}

/* The clip bounds the gates; the cells, beyond it, stay as they are. */
static void
test_coupled_and_clipped_lstm(void **state)
{
	(void)state;
	check_evaluated("LSTM 14 (" X_STEPS ", f64[1,4,1]={0.2,-0.4,0.3,-0.3}, "
			"f64[1,4,1]={-0.6,0.1,-0.5,0.2}, _, _, _, "
			"f64[1,2,1]={0.9,-0.4}) hidden_size=1 input_forget=1 "
			"clip=0.2 -> 3",
			"f64[3,1,2,1]={0.2478255,-0.1144571,0.1660792,"
			"-0.09280683,0.1028827,-0.08971607} "
			"f64[1,2,1]={0.1028827,-0.08971607} "
			"f64[1,2,1]={0.20284,-0.2019988}");
}

#define GRU_INPUTS                                                            \
	X_STEPS                                                               \
	", f64[2,6,1]={0.2,-0.4,0.3,-0.3,0.4,-0.2,0.5,-0.1,0.6,0,-0.6,0.1}, " \
	"f64[2,6,2]={-0.6,0.1,-0.5,0.2,-0.4,0.3,-0.3,0.4,-0.2,0.5,-0.1,0.6,"  \
	"0,-0.6,0.1,-0.5,0.2,-0.4,0.3,-0.3,0.4,-0.2,0.5,-0.1}, "              \
	"f64[2,12]={-0.1,0.6,0,-0.6,0.1,-0.5,0.2,-0.4,0.3,-0.3,0.4,-0.2,0.5," \
	"-0.1,0.6,0,-0.6,0.1,-0.5,0.2,-0.4,0.3,-0.3,0.4}, " LENGTHS           \
	", f64[2,2,2]={0.4,-0.2,0.5,-0.1,0.6,0,-0.6,0.1}"

static void
test_gru_resets_before_the_product(void **state)
{
	(void)state;
	check_evaluated(
		"GRU 14 (" GRU_INPUTS ") hidden_size=2 "
		"direction=bidirectional linear_before_reset=0 -> 2",
		"f64[3,2,2,2]={0.3465302,-0.3916324,0.5173624,-0.420805,"
		"-0.372264,0.3412048,-0.8356936,0.2909033,0.3345252,"
		"-0.5074611,0.5290002,-0.5873835,-0.01440883,0.2586274,"
		"-0.8005558,0.2804967,0,0,0.5446293,-0.6691326,0,0,-0.7269649,"
		"0.2337743} f64[2,2,2]={0.3345252,-0.5074611,0.5446293,"
		"-0.6691326,-0.372264,0.3412048,-0.8356936,0.2909033}");
}

static void
test_gru_resets_after_the_product(void **state)
{
	(void)state;
	check_evaluated(
		"GRU 14 (" GRU_INPUTS ") hidden_size=2 "
		"direction=bidirectional linear_before_reset=1 -> 2",
		"f64[3,2,2,2]={0.2275814,-0.3392222,0.4346367,-0.3632897,"
		"-0.2812571,0.2493092,-0.8031828,0.1471811,0.1677193,"
		"-0.4233119,0.3929049,-0.5000353,0.03707972,0.2147404,"
		"-0.7766918,0.1583748,0,0,0.3767617,-0.5706817,0,0,-0.7146943,"
		"0.1538792} f64[2,2,2]={0.1677193,-0.4233119,0.3767617,"
		"-0.5706817,-0.2812571,0.2493092,-0.8031828,0.1471811}");
}

static void
test_reverse_rnn_starts_at_each_samples_end(void **state)
{
	(void)state;
	check_evaluated("RNN 14 (" X_STEPS ", f64[1,2,1]={0.2,-0.4}, "
			"f64[1,2,2]={-0.6,0.1,-0.5,0.2}, _, " LENGTHS ") "
			"hidden_size=2 direction=reverse -> 2",
			"f64[3,1,2,2]={-0.02802248,0.1547031,0.04733471,"
			"-0.218332,-0.03997868,0.07982977,0.004794009,"
			"-0.2975348,0,0,0.1194273,-0.2354957} "
			"f64[1,2,2]={-0.02802248,0.1547031,0.04733471,"
			"-0.218332}");
}

/* What a line gives once its node has these activations as well. */
static void
check_activations(const char *line, const char *const *names, size_t n_names,
		  const float *alphas, size_t n_alphas, const char *expected)
{
	static const float betas[] = {0.25F, 2};
	struct evaluated *e = evaluated(line);
	struct sl__attribute list[8] = {
		{.name = "activations",
		 .kind = SL__ATTRIBUTE_STRINGS,
		 .n = n_names,
		 .strings = names},
		{.name = "activation_alpha",
		 .kind = SL__ATTRIBUTE_FLOATS,
		 .n = n_alphas,
		 .floats = alphas},
		{.name = "activation_beta",
		 .kind = SL__ATTRIBUTE_FLOATS,
		 .n = n_alphas ? 2 : 0,
		 .floats = betas},
	};
	struct sl__node *node = &e->graph->nodes[0];

	for (size_t i = 0; i < node->n_attributes; i++)
		list[3 + i] = node->attributes[i];
	node->attributes = list;
	node->n_attributes += 3;
	e->rc = sl__evaluate_node(e->evaluator, 0, &e->err);
	if (strcmp(evaluated_text(e), expected) != 0)
		fail_msg("%s gives %s, expected %s", names[0], e->text,
			 expected);
	evaluated_free(e);
}

/* One step of x = -2 and x = 1.5, then of NaN and infinity, of which the state
 * sees nothing. */
static void
test_every_activation(void **state)
{
	static const struct {
		const char *name, *expected, *beyond;
	} rows[] = {
		{"Affine", "-2,1.5", "nan,inf"},
		{"relu", "0,1.5", "nan,inf"},
		{"LeakyRelu", "-0.02,1.5", "nan,inf"},
		{"ThresholdedRelu", "0,1.5", "nan,inf"},
		{"Tanh", "-0.9640276,0.9051483", "nan,1"},
		{"ScaledTanh", "-0.9640276,0.9051483", "nan,1"},
		{"Sigmoid", "0.1192029,0.8175745", "nan,1"},
		{"HardSigmoid", "0.1,0.8", "nan,1"},
		{"Elu", "-0.8646647,1.5", "nan,inf"},
		{"Softsign", "-0.6666667,0.6", "nan,1"},
		{"SOFTPLUS", "0.126928,1.701413", "nan,inf"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char expected[128];

		snprintf(expected, sizeof(expected), "f64[1,1,2,1]={%s}",
			 rows[i].expected);
		check_activations("RNN 14 (f64[1,2,1]={-2,1.5}, "
				  "f64[1,1,1]={1}, f64[1,1,1]={0})",
				  &rows[i].name, 1, NULL, 0, expected);
		snprintf(expected, sizeof(expected), "f64[1,1,2,1]={%s}",
			 rows[i].beyond);
		check_activations("RNN 14 (f64[1,2,1]={nan,inf}, "
				  "f64[1,1,1]={1}, f64[1,1,1]={0})",
				  &rows[i].name, 1, NULL, 0, expected);
	}
}

/* Constants go, in order, to those activations that take some: 0.5 and 0.25
 * to the first, 3 to the second and 2 to nobody. */
static void
test_constants_are_handed_out_in_order(void **state)
{
	static const char *const names[] = {"Affine", "LeakyRelu"};
	static const char *const mixed[] = {"Tanh", "LeakyRelu"};
	static const float alphas[] = {0.5F, 3};

	(void)state;
	check_activations("RNN 14 (f64[1,1,1]={-2}, f64[2,1,1]={1,1}, "
			  "f64[2,1,1]={0,0}) direction=bidirectional",
			  names, 2, alphas, 2, "f64[1,2,1,1]={-0.75,-6}");
	check_activations("RNN 14 (f64[1,1,1]={-2}, f64[2,1,1]={1,1}, "
			  "f64[2,1,1]={0,0}) direction=bidirectional",
			  mixed, 2, alphas, 2, "f64[1,2,1,1]={-0.9640276,-1}");
}

static void
test_gates_have_functions_of_their_own(void **state)
{
	static const char *const names[] = {"Affine", "Relu", "Affine"};
	static const char *const unknown[] = {"Relu", "Swish", "Tanh"};

	(void)state;
	/* i = o = f = 2, c = relu(2), C = 2 * 3 + 2 * 2, H = 2 * 10. */
	check_activations("LSTM 14 (f64[1,1,1]={2}, f64[1,4,1]={1,1,1,1}, "
			  "f64[1,4,1]={0,0,0,0}, _, _, _, f64[1,1,1]={3})",
			  names, 3, NULL, 0, "f64[1,1,1,1]={20}");
	check_activations("LSTM 14 (f64[1,1,1]={2}, f64[1,4,1]={1,1,1,1}, "
			  "f64[1,4,1]={0,0,0,0})",
			  unknown, 3, NULL, 0,
			  "node 'it' (LSTM): activation 'Swish'");
}

static void
test_edges(void **state)
{
	(void)state;
	/* No steps: the state is 0.  NaN is not clipped away. */
	check_evaluated("RNN 14 (f64[1,2,1]={1,nan}, f64[1,1,1]={1}, "
			"f64[1,1,1]={0}, _, i32[2]={0,1}, f64[1,2,1]={5,5}) "
			"clip=1.0 -> 2",
			"f64[1,1,2,1]={0,nan} f64[1,2,1]={0,nan}");
	check_evaluated("GRU 14 (f32[0,1,1]={}, f32[1,3,1]={1,1,1}, "
			"f32[1,3,1]={0,0,0}) -> 2",
			"f32[0,1,1,1]={} f32[1,1,1]={0}");
	check_fails("RNN 14 (f64[1,2,1]={1,2}, f64[1,1,1]={1}, "
		    "f64[1,1,1]={0}, _, i32[2]={1,2})",
		    "a length of 2 in 1 steps");
	check_fails("RNN 14 (f64[1,1,1]={1}, f64[1,1,1]={1}, f64[1,1,1]={0}, "
		    "f64[1,1]={1})",
		    "input 3 has other sizes than fit");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reverse_lstm_starts_at_each_samples_end),
		cmocka_unit_test(test_bidirectional_lstm_with_all_inputs),
		cmocka_unit_test(test_layout_puts_samples_first),
		cmocka_unit_test(test_coupled_and_clipped_lstm),
		cmocka_unit_test(test_gru_resets_before_the_product),
		cmocka_unit_test(test_gru_resets_after_the_product),
		cmocka_unit_test(test_reverse_rnn_starts_at_each_samples_end),
		cmocka_unit_test(test_every_activation),
		cmocka_unit_test(test_constants_are_handed_out_in_order),
		cmocka_unit_test(test_gates_have_functions_of_their_own),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
