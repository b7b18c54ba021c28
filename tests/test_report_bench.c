/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_bench.c - a benchmark made by hand appears in every format with
 * the figures it was given, their intervals or refusals, and names that no
 * byte of a command line can break.
 */
#include "harness.h"
#include "reads_back.h"
#include "json_check.h"
#include "planted.h"

static const double wall_ns[] = {10e6, 12e6, 11e6};
static const double cpu_ns[] = {1e6, 2e6, 3e6};
static const double resident_bytes[] = {2e6, 2e6, 2e6};
static const int exit_codes[] = {0, 0, 137};
static const char *const argv[] = {"a", NULL};
static const struct sl_parameter parameters[] = {{"threads", "4"}};
static const struct sl_command commands[] = {
	{.name = "a", .argv = argv},
	{.name = "b \"quoted\", | and \xff\033[31m",
	 .shell_line = "b",
	 .prepare = "sync",
	 .parameters = parameters,
	 .n_parameters = 1},
	{.name = "c", .argv = argv},
};

struct planted {
	struct sl_bench bench;
	struct sl_bench_result results[3];
	struct sl_comparison comparisons[2];
};

static void
plant(struct planted *p, size_t n)
{
	static const double medians_ms[] = {10, 5, 10.1};

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < 3; i++) {
		p->results[i] = (struct sl_bench_result){
			.command = &commands[i],
			.wall = planted_latency(medians_ms[i]),
			.user = planted_estimate(2e6, 1.9e6, 2.1e6),
			.system = planted_refusal(1e6, 2),
			.peak_bytes = {2.1e6, NULL},
			.wall_ns = wall_ns,
			.user_ns = cpu_ns,
			.system_ns = cpu_ns,
			.resident_bytes = resident_bytes,
			.exit_codes = exit_codes,
			.n_runs = 3,
			.n_failed = i == 1,
		};
	}
	/* The second takes 5 ms, less than the shell that was taken off. */
	p->results[1].shell = planted_estimate(6e6, 5.9e6, 6.1e6);
	p->results[2].peak_bytes.value = (double)NAN;
	p->results[2].peak_bytes.absent = "too small to see";
	p->comparisons[0] = planted_comparison("a", commands[1].name, 0.5,
					       SL_VERDICT_FASTER);
	p->comparisons[1] =
		planted_comparison("a", "c", 1.01, SL_VERDICT_UNDECIDED);
	p->bench.n_results = n;
	p->bench.results = p->results;
	p->bench.n_comparisons = n - 1;
	p->bench.comparisons = p->comparisons;
	p->bench.noise = planted_noise();
	p->bench.elapsed_s = 2.5;
	p->bench.stopped_by = SL_STOP_TIME;
	p->bench.seed = 7;
}

/* Renders n planted commands; the caller releases the buffer. */
static void
render(struct sl_buf *out, size_t n, struct sl_render_options how)
{
	struct planted p;

	plant(&p, n);
	how.struct_size = sizeof(how);
	memset(out, 0, sizeof(*out));
	assert_int_equal(sl_bench_render(&p.bench, &how, out, NULL), SL_OK);
	if (how.format == SL_FORMAT_JSON)
		assert_reads_back(out);
	assert_non_null(out->data);
}

static void
assert_holds(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	print_error("\"%s\" is not in:\n%s\n", part, text);
	fail();
}

static size_t
columns_of(const char *line, size_t n_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < n_bytes; i++)
		n += ((unsigned char)line[i] & 0xc0) != 0x80;
	return n;
}

static size_t
widest_line(const char *text)
{
	size_t widest = 0;

	while (*text) {
		size_t n_bytes = strcspn(text, "\n");
		size_t n = columns_of(text, n_bytes);

		widest = n > widest ? n : widest;
		text += n_bytes + (text[n_bytes] == '\n');
	}
	return widest;
}

