/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_roofline_place.c - operations under roofs of round figures: 100 GFLOP/s
 * in f32, 400 in int8, caches of 1, 10 and 100 kB a thread and memory, with
 * 1000, 500, 200 and 50 GB/s.
 */
#include "harness.h"
#include "analysis/roofline_place.h"

#include <math.h>
#include <string.h>

enum { N_OPS = 4 };

struct made {
	struct sl_profile profile;
	struct sl_inspection model;
	struct sl_operation ops[N_OPS];
};

static struct sl_estimate
about(double value)
{
	return (struct sl_estimate){.value = value,
				    .lo = 0.98 * value,
				    .hi = 1.02 * value,
				    .n = 36};
}

static void
add_level(struct sl_ceilings *c, enum sl_level level, uint64_t size, double gb)
{
	c->levels[c->n_levels++] =
		(struct sl_ceiling_level){.level = level,
					  .size_bytes = size,
					  .bytes_per_s = about(gb * 1e9)};
}

/* A profile on one thread with n operations that do nothing yet. */
static void
make(struct made *m, size_t n)
{
	struct sl_ceilings *c = &m->profile.ceilings;

	memset(m, 0, sizeof(*m));
	m->profile.dtype = SL_DTYPE_F32;
	m->profile.batch = 2;
	m->profile.model = &m->model;
	m->profile.latency.median = about(1e6);
	m->profile.operations = m->ops;
	m->profile.n_operations = n;
	c->n_threads = 1;
	c->dtype = SL_DTYPE_F32;
	c->flops_per_s = about(100e9);
	c->peaks[0] = (struct sl_ceiling_peak){SL_DTYPE_F32, "F", about(100e9)};
	c->peaks[1] = (struct sl_ceiling_peak){SL_DTYPE_I8, "I", about(400e9)};
	c->n_peaks = 2;
	add_level(c, SL_LEVEL_L1, 1000, 1000);
	add_level(c, SL_LEVEL_L2, 10000, 500);
	add_level(c, SL_LEVEL_L3, 100000, 200);
	add_level(c, SL_LEVEL_DRAM, UINT64_MAX, 50);
	for (size_t i = 0; i < n; i++)
		m->ops[i] = (struct sl_operation){.name = "op",
						  .type = "Conv",
						  .kernel = "jit:avx512_core",
						  .n_calls = 1,
						  .median_ns = about(1e6)};
}

static void
set_work(struct sl_operation *op, uint64_t flops, uint64_t bytes, double ns)
{
	op->core_flops = op->nominal_flops = op->executed_flops = flops;
	op->n_bytes = op->working_set_bytes = bytes;
	op->median_ns = about(ns);
}

static void
levels_hold_working_sets(void **state)
{
	static const uint64_t sizes[N_OPS] = {1000, 1001, 100000, 100001};
	static const enum sl_level levels[N_OPS] = {SL_LEVEL_L1, SL_LEVEL_L2,
						    SL_LEVEL_L3, SL_LEVEL_DRAM};
	static const double ns[N_OPS] = {1, 2.002, 500, 2000.02};
	struct made m;

	(void)state;
	make(&m, N_OPS);
	for (size_t i = 0; i < N_OPS; i++)
		set_work(&m.ops[i], 0, sizes[i], 1e5);
	sl__roofline_place(&m.profile);
	for (size_t i = 0; i < N_OPS; i++) {
		assert_int_equal(m.ops[i].level, levels[i]);
		assert_int_equal(m.ops[i].roof, levels[i]);
		assert_close(m.ops[i].bound_ns, ns[i], 1e-12);
		assert_close(m.ops[i].ceiling_share, ns[i] / 1e5, 1e-12);
	}
	assert_close(m.profile.ceilings.ridge, 2.0, 1e-12);
}

static void
threads_share_a_working_set(void **state)
{
	struct made m;

	(void)state;
	make(&m, 1);
	set_work(&m.ops[0], 0, 40000, 1e5);
	m.profile.ceilings.n_threads = 4;
	sl__roofline_place(&m.profile);
	assert_int_equal(m.ops[0].level, SL_LEVEL_L2);
	assert_close(m.ops[0].bound_ns, 80.0, 1e-12);
}

