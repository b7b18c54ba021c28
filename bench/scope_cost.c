/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_cost.c - what one sl_scope_begin() and sl_scope_end() cost.
 *
 * Times batches of pairs and prints the median cost of a pair over the
 * batches with its 95 % interval, without flags and with all of them.
 * Budgets on a Zen 4 class core: 60 ns and 5 us.
 */
#include "sleuth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	N_BATCHES = 201,
	/* Order-statistic interval of the median for n = 201: the largest l
	 * with P(Bin(201, 1/2) < l) <= 0.025, and its mirror image. */
	RANK_LOW = 87,
	RANK_HIGH = 115
};

static double
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int
ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
show(const char *what, unsigned flags, int n_pairs)
{
	static double costs_ns[N_BATCHES];

	for (int batch = 0; batch < N_BATCHES; batch++) {
		double start = now_ns();

		for (int i = 0; i < n_pairs; i++) {
			struct sl_scope scope = sl_scope_begin(what, flags);

			sl_scope_end(&scope);
		}
		costs_ns[batch] = (now_ns() - start) / n_pairs;
	}
	qsort(costs_ns, N_BATCHES, sizeof(costs_ns[0]), ascending);
	printf("%-28s %8.1f ns a pair [%.1f, %.1f], %d batches of %d\n", what,
	       costs_ns[N_BATCHES / 2], costs_ns[RANK_LOW - 1],
	       costs_ns[RANK_HIGH - 1], N_BATCHES, n_pairs);
}

int
main(void)
{
	show("time, count and work", 0, 2000);
	show("CPU time as well", SL_SCOPE_CPU, 200);
	show("page faults as well", SL_SCOPE_FAULTS, 200);
	show("memory as well", SL_SCOPE_MEMORY, 200);
	show("CPU, faults and memory", SL_SCOPE_RESOURCES, 200);
	return 0;
}
