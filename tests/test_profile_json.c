/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profile_json.c - a profile made by hand as data: JSON that says what is
 * absent and prints nothing that cannot be, CSV with a row for each operation.
 */
#include "analysis/memory_use.h"
#include "json_check.h"
#include "reads_back.h"
#include "rendered_profile.h"

static void
json_has_every_figure(void **state)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{"command", "\"profile\""},
		{"model.name", "\"tiny <net>\""},
		{"model.parameters.trainable", "634"},
		{"cost.flops", "885056"},
		{"plan.threads", "2"},
		{"latency.median_ms", "25"},
		{"latency.p99_ms", "null"},
		{"memory.live_bytes", "4000"},
		{"memory.path_bytes", "4000"},
		{"memory.library_bytes", "700"},
		{"memory.resident_peak_is_least", "false"},
		{"memory.efficiency", "0.7"},
		{"memory.file_bytes", "null"},
		{"memory.file_bytes_absent", "\"not seen\""},
		{"memory.gradients_bytes", "null"},
		{"memory.timeline[1].live_bytes", "4000"},
		{"ledger.wall_ms", "25"},
		{"ledger.operations_ms", "24"},
		{"ledger.closed", "true"},
		{"rates.tokens_per_s_absent", "\"no tokens\""},
		{"rates.gflops_per_s", "19.2"},
		{"rates.bound_ms", "12.5"},
		{"operations[0].name", "\"stage.0.conv\""},
		{"operations[0].role", "\"convolution\""},
		{"operations[0].phase", "\"forward\""},
		{"operations[0].covers[1]", "\"stage.relu\""},
		{"operations[0].self_ms", "1"},
		{"operations[0].flops", "20000000"},
		{"operations[0].all_flops", "21000000"},
		{"operations[0].executed_flops", "20000000"},
		{"operations[0].gflops_per_s", "20"},
		{"operations[0].bound", "\"compute\""},
		{"operations[0].ceiling_share", "0.5"},
		{"operations[23].type", "\"MatMul\""},
		{"operations_for_80_percent", "20"},
		{"by_role[0].flops", "660000000"},
		{"by_role[0].all_flops", "680000000"},
		{"by_role[0].executed_flops", "440000000"},
		{"by_role[0].gflops_per_s", "30"},
		{"by_role[0].executed_gflops_per_s", "20"},
		{"by_role[0].gbytes_per_s", "1"},
		{"by_role[1].name", "\"head\""},
		{"roofline.peak_gflops_per_s", "40"},
		{"roofline.bandwidth_gbytes_per_s", "10"},
		{"roofline.ridge", "4"},
		{"roofline.levels[1].size_bytes", "null"},
		{"verdict.bottleneck", "\"compute\""},
		{"verdict.confidence", "0.75"},
		{"verdict.shares.dram", "0.05"},
		{"amdahl[0].operation", "\"all Conv\""},
		{"amdahl[0].predicted_speedup_limit", "10"},
		{"amdahl[0].measured_speedup_limit", "9.5"},
		{"amdahl[0].measured_speedup_limit_ci95.lo", "9.25"},
		{"amdahl[1].measured_speedup_limit", "null"},
		{"amdahl[1].measured_speedup_limit_absent",
		 "\"no time for it\""},
		{"advice[0].expected", "\"at most 1.90 ×\""},
		{"advice[1].most_speedup", "null"},
		{"advice[1].command", "null"},
		{"advice[1].command_absent",
		 "\"no command of this version tests it\""},
		{"remarks_facts[0].names[0]", "\"not permitted\""},
		{"seed", "7"},
	};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_reads_back(&out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(json_is(out.data, rows[i].path, rows[i].text));
	sl_buf_release(&out);
}

