/* SPDX-License-Identifier: Apache-2.0 */
/* test_timestamps.c - marks on an event buffer, all or some, and where what
 * they cost is tried. */
#include "harness.h"
#include "experiment/timed_iterations.h"

enum { N_MOST = 600 };

/* A chain of so many steps of almost no work: marks are much of what it
 * takes. */
struct storm {
	struct sl_graph *graph;
	struct sl_plan *plan;
};

static void
open_storm(struct storm *s, int n_steps, int64_t width)
{
	const int64_t shape[] = {1, width};
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1,
				      .algorithms = SL_ALGORITHMS_FIXED,
				      .flags = SL_PLAN_NO_CACHE |
					       SL_PLAN_NO_FUSION};
	struct sl_builder *b;
	struct sl_error err;
	int x;

	if (sl_builder_new(&b, "storm", NULL, &err))
		fail_msg("%s", err.text);
	x = sl_builder_input(b, "x", SL_DTYPE_F32, 2, shape);
	for (int i = 0; i < n_steps; i++)
		x = sl_builder_op(b, i % 2 ? "Neg" : "Sigmoid", 1, &x);
	sl_builder_output(b, x, "y");
	if (sl_builder_finish(&s->graph, b, &err) ||
	    sl_plan_new(&s->plan, s->graph, &how, &err) ||
	    sl_plan_fill_inputs(s->plan, 1, &err))
		fail_msg("%s", err.text);
	sl_builder_free(b);
	assert_int_equal(sl_plan_n_steps(s->plan), n_steps);
}

static void
close_storm(struct storm *s)
{
	sl_plan_free(s->plan);
	sl_graph_free(s->graph);
}

/* Marks of steps 0, stride, 2 * stride, ... and the end, in order. */
static void
check_marks(const struct sl__event_buffer *events, size_t n_steps,
	    size_t stride)
{
	size_t n = (n_steps + stride - 1) / stride;

	assert_int_equal(events->n_stamps, n + 1);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(events->stamps[i].step, stride * i);
		assert_true(events->stamps[i + 1].ticks >=
			    events->stamps[i].ticks);
	}
	assert_int_equal(events->stamps[n].step, SL__NONE);
}

static void
all_or_some(void **state)
{
	struct sl__timestamp stamps[8];
	struct sl_error err;

	(void)state;
	for (int n = 1; n < 8; n++) {
		struct sl__event_buffer events = {.stamps = stamps, .cap = 8};
		struct storm s;

		open_storm(&s, n, 4);
		assert_int_equal(sl__plan_record(s.plan, &events, &err), SL_OK);
		check_marks(&events, (size_t)n, 1);
		events.is_sparse = 1;
		assert_int_equal(sl__plan_record(s.plan, &events, &err), SL_OK);
		check_marks(&events, (size_t)n, SL__TIMESTAMPS_SPARSE);
		close_storm(&s);
	}
}

static void
take(struct sl__timed_iterations *out, struct storm *s, struct sl__arena *arena)
{
	struct sl__timed_iterations_options how = {.time_s = 60,
						   .precision = 0.01,
						   .seed = 3,
						   .n_warmup = 2,
						   .n_runs = 41,
						   .n_slowest = 1};
	struct sl_error err;

	sl__arena_init(arena, NULL);
	if (sl__timed_iterations_run(out, s->plan, &how, arena, &err))
		fail_msg("%s", err.text);
	assert_int_equal(out->n_rounds, 43);
	assert_int_equal(out->n_recorded + out->n_left_out,
			 41 * out->calls_per_sample);
	assert_int_equal(out->kept.n_seen, 41 * out->calls_per_sample);
	for (size_t i = 0; i < out->n_steps; i++) {
		assert_int_equal(out->n_calls[i], out->n_recorded);
		assert_true(out->step_ns[i] >= 0);
		assert_true(out->step_min_ns[i] <= out->step_max_ns[i]);
	}
}

/* Every second round after warm-up, and such iterations count for nothing else.
 */
static void
tried_where_felt(void **state)
{
	struct sl__timed_iterations iterations;
	struct sl__arena arena;
	struct storm s;

	(void)state;
	open_storm(&s, N_MOST, 4);
	take(&iterations, &s, &arena);
	assert_int_equal(iterations.mark.more.n_seen, 21);
	assert_true(iterations.reading_ns >= 0);
	sl__arena_release(&arena);
	close_storm(&s);
}

/* Two marks beside millions of elements; one step, of which no mark could be
 * left out. */
static void
not_where_it_is_nothing(void **state)
{
	static const int64_t widths[] = {1 << 20, 1};
	struct sl__timed_iterations iterations;
	struct sl__arena arena;
	struct storm s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		open_storm(&s, 1, widths[i]);
		take(&iterations, &s, &arena);
		assert_int_equal(iterations.mark.more.n_seen, 0);
		assert_true(iterations.reading_ns > 0);
		sl__arena_release(&arena);
		close_storm(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_or_some),
		cmocka_unit_test(tried_where_felt),
		cmocka_unit_test(not_where_it_is_nothing),
	};

	return cmocka_run_group_tests_name("timestamps", tests, NULL, NULL);
}
