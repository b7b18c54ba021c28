/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_sweep.c - a sweep made by hand keeps its figures and units. */
#include "harness.h"
#include "json_check.h"
#include "planted.h"
#include "reads_back.h"

static struct sl_sweep_point points[2];
static struct sl_sweep_exponent laws[3];
static struct sl_sweep_series series;

static void
plant_points(void)
{
	for (size_t i = 0; i < 2; i++)
		points[i] = (struct sl_sweep_point){
			.value = (int64_t)i + 1,
			.n_visits = 3,
			.n_iterations = 30,
			.latency_ns = planted_estimate(2e6, 1.9e6, 2.1e6),
			.rate_per_s = planted_estimate(500, 480, 520),
			.samples_per_s = 500,
			.sample_ns = 2e6,
			.flops = 1000000,
			.flops_per_s = 5e8,
			.compute_efficiency = 0.5,
			.roof_share = 0.75,
			.memory_bytes = 1000000,
			.touched_bytes = {2e6, NULL},
			.samples_per_s_per_mb = 500,
			.verdict = SL_BOTTLENECK_MEMORY,
			.energy_j = planted_estimate(0.25, 0.2, 0.3)};
	points[1].verdict = SL_BOTTLENECK_INCONCLUSIVE;
	points[1].verdict_absent = "planted reason";
	points[1].energy_j = planted_refusal(0.5, 3);
}

static void
plant_laws(void)
{
	static const enum sl_sweep_figure figures[] = {
		SL_SWEEP_TIME, SL_SWEEP_MEMORY, SL_SWEEP_FLOPS};
	static const double offset[] = {4e6, 5e6, 6e6};

	for (size_t i = 0; i < 3; i++)
		laws[i] = (struct sl_sweep_exponent){
			.figure = figures[i],
			.share_first = (double)NAN,
			.share_last = (double)NAN,
			.exponent = planted_estimate(1, 0.9, 1.1),
			.offset = offset[i],
			.scale = 1,
			.formula = (double)NAN};
}

static void
render(struct sl_buf *out, enum sl_format format)
{
	struct sl_sweep sweep = {.axis = SL_AXIS_BATCH,
				 .dtype = SL_DTYPE_F32,
				 .n_threads = 2,
				 .n_visits = 3,
				 .series = &series,
				 .n_series = 1};
	struct sl_render_options how = {
		.struct_size = sizeof(how), .format = format, .n_columns = 200};

	plant_points();
	plant_laws();
	series = (struct sl_sweep_series){
		.name = "net",
		.source = "zoo",
		.points = points,
		.n_points = 2,
		.n_measured = 2,
		.exponents = laws,
		.n_exponents = 3,
		.knee = {.absent = "planted"},
		.best = {.absent = "planted", .point = SIZE_MAX}};
	memset(out, 0, sizeof(*out));
	assert_int_equal(sl_sweep_render(&sweep, &how, out, NULL), SL_OK);
}

/* Copies the line that begins with 'name'. */
static void
find_line(char *line, size_t n_bytes, const char *page, const char *name)
{
	for (const char *at = page; *at; at += strcspn(at, "\n")) {
		at += strspn(at, " \n");
		snprintf(line, n_bytes, "%.*s", (int)strcspn(at, "\n"), at);
		if (!strncmp(line, name, strlen(name)))
			return;
	}
	fail_msg("no line begins with %s", name);
}

/* Each in its own unit. */
static void
fixed_parts_have_units(void **state)
{
	struct sl_buf out;
	char line[300];

	(void)state;
	render(&out, SL_FORMAT_TEXT);
	find_line(line, sizeof(line), out.data, "time");
	assert_non_null(strstr(line, "4.000 ms"));
	find_line(line, sizeof(line), out.data, "memory");
	assert_non_null(strstr(line, "5.00 MB"));
	find_line(line, sizeof(line), out.data, "flops");
	assert_non_null(strstr(line, "6.00 M"));
	assert_null(strstr(line, " ms"));
	sl_buf_release(&out);
}

