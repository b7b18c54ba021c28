/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ref_loss.c - proves that losses weigh, ignore and reduce as told, on
 * scores whose losses are whole numbers or logarithms of them.
 */
#include "evaluated.h"

/* Scores of two classes at three places of one sample. */
#define SCORES  "f64[1,2,3]={-1,-2,-3,-4,-5,-6}"
#define TARGETS "i64[1,3]={1,0,1}"

static void
test_reductions(void **state)
{
	(void)state;
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", " TARGETS
			") reduction=none",
			"f64[1,3]={4,2,6}");
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", " TARGETS
			") reduction=sum",
			"f64[]={12}");
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", " TARGETS
			")",
			"f64[]={4}");
	check_fails("NegativeLogLikelihoodLoss 13 (" SCORES ", " TARGETS
		    ") reduction=most",
		    "reduction is 'most'");
}

/* Weights 10 and 1: 4 + 20 + 6 over 12. */
static void
test_mean_is_over_weights(void **state)
{
	(void)state;
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", " TARGETS
			", f64[2]={10,1}) reduction=none",
			"f64[1,3]={4,20,6}");
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", " TARGETS
			", f64[2]={10,1})",
			"f64[]={2.5}");
}

/* What is ignored need not be a class, and may be one. */
static void
test_ignored_targets(void **state)
{
	(void)state;
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", "
			"i32[1,3]={1,0,-9}) ignore_index=-9 reduction=none",
			"f64[1,3]={4,2,0}");
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", "
			"i64[1,3]={1,0,-9}) ignore_index=-9",
			"f64[]={3}");
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", " TARGETS
			", f64[2]={10,1}) ignore_index=0",
			"f64[]={5}");
	check_evaluated("NegativeLogLikelihoodLoss 13 (" SCORES ", "
			"i64[1,3]={0,0,0}) ignore_index=0",
			"f64[]={nan}");
	check_fails("NegativeLogLikelihoodLoss 13 (" SCORES ", "
		    "i64[1,3]={1,2,0})",
		    "class 2 of 2");
	check_fails("NegativeLogLikelihoodLoss 13 (" SCORES ", i64[3]={1,0,1})",
		    "do not fit the scores");
	check_fails("NegativeLogLikelihoodLoss 13 (" SCORES ", " TARGETS
		    ", f64[3]={1,1,1})",
		    "one weight for each class");
}

/* Equal scores of 4 classes have the loss log 4, however large they are; of
 * scores 0 and log 3 the probabilities are 1/4 and 3/4. */
static void
test_softmax_of_scores(void **state)
{
	(void)state;
	check_evaluated("SoftmaxCrossEntropyLoss 13 (f64[1,4]={1e4,1e4,1e4,"
			"1e4}, i64[1]={2})",
			"f64[]={1.386294}");
	check_evaluated("SoftmaxCrossEntropyLoss 13 (f64[1,2]={0,"
			"1.0986122886681098}, i64[1]={0}) reduction=none -> 2",
			"f64[1]={1.386294} f64[1,2]={-1.386294,-0.2876821}");
	check_evaluated("SoftmaxCrossEntropyLoss 13 (f64[1,2,2]={0,5,"
			"1.0986122886681098,5}, i64[1,2]={0,1}, f64[2]={3,1}) "
			"reduction=sum -> 2",
			"f64[]={4.85203} f64[1,2,2]={-1.386294,-0.6931472,"
			"-0.2876821,-0.6931472}");
	check_evaluated("SoftmaxCrossEntropyLoss 13 (f32[0,2]={}, i64[0]={}) "
			"reduction=none",
			"f32[0]={}");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reductions),
		cmocka_unit_test(test_mean_is_over_weights),
		cmocka_unit_test(test_ignored_targets),
		cmocka_unit_test(test_softmax_of_scores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
