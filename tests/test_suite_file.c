/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_suite_file.c - the text of a suite: defaults reach the sections, a wrong
 * word is told with its line, its column and the nearest one.
 */
#include "driver/suite_file.h"
#include "harness.h"

#include <string.h>

static struct sl__arena arena;

static enum sl_status
read_text(struct sl__suite_file *out, const char *text, struct sl_error *err)
{
	return sl__suite_file_read(out, text, strlen(text), &arena, err);
}

static void
sections_take_the_defaults(void **state)
{
	const char *text = "# all of it\n"
			   "repetitions = 7\n"
			   "  rounds=3 # each\n"
			   "variants = baseline, bf16+threads=1 ,kv,b.onnx\r\n"
			   "max-time = 5 ms\n"
			   "\n"
			   "[one]\n"
			   "model = mlp:4-2\n"
			   "[two]\n"
			   "model = a.onnx\n"
			   "variants = threads=2\n"
			   "scenarios = offline, single\n"
			   "max-time = 2us\n"
			   "max-memory = 2Mi\n"
			   "min-accuracy = 90%\n"
			   "batch = 1k";
	struct sl__suite_file f;
	const struct sl__suite_section *s;
	struct sl_error err;

	(void)state;
	if (read_text(&f, text, &err))
		fail_msg("%s", err.text);
	assert_int_equal(f.n_repetitions, 7);
	assert_int_equal(f.n_most, 7);
	assert_near(f.time_s, 0, 0);
	assert_int_equal(f.n_rounds, 3);
	assert_int_equal(f.seed, 1);
	assert_int_equal(f.n_sections, 2);
	s = &f.sections[0];
	assert_string_equal(s->name, "one");
	assert_int_equal(s->n_variants, 4);
	assert_null(s->variants[0].changes);
	assert_string_equal(s->variants[0].model, "mlp:4-2");
	assert_string_equal(s->variants[1].changes, "bf16,threads=1");
	assert_string_equal(s->variants[1].name, "bf16+threads=1");
	assert_string_equal(s->variants[2].model, "mlp:4-2@kv");
	assert_string_equal(s->variants[3].model, "b.onnx");
	assert_int_equal(s->n_scenarios, 1);
	assert_int_equal(s->scenarios[0], SL_SCENARIO_SINGLE);
	assert_true(fabs(s->limits[SL_GATE_TIME] - 5e6) < 1);
	s = &f.sections[1];
	assert_int_equal(s->n_variants, 1);
	assert_int_equal(s->n_scenarios, 2);
	assert_int_equal(s->scenarios[0], SL_SCENARIO_OFFLINE);
	assert_true(fabs(s->limits[SL_GATE_TIME] - 2e3) < 1e-6);
	assert_true(fabs(s->limits[SL_GATE_MEMORY] - 2097152) < 1e-6);
	assert_true(fabs(s->limits[SL_GATE_ACCURACY] - 0.9) < 1e-12);
	assert_true(fabs(s->batch - 1000) < 1e-9);
}

