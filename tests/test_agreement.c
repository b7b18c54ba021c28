/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_agreement.c - a model agrees with itself; with its double in the highest
 * scores alone, at an error of 1; with its negative in none, at an error of 2.
 * Outputs of other sizes are not compared.
 */
#include "harness.h"
#include "experiment/agreement.h"
#include "sleuth.h"

#include <math.h>

struct model {
	struct sl_graph *graph;
	struct sl_plan *plan;
};

/* One operator of x [4][n], n_inputs times. */
static struct model
make(const char *type, size_t n_inputs, int64_t n)
{
	const struct sl_plan_options how = {.struct_size = sizeof(how),
					    .algorithms = SL_ALGORITHMS_FIXED,
					    .n_threads = 1};
	const int64_t dims[] = {4, n};
	struct sl_builder *b;
	struct model m;
	int x[2];

	assert_false(sl_builder_new(&b, "one", NULL, NULL));
	x[0] = x[1] = sl_builder_input(b, "x", SL_DTYPE_F32, 2, dims);
	sl_builder_output(b, sl_builder_op(b, type, n_inputs, x), "y");
	assert_false(sl_builder_finish(&m.graph, b, NULL));
	sl_builder_free(b);
	assert_false(sl_plan_new(&m.plan, m.graph, &how, NULL));
	return m;
}

static struct sl__agreement
compare(const char *type, size_t n_inputs, int64_t n)
{
	struct model a = make("Identity", 1, n == 1 ? 1 : 7);
	struct model b = make(type, n_inputs, n);
	struct sl__agreement found;

	assert_false(sl__agreement(&found, a.plan, b.plan, 10, 1, NULL));
	sl_plan_free(a.plan);
	sl_plan_free(b.plan);
	sl_graph_free(a.graph);
	sl_graph_free(b.graph);
	return found;
}

static void
outputs(void **state)
{
	static const struct {
		const char *type;
		size_t n_inputs;
		double share, error;
	} rows[] = {{"Identity", 1, 1, 0}, {"Add", 2, 1, 1}, {"Neg", 1, 0, 2}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct sl__agreement found =
			compare(rows[i].type, rows[i].n_inputs, 7);

		assert_null(found.absent);
		assert_int_equal(found.share.n, 10);
		assert_true(fabs(found.share.value - rows[i].share) < 1e-12);
		assert_true(fabs(found.error - rows[i].error) < 1e-6);
	}
}

static void
not_comparable(void **state)
{
	struct sl__agreement found = compare("Identity", 1, 6);

	(void)state;
	assert_non_null(strstr(found.absent, "other sizes"));
	assert_true(isnan(found.error));
	/* Of one number each there is no highest, but an error. */
	found = compare("Neg", 1, 1);
	assert_non_null(strstr(found.absent, "one number"));
	assert_int_equal(found.share.n, 0);
	assert_true(fabs(found.error - 2) < 1e-6);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs),
		cmocka_unit_test(not_comparable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
