/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two_sample.c - classical two-sample tests, for recorded samples only.
 *
 * They serve users who bring two files of numbers and know how these were
 * taken.  Nothing here can tell whether the samples are independent, and no
 * verdict of this library rests on them.
 */
#include "stats/two_sample.h"
#include "stats/special.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Largest sample for the exact distribution of U: 0.5 MB of counts. */
enum { EXACT_MAX = 50 };

/* What a t test is made of. */
struct halves {
	double difference;       /* of the means */
	double var_a, var_b;     /* n - 1 in the denominator */
	double count_a, count_b; /* as doubles */
};

static void
halves_of(struct halves *out, const double *a, size_t n_a, const double *b,
	  size_t n_b)
{
	double mean_a = sl__mean(a, n_a);
	double mean_b = sl__mean(b, n_b);

	out->difference = mean_a - mean_b;
	out->var_a = sl__variance(a, n_a, mean_a);
	out->var_b = sl__variance(b, n_b, mean_b);
	out->count_a = (double)n_a;
	out->count_b = (double)n_b;
}

static void
t_test(struct sl__two_sample *out, double difference, double variance,
       double df)
{
	out->statistic = out->df = out->p = (double)NAN;
	if (!(variance > 0 && df > 0))
		return;
	out->statistic = difference / sqrt(variance);
	out->df = df;
	out->p = 2 * sl__student_cdf(-fabs(out->statistic), df);
}

void
sl__pooled_t(struct sl__two_sample *out, const double *a, size_t n_a,
	     const double *b, size_t n_b)
{
	struct halves h;
	double df, pooled;

	halves_of(&h, a, n_a, b, n_b);
	df = h.count_a + h.count_b - 2;
	pooled = ((h.count_a - 1) * h.var_a + (h.count_b - 1) * h.var_b) / df;
	t_test(out, h.difference, pooled * (1 / h.count_a + 1 / h.count_b), df);
}

void
sl__welch_t(struct sl__two_sample *out, const double *a, size_t n_a,
	    const double *b, size_t n_b)
{
	struct halves h;
	double of_a, of_b, sum;

	halves_of(&h, a, n_a, b, n_b);
	of_a = h.var_a / h.count_a;
	of_b = h.var_b / h.count_b;
	sum = of_a + of_b;
	/* Shares of the sum rather than squares of it, which may underflow. */
	t_test(out, h.difference, sum,
	       1 / (of_a / sum * (of_a / sum) / (h.count_a - 1) +
		    of_b / sum * (of_b / sum) / (h.count_b - 1)));
}

/* How two sorted samples lie among each other. */
struct interleaving {
	double u;         /* pairs with a above b, ties count one half */
	double tie_cubes; /* sum of t^3 - t over groups of t equal values */
};

static size_t
n_equal(const double *sorted, size_t n, size_t from, double value)
{
	size_t to = from;

	while (to < n && !(sorted[to] > value))
		to++;
	return to - from;
}

static struct interleaving
interleave(const double *a, size_t n_a, const double *b, size_t n_b)
{
	struct interleaving found = {0, 0};
	size_t i = 0, j = 0;

	while (i < n_a || j < n_b) {
		double value = j == n_b || (i < n_a && a[i] < b[j]) ? a[i]
								    : b[j];
		size_t of_a = n_equal(a, n_a, i, value);
		size_t of_b = n_equal(b, n_b, j, value);
		double t = (double)(of_a + of_b);

		found.u += (double)of_a * ((double)j + (double)of_b / 2);
		found.tie_cubes += t * t * t - t;
		i += of_a;
		j += of_b;
	}
	return found;
}

/*
 * P(U <= u) without ties.  The number of orders of m values of A and n of B
 * with U = u is c(m, n, u) = c(m - 1, n, u - n) + c(m, n - 1, u), by whether
 * the largest value is from A or from B (Mann and Whitney 1947); c is kept
 * for one n and all m.  Sums of positive terms lose no digits.
 */
static double
exact_tail(size_t n_a, size_t n_b, size_t u, double *counts)
{
	size_t width = u + 1;
	double sum = 0, n_orders = 1;

	for (size_t m = 0; m <= n_a; m++)
		counts[m * width] = 1;
	for (size_t n = 1; n <= n_b; n++) {
		for (size_t m = 1; m <= n_a; m++) {
			const double *fewer = &counts[(m - 1) * width];
			double *row = &counts[m * width];

			for (size_t k = n; k <= u; k++)
				row[k] += fewer[k - n];
		}
		n_orders *= (double)(n_a + n) / (double)n;
	}
	for (size_t k = 0; k <= u; k++)
		sum += counts[n_a * width + k];
	return sum / n_orders;
}

static enum sl_status
exact_p(double *p, double u, size_t n_a, size_t n_b, struct sl__arena *arena)
{
	size_t mirrored = n_a * n_b - (size_t)u;
	size_t lower = (size_t)u < mirrored ? (size_t)u : mirrored;
	double *counts = sl__arena_array(arena, (n_a + 1) * (lower + 1),
					 sizeof(*counts));

	if (!counts)
		return SL_E_NOMEM;
	*p = fmin(1, 2 * exact_tail(n_a, n_b, lower, counts));
	return SL_OK;
}

/* Lehmann (1975): variance m n / 12 (N + 1 - sum(t^3 - t) / (N (N - 1))). */
static double
normal_p(struct interleaving found, size_t n_a, size_t n_b)
{
	double pairs = (double)n_a * (double)n_b;
	double n = (double)n_a + (double)n_b;
	double variance =
		pairs / 12 * (n + 1 - found.tie_cubes / (n * (n - 1)));
	double distance = fabs(found.u - pairs / 2) - 0.5;

	/* All equal: U cannot be anything else. */
	if (distance <= 0 || variance <= 0)
		return 1;
	return 2 * sl__normal_cdf(-distance / sqrt(variance));
}

static double *
sorted_copy(const double *x, size_t n, struct sl__arena *arena)
{
	double *copy = sl__arena_array(arena, n, sizeof(*copy));

	if (copy) {
		memcpy(copy, x, n * sizeof(*copy));
		sl__sort(copy, n);
	}
	return copy;
}

enum sl_status
sl__mann_whitney(struct sl__two_sample *out, const double *a, size_t n_a,
		 const double *b, size_t n_b, struct sl__arena *arena)
{
	struct interleaving found;
	const double *sorted_a, *sorted_b;

	if (n_a == 0 || n_b == 0)
		return SL_E_USAGE;
	sorted_a = sorted_copy(a, n_a, arena);
	sorted_b = sorted_copy(b, n_b, arena);
	if (!sorted_a || !sorted_b)
		return SL_E_NOMEM;
	found = interleave(sorted_a, n_a, sorted_b, n_b);
	out->statistic = found.u;
	out->df = (double)NAN;
	if (n_a <= EXACT_MAX && n_b <= EXACT_MAX && !(found.tie_cubes > 0))
		return exact_p(&out->p, found.u, n_a, n_b, arena);
	out->p = normal_p(found, n_a, n_b);
	return SL_OK;
}