/* What a row of Amdahl's law is about is there as text and as an index. */
static void
parts_are_named_and_numbered(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "amdahl[0].operation", "\"all Conv\""));
	assert_true(json_is(out.data, "amdahl[0].operation_index", "0"));
	assert_true(json_is(out.data, "amdahl[0].is_type", "true"));
	assert_true(
		json_is(out.data, "amdahl[1].operation", "\"stage.0.conv\""));
	assert_true(json_is(out.data, "amdahl[1].is_type", "false"));
	assert_true(json_is(out.data, "advice[0].text_fact.kind",
			    "\"compute-bf16\""));
	assert_true(json_is(out.data, "advice[0].basis_fact.values[1]", "0.9"));
	assert_true(json_is(out.data, "advice[0].command",
			    "\"sleuth profile tiny.onnx --dtype bf16\""));
	assert_true(json_is(out.data, "advice[0].trial.action", "\"dtype\""));
	assert_true(json_is(out.data, "advice[0].trial.dtype", "\"bf16\""));
	assert_true(json_is(out.data, "advice[1].trial.action", "\"none\""));
	assert_true(json_is(out.data, "request.model", "\"tiny.onnx\""));
	assert_true(json_is(out.data, "request.batch", "null"));
	assert_true(
		json_is(out.data, "remarks[0]",
			"\"no operation was timed beside a bandwidth hog: not "
			"permitted\""));
	sl_buf_release(&out);
}

/* The machine is the result's, whatever is known of the one that renders. */
static void
the_machine_is_the_results(void **state)
{
	const struct sl_machine machine = {.fingerprint = "0123456789abcdef"};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "machine", "null"));
	sl_buf_release(&out);
	r.profile.machine = &machine;
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "machine.fingerprint",
			    "\"0123456789abcdef\""));
	sl_buf_release(&out);
}

/* What makes no products has no rate of them; what is not counted has none at
 * all, and says why. */
static void
absent_work_has_a_reason(void **state)
{
	static const struct row {
		const char *path, *text;
	} rows[] = {
		{"operations[0].flops", "0"},
		{"operations[0].gflops_per_s", "null"},
		{"operations[0].gflops_per_s_absent",
		 "\"it makes no products\""},
		{"operations[0].executed_gflops_per_s", "20"},
		{"operations[1].flops", "null"},
		{"operations[1].flops_absent", "\"a loop\""},
		{"operations[1].all_flops_absent", "\"a loop\""},
		{"operations[1].bytes_absent", "\"a loop\""},
		{"operations[1].gflops_per_s_absent", "\"a loop\""},
		{"operations[1].bound_ms_absent", "\"a loop\""},
		{"rates.gflops_per_s_absent", "\"a loop\""},
	};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	r.operations[0].core_flops = 0;
	r.operations[0].flops_per_s = (double)NAN;
	r.operations[1].uncounted = "a loop";
	r.operations[1].flops_per_s = r.operations[1].bound_ns = (double)NAN;
	r.profile.rates.flops_per_s = (double)NAN;
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_valid(out.data));
	assert_reads_back(&out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(json_is(out.data, rows[i].path, rows[i].text));
	sl_buf_release(&out);
}

/* Figures that cannot be are not printed as facts, nor what has no limit. */
static void
nothing_impossible_is_a_fact(void **state)
{
	static const struct sl_fact found = {
		SL_FACT_MEMORY_EFFICIENCY, {1.25}, {NULL}};
	struct sl_amdahl all = recorded_amdahl[0];
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	all.share = 1;
	all.limit = (double)INFINITY;
	r.profile.amdahl = &all;
	r.profile.n_amdahl = 1;
	r.profile.memory.efficiency = (double)NAN;
	r.profile.memory.impossible = &found;
	r.profile.impossible = &found;
	r.profile.n_impossible = 1;
	r.profile.memory.is_peak_reset = 0;
	out = render(&r, SL_FORMAT_TEXT, 80, 1);
	/* "inference" is a word. */
	assert_has_not(&out, "inf ");
	assert_has_not(&out, "inf\n");
	assert_has_not(&out, "inf,");
	assert_has_not(&out, "; efficiency");
	/* Once on the page. */
	assert_has(&out, "a memory efficiency of 1.250");
	assert_null(strstr(strstr(out.data, "a memory efficiency of 1.250") + 1,
			   "a memory efficiency of 1.250"));
	sl_buf_release(&out);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "memory.efficiency", "null"));
	assert_true(json_is(out.data, "memory.efficiency_absent",
			    "\"a memory efficiency of 1.250: memory that was "
			    "there before is used by the plan\""));
	assert_true(json_is(out.data, "memory.resident_peak_is_least", "true"));
	assert_true(
		json_is(out.data, "amdahl[0].predicted_speedup_limit", "null"));
	sl_buf_release(&out);
	r.profile.memory.efficiency = 0.75;
	r.profile.memory.impossible = NULL;
	r.profile.n_impossible = 0;
	out = render(&r, SL_FORMAT_TEXT, 80, 0);
	assert_has(&out, "efficiency at most 0.75");
	sl_buf_release(&out);
}

