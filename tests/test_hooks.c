/* SPDX-License-Identifier: Apache-2.0 */
/* test_hooks.c - users' own functions around steps, and scopes around runs. */
#include "planned_graph.h"
#include "scope_rows.h"

/* What was called, in order: "+0" before step 0, "-0" after it. */
struct heard {
	const struct sl_plan *plan;
	char text[256];
	size_t n;
};

static void
hear(struct heard *h, const struct sl_plan *plan, char what, size_t step)
{
	size_t used = strlen(h->text);

	assert_ptr_equal(plan, h->plan);
	snprintf(h->text + used, sizeof(h->text) - used, "%c%zu ", what, step);
	h->n++;
}

static void
before(const struct sl_plan *plan, size_t step, void *ctx)
{
	struct sl_step asked;

	/* They may ask about the plan. */
	assert_true(sl_plan_step(plan, step, &asked));
	hear(ctx, plan, '+', step);
}

static void
after(const struct sl_plan *plan, size_t step, void *ctx)
{
	hear(ctx, plan, '-', step);
}

/* Four steps; the third one fails for an index that is not there. */
static void
start(struct planned *p, struct heard *h)
{
	const int64_t rows[] = {4, 2}, one[] = {1};

	planned_start(p,
		      "in x f32 4,2\nin i i64 1\na = Relu x\nb = Tanh a\n"
		      "c = Gather b i\nd = Tanh c\nout d\n",
		      1, SL_PLAN_NO_FUSION);
	planned_set(p, "x", 2, rows, (const double[]){1, 2, 3, 4, 5, 6, 7, 8});
	planned_set(p, "i", 1, one, (const double[]){3});
	assert_int_equal(sl_plan_n_steps(p->plan), 4);
	memset(h, 0, sizeof(*h));
	h->plan = p->plan;
}

static void
around_each_step(void **state)
{
	struct planned p;
	struct heard h;
	struct sl_hooks hooks = {before, after, &h};
	struct sl_error err;

	(void)state;
	start(&p, &h);
	sl_plan_set_hooks(p.plan, &hooks);
	/* A copy is kept. */
	memset(&hooks, 0, sizeof(hooks));
	assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
	assert_string_equal(h.text, "+0 -0 +1 -1 +2 -2 +3 -3 ");
	assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
	assert_int_equal(h.n, 16);
	/* Answers are the same. */
	planned_check(&p);
	assert_int_equal(h.n, 24);
	sl_plan_set_hooks(p.plan, NULL);
	planned_check(&p);
	assert_int_equal(h.n, 24);
	planned_finish(&p);
}

static void
either_alone(void **state)
{
	struct planned p;
	struct heard h;
	struct sl_error err;

	(void)state;
	start(&p, &h);
	sl_plan_set_hooks(p.plan, &(struct sl_hooks){before, NULL, &h});
	assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
	sl_plan_set_hooks(p.plan, &(struct sl_hooks){NULL, after, &h});
	assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
	sl_plan_set_hooks(p.plan, &(struct sl_hooks){NULL, NULL, &h});
	assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
	assert_string_equal(h.text, "+0 +1 +2 +3 -0 -1 -2 -3 ");
	planned_finish(&p);
}

/* Of a step that fails there is no after, and no step comes behind it. */
static void
not_after_a_failure(void **state)
{
	struct planned p;
	struct heard h;
	struct sl_error err;

	(void)state;
	start(&p, &h);
	sl_plan_set_hooks(p.plan, &(struct sl_hooks){before, after, &h});
	*(int64_t *)input_data(p.plan, "i") = 9;
	assert_int_equal(sl_plan_run(p.plan, &err), SL_E_DATA);
	assert_string_equal(h.text, "+0 -0 +1 -1 +2 ");
	planned_finish(&p);
}

/* Steps of a branch that is not taken are not heard of. */
static void
only_steps_that_run(void **state)
{
	struct planned p;
	struct heard h = {0};
	struct sl_error err;
	size_t n[2];

	(void)state;
	planned_start(&p,
		      "in c bool -\nin x f32 3\n"
		      "block yes\na = Exp x\nb = Relu a\nout b\nend\n"
		      "block no\nd = Exp x\nout d\nend\n"
		      "y = If c then_branch=@yes else_branch=@no\nout y\n",
		      1, SL_PLAN_NO_FUSION);
	planned_set(&p, "x", 1, (const int64_t[]){3},
		    (const double[]){1, 2, 3});
	planned_set(&p, "c", 0, NULL, (const double[]){0});
	h.plan = p.plan;
	sl_plan_set_hooks(p.plan, &(struct sl_hooks){before, after, &h});
	for (unsigned char is_true = 0; is_true < 2; is_true++) {
		*(unsigned char *)input_data(p.plan, "c") = is_true;
		h.n = 0;
		h.text[0] = '\0';
		assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
		n[is_true] = h.n;
	}
	/* The If itself runs in both, any other step in one of them. */
	assert_true(n[0] > 2 && n[1] > 2);
	assert_int_equal(n[0] + n[1], 2 * (sl_plan_n_steps(p.plan) + 1));
	planned_finish(&p);
}

/* A scope that is open on the thread has done the plan's work. */
static void
scopes_get_the_work(void **state)
{
	struct planned p;
	struct heard h;
	struct sl_scopes *s;
	struct sl_step step;
	struct sl_error err;
	double n_flops = 0, n_bytes = 0;

	(void)state;
	start(&p, &h);
	for (size_t i = 0; sl_plan_step(p.plan, i, &step); i++) {
		n_flops += (double)step.executed_flops;
		n_bytes += (double)step.n_bytes;
	}
	assert_true(n_flops > 0 && n_bytes > 0);
	for (int i = 0; i < 3; i++) {
		{
			SL_SCOPE("inference");

			assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
			assert_int_equal(sl_plan_run(p.plan, &err), SL_OK);
		}
	}
	/* A run that fails has done none, and nobody hears of one outside. */
	*(int64_t *)input_data(p.plan, "i") = 9;
	{
		SL_SCOPE("failure");

		assert_int_equal(sl_plan_run(p.plan, &err), SL_E_DATA);
	}
	s = take();
	assert_int_equal(row_of(s, "inference")->n_calls, 3);
	assert_near(row_of(s, "inference")->n_flops, 6 * n_flops, 0);
	assert_near(row_of(s, "inference")->n_bytes, 6 * n_bytes, 0);
	assert_int_equal(row_of(s, "failure")->n_calls, 1);
	assert_near(row_of(s, "failure")->n_flops, 0, 0);
	sl_scopes_free(s);
	planned_finish(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(around_each_step),
		cmocka_unit_test(either_alone),
		cmocka_unit_test(not_after_a_failure),
		cmocka_unit_test(only_steps_that_run),
		cmocka_unit_test_setup(scopes_get_the_work, reset),
	};

	return cmocka_run_group_tests_name("hooks", tests, NULL, NULL);
}