static void
json_has_every_figure(void **state)
{
	struct sl_buf out;
	const char *t;

	(void)state;
	render(&out, 3, (struct sl_render_options){.format = SL_FORMAT_JSON});
	t = out.data;
	assert_true(json_valid(t));
	assert_true(json_is(t, "schema", "1"));
	assert_true(json_is(t, "tool.name", "\"sleuth\""));
	assert_true(json_is(t, "command", "\"bench\""));
	assert_true(json_is(t, "seed", "7"));
	assert_true(json_is(t, "stopped_by", "\"time\""));
	assert_near(json_number_at(t, "elapsed_ms"), 2500, 1e-9);
	assert_true(json_is(t, "results[0].latency.n", "42"));
	assert_true(json_is(t, "results[0].latency.median_ms", "10"));
	assert_true(json_is(t, "results[1].latency.median_ms", "5"));
	assert_true(json_is(t, "results[0].latency.ci95_ms.lo", "9.9"));
	assert_true(json_is(t, "results[0].latency.ci95_ms.hi", "10.2"));
	assert_true(json_is(t, "results[0].latency.p90_ms", "12"));
	assert_true(json_is(t, "results[0].latency.p90_ci95_ms.hi", "13"));
	assert_true(json_is(t, "results[0].latency.first_ms", "20"));
	assert_true(json_is(t, "results[0].latency.warmup.n", "3"));
	assert_true(json_is(t, "results[0].latency.outliers.high", "2"));
	assert_true(json_is(t, "results[0].user_ms", "2"));
	assert_true(json_is(t, "results[0].user_ci95_ms.lo", "1.9"));
	assert_true(json_is(t, "results[0].times_ms[1]", "12"));
	assert_true(json_is(t, "results[0].exit_codes[2]", "137"));
	assert_true(json_is(t, "results[0].argv[0]", "\"a\""));
	assert_true(json_is(t, "results[1].shell_line", "\"b\""));
	assert_true(json_is(t, "results[1].prepare", "\"sync\""));
	assert_true(json_is(t, "results[1].parameters.threads", "\"4\""));
	assert_true(json_is(t, "results[1].failed", "1"));
	assert_true(
		json_is(t, "results[0].memory.resident_peak_bytes", "2100000"));
	sl_buf_release(&out);
}

static void
json_says_why_a_figure_is_absent(void **state)
{
	struct sl_buf out;
	const char *t;

	(void)state;
	render(&out, 3, (struct sl_render_options){.format = SL_FORMAT_JSON});
	t = out.data;
	assert_true(json_is(t, "results[0].latency.p99_ms", "null"));
	assert_true(json_is(t, "results[0].latency.p99_ms_absent",
			    "\"needs n >= 368\""));
	assert_true(json_is(t, "results[0].latency.p99_ci95_ms", "null"));
	assert_true(json_is(t, "results[0].system_ci95_ms", "null"));
	assert_true(json_is(t, "results[0].system_ci95_ms_absent",
			    "\"needs n >= 2\""));
	assert_true(
		json_is(t, "results[2].memory.resident_peak_bytes", "null"));
	assert_true(json_is(t, "results[2].memory.resident_peak_bytes_absent",
			    "\"too small to see\""));
	assert_true(json_is(t, "noise.steal_share", "null"));
	assert_true(
		json_is(t, "noise.steal_share_absent", "\"no /proc/stat\""));
	assert_true(json_is(t, "noise.migrations", "2"));
	sl_buf_release(&out);
}

static void
json_compares_with_the_first(void **state)
{
	struct sl_buf out;
	const char *t;

	(void)state;
	render(&out, 3,
	       (struct sl_render_options){.format = SL_FORMAT_JSON,
					  .command = "compare"});
	t = out.data;
	assert_true(json_is(t, "command", "\"compare\""));
	assert_true(json_is(t, "comparison.a", "\"a\""));
	assert_true(json_is(t, "comparison.ratio", "0.5"));
	assert_true(json_is(t, "comparison.ci95.lo", "0.49"));
	assert_true(json_is(t, "comparison.speedup", "2"));
	assert_true(json_is(t, "comparison.memory_ratio", "2"));
	assert_true(json_is(t, "comparison.verdict", "\"faster\""));
	assert_true(json_is(t, "comparison.gate", "\"ok\""));
	assert_true(json_is(t, "comparison.rounds", "42"));
	assert_true(json_is(t, "comparison.left_out", "3"));
	assert_true(json_is(t, "comparison.disturbed", "5"));
	assert_true(json_is(t, "comparison.minimum_detectable", "0.02"));
	assert_true(json_is(t, "comparisons[0].verdict", "\"faster\""));
	assert_true(json_is(t, "comparisons[1].verdict", "\"undecided\""));
	assert_true(json_is(t, "comparisons[1].decided_after_ms", "null"));
	assert_true(json_is(t, "comparisons[1].decided_after_ms_absent",
			    "\"undecided\""));
	sl_buf_release(&out);
}

static void
csv_quotes_names_and_leaves_absence_empty(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, 3, (struct sl_render_options){.format = SL_FORMAT_CSV});
	assert_memory_equal(out.data,
			    "command,mean,stddev,median,user,system,min,max,",
			    47);
	assert_holds(out.data,
		     "\na,0.0101,0.0005,0.01,0.002,0.001,0.0095,"
		     "0.015,3,42,0.0099,0.0102,2100000,1,,,baseline\n");
	assert_holds(out.data, ",runs,n_steady,median_lo,");
	assert_holds(out.data, "\n\"b \"\"quoted\"\", | and ");
	assert_holds(out.data, "\nc,");
	assert_holds(out.data, ",,1.01,0.9898,1.0302,undecided\n");
	sl_buf_release(&out);
}