/* What an operation held is known of those that ran while it was tracked. */
static void
untracked_memory_is_absent(void **state)
{
	struct recorded_profile r;
	struct sl__arena arena;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	sl__arena_init(&arena, NULL);
	assert_int_equal(sl__profile_fill_live_memory(&r.profile, &arena, NULL),
			 SL_OK);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "operations[2].memory_bytes", "2000"));
	assert_true(json_is(out.data, "operations[3].memory_bytes", "null"));
	assert_true(json_is(out.data, "operations[3].memory_bytes_absent",
			    "\"it did not run while memory was tracked\""));
	sl_buf_release(&out);
	r.profile.memory.tracked_bytes =
		(struct sl_reading){(double)NAN, "interrupted"};
	assert_int_equal(sl__profile_fill_live_memory(&r.profile, &arena, NULL),
			 SL_OK);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "memory.timeline_basis", "\"planned\""));
	assert_true(json_is(out.data, "operations[2].memory_bytes", "2000"));
	sl_buf_release(&out);
	out = render(&r, SL_FORMAT_TEXT, 160, 0);
	assert_has(&out,
		   "not tracked in an iteration: interrupted; the plan's");
	sl_buf_release(&out);
	r.profile.memory.n_timeline = 0;
	r.profile.memory.unplanned = "outside";
	out = render(&r, SL_FORMAT_TEXT, 160, 0);
	assert_has(&out, "live activations not known");
	sl_buf_release(&out);
	assert_int_equal(sl__profile_fill_live_memory(&r.profile, &arena, NULL),
			 SL_OK);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "memory.live_bytes", "null"));
	assert_true(json_is(out.data, "operations[0].memory_bytes_absent",
			    "\"interrupted\""));
	assert_true(json_is(out.data, "memory.path_bytes_absent",
			    "\"interrupted\""));
	sl_buf_release(&out);
	out = render(&r, SL_FORMAT_CSV, 0, 0);
	assert_has(&out, ",1000,1x16x32x32,,1,");
	sl_buf_release(&out);
	sl__arena_release(&arena);
}

static void
csv_has_a_row_for_each_operation(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	out = render(&r, SL_FORMAT_CSV, 0, 0);
	assert_int_equal(lines_of(out.data), RECORDED_OPERATIONS + 1);
	assert_has(&out, "tiny <net>,0,stage.0.conv,Conv,convolution,stage,"
			 "oneDNN,jit:avx512_core,2,1,1000,1x16x32x32,4096,1,");
	sl_buf_release(&out);
	out = render(&r, SL_FORMAT_MARKDOWN, 0, 0);
	assert_has(&out, "| stage.0.conv | Conv |");
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_every_figure),
		cmocka_unit_test(parts_are_named_and_numbered),
		cmocka_unit_test(the_machine_is_the_results),
		cmocka_unit_test(absent_work_has_a_reason),
		cmocka_unit_test(nothing_impossible_is_a_fact),
		cmocka_unit_test(untracked_memory_is_absent),
		cmocka_unit_test(csv_has_a_row_for_each_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
