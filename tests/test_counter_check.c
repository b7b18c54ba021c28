/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_counter_check.c - verdicts held against counts made by hand: agreement
 * is evidence, contradiction lowers confidence by the rule or withdraws the
 * verdict, and a counter that cannot know is not heard.
 */
#include "experiment/step_counters.h"
#include "fact_says.h"
#include "harness.h"
#include "analysis/counter_check.h"
#include "analysis/bottleneck.h"

/* An operation of 1 ms on a machine that gives 100, 50 and 10 GB/s: DRAM can
 * bring 156,250 lines in that time. */
struct fixture {
	struct sl_profile profile;
	struct sl_operation op;
	struct sl_operation_counts counts;
	size_t by_time[1];
	struct sl__arena arena;
};

static const double DRAM_LINES = 156250;
static const struct sl_fact before[] = {{SL_FACT_WARM, {1.5}, {NULL}}};

static struct sl_estimate
estimate(double value)
{
	struct sl_estimate e = {value, value, value, 9, 0, SL_METHOD_ORDER};

	return e;
}

static void
start(struct fixture *f, enum sl_bound bound)
{
	struct sl_ceilings *c = &f->profile.ceilings;

	memset(f, 0, sizeof(*f));
	sl__arena_init(&f->arena, NULL);
	c->n_levels = 3;
	c->levels[0] =
		(struct sl_ceiling_level){SL_LEVEL_L2, 1000, estimate(100e9)};
	c->levels[1] =
		(struct sl_ceiling_level){SL_LEVEL_L3, 9000, estimate(50e9)};
	c->levels[2] = (struct sl_ceiling_level){SL_LEVEL_DRAM, UINT64_MAX,
						 estimate(10e9)};
	for (int e = 0; e < SL_N_EVENTS; e++) {
		f->profile.counters[e] = (struct sl_counter_use){
			sl_event_text((enum sl_event)e), 1, NULL};
		f->counts.of[e] = (double)NAN;
	}
	f->counts.n_calls = 3;
	f->op.counts = &f->counts;
	f->op.n_calls = 1;
	f->op.median_ns = estimate(1e6);
	f->op.judgement = (struct sl_judgement){.bound = bound,
						.confidence = 0.96,
						.evidence = before,
						.n_evidence = 1};
	f->profile.operations = &f->op;
	f->profile.n_operations = 1;
	f->profile.by_time = f->by_time;
}

/* Instructions and stalls per cycle, and share of DRAM. */
static void
set(struct fixture *f, double pace, double stalled, double dram)
{
	f->counts.of[SL_EVENT_CYCLES] = 6e6;
	f->counts.of[SL_EVENT_INSTRUCTIONS] = pace * 6e6;
	f->counts.of[SL_EVENT_STALLS] = stalled * 6e6;
	f->counts.of[SL_EVENT_L3_MISSES] = dram * DRAM_LINES;
}

static const struct sl_judgement *
check(struct fixture *f)
{
	assert_int_equal(sl__judgement_cross_check(&f->op.judgement, &f->op,
						   &f->profile, &f->arena,
						   NULL),
			 SL_OK);
	return &f->op.judgement;
}

static void
rates_are_quotients(void **state)
{
	struct sl__counter_rates r;
	struct fixture f;

	(void)state;
	start(&f, SL_BOUND_DRAM);
	set(&f, 0.5, 0.75, 0.9);
	f.counts.of[SL_EVENT_L1_MISSES] = 1e6; /* 64 GB/s */
	sl__counter_rates_of(&r, &f.op, &f.profile);
	assert_near(r.per_cycle, 0.5, 1e-12);
	assert_near(r.stalled, 0.75, 1e-12);
	assert_near(r.bytes_per_s[SL__MEMORY_DRAM], 9e9, 1);
	assert_near(r.share[SL__MEMORY_DRAM], 0.9, 1e-9);
	assert_near(r.share[SL__MEMORY_L2], 0.64, 1e-9);
	assert_true(isnan(r.share[SL__MEMORY_L3]));
	sl__arena_release(&f.arena);
}