static void
one_command_shows_figures_with_their_error(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, 1, (struct sl_render_options){.n_columns = 60});
	assert_string_equal(
		out.data,
		"a\n"
		"  mean ± σ   10.1 ms ± 0.5 ms  user 2.00 ms, system 1.000 ms\n"
		"  min … max  9.500 ms … 15.00 ms  42 runs, 3 before them\n"
		"             left out as warm-up\n"
		"  median     10.00 ms [9.90, 10.20]  95 % interval\n"
		"  memory     2.10 MB peak\n"
		"  noise      5 % of 80 runs disturbed; background load 25 "
		"%\n");
	sl_buf_release(&out);
	render(&out, 1,
	       (struct sl_render_options){.n_columns = 80, .verbose = 1});
	assert_holds(out.data, "  median       10.00 ms  [9.90, 10.20]");
	assert_holds(out.data, "p90 12.0 ms [11.0, 13.0]");
	assert_holds(out.data, "p95 needs n >= 72");
	assert_holds(out.data, "p99 needs n >= 368");
	assert_holds(out.data, "user 2.00 ms [1.90, 2.10]");
	assert_holds(out.data, "system 1.000 ms [needs n >= 2]");
	assert_holds(out.data, "2.10 MB");
	assert_holds(out.data, "5 % of 80 runs disturbed");
	assert_holds(out.data, "not measured: steal (no /proc/stat)");
	assert_holds(out.data, "seed         7\n");
	/* 2.5 s for 2.5 %: 2.5 squared as long for 1 %. */
	assert_holds(out.data,
		     "detects changes from 2.5 % in 4 of 5 runs; from 1 % in "
		     "about 16 s");
	assert_null(strstr(out.data, "\033"));
	sl_buf_release(&out);
}

static void
several_commands_end_in_verdicts(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, 3, (struct sl_render_options){.n_columns = 160});
	assert_holds(out.data, "baseline");
	assert_holds(out.data, "is faster:");
	assert_holds(out.data, "2.00 [1.96, 2.04] ×");
	assert_holds(out.data, "undecided after 42 rounds:");
	assert_holds(out.data, "changes from 2 %");
	assert_holds(out.data, "(42 rounds, 3 disturbed rounds excluded)");
	assert_holds(out.data, "is shorter than starting the shell (6.00 ms, "
			       "taken off); -N runs it without one\n");
	assert_null(strstr(out.data, "'a' is shorter"));
	sl_buf_release(&out);
}

/* Nothing in a name reaches the terminal as a control sequence. */
static void
pages_fit_and_stay_plain(void **state)
{
	static const size_t widths[] = {40, 60, 80, 120};
	struct sl_buf out;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		render(&out, 3,
		       (struct sl_render_options){.n_columns = widths[i],
						  .verbose = 1,
						  .ascii = 1});
		assert_null(strchr(out.data, '\033'));
		for (const char *p = out.data; *p; p++)
			assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
		assert_in_range(widest_line(out.data), 20, widths[i]);
		sl_buf_release(&out);
	}
}

static void
rows_can_be_sorted_by_mean_time(void **state)
{
	struct sl_buf out;
	const char *a, *b;

	(void)state;
	render(&out, 3, (struct sl_render_options){.sort = "mean-time"});
	a = strstr(out.data, "\n  a ");
	b = strstr(out.data, "\n  b ");
	assert_non_null(a);
	assert_non_null(b);
	assert_true(b < a);
	sl_buf_release(&out);
}

static void
markdown_escapes_pipes(void **state)
{
	struct sl_buf out;

	(void)state;
	render(&out, 3,
	       (struct sl_render_options){.format = SL_FORMAT_MARKDOWN});
	assert_holds(out.data, "| command | median |");
	assert_holds(out.data, "\n| b \"quoted\", \\| and ");
	assert_null(strchr(out.data, '\033'));
	sl_buf_release(&out);
}

static void
wrong_options_are_refused(void **state)
{
	struct sl_render_options how = {
		.struct_size = sizeof(how),
		.format = (enum sl_format)(SL_FORMAT_HTML + 1)};
	struct sl_buf out = {0};
	struct sl_error err;
	struct planted p;

	(void)state;
	plant(&p, 1);
	assert_int_equal(sl_bench_render(&p.bench, &how, &out, &err),
			 SL_E_USAGE);
	how.struct_size = 1;
	assert_int_equal(sl_bench_render(&p.bench, &how, &out, &err),
			 SL_E_USAGE);
	assert_null(out.data);
	assert_int_equal(sl_bench_render(&p.bench, NULL, &out, &err), SL_OK);
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_every_figure),
		cmocka_unit_test(json_says_why_a_figure_is_absent),
		cmocka_unit_test(json_compares_with_the_first),
		cmocka_unit_test(csv_quotes_names_and_leaves_absence_empty),
		cmocka_unit_test(one_command_shows_figures_with_their_error),
		cmocka_unit_test(several_commands_end_in_verdicts),
		cmocka_unit_test(pages_fit_and_stay_plain),
		cmocka_unit_test(rows_can_be_sorted_by_mean_time),
		cmocka_unit_test(markdown_escapes_pipes),
		cmocka_unit_test(wrong_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
