/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ablate.c - proves that steps which are left out do not run, that
 * ablation counts its rounds, has intervals where their number allows them,
 * leaves the plan as it was, and says why it did not measure: no time, no room,
 * no memory, branches, steps that do not run, an interrupt.
 * How long anything takes is not looked at.
 */
#include "planned_graph.h"
#include "small_blocks.h"
#include "experiment/ablate.h"
#include "base/clock.h"

static const char chain[] = "in x f32 8,16\n"
			    "const w f32 16,16 = random\n"
			    "a = MatMul x w\n"
			    "b = Softmax a axis=1\n"
			    "c = MatMul b w\n"
			    "d = Softmax c axis=0\n"
			    "out d\n";
static const int64_t matrix[] = {8, 16};
static const size_t steps[] = {0, 1, 2, 3};

struct ablated {
	struct planned p;
	struct sl__arena arena;
	struct sl__ablate_options how;
	struct sl__ablation targets[4];
	unsigned char before[8 * 16 * 4];
};

static void
start(struct ablated *a, const char *text, unsigned flags)
{
	memset(a, 0, sizeof(*a));
	planned_start(&a->p, text, 2, flags);
	sl__arena_init(&a->arena, NULL);
	a->how = (struct sl__ablate_options){.time_s = 60,
					     .iteration_ns = 1e5,
					     .reading_ns = 10,
					     .seed = 1,
					     .n_rounds = 9};
	for (size_t k = 0; k < 4; k++) {
		a->targets[k].steps = &steps[k];
		a->targets[k].n_steps = 1;
	}
}

static void
finish(struct ablated *a)
{
	sl__arena_release(&a->arena);
	planned_finish(&a->p);
}

static void
ablate(struct ablated *a, size_t n)
{
	struct sl_error err;

	if (sl__ablate(a->targets, n, a->p.plan, &a->how, &a->arena, &err))
		fail_msg("%s", err.text);
}

static void
take_output(struct ablated *a, unsigned char *to)
{
	struct sl__runtime_value d;
	struct sl_error err;

	assert_int_equal(sl_plan_run(a->p.plan, &err), SL_OK);
	assert_int_equal(sl__plan_output_value(a->p.plan, 0, &d, &err), SL_OK);
	assert_int_equal(d.tensor.n_bytes, sizeof(a->before));
	memcpy(to, d.tensor.bytes, sizeof(a->before));
}

static void
assert_measured(const struct sl__ablation *t, size_t n)
{
	assert_null(t->absent);
	assert_int_equal(t->limit.n, n);
	assert_true(t->limit.value > 0 && isfinite(t->limit.value));
	assert_true(t->full_ns > 0 && t->ablated_ns > 0);
	assert_true(t->n_bytes > 0);
}

static void
all_targets_in_every_round(void **state)
{
	unsigned char after[sizeof(((struct ablated *)0)->before)];
	struct ablated a;

	(void)state;
	start(&a, chain, SL_PLAN_NO_FUSION);
	planned_fill(&a.p, "x", 2, matrix, 1);
	take_output(&a, a.before);
	/* Single steps, and a group that shares steps with them. */
	a.targets[2].steps = steps;
	a.targets[2].n_steps = 4;
	ablate(&a, 3);
	for (size_t k = 0; k < 3; k++) {
		assert_measured(&a.targets[k], 9);
		assert_int_equal(a.targets[k].limit.needs_n, 0);
		assert_true(a.targets[k].limit.lo <= a.targets[k].limit.value);
		assert_true(a.targets[k].limit.hi >= a.targets[k].limit.value);
	}
	/* What a group writes: four results of 8 x 16 numbers. */
	assert_int_equal(a.targets[0].n_bytes, 8 * 16 * 4);
	assert_int_equal(a.targets[2].n_bytes, 4 * 8 * 16 * 4);
	take_output(&a, after);
	assert_memory_equal(after, a.before, sizeof(after));
	planned_check(&a.p);
	finish(&a);
}

static sl__run_function *originals[4];
static const struct sl__step *first_step;
static size_t n_runs[4], n_runs_all, interrupt_at;
static volatile sig_atomic_t interrupt;

static enum sl_status
count(struct sl__step *step, struct sl_error *err)
{
	size_t i = (size_t)(step - first_step);

	n_runs[i]++;
	n_runs_all++;
	if (n_runs_all == interrupt_at)
		interrupt = 1;
	return originals[i](step, err);
}

