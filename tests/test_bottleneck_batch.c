/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bottleneck_batch.c - proves what twice the batch says about an
 * operation: cases that nothing else decides, and cases about which it is
 * silent.
 */
#include "fact_says.h"
#include "harness.h"
#include "ideal_classes.h"

/* A machine of 2 threads: 200 GFLOP/s, 200, 100 and 20 GB/s; nobody could be
 * spared to hog memory. */
static const struct sl__step_evidence machine = {
	.dtype = SL_DTYPE_F32,
	.n_threads = 2,
	.flops_per_s = 200e9,
	.bytes_per_s = {200e9, 100e9, 20e9},
	.size_bytes = {1e6, 16e6, (double)INFINITY},
	.step_ns = 1000,
	.is_same_alone = 1,
	.hog = {(double)NAN, (double)NAN, (double)NAN, (double)NAN},
};

/* What takes 'ms', and at twice the batch 'ratio' times as long for so much
 * more arithmetic and so many more bytes; alone it takes 'threads' times as
 * long. */
struct answers {
	double ms, gflop, mb, threads, ratio, flops, bytes;
};

static struct sl__step_evidence
case_of(struct answers a)
{
	struct sl__step_evidence c = machine;
	double t = a.ms * 1e6;

	c.time_ns = c.least_ns = t;
	c.flops = c.core_flops = a.gflop * 1e9;
	c.n_dependent = 1;
	c.n_bytes = a.mb * 1e6;
	for (int k = 0; k < SL_N_CONDITIONS; k++) {
		c.at_ns[k] = (double)NAN;
		c.spread[k] = 0.01;
	}
	c.at_ns[SL_CONDITION_IN_PLACE] = t;
	c.at_ns[SL_CONDITION_WARM] = t;
	c.at_ns[SL_CONDITION_COLD] = 1.02 * t;
	c.at_ns[SL_CONDITION_ALONE] = a.threads * t;
	c.at_ns[SL_CONDITION_DOUBLED] = a.ratio > 0 ? a.ratio * t : (double)NAN;
	c.doubled_flops = a.ratio > 0 ? a.flops * c.flops : (double)NAN;
	c.doubled_bytes = a.ratio > 0 ? a.bytes * c.n_bytes : (double)NAN;
	return c;
}

static enum sl_bound
judge(struct answers a)
{
	struct sl__step_evidence c = case_of(a);
	struct sl__bound_scores s;

	sl__bound_classes_score(&s, &c, ideal_classes());
	return s.bound;
}

/* One row by 40 MB of weights at 29 % of DRAM's rate, on threads that help
 * as they would help either: nothing says what that is but the batch. */
static void
weights_are_read_once(void **state)
{
	struct answers a = {.ms = 7, .gflop = 0.02, .mb = 40, .threads = 1.9};

	(void)state;
	assert_int_equal(judge(a), SL_BOUND_UNKNOWN);
	a.flops = 2;
	a.bytes = 1.001;
	a.ratio = 1.02;
	assert_int_equal(judge(a), SL_BOUND_DRAM);
	a.ratio = 1.97;
	assert_int_equal(judge(a), SL_BOUND_COMPUTE);
}

/* Rows that two threads cannot share evenly, so little apart that the speed-up
 * alone does not tell: twice as many divide better. */
static void
more_samples_divide_better(void **state)
{
	struct answers a = {.ms = 1, .gflop = 0.05, .mb = 1.5, .threads = 1.5};

	(void)state;
	assert_int_equal(judge(a), SL_BOUND_UNKNOWN);
	a.flops = a.bytes = 2;
	a.ratio = 1.2;
	assert_int_equal(judge(a), SL_BOUND_IMBALANCE);
	a.ratio = 2;
	assert_int_not_equal(judge(a), SL_BOUND_OVERHEAD);
}

/* A microsecond and a half on two threads, two on one: a start, or work that is
 * small. */
static void
starting_takes_no_longer(void **state)
{
	struct answers a = {.ms = 0.0014,
			    .gflop = 1e-5,
			    .mb = 0.01,
			    .threads = 1.3,
			    .flops = 2,
			    .bytes = 2};
	struct sl__bound_scores once, twice;
	struct sl__step_evidence c;

	(void)state;
	a.ratio = 1.02;
	c = case_of(a);
	sl__bound_classes_score(&once, &c, ideal_classes());
	a.ratio = 2;
	c = case_of(a);
	sl__bound_classes_score(&twice, &c, ideal_classes());
	assert_true(once.probability[SL_BOUND_OVERHEAD] >
		    1.5 * twice.probability[SL_BOUND_OVERHEAD]);
	assert_int_equal(once.bound, SL_BOUND_OVERHEAD);
}

/* Where one thread does it as fast, and starting another would take all that
 * sharing gains (t <= t / 2 + step), it is too small, though twice the work takes
 * twice as long; where it would pay, it is not. */
