/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_verdict.c - proves what a model's verdict makes of its operations'. */
#include "fact_says.h"
#include "harness.h"
#include "analysis/bottleneck.h"
#include "result/step_evidence.h"

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
	assert_int_equal(f.cause == SL_BOUND_UNKNOWN,
			 f.bottleneck == SL_BOTTLENECK_INCONCLUSIVE);
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
	/* Two that do not make four fifths of the time explain too little. */
	assert_int_equal(VERDICT(1, 0.4, 0.1, 0.25, 0.25),
			 SL_BOTTLENECK_INCONCLUSIVE);
	assert_int_equal(VERDICT(1, 0.45, 0.1, 0.3, 0.15), SL_BOTTLENECK_MIXED);
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

/* Others on the same CPUs: no bound is said, and no verdict. */
static void
disturbed_profiles_are_not_judged(void **state)
{
	struct sl_operation op = {.path = SL_PATH_REFERENCE,
				  .share = 1,
				  .n_calls = 1,
				  .self_ns = 1e6};
	struct sl_profile p = {.operations = &op, .n_operations = 1};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	p.ledger.is_closed = 1;
	p.noise.neighbour_share.value = 0.1;
	assert_int_equal(
		sl__profile_judge_bottlenecks(&p, NULL, NULL, &arena, NULL),
		SL_OK);
	assert_int_equal(op.judgement.bound, SL_BOUND_REFERENCE);
	assert_int_equal(p.verdict.bottleneck, SL_BOTTLENECK_COMPUTE);
	op.judgement = (struct sl_judgement){0};
	p.noise.neighbour_share.value = 0.3;
	assert_int_equal(
		sl__profile_judge_bottlenecks(&p, NULL, NULL, &arena, NULL),
		SL_OK);
	assert_int_equal(op.judgement.bound, SL_BOUND_UNKNOWN);
	assert_int_equal(p.verdict.bottleneck, SL_BOTTLENECK_INCONCLUSIVE);
	sl__arena_release(&arena);
}

/* Of the machine others have little, or nobody knows how much, but iterations
 * waited for a CPU.  What waits for its own loader does so too.  That most were
 * interrupted is nothing: the kernel does that many times a second. */
static void
iterations_waited(void **state)
{
	struct sl_training_profile training = {.data = "digits"};
	struct sl_profile p = {.others_share = (double)NAN,
			       .noise = {.n_slots = 10, .n_disturbed = 6}};

	(void)state;
	p.noise.neighbour_share.value = 0.03;
	p.noise.run_delay_share.value = 0.14;
	assert_false(sl__profile_is_disturbed(&p));
	p.noise.run_delay_share.value = 0.16;
	assert_true(sl__profile_is_disturbed(&p));
	p.noise.neighbour_share.absent = "no /proc/stat";
	assert_true(sl__profile_is_disturbed(&p));
	p.training = &training;
	assert_false(sl__profile_is_disturbed(&p));
	training.data = NULL;
	assert_true(sl__profile_is_disturbed(&p));
}

/* A model of one step of 2.7 us, where waking all threads takes 0.2: it is the
 * least that a step takes, unless threads make it faster. */
static void
steps_that_threads_share_are_no_start(void **state)
{
	struct sl_response r = {.is_same_alone = 1};
	struct sl__step_responses diagnosis = {.responses = &r, .n = 1};
	struct sl_operation op = {.share = 1,
				  .n_calls = 1,
				  .self_ns = 2700,
				  .median_ns = {.value = 2700, .n = 9},
				  .bound_ns = 100};
	struct sl_profile p = {.operations = &op, .n_operations = 1};
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	for (int c = 0; c < SL_N_CONDITIONS; c++)
		r.at[c] = (struct sl_timed){.ns = (double)NAN};
	r.at[SL_CONDITION_IN_PLACE].ns = 2700;
	for (int is_shared = 0; is_shared < 2; is_shared++) {
		r.at[SL_CONDITION_ALONE].ns = is_shared ? 4900 : 2700;
		p.ceilings.step_ns = (struct sl_estimate){.value = 200, .n = 9};
		assert_int_equal(sl__profile_judge_bottlenecks(
					 &p, &diagnosis, NULL, &arena, NULL),
				 SL_OK);
		assert_near(p.ceilings.step_ns.value, is_shared ? 200 : 2700,
			    0);
	}
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(judges_the_model),
		cmocka_unit_test(imbalance_has_a_headline_of_its_own),
		cmocka_unit_test(disturbed_profiles_are_not_judged),
		cmocka_unit_test(steps_that_threads_share_are_no_start),
		cmocka_unit_test(iterations_waited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
