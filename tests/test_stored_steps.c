/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stored_steps.c - proves that stored outputs stand in for any step, and
 * for all of them, to the last bit: of chains, of results that lie over their
 * inputs, of parts of a larger value and of several steps for one node; that
 * nothing is taken from an earlier run; and that branches, the evaluator's
 * steps and those for whose copy there is no memory are refused.
 */
#include "planned_graph.h"
#include "small_blocks.h"
#include "experiment/stand_in_outputs.h"

static const int64_t image[] = {1, 16, 6, 6}, matrix[] = {8, 16}, six[] = {6};

/* Which steps a guided run leaves out. */
struct skipped {
	const struct sl__stand_in_outputs *stored;
	size_t first, end;
};

static enum sl_status
around(struct sl__program *p, size_t i, void *ctx, struct sl_error *err)
{
	const struct skipped *s = ctx;

	if (i < s->first || i >= s->end)
		return sl__run_step(p, i, err);
	sl__stand_in_outputs_restore(s->stored, i);
	return SL_OK;
}

/* Overwrites whatever steps write. */
static void
spoil(struct sl__program *p)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		for (uint32_t k = 0; k < p->steps[i].n_operands; k++) {
			uint32_t id = p->steps[i].operands[k];
			struct sl__buffer *b = &p->buffers[p->buffers[id].base];

			if (b->category != SL__CATEGORY_CONSTANT &&
			    b->category != SL__CATEGORY_INPUT)
				memset(b->data, 0x7f, (size_t)b->n_bytes);
		}
	}
}

static void
compare_outputs(struct sl_plan *plan, unsigned char *const *expected)
{
	size_t n = plan->graph->blocks[0].n_outputs;

	for (size_t k = 0; k < n; k++) {
		struct sl__runtime_value d;

		assert_int_equal(sl__plan_output_value(plan, k, &d, NULL),
				 SL_OK);
		assert_memory_equal(d.tensor.bytes, expected[k],
				    (size_t)d.tensor.n_bytes);
	}
}

static void
keep_outputs(struct sl_plan *plan, unsigned char **to)
{
	for (size_t k = 0; k < plan->graph->blocks[0].n_outputs; k++) {
		struct sl__runtime_value d;

		assert_int_equal(sl__plan_output_value(plan, k, &d, NULL),
				 SL_OK);
		to[k] = malloc((size_t)d.tensor.n_bytes);
		assert_non_null(to[k]);
		memcpy(to[k], d.tensor.bytes, (size_t)d.tensor.n_bytes);
	}
}

static void
store_all(struct sl__stand_in_outputs *stored, struct sl_plan *plan,
	  struct sl__arena *arena)
{
	struct sl_error err;

	assert_int_equal(sl__stand_in_outputs_open(stored, plan, arena, &err),
			 SL_OK);
	for (size_t i = 0; i < stored->n_steps; i++)
		stored->steps[i].is_wanted = 1;
	if (sl__stand_in_outputs_find(stored, &err) ||
	    sl__stand_in_outputs_copy(stored, &err))
		fail_msg("%s", err.text);
}

/* Every step alone, then all together; every run starts from rubbish. */
static void
check_plan(struct sl_plan *plan)
{
	unsigned char *expected[4];
	struct sl__stand_in_outputs stored;
	struct sl__arena arena;
	struct sl_error err;

	sl__arena_init(&arena, NULL);
	assert_int_equal(sl_plan_run(plan, &err), SL_OK);
	keep_outputs(plan, expected);
	store_all(&stored, plan, &arena);
	compare_outputs(plan, expected);
	for (size_t i = 0; i <= stored.n_steps; i++) {
		struct skipped s = {&stored, i, i + 1};
		struct sl__interceptor interceptor = {around, &s};

		if (i == stored.n_steps)
			s.first = 0;
		spoil(plan->current);
		assert_int_equal(sl__plan_intercept(plan, &interceptor, &err),
				 SL_OK);
		compare_outputs(plan, expected);
	}
	spoil(plan->current);
	assert_int_equal(sl_plan_run(plan, &err), SL_OK);
	compare_outputs(plan, expected);
	for (size_t k = 0; k < plan->graph->blocks[0].n_outputs; k++)
		free(expected[k]);
	sl__arena_release(&arena);
}

