/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.c - moments and order of a column of numbers.
 *
 * Moments are taken in two passes around the mean, so that a small spread on
 * a large mean keeps its digits.  Order comes from quicksort and quickselect
 * with the median of three as pivot; once halving has failed 2 log2(n) times
 * heapsort takes over (Musser 1997), so that no input is quadratic.
 */
#include "stats/summary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Insertion sort wins below some 10 to 30 elements; not sensitive. */
enum { SMALL = 16 };

static void
swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

static void
insertion_sort(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double value = x[i];
		size_t at = i;

		for (; at > 0 && value < x[at - 1]; at--)
			x[at] = x[at - 1];
		x[at] = value;
	}
}

static void
sift_down(double *heap, size_t n, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= n)
			return;
		if (child + 1 < n && heap[child] < heap[child + 1])
			child++;
		if (!(heap[at] < heap[child]))
			return;
		swap(&heap[at], &heap[child]);
		at = child;
	}
}

static void
heap_sort(double *x, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift_down(x, n, i);
	for (size_t end = n; end-- > 1;) {
		swap(&x[0], &x[end]);
		sift_down(x, end, 0);
	}
}

/* Puts the median of the first, middle and last element into the middle. */
static void
order_three(double *x, size_t n)
{
	double *first = &x[0], *middle = &x[(n - 1) / 2], *last = &x[n - 1];

	if (*middle < *first)
		swap(middle, first);
	if (*last < *middle)
		swap(last, middle);
	if (*middle < *first)
		swap(middle, first);
}

/*
 * Hoare's partition: returns k, 0 < k < n, with no element of x[0..k-1]
 * above any of x[k..n-1].  Elements equal to the pivot are swapped too, which
 * keeps the halves even when there are many ties.
 */
static size_t
partition(double *x, size_t n)
{
	size_t i = 0, j = n - 1;
	double pivot;

	order_three(x, n);
	pivot = x[(n - 1) / 2];
	for (;;) {
		while (x[i] < pivot)
			i++;
		while (pivot < x[j])
			j--;
		if (i >= j)
			return j + 1;
		swap(&x[i++], &x[j--]);
	}
}

/* How often a range may be cut before heapsort takes over. */
static int
depth_limit(size_t n)
{
	int depth = 0;

	for (; n > 1; n /= 2)
		depth += 2;
	return depth;
}

static void
sort_range(double *x, size_t n, int depth)
{
	while (n > SMALL && depth-- > 0) {
		size_t k = partition(x, n);

		/* Recursion into the smaller part bounds the stack. */
		if (k < n - k) {
			sort_range(x, k, depth);
			x += k;
			n -= k;
		} else {
			sort_range(x + k, n - k, depth);
			n = k;
		}
	}
	if (n > SMALL)
		heap_sort(x, n);
	else
		insertion_sort(x, n);
}

void
sl__sort(double *x, size_t n)
{
	sort_range(x, n, depth_limit(n));
}

double
sl__select_kth_smallest(double *x, size_t n, size_t k)
{
	int depth = depth_limit(n);
	double *from = x;
	size_t at = k;

	assert(k < n);
	while (n > SMALL && depth-- > 0) {
		size_t cut = partition(from, n);

		if (at < cut) {
			n = cut;
		} else {
			from += cut;
			n -= cut;
			at -= cut;
		}
	}
	sort_range(from, n, 0);
	return x[k];
}

/* Half way from lo to hi: never outside them, nor does lo + hi overflow. */
static double
midway(double lo, double hi)
{
	return lo + (hi - lo) / 2;
}

double
sl__median_sorted(const double *sorted, size_t n)
{
	assert(n > 0);
	if (n % 2)
		return sorted[n / 2];
	return midway(sorted[n / 2 - 1], sorted[n / 2]);
}

double
sl__median_select(double *x, size_t n)
{
	double upper = sl__select_kth_smallest(x, n, n / 2);
	double lower;

	if (n % 2)
		return upper;
	lower = x[0];
	for (size_t i = 1; i < n / 2; i++)
		lower = x[i] > lower ? x[i] : lower;
	return midway(lower, upper);
}

double
sl__median_in_place(double *x, size_t n)
{
	sl__sort(x, n);
	return sl__median_sorted(x, n);
}

double
sl__mean(const double *x, size_t n)
{
	double sum = 0, rest = 0;
	double mean;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	mean = sum / (double)n;
	/* What rounding took from the sum. */
	for (size_t i = 0; i < n; i++)
		rest += x[i] - mean;
	return mean + rest / (double)n;
}

double
sl__variance(const double *x, size_t n, double mean)
{
	double sum = 0;

	if (n < 2)
		return (double)NAN;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum / (double)(n - 1);
}

/*
 * The median of |x - m|: deviations grow from the median outwards on both
 * sides, so that merging the two sides gives them in order.
 */
static double
mad_sorted(const double *sorted, size_t n, double m)
{
	size_t left = n / 2, right = n / 2; /* next are left - 1 and right */
	double last = 0, before = 0;

	for (size_t i = 0; i <= n / 2; i++) {
		before = last;
		if (left > 0 &&
		    (right == n || m - sorted[left - 1] < sorted[right] - m))
			last = m - sorted[--left];
		else
			last = sorted[right++] - m;
	}
	return n % 2 ? last : midway(before, last);
}

/*
 * G1 of Joanes and Gill (1998): sqrt(n (n-1)) / (n-2) * m3 / m2^1.5 with the
 * moments m2 and m3 over n.
 */
static double
skewness(const double *x, size_t n, double mean, double std)
{
	double count = (double)n;
	double cubes = 0;

	if (n < 3 || !(std > 0))
		return (double)NAN;
	for (size_t i = 0; i < n; i++) {
		double z = (x[i] - mean) / std;

		cubes += z * z * z;
	}
	/* With std over n - 1 the powers of n cancel to this. */
	return cubes * count / ((count - 1) * (count - 2));
}

void
sl__summary_of(struct sl__summary *out, const double *x, size_t n,
	       double *scratch)
{
	assert(n > 0);
	memcpy(scratch, x, n * sizeof(*x));
	out->n = n;
	out->median = sl__median_in_place(scratch, n);
	out->min = scratch[0];
	out->max = scratch[n - 1];
	out->mad = mad_sorted(scratch, n, out->median);
	out->mean = sl__mean(x, n);
	out->std = sqrt(sl__variance(x, n, out->mean));
	out->skewness = skewness(x, n, out->mean, out->std);
}

double
sl__autocorrelation(const double *x, size_t n, size_t lag)
{
	double products = 0, squares = 0;
	double mean;

	if (lag >= n)
		return 0;
	mean = sl__mean(x, n);
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	for (size_t i = lag; i < n; i++)
		products += (x[i] - mean) * (x[i - lag] - mean);
	return squares > 0 ? products / squares : 0;
}
