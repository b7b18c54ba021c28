/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_machine.c - every format of a report on a machine is well
 * formed, holds the figures it was given, shows what is absent as absent,
 * and a machine without ceilings is no crash.
 */
#include "harness.h"
#include "reads_back.h"
#include "comma_locale.h"
#include "json_check.h"
#include "recorded_machine.h"
#include "report/roofline.h"

static struct sl_buf
render(const struct sl_machine *m, enum sl_format format, int ascii)
{
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = format,
					.ascii = ascii,
					.verbose = 1};
	struct sl_buf out = {0};
	struct sl_error err;

	assert_int_equal(sl_machine_render(m, &how, &out, &err), SL_OK);
	if (how.format == SL_FORMAT_JSON)
		assert_reads_back(&out);
	assert_non_null(out.data);
	return out;
}

static void
assert_has(const struct sl_buf *out, const char *part)
{
	if (strstr(out->data, part))
		return;
	print_error("no \"%s\" in:\n%s\n", part, out->data);
	fail();
}

static size_t
count_of(const struct sl_buf *out, const char *part)
{
	size_t n = 0;

	for (const char *at = out->data; (at = strstr(at, part)); at++)
		n++;
	return n;
}

static void
json_holds_the_figures_and_the_absences(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_buf out = render(&m, SL_FORMAT_JSON, 0);
	const char *t = out.data;

	(void)state;
	assert_true(json_valid(t));
	assert_true(json_is(t, "command", "\"machine\""));
	assert_true(json_is(t, "machine.model", "\"Test CPU <1 & 2>\""));
	assert_true(json_is(t, "machine.governor", "null"));
	assert_true(json_is(t, "machine.governor_absent",
			    "\"not available: no such file\""));
	assert_true(json_is(t, "machine.numa_nodes", "null"));
	assert_true(json_is(t, "machine.isa_shown", "\"amx\""));
	assert_true(json_is(t, "machine.isa_used", "\"avx512\""));
	assert_true(json_is(t, "machine.instruction_sets[3].isa", "\"AMX\""));
	assert_true(json_is(t, "machine.instruction_sets[3].level", "\"amx\""));
	assert_true(json_is(t, "machine.instruction_sets[3].proved", "true"));
	assert_true(json_is(t, "machine.instruction_sets[3].used", "false"));
	assert_true(json_is(t, "machine.capped[0].isa", "\"AMX\""));
	assert_true(json_is(t, "machine.capped[0].instead", "\"AVX-512\""));
	assert_true(json_is(t, "machine.capped[0].cause", "\"tiles-hidden\""));
	assert_true(json_is(t, "machine.turbo", "\"on\""));
	assert_true(json_is(t, "machine.caches[1].line_bytes", "null"));
	assert_true(json_is(t, "machine.counters[0].available", "true"));
	assert_true(json_is(t, "machine.counters[1].available", "false"));
	assert_true(json_is(t, "machine.counters[1].reason",
			    "\"the \\\"CPU\\\" does not offer it\""));
	assert_near(json_number_at(t, "machine.ceilings.peaks[2].gflops_per_s"),
		    128, 1e-9);
	assert_near(json_number_at(t, "machine.ceilings.peaks[2].ci95.lo"),
		    128 * 0.99, 1e-9);
	assert_true(json_is(t, "machine.ceilings.peaks[3].ci95", "null"));
	assert_true(json_is(t, "machine.ceilings.peaks[3].ci95_absent",
			    "\"needs n >= 36\""));
	assert_true(
		json_is(t, "machine.ceilings.peaks[4].gflops_per_s", "null"));
	assert_true(json_is(t, "machine.ceilings.peaks[4].gflops_per_s_absent",
			    "\"not exercised\""));
	assert_near(json_number_at(t, "machine.ceilings.memory[4].latency_ns"),
		    100, 0);
	assert_false(
		json_has(t, "machine.ceilings.memory[4].traffic_per_byte"));
	assert_true(json_is(t, "machine.ceilings.elapsed_ms", "11750"));
	assert_true(json_is(t, "machine.ceilings.measured_at",
			    "\"2023-11-14T22:13:20Z\""));
	assert_true(json_is(t, "roofline.threads", "2"));
	assert_near(json_number_at(t, "roofline.peak_gflops_per_s"), 128, 1e-9);
	assert_near(json_number_at(t, "roofline.bandwidth_gbytes_per_s"), 16,
		    1e-9);
	assert_near(json_number_at(t, "roofline.ridge"), 8, 1e-9);
	sl_buf_release(&out);
}

