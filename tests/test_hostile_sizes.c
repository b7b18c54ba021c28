/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hostile_sizes.c - proves that a value beyond all memory is refused by
 * name before anything is made for it, and that a sequence that grows is
 * handed on only where nobody else needs it.
 */
#include "planned_graph.h"

static const int64_t four[] = {4};

static void
beyond_all_memory(void **state)
{
	struct graph_text *g =
		graph_text_with("in x f32 1,1,2,2\n"
				"const s i64 4 = 1,1,1000000000,1000000000\n"
				"y = Resize x - - s\n"
				"out y\n",
				NULL);
	struct sl_plan_options how = {.struct_size = sizeof(how),
				      .n_threads = 1};
	struct sl_plan *plan;
	struct sl_error err = {0};

	(void)state;
	assert_int_equal(sl_plan_new(&plan, g->graph, &how, &err), SL_E_NOMEM);
	assert_non_null(strstr(err.text, "'y' (Resize)"));
	assert_non_null(strstr(err.text, "takes 4e+09 GB"));
	graph_text_free(g);
}

/* s is used twice, t once: one is copied, the other handed on. */
static void
sequences_grow(void **state)
{
	struct planned p;

	(void)state;
	planned_start(&p,
		      "in x f32 4\n"
		      "const first i64 - = 0\n"
		      "const second i64 - = 1\n"
		      "a = Neg x\n"
		      "b = Exp x\n"
		      "s = SequenceConstruct x a\n"
		      "t = SequenceInsert s b\n"
		      "u = SequenceInsert t a first\n"
		      "v = SequenceInsert u x second\n"
		      "w = SequenceInsert s a second\n"
		      "y = ConcatFromSequence v axis=0\n"
		      "z = ConcatFromSequence w axis=0\n"
		      "out y\n"
		      "out z\n",
		      1, 0);
	for (uint64_t i = 1; i < 4; i++) {
		const struct sl__runtime_value *got;
		struct sl__runtime_value y;
		struct sl_error err;
		static const int from[] = {1, 0, 0, 1, 2};
		const float *x;

		planned_fill(&p, "x", 1, four, i);
		planned_check(&p);
		/* a x x a b: the evaluator hands sequences on as well. */
		assert_int_equal(sl__plan_output_value(p.plan, 0, &y, &err),
				 SL_OK);
		got = &y;
		x = (const float *)p.inputs[0].tensor.bytes;
		for (int k = 0; k < 20; k++) {
			float want = x[k % 4];

			want = from[k / 4] == 1   ? -want
			       : from[k / 4] == 2 ? expf(want)
						  : want;
			assert_near(
				(double)((const float *)got->tensor.bytes)[k],
				(double)want, 1e-5);
		}
	}
	planned_finish(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beyond_all_memory),
		cmocka_unit_test(sequences_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