static void
agreement_is_evidence(void **state)
{
	const struct sl_judgement *j;
	struct fixture f;

	(void)state;
	start(&f, SL_BOUND_DRAM);
	set(&f, 0.4, 0.8, 0.9);
	j = check(&f);
	assert_int_equal(j->bound, SL_BOUND_DRAM);
	assert_near(j->confidence, 0.96, 0);
	assert_int_equal(j->n_against, 0);
	assert_int_equal(j->n_evidence, 2);
	assert_int_equal(j->evidence[0].kind, SL_FACT_WARM);
	assert_fact_says(&j->evidence[1],
			 "counters agree: lines from DRAM come at 9 GB/s, "
			 "90 % of what it gives, 80 % of cycles are "
			 "stalled, 0.40 instructions a cycle");
	sl__arena_release(&f.arena);
	start(&f, SL_BOUND_COMPUTE);
	set(&f, 2.5, 0.1, 0.05);
	j = check(&f);
	assert_int_equal(j->bound, SL_BOUND_COMPUTE);
	assert_int_equal(j->n_against, 0);
	assert_true(fact_says(&j->evidence[1], "2.50 instructions a cycle"));
	sl__arena_release(&f.arena);
}

/* One witness against and two for: 15 % less, which is still enough. */
static void
a_contradiction_lowers_confidence(void **state)
{
	const struct sl_judgement *j;
	struct fixture f;

	(void)state;
	start(&f, SL_BOUND_DRAM);
	set(&f, 0.4, 0.8, 0.05);
	j = check(&f);
	assert_int_equal(j->bound, SL_BOUND_DRAM);
	assert_near(j->confidence, 0.96 * 0.85, 1e-12);
	assert_int_equal(j->n_evidence, 2);
	assert_int_equal(j->n_against, 1);
	assert_true(fact_says(&j->against[0], "5 % of what it gives"));
	sl__arena_release(&f.arena);
}

static void
clear_contradictions_withdraw(void **state)
{
	static const struct {
		enum sl_bound bound;
		double pace, stalled, dram;
	} rows[] = {
		{SL_BOUND_DRAM, 3, 0.05, 0.01},
		{SL_BOUND_COMPUTE, 0.3, 0.9, 0.95},
		{SL_BOUND_L3, 3, 0.05, 0.01},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct sl_judgement *j;
		struct fixture f;

		start(&f, rows[i].bound);
		f.op.judgement.confidence = 1;
		set(&f, rows[i].pace, rows[i].stalled, rows[i].dram);
		j = check(&f);
		assert_int_equal(j->bound, SL_BOUND_UNKNOWN);
		assert_near(j->confidence, 0, 0);
		assert_int_equal(j->n_evidence, 2);
		assert_int_equal(j->n_against, 0);
		assert_true(fact_says(&j->evidence[0],
				      sl_bound_text(rows[i].bound)));
		assert_true(fact_says(&j->evidence[0], "counters contradict"));
		assert_int_equal(j->evidence[1].kind, SL_FACT_WARM);
		sl__arena_release(&f.arena);
	}
}

/* What is left would not have been enough for a verdict. */
static void
a_weak_verdict_falls(void **state)
{
	const struct sl_judgement *j;
	struct fixture f;

	(void)state;
	start(&f, SL_BOUND_DRAM);
	f.op.judgement.confidence = 0.8;
	set(&f, 0.4, 0.8, 0.05);
	j = check(&f);
	assert_int_equal(j->bound, SL_BOUND_UNKNOWN);
	/* What was said for it stays to be read. */
	assert_int_equal(j->n_evidence, 3);
	sl__arena_release(&f.arena);
}

/* Arithmetic on tiles takes few instructions. */
static void
near_the_roof_pace_does_not_matter(void **state)
{
	const struct sl_judgement *j;
	struct fixture f;

	(void)state;
	start(&f, SL_BOUND_COMPUTE);
	f.op.roof = SL_LEVEL_COMPUTE;
	f.op.ceiling_share = 0.8;
	set(&f, 0.2, 0.9, 0.1);
	j = check(&f);
	assert_int_equal(j->bound, SL_BOUND_COMPUTE);
	assert_near(j->confidence, 0.96, 0);
	assert_int_equal(j->n_against, 0);
	sl__arena_release(&f.arena);
}

static void
who_cannot_know_is_not_heard(void **state)
{
	const struct sl_judgement *j;
	struct fixture f;

	(void)state;
	/* Counters that had a tenth of the time. */
	start(&f, SL_BOUND_DRAM);
	set(&f, 3, 0.05, 0.01);
	for (int e = 0; e < SL_N_EVENTS; e++)
		f.profile.counters[e].running_share = 0.1;
	j = check(&f);
	assert_int_equal(j->bound, SL_BOUND_DRAM);
	assert_int_equal(j->n_evidence + j->n_against, 1);
	sl__arena_release(&f.arena);
	/* Lines at twice what the memory gives. */
	start(&f, SL_BOUND_OVERHEAD);
	set(&f, 3, 0.05, 2);
	assert_int_equal(check(&f)->n_against, 0);
	sl__arena_release(&f.arena);
	/* Plain loops are known; no counts, no words. */
	start(&f, SL_BOUND_REFERENCE);
	set(&f, 0.1, 0.9, 0.9);
	assert_int_equal(check(&f)->n_against, 0);
	f.op.counts = NULL;
	f.op.judgement.bound = SL_BOUND_DRAM;
	assert_int_equal(check(&f)->n_evidence, 1);
	sl__arena_release(&f.arena);
}