/* One section: what the CPU shows, what is used, what is not and why. */
static void
the_page_has_a_section_of_instruction_sets(void **state)
{
	static const struct sl_isa_cap caps[] = {
		{"AVX2", "SSE4", SL_ISA_TRAPPED},
		{"AVX-512", "SSE4", SL_ISA_TRAPPED},
		{"AMX", "SSE4", SL_ISA_WRONG_RESULT},
	};
	struct sl_machine m = recorded_machine();
	struct sl_buf out = render(&m, SL_FORMAT_TEXT, 0);

	(void)state;
	assert_has(&out, "Instruction sets\n");
	assert_has(&out, "CPU shows   amx: SSE4, AVX2, AVX-512, AMX\n");
	assert_has(&out, "used        avx512: SSE4, AVX2, AVX-512; each ran");
	assert_has(&out, "capped      AMX: CPUID leaf 0x1D");
	assert_has(&out, "Instead: AVX-512.");
	sl_buf_release(&out);
	m.caps = caps;
	m.n_caps = 3;
	out = render(&m, SL_FORMAT_TEXT, 0);
	assert_has(&out, "capped      AVX2, AVX-512: a trial in a child");
	assert_has(&out, "capped      AMX: a trial in a child");
	assert_has(&out, "wrong result");
	sl_buf_release(&out);
}

static void
the_page_shows_figures_reasons_and_the_drawing(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_buf out = render(&m, SL_FORMAT_TEXT, 0);

	(void)state;
	assert_has(&out, "Test CPU <1 & 2>");
	assert_has(&out, "governor      not available: no such file");
	assert_has(&out, "NUMA nodes not reported by hwloc");
	assert_has(&out, "128.0");
	assert_has(&out, "[126.7, 129.3]");
	assert_has(&out, "figures have no interval: it takes 36 probes");
	assert_true(!strstr(out.data, "needs n"));
	assert_has(&out, "bf16 with AMX-BF16: not exercised");
	assert_has(&out, "read for ownership");
	assert_has(&out, "╱");
	assert_has(&out, "above 8.0 FLOP/B");
	sl_buf_release(&out);
}

static void
ascii_means_ascii(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_buf out = render(&m, SL_FORMAT_TEXT, 1);

	(void)state;
	for (size_t i = 0; i < out.n_bytes; i++)
		assert_in_range((unsigned char)out.data[i], 1, 126);
	assert_has(&out, "/");
	sl_buf_release(&out);
}

static void
every_csv_line_has_as_many_fields(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_buf out = render(&m, SL_FORMAT_CSV, 0);
	size_t n_commas = 0, n_lines = 0;

	(void)state;
	for (size_t i = 0; i < out.n_bytes; i++) {
		n_commas += out.data[i] == ',';
		if (out.data[i] != '\n')
			continue;
		assert_int_equal(n_commas, 12);
		n_commas = 0;
		n_lines++;
	}
	assert_int_equal(n_lines, 1 + m.n_peaks + m.n_levels + m.n_points);
	assert_has(&out, "peak,f32,AVX2,256,2,,,op/s,128000000000,");
	assert_has(&out, ",not exercised\n");
	sl_buf_release(&out);
}