/* The side of the ridge is not headed as a verdict. */
static void
sides_are_no_verdicts(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_TEXT);
	assert_non_null(strstr(out.data, "roofline side"));
	assert_null(strstr(out.data, "verdict"));
	sl_buf_release(&out);
}

static void
absent_sides_have_reasons(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_JSON);
	assert_true(json_valid(out.data));
	assert_non_null(strstr(out.data, "\"verdict\": \"memory\""));
	assert_non_null(strstr(out.data, "\"verdict_basis\": \"roofline\""));
	assert_non_null(strstr(out.data, "\"verdict\": null"));
	assert_non_null(
		strstr(out.data, "\"verdict_absent\": \"planted reason\""));
	assert_non_null(strstr(out.data, "\"verdict_basis\": null"));
	assert_null(strstr(out.data, "no ceiling"));
	sl_buf_release(&out);
}

static void
energy_has_an_interval(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_TEXT);
	assert_non_null(strstr(out.data, "0.25 J [0.2, 0.3]"));
	assert_non_null(strstr(out.data, "0.5 J, no interval"));
	sl_buf_release(&out);
	render(&out, SL_FORMAT_JSON);
	assert_non_null(strstr(out.data, "\"energy_j\": 0.25"));
	assert_non_null(strstr(out.data, "\"energy_ci95_j\": null"));
	assert_non_null(strstr(out.data, "\"energy_visits\": 42"));
	sl_buf_release(&out);
	render(&out, SL_FORMAT_CSV);
	assert_non_null(
		strstr(out.data, ",energy_j,energy_lo_j,energy_hi_j\n"));
	assert_non_null(strstr(out.data, ",0.25,0.2,0.3\n"));
	assert_non_null(strstr(out.data, ",0.5,,\n"));
	sl_buf_release(&out);
}

static enum sl_status
render_any(const void *result, const struct sl_render_options *how,
	   struct sl_buf *out, struct sl_error *err)
{
	const struct sl_sweep *sweep = result;

	return sl_sweep_render(sweep, how, out, err);
}

static void
plant_law(struct sl_sweep_exponent *law, enum sl_sweep_figure figure,
	  enum sl_sweep_kind kind)
{
	*law = (struct sl_sweep_exponent){
		.figure = figure,
		.kind = kind,
		.type = figure == SL_SWEEP_KIND && !kind ? "MatMul" : NULL,
		.share_first = figure == SL_SWEEP_KIND ? 0.25 : (double)NAN,
		.share_last = figure == SL_SWEEP_KIND ? 0.5 : (double)NAN,
		.exponent = planted_estimate(1.5, 1.25, 1.75),
		.offset = figure == SL_SWEEP_MEMORY ? 0 : 123456.7,
		.scale = 0.7,
		.deviation = 0.01,
		.formula = kind ? (double)NAN : 2};
}

