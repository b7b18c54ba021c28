/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bottleneck.c - proves what is judged: closed cases of each bound, the
 * borders at which nothing is said, the words, the model's verdict, and
 * responses recorded from models whose bottleneck is known.
 */
#include "fact_says.h"
#include "harness.h"
#include "analysis/bottleneck.h"

/* A machine of 2 threads: 200 GFLOP/s, 200, 100 and 20 GB/s. */
static const struct sl__bottleneck_evidence machine = {
	.dtype = SL_DTYPE_F32,
	.n_threads = 2,
	.flops_per_s = 200e9,
	.bytes_per_s = {200e9, 100e9, 20e9},
	.size_bytes = {1e6, 16e6, (double)INFINITY},
	.step_ns = 1000,
	.hog = {2, 1.3, 1, 1},
};

/* An operation that takes 'ms' and answers experiments by these ratios: warm
 * and threads as speed-ups, cold and hog as slow-downs; 0: not made. */
struct answers {
	double ms, gflop, mb, warm, cold, hog, threads, spread;
};

static struct sl__bottleneck_evidence
case_of(struct answers a)
{
	struct sl__bottleneck_evidence c = machine;
	double t = a.ms * 1e6;

	c.time_ns = c.least_ns = t;
	c.is_same_alone = a.threads > 0;
	c.flops = a.gflop * 1e9;
	c.n_bytes = a.mb * 1e6;
	for (int k = 0; k < SL_N_CONDITIONS; k++) {
		c.at_ns[k] = (double)NAN;
		c.spread[k] = a.spread;
	}
	c.at_ns[SL_CONDITION_IN_PLACE] = t;
	if (a.warm > 0)
		c.at_ns[SL_CONDITION_WARM] = t / a.warm;
	if (a.cold > 0)
		c.at_ns[SL_CONDITION_COLD] = t * a.cold;
	if (a.threads > 0)
		c.at_ns[SL_CONDITION_ALONE] = t * a.threads;
	if (a.hog > 0)
		c.at_ns[SL_CONDITION_HOGGED] =
			c.at_ns[SL_CONDITION_ALONE] * a.hog;
	return c;
}

static enum sl_bound
judge(struct answers a)
{
	struct sl__bottleneck_evidence c = case_of(a);
	struct sl__bound_scores s;
	double sum = 0;

	sl__bound_candidates_score(&s, &c);
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		assert_true(s.probability[b] >= 0 && s.probability[b] <= 1);
		sum += s.probability[b];
		for (int k = 0; k < SL__N_EXPERIMENTS; k++)
			assert_true(s.costs[b][k] <= 0);
	}
	assert_near(sum, 1, 1e-9);
	return s.bound;
}

/* What computes at half the peak may do no better, if it does not mind where
 * its data lies: one experiment with that is enough to think so. */