/* Every step of the chain is counted from now on. */
static void
start_counting(struct ablated *a)
{
	struct sl__program *p;

	start(a, chain, SL_PLAN_NO_FUSION);
	planned_fill(&a->p, "x", 2, matrix, 1);
	take_output(a, a->before);
	p = a->p.plan->current;
	assert_int_equal(p->n_steps, 4);
	first_step = p->steps;
	for (size_t i = 0; i < 4; i++) {
		originals[i] = p->steps[i].run;
		p->steps[i].run = count;
	}
	memset(n_runs, 0, sizeof(n_runs));
	n_runs_all = interrupt_at = 0;
	interrupt = 0;
	a->how.control.interrupt = &interrupt;
	a->how.iteration_ns = 1e9; /* one iteration a sample */
}

static void
count_progress(const struct sl_progress *now, void *ctx)
{
	size_t *n = ctx;

	assert_true(now->share >= 0 && now->share <= 1);
	++*n;
}

static void
steps_left_out_do_not_run(void **state)
{
	struct ablated a;
	size_t n_told = 0;

	(void)state;
	start_counting(&a);
	a.how.control.progress = count_progress;
	a.how.control.progress_ctx = &n_told;
	/* Step 0; step 1; steps 1, 2 and 3. */
	a.targets[2].steps = &steps[1];
	a.targets[2].n_steps = 3;
	ablate(&a, 3);
	/* Two iterations find and store; nine rounds have five each, two of
	 * them with all steps. */
	assert_int_equal(n_runs[0], 2 + 9 * 5 - 9);
	assert_int_equal(n_runs[1], 2 + 9 * 5 - 2 * 9);
	assert_int_equal(n_runs[2], 2 + 9 * 5 - 9);
	assert_int_equal(n_runs[3], 2 + 9 * 5 - 9);
	assert_int_equal(n_told, 9 + 1);
	finish(&a);
}

static void
an_interrupt_cuts_a_round_short(void **state)
{
	struct ablated a;

	(void)state;
	start_counting(&a);
	a.targets[0].steps = steps;
	a.targets[0].n_steps = 4;
	/* The full iteration and the recorded one alone run steps: after two
	 * iterations that store and four rounds, the first of the two.  It
	 * ends, and nothing starts after it. */
	interrupt_at = 4 * 2 + 4 * 8 + 1;
	ablate(&a, 1);
	assert_int_equal(n_runs_all, 4 * 2 + 4 * 8 + 4);
	assert_null(a.targets[0].absent);
	assert_int_equal(a.targets[0].limit.n, 4);
	finish(&a);
	/* In the iteration that finds, the one that stores does not begin. */
	start_counting(&a);
	interrupt_at = 2;
	ablate(&a, 4);
	assert_int_equal(n_runs_all, 4);
	for (size_t k = 0; k < 4; k++)
		assert_non_null(strstr(a.targets[k].absent, "interrupted"));
	finish(&a);
	/* Before it, nothing runs. */
	start_counting(&a);
	interrupt = 1;
	ablate(&a, 4);
	assert_int_equal(n_runs_all, 0);
	for (size_t k = 0; k < 4; k++)
		assert_non_null(strstr(a.targets[k].absent, "interrupted"));
	finish(&a);
}

static void
memory_that_runs_out_is_a_reason(void **state)
{
	size_t block_most = (size_t)3 << 19;
	const struct sl_allocator small = {small_alloc, small_release,
					   &block_most};
	struct ablated a;

	(void)state;
	start(&a,
	      "in x f32 8,16\n"
	      "const w f32 16,65536 = random\n"
	      "a = MatMul x w\n"
	      "b = ReduceMax a axes=[1] keepdims=1\n"
	      "c = Softmax b axis=0\n"
	      "out c\n",
	      SL_PLAN_NO_FUSION);
	planned_fill(&a.p, "x", 2, matrix, 1);
	a.targets[1].steps = &steps[2];
	sl__arena_release(&a.arena);
	sl__arena_init(&a.arena, &small);
	/* The 2 MiB of the product have no copy, the softmax has. */
	ablate(&a, 2);
	assert_non_null(strstr(a.targets[0].absent, "no memory"));
	assert_true(isnan(a.targets[0].limit.value));
	assert_measured(&a.targets[1], 9);
	/* Nothing has room. */
	sl__arena_release(&a.arena);
	sl__arena_init(&a.arena, &small);
	block_most = 0;
	ablate(&a, 2);
	for (size_t k = 0; k < 2; k++)
		assert_non_null(strstr(a.targets[k].absent, "no memory"));
	planned_check(&a.p);
	finish(&a);
}

