/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_physics.c - what cannot be is flagged, and what can be is not: a
 * machine of 100 GFLOP/s (at most 102) in f32 and 400 in int8, whose fastest
 * cache gives 1000 GB/s (at most 1020).
 */
#include "fact_says.h"
#include "harness.h"
#include "analysis/roofline_place.h"

#include <math.h>
#include <string.h>

enum { N_OPS = 3 };

struct made {
	struct sl_profile profile;
	struct sl_operation ops[N_OPS];
	struct sl__arena arena;
};

static struct sl_estimate
about(double value)
{
	return (struct sl_estimate){.value = value,
				    .lo = 0.98 * value,
				    .hi = 1.02 * value,
				    .n = 36};
}

/* Three operations of 1 ms, each with 90 MFLOP and 1 MB. */
static void
make(struct made *m)
{
	struct sl_ceilings *c = &m->profile.ceilings;

	memset(m, 0, sizeof(*m));
	sl__arena_init(&m->arena, NULL);
	m->profile.dtype = SL_DTYPE_F32;
	m->profile.batch = 1;
	m->profile.latency.median = about(3e6);
	m->profile.ledger.wall_ns = m->profile.ledger.operations_ns = 3e6;
	m->profile.operations = m->ops;
	m->profile.n_operations = N_OPS;
	c->n_threads = 1;
	c->flops_per_s = about(100e9);
	c->peaks[0] = (struct sl_ceiling_peak){SL_DTYPE_F32, "F", about(100e9)};
	c->peaks[1] = (struct sl_ceiling_peak){SL_DTYPE_BF16, "B", about(2e11)};
	c->peaks[2] = (struct sl_ceiling_peak){SL_DTYPE_I8, "I", about(400e9)};
	c->n_peaks = 3;
	c->levels[0] =
		(struct sl_ceiling_level){SL_LEVEL_L1, 1 << 15, about(1e12)};
	c->levels[1] = (struct sl_ceiling_level){SL_LEVEL_DRAM, UINT64_MAX,
						 about(50e9)};
	c->n_levels = 2;
	for (size_t i = 0; i < N_OPS; i++)
		m->ops[i] = (struct sl_operation){.name = "layer1.conv",
						  .type = "Conv",
						  .kernel = "jit:avx512_core",
						  .n_calls = 1,
						  .median_ns = about(1e6),
						  .max_ns = 2e6,
						  .core_flops = 90000000,
						  .nominal_flops = 90000000,
						  .executed_flops = 90000000,
						  .n_bytes = 1000000,
						  .working_set_bytes = 1000000};
}

static void
check(struct made *m)
{
	sl__roofline_place(&m->profile);
	assert_int_equal(
		sl__profile_flag_impossible(&m->profile, &m->arena, NULL),
		SL_OK);
	sl__profile_fill_rates(&m->profile);
}

static void
honest_figures_are_not_flagged(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	check(&m);
	assert_int_equal(m.profile.n_impossible, 0);
	assert_int_equal(m.profile.n_remarks, 0);
	for (size_t i = 0; i < N_OPS; i++) {
		assert_null(m.ops[i].impossible);
		assert_close(m.ops[i].ceiling_share, 0.9, 1e-12);
	}
	sl__arena_release(&m.arena);
}

static void
a_cost_a_hundred_times_too_high_is_flagged(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	m.ops[1].nominal_flops *= 100;
	m.ops[1].executed_flops *= 100;
	check(&m);
	assert_int_equal(m.profile.n_impossible, 1);
	assert_memory_equal(&m.profile.impossible[0], m.ops[1].impossible,
			    sizeof(struct sl_fact));
	/* 9 GFLOP in 1.02 ms, against 102. */
	assert_true(fact_says(m.ops[1].impossible, "layer1.conv (Conv)"));
	assert_true(fact_says(m.ops[1].impossible, "8824 GFLOP/s"));
	assert_true(fact_says(m.ops[1].impossible, "102 GFLOP/s"));
	assert_true(fact_says(m.ops[1].impossible, "f32"));
	assert_true(isnan(m.ops[1].ceiling_share));
	assert_true(isnan(m.ops[1].bound_ns));
	assert_null(m.ops[0].impossible);
	/* The others still count. */
	assert_close(m.profile.rates.executed_flops_per_s, 60e9, 1e-12);
	assert_close(m.profile.rates.bound_ns, 1.8e6, 1e-12);
	sl__arena_release(&m.arena);
}