static void
one_experiment_with_data_is_enough(void **state)
{
	static const struct answers none = {22, 2, 12, 0, 0, 0, 1.95, 0.01};
	struct answers some[] = {none, none, none};
	/* 2.2 times what the peak needs, where 1.6 cost nothing. */
	double z = log(2.2 / 1.6) / 0.25;
	struct sl__bound_scores s;
	struct sl__bottleneck_evidence c = case_of(none);

	(void)state;
	sl__bound_candidates_score(&s, &c);
	assert_near(s.costs[SL_BOUND_COMPUTE][SL__EXPERIMENT_ARITHMETIC],
		    -z * z / 2, 1e-12);
	some[0].warm = some[1].cold = some[2].hog = 1;
	for (size_t i = 0; i < 3; i++) {
		c = case_of(some[i]);
		sl__bound_candidates_score(&s, &c);
		assert_near(
			s.costs[SL_BOUND_COMPUTE][SL__EXPERIMENT_ARITHMETIC], 0,
			0);
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
	struct answers a = {1, 0.05, 1.5, 1.01, 1.04, 1.01, 1.69, 0.01};

	(void)state;
	assert_int_equal(judge(a), SL_BOUND_UNKNOWN);
	/* What is clear when it is quiet is not when it is noisy. */
	a.threads = 1.5;
	assert_int_equal(judge(a), SL_BOUND_IMBALANCE);
	a.spread = 0.3;
	assert_int_equal(judge(a), SL_BOUND_UNKNOWN);
}

/* Two threads on CPUs of which others take a fifth. */
static void
others_make_it_abstain(void **state)
{
	struct sl__bottleneck_evidence c = case_of(
		(struct answers){30, 2, 12, 1.01, 1.02, 1.01, 1.1, 0.01});
	struct sl__bound_scores s;

	(void)state;
	sl__bound_candidates_score(&s, &c);
	assert_int_equal(s.bound, SL_BOUND_IMBALANCE);
	c.others_share = 0.2;
	sl__bound_candidates_score(&s, &c);
	assert_int_equal(s.bound, SL_BOUND_UNKNOWN);
	/* Or they have come since the iterations, in which it took a third. */
	c.others_share = 0;
	c.least_ns = 10e6;
	sl__bound_candidates_score(&s, &c);
	assert_int_equal(s.bound, SL_BOUND_UNKNOWN);
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
	struct sl__bottleneck_evidence c =
		case_of((struct answers){.ms = 3, .gflop = 0.001});
	struct sl__bound_scores s;

	(void)state;
	c.is_reference = 1;
	sl__bound_candidates_score(&s, &c);
	assert_int_equal(s.bound, SL_BOUND_REFERENCE);
	c.at_ns[SL_CONDITION_IN_PLACE] = 2000;
	sl__bound_candidates_score(&s, &c);
	assert_int_equal(s.bound, SL_BOUND_OVERHEAD);
}

static void
without_ceilings_nothing_is_said(void **state)
{
	struct sl__bottleneck_evidence c =
		case_of((struct answers){11, 2, 12, 1, 1, 1, 2, 0});
	struct sl__bound_scores s;

	(void)state;
	c.flops_per_s = (double)NAN;
	for (int k = 0; k < SL__N_MEMORIES; k++)
		c.bytes_per_s[k] = (double)NAN;
	sl__bound_candidates_score(&s, &c);
	assert_int_equal(s.bound, SL_BOUND_UNKNOWN);
}

/* One thread has no other to wait for. */
static void
one_thread_is_balanced(void **state)
{
	struct sl__bottleneck_evidence c = case_of(
		(struct answers){1, 0.01, 0.5, 1.01, 1.04, 1.01, 1, 0.01});
	struct sl__bound_scores s;

	(void)state;
	c.n_threads = 1;
	sl__bound_candidates_score(&s, &c);
	assert_true(s.probability[SL_BOUND_IMBALANCE] <= 0);
	assert_int_equal(s.bound, SL_BOUND_COMPUTE);
}

static void
gives_its_reasons(void **state)
{
	struct sl__bottleneck_evidence c = case_of(
		(struct answers){5.5, 0.01, 100, 1, 1.02, 1.97, 1.2, 0.02});
	struct sl_judgement j;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__bottleneck_judge(&j, &c, &arena, NULL), SL_OK);
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
	assert_int_equal(sl__bottleneck_judge(&j, &c, &arena, NULL), SL_OK);
	assert_int_equal(j.bound, SL_BOUND_DRAM);
	assert_true(facts_say(j.against, j.n_against, "1.20 × as long"));
	sl__arena_release(&arena);
}

static void
says_between_what_it_wavers(void **state)
{
	struct sl__bottleneck_evidence c = case_of(
		(struct answers){1, 0.05, 1.5, 1.01, 1.04, 1.01, 1.69, 0.01});
	struct sl_judgement j;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__bottleneck_judge(&j, &c, &arena, NULL), SL_OK);
	assert_int_equal(j.bound, SL_BOUND_UNKNOWN);
	assert_near(j.confidence, 0, 0);
	assert_true(facts_say(j.evidence, j.n_evidence, "undecided between"));
	assert_true(facts_say(j.evidence, j.n_evidence, "imbalance"));
	sl__arena_release(&arena);
}

