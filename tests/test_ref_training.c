/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_training.c - proves that one step of each optimizer is what its
 * formula gives, on numbers whose results are exact.
 */
#include "evaluated.h"

#define DOMAIN "ai.onnx.preview.training."

/* x = 1, its gradient 2, its momentum 3; the rate is 1/2. */
#define SLIDE "f64[1]={1}, f64[1]={2}, f64[1]={3}) alpha=0.5 beta=0.25 "

static void
test_momentum(void **state)
{
	(void)state;
	/* The first step takes the gradient whole: v = 1.5 + 2. */
	check_evaluated(DOMAIN "Momentum 1 (f64[]={0.5}, i64[]={0}, " SLIDE
			       "norm_coefficient=0.0 mode=standard -> 2",
			"f64[1]={-0.75} f64[1]={3.5}");
	check_evaluated(DOMAIN "Momentum 1 (f64[]={0.5}, i64[]={1}, " SLIDE
			       "norm_coefficient=0.0 mode=standard -> 2",
			"f64[1]={0} f64[1]={2}");
	check_evaluated(DOMAIN "Momentum 1 (f64[]={0.5}, i64[]={1}, " SLIDE
			       "norm_coefficient=0.0 mode=nesterov -> 2",
			"f64[1]={-0.5} f64[1]={2}");
	/* The gradient and twice x. */
	check_evaluated(DOMAIN "Momentum 1 (f64[]={0.5}, i64[]={1}, " SLIDE
			       "norm_coefficient=2.0 mode=standard -> 2",
			"f64[1]={-0.25} f64[1]={2.5}");
}

/* The second tensor has two elements; outputs stand in groups. */
static void
test_adagrad(void **state)
{
	(void)state;
	check_evaluated(DOMAIN
			"Adagrad 1 (f64[]={1}, i64[]={1}, "
			"f64[1]={1}, f64[2]={2,3}, f64[1]={3}, f64[2]={0,4}, "
			"f64[1]={16}, f64[2]={1,9}) decay_factor=1.0 "
			"epsilon=0.0 -> 4",
			"f64[1]={0.7} f64[2]={2,2.6} f64[1]={25} "
			"f64[2]={1,25}");
}

/* v = (2 + 4) / 2 and h = 16 / 4, so x loses 3/2 of the rate; the rate is
 * corrected by sqrt(1 - 0.75^t) / (1 - 0.5^t), which is 1 for t = 1. */
#define ADAM                                                         \
	"f64[1]={1}, f64[1]={4}, f64[1]={2}, f64[1]={0}) alpha=0.5 " \
	"beta=0.75 epsilon=0.0 "

static void
test_adam(void **state)
{
	(void)state;
	check_evaluated(DOMAIN "Adam 1 (f64[]={0.5}, i64[]={0}, " ADAM "-> 3",
			"f64[1]={0.25} f64[1]={3} f64[1]={4}");
	check_evaluated(DOMAIN "Adam 1 (f64[]={0.5}, i64[]={1}, " ADAM "-> 3",
			"f64[1]={0.25} f64[1]={3} f64[1]={4}");
	check_evaluated(DOMAIN "Adam 1 (f64[]={0.5}, i64[]={2}, " ADAM "-> 3",
			"f64[1]={0.3385622} f64[1]={3} f64[1]={4}");
	check_evaluated(DOMAIN "Adam 1 (f64[]={0.5}, i64[]={0}, " ADAM
			       "norm_coefficient_post=0.5 -> 3",
			"f64[1]={0.125} f64[1]={3} f64[1]={4}");
	check_fails(DOMAIN "Adam 1 (f64[]={0.5}, i64[]={0}, f64[1]={1}, "
			   "f64[2]={4,4}, f64[1]={2}, f64[1]={0}) -> 3",
		    "input 3 does not fit");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_momentum),
		cmocka_unit_test(test_adagrad),
		cmocka_unit_test(test_adam),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