/* Each tag that opens also closes, and nothing outside the file is asked. */
static void
the_svg_is_whole_and_stands_alone(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_buf out = render(&m, SL_FORMAT_SVG, 0);

	(void)state;
	assert_has(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
	assert_has(&out, "Test CPU &lt;1 &amp; 2&gt;, 2 threads");
	assert_has(&out, "class=\"line k0\" fill=\"none\" stroke-width=\"1.6\" "
			 "stroke=\"#0072b2\"");
	assert_has(&out, ">f32 128 Gop/s</text>");
	assert_has(&out, ">int8 123 Gop/s</text>");
	assert_has(&out, ">DRAM 16.0 GB/s</text>");
	assert_has(&out, ">L1 200 GB/s</text>");
	assert_int_equal(count_of(&out, "<text"), count_of(&out, "</text>"));
	assert_int_equal(count_of(&out, "<line"),
			 count_of(&out, "</line>") +
				 count_of(&out, "<line class=\"grid\""));
	assert_int_equal(count_of(&out, "<g"), count_of(&out, "</g>"));
	assert_int_equal(count_of(&out, "<svg"), 1);
	assert_int_equal(count_of(&out, "</svg>\n"), 1);
	assert_int_equal(count_of(&out, "<script"), 0);
	assert_int_equal(count_of(&out, "href"), 0);
	assert_int_equal(count_of(&out, "nan"), 0);
	sl_buf_release(&out);
}

/* Coordinates and columns are the same where people write 1,5. */
static void
a_locale_with_a_comma_changes_no_number(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_buf plain = render(&m, SL_FORMAT_CSV, 0), csv, svg;

	(void)state;
	if (!comma_locale_begin()) {
		sl_buf_release(&plain);
		skip();
	}
	csv = render(&m, SL_FORMAT_CSV, 0);
	svg = render(&m, SL_FORMAT_SVG, 0);
	comma_locale_end();
	assert_string_equal(csv.data, plain.data);
	assert_has(&svg, "x1=\"84\"");
	assert_has(&svg, "x=\"602.4\"");
	for (const char *at = svg.data; (at = strstr(at, "=\"")); at++)
		assert_true(strcspn(at + 2, ",") > strcspn(at + 2, "\""));
	sl_buf_release(&plain);
	sl_buf_release(&csv);
	sl_buf_release(&svg);
}

static void
a_roofline_has_its_ridge_where_it_must(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl__roofline r;

	(void)state;
	assert_int_equal(sl__roofline_of_machine(&r, &m, 2), 1);
	assert_int_equal(r.n_peaks, 2);
	assert_string_equal(r.peaks[0].name, "f32");
	assert_string_equal(sl__roofline_lowest_slope(&r)->name, "DRAM");
	/* Every ridge, peak / slope, lies inside the window. */
	assert_true(r.x_lo < log2(123.456e9 / 200e9));
	assert_true(r.x_hi > log2(128e9 / 16e9));
	assert_true(r.y_hi > log2(128e9));
}

static void
a_machine_without_ceilings_says_so(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_SVG};
	struct sl_buf out = {0};
	struct sl_error err;

	(void)state;
	m.n_peaks = m.n_levels = m.n_points = 0;
	assert_int_equal(sl_machine_render(&m, &how, &out, &err), SL_E_ABSENT);
	out = render(&m, SL_FORMAT_TEXT, 0);
	assert_has(&out, "absent: no peak or no level of memory");
	sl_buf_release(&out);
	out = render(&m, SL_FORMAT_JSON, 0);
	assert_true(json_valid(out.data));
	assert_true(json_is(out.data, "roofline.ridge", "null"));
	sl_buf_release(&out);
	out = render(&m, SL_FORMAT_MARKDOWN, 0);
	sl_buf_release(&out);
}

static void
other_formats_are_refused(void **state)
{
	struct sl_machine m = recorded_machine();
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_HYPERFINE};
	struct sl_buf out = {0};
	struct sl_error err;

	(void)state;
	assert_int_equal(sl_machine_render(&m, &how, &out, &err), SL_E_USAGE);
	how.struct_size = 1;
	assert_int_equal(sl_machine_render(&m, &how, &out, &err), SL_E_USAGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_holds_the_figures_and_the_absences),
		cmocka_unit_test(the_page_has_a_section_of_instruction_sets),
		cmocka_unit_test(
			the_page_shows_figures_reasons_and_the_drawing),
		cmocka_unit_test(ascii_means_ascii),
		cmocka_unit_test(every_csv_line_has_as_many_fields),
		cmocka_unit_test(the_svg_is_whole_and_stands_alone),
		cmocka_unit_test(a_locale_with_a_comma_changes_no_number),
		cmocka_unit_test(a_roofline_has_its_ridge_where_it_must),
		cmocka_unit_test(a_machine_without_ceilings_says_so),
		cmocka_unit_test(other_formats_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
