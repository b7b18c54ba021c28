/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recorded_verdicts.c - proves that responses which were recorded on
 * models whose answer is known (bench/verdicts/) are still judged right.
 */
#include "harness.h"
#include "bottleneck.h"

/* A line of verdicts.txt, as bench/verdicts/known.c writes it. */
static int
read_case(FILE *f, struct sl__case *c, char *expected)
{
	int n = fscanf(f, " %*s %15s %*s %d %d %lf %lf %lf %lf %lf %lf %lf",
		       expected, &c->is_reference, &c->is_same_alone,
		       &c->n_threads, &c->time_ns, &c->least_ns, &c->flops,
		       &c->n_bytes, &c->flops_per_s, &c->step_ns);

	for (int k = 0; k < SL__N_MEMORIES; k++)
		n += fscanf(f, "%lf %lf", &c->bytes_per_s[k],
			    &c->size_bytes[k]);
	for (int k = 0; k < SL_N_CONDITIONS; k++)
		n += fscanf(f, "%lf %lf", &c->at_ns[k], &c->spread[k]);
	n += fscanf(f, "%lf %lf %lf %lf %lf", &c->hog.dram, &c->hog.l3,
		    &c->hog.l2, &c->hog.compute, &c->others_share);
	return n == 10 + 2 * SL__N_MEMORIES + 2 * SL_N_CONDITIONS + 5;
}

static void
recorded_responses_are_judged_right(void **state)
{
	FILE *f = fopen(SL_TEST_DATA "/verdicts.txt", "r");
	size_t n = 0, n_right = 0, n_wrong = 0;
	struct sl__case c = {.dtype = SL_DTYPE_F32};
	char expected[16];

	(void)state;
	assert_non_null(f);
	while (read_case(f, &c, expected)) {
		struct sl__scores s;

		sl__case_score(&s, &c);
		n++;
		if (!strcmp(sl_bound_text(s.bound), expected))
			n_right++;
		else if (s.bound != SL_BOUND_UNKNOWN)
			n_wrong++;
	}
	assert_true(feof(f));
	fclose(f);
	assert_true(n >= 50);
	print_message("%zu operations, %zu right, %zu wrong\n", n, n_right,
		      n_wrong);
	assert_true(n_right * 10 >= n * 9);
	assert_true(n_wrong * 50 <= n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_responses_are_judged_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
