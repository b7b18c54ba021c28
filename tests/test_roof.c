/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_roof.c - a rate is held against the ceiling of as many threads as did
 * the work, is called impossible only when no arithmetic, no cache and no
 * error can explain it, and what is said about it follows.
 */
#include "harness.h"
#include "base/reading.h"
#include "report/insight.h"

#define WITHIN_1_PERCENT(x)                                         \
	{                                                           \
		(x), 0.99 * (x), 1.01 * (x), 40, 0, SL_METHOD_ORDER \
	}

/* Four cores: a core has 100 GFLOP/s of f32 and 20 GB/s from DRAM; together
 * they have 400 and 50, 800 of bf16, and 1000 GB/s from their first caches. */
static const struct sl_peak PEAKS[] = {
	{SL_DTYPE_F32, "AVX2", 256, 1, WITHIN_1_PERCENT(100e9), NULL, 0},
	{SL_DTYPE_F32, "AVX2", 256, 4, WITHIN_1_PERCENT(400e9), NULL, 0},
	{SL_DTYPE_F64, "AVX2", 256, 4, WITHIN_1_PERCENT(200e9), NULL, 0},
	{SL_DTYPE_BF16, "AVX-512", 512, 4, WITHIN_1_PERCENT(800e9), NULL, 0},
	{SL_DTYPE_I8,
	 "VNNI",
	 512,
	 0,
	 {.value = (double)NAN, .needs_n = 36},
	 "this CPU does not have it",
	 0},
};

static const struct sl_memory_level LEVELS[] = {
	{SL_LEVEL_L1, SL_ACCESS_LOAD, 1, 4096, 32768, WITHIN_1_PERCENT(250e9),
	 1},
	{SL_LEVEL_L1, SL_ACCESS_LOAD, 4, 4096, 32768, WITHIN_1_PERCENT(1000e9),
	 1},
	{SL_LEVEL_DRAM, SL_ACCESS_LOAD, 1, 1 << 25, 1 << 25,
	 WITHIN_1_PERCENT(20e9), 1},
	{SL_LEVEL_DRAM, SL_ACCESS_LOAD, 4, 1 << 25, 1 << 25,
	 WITHIN_1_PERCENT(50e9), 1},
	/* Nanoseconds: no bandwidth, however large the number. */
	{SL_LEVEL_DRAM, SL_ACCESS_CHASE, 4, 1 << 25, 1 << 25,
	 WITHIN_1_PERCENT(1e15), (double)NAN},
};

static const struct sl_machine MACHINE = {.peaks = PEAKS,
					  .n_peaks = 5,
					  .levels = LEVELS,
					  .n_levels = 5,
					  .max_threads = 4};

/* Rates whose times are known to 'error'. */
static struct sl__achieved_rates
rates(double flops_per_s, double bytes_per_s, size_t n_threads, double error)
{
	struct sl__achieved_rates r = {sl__absent("no FLOPs were declared"),
				       sl__absent("no bytes were declared"),
				       1 + error, n_threads};

	if (flops_per_s > 0)
		r.flops_per_s = sl__present(flops_per_s);
	if (bytes_per_s > 0)
		r.bytes_per_s = sl__present(bytes_per_s);
	return r;
}

static struct sl__roof_share
flops(double per_s, size_t n_threads, double error)
{
	struct sl__achieved_rates r = rates(per_s, 0, n_threads, error);

	return sl__flops_share_of_roof(&MACHINE, &r);
}

static struct sl__roof_share
bytes(double per_s, size_t n_threads, double error)
{
	struct sl__achieved_rates r = rates(0, per_s, n_threads, error);

	return sl__bytes_share_of_roof(&MACHINE, &r);
}

static void
the_ceiling_is_that_of_the_threads(void **state)
{
	(void)state;
	assert_close(flops(31e9, 1, 0.01).share.value, 0.31, 1e-12);
	assert_string_equal(flops(31e9, 1, 0.01).of, "one core's f32 peak");
	/* A little above a core is no quarter of the machine. */
	assert_close(flops(101e9, 1, 0.01).share.value, 1.01, 1e-12);
	/* A rate is one thread's: of four, a quarter of what four reach. */
	assert_close(flops(80e9, 4, 0.01).share.value, 0.8, 1e-12);
	assert_close(bytes(10e9, 4, 0.01).share.value, 0.8, 1e-12);
	assert_string_equal(bytes(10e9, 4, 0.01).of,
			    "a thread's part of the memory bandwidth");
	/* Three were not measured: the next below is one. */
	assert_close(bytes(10e9, 3, 0.01).share.value, 0.5, 1e-12);
}

