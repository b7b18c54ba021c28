/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_choice_evidence.c - proves that a choice whose step takes much longer in
 * every recorded run than when it was measured is measured again by the next
 * plan, twice at most; that one slow run is not enough, and that nothing is where
 * most steps are slow.  Steps take as long as a scripted clock says.
 */
#include "choice_folder.h"
#include "conv_graph.h"
#include "needs_dnnl.h"
#include "scripted.h"
#include "engine/choice_evidence.h"
#include "engine/dnnl_choice.h"

enum { MS = 1000000, STAMPS = 64 };

/* One step, which takes as long as each reading of the clock. */
static void
much_longer_every_time(void **state)
{
	static const struct {
		uint64_t expected_ns;
		uint64_t step_ns[6];
		int n, is_contradicted;
	} rows[] = {
		{MS, {2 * MS, 2 * MS, 2 * MS, 2 * MS, 2 * MS}, 5, 1},
		/* Too few; one as expected; not much longer. */
		{MS, {2 * MS, 2 * MS, 2 * MS, 2 * MS}, 4, 0},
		{MS, {2 * MS, 2 * MS, 2 * MS, MS, 2 * MS, 2 * MS}, 6, 0},
		{MS, {MS * 3 / 2, 2 * MS, 2 * MS, 2 * MS, 2 * MS}, 5, 0},
		/* Three times as long, but nobody feels it. */
		{1000, {3000, 3000, 3000, 3000, 3000}, 5, 0},
		{1000, {30000, 30000, 30000, 30000, 30000}, 5, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl__choice_evidence e = {"conv", rows[i].expected_ns,
						UINT64_MAX};
		struct sl__step step = {.evidence = &e};
		struct sl__program program = {.steps = &step, .n_steps = 1};
		const struct sl_clock clock = {0};

		for (int k = 0; k < rows[i].n; k++) {
			struct sl__timestamp stamps[2] = {
				{5, 0, 1},
				{5 + rows[i].step_ns[k], SL__NONE, 1}};
			struct sl__event_buffer events = {.stamps = stamps,
							  .n_stamps = 2,
							  .clock = &clock};

			sl__choice_evidence_note(&program, &events);
		}
		assert_int_equal(sl__choice_is_contradicted(&program, &e),
				 rows[i].is_contradicted);
	}
}

/* Where most steps are slower than expected, it is the machine. */
static void
most_are_slow(void **state)
{
	struct sl__choice_evidence e[3] = {
		{"a", MS, MS * 5 / 4}, {"b", MS, MS * 2}, {"c", MS, MS * 2}};
	struct sl__step steps[4] = {{.evidence = &e[0]},
				    {.evidence = &e[1]},
				    {.evidence = NULL},
				    {.evidence = &e[2]}};
	struct sl__program program = {.steps = steps, .n_steps = 3};

	(void)state;
	assert_false(sl__choice_runs_are_slow(&program));
	program.n_steps = 4;
	assert_true(sl__choice_runs_are_slow(&program));
	/* One alone is compared with nothing. */
	program.steps = &steps[1];
	program.n_steps = 1;
	assert_false(sl__choice_runs_are_slow(&program));
}

static void
open_table(struct sl__choices **out, const struct folder *f)
{
	struct sl_plan_options options = {.n_threads = 1,
					  .cache_folder = f->path};
	struct sl_error err = {0};

	assert_int_equal(sl__choices_new(out, &options, &err), SL_OK);
}

/* Rows as if all had been measured on a still machine. */
static void
calm(const struct folder *f)
{
	struct sl__choices *c;

	open_table(&c, f);
	for (size_t i = 0; i < c->n; i++)
		c->rows[i].n_loaded = 0;
	c->is_changed = 1;
	sl__choices_save(c);
	sl__choices_free(c);
}

/* What a table holds: doubtful rows, and how often its rows were contradicted. */
struct doubts {
	size_t n_rows, n_doubtful, n_contradicted, most_contradicted;
};

static struct doubts
read_doubts(const struct folder *f)
{
	struct doubts d = {0};
	struct sl__choices *c;

	open_table(&c, f);
	assert_true(c->n > 0);
	d.n_rows = c->n;
	for (size_t i = 0; i < c->n; i++) {
		size_t n = c->rows[i].n_contradicted;

		d.n_doubtful += c->rows[i].n_loaded > 0;
		d.n_contradicted += n;
		if (n > d.most_contradicted)
			d.most_contradicted = n;
	}
	sl__choices_free(c);
	return d;
}

/* Plans, records runs whose steps take so long, and frees the plan. */
static void
run_slowly(const struct folder *f, uint64_t step_ns)
{
	static const char line[] = "Conv 11 (f32[1,32,14,14], f32[32,32,3,3], "
				   "f32[32]) pads=[1,1,1,1]";
	struct sl_plan_options options = {.struct_size = sizeof(options),
					  .n_threads = 1,
					  .cache_folder = f->path};
	struct engine_case c = {.text = line};
	struct sl_graph *graph = conv_graph(line, 2, NULL, 0, NULL);
	struct scripted_instruments script;
	struct sl__timestamp stamps[STAMPS];
	struct sl__event_buffer events = {.stamps = stamps, .cap = STAMPS};
	struct sl_plan *plan;
	struct sl_error err;

	script_instruments(&script, step_ns);
	events.clock = script.with.clock;
	assert_int_equal(sl_plan_new(&plan, graph, &options, &err), SL_OK);
	calm(f);
	engine_case_fill(plan, &c);
	for (int i = 0; i < 6; i++)
		assert_int_equal(sl__plan_record(plan, &events, &err), SL_OK);
	sl_plan_free(plan);
	sl_graph_free(graph);
}

/* One layout of the convolution runs, which of them is for the machine to say:
 * its row is doubted, and no row more than twice. */
static void
measured_again_by_the_next_plan(void **state)
{
	struct doubts before, after;
	struct folder f;

	(void)state;
	needs_dnnl();
	folder_new(&f);
	run_slowly(&f, 1);
	before = read_doubts(&f);
	assert_int_equal(before.n_doubtful, 0);
	assert_int_equal(before.n_contradicted, 0);
	for (size_t i = 0; i < 2 * before.n_rows + 1; i++) {
		run_slowly(&f, 1000 * (uint64_t)MS);
		after = read_doubts(&f);
		if (i < 2)
			assert_int_equal(after.n_doubtful, 1);
		assert_int_equal(after.n_contradicted - before.n_contradicted,
				 after.n_doubtful);
		assert_true(after.most_contradicted <= 2);
		before = after;
	}
	folder_free(&f);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(much_longer_every_time),
		cmocka_unit_test(most_are_slow),
		cmocka_unit_test(measured_again_by_the_next_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