static void
too_few_rounds_have_no_interval(void **state)
{
	struct ablated a;

	(void)state;
	start(&a, chain, 0);
	planned_fill(&a.p, "x", 2, matrix, 1);
	a.how.n_rounds = 3;
	ablate(&a, 1);
	assert_measured(&a.targets[0], 3);
	assert_true(isnan(a.targets[0].limit.lo));
	assert_int_equal(a.targets[0].limit.needs_n, 6);
	finish(&a);
}

/* Ten iterations fit, of which finding and storing take two: one target has its
 * six rounds of 1.25 iterations, a second of that kind none. */
static void
time_is_for_the_first(void **state)
{
	struct ablated a;

	(void)state;
	start(&a, chain, 0);
	planned_fill(&a.p, "x", 2, matrix, 1);
	a.how.n_rounds = 0;
	a.how.iteration_ns = 1e9;
	a.how.time_s = 10;
	a.targets[0].share = a.targets[1].share = 0.75;
	ablate(&a, 2);
	assert_null(a.targets[0].absent);
	assert_true(a.targets[0].limit.n > 0);
	assert_non_null(strstr(a.targets[1].absent, "no time"));
	assert_true(isnan(a.targets[1].limit.value));
	a.how.time_s = 5;
	ablate(&a, 2);
	assert_non_null(strstr(a.targets[0].absent, "no time"));
	assert_non_null(strstr(a.targets[0].absent, "1.0 s"));
	planned_check(&a.p);
	finish(&a);
}

static void
room_is_for_the_first(void **state)
{
	struct ablated a;

	(void)state;
	start(&a, chain, SL_PLAN_NO_FUSION);
	planned_fill(&a.p, "x", 2, matrix, 1);
	a.how.store_bytes = 600;
	/* The group does not fit; the single step that follows does, and so
	 * does the same step once more. */
	a.targets[0].steps = steps;
	a.targets[0].n_steps = 4;
	a.targets[2].steps = &steps[1];
	ablate(&a, 4);
	assert_non_null(strstr(a.targets[0].absent, "GB"));
	assert_measured(&a.targets[1], 9);
	assert_measured(&a.targets[2], 9);
	assert_non_null(a.targets[3].absent);
	planned_check(&a.p);
	finish(&a);
}

static void
branches_have_reasons(void **state)
{
	static const double yes[] = {1};
	static const int64_t four[] = {4};
	size_t which[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
	struct sl_step step;
	struct ablated a;

	(void)state;
	start(&a,
	      "in c bool -\n"
	      "in x f32 4\n"
	      "block then\n"
	      "t = Neg x\n"
	      "out t\n"
	      "end\n"
	      "block else\n"
	      "e = Exp x\n"
	      "out e\n"
	      "end\n"
	      "y = If c then_branch=@then else_branch=@else\n"
	      "z = Add y x\n"
	      "out z\n",
	      0);
	planned_set(&a.p, "c", 0, NULL, yes);
	planned_fill(&a.p, "x", 1, four, 5);
	for (size_t i = 0; sl_plan_step(a.p.plan, i, &step); i++) {
		if (!strcmp(step.kernel, "branch"))
			which[0] = i;
		else if (!strcmp(step.type, "Exp"))
			which[1] = i;
		else if (!strcmp(step.type, "Add"))
			which[2] = i;
	}
	for (size_t k = 0; k < 3; k++) {
		assert_true(which[k] != SIZE_MAX);
		a.targets[k].steps = &which[k];
	}
	/* A group with one step that cannot be left out cannot either. */
	a.targets[3].steps = which;
	a.targets[3].n_steps = 3;
	ablate(&a, 4);
	assert_non_null(strstr(a.targets[0].absent, "decides"));
	assert_non_null(strstr(a.targets[1].absent, "does not run"));
	assert_measured(&a.targets[2], 9);
	assert_non_null(strstr(a.targets[3].absent, "decides"));
	planned_check(&a.p);
	finish(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_targets_in_every_round),
		cmocka_unit_test(steps_left_out_do_not_run),
		cmocka_unit_test(an_interrupt_cuts_a_round_short),
		cmocka_unit_test(memory_that_runs_out_is_a_reason),
		cmocka_unit_test(too_few_rounds_have_no_interval),
		cmocka_unit_test(time_is_for_the_first),
		cmocka_unit_test(room_is_for_the_first),
		cmocka_unit_test(branches_have_reasons),
	};

	return cmocka_run_group_tests_name("ablate", tests, NULL, NULL);
}