static void
errors_count_before_anything_is_said(void **state)
{
	(void)state;
	assert_int_equal(flops(99e9, 1, 0.01).place, SL__ROOF_WITHIN);
	assert_int_equal(flops(101e9, 1, 0.01).place, SL__ROOF_UNCLEAR);
	/* 103 / 1.01 > 101; with 5 % it is not. */
	assert_int_equal(flops(103e9, 1, 0.01).place, SL__ROOF_ABOVE);
	assert_int_equal(flops(103e9, 1, 0.05).place, SL__ROOF_UNCLEAR);
	/* 820 / 1.01 > 808; with 5 % it is not. */
	assert_int_equal(flops(820e9, 1, 0.01).place, SL__ROOF_IMPOSSIBLE);
	assert_int_equal(flops(820e9, 1, 0.05).place, SL__ROOF_ABOVE);
}

/* One call has no interval: its time is taken to be right within a factor of
 * two, and never more exact than the cost of measuring it. */
static void
the_errors_of_a_scope_count(void **state)
{
	struct sl_scope_row row = {
		.n_threads = 3,
		.mean = {1000, 990, 1010, 100, 0, SL_METHOD_STUDENT},
		.cpu_ns = sl__absent("not asked for"),
		.n_minor_faults = sl__absent("not asked for"),
		.resident_change_bytes = sl__absent("not asked for")};
	struct sl_scopes s = {.pair_ns = 40, .resources_pair_ns = 4000};

	(void)state;
	assert_close(sl__rates_of_scope(&s, &row).stretch, 1.05, 1e-12);
	assert_int_equal(sl__rates_of_scope(&s, &row).n_threads, 3);
	row.cpu_ns = sl__present(900);
	assert_close(sl__rates_of_scope(&s, &row).stretch, 5.01, 1e-12);
	row.cpu_ns = sl__absent("not asked for");
	row.mean.needs_n = 2;
	assert_close(sl__rates_of_scope(&s, &row).stretch, 2.04, 1e-12);
}

/* What one call could do from caches, in bf16 or with hidden threads is not
 * impossible, though far above DRAM and f32. */
static void
caches_types_and_threads_explain_rates(void **state)
{
	(void)state;
	assert_int_equal(bytes(40e9, 1, 0.01).place, SL__ROOF_ABOVE);
	assert_true(bytes(40e9, 1, 0.01).or_threads);
	assert_int_equal(bytes(900e9, 1, 0.01).place, SL__ROOF_ABOVE);
	assert_false(bytes(900e9, 1, 0.01).or_threads);
	assert_int_equal(bytes(1100e9, 1, 0.01).place, SL__ROOF_IMPOSSIBLE);
	assert_int_equal(flops(700e9, 1, 0.01).place, SL__ROOF_ABOVE);
	assert_false(flops(700e9, 1, 0.01).or_threads);
	assert_false(flops(700e9, 1, 0.01).or_wrong);
}

static void
an_impossible_rate_has_no_share(void **state)
{
	struct sl__roof_share s = flops(2e12, 1, 0.01);

	(void)state;
	assert_string_equal(s.share.absent, "impossible: above all ceilings");
	assert_true(isnan(s.share.value));
	assert_close(s.ceiling, 800e9, 1e-12);
}

/* A unit that nobody measured may do it. */
static void
nothing_is_impossible_while_a_peak_is_unknown(void **state)
{
	static const char *const reasons[] = {
		"not exercised", "not exercised on this architecture"};
	struct sl_peak peaks[5];
	struct sl_machine machine = MACHINE;
	struct sl__achieved_rates r = rates(5e12, 0, 1, 0.01);

	(void)state;
	memcpy(peaks, PEAKS, sizeof(peaks));
	machine.peaks = peaks;
	assert_int_equal(sl__flops_share_of_roof(&machine, &r).place,
			 SL__ROOF_IMPOSSIBLE);
	for (size_t i = 0; i < 2; i++) {
		struct sl__roof_share s;

		peaks[4].absent = reasons[i];
		peaks[4].is_hidden = 1;
		s = sl__flops_share_of_roof(&machine, &r);
		assert_int_equal(s.place, SL__ROOF_ABOVE);
		assert_true(s.or_wrong);
	}
}

