/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_scope.c - the pages on scopes and memory hold the figures they
 * were given, say what is absent and why, and every sentence about what
 * stands out follows from planted numbers.
 */
#include "harness.h"
#include "report/insight.h"
#include "json_check.h"
#include "reads_back.h"

static struct sl_estimate
estimate(double value, size_t needs_n)
{
	struct sl_estimate e = {value, 0.9 * value, 1.1 * value,
				1000,  needs_n,     SL_METHOD_ORDER};

	return e;
}

static const struct sl_reading absent = {(double)NAN, "not asked for"};

/* A scope of n calls of 1 us each; p99 is 'tail' times the median. */
static struct sl_scope_row
row(const char *name, size_t n, double share, double tail)
{
	struct sl_scope_row r = {
		.name = name,
		.n_calls = n,
		.n_threads = 1,
		.total_ns = 1000.0 * (double)n,
		.self_ns = 1000.0 * (double)n,
		.share = share,
		.min_ns = 900,
		.max_ns = 1000 * tail,
		.std_ns = 50,
		.mean = estimate(1000, 0),
		.median = estimate(1000, 0),
		.p90 = estimate(1000, 0),
		.p95 = estimate(1000, 0),
		.p99 = estimate(1000 * tail, n < 368 ? 368 : 0),
		.flops_per_s = {(double)NAN, "no FLOPs were declared"},
		.bytes_per_s = {(double)NAN, "no bytes were declared"},
		.cpu_ns = absent,
		.n_minor_faults = absent,
		.n_major_faults = absent,
		.resident_change_bytes = absent,
		.resident_peak_bytes = absent,
		.n_allocations = absent,
		.allocated_bytes = absent,
		.freed_bytes = absent,
		.live_peak_bytes = absent,
	};

	return r;
}

static struct sl_scopes
scopes(const struct sl_scope_row *rows, size_t n)
{
	struct sl_scopes s = {.n_rows = n,
			      .rows = rows,
			      .n_scopes = n,
			      .self_ns = 1e6,
			      .pair_ns = 25,
			      .resources_pair_ns = 4000};

	return s;
}

static int
says(const struct sl__insights *insights, const char *sentence)
{
	for (size_t i = 0; i < insights->n; i++) {
		if (!strcmp(insights->lines[i], sentence))
			return 1;
	}
	for (size_t i = 0; i < insights->n; i++)
		print_error("said: %s\n", insights->lines[i]);
	return 0;
}

static void
nothing_stands_out_in_plain_scopes(void **state)
{
	struct sl_scope_row rows[] = {row("a", 1000, 0.5, 1.2),
				      row("b", 1000, 0.5, 1.2)};
	struct sl_scopes s = scopes(rows, 2);
	struct sl__insights insights;

	(void)state;
	sl__insights_of_scopes(&insights, &s);
	assert_int_equal(insights.n, 0);
}

static void
time_in_few_scopes_stands_out(void **state)
{
	struct sl_scope_row rows[] = {
		row("a", 1000, 0.5, 1), row("b", 1000, 0.35, 1),
		row("c", 1000, 0.1, 1), row("d", 1000, 0.03, 1),
		row("e", 1000, 0.02, 1)};
	struct sl_scopes s = scopes(rows, 5);
	struct sl__insights insights;

	(void)state;
	sl__insights_of_scopes(&insights, &s);
	assert_int_equal(insights.n, 1);
	assert_true(says(&insights, "85 % of the time is in 2 of 5 scopes, "
				    "most of it in a."));
}

static void
variation_and_resources_stand_out(void **state)
{
	struct sl_scope_row rows[] = {row("a", 1000, 0.5, 6),
				      row("few", 100, 0.5, 6)};
	struct sl_scopes s = scopes(rows, 2);
	struct sl__insights insights;

	(void)state;
	rows[0].cpu_ns = (struct sl_reading){650, NULL};
	rows[0].n_minor_faults = (struct sl_reading){1200, NULL};
	rows[0].allocated_bytes = (struct sl_reading){3e6, NULL};
	rows[0].freed_bytes = (struct sl_reading){1e6, NULL};
	s.pair_ns = 150;
	rows[1].mean.value = 2000;
	sl__insights_of_scopes(&insights, &s);
	assert_int_equal(insights.n, 5); /* few: p99 was refused */
	assert_true(says(&insights, "a varies a lot: p99 is 6.0 × p50."));
	assert_true(says(&insights, "a is off the CPU for 35 % of its time: "
				    "waiting or preempted."));
	assert_true(says(&insights, "a takes 1200 page faults per call: it "
				    "uses fresh memory each time."));
	assert_true(says(&insights, "a keeps 2.00 MB more after each call."));
	assert_true(
		says(&insights,
		     "a takes 1.000 µs per call and measuring it 150.0 ns: a "
		     "scope around its loop would disturb less."));
}

