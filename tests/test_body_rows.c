/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_body_rows.c - proves that a profile has a row for each operation in a
 * branch that is taken and in a loop's body, by the layer's name and with its
 * calls, and that their times are part of what adds up.
 */
#include "graph_text.h"
#include "sleuth.h"

static const struct sl_operation *
find(const struct sl_profile *p, const char *name)
{
	static const struct sl_operation none;

	for (size_t i = 0; i < p->n_operations; i++) {
		if (!strcmp(p->operations[i].name, name))
			return &p->operations[i];
	}
	fail_msg("no row '%s'", name);
	return &none;
}

static void
operations_in_bodies_have_rows(void **state)
{
	struct graph_text *g =
		graph_text_with("in x f32 64,64\n"
				"const zero f32 - = 0\n"
				"const n i64 - = 7\n"
				"const yes bool - = 1\n"
				"m = ReduceMax x keepdims=0\n"
				"c = Greater m zero\n"
				"block then\n"
				"t = MatMul x x\n"
				"out t\n"
				"end\n"
				"block else\n"
				"e = Flatten x axis=0\n"
				"e2 = Exp e\n"
				"out e2\n"
				"end\n"
				"y = If c then_branch=@then else_branch=@else\n"
				"block body\n"
				"in i i64 -\n"
				"in go bool -\n"
				"in s f32 64,64\n"
				"r = Tanh s\n"
				"out go\n"
				"out r\n"
				"end\n"
				"z = Loop n yes x body=@body\n"
				"out y\n"
				"out z\n",
				NULL);
	struct sl_plan_options plan = {.struct_size = sizeof(plan),
				       .n_threads = 1,
				       .algorithms = SL_ALGORITHMS_FIXED,
				       .flags = SL_PLAN_NO_CACHE};
	struct sl_profile_options how = {.struct_size = sizeof(how),
					 .plan = &plan,
					 .flags = SL_PROFILE_BRIEF,
					 .n_warmup = 2,
					 .n_runs = 20};
	struct sl_profile *p;
	struct sl_error err = {0};
	double sum = 0;

	(void)state;
	if (sl_profile_forward(&p, g->graph, &how, &err))
		fail_msg("%s", err.text);
	assert_true(fabs(find(p, "t")->n_calls - 1) < 1e-9);
	assert_true(find(p, "t")->self_ns > 0);
	assert_true(fabs(find(p, "e2")->n_calls) < 1e-9);
	assert_true(fabs(find(p, "r")->n_calls - 7) < 1e-9);
	assert_true(find(p, "r")->self_ns > find(p, "r")->min_ns);
	for (size_t i = 0; i < p->n_operations; i++)
		sum += p->operations[i].self_ns;
	/* What operations take is what the ledger has for them. */
	assert_true(fabs(sum - p->ledger.operations_ns) <=
		    1e-6 * p->ledger.operations_ns);
	sl_profile_free(p);
	graph_text_free(g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_in_bodies_have_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