static void
check(const char *text, size_t rank, const int64_t *dims)
{
	static const unsigned flags[] = {0, SL_PLAN_NO_FUSION,
					 SL_PLAN_REFERENCE};

	for (size_t i = 0; i < 3; i++) {
		for (int n_threads = 1; n_threads <= 2; n_threads++) {
			struct planned p;

			planned_start(&p, text, n_threads, flags[i]);
			planned_fill(&p, "x", rank, dims, 7);
			check_plan(p.plan);
			planned_finish(&p);
		}
	}
}

static void
convolutions_with_reorders(void **state)
{
	(void)state;
	check("in x f32 1,16,6,6\n"
	      "const w f32 16,16,3,3 = random\n"
	      "const v f32 16,16,1,1 = random\n"
	      "a = Conv x w pads=[1,1,1,1]\n"
	      "b = Relu a\n"
	      "c = Conv b v\n"
	      "d = Add c b\n"
	      "e = Softmax d axis=3\n"
	      "out e\n"
	      "out d\n",
	      4, image);
}

static void
results_over_their_inputs(void **state)
{
	(void)state;
	check("in x f32 8,16\n"
	      "const w f32 16,16 = random\n"
	      "a = MatMul x w\n"
	      "b = Exp a\n"
	      "c = Neg b\n"
	      "d = Tanh c\n"
	      "e = Abs d\n"
	      "out e\n",
	      2, matrix);
}

static void
parts_of_a_larger_value(void **state)
{
	(void)state;
	check("opset 13\n"
	      "in x f32 8,16\n"
	      "a = Exp x\n"
	      "b = Neg x\n"
	      "c = Concat a b axis=0\n"
	      "d = Transpose c perm=[1,0]\n"
	      "e,f = Split d axis=0\n"
	      "g = Mul e f\n"
	      "h = Concat g e axis=1\n"
	      "out h\n"
	      "out c\n",
	      2, matrix);
}

/* A step that changes nothing over its input is put back too. */
static void
results_like_their_inputs(void **state)
{
	(void)state;
	check("in x f32 8,16\n"
	      "a = Abs x\n"
	      "b = Abs a\n"
	      "c = Relu b\n"
	      "out c\n",
	      2, matrix);
}

static void
large_outputs_on_all_threads(void **state)
{
	static const int64_t large[] = {64, 128};
	struct planned p;

	(void)state;
	planned_start(&p,
		      "in x f32 64,128\n"
		      "const w f32 128,513 = random\n"
		      "a = MatMul x w\n"
		      "b = Softmax a axis=1\n"
		      "out b\n",
		      2, 0);
	planned_fill(&p, "x", 2, large, 3);
	check_plan(p.plan);
	planned_finish(&p);
}

static void
branches_are_refused(void **state)
{
	static const double yes[] = {1};
	static const int64_t four[] = {4};
	struct sl__stand_in_outputs stored;
	struct sl__arena arena;
	struct planned p;
	size_t n_refused = 0, n_idle = 0;

	(void)state;
	planned_start(&p,
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
		      1, 0);
	planned_set(&p, "c", 0, NULL, yes);
	planned_fill(&p, "x", 1, four, 5);
	sl__arena_init(&arena, NULL);
	store_all(&stored, p.plan, &arena);
	for (size_t i = 0; i < stored.n_steps; i++) {
		const struct sl__step *step = &p.plan->current->steps[i];
		int is_jump = !strcmp(step->kernel, "branch") ||
			      !strcmp(step->kernel, "jump");

		assert_int_equal(stored.steps[i].absent != NULL, is_jump);
		n_refused += stored.steps[i].absent != NULL;
		n_idle += !stored.steps[i].absent && !stored.steps[i].has_run;
	}
	assert_int_equal(n_refused, 2);
	assert_true(n_idle >= 1);
	planned_check(&p);
	sl__arena_release(&arena);
	planned_finish(&p);
}