static void
the_longer_roof_bounds(void **state)
{
	struct made m;

	(void)state;
	make(&m, 2);
	/* 1 ms of bytes; 0.9 and 1.1 ms of arithmetic. */
	set_work(&m.ops[0], 90000000, 50000000, 2e6);
	set_work(&m.ops[1], 110000000, 50000000, 2e6);
	sl__roofline_place(&m.profile);
	assert_int_equal(m.ops[0].roof, SL_LEVEL_DRAM);
	assert_close(m.ops[0].bound_ns, 1e6, 1e-12);
	assert_close(m.ops[0].ceiling_share, 0.5, 1e-12);
	assert_int_equal(m.ops[1].roof, SL_LEVEL_COMPUTE);
	assert_close(m.ops[1].bound_ns, 1.1e6, 1e-12);
	assert_close(m.ops[1].ceiling_share, 0.55, 1e-12);
}

/* 150 kB are beyond the last cache but were read faster than memory is. */
static void
what_beats_memory_is_under_the_next_roof(void **state)
{
	struct made m;

	(void)state;
	make(&m, 1);
	set_work(&m.ops[0], 0, 150000, 1000);
	sl__roofline_place(&m.profile);
	assert_int_equal(m.ops[0].level, SL_LEVEL_DRAM);
	assert_int_equal(m.ops[0].roof, SL_LEVEL_L3);
	assert_close(m.ops[0].bound_ns, 750.0, 1e-12);
	assert_close(m.ops[0].ceiling_share, 0.75, 1e-12);
}

static void
add_traffic(struct sl_operation *op, double l2, double l3, double dram)
{
	const double bytes[] = {l2, l3, dram};

	for (op->n_traffic = 0; op->n_traffic < 3; op->n_traffic++)
		op->traffic[op->n_traffic].least_bytes = bytes[op->n_traffic];
}

/* 50 kB fit the last cache, but what runs in between drops 40 of them. */
static void
what_others_drop_comes_from_memory(void **state)
{
	struct made m;

	(void)state;
	make(&m, 4);
	for (size_t i = 0; i < 4; i++)
		set_work(&m.ops[i], 0, 50000, 2000);
	add_traffic(&m.ops[0], 50000, 50000, 40000); /* 100, 250, 800 ns */
	add_traffic(&m.ops[1], 50000, 50000, 10000); /* 100, 250, 200 ns */
	add_traffic(&m.ops[2], 50000, 50000, 40000);
	m.ops[2].median_ns = about(700); /* faster than that: it was nearer */
	add_traffic(&m.ops[3], (double)NAN, (double)NAN, (double)NAN);
	sl__roofline_place(&m.profile);
	assert_int_equal(m.ops[0].level, SL_LEVEL_L3);
	assert_int_equal(m.ops[0].roof, SL_LEVEL_DRAM);
	assert_close(m.ops[0].bound_ns, 800.0, 1e-12);
	assert_close(m.ops[0].ceiling_share, 0.4, 1e-12);
	for (size_t i = 1; i < 4; i++) {
		assert_int_equal(m.ops[i].roof, SL_LEVEL_L3);
		assert_close(m.ops[i].bound_ns, 250.0, 1e-12);
	}
	sl__profile_fill_rates(&m.profile);
	assert_close(m.profile.rates.bandwidth_efficiency, 1550.0 / 1e6, 1e-12);
	assert_close(m.profile.rates.bound_ns, 1550.0, 1e-12);
}

