/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_training_advice.c - when steps are bound by data, and what is advised
 * then: recorded comparisons, judged.
 */
#include "fact_says.h"
#include "harness.h"
#include "analysis/advice.h"
#include "analysis/bottleneck.h"
#include "analysis/training_phases.h"
#include "base/arena.h"

/* A step whose operations but for the feed have these shares. */
struct scene {
	struct sl_operation ops[3];
	struct sl_feed_comparison feeds[2];
	struct sl_training_profile training;
	struct sl_profile p;
	struct sl__arena arena;
};

static struct sl_estimate
estimate(double value, double lo, double hi)
{
	return (struct sl_estimate){
		.value = value, .lo = lo, .hi = hi, .n = 40};
}

/* Compute and memory share what the data leave. */
static void
set_scene(struct scene *s, double data, double compute,
	  struct sl_estimate memory)
{
	*s = (struct scene){
		.ops = {{.share = data, .phase = SL_PHASE_DATA},
			{.share = compute,
			 .judgement = {.bound = SL_BOUND_COMPUTE,
				       .confidence = 0.9}},
			{.share = 1 - data - compute,
			 .judgement = {.bound = SL_BOUND_DRAM,
				       .confidence = 0.9}}},
		.feeds = {{.feed = SL_FEED_MEMORY,
			   .ratio = memory,
			   .verdict = memory.hi < 0.99 ? SL_VERDICT_FASTER
						       : SL_VERDICT_SAME}},
		.training = {.data = "digits", .n_comparisons = 1}};
	s->p = (struct sl_profile){.operations = s->ops,
				   .n_operations = 3,
				   .training = &s->training};
	s->training.comparisons = s->feeds;
	s->p.ledger.is_closed = 1;
	s->p.latency.median.value = 1e6;
	sl__arena_init(&s->arena, NULL);
	assert_false(sl__judge_model(&s->p.verdict, &s->p, &s->arena, NULL));
}

static void
add_trial(struct scene *s, struct sl_estimate ratio, enum sl_verdict verdict)
{
	s->feeds[1] = (struct sl_feed_comparison){SL_FEED_PREFETCH, 2, ratio,
						  verdict};
	s->training.n_comparisons = 2;
	assert_false(sl__advise_training(&s->p, &s->arena, NULL));
}

static void
data_bound_needs_proof(void **state)
{
	struct scene s;
	const struct sl_finding *f = &s.p.verdict;

	(void)state;
	/* Feeding costs 60 %, the others have 24 % and 16 %. */
	set_scene(&s, 0.6, 0.24, estimate(0.4, 0.38, 0.42));
	assert_int_equal(f->bottleneck, SL_BOTTLENECK_DATA);
	assert_int_equal(f->cause, SL_BOUND_UNKNOWN);
	assert_near(f->confidence, 0.95, 1e-12);
	assert_true(facts_say(f->evidence, f->n_evidence,
			      "takes 0.40 [0.38, 0.42] × as long, in 40"));
	assert_true(facts_say(f->against, f->n_against, "24 % of the time"));
	sl__arena_release(&s.arena);
	/* More than the largest of the others, though less than half. */
	set_scene(&s, 0.4, 0.3, estimate(0.6, 0.58, 0.62));
	assert_int_equal(f->bottleneck, SL_BOTTLENECK_DATA);
	sl__arena_release(&s.arena);
	/* The interval reaches to what is no more than that. */
	set_scene(&s, 0.4, 0.3, estimate(0.6, 0.4, 0.75));
	assert_int_equal(f->bottleneck, SL_BOTTLENECK_MIXED);
	assert_true(facts_say(f->against, f->n_against, "fed from memory"));
	sl__arena_release(&s.arena);
	/* A wait that prefetch threads overlap with costs nothing. */
	set_scene(&s, 0.1, 0.8, estimate(0.99, 0.97, 1.01));
	assert_int_equal(f->bottleneck, SL_BOTTLENECK_COMPUTE);
	assert_true(facts_say(f->evidence, f->n_evidence, "fed from memory"));
	sl__arena_release(&s.arena);
}

static void
threads_that_gained_are_advised(void **state)
{
	const struct sl_advice *a;
	struct scene s;

	(void)state;
	set_scene(&s, 0.6, 0.24, estimate(0.4, 0.38, 0.42));
	add_trial(&s, estimate(0.5, 0.4, 0.8), SL_VERDICT_FASTER);
	assert_int_equal(s.p.n_advice, 1);
	a = &s.p.advice[0];
	assert_int_equal(a->what.kind, SL_FACT_USE_PREFETCH);
	assert_true(fact_says(&a->what, "on 2 prefetch threads"));
	assert_int_equal(a->trial.action, SL_TRIAL_PREFETCH);
	assert_int_equal(a->trial.value, 2);
	/* No loader is faster than memory. */
	assert_near(a->most, 1 / 0.38, 1e-12);
	assert_near(a->measured.value, 2, 1e-12);
	assert_near(a->measured.lo, 1.25, 1e-12);
	assert_near(a->measured.hi, 2.5, 1e-12);
	assert_int_equal(s.p.n_remarks, 0);
	sl__arena_release(&s.arena);
}