/* What is asked for is above the peak; why less is done is said. */
static void
skipped_work_is_explained(void **state)
{
	static const struct {
		const char *kernel, *reason;
		enum sl_part part;
	} rows[] = {
		{"wino:avx512_core", "Winograd", SL_PART_CONVOLUTION},
		{"jit:avx512_core", "in padding", SL_PART_CONVOLUTION},
		{"attention", "its mask hides", SL_PART_ATTENTION},
	};
	struct made m;

	(void)state;
	make(&m);
	for (size_t i = 0; i < N_OPS; i++) {
		m.ops[i].kernel = rows[i].kernel;
		m.ops[i].part = rows[i].part;
		m.ops[i].core_flops = 200000000;
	}
	check(&m);
	assert_int_equal(m.profile.n_remarks, N_OPS);
	for (size_t i = 0; i < N_OPS; i++) {
		assert_true(fact_says(&m.profile.remarks[i], "1 operation "));
		assert_true(fact_says(&m.profile.remarks[i], rows[i].reason));
	}
	sl__arena_release(&m.arena);
}

/* The interval decides: 103 GFLOP/s by the median, 101 at the least. */
static void
intervals_that_meet_are_no_flag(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	m.ops[0].executed_flops = 103000000;
	m.ops[1].executed_flops = 105000000; /* 102.9 at the least */
	m.ops[2].executed_flops = 105000000;
	m.ops[2].median_ns.hi = (double)NAN; /* then the longest call counts */
	check(&m);
	assert_null(m.ops[0].impossible);
	assert_true(m.ops[0].ceiling_share <= 1);
	assert_non_null(m.ops[1].impossible);
	assert_null(m.ops[2].impossible);
	/* A ceiling without an interval flags nothing. */
	m.ops[1].impossible = NULL;
	m.profile.n_impossible = 0;
	m.profile.ceilings.peaks[0].flops_per_s.hi = (double)NAN;
	check(&m);
	assert_null(m.ops[1].impossible);
	sl__arena_release(&m.arena);
}

static void
types_are_held_to_their_own_ceiling(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	for (size_t i = 0; i < N_OPS; i++)
		m.ops[i].executed_flops = m.ops[i].nominal_flops = 390000000;
	m.ops[0].kernel = "jit_int8:avx512_core_vnni";
	m.ops[1].kernel = "brg:avx512_core_bf16";
	check(&m);
	assert_null(m.ops[0].impossible);
	assert_true(fact_says(m.ops[1].impossible, "204 GFLOP/s"));
	assert_true(fact_says(m.ops[1].impossible, "bf16"));
	assert_non_null(m.ops[2].impossible);
	assert_int_equal(m.profile.n_impossible, 2);
	sl__arena_release(&m.arena);

	/* Unknown: only what no type reaches. */
	make(&m);
	m.profile.dtype = SL_DTYPE_BF16;
	m.ops[0].executed_flops = 390000000;
	m.ops[1].executed_flops = 500000000;
	check(&m);
	assert_null(m.ops[0].impossible);
	assert_true(fact_says(m.ops[1].impossible, "any type"));
	sl__arena_release(&m.arena);
	make(&m);
	m.profile.dtype = SL_DTYPE_BF16;
	m.profile.ceilings.n_peaks = 2; /* int8 may be faster: no telling */
	m.ops[1].executed_flops = 500000000;
	check(&m);
	assert_null(m.ops[1].impossible);
	sl__arena_release(&m.arena);
}