/* 800 may be anything up to 1600 then. */
static void
a_ceiling_without_an_interval_is_given_room(void **state)
{
	struct sl_peak peaks[5];
	struct sl_machine machine = MACHINE;
	struct sl__achieved_rates high = rates(1500e9, 0, 1, 0.01);
	struct sl__achieved_rates higher = rates(1700e9, 0, 1, 0.01);

	(void)state;
	memcpy(peaks, PEAKS, sizeof(peaks));
	peaks[3].ops_per_s.needs_n = 36;
	machine.peaks = peaks;
	assert_int_equal(sl__flops_share_of_roof(&machine, &high).place,
			 SL__ROOF_ABOVE);
	assert_true(sl__flops_share_of_roof(&machine, &high).or_wrong);
	assert_int_equal(sl__flops_share_of_roof(&machine, &higher).place,
			 SL__ROOF_IMPOSSIBLE);
}

static void
absence_has_its_reason(void **state)
{
	const struct sl_machine bare = {.max_threads = 4};
	struct sl__achieved_rates r = rates(31e9, 0, 1, 0.01);

	(void)state;
	assert_string_equal(sl__flops_share_of_roof(NULL, &r).share.absent,
			    "run `sleuth machine` first");
	assert_string_equal(sl__bytes_share_of_roof(&MACHINE, &r).share.absent,
			    "no bytes were declared");
	assert_string_equal(sl__flops_share_of_roof(&bare, &r).share.absent,
			    "not measured by `sleuth machine`");
}

static void
said(const char *sentence, struct sl__achieved_rates r,
     const struct sl_machine *machine)
{
	struct sl__insights insights = {0};

	sl__insight_rates(&insights, "it", &r, machine);
	if (!sentence) {
		assert_int_equal(insights.n, 0);
		return;
	}
	assert_int_equal(insights.n, 1);
	assert_string_equal(insights.lines[0], sentence);
}

static void
sentences_follow_from_places(void **state)
{
	(void)state;
	said("it runs at 31 % of one core's f32 peak (31.0 GFLOP/s of 100 "
	     "GFLOP/s).",
	     rates(31e9, 0, 1, 0.01), &MACHINE);
	said("it runs at 101 % of one core's f32 peak (101 GFLOP/s of 100 "
	     "GFLOP/s), which the errors of both may explain.",
	     rates(101e9, 0, 1, 0.01), &MACHINE);
	said("it runs at 500 % of one core's f32 peak (500 GFLOP/s of 100 "
	     "GFLOP/s): its numbers are narrower than f32.",
	     rates(500e9, 0, 1, 0.01), &MACHINE);
	said("it runs at 500 % of one core's memory bandwidth (100 GB/s of "
	     "20.0 GB/s): its data comes from caches.",
	     rates(0, 100e9, 1, 0.01), &MACHINE);
	said("it runs at 200 % of one core's memory bandwidth (40.0 GB/s of "
	     "20.0 GB/s): its data comes from caches, or more threads work "
	     "than opened it.",
	     rates(0, 40e9, 1, 0.01), &MACHINE);
	said("it would run at 2.00 TFLOP/s, which is impossible (the fastest "
	     "arithmetic reaches 800 GFLOP/s): the declared work is too "
	     "large, or was done elsewhere.",
	     rates(2e12, 0, 1, 0.01), &MACHINE);
	said(NULL, rates(31e9, 31e9, 1, 0.01), NULL);
	said(NULL, rates(0, 0, 1, 0.01), &MACHINE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ceiling_is_that_of_the_threads),
		cmocka_unit_test(errors_count_before_anything_is_said),
		cmocka_unit_test(the_errors_of_a_scope_count),
		cmocka_unit_test(a_ceiling_without_an_interval_is_given_room),
		cmocka_unit_test(caches_types_and_threads_explain_rates),
		cmocka_unit_test(an_impossible_rate_has_no_share),
		cmocka_unit_test(nothing_is_impossible_while_a_peak_is_unknown),
		cmocka_unit_test(absence_has_its_reason),
		cmocka_unit_test(sentences_follow_from_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
