/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_profile.c - a profile made by hand appears on a page with
 * the figures it was given: a screen at 80 columns, no line wider than any
 * terminal, and what is absent said to be.
 */
#include "harness.h"
#include "json_check.h"
#include "page_width.h"
#include "reads_back.h"
#include "rendered_profile.h"

static void
pages_fit_the_terminal(void **state)
{
	static const size_t widths[] = {40, 60, 80, 120, 200};
	struct recorded_profile r;

	(void)state;
	record_profile(&r);
	r.operations[3].name = "a/\xff\033[31m|`x`/\xd1\x81\xd0\xbb\xd0\xbe";
	r.operations[4].name =
		"an_endless_name_without_a_dot_an_endless_name_without_a_dot_"
		"an_endless_name_without_a_dot_an_endless_name_without_a_dot_"
		"an_endless_name_without_a_dot_an_endless_name_without_a_dot";
	for (size_t i = 0; i < 2 * sizeof(widths) / sizeof(*widths); i++) {
		struct sl_buf out =
			render(&r, SL_FORMAT_TEXT, widths[i / 2], i % 2);

		if (width_of(out.data) > widths[i / 2])
			fail_msg("%zu columns:\n%s", widths[i / 2], out.data);
		assert_has(&out, "compute-bound");
		assert_has_not(&out, "nan");
		assert_has_not(&out, "\033");
		assert_has_not(&out, "\xff");
		assert_has_not(&out, " \n");
		sl_buf_release(&out);
	}
}

/* The answer comes first, and all of it is on one screen. */
static void
one_screen_holds_every_section(void **state)
{
	static const char *const parts[] = {
		"folder/tiny.onnx",
		"batch 1, f32 on 2 threads; 48 nodes in 24 operations",
		"median 25.0 ms, 95 % [24.5, 25.5]; 40.0 samples/s, 19.2 "
		"GFLOP/s",
		"p90 27.0 ms, p95 28.0 ms, no p99: 100 measured, 368 needed",
		"100 iterations after 3 of warm-up, 5 of 100 measurements",
		"compute-bound, confidence 0.75; of the time 91 % compute, 5 %",
		"2 MB reserved, but its parts are 1 MB: a mistake",
		"20 of 24 operations account for 80 %; top 10 shown",
		"stage.0.conv  Conv",
		"14 others",
		"convolution 91.7 % (22 ops), head 8.3 % (2 ops)",
		"mean 25.00 ms = 24.00 operations + 0.50 gaps + 0.25 recording",
		"(1 %: adds up within 2 %)",
		"peak RSS 1.01 MB",
		"efficiency 0.70",
		"kernels execute 19.2 GFLOP/s of 40.0 GFLOP/s peak, move 960 "
		"MB/s",
		"at peak rates: arithmetic 48 % of the time, data movement 9.6 "
		"%",
		"20 FLOP/B, ridge at 4; lower bound 12.50 ms, 2.00 × "
		"as fast",
		"9.50 [9.25, 9.75]",
		"-: no time for it",
		"Compute convolutions and matmuls in bf16: at most 1.90 ×",
		"sleuth profile tiny.onnx --dtype bf16",
		"beside a bandwidth hog: not permitted",
	};
	struct recorded_profile r;
	struct sl_buf out;
	const char *at;

	(void)state;
	record_profile(&r);
	out = render(&r, SL_FORMAT_TEXT, 80, 0);
	at = out.data;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *found = strstr(at, parts[i]);

		if (!found)
			fail_msg("no \"%s\" in its place in:\n%s", parts[i],
				 out.data);
		at = found;
	}
	assert_in_range(lines_of(out.data), 30, 46);
	sl_buf_release(&out);
}

static void
all_is_shown_where_it_is_asked_for(void **state)
{
	struct sl_profile_view view = {
		.struct_size = sizeof(view), .n_top = 3, .explain = 1};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	out = render(&r, SL_FORMAT_TEXT, 200, 1);
	assert_has(&out, "jit:avx512_core");
	assert_has(&out, "What bounds the operations");
	assert_has(&out, "not seen");
	assert_has(&out, "over time");
	assert_has(&out, "the plan's bound for activations");
	assert_has(&out, "of that, oneDNN's");
	assert_has_not(&out, "14 others");
	sl_buf_release(&out);
	out = render_view(&r, SL_FORMAT_TEXT, 80, 0, &view);
	assert_has(&out, "21 others");
	assert_has(&out, "Latency is the median time");
	assert_has(&out, "ridge point, ");
	assert_has(&out, "from empty caches");
	sl_buf_release(&out);
	r.profile.n_hot = 0;
	out = render_view(&r, SL_FORMAT_TEXT, 80, 0, &view);
	assert_has_not(&out, "(0 of");
	assert_has(&out, "stays open");
	sl_buf_release(&out);
}