static void
bytes_beyond_the_fastest_cache_are_flagged(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	m.ops[0].n_bytes = 1000000000; /* 980 GB/s at the least */
	m.ops[1].n_bytes = 1100000000; /* 1078 */
	check(&m);
	assert_null(m.ops[0].impossible);
	assert_true(fact_says(m.ops[1].impossible, "1078 GB/s"));
	assert_true(fact_says(m.ops[1].impossible, "1020 GB/s"));
	assert_int_equal(m.profile.n_impossible, 1);
	sl__arena_release(&m.arena);
}

static void
a_sum_above_the_wall_is_flagged(void **state)
{
	const struct sl_fact before = {.kind = SL_FACT_MEMORY_GROWTH};
	struct made m;

	(void)state;
	make(&m);
	m.profile.impossible = &before;
	m.profile.n_impossible = 1;
	m.profile.ledger.operations_ns = 3.1e6;
	check(&m);
	assert_int_equal(m.profile.n_impossible, 2);
	assert_int_equal(m.profile.impossible[0].kind, before.kind);
	assert_true(fact_says(&m.profile.impossible[1], "3.1 ms"));
	sl__arena_release(&m.arena);
	make(&m);
	m.profile.ledger.operations_ns = 3.1e6;
	m.profile.ledger.absent = "nothing was recorded";
	check(&m);
	assert_int_equal(m.profile.n_impossible, 0);
	sl__arena_release(&m.arena);
}

static void
winograd_is_a_remark(void **state)
{
	const struct sl_fact before = {.kind = SL_FACT_NOT_COLD};
	struct made m;

	(void)state;
	make(&m);
	m.profile.remarks = &before;
	m.profile.n_remarks = 1;
	m.ops[2].core_flops = 2 * m.ops[2].executed_flops;
	m.ops[2].kernel = "jit_wino_4x3:avx512_core";
	check(&m);
	assert_int_equal(m.profile.n_impossible, 0);
	assert_int_equal(m.profile.n_remarks, 2);
	assert_int_equal(m.profile.remarks[0].kind, before.kind);
	assert_true(fact_says(&m.profile.remarks[1], "1 operation exceeds"));
	assert_true(fact_says(&m.profile.remarks[1], "Winograd"));
	sl__arena_release(&m.arena);
	/* Other kernels skip padding; a norm that was folded into them is no
	 * work that the rate counts. */
	make(&m);
	m.ops[0].core_flops = m.ops[1].core_flops = 180000000;
	m.ops[2].nominal_flops = 180000000;
	check(&m);
	assert_int_equal(m.profile.n_remarks, 1);
	assert_true(fact_says(&m.profile.remarks[0], "2 operations exceed "));
	assert_true(fact_says(&m.profile.remarks[0], "padding"));
	assert_false(fact_says(&m.profile.remarks[0], "Winograd"));
	sl__arena_release(&m.arena);
}

/* Counts that may be of a branch which does not run prove nothing. */
static void
what_is_not_counted_is_not_judged(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	m.ops[1].executed_flops *= 100;
	m.ops[1].uncounted = "one branch of 'If'";
	check(&m);
	assert_int_equal(m.profile.n_impossible, 0);
	sl__arena_release(&m.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_figures_are_not_flagged),
		cmocka_unit_test(a_cost_a_hundred_times_too_high_is_flagged),
		cmocka_unit_test(skipped_work_is_explained),
		cmocka_unit_test(intervals_that_meet_are_no_flag),
		cmocka_unit_test(types_are_held_to_their_own_ceiling),
		cmocka_unit_test(bytes_beyond_the_fastest_cache_are_flagged),
		cmocka_unit_test(a_sum_above_the_wall_is_flagged),
		cmocka_unit_test(winograd_is_a_remark),
		cmocka_unit_test(what_is_not_counted_is_not_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
