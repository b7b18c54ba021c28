/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_report_run.c - a run made by hand appears in every format with the
 * figures it was given: pages fit the terminal, JSON is sound and says what is
 * absent, CSV has a row for each step; and names that no byte can break.
 */
#include "harness.h"
#include "reads_back.h"
#include "json_check.h"
#include "sleuth.h"
#include "page_width.h"

enum { N_STEPS = 12 };

struct planted {
	struct sl_run run;
	struct sl_step steps[N_STEPS];
	struct sl_run_output outputs[3];
};

static const int64_t dims[] = {1, 1000};
static const size_t covers[] = {4, 5};

static void
plant(struct planted *p)
{
	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < N_STEPS; i++)
		p->steps[i] = (struct sl_step){
			.name = "stage/conv_1",
			.type = "Conv",
			.kernel = "jit:avx512_core",
			.path = i < 8 ? SL_PATH_DNNL : SL_PATH_REFERENCE,
			.covers = covers,
			.n_covers = 2,
			.nominal_flops = 236027904,
			.executed_flops = 104901290,
			.n_bytes = 123457};
	p->steps[0].path = SL_PATH_NATIVE;
	p->steps[11].path = SL_PATH_STEPWISE;
	p->steps[11].name = "a \"b\", | \xff\033[31m";
	p->outputs[0] = (struct sl_run_output){.name = "scores",
					       .dtype = SL_DTYPE_F32,
					       .rank = 2,
					       .dims = dims,
					       .n_elements = 1000,
					       .min = -1.5,
					       .max = 12.25,
					       .mean = 0.125,
					       .rule = SL_CHECK_LARGEST,
					       .error = 3e-6,
					       .limit = 1e-4,
					       .largest_error = 3.7e-5,
					       .worst = 17,
					       .is_ok = 1};
	p->outputs[1] = (struct sl_run_output){.name = "list",
					       .n_elements = 3,
					       .min = (double)NAN,
					       .max = (double)NAN,
					       .mean = (double)NAN,
					       .error = (double)NAN,
					       .why = "is no tensor"};
	p->outputs[2] = p->outputs[0];
	p->outputs[2].name = "odd";
	p->outputs[2].max = (double)INFINITY;
	p->outputs[2].mean = (double)NAN;
	p->outputs[2].n_nan = 4;
	p->outputs[2].error = (double)INFINITY;
	p->outputs[2].is_ok = 0;
	p->run = (struct sl_run){.name = "model",
				 .source = "models/model.onnx",
				 .seed = 7,
				 .n_threads = 2,
				 .dtype = SL_DTYPE_BF16,
				 .plan_ns = 12.5e6,
				 .run_ns = 3.25e6,
				 .memory = {1000, 1064, 5000, 6000},
				 .steps = p->steps,
				 .n_steps = N_STEPS,
				 .n_reference = 4,
				 .outputs = p->outputs,
				 .n_outputs = 3,
				 .is_checked = 1};
}

static struct sl_buf
render(const struct planted *p, enum sl_format format, size_t n_columns,
       int verbose)
{
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = format,
					.n_columns = n_columns,
					.verbose = verbose};
	struct sl_buf out = {0};
	struct sl_error err;

	if (sl_run_render(&p->run, &how, &out, &err))
		fail_msg("%s", err.text);
	assert_non_null(out.data);
	if (format == SL_FORMAT_JSON)
		assert_reads_back(&out);
	return out;
}

static void
assert_has(const struct sl_buf *out, const char *part)
{
	if (!strstr(out->data, part)) {
		print_error("no \"%s\" in:\n%s\n", part, out->data);
		fail();
	}
}

static void
assert_has_not(const struct sl_buf *out, const char *part)
{
	if (strstr(out->data, part)) {
		print_error("\"%s\" in:\n%s\n", part, out->data);
		fail();
	}
}