static void
integers_have_a_roof_of_their_own(void **state)
{
	static const char *const kernels[N_OPS] = {
		"jit_int8:avx512_core_vnni", "jit:avx512_core", "brg:bf16",
		"jit:avx512_core"};
	static const enum sl_dtype dtypes[N_OPS] = {
		SL_DTYPE_I8, SL_DTYPE_I8, SL_DTYPE_BF16, SL_DTYPE_F32};
	struct made m;

	(void)state;
	make(&m, N_OPS);
	for (size_t i = 0; i < N_OPS; i++) {
		set_work(&m.ops[i], 400000, 0, 1e5);
		m.ops[i].kernel = kernels[i];
	}
	m.ops[1].type = "QLinearConv";
	sl__roofline_place(&m.profile);
	for (size_t i = 0; i < N_OPS; i++)
		assert_int_equal(m.ops[i].dtype, dtypes[i]);
	assert_close(m.ops[0].bound_ns, 1000.0, 1e-12);
	assert_close(m.ops[1].bound_ns, 1000.0, 1e-12);
	/* No peak of bf16 was measured: none is taken for it. */
	assert_true(isnan(m.ops[2].ceiling_share));
	assert_close(m.ops[3].bound_ns, 4000.0, 1e-12);
	/* In a plan in bf16 a kernel that does not say may be anything. */
	m.profile.dtype = SL_DTYPE_BF16;
	sl__roofline_place(&m.profile);
	assert_int_equal(m.ops[3].dtype, SL_DTYPE_NONE);
	assert_close(m.ops[3].bound_ns, 1000.0, 1e-12);
}

static void
without_ceilings_nothing_is_placed(void **state)
{
	struct made m;

	(void)state;
	make(&m, 1);
	set_work(&m.ops[0], 1000000, 1000, 1e5);
	memset(&m.profile.ceilings, 0, sizeof(m.profile.ceilings));
	sl__roofline_place(&m.profile);
	sl__profile_fill_rates(&m.profile);
	assert_int_equal(m.ops[0].level, SL_LEVEL_NONE);
	assert_int_equal(m.ops[0].roof, SL_LEVEL_NONE);
	assert_true(isnan(m.ops[0].ceiling_share));
	assert_true(isnan(m.ops[0].bound_ns));
	assert_true(isnan(m.profile.ceilings.ridge));
	assert_true(isnan(m.profile.rates.bound_ns));
	assert_true(isnan(m.profile.rates.compute_efficiency));
	assert_close(m.profile.rates.executed_flops_per_s, 1e9, 1e-12);
}

static void
rates_are_over_the_median_pass(void **state)
{
	struct made m;
	const struct sl_rates *r = &m.profile.rates;

	(void)state;
	make(&m, 3);
	set_work(&m.ops[0], 20000000, 5000000, 4e5); /* 200 us, 100 us */
	set_work(&m.ops[1], 0, 10000000, 3e5);       /* 200 us of bytes */
	m.ops[0].core_flops = 40000000;
	m.ops[1].n_calls = 2;
	set_work(&m.ops[2], 7000000000, 0, 1e5);
	m.ops[2].n_calls = 0; /* of a branch that is not taken */
	sl__roofline_place(&m.profile);
	sl__profile_fill_rates(&m.profile);
	assert_close(r->samples_per_s, 2000.0, 1e-12);
	assert_close(r->flops_per_s, 40e9, 1e-12);
	assert_close(r->executed_flops_per_s, 20e9, 1e-12);
	assert_close(r->bytes_per_s, 25e9, 1e-12);
	assert_close(r->compute_efficiency, 0.2, 1e-12);
	assert_close(r->bandwidth_efficiency, 0.5, 1e-12);
	assert_close(r->bound_ns, 6e5, 1e-12);
	assert_true(isnan(r->tokens_per_s.value));
	assert_non_null(r->tokens_per_s.absent);
}

/* All that is impossible is left out of the sums. */
static void
rates_leave_out_what_cannot_be(void **state)
{
	struct made m;

	(void)state;
	make(&m, 2);
	set_work(&m.ops[0], 20000000, 0, 4e5);
	set_work(&m.ops[1], 900000000, 0, 1e3);
	sl__roofline_place(&m.profile);
	m.ops[1].impossible = &(struct sl_fact){.kind = SL_FACT_NONE};
	sl__profile_fill_rates(&m.profile);
	assert_close(m.profile.rates.executed_flops_per_s, 20e9, 1e-12);
	assert_close(m.profile.rates.bound_ns, 2e5, 1e-12);
}

