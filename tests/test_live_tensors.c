/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_live_tensors.c - proves that the tracker sees the tensors of a run as
 * they can be counted by hand: chains, diamonds, long skips, parts of a value,
 * values written in the place of others, numbers that happen to be the same
 * everywhere; and that the plan's bound is what it sees, to the byte, for
 * models of the zoo and for real ones.
 */
#include "planned_graph.h"
#include "experiment/live_tensors.h"
#include "experiment/subject.h"

#include <dirent.h>

/* A plan that was tracked. */
struct seen {
	struct planned p;
	struct sl__arena arena;
	struct sl__tensor_lifetimes t;
};

static const struct sl__live_tensors_options unhurried = {0};
static const int64_t line_dims[] = {4, 4}; /* 64 bytes: one line */

static void
look(struct seen *s, const char *text, double filling)
{
	double numbers[16];
	struct sl_error err;

	for (int i = 0; i < 16; i++)
		numbers[i] = filling != 0 ? filling : i + 1;
	planned_start(&s->p, text, 1, SL_PLAN_NO_FUSION);
	sl__arena_init(&s->arena, NULL);
	planned_set(&s->p, "x", 2, line_dims, numbers);
	planned_check(&s->p); /* memory is full of results by now */
	if (sl__live_tensors_track(&s->t, s->p.plan, &unhurried, &s->arena,
				   &err))
		fail_msg("%s", err.text);
}

static void
look_away(struct seen *s)
{
	sl__arena_release(&s->arena);
	planned_finish(&s->p);
}

/* live[] are the lines alive at each step. */
static void
check_lines(const char *text, const unsigned *live, size_t n)
{
	static const double fillings[] = {0, 1};

	for (int f = 0; f < 2; f++) {
		struct sl_plan_memory memory;
		struct seen s;
		unsigned most = 0;

		look(&s, text, fillings[f]);
		assert_null(s.t.absent);
		assert_int_equal(s.t.n, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(s.t.steps[i], i);
			assert_int_equal(s.t.live_bytes[i], 64 * live[i]);
			most = live[i] > most ? live[i] : most;
		}
		assert_int_equal(s.t.peak_bytes, 64 * most);
		sl_plan_memory(s.p.plan, &memory);
		assert_int_equal(memory.live_bytes, 64 * most);
		look_away(&s);
	}
}

/* The input is there all the time; each value with the one it is made from. */
static void
a_chain_keeps_two(void **state)
{
	static const unsigned live[] = {1 + 2, 1 + 2 + 4, 1 + 4 + 8, 1 + 8 + 1};

	(void)state;
	check_lines("opset 13\nin x f32 4,4\n"
		    "a = Concat x x axis=0\n"
		    "b = Concat a a axis=0\n"
		    "c = Concat b b axis=0\n"
		    "y = ReduceMax c axes=[0]\n"
		    "out y\n",
		    live, 4);
}

static void
a_diamond_keeps_both_sides(void **state)
{
	(void)state;
	check_lines("opset 13\nin x f32 4,4\n"
		    "a = Concat x x axis=0\n"
		    "b = Concat a a axis=1\n"
		    "c = ReduceMax a axes=[0] keepdims=1\n"
		    "d = Concat c c c c c c c c axis=0\n"
		    "out b\nout d\n",
		    (const unsigned[]){1 + 2, 1 + 2 + 4, 1 + 2 + 4 + 1,
				       1 + 4 + 1 + 2},
		    4);
}

static void
a_skip_keeps_its_value(void **state)
{
	(void)state;
	check_lines("opset 13\nin x f32 4,4\n"
		    "s = Concat x x axis=0\n"
		    "a = Concat x x x axis=0\n"
		    "b = Concat a a axis=0\n"
		    "c = ReduceMax b axes=[0]\n"
		    "y = Concat s c axis=0\n"
		    "out y\n",
		    (const unsigned[]){1 + 2, 1 + 2 + 3, 1 + 2 + 3 + 6,
				       1 + 2 + 6 + 1, 1 + 2 + 1 + 3},
		    5);
}