static void
pages_fit_the_terminal(void **state)
{
	static const size_t widths[] = {80, 40, 120};
	struct planted p;

	(void)state;
	plant(&p);
	for (size_t i = 0; i < 3; i++) {
		for (int verbose = 0; verbose <= 1; verbose++) {
			struct sl_buf out =
				render(&p, SL_FORMAT_TEXT, widths[i], verbose);

			if (width_of(out.data) > widths[i])
				fail_msg("%zu columns:\n%s", widths[i],
					 out.data);
			assert_has(&out, "scores");
			assert_has(&out, "differs");
			assert_has(&out, "Outputs differ");
			assert_has_not(&out, "\033");
			assert_has_not(&out, "\xff");
			sl_buf_release(&out);
		}
	}
}

static void
pages_say_what_was_run(void **state)
{
	struct planted p;
	struct sl_buf out;

	(void)state;
	plant(&p);
	out = render(&p, SL_FORMAT_TEXT, 100, 0);
	assert_has(&out, "synthetic, seed 7");
	assert_has(&out, "bf16 on 2 threads");
	assert_has(&out, "12: 7 oneDNN, 1 native, 3 reference, 1 stepwise");
	assert_has(&out, "1x1000");
	assert_has(&out, "sequence");
	assert_has(&out, "12.25");
	assert_has(&out, "is no tensor");
	assert_has(&out, "Steps on slow paths");
	assert_has_not(&out, "nan");
	assert_has_not(&out, "jit:avx512_core");
	sl_buf_release(&out);
	out = render(&p, SL_FORMAT_TEXT, 160, 1);
	assert_has(&out, "jit:avx512_core");
	assert_has(&out, "236");
	assert_has_not(&out, "Steps on slow paths");
	sl_buf_release(&out);
	p.run.seed = 0;
	p.run.n_threads = 1;
	p.run.is_ok = 1;
	p.run.n_reference = 0;
	out = render(&p, SL_FORMAT_TEXT, 100, 0);
	assert_has(&out, "as given");
	assert_has(&out, "1 thread\n");
	assert_has(&out, "All outputs agree");
	assert_has_not(&out, "Steps on slow paths");
	sl_buf_release(&out);
}

/* More slow steps than fit on a screen are counted. */
static void
slow_steps_are_counted(void **state)
{
	struct planted p;
	struct sl_buf out;

	(void)state;
	plant(&p);
	for (size_t i = 0; i < N_STEPS; i++)
		p.steps[i].path = SL_PATH_REFERENCE;
	p.run.n_reference = N_STEPS;
	out = render(&p, SL_FORMAT_TEXT, 80, 0);
	assert_has(&out, "and 6 more");
	sl_buf_release(&out);
}

