/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_step_loop.c - proves that a Loop or Scan whose carried values keep their
 * sizes is planned, that it gives what the evaluator gives however often it
 * runs, that a recorded run has one stamp for each step of the body with the
 * times of all its runs, and that an interceptor sees the loop as one step.
 */
#include "planned_graph.h"
#include "engine/observer.h"

static const int64_t four[] = {4}, rows[] = {3, 4}, image[] = {1, 16, 5, 5};
static const double yes[] = {1}, no[] = {0};

/* Runs with these counts, one after the other, with other numbers each. */
static void
check_counts(const char *text, size_t rank, const int64_t *dims, unsigned flags)
{
	static const double counts[] = {3, 0, 1, 7, 2};

	for (int n_threads = 1; n_threads <= 2; n_threads++) {
		struct planned p;

		planned_start(&p, text, n_threads, flags);
		assert_true(planned_n_kernel(&p, "loop") > 0);
		assert_int_equal(planned_n_kernel(&p, "loop"),
				 planned_n_kernel(&p, "carry"));
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
			if (sl__plan_find_input(p.plan, "n", NULL) != SIZE_MAX)
				planned_set(&p, "n", 0, NULL, &counts[i]);
			if (sl__plan_find_input(p.plan, "c", NULL) != SIZE_MAX)
				planned_set(&p, "c", 0, NULL, i % 2 ? yes : no);
			planned_fill(&p, "x", rank, dims, i + 1);
			planned_check(&p);
		}
		planned_finish(&p);
	}
}

static void
check_all(const char *text, size_t rank, const int64_t *dims)
{
	check_counts(text, rank, dims, 0);
	check_counts(text, rank, dims, SL_PLAN_NO_FUSION);
	check_counts(text, rank, dims, SL_PLAN_REFERENCE);
}

/* h is read in every run and written over by none; the sum goes on where it
 * is; the number of runs is an input. */
static void
values_are_carried(void **state)
{
	(void)state;
	check_all("in n i64 -\n"
		  "in x f32 4\n"
		  "h = Tanh x\n"
		  "block body\n"
		  "in i i64 -\n"
		  "in go bool -\n"
		  "in s f32 4\n"
		  "t = Neg h\n"
		  "r = Add s t\n"
		  "k = Cast i to=1\n"
		  "r2 = Add r k\n"
		  "out go\n"
		  "out r2\n"
		  "end\n"
		  "y = Loop n - x body=@body\n"
		  "z = Abs y\n"
		  "u = Exp h\n"
		  "out z\n"
		  "out u\n"
		  "out y\n",
		  1, four);
}

/* Each takes the other's place, and a third follows one run behind. */
static void
carried_values_may_change_places(void **state)
{
	(void)state;
	check_all("in n i64 -\n"
		  "in x f32 4\n"
		  "h = Exp x\n"
		  "block body\n"
		  "in i i64 -\n"
		  "in go bool -\n"
		  "in a f32 4\n"
		  "in b f32 4\n"
		  "in d f32 4\n"
		  "e = Neg a\n"
		  "out go\n"
		  "out b\n"
		  "out e\n"
		  "out a\n"
		  "end\n"
		  "y,z,w = Loop n - x h x body=@body\n"
		  "out y\n"
		  "out z\n"
		  "out w\n",
		  1, four);
}

/* A condition that data decides ends it, before the first run too; what it
 * gives in each run has a size that is found on the way. */
