/* SPDX-License-Identifier: Apache-2.0 */
/* repeated_work.c - arithmetic that a decoder without cache does again. */
#include "analysis/repeated_work.h"

#include "base/banned.h"

/* Counts are whole numbers below 2^53, and so are their differences: nothing
 * is rounded but by the last two divisions. */
int
sl__work_law_of(struct sl__work_law *out, const double flops[4], int64_t first)
{
	double a = flops[1] - flops[0], b = flops[2] - flops[1],
	       c = flops[3] - flops[2];
	double n = (double)first;

	if (b - a != c - b)
		return 0;
	out->quadratic = (b - a) / 2;
	out->linear = a - out->quadratic * (2 * n + 1);
	out->constant = flops[0] - n * (out->linear + out->quadratic * n);
	return 1;
}

double
sl__work_pass(const struct sl__work_law *law, int64_t n)
{
	double x = (double)n;

	return law->constant + x * (law->linear + law->quadratic * x);
}

double
sl__work_newest(const struct sl__work_law *law, int64_t n)
{
	return law->constant + law->linear + law->quadratic * (double)n;
}

double
sl__repeated_share(const struct sl__work_law *law, int64_t n)
{
	double pass = sl__work_pass(law, n);

	return pass > 0 ? 1 - sl__work_newest(law, n) / pass : 0;
}

/* Sums of n^0, n^1 and n^2 from 'first' to 'last'. */
static void
power_sums(double sums[3], int64_t first, int64_t last)
{
	double below = (double)first - 1, top = (double)last;

	sums[0] = top - below;
	sums[1] = top * (top + 1) / 2 - below * (below + 1) / 2;
	sums[2] = top * (top + 1) * (2 * top + 1) / 6 -
		  below * (below + 1) * (2 * below + 1) / 6;
}

double
sl__work_passes(const struct sl__work_law *law, int64_t first, int64_t last)
{
	double sums[3];

	if (last < first)
		return 0;
	power_sums(sums, first, last);
	return law->constant * sums[0] + law->linear * sums[1] +
	       law->quadratic * sums[2];
}

double
sl__work_newests(const struct sl__work_law *law, int64_t first, int64_t last)
{
	double sums[3];

	if (last < first)
		return 0;
	power_sums(sums, first, last);
	return (law->constant + law->linear) * sums[0] +
	       law->quadratic * sums[1];
}