static void
json_has_every_figure(void **state)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{"command", "\"run\""},
		{"model.name", "\"model\""},
		{"model.source", "\"models/model.onnx\""},
		{"seed", "7"},
		{"plan.dtype", "\"bf16\""},
		{"plan.threads", "2"},
		{"plan.plan_ms", "12.5"},
		{"plan.run_ms", "3.25"},
		{"plan.reference_steps", "4"},
		{"plan.steps[0].path", "\"native\""},
		{"plan.steps[11].path", "\"stepwise\""},
		{"plan.steps[1].kernel", "\"jit:avx512_core\""},
		{"plan.steps[1].covers[1]", "5"},
		{"plan.steps[1].nominal_flops", "236027904"},
		{"plan.steps[1].executed_flops", "104901290"},
		{"plan.steps[1].bytes", "123457"},
		{"memory.live_bytes", "1000"},
		{"memory.planned_bytes", "1064"},
		{"memory.packed_bytes", "5000"},
		{"memory.mapped_bytes", "6000"},
		{"outputs[0].dtype", "\"f32\""},
		{"outputs[0].shape[1]", "1000"},
		{"outputs[0].elements", "1000"},
		{"outputs[0].min", "-1.5"},
		{"outputs[0].mean", "0.125"},
		{"outputs[1].min", "null"},
		{"outputs[1].elements", "3"},
		{"outputs[2].nan", "4"},
		{"outputs[2].min", "-1.5"},
		{"outputs[2].max", "null"},
		{"outputs[2].max_absent", "\"infinite\""},
		{"outputs[2].mean", "null"},
		{"outputs[2].mean_absent", "\"infinite and -infinite\""},
		{"outputs[1].mean_absent", "\"no numbers\""},
		{"check.ok", "false"},
		{"check.tolerance", "null"},
		{"check.outputs[0].ok", "true"},
		{"check.outputs[0].worst_element", "17"},
		{"check.outputs[1].error", "null"},
		{"check.outputs[1].error_absent", "\"is no tensor\""},
		{"check.outputs[1].limit", "null"},
		{"check.outputs[1].limit_absent", "\"is no tensor\""},
		{"check.outputs[1].largest_error", "null"},
		{"check.outputs[1].worst_element", "null"},
		{"check.outputs[1].worst_element_absent", "\"is no tensor\""},
		{"check.outputs[1].why", "\"is no tensor\""},
		{"check.outputs[2].error_absent", "\"infinite\""},
	};
	struct planted p;
	struct sl_buf out;

	(void)state;
	plant(&p);
	out = render(&p, SL_FORMAT_JSON, 0, 0);
	assert_true(json_valid(out.data));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(json_is(out.data, rows[i].path, rows[i].text));
	assert_near(json_number_at(out.data, "check.outputs[0].error"), 3e-6,
		    1e-20);
	sl_buf_release(&out);
	p.run.is_checked = 0;
	p.run.seed = 0;
	out = render(&p, SL_FORMAT_JSON, 0, 0);
	assert_true(json_valid(out.data));
	assert_false(json_has(out.data, "check"));
	assert_true(json_is(out.data, "seed", "null"));
	assert_true(json_has(out.data, "seed_absent"));
	sl_buf_release(&out);
}

static void
csv_has_a_row_for_each_step(void **state)
{
	struct planted p;
	struct sl_buf out;
	size_t n_lines = 0;

	(void)state;
	plant(&p);
	out = render(&p, SL_FORMAT_CSV, 0, 0);
	for (const char *c = out.data; *c; c++)
		n_lines += *c == '\n';
	assert_int_equal(n_lines, N_STEPS + 1);
	assert_has(&out, "model,step,type,path,kernel,covers,nominal_flops,"
			 "executed_flops,bytes\n");
	assert_has(&out, "model,stage/conv_1,Conv,native,jit:avx512_core,2,"
			 "236027904,104901290,123457\n");
	assert_has(&out, "\"a \"\"b\"\", |"); /* quoted where it must be */
	sl_buf_release(&out);
}

static void
markdown_is_written_svg_is_not(void **state)
{
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = SL_FORMAT_SVG};
	struct sl_buf out = {0};
	struct sl_error err;
	struct planted p;

	(void)state;
	plant(&p);
	assert_int_equal(sl_run_render(&p.run, &how, &out, &err), SL_E_USAGE);
	sl_buf_release(&out);
	out = render(&p, SL_FORMAT_MARKDOWN, 0, 1);
	assert_has(&out, "| **scores**");
	sl_buf_release(&out);
}

/* A model without nodes whose outputs are its inputs. */
static void
nothing_is_no_crash(void **state)
{
	static const enum sl_format formats[] = {SL_FORMAT_TEXT, SL_FORMAT_JSON,
						 SL_FORMAT_CSV,
						 SL_FORMAT_MARKDOWN};
	struct planted p = {.run = {.name = "", .source = ""}};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct sl_buf out = render(&p, formats[i], 0, 1);

		if (formats[i] == SL_FORMAT_JSON)
			assert_true(json_valid(out.data));
		sl_buf_release(&out);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_fit_the_terminal),
		cmocka_unit_test(pages_say_what_was_run),
		cmocka_unit_test(slow_steps_are_counted),
		cmocka_unit_test(json_has_every_figure),
		cmocka_unit_test(csv_has_a_row_for_each_step),
		cmocka_unit_test(markdown_is_written_svg_is_not),
		cmocka_unit_test(nothing_is_no_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
