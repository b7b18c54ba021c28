/* SPDX-License-Identifier: Apache-2.0 */
/* test_microbench_narrative.c - sentences about operators whose points are made
 * up: every sentence and every focus, with its figures. */
#include "harness.h"

#include "report/microbench_narrative.h"
#include "analysis/crossover.h"

#include <string.h>

enum { POINTS = 3 };

struct made {
	struct sl_micro_point points[POINTS];
	struct sl_micro_crossover crossovers[SL__MICRO_CROSSOVERS_MAX];
	struct sl_micro_series series;
	struct sl_microbench of;
};

/* Twelve bytes and one operation for each number. */
static struct sl_micro_point
point_of(int64_t value, double ns, double share, enum sl_level level,
	 enum sl_level roof)
{
	struct sl_micro_point p = {
		.value = value,
		.shape = "x",
		.kernel = "jit:f32",
		.median_ns = {.value = ns,
			      .lo = 0.99 * ns,
			      .hi = 1.01 * ns,
			      .n = 10},
		.fastest_ns = 0.9 * ns,
		.n_iterations = 100,
		.n_bytes = 12 * (uint64_t)value,
		.flops = (uint64_t)value,
		.intensity = 1.0 / 12,
		.bytes_per_s = 12 * (double)value / ns * 1e9,
		.flops_per_s = (double)value / ns * 1e9,
		.level = level,
		.roof = roof,
		.bound_ns = share * ns,
		.level_ns = (double)NAN,
	};

	sl__micro_classify(&p, 100);
	return p;
}

static void
start(struct made *m, enum sl_micro_axis axis)
{
	memset(m, 0, sizeof(*m));
	m->of = (struct sl_microbench){
		.dtype = SL_DTYPE_F32,
		.ceilings = {.ridge = 8, .step_ns = {.value = 100, .n = 3}},
		.series = &m->series,
		.n_series = 1,
		.most_efficient = SIZE_MAX};
	m->series = (struct sl_micro_series){
		.name = "add", .axis = axis, .points = m->points};
}

static void
finish(struct made *m, size_t n)
{
	m->series.n_points = n;
	sl__micro_crossovers(&m->series, m->crossovers);
	m->series.focus = sl__micro_optimization_focus(&m->series);
}

/* From overhead to a roof, and below it where data come from memory. */
static void
make_growing(struct made *m, enum sl_micro_axis axis)
{
	start(m, axis);
	m->points[0] = point_of(1024, 290, 0.1, SL_LEVEL_L1, SL_LEVEL_L1);
	m->points[1] = point_of(65536, 1e4, 0.9, SL_LEVEL_L2, SL_LEVEL_L2);
	m->points[2] =
		point_of(4 << 20, 1e6, 0.5, SL_LEVEL_DRAM, SL_LEVEL_DRAM);
	finish(m, 3);
}