/* One value after the other in the same lines, read there and written. */
static void
in_place_is_there_once(void **state)
{
	(void)state;
	check_lines("opset 13\nin x f32 4,4\n"
		    "a = Concat x x axis=0\n"
		    "b = Sigmoid a\n"
		    "c = Neg b\n"
		    "d = Exp c\n"
		    "y = ReduceMax d axes=[0]\n"
		    "out y\n",
		    (const unsigned[]){1 + 2, 1 + 2, 1 + 2, 1 + 2, 1 + 2 + 1},
		    5);
}

/* A part keeps the whole in memory. */
static void
a_part_keeps_the_whole(void **state)
{
	(void)state;
	check_lines("opset 13\nin x f32 4,4\n"
		    "a = Concat x x x x axis=0\n"
		    "const n i64 2 = 8,8\n"
		    "p,q = Split a n axis=0\n"
		    "b = Concat p x axis=0\n"
		    "c = ReduceMax b axes=[0]\n"
		    "y = Concat q c axis=0\n"
		    "out y\n",
		    (const unsigned[]){1 + 4, 1 + 4 + 3, 1 + 4 + 3 + 1,
				       1 + 4 + 1 + 3},
		    4);
}

/* An output stays, though nobody reads it. */
static void
outputs_stay(void **state)
{
	(void)state;
	check_lines("opset 13\nin x f32 4,4\n"
		    "y = Concat x x axis=0\n"
		    "a = Concat x x x x axis=0\n"
		    "b = ReduceMax a axes=[0]\n"
		    "z = Concat b b axis=0\n"
		    "out y\nout z\n",
		    (const unsigned[]){1 + 2, 1 + 2 + 4, 1 + 2 + 4 + 1,
				       1 + 2 + 1 + 1},
		    4);
}

static void
results_are_those_of_the_run(void **state)
{
	struct seen s;

	(void)state;
	look(&s,
	     "opset 13\nin x f32 4,4\n"
	     "a = Concat x x axis=0\n"
	     "b = Neg a\n"
	     "y = ReduceSum b keepdims=0\n"
	     "out y\n",
	     1);
	{
		struct sl_array y;

		assert_int_equal(sl_plan_output(s.p.plan, "y", &y, NULL),
				 SL_OK);
		assert_near((double)*(const float *)y.data, -32, 0);
	}
	look_away(&s);
}

static void
what_is_not_planned_is_absent(void **state)
{
	struct seen s;

	(void)state;
	look(&s,
	     "opset 13\nin x f32 4,4\n"
	     "a = NonZero x\n"
	     "y = Cast a to=1\n"
	     "out y\n",
	     0);
	assert_non_null(s.t.absent);
	assert_int_equal(s.t.n, 0);
	look_away(&s);
}

static void
interrupts_end_it(void **state)
{
	volatile sig_atomic_t now = 1;
	struct sl__live_tensors_options how = {.interrupt = &now};
	struct sl_error err;
	struct seen s;

	(void)state;
	look(&s, "opset 13\nin x f32 4,4\ny = Neg x\nout y\n", 0);
	assert_int_equal(
		sl__live_tensors_track(&s.t, s.p.plan, &how, &s.arena, &err),
		SL_E_INTERRUPTED);
	assert_int_equal(sl__live_tensors_track_or_absent(&s.t, s.p.plan, &how,
							  &s.arena, &err),
			 SL_OK);
	assert_string_equal(s.t.absent, "interrupted");
	look_away(&s);
}

/* A deadline that is over, and one that never comes. */
static void
without_time_it_is_absent(void **state)
{
	struct sl__live_tensors_options how = {.deadline_ns = 1};
	struct sl_error err;
	struct seen s;
	uint64_t before;

	(void)state;
	look(&s, "opset 13\nin x f32 4,4\ny = Neg x\nout y\n", 0);
	before = sl__arena_bytes(&s.arena);
	assert_int_equal(
		sl__live_tensors_track(&s.t, s.p.plan, &how, &s.arena, &err),
		SL_OK);
	assert_int_equal(sl__arena_bytes(&s.arena), before);
	assert_non_null(s.t.absent);
	assert_non_null(strstr(s.t.absent, "no time"));
	assert_int_equal(s.t.n, 0);
	assert_int_equal(s.t.n_tensors, 0);
	how.deadline_ns = UINT64_MAX;
	assert_int_equal(
		sl__live_tensors_track(&s.t, s.p.plan, &how, &s.arena, &err),
		SL_OK);
	assert_null(s.t.absent);
	assert_int_equal(s.t.n, 1);
	look_away(&s);
}