static void
json_has_every_field(void **state)
{
	struct sl_scope_row rows[] = {row("a \"quoted\"", 1000, 0.9, 1),
				      row("b", 10, 0.1, 1)};
	struct sl_scopes s = scopes(rows, 2);
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_JSON};
	struct sl_buf out = {0};

	(void)state;
	rows[0].flops_per_s = (struct sl_reading){2e9, NULL};
	rows[0].compute_share =
		(struct sl_reading){(double)NAN, "run `sleuth machine` first"};
	rows[1].parent = "a \"quoted\"";
	assert_int_equal(sl_scopes_render(&s, &how, &out, NULL), SL_OK);
	assert_reads_back(&out);
	assert_true(json_is(out.data, "schema", "1"));
	assert_true(json_is(out.data, "scopes[0].calls", "1000"));
	assert_true(json_is(out.data, "scopes[0].latency.p99_ms", "0.001"));
	assert_true(json_is(out.data, "scopes[0].latency.p99_ci95_ms.lo",
			    "0.0009"));
	assert_close(
		json_number_at(out.data, "scopes[0].latency.p90_ci95_ms.hi"),
		0.0011, 1e-12);
	assert_true(json_has(out.data, "scopes[0].latency.p95_ci95_ms.hi"));
	assert_true(json_is(out.data, "scopes[0].latency.mean_ci95_ms.lo",
			    "0.0009"));
	assert_true(json_is(out.data, "scopes[1].latency.p99_ci95_ms_absent",
			    "\"needs n >= 368\""));
	assert_true(json_is(out.data, "scopes[0].gflops_per_s", "2"));
	assert_true(json_is(out.data, "scopes[0].parent", "null"));
	assert_true(json_is(out.data, "scopes[0].compute_efficiency", "null"));
	assert_true(json_is(out.data, "scopes[0].compute_efficiency_absent",
			    "\"run `sleuth machine` first\""));
	assert_true(json_is(out.data, "scopes[1].latency.p99_ms", "null"));
	assert_true(json_is(out.data, "scopes[1].latency.p99_ms_absent",
			    "\"needs n >= 368\""));
	assert_true(json_is(out.data, "scopes[1].cpu_ms_absent",
			    "\"not asked for\""));
	assert_true(
		json_is(out.data, "scopes[1].parent", "\"a \\\"quoted\\\"\""));
	assert_close(json_number_at(out.data, "overhead.pair_ms"), 25e-6,
		     1e-15);
	sl_buf_release(&out);
}

static void
pages_say_what_was_dropped(void **state)
{
	struct sl_scope_row rows[] = {row("matmul", 10, 1, 1)};
	struct sl_scopes s = scopes(rows, 1);
	struct sl_render_options how = {.struct_size = sizeof(how),
					.n_columns = 120};
	struct sl_buf out = {0};

	(void)state;
	s.n_dropped = 7;
	s.n_unbalanced = 3;
	rows[0].flops_per_s = (struct sl_reading){2e9, NULL};
	for (int format = SL_FORMAT_TEXT; format <= SL_FORMAT_MARKDOWN;
	     format += SL_FORMAT_MARKDOWN) {
		how.format = (enum sl_format)format;
		assert_int_equal(sl_scopes_render(&s, &how, &out, NULL), SL_OK);
		assert_non_null(strstr(out.data, "matmul"));
		assert_non_null(strstr(out.data, "7 scopes were dropped"));
		assert_non_null(strstr(out.data, "3 scopes were closed late"));
		assert_non_null(strstr(out.data, "368"));
		assert_non_null(strstr(out.data, "GFLOP/s"));
		assert_non_null(strstr(out.data, "sleuth machine"));
		assert_null(strstr(out.data, "Resources"));
		sl_buf_release(&out);
	}
	how.format = SL_FORMAT_SVG;
	assert_int_equal(sl_scopes_render(&s, &how, &out, NULL), SL_E_USAGE);
	sl_buf_release(&out);
}

/* Every figure has its error, where there is room for it. */
static void
a_verbose_page_shows_intervals(void **state)
{
	struct sl_scope_row rows[] = {row("matmul", 10, 1, 1)};
	struct sl_scopes s = scopes(rows, 1);
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_MARKDOWN};
	struct sl_buf out = {0};

	(void)state;
	rows[0].mean = estimate(2000, 0);
	rows[0].p90 = estimate(3000, 0);
	assert_int_equal(sl_scopes_render(&s, &how, &out, NULL), SL_OK);
	assert_null(strstr(out.data, "intervals"));
	sl_buf_release(&out);
	how.verbose = 1;
	assert_int_equal(sl_scopes_render(&s, &how, &out, NULL), SL_OK);
	assert_non_null(strstr(out.data, "95 % intervals"));
	assert_non_null(strstr(out.data, "[1.80, 2.20]"));
	assert_non_null(strstr(out.data, "[2.70, 3.30]"));
	assert_non_null(strstr(out.data, "needs n >= 368"));
	sl_buf_release(&out);
}

