/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_microbench_ops.c - proves that the microbench measures every operation
 * of its list at two small sizes.
 */
#include "short_look.h"

/* Every operation can be built and run, and has a place in the list. */
static void
test_every_operation(void **state)
{
	struct sl_microbench_options how = short_look();
	const char *op;
	size_t i;

	(void)state;
	how.n_runs = 2;
	for (i = 0; (op = sl_microbench_op(i)); i++) {
		struct sl_microbench *m = look_at(op, &how);

		assert_int_equal(m->series[0].n_measured, 2);
		assert_true(m->series[0].points[1].n_bytes > 0);
		assert_true(m->series[0].points[1].n_operations > 0);
		sl_microbench_free(m);
	}
	assert_true(i >= 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
