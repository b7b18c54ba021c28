/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 2_compare_two.c - is the second version faster, or is that noise?
 *
 * Walks a matrix by rows and by columns, in random order, until the verdict
 * is proved or a second is over.
 */
#include <sleuth.h>

#include <stdio.h>

enum { N = 512 };

struct matrix {
	float x[N][N];
	volatile float sum;
};

static int
by_columns(void *ctx)
{
	struct matrix *m = ctx;
	float sum = 0;

	for (int column = 0; column < N; column++)
		for (int row = 0; row < N; row++)
			sum += m->x[row][column];
	m->sum = sum;
	return 0;
}

static int
by_rows(void *ctx)
{
	struct matrix *m = ctx;
	float sum = 0;

	for (int row = 0; row < N; row++)
		for (int column = 0; column < N; column++)
			sum += m->x[row][column];
	m->sum = sum;
	return 0;
}

int
main(void)
{
	static struct matrix matrix;
	const struct sl_candidate candidates[] = {
		{"by columns", by_columns, &matrix}, /* A, the baseline */
		{"by rows", by_rows, &matrix},
	};
	struct sl_compare_options how = SL_COMPARE_OPTIONS_INIT;
	struct sl_comparisons *c;
	struct sl_error err;

	how.time_s = 1;
	if (sl_compare(&c, candidates, 2, &how, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("by rows is %s: %.3f [%.3f, %.3f] of the time by columns, "
	       "%zu rounds\n",
	       sl_verdict_text(c->rows[0].verdict), c->rows[0].ratio.value,
	       c->rows[0].ratio.lo, c->rows[0].ratio.hi, c->rows[0].n_rounds);
	sl_comparisons_free(c);
	return 0;
}
