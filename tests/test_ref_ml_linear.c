/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_ml_linear.c - proves linear models and vector machines by numbers
 * that can be checked by hand; tests/oracles/ml_cases.py compares with ONNX
 * Runtime.
 */
#include "evaluated.h"

#define ML "ai.onnx.ml."

static void
regresses(void **state)
{
	(void)state;
	check_evaluated(ML "LinearRegressor 1 (f32[2,2]={1,2,3,4}) "
			   "coefficients=[0.5,2.0,1.0,-1.0] "
			   "intercepts=[1.0,0.0] targets=2",
			"f32[2,2]={5.5,-1,10.5,-1}");
	check_evaluated(ML "LinearRegressor 1 (f32[1,1]={0}) "
			   "coefficients=[1.0,2.0] targets=2 "
			   "post_transform=LOGISTIC",
			"f32[1,2]={0.5,0.5}");
	check_fails(ML "LinearRegressor 1 (f32[1,2]={0,1}) "
		       "coefficients=[1.0,2.0,3.0]",
		    "3 coefficients");
}

/* A score for each class; or one, which stands for two. */
static void
classifies(void **state)
{
	(void)state;
	check_evaluated(ML "LinearClassifier 1 (f32[2,2]={1,0,0,1}) "
			   "coefficients=[1.0,0.0,0.0,2.0,-1.0,-1.0] "
			   "intercepts=[0.0,0.0,0.5] "
			   "classlabels_ints=[10,20,30]",
			"i64[2]={10,20} f32[2,3]={1,0,-0.5,0,2,-0.5}");
	check_evaluated(ML "LinearClassifier 1 (f32[2,1]={0.25,-1}) "
			   "coefficients=[1.0] intercepts=[0.0] "
			   "classlabels_strings=['no','yes']",
			"string[2]={'yes','no'} f32[2,2]={0.75,0.25,2,-1}");
	check_evaluated(ML "LinearClassifier 1 (f32[1,1]={0}) "
			   "coefficients=[1.0] intercepts=[0.0] "
			   "classlabels_ints=[0,1] "
			   "post_transform=LOGISTIC",
			"i64[1]={0} f32[1,2]={0.5,0.5}");
	check_evaluated(ML "LinearClassifier 1 (f32[1,1]={1}) "
			   "coefficients=[3.0,3.0] intercepts=[0.5,0.5] "
			   "classlabels_ints=[4,5] "
			   "post_transform=SOFTMAX",
			"i64[1]={4} f32[1,2]={0.5,0.5}");
	check_fails(ML "LinearClassifier 1 (f32[1,1]={1}) coefficients=[1.0]",
		    "it names no classes");
	check_fails(ML "LinearClassifier 1 (f32[1,1]={1}) "
		       "coefficients=[1.0,2.0,3.0] classlabels_ints=[1,2]",
		    "3 scores for 2 classes");
}

static void
compares_with_vectors(void **state)
{
	(void)state;
	check_evaluated(
		ML "SVMRegressor 1 (f32[2,2]={1,2,0,1}) kernel_type=LINEAR "
		   "kernel_params=[0.0,0.0,0.0] "
		   "support_vectors=[1.0,1.0,2.0,0.0] "
		   "coefficients=[1.0,-0.5] rho=[0.25] n_supports=2",
		"f32[2,1]={2.25,1.25}");
	check_evaluated(ML "SVMRegressor 1 (f32[1,2]={1,2}) "
			   "support_vectors=[1.0,1.0] coefficients=[2.0] "
			   "rho=[1.0] n_supports=1 kernel_type=POLY "
			   "kernel_params=[0.5,0.5,2.0]",
			"f32[1,1]={9}");
	check_evaluated(ML "SVMRegressor 1 (f32[1,2]={1,1}) "
			   "support_vectors=[1.0,1.0] coefficients=[2.0] "
			   "rho=[1.0] n_supports=1 kernel_type=RBF "
			   "kernel_params=[0.5,0.0,3.0]",
			"f32[1,1]={3}");
	check_evaluated(ML
			"SVMRegressor 1 (f32[2,1]={1,-1}) kernel_type=LINEAR "
			"kernel_params=[0.0,0.0,0.0] "
			"coefficients=[2.0] rho=[0.5] one_class=1",
			"f32[2,1]={1,-1}");
	check_fails(ML "SVMRegressor 1 (f32[1,2]={1,1}) kernel_type=LINEAR "
		       "kernel_params=[0.0,0.0,0.0] "
		       "support_vectors=[1.0] coefficients=[2.0] rho=[1.0]",
		    "support vectors of 1 numbers");
}

/* Every pair of classes is compared, and the one with most votes is chosen. */
static void
votes(void **state)
{
	(void)state;
	check_evaluated(ML
			"SVMClassifier 1 (f32[2,1]={1,-1}) kernel_type=LINEAR "
			"kernel_params=[0.0,0.0,0.0] "
			"support_vectors=[1.0,-1.0] "
			"coefficients=[0.5,-0.5] vectors_per_class=[1,1] "
			"rho=[0.0] classlabels_ints=[3,4]",
			"i64[2]={3,4} f32[2,2]={-1,1,1,-1}");
	check_evaluated(ML "SVMClassifier 1 (f32[1,1]={2}) kernel_type=LINEAR "
			   "kernel_params=[0.0,0.0,0.0] "
			   "support_vectors=[1.0,0.5,-1.0] "
			   "coefficients=[1.0,1.0,0.5,1.0,-1.0,-2.0] "
			   "vectors_per_class=[1,1,1] rho=[-0.5,0.0,1.0] "
			   "classlabels_strings=['a','b','c']",
			"string[1]={'a'} f32[1,3]={2.5,1,4}");
	check_evaluated(ML "SVMClassifier 1 (f32[1,1]={0}) kernel_type=LINEAR "
			   "kernel_params=[0.0,0.0,0.0] "
			   "support_vectors=[1.0,-1.0] "
			   "coefficients=[0.5,-0.5] vectors_per_class=[1,1] "
			   "rho=[0.0] prob_a=[-2.0] prob_b=[0.0] "
			   "classlabels_ints=[3,4]",
			"i64[1]={4} f32[1,2]={0.5,0.5}");
	check_fails(ML "SVMClassifier 1 (f32[1,1]={0}) kernel_type=LINEAR "
		       "kernel_params=[0.0,0.0,0.0] "
		       "support_vectors=[1.0,-1.0] coefficients=[0.5,-0.5] "
		       "vectors_per_class=[1,2] rho=[0.0] "
		       "classlabels_ints=[3,4]",
		    "a class of 2 vectors");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regresses),
		cmocka_unit_test(classifies),
		cmocka_unit_test(compares_with_vectors),
		cmocka_unit_test(votes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
