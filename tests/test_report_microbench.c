/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_microbench.c - operators over sizes, made by hand, give the same
 * pages when read from their JSON; nonsense in a file is refused. */
#include "harness.h"
#include "planted.h"
#include "reads_back.h"

enum { POINTS = 4 };

struct made {
	struct sl_micro_point points[POINTS];
	struct sl_micro_crossover crossovers[3];
	struct sl_micro_series series[2];
	struct sl_microbench of;
};

static const struct sl_fact impossible = {.kind = SL_FACT_BYTES_RATE,
					  .values = {1e9, 2e9}};

static struct sl_micro_point
point_of(int i)
{
	return (struct sl_micro_point){
		.value = 1024 << i,
		.shape = "256x256 * 256x256",
		.kernel = "jit:avx2",
		.n_operations = 1,
		.n_iterations = 40,
		.disturbance = i == 1 ? (double)NAN : 0.2,
		.median_ns = i == 2 ? planted_refusal(2e5, 6)
				    : planted_estimate(1e5, 0.9e5, 1.2e5),
		.fastest_ns = 8e4,
		.flops = 1000000,
		.n_bytes = 12345,
		.working_set_bytes = 23456,
		.intensity = 81,
		.flops_per_s = 1e10,
		.bytes_per_s = 1.2e8,
		.level = SL_LEVEL_L2,
		.level_ns = 3e4,
		.roof = i ? SL_LEVEL_COMPUTE : SL_LEVEL_L2,
		.bound_ns = 7e4,
		.roof_share = 0.7,
		.roof_share_lo = i == 2 ? (double)NAN : 0.6,
		.roof_share_hi = i == 2 ? (double)NAN : 0.8,
		.micro_class = i ? SL_MICRO_COMPUTE : SL_MICRO_OVERHEAD,
		.is_sure = i == 1};
}

static void
take_ceilings_away(struct sl_micro_point *p)
{
	p->level = p->roof = SL_LEVEL_NONE;
	p->level_ns = p->bound_ns = p->roof_share = (double)NAN;
	p->roof_share_lo = p->roof_share_hi = (double)NAN;
	p->micro_class = SL_MICRO_UNKNOWN;
	p->is_sure = 0;
}

static void
make(struct made *m)
{
	memset(m, 0, sizeof(*m));
	for (int i = 0; i < POINTS; i++)
		m->points[i] = point_of(i);
	m->points[3] = (struct sl_micro_point){
		.value = 8192, .shape = "large", .absent = "no memory"};
	for (int i = 0; i < 3; i++)
		m->crossovers[i] = (struct sl_micro_crossover){
			.what = (enum sl_micro_crossover_kind)i,
			.before = 0,
			.at = 1,
			.rate_ratio = i ? 1.5 : (double)NAN,
			.is_sure = i == 1};
	for (int k = 0; k < 2; k++)
		m->series[k] = (struct sl_micro_series){
			.name = k ? "matmul" : "add",
			.kind = "GEMM",
			.about = "y = a * b",
			.axis = k ? SL_MICRO_AXIS_N : SL_MICRO_AXIS_ELEMENTS,
			.points = m->points,
			.n_points = POINTS,
			.n_measured = 3,
			.crossovers = m->crossovers,
			.n_crossovers = 3,
			.reached = k ? SIZE_MAX : 1,
			.largest = 2,
			.focus = k ? SL_MICRO_FOCUS_PRECISION
				   : SL_MICRO_FOCUS_CALLS};
	m->of = (struct sl_microbench){
		.is_all = 1,
		.dtype = SL_DTYPE_F32,
		.n_threads = 2,
		.seed = 3,
		.elapsed_s = 1.1,
		.stopped_by = SL_STOP_TIME,
		.series = m->series,
		.n_series = 2,
		.most_efficient = 0,
		.least_efficient = 1,
		.ceilings = {.dtype = SL_DTYPE_F32,
			     .n_threads = 2,
			     .flops_per_s = planted_estimate(9e10, 8e10, 1e11),
			     .levels = {{.level = SL_LEVEL_L2,
					 .size_bytes = 1 << 20,
					 .bytes_per_s = planted_estimate(
						 1e11, 0.9e11, 1.1e11)},
					{.level = SL_LEVEL_DRAM,
					 .size_bytes = UINT64_MAX,
					 .bytes_per_s = planted_estimate(
						 1e10, 0.9e10, 1.1e10)}},
			     .n_levels = 2,
			     .ridge = 9,
			     .step_ns = planted_estimate(900, 800, 1000)}};
}

static enum sl_status
render(const void *result, const struct sl_render_options *how,
       struct sl_buf *out, struct sl_error *err)
{
	const struct sl_microbench *const two[] = {result, result};
	const struct sl_microbench *m = result;

	return sl_microbench_render(two, m->is_all ? 2 : 1, how, out, err);
}

static void
operators_come_back(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	assert_renders_back(render, &m.of);
	m.of.is_all = 0;
	m.of.n_series = 1;
	m.of.most_efficient = m.of.least_efficient = SIZE_MAX;
	m.of.stopped_by = SL_STOP_INTERRUPT;
	assert_renders_back(render, &m.of);
	m.points[2].impossible = &impossible;
	m.points[2].intensity = (double)NAN;
	take_ceilings_away(&m.points[2]);
	m.series[0].focus = SL_MICRO_FOCUS_NONE;
	assert_renders_back(render, &m.of);
	for (int i = 0; i < 3; i++)
		take_ceilings_away(&m.points[i]);
	m.series[0].n_crossovers = 0;
	m.series[0].reached = SIZE_MAX;
	m.of.ceilings = (struct sl_ceilings){.ridge = (double)NAN,
					     .absent = "not probed"};
	assert_renders_back(render, &m.of);
}

/* Nothing was measured at all. */
static void
nothing_comes_back(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	m.of.dtype = SL_DTYPE_NONE;
	m.of.is_all = 0;
	m.of.n_series = 1;
	m.of.most_efficient = m.of.least_efficient = SIZE_MAX;
	m.series[0].points = m.points + 3;
	m.series[0].n_points = 1;
	m.series[0].n_measured = m.series[0].n_crossovers = 0;
	m.series[0].reached = m.series[0].largest = SIZE_MAX;
	m.series[0].focus = SL_MICRO_FOCUS_NONE;
	assert_renders_back(render, &m.of);
}

/* Points and operators that the file does not have. */
static void
nonsense_is_refused(void **state)
{
	static const char *const wrong[] = {"\"reached_point\": 1",
					    "\"at_point\": 1",
					    "\"most_efficient_operation\": 0"};
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .format = SL_FORMAT_JSON};
	struct sl_buf json = {0};
	struct sl_result *back;
	struct made m;

	(void)state;
	make(&m);
	assert_int_equal(render(&m.of, &how, &json, NULL), SL_OK);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char *at = strstr(json.data, wrong[i]);
		char old;

		assert_non_null(at);
		at += strlen(wrong[i]) - 1;
		old = *at;
		*at = '9';
		assert_int_equal(sl_result_read(&back, json.data, json.n_bytes,
						NULL, NULL),
				 SL_E_DATA);
		*at = old;
	}
	sl_buf_release(&json);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_come_back),
		cmocka_unit_test(nothing_comes_back),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