static void
assert_told(const struct made *m, const char *const *expected, size_t n)
{
	struct sl__narrative told;

	sl__narrative_init(&told, NULL);
	sl__micro_narrate(&told, &m->of, &m->series);
	assert_false(told.has_failed);
	assert_int_equal(told.n, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(told.list[i], expected[i]);
	sl__narrative_release(&told);
}

static void
assert_focus(const struct made *m, const char *focus, const char *reason)
{
	struct sl__phrase w;

	assert_string_equal(sl__micro_focus_advice_text(m->series.focus),
			    focus);
	assert_string_equal(sl__micro_optimize_reason(&w, &m->of, &m->series),
			    reason);
}

static void
memory_over_elements(void **state)
{
	static const char *const expected[] = {
		"add: overhead at 1024 elements, at the L2 roof at 64 Ki "
		"elements, below both roofs at 4 Mi elements; an empty step "
		"takes 100 ns.",
		"It is on the memory side of the roofline at every size: "
		"0.0833 FLOP/B at 4 Mi elements; the ridge is at 8 FLOP/B for "
		"data in DRAM, lower for caches.",
		"Its working set leaves L1 between 1024 and 64 Ki elements: "
		"42.4 GB/s before, 78.6 GB/s after, not slower yet.",
		"Its working set leaves L2 between 64 Ki and 4 Mi elements: "
		"78.6 GB/s before, 50.3 GB/s after.",
		"It reaches at most 90 % of its roof, at 64 Ki elements, and "
		"50 % at 4 Mi elements.",
		"It is fastest at 64 Ki elements: 78.6 GB/s, against 50.3 GB/s "
		"at 4 Mi elements."};
	struct made m;

	(void)state;
	make_growing(&m, SL_MICRO_AXIS_ELEMENTS);
	assert_told(&m, expected, sizeof(expected) / sizeof(expected[0]));
	assert_focus(&m, "fewer bytes and a better kernel",
		     "50 % of the DRAM roof, but 0.64 × its rate from nearer "
		     "memory: it partly waits for data");
}

static void
arithmetic_over_n(void **state)
{
	static const char *const expected[] = {
		"add: overhead at N = 1024, at the L2 roof at N = 64 Ki, at "
		"the compute roof at N = 4 Mi; an empty step takes 100 ns.",
		"It is on the compute side of the roofline from N = 4 Mi on "
		"(0.0833 FLOP/B), on the memory side before.",
		"Its working set leaves L1 between N = 1024 and 64 Ki: 42.4 "
		"GB/s before, 78.6 GB/s after, not slower yet.",
		"It reaches 80 % of its roof from N = 64 Ki on, and at most 90 "
		"%, at N = 64 Ki.",
		"It is fastest at N = 64 Ki: 6.55 GFLOP/s, against 4.19 "
		"GFLOP/s at N = 4 Mi.",
		"Background load touched 1 of 3 sizes; the verdicts allow for "
		"it."};
	struct made m;

	(void)state;
	make_growing(&m, SL_MICRO_AXIS_N);
	m.points[2] =
		point_of(4 << 20, 1e6, 0.85, SL_LEVEL_DRAM, SL_LEVEL_COMPUTE);
	m.points[2].disturbance = 0.5;
	finish(&m, 3);
	assert_told(&m, expected, sizeof(expected) / sizeof(expected[0]));
	assert_focus(&m, "lower precision",
		     "85 % of the compute roof: a better kernel gains at most "
		     "1.18 ×");
}

/* A size without a verdict for its disturbance is compared with none. */
static void
disturbed_sizes_are_not_compared(void **state)
{
	static const char *const one[] = {
		"add: overhead at N = 1024, at the L2 roof at N = 64 Ki, "
		"disturbed at N = 4 Mi; an empty step takes 100 ns.",
		"It is on the memory side of the roofline at every size: "
		"0.0833 FLOP/B at N = 4 Mi; the ridge is at 8 FLOP/B for data "
		"in DRAM, lower for caches.",
		"Its working set leaves L1 between N = 1024 and 64 Ki: 42.4 "
		"GB/s before, 78.6 GB/s after, not slower yet.",
		"It reaches at most 90 % of its roof, at N = 64 Ki.",
		"It is fastest at the largest size compared: 78.6 GB/s at N = "
		"64 Ki.",
		"Background load touched 1 of 3 sizes; 1 is too disturbed for "
		"a verdict, and is not compared with others."};
	const char *const both[] = {
		"add: disturbed at N = 1024, at the L2 roof at N = 64 Ki, "
		"disturbed at N = 4 Mi.",
		one[1],
		"Background load touched 2 of 3 sizes; 2 are too disturbed for "
		"a verdict, and are not compared with others."};
	struct made m;

	(void)state;
	make_growing(&m, SL_MICRO_AXIS_N);
	m.points[2].disturbance = 0.5;
	m.points[2].n_iterations = 3;
	sl__micro_classify(&m.points[2], 100);
	finish(&m, 3);
	assert_told(&m, one, sizeof(one) / sizeof(one[0]));
	m.points[0].disturbance = 0.5;
	m.points[0].n_iterations = 3;
	sl__micro_classify(&m.points[0], 100);
	finish(&m, 3);
	assert_told(&m, both, sizeof(both) / sizeof(both[0]));
}

static void
one_size_alone(void **state)
{
	static const char *const small[] = {
		"add: overhead at 96 channels; an empty step takes "
		"100 ns.",
		"It is on the memory side of the roofline at every size: "
		"0.0833 FLOP/B at 96 channels; the ridge is at 8 FLOP/B for "
		"data in DRAM, lower for caches."};
	static const char *const unknown[] = {
		"add: no verdict at 96 channels.",
		"It is on the memory side of the roofline at every size: "
		"0.0833 FLOP/B at 96 channels; the ridge is at 8 FLOP/B for "
		"data in DRAM, lower for caches.",
		"By its name, the kernel jit:f32 does not compute in bf16: "
		"these may be figures of f32."};
	struct made m;

	(void)state;
	start(&m, SL_MICRO_AXIS_CHANNELS);
	m.points[0] = point_of(96, 290, 0.1, SL_LEVEL_L1, SL_LEVEL_L1);
	finish(&m, 1);
	assert_told(&m, small, 2);
	assert_focus(&m, "fewer, larger calls",
		     "it takes as long as 2.9 empty steps");
	m.of.dtype = SL_DTYPE_BF16;
	m.points[0] = point_of(96, 2900, (double)NAN, SL_LEVEL_L1, SL_LEVEL_L1);
	finish(&m, 1);
	assert_told(&m, unknown, 3);
	assert_focus(&m, "-", "no ceiling was measured");
	m.points[0].absent = "no memory";
	finish(&m, 1);
	assert_told(&m, NULL, 0);
	assert_focus(&m, "-", "not measured");
}

static void
other_reasons(void **state)
{
	struct made m;

	(void)state;
	start(&m, SL_MICRO_AXIS_N);
	m.points[0] = point_of(96, 2900, 0.2, SL_LEVEL_L1, SL_LEVEL_COMPUTE);
	finish(&m, 1);
	assert_focus(&m, "a better kernel",
		     "20 % of the compute roof: neither bytes nor arithmetic "
		     "explain the time");
	m.points[0] = point_of(96, 2900, 0.9, SL_LEVEL_L1, SL_LEVEL_L1);
	finish(&m, 1);
	assert_focus(&m, "fewer bytes: fuse with neighbours, reuse in caches",
		     "90 % of the L1 roof: faster arithmetic gains nothing");
	m.points[0] = point_of(96, 1e3, 0.4, SL_LEVEL_L1, SL_LEVEL_L1);
	m.points[1] = point_of(192, 2e3, 0.3, SL_LEVEL_DRAM, SL_LEVEL_DRAM);
	finish(&m, 2);
	assert_focus(&m, "fewer instructions: cheaper functions, wider vectors",
		     "30 % of the DRAM roof, and 1.00 × its rate from nearer "
		     "memory: it does not wait for data");
	m.points[1].disturbance = 0.5;
	m.points[1].n_iterations = 3;
	sl__micro_classify(&m.points[1], 100);
	finish(&m, 2);
	assert_focus(&m, "-", "background load disturbed it");
}

static void
verdicts_and_turns(void **state)
{
	struct sl_micro_point p =
		point_of(96, 2900, 0.2, SL_LEVEL_L2, SL_LEVEL_L2);
	struct made m;

	(void)state;
	assert_string_equal(sl__micro_bottleneck_text(&p), "below both roofs");
	p.micro_class = SL_MICRO_UNKNOWN;
	assert_string_equal(sl__micro_bottleneck_text(&p), "disturbed");
	p.roof_share = (double)NAN;
	assert_string_equal(sl__micro_bottleneck_text(&p), "-");
	make_growing(&m, SL_MICRO_AXIS_N);
	assert_int_equal(m.series.n_crossovers, 4);
	assert_string_equal(
		sl__micro_crossover_regime_text(&m.series, &m.crossovers[0], 0),
		"overhead");
	assert_string_equal(
		sl__micro_crossover_regime_text(&m.series, &m.crossovers[0], 1),
		"at the L2 roof");
	assert_string_equal(
		sl__micro_crossover_regime_text(&m.series, &m.crossovers[3], 2),
		"DRAM");
	m.points[2] =
		point_of(4 << 20, 1e6, 0.85, SL_LEVEL_DRAM, SL_LEVEL_COMPUTE);
	finish(&m, 3);
	assert_int_equal(m.crossovers[2].what, SL_MICRO_CROSSOVER_ROOF);
	assert_string_equal(
		sl__micro_crossover_regime_text(&m.series, &m.crossovers[2], 1),
		"memory");
	assert_string_equal(
		sl__micro_crossover_regime_text(&m.series, &m.crossovers[2], 2),
		"compute");
	assert_string_equal(
		sl__micro_crossover_regime_text(&m.series, &m.crossovers[1], 2),
		"at the compute roof");
}

/* Operators by class, and the extremes. */
static void
all_together(void **state)
{
	struct sl_micro_series series[2];
	struct sl__narrative told;
	struct made a, b;

	(void)state;
	make_growing(&a, SL_MICRO_AXIS_N);
	start(&b, SL_MICRO_AXIS_N);
	b.points[0] = point_of(96, 2900, 0.75, SL_LEVEL_L1, SL_LEVEL_COMPUTE);
	b.series.name = "matmul";
	finish(&b, 1);
	series[0] = a.series;
	series[1] = b.series;
	a.of.series = series;
	a.of.n_series = 2;
	sl__micro_find_best_and_worst(&a.of);
	sl__narrative_init(&told, NULL);
	sl__micro_narrate_all(&told, &a.of);
	assert_int_equal(told.n, 3);
	assert_string_equal(told.list[0], "Compute-bound: matmul.");
	assert_string_equal(told.list[1],
			    "Below both roofs, so bound by neither: add.");
	assert_string_equal(told.list[2],
			    "Most efficient: matmul, 75 % of its compute roof; "
			    "least: add, 50 % of its DRAM roof.");
	sl__narrative_release(&told);
	sl__narrative_init(&told, NULL);
	a.of.n_series = 1;
	sl__micro_narrate_all(&told, &a.of);
	assert_int_equal(told.n, 0);
	sl__narrative_release(&told);
}

/* Where the CPU has faster arithmetic than any probe exercises, there is no
 * peak, and no figure is made of it. */
static void
peak_unknown(void **state)
{
	struct sl__narrative told;
	struct made m;
	int is_said = 0;

	(void)state;
	start(&m, SL_MICRO_AXIS_ELEMENTS);
	m.points[0] = point_of(64, 2900, 0.5, SL_LEVEL_L1, SL_LEVEL_L1);
	finish(&m, 1);
	m.of.ceilings.ridge = (double)NAN;
	sl__narrative_init(&told, NULL);
	sl__micro_narrate(&told, &m.of, &m.series);
	for (size_t i = 0; i < told.n; i++) {
		assert_null(strstr(told.list[i], "nan"));
		is_said |= strstr(told.list[i], "compute peak is not known") !=
			   NULL;
	}
	assert_true(is_said);
	sl__narrative_release(&told);
}

static void
sizes(void **state)
{
	struct sl__micro_size_buffer t;

	(void)state;
	assert_string_equal(sl__micro_size_text(&t, 1024), "1024");
	assert_string_equal(sl__micro_size_text(&t, 4096), "4 Ki");
	assert_string_equal(sl__micro_size_text(&t, 4097), "4097");
	assert_string_equal(sl__micro_size_text(&t, 8 * 1024 * 1024), "8 Mi");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_over_elements),
		cmocka_unit_test(arithmetic_over_n),
		cmocka_unit_test(disturbed_sizes_are_not_compared),
		cmocka_unit_test(one_size_alone),
		cmocka_unit_test(other_reasons),
		cmocka_unit_test(verdicts_and_turns),
		cmocka_unit_test(all_together),
		cmocka_unit_test(peak_unknown),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
