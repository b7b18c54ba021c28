/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_activation.c - proves that each activation is the function it names,
 * keeps NaN, and has its limit where its formula has none.
 */
#include "ops/activation.h"
#include "harness.h"

static const double inf = (double)INFINITY;

/* Irrational numbers are from tables: exp(-1) = .36787944117144233. */
static void
are_the_functions_they_name(void **state)
{
	(void)state;
	assert_near(sl__act_affine(3, 2, -1), 5, 0);
	assert_near(sl__act_celu(-2, 2, 0), 2 * (.36787944117144233 - 1),
		    1e-15);
	assert_near(sl__act_celu(2, 2, 0), 2, 0);
	assert_near(sl__act_clip(-2, -1, 6), -1, 0);
	assert_near(sl__act_clip(.5, -1, 6), .5, 0);
	assert_near(sl__act_clip(7, -1, 6), 6, 0);
	assert_near(sl__act_clip(4, 3, 1), 1, 0);
	assert_near(sl__act_elu(-1, 2, 0), 2 * (.36787944117144233 - 1), 1e-15);
	assert_near(sl__act_gelu(-1, 0, 0), -1 + .8413447460685429, 1e-15);
	assert_near(sl__act_gelu_tanh(1, 0, 0), .8411919906082768, 1e-14);
	assert_near(sl__act_hard_sigmoid(1, .25, .5), .75, 0);
	assert_near(sl__act_hard_sigmoid(9, .25, .5), 1, 0);
	assert_near(sl__act_hard_swish(2, .25, .25), 1.5, 0);
	assert_near(sl__act_leaky_relu(-2, .25, 0), -.5, 0);
	assert_near(sl__act_mish(0, 0, 0), 0, 0);
	/* tanh(log(1 + e)) = (u^2 - 1) / (u^2 + 1), u = 1 + e */
	assert_near(sl__act_mish(1, 0, 0), .8650983882673103, 1e-15);
	assert_near(sl__act_relu(-2, 0, 0), 0, 0);
	assert_near(sl__act_relu(2, 0, 0), 2, 0);
	assert_near(sl__act_scaled_tanh(.5, 3, 2), 3 * .7615941559557649,
		    1e-15);
	assert_near(sl__act_selu(-1, 2, 3), 6 * (.36787944117144233 - 1),
		    1e-14);
	assert_near(sl__act_selu(2, 2, 3), 6, 0);
	assert_near(sl__act_sigmoid(1, 0, 0), .7310585786300049, 1e-15);
	assert_near(sl__act_sigmoid(-1, 0, 0), 1 - .7310585786300049, 1e-15);
	assert_near(sl__act_softplus(0, 0, 0), .6931471805599453, 1e-15);
	assert_near(sl__act_softsign(-3, 0, 0), -.75, 0);
	assert_near(sl__act_swish(1, 2, 0), .8807970779778823, 1e-15);
	assert_near(sl__act_tanh(1, 0, 0), .7615941559557649, 1e-15);
	assert_near(sl__act_thresholded_relu(1, 1, 0), 0, 0);
	assert_near(sl__act_thresholded_relu(1.5, 1, 0), 1.5, 0);
}

static void
keep_nan(void **state)
{
	sl__activation_function *const all[] = {sl__act_affine,
						sl__act_celu,
						sl__act_clip,
						sl__act_elu,
						sl__act_gelu,
						sl__act_gelu_tanh,
						sl__act_hard_sigmoid,
						sl__act_hard_swish,
						sl__act_leaky_relu,
						sl__act_mish,
						sl__act_relu,
						sl__act_scaled_tanh,
						sl__act_selu,
						sl__act_sigmoid,
						sl__act_softplus,
						sl__act_softsign,
						sl__act_swish,
						sl__act_tanh,
						sl__act_thresholded_relu};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_true(isnan(all[i]((double)NAN, .5, 2)));
}

/* A gate that is shut stops infinity; NaN would be its product. */
static void
have_their_limits(void **state)
{
	(void)state;
	assert_near(sl__act_gelu(-inf, 0, 0), 0, 0);
	assert_near(sl__act_gelu_tanh(-inf, 0, 0), 0, 0);
	assert_near(sl__act_hard_swish(-inf, 1.0 / 6, .5), 0, 0);
	assert_near(sl__act_mish(-inf, 0, 0), 0, 0);
	assert_near(sl__act_swish(-inf, 1, 0), 0, 0);
	assert_true(sl__act_gelu(inf, 0, 0) >= inf);
	assert_true(sl__act_gelu_tanh(inf, 0, 0) >= inf);
	assert_true(sl__act_hard_swish(inf, 1.0 / 6, .5) >= inf);
	assert_true(sl__act_mish(inf, 0, 0) >= inf);
	assert_true(sl__act_swish(inf, 1, 0) >= inf);
	assert_near(sl__act_softsign(inf, 0, 0), 1, 0);
	assert_near(sl__act_softsign(-inf, 0, 0), -1, 0);
	assert_near(sl__act_sigmoid(-inf, 0, 0), 0, 0);
	assert_near(sl__act_sigmoid(inf, 0, 0), 1, 0);
	assert_near(sl__act_softplus(-inf, 0, 0), 0, 0);
	assert_near(sl__act_softplus(1e4, 0, 0), 1e4, 0);
	assert_near(sl__act_elu(-inf, 1.5, 0), -1.5, 0);
	assert_near(sl__act_celu(-inf, 1.5, 0), -1.5, 0);
	assert_near(sl__act_selu(-inf, 2, 3), -6, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_the_functions_they_name),
		cmocka_unit_test(keep_nan),
		cmocka_unit_test(have_their_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