/* A number of repetitions is exact where no time is said. */
static void
time_and_repetitions_are_both_reached(void **state)
{
	static const struct {
		const char *text;
		size_t n_least, n_most;
		double time_s;
	} cases[] = {
		{"[a]\nmodel = x\n", 40, 1000, 30},
		{"time = 2s\n[a]\nmodel = x\n", 40, 1000, 2},
		{"repetitions = 3\n[a]\nmodel = x\n", 3, 3, 0},
		{"repetitions = 3\ntime = 500ms\n[a]\nmodel = x\n", 3, 1000,
		 0.5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl__suite_file f;
		struct sl_error err;

		if (read_text(&f, cases[i].text, &err))
			fail_msg("%s", err.text);
		assert_int_equal(f.n_repetitions, cases[i].n_least);
		assert_int_equal(f.n_most, cases[i].n_most);
		assert_near(f.time_s, cases[i].time_s, 1e-12);
	}
}

static void
mistakes_have_their_place(void **state)
{
	static const struct {
		const char *text, *told;
	} cases[] = {
		{"[a]\nmodel = x\nvarients = baseline\n",
		 "line 3, column 1: 'varients' is no key; did you mean "
		 "'variants'?"},
		{"[a]\n  modell = x\n",
		 "line 2, column 3: 'modell' is no key; did you mean 'model'?"},
		{"[a]\nmodel = x\nvariants = baseline, bf61\n",
		 "line 3, column 22: 'bf61' is no variant; did you mean "
		 "'bf16'?"},
		{"variants = bf16,  fuze=off\n[a]\nmodel = x\n",
		 "line 1, column 19: 'fuze=off' is no variant; did you mean "
		 "'fuse'?"},
		{"[a]\nmodel = x\nvariants = bf16, baseline, bf16\n",
		 "line 3, column 28: this variant stands twice"},
		{"[a]\nmodel = x\nscenarios = single, ofline\n",
		 "line 3, column 21: 'ofline' is no scenario; did you mean "
		 "'offline'?"},
		{"[a]\nmodel = x\nscenarios = server\n",
		 "line 3, column 13: queries of a suite come one after "
		 "another: "
		 "single, multi or offline"},
		{"model = x\n",
		 "line 1, column 1: this key stands in a section: "
		 "begin one with [name]"},
		{"[a]\nmodel = x\nrounds = 2\n",
		 "line 3, column 1: this key stands above the first section"},
		{"[a]\nmodel = x\nmax-time = 5\n",
		 "line 3, column 12: must be a time such as 5ms"},
		{"[a]\nmodel = x\nbatch = 1.5\n",
		 "line 3, column 9: must be a whole number, at least 1 and not "
		 "beyond what makes sense"},
		{"[a]\nmodel = x\nmin-accuracy = 120%\n",
		 "line 3, column 16: must be a share such as 0.9 or 90%"},
		{"", "line 1, column 1: no model: begin a section with [name] "
		     "and add 'model = resnet50'"},
		{"[a]\nmodel =\n", "line 2, column 8: a value is missing"},
		{"[a]\nmodel = x\nmodel = y\n",
		 "line 3, column 1: this key stands twice"},
		{"[a]\nmodel = x\n[a]\nmodel = y\n",
		 "line 3, column 1: this section stands twice"},
		{"[a\nmodel = x\n",
		 "line 1, column 1: must be [name], on a line of its own"},
		{"[a]\nresnet50\n",
		 "line 2, column 1: must be 'key = value' or '[name]'"},
		{"[a]\nbatch = 2\n", "line 1, column 1: the section has no "
				     "model"},
		{"\n\n", "line 2, column 1: no model: begin a section with "
			 "[name] and add 'model = resnet50'"},
	};
	struct sl__suite_file f;
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_text(&f, cases[i].text, &err), SL_E_DATA);
		assert_string_equal(err.text, cases[i].told);
	}
	assert_int_equal(sl__suite_file_read(&f, "a\0b", 3, &arena, &err),
			 SL_E_DATA);
}

/* Suites that come with the library are suites. */
static void
built_in_suites_are_read(void **state)
{
	static const char *const names[] = {"course", "edge", "example"};
	struct sl__suite_file f;
	struct sl_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (read_text(&f, sl_suite_text(names[i]), &err))
			fail_msg("%s: %s", names[i], err.text);
		assert_true(f.n_sections > 1);
	}
	assert_null(sl_suite_text("nosuch"));
}

static int
begin(void **state)
{
	(void)state;
	sl__arena_init(&arena, NULL);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	sl__arena_release(&arena);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_take_the_defaults),
		cmocka_unit_test(time_and_repetitions_are_both_reached),
		cmocka_unit_test(mistakes_have_their_place),
		cmocka_unit_test(built_in_suites_are_read),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