static struct sl_memory
memory(const struct sl_live_point *points, size_t n_points,
       const struct sl_memory_site *site)
{
	struct sl_memory m = {
		.name = "planted",
		.method = SL_MEMORY_INTERPOSED,
		.baseline_bytes = 1e6,
		.peak_bytes = 3e6,
		.final_bytes = 1e6,
		.allocated_bytes = {40e6, NULL},
		.freed_bytes = {40e6, NULL},
		.requested_bytes = {39e6, NULL},
		.n_allocations = {20, NULL},
		.n_frees = {20, NULL},
		.n_unsited = {0, NULL},
		.sites = site,
		.n_sites = 1,
		.pattern = SL_MEMORY_COPIES,
		.evidence = "20 blocks come and go",
		.points = points,
		.n_points = n_points,
		.n_calls = 1,
		.elapsed_s = 0.5,
	};

	m.n_by_size[20] = 20;
	return m;
}

static void
memory_has_its_section(void **state)
{
	const struct sl_live_point points[] = {{1, 1e6, 3e6, 1e6, 2e6},
					       {1, 1e6, 2e6, 1e6, 1e6}};
	const uintptr_t address = 0x1234;
	const struct sl_memory_site site = {"copy+0x10 < main+0x20", &address,
					    1, 20, 40000000};
	struct sl_memory m = memory(points, 2, &site);
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_JSON};
	struct sl_buf out = {0};

	(void)state;
	assert_int_equal(sl_memory_render(&m, &how, &out, NULL), SL_OK);
	assert_true(json_is(out.data, "allocation.baseline_bytes", "1000000"));
	assert_true(json_is(out.data, "allocation.peak_bytes", "3000000"));
	assert_true(json_is(out.data, "allocation.final_bytes", "1000000"));
	assert_true(
		json_is(out.data, "allocation.allocated_bytes", "40000000"));
	assert_true(json_is(out.data, "allocation.freed_bytes", "40000000"));
	assert_true(json_is(out.data, "allocation.count", "20"));
	assert_true(json_is(out.data, "allocation.pattern",
			    "\"temporary copies\""));
	assert_true(
		json_is(out.data, "allocation.sizes[0].from_bytes", "1048576"));
	assert_true(json_is(out.data, "allocation.sites[0].where",
			    "\"copy+0x10 < main+0x20\""));
	sl_buf_release(&out);

	how.format = SL_FORMAT_TEXT;
	how.verbose = 1;
	assert_int_equal(sl_memory_render(&m, &how, &out, NULL), SL_OK);
	assert_non_null(strstr(out.data, "temporary copies"));
	assert_non_null(strstr(out.data, "2.00 MB above the baseline"));
	assert_non_null(strstr(out.data, "copy+0x10"));
	assert_non_null(strstr(out.data, "█▄"));
	sl_buf_release(&out);
}

static void
resident_memory_says_why(void **state)
{
	struct sl_memory m = memory(NULL, 0, NULL);
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_MARKDOWN};
	struct sl__insights insights = {0};
	struct sl_buf out = {0};

	(void)state;
	sl__insight_memory(&insights, &m);
	assert_int_equal(insights.n, 2);
	assert_true(says(&insights, "It allocates 40.0 MB in all, 20 × its "
				    "peak: buffers could be reused."));
	m.method = SL_MEMORY_RESIDENT;
	m.method_reason = "no interposer";
	m.allocated_bytes = (struct sl_reading){(double)NAN, "no interposer"};
	m.n_sites = 0;
	assert_int_equal(sl_memory_render(&m, &how, &out, NULL), SL_OK);
	assert_non_null(strstr(out.data, "resident memory, sampled"));
	assert_non_null(strstr(out.data, "absent: no interposer"));
	sl_buf_release(&out);
	insights.n = 0;
	sl__insight_memory(&insights, &m);
	assert_int_equal(insights.n, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_stands_out_in_plain_scopes),
		cmocka_unit_test(time_in_few_scopes_stands_out),
		cmocka_unit_test(variation_and_resources_stand_out),
		cmocka_unit_test(json_has_every_field),
		cmocka_unit_test(pages_say_what_was_dropped),
		cmocka_unit_test(a_verbose_page_shows_intervals),
		cmocka_unit_test(memory_has_its_section),
		cmocka_unit_test(resident_memory_says_why),
	};

	/* No description of a machine lies there. */
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