static void
threads_in_vain_are_a_remark(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s, 0.6, 0.24, estimate(0.4, 0.38, 0.42));
	add_trial(&s, estimate(1.1, 1.05, 1.25), SL_VERDICT_SLOWER);
	assert_int_equal(s.p.n_advice, 1);
	assert_int_equal(s.p.advice[0].what.kind, SL_FACT_CHEAPER_SAMPLES);
	assert_int_equal(s.p.advice[0].trial.action, SL_TRIAL_NONE);
	assert_int_equal(s.p.advice[0].measured.n, 0);
	assert_true(facts_say(s.p.remarks, s.p.n_remarks,
			      "2 prefetch threads: 0.91 [0.80, 0.95] ×"));
	sl__arena_release(&s.arena);
}

static void
data_that_cost_nothing_need_no_advice(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s, 0.01, 0.9, estimate(1, 0.995, 1.005));
	assert_false(sl__advise_training(&s.p, &s.arena, NULL));
	assert_int_equal(s.p.n_advice, 0);
	s.training.n_comparisons = 0;
	assert_false(sl__advise_training(&s.p, &s.arena, NULL));
	assert_int_equal(s.p.n_advice, 0);
	sl__arena_release(&s.arena);
}

static void
savings_are_said(void **state)
{
	static const struct sl_fact found = {
		SL_FACT_RECOMPUTE_SAVES, {5e6, 2e7, 3e6, 2e6, 4e6, 30}, {NULL}};

	(void)state;
	assert_true(fact_says(&found, "saves 5 MB of 20 MB for 3 ms more a "
				      "step [2 ms, 4 ms], in 30 rounds"));
}

/* A step of two layers and the findings of it; times in % of the step. */
static void
find(struct scene *s, double forward, double backward, double update,
     uint64_t held_bytes)
{
	static struct sl_training_layer layers[2];
	static struct sl_training_phase phases[3];
	const struct sl__kept_activation largest = {held_bytes, 1};

	*s = (struct scene){
		.ops = {{.name = "a", .self_ns = 100}, {.name = "b"}},
		.training = {.phases = phases,
			     .n_phases = 3,
			     .layers = layers,
			     .n_layers = 2,
			     .kept_bytes = 1000,
			     .optimizer = SL_OPTIMIZER_ADAM,
			     .optimizer_bytes = {[SL_OPTIMIZER_ADAM] = 800}}};
	s->p = (struct sl_profile){.operations = s->ops,
				   .n_operations = 3,
				   .training = &s->training};
	phases[0] = (struct sl_training_phase){SL_PHASE_FORWARD,
					       .share = forward / 100};
	phases[1] = (struct sl_training_phase){SL_PHASE_BACKWARD,
					       .share = backward / 100};
	phases[2] = (struct sl_training_phase){SL_PHASE_UPDATE,
					       .share = update / 100};
	layers[0] = (struct sl_training_layer){.name = "small",
					       .type = "Relu",
					       .forward_ns = 1,
					       .backward_input_ns = 8,
					       .backward_to_forward = 8};
	layers[1] = (struct sl_training_layer){
		.name = "large",
		.type = "MatMul",
		.forward_ns = forward - 1,
		.backward_input_ns = (backward - 8) / 2,
		.backward_weight_ns = (backward - 8) / 2,
		.backward_to_forward = (backward - 8) / (forward - 1),
		.forward_flops = 10,
		.backward_flops = 20};
	sl__arena_init(&s->arena, NULL);
	assert_false(sl__training_find(&s->p, &largest, &s->arena, NULL));
}

static int
stands_out(struct scene *s, const char *words)
{
	return facts_say(s->training.findings, s->training.n_findings, words);
}

static void
what_is_out_of_the_common_run_is_named(void **state)
{
	struct scene s;

	(void)state;
	/* Nothing is: a small layer's ratio of 8 is no matter. */
	find(&s, 31, 68, 1, 400);
	assert_int_equal(s.training.n_findings, 1);
	assert_true(stands_out(&s, "backward takes 68 % of the step"));
	sl__arena_release(&s.arena);
	/* 77 of backward for 10 of forward. */
	find(&s, 11, 85, 4, 400);
	assert_true(stands_out(&s, "backward pass of 'large' (MatMul) takes "
				   "7.7 × as long as its forward pass, for 2.0 "
				   "× the FLOPs: 77 % of the step"));
	sl__arena_release(&s.arena);
	find(&s, 20, 30, 50, 600);
	assert_true(stands_out(&s, "update takes 50 % of the step"));
	assert_true(stands_out(&s, "the update with adam takes 50 %"));
	assert_true(stands_out(&s, "the output of 'b', holds 600 B"));
	assert_int_equal(s.training.n_findings, 3);
	/* All of it, but next to nothing beside the parameters. */
	s.training.parameters_bytes = 10000;
	assert_false(sl__training_find(
		&s.p, &(struct sl__kept_activation){1000, 1}, &s.arena, NULL));
	assert_int_equal(s.training.n_findings, 2);
	sl__arena_release(&s.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_bound_needs_proof),
		cmocka_unit_test(threads_that_gained_are_advised),
		cmocka_unit_test(threads_in_vain_are_a_remark),
		cmocka_unit_test(what_is_out_of_the_common_run_is_named),
		cmocka_unit_test(data_that_cost_nothing_need_no_advice),
		cmocka_unit_test(savings_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