static enum sl_bottleneck
verdict_of(const double *shares, const enum sl_bound *bounds, size_t n,
	   int is_closed)
{
	struct sl_operation ops[4] = {{.name = NULL}};
	struct sl_profile p = {.operations = ops, .n_operations = n};
	struct sl__arena arena;
	struct sl_finding f;

	p.ledger.is_closed = is_closed;
	p.ledger.residual_share = is_closed ? 0.001 : 0.08;
	for (size_t i = 0; i < n; i++) {
		ops[i].share = shares[i];
		ops[i].judgement.bound = bounds[i];
		ops[i].judgement.confidence =
			bounds[i] == SL_BOUND_UNKNOWN ? 0 : 0.9;
	}
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__judge_model(&f, &p, &arena, NULL), SL_OK);
	assert_true(f.n_evidence > 0);
	for (size_t i = 0; i < n; i++)
		assert_true(f.shares[bounds[i]] >= shares[i] - 1e-12);
	if (f.bottleneck == SL_BOTTLENECK_INCONCLUSIVE)
		assert_near(f.confidence, 0, 0);
	else
		assert_true(f.confidence > 0 && f.confidence <= 0.9 + 1e-12);
	if (!is_closed)
		assert_true(facts_say(f.evidence, f.n_evidence, "8.0 %"));
	sl__arena_release(&arena);
	return f.bottleneck;
}

#define VERDICT(closed, ...)                              \
	verdict_of((const double[]){__VA_ARGS__}, bounds, \
		   sizeof((double[]){__VA_ARGS__}) / sizeof(double), closed)

static void
judges_the_model(void **state)
{
	const enum sl_bound bounds[] = {SL_BOUND_COMPUTE, SL_BOUND_L3,
					SL_BOUND_DRAM, SL_BOUND_UNKNOWN};

	(void)state;
	assert_int_equal(VERDICT(1, 0.8, 0.1, 0.1, 0), SL_BOTTLENECK_COMPUTE);
	assert_int_equal(VERDICT(1, 0.3, 0.3, 0.4, 0), SL_BOTTLENECK_MEMORY);
	assert_int_equal(VERDICT(1, 0.5, 0.2, 0.3, 0), SL_BOTTLENECK_MIXED);
	/* Of what was judged. */
	assert_int_equal(VERDICT(1, 0.35, 0.1, 0.1, 0.45),
			 SL_BOTTLENECK_COMPUTE);
	assert_int_equal(VERDICT(1, 0.4, 0, 0, 0.6),
			 SL_BOTTLENECK_INCONCLUSIVE);
	assert_int_equal(VERDICT(0, 0.8, 0.1, 0.1, 0),
			 SL_BOTTLENECK_INCONCLUSIVE);
}

/* Threads that wait are no arithmetic, and the headline says so. */
static void
imbalance_has_a_headline_of_its_own(void **state)
{
	const enum sl_bound bounds[] = {SL_BOUND_IMBALANCE, SL_BOUND_COMPUTE,
					SL_BOUND_REFERENCE};

	(void)state;
	assert_int_equal(VERDICT(1, 0.98, 0.02, 0), SL_BOTTLENECK_IMBALANCE);
	assert_int_equal(VERDICT(1, 0.5, 0.3, 0.2), SL_BOTTLENECK_MIXED);
	assert_int_equal(VERDICT(1, 0.2, 0.4, 0.4), SL_BOTTLENECK_COMPUTE);
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
		cmocka_unit_test(others_make_it_abstain),
		cmocka_unit_test(contradictions_are_not_explained),
		cmocka_unit_test(reference_speaks_for_itself),
		cmocka_unit_test(without_ceilings_nothing_is_said),
		cmocka_unit_test(one_thread_is_balanced),
		cmocka_unit_test(gives_its_reasons),
		cmocka_unit_test(says_between_what_it_wavers),
		cmocka_unit_test(judges_the_model),
		cmocka_unit_test(imbalance_has_a_headline_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
