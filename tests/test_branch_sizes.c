/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_branch_sizes.c - proves that an If is planned whose branches give other
 * sizes, or one of which does not fit the sizes of what it uses.
 */
#include "planned_graph.h"

static const int64_t four[] = {4};
static const double yes[] = {1}, no[] = {0};

static void
read_output(const struct planned *p, const char *name, double *to)
{
	struct sl_array a;
	struct sl_error err;

	if (sl_plan_output(p->plan, name, &a, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < 4; i++)
		to[i] = (double)((const float *)a.data)[i];
}

/* Where sizes differ between the branches each is planned for its own, and the
 * evaluator runs what follows; one gives an input as it is, which may be set
 * again before the output is looked at. */
static void
sizes_may_differ(void **state)
{
	static const double other[] = {9, 9, 9, 9};
	struct planned p;

	(void)state;
	planned_start(&p,
		      "in c bool -\n"
		      "in x f32 4\n"
		      "const two i64 2 = 2,2\n"
		      "h = Exp x\n"
		      "block then\n"
		      "t = Neg h\n"
		      "t2 = Reshape x two\n"
		      "out t\n"
		      "out t2\n"
		      "end\n"
		      "block else\n"
		      "e = Reshape h two\n"
		      "e2 = Tanh e\n"
		      "out e2\n"
		      "out x\n"
		      "end\n"
		      "y,v = If c then_branch=@then else_branch=@else\n"
		      "z = Abs y\n"
		      "u = Neg h\n"
		      "out z\n"
		      "out u\n"
		      "out v\n",
		      1, 0);
	assert_int_equal(planned_n_path(&p, SL_PATH_STEPWISE), 1);
	assert_int_equal(planned_n_kernel(&p, "tanh"), 1);
	for (int i = 0; i < 4; i++) {
		double before[4], after[4];

		planned_set(&p, "c", 0, NULL, i % 2 ? yes : no);
		planned_fill(&p, "x", 1, four, (uint64_t)i + 1);
		planned_check(&p);
		read_output(&p, "v", before);
		planned_set(&p, "x", 1, four, other);
		read_output(&p, "v", after);
		assert_memory_equal(before, after, sizeof(before));
	}
	planned_finish(&p);
}

/* A branch that cannot be run with the sizes there are is no failure where it
 * is not taken, and the other one is planned. */
static void
branches_may_not_fit(void **state)
{
	struct planned p;
	struct sl_error err;

	(void)state;
	planned_start(&p,
		      "in c bool -\n"
		      "in x f32 4\n"
		      "const w f32 3 = 1,2,3\n"
		      "block then\n"
		      "t = Neg x\n"
		      "out t\n"
		      "end\n"
		      "block else\n"
		      "e = Add x w\n"
		      "out e\n"
		      "end\n"
		      "y = If c then_branch=@then else_branch=@else\n"
		      "z = Abs y\n"
		      "out z\n",
		      1, 0);
	assert_int_equal(planned_n_path(&p, SL_PATH_STEPWISE), 1);
	planned_fill(&p, "x", 1, four, 1);
	for (int i = 0; i < 2; i++) {
		planned_set(&p, "c", 0, NULL, yes);
		planned_check(&p);
		planned_set(&p, "c", 0, NULL, no);
		assert_int_equal(sl_plan_run(p.plan, &err), SL_E_DATA);
		assert_non_null(strstr(err.text, "'e' (Add)"));
	}
	planned_finish(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_may_differ),
		cmocka_unit_test(branches_may_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