/* 60 MB of weights, of which caches keep 0.111, take 1.2 ms from memory,
 * however small each operation's set. */
static void
weights_come_from_memory_once(void **state)
{
	struct made m;

	(void)state;
	make(&m, 1);
	set_work(&m.ops[0], 1000, 1000, 1e6);
	m.model.memory.once_bytes = 60111000;
	sl__roofline_place(&m.profile);
	sl__profile_fill_rates(&m.profile);
	assert_close(m.profile.rates.bound_ns, 1.2e6, 1e-12);
	/* In bf16 they are half as long. */
	m.profile.dtype = SL_DTYPE_BF16;
	m.model.memory.once_bytes = 120222000;
	sl__profile_fill_rates(&m.profile);
	assert_close(m.profile.rates.bound_ns, 1.2e6, 1e-12);
}

/* Bounds take the upper end of a ceiling, of the memory that holds it all. */
static void
bounds_take_upper_ends(void **state)
{
	const struct sl_estimate proved = {10, 9, 11, 40, 0, SL_METHOD_ORDER};
	const struct sl_estimate few = {10, (double)NAN, (double)NAN,
					2,  6,           SL_METHOD_ORDER};
	const struct sl_estimate none = {.value = (double)NAN};
	struct sl_ceilings c = {.n_threads = 2,
				.levels = {{SL_LEVEL_L2, 1000, proved},
					   {SL_LEVEL_DRAM, UINT64_MAX, few}},
				.n_levels = 2};

	(void)state;
	assert_close(sl__roofline_ceiling_upper(&proved), 11.0, 1e-12);
	assert_close(sl__roofline_ceiling_upper(&few), 10.0, 1e-12);
	assert_true(isnan(sl__roofline_ceiling_upper(&none)));
	assert_true(isnan(sl__roofline_ceiling_upper(NULL)));
	assert_close(sl__roofline_bandwidth_at_size(&c, 2000), 11.0, 1e-12);
	assert_close(sl__roofline_bandwidth_at_size(&c, 2001), 10.0, 1e-12);
	c.n_levels = 0;
	assert_true(isnan(sl__roofline_bandwidth_at_size(&c, 1)));
}

static void
tokens_are_counted_in_models_of_text(void **state)
{
	struct made m;

	(void)state;
	make(&m, 1);
	m.ops[0].part = SL_PART_EMBEDDING;
	m.model.n_tokens = 256;
	sl__roofline_place(&m.profile);
	sl__profile_fill_rates(&m.profile);
	assert_null(m.profile.rates.tokens_per_s.absent);
	assert_close(m.profile.rates.tokens_per_s.value, 256000.0, 1e-12);
	/* Without an embedding numbers are no tokens. */
	m.ops[0].part = SL_PART_OTHER;
	sl__profile_fill_rates(&m.profile);
	assert_true(isnan(m.profile.rates.tokens_per_s.value));
	assert_non_null(m.profile.rates.tokens_per_s.absent);
	/* Nor where no input is a batch of sequences. */
	m.ops[0].part = SL_PART_EMBEDDING;
	m.model.n_tokens = 0;
	sl__profile_fill_rates(&m.profile);
	assert_true(isnan(m.profile.rates.tokens_per_s.value));
	assert_non_null(m.profile.rates.tokens_per_s.absent);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_hold_working_sets),
		cmocka_unit_test(threads_share_a_working_set),
		cmocka_unit_test(the_longer_roof_bounds),
		cmocka_unit_test(what_beats_memory_is_under_the_next_roof),
		cmocka_unit_test(what_others_drop_comes_from_memory),
		cmocka_unit_test(integers_have_a_roof_of_their_own),
		cmocka_unit_test(without_ceilings_nothing_is_placed),
		cmocka_unit_test(rates_are_over_the_median_pass),
		cmocka_unit_test(rates_leave_out_what_cannot_be),
		cmocka_unit_test(weights_come_from_memory_once),
		cmocka_unit_test(bounds_take_upper_ends),
		cmocka_unit_test(tokens_are_counted_in_models_of_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