static void
the_evaluator_is_refused(void **state)
{
	struct sl__stand_in_outputs stored;
	struct sl__arena arena;
	struct planned p;
	size_t n = 0;

	(void)state;
	planned_start(&p,
		      "opset 13\n"
		      "in x f32 6\n"
		      "h = Abs x\n"
		      "i = NonZero h\n"
		      "j = Cast i to=1\n"
		      "out j\n"
		      "out h\n",
		      1, 0);
	planned_fill(&p, "x", 1, six, 5);
	sl__arena_init(&arena, NULL);
	store_all(&stored, p.plan, &arena);
	for (size_t i = 0; i < stored.n_steps; i++) {
		int is_stepwise = p.plan->current->steps[i].path ==
				  SL_PATH_STEPWISE;

		assert_int_equal(stored.steps[i].absent != NULL, is_stepwise);
		n += (size_t)is_stepwise;
	}
	assert_true(n > 0 && n < stored.n_steps);
	planned_check(&p);
	sl__arena_release(&arena);
	planned_finish(&p);
}

/* What the large step wrote has no copy; the others have theirs. */
static void
no_memory_for_a_copy(void **state)
{
	size_t block_most = SIZE_MAX;
	const struct sl_allocator small = {small_alloc, small_release,
					   &block_most};
	struct sl__stand_in_outputs stored;
	struct sl__arena arena;
	struct sl_error err;
	struct planned p;

	(void)state;
	planned_start(&p,
		      "in x f32 8,16\n"
		      "const w f32 16,65536 = random\n"
		      "a = MatMul x w\n"
		      "b = ReduceMax a axes=[1] keepdims=1\n"
		      "c = Softmax b axis=0\n"
		      "out c\n",
		      1, SL_PLAN_NO_FUSION);
	planned_fill(&p, "x", 2, matrix, 1);
	sl__arena_init(&arena, &small);
	assert_int_equal(
		sl__stand_in_outputs_open(&stored, p.plan, &arena, &err),
		SL_OK);
	for (size_t i = 0; i < stored.n_steps; i++)
		stored.steps[i].is_wanted = 1;
	assert_int_equal(sl__stand_in_outputs_find(&stored, &err), SL_OK);
	assert_null(stored.steps[0].absent);
	block_most = (size_t)3 << 19;
	assert_int_equal(sl__stand_in_outputs_copy(&stored, &err), SL_OK);
	assert_non_null(strstr(stored.steps[0].absent, "no memory"));
	assert_null(stored.steps[0].parts[0].image);
	for (size_t i = 1; i < stored.n_steps; i++) {
		assert_null(stored.steps[i].absent);
		assert_non_null(stored.steps[i].parts[0].image);
	}
	planned_check(&p);
	sl__arena_release(&arena);
	planned_finish(&p);
}

/* A product reads its matrices, a transpose what it moves, a lookup its two
 * indices and nobody knows which rows. */
static void
steps_read_their_operands(void **state)
{
	struct sl__stand_in_outputs stored;
	struct sl__arena arena;
	struct planned p;

	(void)state;
	planned_start(&p,
		      "in x f32 8,16\n"
		      "const w f32 16,64 = random\n"
		      "const i i64 2 = 5,0\n"
		      "a = MatMul x w\n"
		      "b = Transpose a perm=[1,0]\n"
		      "c = Gather b i axis=0\n"
		      "out c\n",
		      1, SL_PLAN_NO_FUSION);
	planned_fill(&p, "x", 2, matrix, 1);
	sl__arena_init(&arena, NULL);
	store_all(&stored, p.plan, &arena);
	for (size_t i = 0; i < stored.n_steps; i++) {
		uint64_t n_bytes =
			sl__stand_in_outputs_read_operands(&stored, i);
		if (i == 0) /* at least: weights are packed in blocks */
			assert_in_range(n_bytes, 4 * (8 * 16 + 16 * 64),
					4 * (8 * 16 + 64 * 64));
		else
			assert_int_equal(n_bytes, i == 1 ? 4 * 8 * 64 : 2 * 8);
	}
	planned_check(&p);
	sl__arena_release(&arena);
	planned_finish(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolutions_with_reorders),
		cmocka_unit_test(results_over_their_inputs),
		cmocka_unit_test(parts_of_a_larger_value),
		cmocka_unit_test(results_like_their_inputs),
		cmocka_unit_test(large_outputs_on_all_threads),
		cmocka_unit_test(branches_are_refused),
		cmocka_unit_test(the_evaluator_is_refused),
		cmocka_unit_test(no_memory_for_a_copy),
		cmocka_unit_test(steps_read_their_operands),
	};

	return cmocka_run_group_tests_name("stored_steps", tests, NULL, NULL);
}
