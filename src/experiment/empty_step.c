/* SPDX-License-Identifier: Apache-2.0 */
/* empty_step.c - what a step takes that does nothing. */
#include "experiment/empty_step.h"
#include "base/clock.h"
#include "engine/parallel.h"
#include "stats/quantile.h"
#include "stats/summary.h"

#include "base/banned.h"

enum {
	SAMPLES = 100,
	CALLS = 64, /* a sample: one call of one thread is below the clock */
	WARM_UP_NS = 2000000
};

static void
do_nothing(int rank, int n, void *ctx)
{
	volatile int *sink = ctx;

	/* Something that must be called, by whoever it is. */
	if (rank == n)
		*sink = rank;
}

static double
sample_ns(int n_threads)
{
	double ticks_per_ns = sl__ticks_per_ns();
	volatile int sink = 0;
	uint64_t start = sl__ticks();

	for (int k = 0; k < CALLS; k++)
		sl__parallel(n_threads, do_nothing, (void *)(uintptr_t)&sink);
	return (double)(sl__ticks() - start) / ticks_per_ns / CALLS;
}

struct sl_estimate
sl__empty_step_ns(int n_threads)
{
	uint64_t begin_ns = sl__clock_now_ns(NULL);
	double ns[SAMPLES];

	while (sl__clock_now_ns(NULL) - begin_ns < WARM_UP_NS)
		(void)sample_ns(n_threads);
	for (int i = 0; i < SAMPLES; i++)
		ns[i] = sample_ns(n_threads);
	sl__sort(ns, SAMPLES);
	return sl__quantile_estimate(ns, SAMPLES, 0.5, 0.05);
}
