/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_measurement.c - a timed function and a comparison made by hand
 * keep their figures in every format.
 */
#include "harness.h"
#include "reads_back.h"
#include "json_check.h"
#include "planted.h"

static const double samples_ns[45] = {9e6, 8e6, 7e6, 5e6};

static struct sl_measurement
planted_measurement(void)
{
	struct sl_measurement m = {
		.name = "work",
		.wall = planted_latency(5),
		.cpu = planted_estimate(4.9e6, 4.8e6, 5.0e6),
		.noise = planted_noise(),
		.calls_per_sample = 100,
		.clock_cost_ns = 25,
		.clock_resolution_ns = 1,
		.elapsed_s = 1,
		.stopped_by = SL_STOP_PRECISION,
		.seed = 3,
		.samples_ns = samples_ns,
		.n_samples = 45,
	};

	return m;
}

static void
render(struct sl_buf *out, enum sl_format format)
{
	struct sl_measurement m = planted_measurement();
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = format};

	memset(out, 0, sizeof(*out));
	assert_int_equal(sl_measurement_render(&m, &how, out, NULL), SL_OK);
	if (how.format == SL_FORMAT_JSON)
		assert_reads_back(out);
}

static void
json_has_every_figure(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_JSON);
	assert_true(json_is(out.data, "schema", "1"));
	assert_true(json_is(out.data, "name", "\"work\""));
	assert_true(json_is(out.data, "latency.median_ms", "5"));
	assert_true(json_is(out.data, "latency.p50_ms", "5"));
	assert_true(json_is(out.data, "latency.p95_ms", "null"));
	assert_true(json_is(out.data, "latency.warmup.class", "\"warming\""));
	assert_true(json_is(out.data, "cpu_ms", "4.9"));
	assert_true(json_is(out.data, "cpu_ci95_ms.hi", "5"));
	assert_true(json_is(out.data, "calls_per_sample", "100"));
	assert_true(json_is(out.data, "noise.disturbed", "4"));
	assert_true(json_is(out.data, "stopped_by", "\"precision\""));
	assert_true(json_is(out.data, "seed", "3"));
	assert_near(json_number_at(out.data, "clock.reading_ms"), 25e-6, 1e-12);
	sl_buf_release(&out);
}

static void
text_says_that_samples_are_means(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, SL_FORMAT_TEXT);
	assert_memory_equal(out.data, "work\n", 5);
	assert_non_null(strstr(out.data, "5.00 ms  [4.95, 5.10]"));
	assert_non_null(strstr(out.data, "100 calls per sample"));
	assert_non_null(strstr(out.data, "3 left out as warm-up"));
	assert_non_null(strstr(out.data, "seed         3\n"));
	sl_buf_release(&out);
}

static void
csv_has_every_sample(void **state)
{
	struct sl_buf out;
	size_t n_lines = 0;

	(void)state;
	render(&out, SL_FORMAT_CSV);
	for (const char *p = out.data; *p; p++)
		n_lines += *p == '\n';
	assert_int_equal(n_lines, 46);
	assert_non_null(strstr(out.data, "\n0,1,9\n1,1,8\n2,1,7\n3,0,5\n"));
	sl_buf_release(&out);
}

static void
hyperfine_has_no_functions(void **state)
{
	struct sl_measurement m = planted_measurement();
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_HYPERFINE};
	struct sl_buf out = {0};

	(void)state;
	assert_int_equal(sl_measurement_render(&m, &how, &out, NULL),
			 SL_E_USAGE);
}

