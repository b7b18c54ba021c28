/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_body_work.c - proves that an operation which runs a body node by node
 * has the work of its nodes, as often as they run; that it has no figures but
 * a reason where that is not known; and that it is no movement of data.
 */
#include "analysis/operations.h"
#include "analysis/parts.h"
#include "planned_graph.h"
#include "analysis/roofline_place.h"

enum { STEPS_MOST = 8 };

/* What is listed of a plan whose steps took 1000 ns each. */
struct listed {
	struct planned p;
	struct sl_inspection *model;
	double sums[STEPS_MOST], ends[STEPS_MOST];
	uint64_t n_calls[STEPS_MOST];
	float rows[STEPS_MOST];
	struct sl__timed_iterations iterations;
	struct sl__arena arena;
	struct sl_profile profile;
};

static void
list(struct listed *l, const char *text)
{
	struct sl__operation_sources from = {.iterations = &l->iterations};
	struct sl_error err;

	memset(l, 0, sizeof(*l));
	sl__arena_init(&l->arena, NULL);
	planned_start(&l->p, text, 1, 0);
	if (sl_inspect(&l->model, l->p.g->graph, NULL, &err))
		fail_msg("%s", err.text);
	l->iterations = (struct sl__timed_iterations){
		.n_steps = sl_plan_n_steps(l->p.plan),
		.n_recorded = 1,
		.step_ns = l->sums,
		.step_min_ns = l->ends,
		.step_max_ns = l->ends,
		.n_calls = l->n_calls,
		.rows = l->rows,
		.n_rows = 1};
	assert_in_range(l->iterations.n_steps, 1, STEPS_MOST);
	for (size_t i = 0; i < STEPS_MOST; i++) {
		l->rows[i] = 1000;
		l->sums[i] = l->ends[i] = 1000;
		l->n_calls[i] = 1;
	}
	from.graph = l->p.g->graph;
	from.plan = l->p.plan;
	from.model = l->model;
	l->profile.latency.median =
		(struct sl_estimate){.value = 1000, .n = 1, .needs_n = 6};
	l->profile.batch = 1;
	if (sl__operations_of(&l->profile, &from, &l->arena, &err) ||
	    sl__profile_fill_network_parts(&l->profile, l->p.plan, &l->arena,
					   &err))
		fail_msg("%s", err.text);
	sl__profile_fill_rates(&l->profile);
}

static const struct sl_operation *
find(const struct listed *l, const char *type)
{
	static const struct sl_operation none;

	for (size_t i = 0; i < l->profile.n_operations; i++) {
		if (!strcmp(l->profile.operations[i].type, type))
			return &l->profile.operations[i];
	}
	fail_msg("no %s", type);
	return &none;
}

static void
finish(struct listed *l)
{
	sl__arena_release(&l->arena);
	sl_inspection_free(l->model);
	planned_finish(&l->p);
}

/* It carries a sequence, which the planner leaves to the evaluator. */
#define LOOP                                                               \
	"in x f32 2,3\n"                                                   \
	"in w f32 3,3\n"                                                   \
	"l = SequenceEmpty\n"                                              \
	"block body\nin i i64 -\nin go bool -\nin p f32 2,3\nin k f32 -\n" \
	"stay = Identity go\nh = MatMul p w\nq = Relu h\nout stay\n"       \
	"out q\nout k\nend\n"                                              \
	"y,z = Loop m - x l body=@body\n"                                  \
	"out y\n"

/* Five turns of 2 x 3 x 3 multiply-adds and 6 comparisons. */
static void
a_loop_has_the_work_of_its_turns(void **state)
{
	const struct sl_operation *op;
	struct listed l;

	(void)state;
	list(&l, "const m i64 - = 5\n" LOOP);
	op = find(&l, "Loop");
	assert_int_equal(op->path, SL_PATH_STEPWISE);
	assert_null(op->uncounted);
	assert_int_equal(op->core_flops, 5 * 2 * 18);
	assert_int_equal(op->core_flops, l.model->flops);
	assert_int_equal(op->nominal_flops, 5 * (2 * 18 + 6));
	assert_int_equal(op->executed_flops, op->nominal_flops);
	/* Each turn reads 6 and 9 numbers, writes 6, reads and writes these. */
	assert_true(op->n_bytes >= 5 * 4 * (6 + 9 + 6 + 6 + 6));
	assert_true(op->working_set_bytes <= op->n_bytes);
	assert_close(op->flops_per_s, 0.18e9, 1e-12);
	assert_close(l.profile.rates.flops_per_s, 0.18e9, 1e-12);
	assert_int_equal(op->part, SL_PART_OTHER);
	finish(&l);
}

static void
a_loop_of_unknown_length_has_no_figures(void **state)
{
	const struct sl_operation *op;
	struct listed l;

	(void)state;
	list(&l, "in m i64 -\n" LOOP);
	op = find(&l, "Loop");
	assert_non_null(op->uncounted);
	assert_non_null(strstr(op->uncounted, "unknown length"));
	assert_true(isnan(op->flops_per_s));
	assert_true(isnan(op->executed_flops_per_s));
	assert_true(isnan(op->bytes_per_s));
	assert_true(isnan(op->intensity));
	assert_true(isnan(l.profile.rates.flops_per_s));
	assert_true(isnan(l.profile.rates.executed_flops_per_s));
	assert_true(isnan(l.profile.rates.bytes_per_s));
	assert_true(isnan(l.profile.rates.bound_ns));
	assert_true(l.profile.rates.samples_per_s > 0);
	/* Nor a place under roofs. */
	l.profile.ceilings.n_levels = 1;
	l.profile.ceilings.levels[0] = (struct sl_ceiling_level){
		SL_LEVEL_DRAM, UINT64_MAX, {.value = 1e9, .hi = 1e9, .n = 36}};
	sl__roofline_place(&l.profile);
	assert_true(isnan(op->bound_ns));
	assert_true(isnan(op->ceiling_share));
	assert_int_equal(op->roof, SL_LEVEL_NONE);
	finish(&l);
}

/* The size of the condition is found when it runs, so that the If cannot be
 * planned; which branch runs is not known before, and so nor is its work. */
static void
a_branch_that_may_run_is_no_count(void **state)
{
	const struct sl_operation *op;
	struct listed l;

	(void)state;
	list(&l, "in x f32 4\n"
		 "const two i64 2 = 2,2\n"
		 "n = NonZero x\n"
		 "c = Greater n n\n"
		 "block then\nt = Neg x\nout t\nend\n"
		 "block else\ne = Reshape x two\nout e\nend\n"
		 "y = If c then_branch=@then else_branch=@else\n"
		 "out y\n");
	op = find(&l, "If");
	assert_int_equal(op->path, SL_PATH_STEPWISE);
	assert_non_null(op->uncounted);
	assert_non_null(strstr(op->uncounted, "one branch"));
	assert_int_equal(op->part, SL_PART_OTHER);
	finish(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_has_the_work_of_its_turns),
		cmocka_unit_test(a_loop_of_unknown_length_has_no_figures),
		cmocka_unit_test(a_branch_that_may_run_is_no_count),
	};

	return cmocka_run_group_tests_name("body_work", tests, NULL, NULL);
}