static void
conditions_end_it(void **state)
{
	static const char text[] = "in n i64 -\n"
				   "in c bool -\n"
				   "in x f32 4\n"
				   "const first i64 - = 0\n"
				   "const limit f32 - = 3\n"
				   "block body\n"
				   "in i i64 -\n"
				   "in go bool -\n"
				   "in s f32 4\n"
				   "a = Abs s\n"
				   "r = Add a a\n"
				   "f = Gather r first\n"
				   "k = Less f limit\n"
				   "g = Neg r\n"
				   "out k\n"
				   "out r\n"
				   "out g\n"
				   "end\n"
				   "y,z = Loop n c x body=@body\n"
				   "w = Shape z\n"
				   "out y\n"
				   "out z\n"
				   "out w\n";

	static const double counts[] = {3, 1, 7, 2, 0};
	struct planned p;
	struct sl_error err;
	struct sl_array a;

	(void)state;
	planned_start(&p, text, 1, 0);
	planned_set(&p, "c", 0, NULL, yes);
	for (uint64_t i = 0; i < 4; i++) {
		planned_set(&p, "n", 0, NULL, &counts[i]);
		planned_fill(&p, "x", 1, four, i + 1);
		planned_check(&p);
	}
	/* Without a run the evaluator knows no sizes; the plan does. */
	for (int i = 0; i < 2; i++) {
		planned_set(&p, "n", 0, NULL, &counts[i ? 0 : 4]);
		planned_set(&p, "c", 0, NULL, i ? no : yes);
		assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
		assert_int_equal(sl_plan_output(p.plan, "z", &a, &err), SL_OK);
		assert_int_equal(a.rank, 2);
		assert_int_equal(a.dims[0], 0);
		assert_int_equal(a.dims[1], 4);
	}
	planned_finish(&p);
}

/* The count is known, so are the sizes of what it gives: nothing is left to
 * the evaluator. */
static void
known_counts_leave_nothing_to_find(void **state)
{
	static const char text[] = "in x f32 4\n"
				   "const n i64 - = 5\n"
				   "const yes bool - = 1\n"
				   "block body\n"
				   "in i i64 -\n"
				   "in go bool -\n"
				   "in s f32 4\n"
				   "r = Tanh s\n"
				   "g = Neg r\n"
				   "out go\n"
				   "out r\n"
				   "out g\n"
				   "end\n"
				   "y,z = Loop n yes x body=@body\n"
				   "w = Abs z\n"
				   "out y\n"
				   "out w\n";
	struct planned p;

	(void)state;
	check_all(text, 1, four);
	planned_start(&p, text, 1, 0);
	assert_int_equal(planned_n_path(&p, SL_PATH_STEPWISE), 0);
	assert_false(p.plan->current->is_stepwise);
	planned_finish(&p);
}

/* A loop in a loop, a branch in it, and convolutions in layouts of their own:
 * what one run has reordered the next one does not have. */
static void
bodies_may_hold_anything(void **state)
{
	(void)state;
	check_all(
		"in n i64 -\n"
		"in c bool -\n"
		"in x f32 1,16,5,5\n"
		"const w f32 16,16,1,1 = .1,.2,-.1,.3,-.2,.1,.2,.1,-.3,.1,.2\n"
		"const two i64 - = 2\n"
		"const yes bool - = 1\n"
		"f = Conv x w\n"
		"block body\n"
		"in i i64 -\n"
		"in go bool -\n"
		"in s f32 1,16,5,5\n"
		"block inner\n"
		"in j i64 -\n"
		"in on bool -\n"
		"in t f32 1,16,5,5\n"
		"p = Conv t w\n"
		"q = Relu p\n"
		"o = Add q f\n"
		"out on\n"
		"out o\n"
		"end\n"
		"m = Loop two yes s body=@inner\n"
		"block then\n"
		"a = Tanh m\n"
		"out a\n"
		"end\n"
		"block else\n"
		"out s\n"
		"end\n"
		"v = If c then_branch=@then else_branch=@else\n"
		"out go\n"
		"out v\n"
		"end\n"
		"y = Loop n - f body=@body\n"
		"z = Add y f\n"
		"out z\n",
		4, image);
}

/* Both axes, both directions, states beside them. */
static void
scans_take_apart_and_put_together(void **state)
{
	static const char text[] =
		"in x f32 3,4\n"
		"const zero f32 3 = 0,1,2\n"
		"block body\n"
		"in s f32 3\n"
		"in a f32 3\n"
		"in b f32 3\n"
		"r = Add s a\n"
		"t = Mul a b\n"
		"out r\n"
		"out t\n"
		"out r\n"
		"end\n"
		"y,z,w = Scan zero x x body=@body num_scan_inputs=2 "
		"scan_input_axes=[1,-1] scan_input_directions=[0,1] "
		"scan_output_axes=[1,0] scan_output_directions=[1,0]\n"
		"out y\n"
		"out z\n"
		"out w\n";
	struct planned p;

	(void)state;
	check_all(text, 2, rows);
	planned_start(&p, text, 1, 0);
	assert_int_equal(planned_n_path(&p, SL_PATH_STEPWISE), 0);
	planned_finish(&p);
}

