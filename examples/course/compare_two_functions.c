/* SPDX-License-Identifier: Apache-2.0 */
/* compare_two_functions.c - is B faster than A, or is that noise? */
#include <sleuth.h>

#include <stdio.h>

static int
add_up(void *ctx)
{
	volatile double sum = 0;

	for (int i = 0; i < *(const int *)ctx; i++)
		sum = sum + i;
	return 0;
}

int
main(void)
{
	int all = 2000, half = 1000;
	const struct sl_candidate candidates[] = {{"all", add_up, &all},
						  {"half", add_up, &half}};
	struct sl_compare_options how = SL_COMPARE_OPTIONS_INIT;
	struct sl_comparisons *c;
	struct sl_error err;

	how.time_s = 1;
	if (sl_compare(&c, candidates, 2, &how, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("half is %s: %.3f of the time, 95 %% interval %.3f to %.3f\n",
	       sl_verdict_text(c->rows[0].verdict), c->rows[0].ratio.value,
	       c->rows[0].ratio.lo, c->rows[0].ratio.hi);
	sl_comparisons_free(c);
	return 0;
}
