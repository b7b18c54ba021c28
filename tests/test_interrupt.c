/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interrupt.c - an interrupt ends a run before the next step, and a loop
 * that would never end before the next node of its body; nothing is lost or
 * leaks, and the next run is like any other.
 */
#include "interrupting.h"
#include "engine/observer.h"
#include "planned_graph.h"

/* Requests that may still come after the flag is set: those of one node. */
enum { SOON = 64 };

static const char without_nodes[] = LOOP_TEXT("-", "out go\n"
						   "out sum\n");
static const char chain[] = "opset 13\n"
			    "in x f32 4\n"
			    "a = Abs x\n"
			    "b = Exp a\n"
			    "c = Neg b\n"
			    "y = Sqrt b\n"
			    "out c\n"
			    "out y\n";

/* The k-th request of a run sets the flag. */
static void
end_endless(const char *text, int k)
{
	struct graph_text *g = graph_text_with(text, NULL);
	struct interrupting i;
	struct sl_plan_options how;
	struct sl_plan *plan;
	struct sl_error err = {0};

	interrupting_init(&i, 0);
	how = interrupting_plan(&i);
	assert_int_equal(sl_plan_new(&plan, g->graph, &how, &err), SL_OK);
	assert_int_equal(sl_plan_fill_inputs(plan, 1, &err), SL_OK);
	i.at = i.counted.n_requests + k;
	assert_int_equal(sl_plan_run(plan, &err), SL_E_INTERRUPTED);
	assert_non_null(strstr(err.text, "interrupted"));
	assert_true(i.counted.n_requests < i.at + SOON);
	/* Nor does it start again while the flag is set. */
	i.at = i.counted.n_requests;
	assert_int_equal(sl_plan_run(plan, &err), SL_E_INTERRUPTED);
	assert_int_equal(i.counted.n_requests, i.at);
	sl_plan_free(plan);
	assert_int_equal(i.counted.n_out, 0);
	graph_text_free(g);
}

static void
a_loop_that_never_ends_is_ended(void **state)
{
	(void)state;
	for (int k = 1; k < 200; k += 3) {
		end_endless(endless_text, k);
		end_endless(without_nodes, k);
	}
}

/* Interrupted at every request in turn, and then run to its end. */
static void
the_next_run_is_like_any_other(void **state)
{
	struct graph_text *g = graph_text_with(five_times_text, NULL);
	static const float x[] = {1, -2, 3, -4}, y[] = {-6, 8, -18, 16};
	static const int64_t dims[] = {4};
	const struct sl_array in = {
		.dtype = SL_DTYPE_F32, .rank = 1, .dims = dims, .data = x};
	struct interrupting i;
	struct sl_plan_options how;
	struct sl_plan *plan;
	struct sl_array out;
	int n_interrupted = 0;

	(void)state;
	interrupting_init(&i, 0);
	how = interrupting_plan(&i);
	assert_int_equal(sl_plan_new(&plan, g->graph, &how, NULL), SL_OK);
	assert_int_equal(sl_plan_set_input(plan, "x", &in, NULL), SL_OK);
	for (int k = 1; i.flag || k == 1; k++) {
		i.flag = 0;
		i.at = i.counted.n_requests + k;
		if (sl_plan_run(plan, NULL) == SL_E_INTERRUPTED) {
			assert_int_not_equal(
				sl_plan_output(plan, "y", &out, NULL), SL_OK);
			n_interrupted++;
		}
		i.at = 0;
	}
	assert_true(n_interrupted > 5);
	i.flag = 0;
	assert_int_equal(sl_plan_run(plan, NULL), SL_OK);
	assert_int_equal(sl_plan_output(plan, "y", &out, NULL), SL_OK);
	/* -(|x| + 5 x) */
	for (int k = 0; k < 4; k++)
		assert_near((double)((const float *)out.data)[k], (double)y[k],
			    0);
	sl_plan_free(plan);
	assert_int_equal(i.counted.n_out, 0);
	graph_text_free(g);
}

static sl__run_function *originals[4];
static struct sl__program *program;
static size_t n_run, stop_after;
static volatile sig_atomic_t *to_set;

static enum sl_status
count_step(struct sl__step *step, struct sl_error *err)
{
	if (++n_run == stop_after)
		*to_set = 1;
	return originals[step - program->steps](step, err);
}

static void
ignore_step(const struct sl_plan *plan, size_t step, void *ctx)
{
	(void)plan;
	(void)step;
	(void)ctx;
}

/* Bare, recorded and with somebody around each step. */
static enum sl_status
run_in_way(struct sl_plan *plan, int way)
{
	const struct sl_hooks hooks = {.before = ignore_step};
	struct sl__timestamp stamps[8];
	struct sl__event_buffer events = {.stamps = stamps, .cap = 8};
	enum sl_status rc;

	if (way == 1)
		return sl__plan_record(plan, &events, NULL);
	sl_plan_set_hooks(plan, way == 2 ? &hooks : NULL);
	rc = sl_plan_run(plan, NULL);
	sl_plan_set_hooks(plan, NULL);
	return rc;
}

static void
no_step_begins_after_it(void **state)
{
	struct graph_text *g = graph_text_with(chain, NULL);
	struct interrupting i;
	struct sl_plan_options how;
	struct sl_plan *plan;

	(void)state;
	interrupting_init(&i, 0);
	how = interrupting_plan(&i);
	how.flags |= SL_PLAN_NO_FUSION;
	assert_int_equal(sl_plan_new(&plan, g->graph, &how, NULL), SL_OK);
	assert_int_equal(sl_plan_fill_inputs(plan, 1, NULL), SL_OK);
	program = plan->current;
	assert_int_equal(program->n_steps, 4);
	to_set = &i.flag;
	for (size_t s = 0; s < 4; s++) {
		originals[s] = program->steps[s].run;
		program->steps[s].run = count_step;
	}
	for (int way = 0; way < 3; way++) {
		for (stop_after = 1; stop_after <= 3; stop_after++) {
			i.flag = 0;
			n_run = 0;
			assert_int_equal(run_in_way(plan, way),
					 SL_E_INTERRUPTED);
			assert_int_equal(n_run, stop_after);
		}
		i.flag = 1;
		n_run = 0;
		assert_int_equal(run_in_way(plan, way), SL_E_INTERRUPTED);
		assert_int_equal(n_run, 0);
		/* One that comes in the last step is too late. */
		i.flag = 0;
		assert_int_equal(run_in_way(plan, way), SL_OK);
	}
	sl_plan_free(plan);
	graph_text_free(g);
}

static void
planning_ends_too(void **state)
{
	struct graph_text *g = graph_text_with(chain, NULL);
	struct interrupting i;
	struct sl_plan_options how;
	struct sl_plan *plan = NULL;
	struct sl_error err = {0};

	(void)state;
	interrupting_init(&i, 1);
	how = interrupting_plan(&i);
	assert_int_equal(sl_plan_new(&plan, g->graph, &how, &err),
			 SL_E_INTERRUPTED);
	assert_null(plan);
	assert_int_equal(i.counted.n_out, 0);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_that_never_ends_is_ended),
		cmocka_unit_test(the_next_run_is_like_any_other),
		cmocka_unit_test(no_step_begins_after_it),
		cmocka_unit_test(planning_ends_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
