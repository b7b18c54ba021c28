/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bottleneck.c - proves what is judged: closed cases of each bound, the
 * borders at which nothing is said, and the words.
 */
#include "fact_says.h"
#include "harness.h"
#include "bottleneck_case.h"

/* What computes at half the peak may do no better, if it does not mind where
 * its data lies: one experiment with that is enough to think so. */
static void
one_experiment_with_data_is_enough(void **state)
{
	static const struct answers none = {22, 2, 12, 0, 0, 0, 1.95, 0.01};
	struct answers some[] = {none, none, none};
	struct sl__bound_scores s;
	double untried;
	struct sl__step_evidence c = case_of(none);

	(void)state;
	sl__bound_classes_score(&s, &c, ideal_classes());
	untried = s.costs[SL_BOUND_COMPUTE][SL__EXPERIMENT_ARITHMETIC];
	assert_true(untried < -0.5);
	some[0].warm = some[1].cold = some[2].hog = 1;
	for (size_t i = 0; i < 3; i++) {
		c = case_of(some[i]);
		sl__bound_classes_score(&s, &c, ideal_classes());
		assert_true(
			s.costs[SL_BOUND_COMPUTE][SL__EXPERIMENT_ARITHMETIC] >
			untried / 4);
	}
}

static void
knows_clear_cases(void **state)
{
	(void)state;
	/* 2 GFLOP at 91 % of the peak. */
	assert_int_equal(judge((struct answers){11, 2, 12, 1.01, 1.02, 1.01,
						1.95, 0.01}),
			 SL_BOUND_COMPUTE);
	/* 100 MB at 18 GB/s: beyond every cache. */
	assert_int_equal(judge((struct answers){5.5, 0.01, 100, 1, 1.02, 1.9,
						1.2, 0.02}),
			 SL_BOUND_DRAM);
	/* 8 MB of weights at 18 GB/s, far faster when they are near. */
	assert_int_equal(judge((struct answers){0.45, 0.004, 8, 3.5, 1.05, 1.8,
						1.3, 0.02}),
			 SL_BOUND_DRAM);
	/* 8 MB at 85 GB/s: the last cache. */
	assert_int_equal(judge((struct answers){0.095, 0.001, 8, 1.02, 4.4, 1.4,
						1.7, 0.02}),
			 SL_BOUND_L3);
	/* 1.5 MB, a thread's half in its own cache, at 170 GB/s. */
	assert_int_equal(judge((struct answers){0.009, 0.0001, 1.5, 1.01, 9, 1,
						1.9, 0.02}),
			 SL_BOUND_L2);
	/* 1.5 us of nearly nothing. */
	assert_int_equal(judge((struct answers){0.0015, 1e-6, 0.001, 1.1, 5,
						1.02, 1, 0.03}),
			 SL_BOUND_OVERHEAD);
	/* Three rows for two threads, of instructions rather than FLOPs. */
	assert_int_equal(judge((struct answers){1, 0.01, 1.5, 1.01, 1.04, 1.01,
						1.5, 0.01}),
			 SL_BOUND_IMBALANCE);
}

static void
low_rate_alone_is_no_proof(void **state)
{
	/* A tenth of the peak and a tenth of any bandwidth. */
	struct answers a = {20, 0.4, 40, 1.01, 1.02, 1.02, 1.95, 0.01};

	(void)state;
	/* Where data lies does not matter: instructions. */
	assert_int_equal(judge(a), SL_BOUND_COMPUTE);
	/* Nothing was tried: nobody knows. */
	a.warm = a.cold = a.hog = a.threads = 0;
	assert_int_equal(judge(a), SL_BOUND_UNKNOWN);
	/* Nor is the rate of DRAM one, of what a cache would hold. */
	assert_int_equal(judge((struct answers){.ms = 0.45, .mb = 8}),
			 SL_BOUND_UNKNOWN);
	assert_int_equal(judge((struct answers){.ms = 5, .mb = 80}),
			 SL_BOUND_DRAM);
}

static void
ceilings_alone_decide_at_the_roof(void **state)
{
	(void)state;
	assert_int_equal(
		judge((struct answers){.ms = 11, .gflop = 2, .mb = 12}),
		SL_BOUND_COMPUTE);
	assert_int_equal(judge((struct answers){
				 .ms = 0.0012, .gflop = 1e-6, .mb = 1e-3}),
			 SL_BOUND_OVERHEAD);
}

static void
noise_makes_it_abstain(void **state)
{
	/* Speed-up by threads between compute's and imbalance's. */
	struct answers a = {1, 0.05, 1.5, 1.01, 1.04, 1.01, 1.5, 0.01};

	(void)state;
	assert_int_equal(judge(a), SL_BOUND_UNKNOWN);
	/* What is clear when it is quiet is not when it is noisy. */
	a.threads = 1.2;
	assert_int_equal(judge(a), SL_BOUND_IMBALANCE);
	a.spread = 0.3;
	assert_int_equal(judge(a), SL_BOUND_UNKNOWN);
}

/* Two threads on CPUs of which others take a fifth. */
static void
others_are_no_imbalance(void **state)
{
	struct sl__step_evidence c = case_of(
		(struct answers){30, 2, 12, 1.01, 1.02, 1.01, 1.1, 0.01});
	struct sl__bound_scores s;

	(void)state;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_IMBALANCE);
	c.others_share = 0.2;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_not_equal(s.bound, SL_BOUND_IMBALANCE);
	/* Or they have come since the iterations, in which it took a third. */
	c.others_share = 0;
	c.least_ns = 10e6;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_not_equal(s.bound, SL_BOUND_IMBALANCE);
}