static void
comparisons_keep_their_verdicts(void **state)
{
	const struct sl_comparison rows[] = {
		planted_comparison("old", "new", 1.25, SL_VERDICT_SLOWER),
		planted_comparison("old", "other", 1, SL_VERDICT_SAME),
	};
	struct sl_comparisons c = {.n = 2,
				   .rows = rows,
				   .noise = planted_noise(),
				   .elapsed_s = 3,
				   .stopped_by = SL_STOP_VERDICT,
				   .seed = 1};
	struct sl_render_options how = {.struct_size = sizeof(how)};
	struct sl_buf text = {0}, json = {0}, csv = {0};

	(void)state;
	assert_int_equal(sl_comparisons_render(&c, &how, &text, NULL), SL_OK);
	assert_non_null(strstr(text.data, "'new' is slower:"));
	assert_non_null(strstr(text.data, "the same as 'old' within 1 %"));
	how.format = SL_FORMAT_JSON;
	assert_int_equal(sl_comparisons_render(&c, &how, &json, NULL), SL_OK);
	assert_reads_back(&json);
	assert_true(json_is(json.data, "comparison.ratio", "1.25"));
	assert_true(json_is(json.data, "comparison.speedup", "0.8"));
	assert_true(json_is(json.data, "comparisons[1].verdict", "\"same\""));
	assert_true(json_is(json.data, "comparison.cpu_ratio_ci95", "null"));
	how.format = SL_FORMAT_CSV;
	assert_int_equal(sl_comparisons_render(&c, &how, &csv, NULL), SL_OK);
	assert_non_null(
		strstr(csv.data, "\nold,new,1.25,1.225,1.275,42,slower\n"));
	sl_buf_release(&text);
	sl_buf_release(&json);
	sl_buf_release(&csv);
}

/* The page of one comparison; the caller releases the buffer. */
static void
compare(struct sl_buf *out, double margin, double minimum_detectable)
{
	struct sl_comparison row =
		planted_comparison("old", "new", 1.25, SL_VERDICT_SLOWER);
	struct sl_comparisons c = {.n = 1,
				   .rows = &row,
				   .noise = planted_noise(),
				   .elapsed_s = 3,
				   .seed = 77};
	struct sl_render_options how = {.struct_size = sizeof(how),
					.n_columns = 120};

	row.margin = margin;
	row.minimum_detectable = minimum_detectable;
	row.n_left_out = 0;
	memset(out, 0, sizeof(*out));
	assert_int_equal(sl_comparisons_render(&c, &how, out, NULL), SL_OK);
}

static void
assert_page_of(double margin, double minimum_detectable, const char *part)
{
	struct sl_buf out;

	compare(&out, margin, minimum_detectable);
	if (!strstr(out.data, part))
		print_error("no \"%s\" in:\n%s\n", part, out.data);
	assert_non_null(strstr(out.data, part));
	sl_buf_release(&out);
}

/*
 * Time shrinks what is beyond the margin, not the margin.  1.01 * 1.01^2 - 1
 * is two steps of 1 % beyond a margin of 1 %: four times the 3 s.  Scaling
 * the whole 3.03 % would have said 27.5 s, and 0.75 s for 1.0 %.
 */
static void
time_for_one_percent_leaves_the_margin_alone(void **state)
{
	struct sl_buf out;

	(void)state;
	assert_page_of(
		0.01, 1.01 * 1.01 * 1.01 - 1,
		"detects changes from 3.03 % in 4 of 5 runs; from 2.0 % (1 % "
		"above the margin of 1 %) in about 12 s in all");
	assert_page_of(
		0, 1.01 * 1.01 - 1,
		"detects changes from 2.01 % in 4 of 5 runs; from 1 % in "
		"about 12 s in all");
	assert_page_of(0, 0.1, "; from 1 % in about 5 min in all");
	assert_page_of(0.01, 0.015,
		       "detects changes from 1.5 % in 4 of 5 runs\n");
	assert_page_of(0, 0.005, "detects changes from 0.5 % in 4 of 5 runs\n");
	compare(&out, 0.01, (double)NAN);
	assert_null(strstr(out.data, "sensitivity"));
	sl_buf_release(&out);
}

static void
a_page_names_its_seed_and_only_rounds_left_out(void **state)
{
	(void)state;
	assert_page_of(0.01, 0.02, "seed         77\n");
	assert_page_of(0.01, 0.02, "  (42 rounds)\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_every_figure),
		cmocka_unit_test(text_says_that_samples_are_means),
		cmocka_unit_test(csv_has_every_sample),
		cmocka_unit_test(hyperfine_has_no_functions),
		cmocka_unit_test(comparisons_keep_their_verdicts),
		cmocka_unit_test(time_for_one_percent_leaves_the_margin_alone),
		cmocka_unit_test(
			a_page_names_its_seed_and_only_rounds_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