static void
tables_group_and_add_up(void **state)
{
	struct sl_profile_view view = {.struct_size = sizeof(view),
				       .by = SL_PROFILE_BY_PART};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	out = render_view(&r, SL_FORMAT_TEXT, 80, 0, &view);
	assert_has(&out, "convolution   22  22.000  91.7%");
	sl_buf_release(&out);
	/* Modules are cut at so many parts, and one without is named so. */
	r.operations[0].module = "a/b.0/c";
	r.operations[0].core_flops = 40000000;
	r.operations[1].module = "a/b.0/d";
	r.operations[1].n_calls = 0.5;
	r.operations[2].module = "";
	view.by = SL_PROFILE_BY_MODULE;
	view.depth = 2;
	out = render_view(&r, SL_FORMAT_TEXT, 80, 0, &view);
	assert_has(&out, "stage         19  19.000  79.2%");
	assert_has(&out, "share  GFLOP/s");
	/* Of 40 and 20 million operations half of the second's, in 2 ms: those
	 * that the model asks for, as in the table of operations. */
	assert_has(&out, "a/b.0          2   2.000   8.3%     25.0");
	assert_has(&out, "(no module)    1   1.000   4.2%");
	sl_buf_release(&out);
}

/* What nobody measured has a reason in its place, and no row of dashes. */
static void
absence_is_said(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	r.profile.ceilings = (struct sl_ceilings){.absent = "not asked for"};
	r.profile.rates.compute_efficiency = (double)NAN;
	r.profile.rates.bandwidth_efficiency = (double)NAN;
	r.profile.rates.bound_ns = (double)NAN;
	r.profile.ledger = (struct sl_ledger){.absent = "nothing recorded"};
	r.profile.verdict = (struct sl_finding){0};
	r.profile.n_amdahl = r.profile.n_advice = r.profile.n_impossible = 0;
	r.profile.stopped_by = SL_STOP_INTERRUPT;
	for (size_t i = 0; i < RECORDED_OPERATIONS; i++) {
		r.operations[i].ceiling_share = (double)NAN;
		r.operations[i].bound_ns = (double)NAN;
		r.operations[i].level = r.operations[i].roof = SL_LEVEL_NONE;
		r.operations[i].judgement = (struct sl_judgement){0};
	}
	out = render(&r, SL_FORMAT_TEXT, 80, 0);
	assert_has(&out, "none: not asked for");
	assert_has(&out, "none: nothing recorded");
	assert_has(&out, "not asked: no experiments were made");
	assert_has(&out, "interrupted");
	assert_has_not(&out, "nan");
	assert_has_not(&out, "roof  bound");
	sl_buf_release(&out);
	out = render(&r, SL_FORMAT_JSON, 0, 0);
	assert_true(json_is(out.data, "roofline.ridge", "null"));
	assert_true(json_is(out.data, "roofline.ridge_absent",
			    "\"not asked for\""));
	assert_true(json_is(out.data, "rates.bound_ms", "null"));
	assert_true(json_is(out.data, "ledger.wall_ms_absent",
			    "\"nothing recorded\""));
	assert_true(json_is(out.data, "operations[0].bound", "\"unknown\""));
	assert_true(json_is(out.data, "operations[0].level", "null"));
	assert_true(json_is(out.data, "stopped_by", "\"interrupt\""));
	sl_buf_release(&out);
}

static void
several_stand_side_by_side(void **state)
{
	struct sl_render_options how = {.struct_size = sizeof(how)};
	struct sl_profile_view odd = {.struct_size = 1};
	struct recorded_profile a, b;
	const struct sl_profile *both[] = {&a.profile, &b.profile};
	struct sl_buf out = {0};
	struct sl_error err;

	(void)state;
	record_profile(&a);
	record_profile(&b);
	b.profile.source = "other/model.onnx";
	b.profile.verdict.bottleneck = SL_BOTTLENECK_MEMORY;
	b.profile.ledger.is_closed = 0;
	assert_int_equal(sl_profile_render(both, 2, NULL, &how, &out, &err), 0);
	assert_has(&out, "2 models");
	assert_has(&out, "b^1 s^1.34");
	/* The plan's 4096 and 4400 bytes: not what the process grew by. */
	assert_has(&out, "8.50 kB");
	assert_has_not(&out, "1.01 MB");
	assert_has(&out, "other/model.onnx: 92 % of the time is convolution");
	assert_has(&out, "memory-bound (0.75)");
	assert_has(&out, "times do not add up");
	assert_in_range(width_of(out.data), 60, 80);
	sl_buf_release(&out);
	how.format = SL_FORMAT_JSON;
	assert_int_equal(sl_profile_render(both, 2, NULL, &how, &out, &err), 0);
	assert_true(json_valid(out.data));
	assert_reads_back(&out);
	assert_true(json_is(out.data, "results[1].verdict.bottleneck",
			    "\"memory\""));
	sl_buf_release(&out);
	assert_int_equal(sl_profile_render(both, 2, &odd, &how, &out, &err),
			 SL_E_USAGE);
	assert_int_equal(sl_profile_render(both, 0, NULL, &how, &out, &err),
			 SL_E_USAGE);
	how.format = SL_FORMAT_HYPERFINE;
	assert_int_equal(sl_profile_render(both, 1, NULL, &how, &out, &err),
			 SL_E_USAGE);
	sl_buf_release(&out);
}

