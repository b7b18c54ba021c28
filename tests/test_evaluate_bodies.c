/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_evaluate_bodies.c - proves that what the bodies of a node use is there
 * for them and goes after the node, whichever way it went, and that the tables
 * of shapes are after a run as they were before it.
 */
#include "graph_run.h"

/* A use inside a body counts as one by the node that has the body, and an
 * outer value that is a body's output is used too. */
static void
bodies_use_what_is_around_them(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, "const x f32 2 = 1,2\n"
		       "const yes bool - = 1\n"
		       "const no bool - = 0\n"
		       "a = Neg x\n"
		       "b = Abs a\n"
		       "block then\n"
		       "t = Add b b\n"
		       "out t\n"
		       "end\n"
		       "block else\n"
		       "out a\n"
		       "end\n"
		       "y = If yes then_branch=@then else_branch=@else\n"
		       "block then2\n"
		       "t2 = Exp b\n"
		       "out t2\n"
		       "end\n"
		       "block else2\n"
		       "out a\n"
		       "end\n"
		       "z = If no then_branch=@then2 else_branch=@else2\n"
		       "out y\n"
		       "out z\n");
	check_value(&c, "y", "[2]={2,4}");
	check_value(&c, "z", "[2]={-1,-2}");
	course_finish(&c);
}

/* Only what runs is looked at: sizes that cannot be are no failure in a branch
 * that is not taken, nor in a loop that never runs. */
static void
bodies_that_do_not_run_may_be_wrong(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, "const x f32 2 = 1,2\n"
		       "const yes bool - = 1\n"
		       "const seven i64 1 = 7\n"
		       "block then\n"
		       "t = Neg x\n"
		       "out t\n"
		       "end\n"
		       "block else\n"
		       "u = Reshape x seven\n"
		       "out u\n"
		       "end\n"
		       "y = If yes then_branch=@then else_branch=@else\n"
		       "out y\n");
	check_value(&c, "y", "[2]={-1,-2}");
	course_finish(&c);
	course_run(&c, "const x f32 2 = 1,2\n"
		       "const none i64 - = 0\n"
		       "const seven i64 1 = 7\n"
		       "block body\n"
		       "in i i64 -\n"
		       "in go bool -\n"
		       "in s f32 2\n"
		       "go2 = Identity go\n"
		       "s2 = Reshape s seven\n"
		       "out go2\n"
		       "out s2\n"
		       "end\n"
		       "y = Loop none - x body=@body\n"
		       "out y\n");
	check_value(&c, "y", "[2]={1,2}");
	course_finish(&c);
}

static enum sl__type_kind
kind_of(struct course *c, const char *name)
{
	return c->ev->values[graph_text_value(c->g, name)].kind;
}

/* Captured values go after the last node that has a body which uses them:
 * those of the branch that was not taken, and those deep inside, too. */
static void
captured_values_go(void **state)
{
	static const char text[] =
		"const x f32 2 = 1,2\n"
		"const yes bool - = 1\n"
		"a = Neg x\n"
		"b = Abs a\n"
		"d = Exp a\n"
		"block then\n"
		"block deep\n"
		"t2 = Neg b\n"
		"out t2\n"
		"end\n"
		"block deeper\n"
		"t3 = Abs b\n"
		"out t3\n"
		"end\n"
		"t = If yes then_branch=@deep else_branch=@deeper\n"
		"out t\n"
		"end\n"
		"block else\n"
		"e = Relu d\n"
		"out e\n"
		"end\n"
		"y = If yes then_branch=@then else_branch=@else\n"
		"z = Neg a\n"
		"out y\n"
		"out z\n";
	struct course c;

	(void)state;
	course_start(&c, text, NULL);
	for (int round = 0; round < 2; round++) {
		static const char *const names[] = {"a", "b", "d", "y"};

		for (int i = 0; i < 4; i++) {
			if (sl__evaluate_node(c.ev, maker_of(c.g, names[i]),
					      &c.err))
				fail_msg("%s", c.err.text);
		}
		assert_int_equal(kind_of(&c, "a"), SL__TYPE_TENSOR);
		assert_int_equal(kind_of(&c, "b"), SL__TYPE_UNKNOWN);
		assert_int_equal(kind_of(&c, "d"), SL__TYPE_UNKNOWN);
		check_value(&c, "y", "[2]={-1,-2}");
		assert_int_equal(
			sl__evaluate_node(c.ev, maker_of(c.g, "z"), &c.err),
			SL_OK);
		assert_int_equal(kind_of(&c, "a"), SL__TYPE_UNKNOWN);
	}
	course_finish(&c);
}

static void
shapes_are_as_before(void **state)
{
	struct course c;

	(void)state;
	course_run(&c, "const x f32 2 = 1,2\n"
		       "const yes bool - = 1\n"
		       "a = Neg x\n"
		       "b = Abs a\n"
		       "block then\n"
		       "t = Neg b\n"
		       "out t\n"
		       "end\n"
		       "block else\n"
		       "out a\n"
		       "end\n"
		       "y = If yes then_branch=@then else_branch=@else\n"
		       "out y\n");
	for (size_t i = 0; i < c.g->graph->n_values; i++) {
		const struct sl__type *type = &c.ev->shapes->types[i];

		assert_int_equal(type->kind, SL__TYPE_UNKNOWN);
		assert_int_equal(type->rank, -1);
		assert_null(type->dims);
		assert_null(c.ev->shapes->known[i]);
	}
	course_finish(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_use_what_is_around_them),
		cmocka_unit_test(bodies_that_do_not_run_may_be_wrong),
		cmocka_unit_test(captured_values_go),
		cmocka_unit_test(shapes_are_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
