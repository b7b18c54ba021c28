/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_sweep.c - a sweep made by hand keeps its figures and units. */
#include "harness.h"
#include "json_check.h"
#include "planted.h"

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
			.n_passes = 30,
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
	assert_non_null(strstr(out.data, "roof side"));
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_parts_have_units),
		cmocka_unit_test(sides_are_no_verdicts),
		cmocka_unit_test(absent_sides_have_reasons),
		cmocka_unit_test(energy_has_an_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