/* Where others disturbed most iterations, that is said near the top. */
static void
a_disturbed_run_says_so(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	r.profile.noise.n_slots = 10;
	r.profile.noise.n_disturbed = 5;
	out = render(&r, SL_FORMAT_TEXT, 200, 0);
	assert_has(&out, "5 of 10 measurements disturbed");
	assert_has_not(&out, "upper bound");
	sl_buf_release(&out);
	r.profile.noise.n_disturbed = 6;
	for (int verbose = 0; verbose < 2; verbose++) {
		out = render(&r, SL_FORMAT_TEXT, 200, verbose);
		assert_has(&out,
			   "other processes disturbed 6 of 10 "
			   "measurements; the latency includes them and "
			   "is an upper bound: repeat on an idle machine");
		assert_true(strstr(out.data, "upper bound") <
			    strstr(out.data, "verdict"));
		sl_buf_release(&out);
	}
}

/* Nothing but times, time accounting and memory was asked for. */
static void
brief_is_brief(void **state)
{
	static const char *const gone[] = {"verdict", "roofline",
					   "If one thing were faster",
					   "What would help", "not asked for"};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	r.profile.ceilings = (struct sl_ceilings){.absent = "not asked for"};
	r.profile.verdict = (struct sl_finding){0};
	r.profile.n_hot = r.profile.n_advice = 0;
	out = render(&r, SL_FORMAT_TEXT, 80, 0);
	for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++)
		assert_has_not(&out, gone[i]);
	assert_has(&out, "latency");
	assert_has(&out, "accounting");
	assert_has(&out, "memory");
	sl_buf_release(&out);
}

/* Long names of one kind stay apart, and advice does not spell them out. */
static void
long_names_are_told_apart(void **state)
{
	static const char *const names[] = {
		"a/b/c/d/e/f/g/encoder/layer_._3/attention/self/query/Mul_add",
		"a/b/c/d/e/f/g/encoder/layer_._11/attention/self/query/Mul_add",
	};
	struct sl_advice advice = {
		.what = {SL_FACT_PRUNE, {1000}, {names[0], "MatMul"}},
		.most = 2,
		.basis = {SL_FACT_PASS_SHARE, {1, 0.5, (double)NAN}, {NULL}},
		.trial = {.action = SL_TRIAL_LAYER, .layer = "x_y"}};
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	for (size_t i = 0; i < 2; i++)
		r.operations[r.profile.by_time[i]].name = names[i];
	r.profile.request.model = "a_b.onnx";
	r.profile.advice = &advice;
	r.profile.n_advice = 1;
	out = render(&r, SL_FORMAT_TEXT, 80, 0);
	assert_has(&out, "_3/");
	assert_has(&out, "_11/");
	assert_has_not(&out, "attention/self/query/Mul_add'");
	sl_buf_release(&out);
	out = render(&r, SL_FORMAT_TEXT, 200, 1);
	assert_has(&out, "layer_._3/attention/self/query/Mul_add' (MatMul, 1 k "
			 "parameters)");
	sl_buf_release(&out);
	/* Copied from the file it works: nothing in it is escaped. */
	out = render(&r, SL_FORMAT_MARKDOWN, 80, 0);
	assert_has(&out, "`sleuth profile a_b.onnx --layer x_y`");
	sl_buf_release(&out);
}

/* As many as were asked for, though not all of them are kept. */
static void
counts_are_those_of_the_run(void **state)
{
	struct recorded_profile r;
	struct sl_buf out;

	(void)state;
	record_profile(&r);
	r.profile.calls_per_sample = 443;
	r.profile.sample_stride = 2;
	r.profile.n_timed = 100000 * 443;
	r.profile.latency.n = 50000;
	r.profile.latency.n_warmup = 0;
	out = render(&r, SL_FORMAT_TEXT, 200, 0);
	assert_has(&out, "100000 samples of 443 iterations, every 2nd kept");
	sl_buf_release(&out);
	r.profile.latency.n_warmup = 3;
	out = render(&r, SL_FORMAT_TEXT, 200, 0);
	assert_has(&out,
		   "99994 samples of 443 iterations, every 2nd kept after 6 "
		   "of warm-up");
	sl_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_fit_the_terminal),
		cmocka_unit_test(one_screen_holds_every_section),
		cmocka_unit_test(all_is_shown_where_it_is_asked_for),
		cmocka_unit_test(tables_group_and_add_up),
		cmocka_unit_test(absence_is_said),
		cmocka_unit_test(several_stand_side_by_side),
		cmocka_unit_test(a_disturbed_run_says_so),
		cmocka_unit_test(brief_is_brief),
		cmocka_unit_test(long_names_are_told_apart),
		cmocka_unit_test(counts_are_those_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