static void
contradictions_are_not_explained(void **state)
{
	(void)state;
	/* At the peak of arithmetic, but three times as fast when warm and
	 * twice as slow beside a hog. */
	assert_int_equal(judge((struct answers){10.2, 2, 12, 3, 1, 2, 1, 0.01}),
			 SL_BOUND_UNKNOWN);
}

static void
reference_speaks_for_itself(void **state)
{
	struct sl__step_evidence c =
		case_of((struct answers){.ms = 3, .gflop = 0.001});
	struct sl__bound_scores s;

	(void)state;
	c.is_reference = 1;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_REFERENCE);
	c.at_ns[SL_CONDITION_IN_PLACE] = 2000;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_OVERHEAD);
}

static void
without_ceilings_nothing_is_said(void **state)
{
	struct sl__step_evidence c =
		case_of((struct answers){11, 2, 12, 1, 1, 1, 2, 0});
	struct sl__bound_scores s;

	(void)state;
	c.flops_per_s = (double)NAN;
	for (int k = 0; k < SL__N_MEMORIES; k++)
		c.bytes_per_s[k] = (double)NAN;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_UNKNOWN);
}

/* One thread has no other to wait for. */
static void
one_thread_is_balanced(void **state)
{
	struct sl__step_evidence c = case_of(
		(struct answers){1, 0.01, 0.5, 1.01, 1.04, 1.01, 1, 0.01});
	struct sl__bound_scores s;

	(void)state;
	c.n_threads = 1;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_true(s.probability[SL_BOUND_IMBALANCE] <= 0);
	assert_int_equal(s.bound, SL_BOUND_COMPUTE);
}

/* Answers that rest on what kind of work it is. */
static void
knows_what_work_it_is(void **state)
{
	struct sl__step_evidence c = case_of(
		(struct answers){1, 0.02, 1.5, 1.01, 1.04, 1.01, 1.95, 0.01});
	struct sl__bound_scores s;

	(void)state;
	/* Functions of elements, where it does not matter where these lie. */
	c.core_flops = 0;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_INSTRUCTIONS);
	/* A recurrence of 800 steps of 1.25 us, on one thread. */
	c = case_of((struct answers){1, 0.02, 0.5, 1.01, 1.02, 1.01, 1, 0.01});
	c.n_dependent = 800;
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_LATENCY);
	/* 80 MB that are only moved, at a quarter of DRAM's rate; and near it. */
	c = case_of((struct answers){16, 0, 80, 1.01, 1.02, 1.6, 1.9, 0.01});
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_LAYOUT);
	c = case_of((struct answers){4.4, 0, 80, 1.01, 1.02, 1.9, 1.4, 0.01});
	sl__bound_classes_score(&s, &c, ideal_classes());
	assert_int_equal(s.bound, SL_BOUND_DRAM);
}

static void
gives_its_reasons(void **state)
{
	struct sl__step_evidence c = case_of(
		(struct answers){5.5, 0.01, 100, 1, 1.02, 1.97, 1.2, 0.02});
	struct sl_judgement j;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__bottleneck_judge(&j, &c, ideal_classes(), &arena, NULL),
		SL_OK);
	assert_int_equal(j.bound, SL_BOUND_DRAM);
	assert_true(j.confidence >= SL__PROBABILITY_LEAST);
	assert_true(facts_say(j.evidence, j.n_evidence,
			      "18.2 GB/s, 91 % of DRAM bandwidth"));
	assert_true(
		facts_say(j.evidence, j.n_evidence,
			  "beside a bandwidth hog it takes 1.97 × as long"));
	assert_false(facts_say(j.evidence, j.n_evidence, "an empty step"));
	/* Weights that are much faster when near, yet hardly hurt by a hog. */
	c = case_of(
		(struct answers){0.45, 0.004, 8, 3.5, 1.05, 1.2, 1.3, 0.02});
	assert_int_equal(
		sl__bottleneck_judge(&j, &c, ideal_classes(), &arena, NULL),
		SL_OK);
	assert_int_equal(j.bound, SL_BOUND_DRAM);
	assert_true(facts_say(j.against, j.n_against, "1.20 × as long"));
	sl__arena_release(&arena);
}

static void
says_between_what_it_wavers(void **state)
{
	struct sl__step_evidence c = case_of(
		(struct answers){1, 0.05, 1.5, 1.01, 1.04, 1.01, 1.5, 0.01});
	struct sl_judgement j;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__bottleneck_judge(&j, &c, ideal_classes(), &arena, NULL),
		SL_OK);
	assert_int_equal(j.bound, SL_BOUND_UNKNOWN);
	assert_near(j.confidence, 0, 0);
	assert_true(facts_say(j.evidence, j.n_evidence, "undecided between"));
	assert_true(facts_say(j.evidence, j.n_evidence, "imbalance"));
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_experiment_with_data_is_enough),
		cmocka_unit_test(knows_clear_cases),
		cmocka_unit_test(low_rate_alone_is_no_proof),
		cmocka_unit_test(ceilings_alone_decide_at_the_roof),
		cmocka_unit_test(noise_makes_it_abstain),
		cmocka_unit_test(others_are_no_imbalance),
		cmocka_unit_test(contradictions_are_not_explained),
		cmocka_unit_test(reference_speaks_for_itself),
		cmocka_unit_test(without_ceilings_nothing_is_said),
		cmocka_unit_test(one_thread_is_balanced),
		cmocka_unit_test(knows_what_work_it_is),
		cmocka_unit_test(gives_its_reasons),
		cmocka_unit_test(says_between_what_it_wavers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