static void
too_small_to_share_is_overhead(void **state)
{
	struct answers a = {.gflop = 1e-5,
			    .mb = 0.003,
			    .threads = 1,
			    .ratio = 2,
			    .flops = 2,
			    .bytes = 2};

	(void)state;
	a.ms = 0.0014;
	assert_int_equal(judge(a), SL_BOUND_OVERHEAD);
	a.ms = 0.0018;
	assert_int_equal(judge(a), SL_BOUND_OVERHEAD);
	a.ms = 0.003;
	assert_int_not_equal(judge(a), SL_BOUND_OVERHEAD);
	/* Weights that stream from a cache are no start. */
	a.ms = 0.0018;
	a.mb = 0.3;
	assert_int_not_equal(judge(a), SL_BOUND_OVERHEAD);
}

static double
batch_costs(struct answers a, enum sl_bound bound)
{
	struct sl__step_evidence c = case_of(a);
	struct sl__bound_scores s;

	sl__bound_classes_score(&s, &c, ideal_classes());
	return s.costs[bound][SL__EXPERIMENT_BATCH];
}

static void
says_nothing_of_another_memory(void **state)
{
	/* 12 MB within the last cache; 24 MB for two threads still, 60 MB
	 * not. */
	struct answers a = {.ms = 0.15,
			    .gflop = 0.001,
			    .mb = 12,
			    .threads = 1.7,
			    .ratio = 9,
			    .flops = 2,
			    .bytes = 2};

	(void)state;
	assert_true(batch_costs(a, SL_BOUND_L3) < -1);
	a.bytes = 5;
	assert_true(batch_costs(a, SL_BOUND_L3) > -0.5);
}

static void
says_nothing_of_what_does_not_grow(void **state)
{
	/* A table made ready for any number of samples. */
	struct answers a = {.ms = 1,
			    .gflop = 0.01,
			    .mb = 1,
			    .threads = 1.9,
			    .ratio = 1,
			    .flops = 1,
			    .bytes = 1};

	(void)state;
	for (int b = 0; b < SL_N_BOUNDS; b++)
		assert_true(batch_costs(a, (enum sl_bound)b) >= 0);
	/* Nor where it was not tried. */
	a.ratio = 0;
	for (int b = 0; b < SL_N_BOUNDS; b++)
		assert_true(batch_costs(a, (enum sl_bound)b) >= 0);
	/* What counts no arithmetic does its work by the byte. */
	a = (struct answers){.ms = 1,
			     .mb = 1,
			     .threads = 1.9,
			     .ratio = 2,
			     .flops = 0,
			     .bytes = 2};
	assert_true(batch_costs(a, SL_BOUND_COMPUTE) >= 0);
	assert_true(batch_costs(a, SL_BOUND_OVERHEAD) < -1);
}

static void
gives_its_figures(void **state)
{
	struct sl__step_evidence c = case_of((struct answers){.ms = 4.5,
							      .gflop = 0.02,
							      .mb = 40,
							      .threads = 1.9,
							      .ratio = 1.02,
							      .flops = 2,
							      .bytes = 1.001});
	struct sl_judgement j;
	struct sl__arena arena;

	(void)state;
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__bottleneck_judge(&j, &c, ideal_classes(), &arena, NULL),
		SL_OK);
	assert_int_equal(j.bound, SL_BOUND_DRAM);
	assert_true(facts_say(j.evidence, j.n_evidence,
			      "at twice the batch it takes 1.02 × as long, for "
			      "2.00 × the arithmetic and 1.00 × the bytes"));
	sl__arena_release(&arena);
}

/* Five operations for every four that are tried. */
static void
tells_what_is_not_covered(void **state)
{
	enum { MANY = SL__HOT_MOST / 4 * 5 + 2 };
	static struct sl_operation ops[MANY];
	static size_t order[MANY];
	struct sl_profile p = {.operations = ops,
			       .n_operations = MANY,
			       .n_hot = SL__HOT_MOST,
			       .by_time = order};
	struct sl__step_responses d = {
		.hot_share = 0.9, .no_doubled = "the model's batch is fixed"};
	struct sl__arena arena;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		order[i] = i;
		ops[i].step = i;
		ops[i].share = 1.0 / MANY;
		ops[i].n_calls = 1;
	}
	sl__arena_init(&arena, NULL);
	assert_int_equal(
		sl__profile_judge_bottlenecks(&p, &d, NULL, &arena, NULL),
		SL_OK);
	assert_int_equal(p.n_remarks, 2);
	assert_fact_says(&p.remarks[0],
			 "no operation was timed at twice the batch: "
			 "the model's batch is fixed");
	assert_fact_says(&p.remarks[1],
			 "experiments cover 80 % of the time: only the 250 "
			 "longest operations take part");
	/* As much as was wanted. */
	p.n_remarks = 0;
	d.hot_share = 0.79;
	assert_int_equal(
		sl__profile_judge_bottlenecks(&p, &d, NULL, &arena, NULL),
		SL_OK);
	assert_int_equal(p.n_remarks, 1);
	sl__arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_read_once),
		cmocka_unit_test(more_samples_divide_better),
		cmocka_unit_test(starting_takes_no_longer),
		cmocka_unit_test(too_small_to_share_is_overhead),
		cmocka_unit_test(says_nothing_of_another_memory),
		cmocka_unit_test(says_nothing_of_what_does_not_grow),
		cmocka_unit_test(gives_its_figures),
		cmocka_unit_test(tells_what_is_not_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