static void
busy_memory_speaks_against_the_rest(void **state)
{
	const struct sl_judgement *j;
	struct fixture f;

	(void)state;
	start(&f, SL_BOUND_IMBALANCE);
	f.op.judgement.confidence = 1;
	set(&f, 0.1, 0.9, 0.85);
	j = check(&f);
	assert_int_equal(j->bound, SL_BOUND_IMBALANCE);
	assert_near(j->confidence, 0.85, 1e-12);
	assert_int_equal(j->n_against, 1);
	sl__arena_release(&f.arena);
}

static void
traffic_is_lines(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, SL_BOUND_DRAM);
	f.op.n_traffic = 3;
	f.op.traffic[0].level = SL_LEVEL_L2;
	f.op.traffic[1].level = SL_LEVEL_L3;
	f.op.traffic[2].level = SL_LEVEL_DRAM;
	f.counts.of[SL_EVENT_L1_MISSES] = 1000.25;
	f.counts.of[SL_EVENT_L3_MISSES] = 10;
	f.profile.counters[SL_EVENT_L2_MISSES].absent = "no name";
	sl__profile_fill_counted_traffic(&f.profile);
	assert_near(f.op.traffic[0].measured_bytes.value, 64016, 0);
	assert_true(isnan(f.op.traffic[1].measured_bytes.value));
	assert_string_equal(f.op.traffic[1].measured_bytes.absent, "no name");
	assert_near(f.op.traffic[2].measured_bytes.value, 640, 0);
	/* Without a third cache what misses the second comes from DRAM. */
	f.op.n_traffic = 2;
	f.op.traffic[1].level = SL_LEVEL_DRAM;
	f.counts.of[SL_EVENT_L2_MISSES] = 20;
	sl__profile_fill_counted_traffic(&f.profile);
	assert_near(f.op.traffic[1].measured_bytes.value, 1280, 0);
	/* Not counted, and why. */
	f.op.counts = NULL;
	f.profile.no_counter = "not permitted";
	sl__profile_fill_counted_traffic(&f.profile);
	assert_string_equal(f.op.traffic[0].measured_bytes.absent,
			    "not permitted");
	sl__arena_release(&f.arena);
}

static void
counts_reach_their_operations(void **state)
{
	struct sl_operation_counts counts[2] = {{.n_calls = 3}, {.n_calls = 0}};
	struct sl_operation ops[3] = {{.step = 5}, {.step = 6}, {.step = 7}};
	const size_t by_time[] = {2, 0, 1};
	struct sl__plan_counter_values counted;
	struct sl_profile p = {.operations = ops,
			       .n_operations = 3,
			       .by_time = by_time,
			       .n_hot = 2};

	(void)state;
	sl__step_counters_set_absent(&counted, NULL);
	counted.counts = counts;
	counted.n = 2;
	sl__profile_attach_counts(&p, &counted);
	assert_ptr_equal(ops[2].counts, &counts[0]);
	assert_null(ops[0].counts); /* it never ran */
	assert_null(ops[1].counts);
	assert_int_equal(p.n_counted, 1);
	sl__step_counters_set_absent(&counted, "no CPU");
	sl__profile_attach_counts(&p, &counted);
	assert_string_equal(p.no_counter, "no CPU");
	assert_string_equal(p.counters[SL_EVENT_STALLS].absent, "no CPU");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_quotients),
		cmocka_unit_test(agreement_is_evidence),
		cmocka_unit_test(a_contradiction_lowers_confidence),
		cmocka_unit_test(clear_contradictions_withdraw),
		cmocka_unit_test(a_weak_verdict_falls),
		cmocka_unit_test(near_the_roof_pace_does_not_matter),
		cmocka_unit_test(who_cannot_know_is_not_heard),
		cmocka_unit_test(busy_memory_speaks_against_the_rest),
		cmocka_unit_test(traffic_is_lines),
		cmocka_unit_test(counts_reach_their_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
