/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bench_export.c - the tables that hyperfine exports, of times whose
 * means, deviations and ratio are worked out by hand: 11 +- 1 ms and 22 +- 2
 * ms, so that the ratio is 2 +- 2 sqrt(2) / 11 = 2 +- 0.257.
 */
#include "harness.h"
#include "json_check.h"
#include "sleuth.h"

static const double slow_ns[] = {20e6, 24e6, 22e6};
static const double fast_ns[] = {10e6, 12e6, 11e6};
static const double cpu_ns[] = {1e6, 2e6, 3e6};
static const struct sl_parameter parameters[] = {{"n", "4"}};
static const struct sl_command commands[] = {
	{.name = "a | b"},
	{.name = "c", .parameters = parameters, .n_parameters = 1},
};

static void
render(struct sl_buf *out, struct sl_render_options how)
{
	struct sl_bench_result results[2] = {
		{.command = &commands[0], .wall_ns = slow_ns},
		{.command = &commands[1], .wall_ns = fast_ns}};
	struct sl_comparison comparison = {0};
	struct sl_bench bench = {.n_results = 2,
				 .results = results,
				 .n_comparisons = 1,
				 .comparisons = &comparison};
	const int codes[3] = {0, 0, 137};

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < 2; i++) {
		results[i].user_ns = results[i].system_ns = cpu_ns;
		results[i].exit_codes = codes;
		results[i].n_runs = 3;
		results[i].wall.mean.value = results[i].wall_ns[2];
	}
	how.struct_size = sizeof(how);
	assert_int_equal(sl_bench_render(&bench, &how, out, NULL), SL_OK);
}

static void
assert_written(struct sl_render_options how, const char *expected)
{
	struct sl_buf out;

	render(&out, how);
	assert_string_equal(out.data, expected);
	sl_buf_release(&out);
}

/* The names and seconds that scripts for hyperfine's files expect; figures are
 * those of times[], so that a script that recomputes them finds the same. */
static void
json_has_hyperfines_names(void **state)
{
	static const struct {
		const char *path;
		double value;
	} all[] = {
		{"results[1].mean", 0.011},
		{"results[1].stddev", 0.001},
		{"results[1].median", 0.011},
		{"results[1].min", 0.010},
		{"results[1].max", 0.012},
		{"results[1].user", 0.002},
		{"results[1].system", 0.002},
		{"results[1].times[1]", 0.012},
		{"results[1].exit_codes[2]", 137},
	};
	struct sl_buf out;

	(void)state;
	render(&out, (struct sl_render_options){.format = SL_FORMAT_HYPERFINE});
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_near(json_number_at(out.data, all[i].path), all[i].value,
			    1e-12);
	assert_true(json_is(out.data, "results[1].parameters.n", "\"4\""));
	sl_buf_release(&out);
}

static void
tables_have_hyperfines_columns(void **state)
{
	(void)state;
	assert_written(
		(struct sl_render_options){
			.format = SL_FORMAT_HYPERFINE_MARKDOWN},
		"| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n"
		"|:---|---:|---:|---:|---:|\n"
		"| `a \\| b` | 22.0 ± 2.0 | 20.0 | 24.0 | 2.00 ± 0.26 |\n"
		"| `c` | 11.0 ± 1.0 | 10.0 | 12.0 | 1.00 |\n");
	assert_written(
		(struct sl_render_options){.format =
						   SL_FORMAT_HYPERFINE_ORGMODE,
					   .unit = "s",
					   .sort = "mean-time"},
		"| Command  |  Mean [s] |  Min [s] |  Max [s] |  Relative |\n"
		"|--+--+--+--+--|\n"
		"| =c=  |  0.011 ± 0.001 |  0.010 |  0.012 |  1.00 |\n"
		"| =a \\| b=  |  0.022 ± 0.002 |  0.020 |  0.024 |  2.00 ± "
		"0.26 |\n");
	assert_written(
		(struct sl_render_options){
			.format = SL_FORMAT_HYPERFINE_ASCIIDOC, .unit = "us"},
		"[cols=\"<,>,>,>,>\"]\n|===\n| Command \n| Mean [µs] \n"
		"| Min [µs] \n| Max [µs] \n| Relative \n\n"
		"| `a \\| b` \n| 22000.0 ± 2000.0 \n| 20000.0 \n"
		"| 24000.0 \n| 2.00 ± 0.26 \n\n"
		"| `c` \n| 11000.0 ± 1000.0 \n| 10000.0 \n| 12000.0 \n"
		"| 1.00 \n|===\n");
}

/* In seconds; a command without parameters leaves their columns empty. */
static void
csv_has_hyperfines_columns(void **state)
{
	(void)state;
	assert_written(
		(struct sl_render_options){.format = SL_FORMAT_HYPERFINE_CSV,
					   .unit = "ms"},
		"command,mean,stddev,median,user,system,min,max,parameter_n\n"
		"a | b,0.022,0.002,0.022,0.002,0.002,0.02,0.024,\n"
		"c,0.011,0.001,0.011,0.002,0.002,0.01,0.012,4\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_hyperfines_names),
		cmocka_unit_test(tables_have_hyperfines_columns),
		cmocka_unit_test(csv_has_hyperfines_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