/* Five runs of an inner loop of two, between other steps. */
static const char timed[] = "in x f32 4\n"
			    "const n i64 - = 5\n"
			    "const two i64 - = 2\n"
			    "const yes bool - = 1\n"
			    "h = Exp x\n"
			    "block body\n"
			    "in i i64 -\n"
			    "in go bool -\n"
			    "in s f32 4\n"
			    "r = Tanh s\n"
			    "block inner\n"
			    "in j i64 -\n"
			    "in on bool -\n"
			    "in t f32 4\n"
			    "g = Neg t\n"
			    "out on\n"
			    "out g\n"
			    "end\n"
			    "m = Loop two yes r body=@inner\n"
			    "out go\n"
			    "out m\n"
			    "end\n"
			    "y = Loop n yes h body=@body\n"
			    "z = Abs y\n"
			    "out z\n";

static uint64_t
count_up(void *ctx)
{
	uint64_t *ticks = ctx;

	return *ticks += 10;
}

/* The clock goes on by 10 at each reading: a call takes 10, whatever it is. */
static void
runs_of_a_body_are_added_up(void **state)
{
	uint64_t ticks = 0;
	struct sl_clock clock = {.now_ns = count_up, .ctx = &ticks};
	struct sl__timestamp stamps[64];
	struct sl__event_buffer events = {
		.stamps = stamps, .cap = 64, .clock = &clock};
	struct planned p;
	struct sl_error err;

	(void)state;
	planned_start(&p, timed, 1, 0);
	planned_fill(&p, "x", 1, four, 1);
	for (int run = 0; run < 2; run++) {
		size_t n_steps = sl_plan_n_steps(p.plan);

		if (sl__plan_record(p.plan, &events, &err))
			fail_msg("%s", err.text);
		assert_int_equal(events.n_stamps, n_steps + 1);
		for (size_t i = 0; i < n_steps; i++) {
			struct sl_step step;
			uint32_t n;

			assert_true(sl_plan_step(p.plan, i, &step));
			n = !strcmp(step.name, "g") ? 10
			    : !strcmp(step.name, "m")
				    ? (strcmp(step.kernel, "carry") ? 5 : 10)
			    : !strcmp(step.name, "r") ||
					    !strcmp(step.kernel, "carry")
				    ? 5
				    : 1;
			assert_int_equal(stamps[i].step, i);
			assert_int_equal(stamps[i].n_calls, n);
			assert_int_equal(stamps[i + 1].ticks - stamps[i].ticks,
					 10 * n);
		}
		assert_true(events.paused_ticks > 0);
	}
	planned_finish(&p);
}

struct seen {
	size_t n, n_inner;
};

static enum sl_status
watch(struct sl__program *program, size_t i, void *ctx, struct sl_error *err)
{
	struct seen *seen = ctx;

	seen->n++;
	seen->n_inner += program->steps[i].is_inner != 0;
	return sl__run_step(program, i, err);
}

static void
interceptors_see_one_step(void **state)
{
	struct seen seen = {0, 0};
	struct sl__interceptor watcher = {watch, &seen};
	struct sl_array out;
	struct planned p;
	struct sl_error err;
	float before[4];

	(void)state;
	planned_start(&p, timed, 1, 0);
	planned_fill(&p, "x", 1, four, 1);
	planned_check(&p);
	assert_int_equal(sl_plan_output(p.plan, "z", &out, &err), SL_OK);
	memcpy(before, out.data, sizeof(before));
	if (sl__plan_intercept(p.plan, &watcher, &err))
		fail_msg("%s", err.text);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.n_inner, 0);
	assert_int_equal(sl_plan_output(p.plan, "z", &out, &err), SL_OK);
	assert_memory_equal(before, out.data, sizeof(before));
	planned_finish(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_carried),
		cmocka_unit_test(carried_values_may_change_places),
		cmocka_unit_test(conditions_end_it),
		cmocka_unit_test(known_counts_leave_nothing_to_find),
		cmocka_unit_test(bodies_may_hold_anything),
		cmocka_unit_test(scans_take_apart_and_put_together),
		cmocka_unit_test(runs_of_a_body_are_added_up),
		cmocka_unit_test(interceptors_see_one_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