/* What the plan says is needed at a step. */
static uint64_t
planned_at(const struct sl__program *p, size_t step)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n_buffers; i++) {
		const struct sl__buffer *b = &p->buffers[i];

		if (b->base == i && b->category != SL__CATEGORY_CONSTANT &&
		    b->first <= step && step <= b->last)
			sum += (b->n_bytes + 63) / 64 * 64;
	}
	return sum;
}

static void
check_plan(const char *name, struct sl_plan *plan)
{
	struct sl__arena arena;
	struct sl__tensor_lifetimes t;
	struct sl_error err;
	uint64_t most = 0;
	int jumps;

	sl__arena_init(&arena, NULL);
	if (sl__live_tensors_track(&t, plan, &unhurried, &arena, &err))
		fail_msg("%s: %s", name, err.text);
	if (plan->current->is_stepwise) {
		assert_non_null(t.absent);
		sl__arena_release(&arena);
		return;
	}
	assert_null(t.absent);
	jumps = t.n < plan->current->n_steps;
	for (size_t m = 0; m < t.n; m++) {
		uint64_t need = planned_at(plan->current, t.steps[m]);

		jumps |= t.steps[m] != m;
		most = need > most ? need : most;
		if (t.live_bytes[m] != need)
			fail_msg("%s: step %zu: %llu bytes planned, %llu seen",
				 name, t.steps[m], (unsigned long long)need,
				 (unsigned long long)t.live_bytes[m]);
	}
	assert_int_equal(t.peak_bytes, most);
	assert_true(most <= plan->current->bound_bytes);
	/* Of an If, the side that was not taken may need more. */
	if (!jumps)
		assert_int_equal(most, plan->current->bound_bytes);
	sl__arena_release(&arena);
}

static void
check_model(const char *name, const char *folder, unsigned flags)
{
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = folder ? 1 : 2,
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .flags = flags | SL_PLAN_NO_CACHE};
	struct sl__subject_model_options how = {.plan = &plan,
						.folder = folder};
	struct sl__subject_model subject;
	struct sl_graph *graph;
	struct sl_error err;

	if (sl_graph_open(&graph, name, NULL, &err) ||
	    sl__subject_model_open(&subject, graph, &how, &err))
		fail_msg("%s: %s", name, err.text);
	check_plan(name, subject.plan);
	sl__subject_model_close(&subject);
	sl_graph_free(graph);
}

static void
the_zoo_needs_what_is_planned(void **state)
{
	static const char *const names[] = {
		"mlp:784-256-128-10", "lenet5", "mobilenetv2",
		"resnet18",           "lstm",   "attention:128,512",
		"efficientnet-b0"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		check_model(names[i], NULL, 0);
		check_model(names[i], NULL, SL_PLAN_NO_FUSION);
	}
}

static void
real_models_need_what_is_planned(void **state)
{
#ifdef SL_TEST_MODELS
	DIR *folder = opendir(SL_TEST_MODELS);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char path[512], data[512];
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s/model.onnx", SL_TEST_MODELS,
			 entry->d_name);
		file = fopen(path, "rb");
		if (!file)
			continue;
		fclose(file);
		snprintf(data, sizeof(data), "%s/%s/test_data_set_0",
			 SL_TEST_MODELS, entry->d_name);
		check_model(path, data, 0);
		check_model(path, data, SL_PLAN_NO_FUSION);
	}
	if (folder)
		closedir(folder);
#endif
	(void)state;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_keeps_two),
		cmocka_unit_test(a_diamond_keeps_both_sides),
		cmocka_unit_test(a_skip_keeps_its_value),
		cmocka_unit_test(in_place_is_there_once),
		cmocka_unit_test(a_part_keeps_the_whole),
		cmocka_unit_test(outputs_stay),
		cmocka_unit_test(results_are_those_of_the_run),
		cmocka_unit_test(what_is_not_planned_is_absent),
		cmocka_unit_test(interrupts_end_it),
		cmocka_unit_test(without_time_it_is_absent),
		cmocka_unit_test(the_zoo_needs_what_is_planned),
		cmocka_unit_test(real_models_need_what_is_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