/* Laws of every figure and kind, with and without bounds, and none. */
static void
plant_every_law(struct sl_sweep_exponent of[7])
{
	plant_law(&of[0], SL_SWEEP_TIME, SL_SWEEP_KIND_TYPE);
	plant_law(&of[1], SL_SWEEP_KIND, SL_SWEEP_KIND_TYPE);
	plant_law(&of[2], SL_SWEEP_KIND, SL_SWEEP_KIND_ATTENTION);
	plant_law(&of[3], SL_SWEEP_KIND, SL_SWEEP_KIND_OTHERS);
	plant_law(&of[4], SL_SWEEP_MEMORY, SL_SWEEP_KIND_TYPE);
	plant_law(&of[5], SL_SWEEP_FLOPS, SL_SWEEP_KIND_TYPE);
	plant_law(&of[6], SL_SWEEP_MEMORY, SL_SWEEP_KIND_TYPE);
	of[0].tail_from = 4;
	of[0].tail = planted_refusal(1.1, 3);
	of[0].tail.method = SL_METHOD_STUDENT;
	of[2].exponent.lo = -(double)INFINITY;
	of[2].tail_from = 8;
	of[2].tail = planted_estimate(1, 0.9, (double)INFINITY);
	of[5].exponent.lo = of[5].exponent.hi = (double)NAN;
	of[5].exponent.method = SL_METHOD_NONE;
	of[6].exponent = (struct sl_estimate){
		.value = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
	of[6].offset = of[6].scale = of[6].deviation = (double)NAN;
	of[6].absent = "no power law";
}

/* As sl_sweep() leaves a point that it could not measure. */
static struct sl_sweep_point
unmeasured(int64_t value)
{
	static const struct sl_estimate none = {
		(double)NAN, (double)NAN, (double)NAN, 0, 0, 0};

	return (struct sl_sweep_point){
		.value = value,
		.absent = "no memory",
		.latency_ns = none,
		.rate_per_s = none,
		.samples_per_s = (double)NAN,
		.sample_ns = (double)NAN,
		.flops_per_s = (double)NAN,
		.compute_efficiency = (double)NAN,
		.roof_share = (double)NAN,
		.touched_bytes = {(double)NAN, "not measured"},
		.samples_per_s_per_mb = (double)NAN,
		.verdict_absent = "not measured",
		.energy_j = none,
		.energy_absent = "no meter"};
}

/* Every part that may be absent, absent and there: points, laws, the knee, the
 * best, limits; one model and several; each axis. */
static void
sweeps_come_back(void **state)
{
	static struct sl_sweep_exponent every[7];
	struct sl_sweep_point of_second[3], of_first[3];
	struct sl_sweep_series both[2];

	(void)state;
	plant_points();
	plant_every_law(every);
	memcpy(of_first, points, sizeof(points));
	of_first[0].note = "no memory at its third visit";
	of_first[0].latency_ns.lo = 1e5; /* far from hi */
	of_first[1].rate_per_s.hi = (double)INFINITY;
	of_first[1].compute_efficiency = (double)NAN;
	of_first[2] = unmeasured(4);
	memcpy(of_second, of_first, sizeof(of_second));
	of_second[1].memory_bytes = 0;
	of_second[1].touched_bytes =
		(struct sl_reading){(double)NAN, "no room"};
	of_second[1].energy_j.n = 0;
	of_second[1].energy_absent = "no meter";
	of_second[1].n_disturbed = 3;
	both[0] = (struct sl_sweep_series){
		.name = "net",
		.source = "zoo",
		.batch = 2,
		.points = of_first,
		.n_points = 3,
		.n_measured = 2,
		.exponents = every,
		.n_exponents = 7,
		.knee = {.at = 1,
			 .is_proved = 1,
			 .gain = planted_estimate(0.05, 0.02, 0.08)},
		.best = {.point = 1, .at = 2, .as_good = 1}};
	both[1] = both[0];
	both[1].name = "a,\"b\"";
	both[1].points = of_second;
	both[1].knee = (struct sl_sweep_knee){
		.gain = planted_estimate(0.4, 0.3, (double)INFINITY)};
	both[1].best = (struct sl_sweep_best){.point = SIZE_MAX,
					      .n_over_memory = 1,
					      .n_over_latency = 2,
					      .absent = "no point is within"};
	for (int i = 0; i < 4 * SL_N_AXES; i++) {
		const struct sl_sweep sweep = {
			.axis = (enum sl_axis)(i / 4),
			.rate_unit = (enum sl_rate_unit)(i % 3),
			.dtype = SL_DTYPE_BF16,
			.n_threads = i / 4 == SL_AXIS_THREADS ? 0 : 2,
			.n_visits = 3,
			.memory_bytes = i % 2 ? 1.5e9 : 0,
			.latency_s = i % 2 ? 0 : 0.05,
			.seed = UINT64_MAX,
			.elapsed_s = 1.7,
			.stopped_by = i % 2 ? SL_STOP_INTERRUPT : SL_STOP_RUNS,
			.series = i % 4 == 3 ? both + 1 : both,
			.n_series = i % 4 ? 1 : 2};

		both[0].batch = both[1].batch = i / 4 ? 2 : 0;
		assert_renders_back(render_any, &sweep);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_parts_have_units),
		cmocka_unit_test(sides_are_no_verdicts),
		cmocka_unit_test(absent_sides_have_reasons),
		cmocka_unit_test(energy_has_an_interval),
		cmocka_unit_test(sweeps_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
