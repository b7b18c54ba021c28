/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sized_nodes.c - proves that nodes with much to do, whose sizes are found
 * when the model runs, are computed by programs of their own as the evaluator
 * computes them, for one size after another; and that what is small, or
 * depends on contents, is left to the reference kernels.
 */
#include "planned_graph.h"
#include "engine/sized_nodes.h"

static const int64_t six[] = {6};

/* Rows of a table, those where x is not 0. */
#define CHOSEN(columns)                              \
	"opset 13\nin x f32 6\ni = NonZero x\n"      \
	"const zero i64 1 = 0\nj = Squeeze i zero\n" \
	"const table f32 6," columns " = random\n"   \
	"g = Gather table j\n"

/* Runs with two, six, no and again six rows. */
static void
check_rows(const char *text, size_t n_planned)
{
	static const double lists[][6] = {{0, 1, 0, 2, 0, 0},
					  {1, 1, 1, 1, 1, 1},
					  {0, 0, 0, 0, 0, 0},
					  {1, 1, 1, 1, 1, 1}};
	struct planned p;

	planned_start(&p, text, 2, 0);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		planned_set(&p, "x", 1, six, lists[i]);
		planned_check(&p);
		assert_int_equal(
			sl__sized_nodes_planned(p.plan->current->sized),
			n_planned);
	}
	planned_finish(&p);
}

static void
products_have_programs(void **state)
{
	(void)state;
	check_rows(CHOSEN("128") "const w f32 128,600 = random\n"
				 "const b f32 600 = random\n"
				 "m = MatMul g w\nn = Add m b\ny = Relu n\n"
				 "out y\n",
		   1);
	check_rows(CHOSEN("128") "const w f32 300,128 = random\n"
				 "const b f32 300 = random\n"
				 "y = Gemm g w b transB=1\n"
				 "const v f32 300,300 = random\n"
				 "z = MatMul y v\nout z\n",
		   1);
}

static void
small_nodes_have_none(void **state)
{
	(void)state;
	check_rows(CHOSEN("16") "const w f32 16,16 = random\n"
				"y = MatMul g w\nout y\n",
		   0);
}

/* Nodes of which the result depends on integers that are no constant. */
static void
contents_are_left_to_the_reference(void **state)
{
	(void)state;
	check_rows(CHOSEN("20000") "s = Shape g\ny = Reshape g s\n"
				   "e = Expand y s\nout e\n",
		   0);
}

static void
reference_plans_have_none(void **state)
{
	static const double all[] = {1, 1, 1, 1, 1, 1};
	struct planned p;

	(void)state;
	planned_start(&p,
		      CHOSEN("128") "const w f32 128,600 = random\n"
				    "y = MatMul g w\nout y\n",
		      1, SL_PLAN_REFERENCE);
	planned_set(&p, "x", 1, six, all);
	planned_check(&p);
	assert_null(p.plan->current->sized);
	planned_finish(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_have_programs),
		cmocka_unit_test(small_nodes_have_none),
		cmocka_unit_test(contents_are_left_to_the_reference),
		cmocka_unit_test(reference_plans_have_none),
	};

	return cmocka_run_group_tests_name("sized_nodes", tests, NULL, NULL);
}
