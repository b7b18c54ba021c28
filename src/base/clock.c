/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - reading time, and what a reading costs.
 *
 * The only state is what cannot change while the process lives: whether the
 * time stamp counter may be trusted, and its rate.
 */
#define _GNU_SOURCE
#include "base/clock.h"

#include <pthread.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "base/banned.h"

enum {
	N_COST_READINGS = 1001, /* odd, so that the median is one of them */
	N_RESOLUTION_READINGS = 4096,
	RATE_WINDOW_NS = 2000000, /* 2 ms: 30 ns of error are 15 ppm */
	TIGHT_NS = 1000,   /* three readings take 0.1 us, a preemption more */
	N_TIGHT_TRIES = 64 /* 0.2 ms where a reading takes 1 us */
};

static uint64_t
read_clock_ns(clockid_t id)
{
	struct timespec now = {0};

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t
monotonic_now_ns(void *ctx)
{
	(void)ctx;
	return read_clock_ns(CLOCK_MONOTONIC);
}

const struct sl_clock *
sl__clock_monotonic(void)
{
	static const struct sl_clock monotonic = {monotonic_now_ns, NULL};

	return &monotonic;
}

uint64_t
sl__clock_now_ns(const struct sl_clock *clock)
{
	return clock ? clock->now_ns(clock->ctx) : monotonic_now_ns(NULL);
}

uint64_t
sl__clock_thread_cpu_ns(void)
{
	return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * A reading's cost is the time of ten in a row less one, over nine; one
 * alone would be lost in the resolution.  The smallest third of such groups
 * is free of interrupts, so a low quantile would do; the median is kept
 * because it is also what a measurement pays.
 */
static double
median_reading_ns(const struct sl_clock *clock)
{
	static const int group = 10;
	double costs[N_COST_READINGS / 10];
	int n = (int)(sizeof(costs) / sizeof(costs[0]));

	for (int i = 0; i < n; i++) {
		uint64_t start = clock->now_ns(clock->ctx);
		uint64_t end = start;
		int j;

		for (int k = 1; k < group; k++)
			end = clock->now_ns(clock->ctx);
		double cost = (double)(end - start) / (group - 1);

		for (j = i; j > 0 && costs[j - 1] > cost; j--)
			costs[j] = costs[j - 1];
		costs[j] = cost;
	}
	return costs[n / 2];
}

void
sl__clock_calibrate(struct sl__clock_cost *out, const struct sl_clock *clock)
{
	uint64_t last;
	double smallest = 0;

	if (!clock)
		clock = sl__clock_monotonic();
	last = clock->now_ns(clock->ctx);
	for (int i = 0; i < N_RESOLUTION_READINGS; i++) {
		uint64_t now = clock->now_ns(clock->ctx);
		double step = (double)(now - last);

		if (step > 0 && (smallest <= 0 || step < smallest))
			smallest = step;
		last = now;
	}
	out->resolution_ns = smallest > 0 ? smallest : 1;
	out->reading_ns = median_reading_ns(clock);
	if (out->reading_ns <= 0)
		out->reading_ns = out->resolution_ns / N_RESOLUTION_READINGS;
}

static pthread_once_t ticks_once = PTHREAD_ONCE_INIT;
static int ticks_are_tsc;
static double ticks_per_ns;

#if defined(__x86_64__)
static int
has_invariant_tsc(void)
{
	unsigned a, b, c, d;

	/* CPUID 8000_0007h, EDX bit 8: constant rate in all power states. */
	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
}

static uint64_t
read_tsc(void *ctx)
{
	(void)ctx;
	return __rdtsc();
}
#else
static int
has_invariant_tsc(void)
{
	return 0;
}

static uint64_t
read_tsc(void *ctx)
{
	(void)ctx;
	return 0;
}
#endif

/* The same moment on two clocks. */
struct moment {
	uint64_t ns, ticks;
};

/*
 * Reads the counter between two readings of the clock and takes the middle of
 * these: off by half their distance at most.  A thread that was preempted in
 * between finds them far apart and tries again; the tightest try is kept.
 */
static struct moment
read_both(const struct sl_clock *clock, const struct sl_clock *counter)
{
	struct moment tightest = {0, 0};
	uint64_t least_ns = UINT64_MAX;

	for (int i = 0; i < N_TIGHT_TRIES && least_ns > TIGHT_NS; i++) {
		uint64_t before_ns = clock->now_ns(clock->ctx);
		uint64_t ticks = counter->now_ns(counter->ctx);
		uint64_t apart_ns = clock->now_ns(clock->ctx) - before_ns;

		if (apart_ns >= least_ns)
			continue;
		least_ns = apart_ns;
		tightest = (struct moment){before_ns + apart_ns / 2, ticks};
	}
	return tightest;
}

double
sl__clock_rate(const struct sl_clock *counter, const struct sl_clock *clock)
{
	struct moment start = read_both(clock, counter), end;

	while (clock->now_ns(clock->ctx) - start.ns < RATE_WINDOW_NS)
		continue;
	end = read_both(clock, counter);
	return (double)(end.ticks - start.ticks) / (double)(end.ns - start.ns);
}

static void
calibrate_ticks(void)
{
	static const struct sl_clock tsc = {read_tsc, NULL};

	ticks_per_ns = 1;
	ticks_are_tsc = has_invariant_tsc();
	if (ticks_are_tsc)
		ticks_per_ns = sl__clock_rate(&tsc, sl__clock_monotonic());
}

uint64_t
sl__ticks(void)
{
	return ticks_are_tsc ? read_tsc(NULL) : monotonic_now_ns(NULL);
}

double
sl__ticks_per_ns(void)
{
	pthread_once(&ticks_once, calibrate_ticks);
	return ticks_per_ns;
}

uint64_t
sl__ticks_read(const struct sl_clock *clock)
{
	return clock ? clock->now_ns(clock->ctx) : sl__ticks();
}

double
sl__ticker_span_ns(const struct sl__ticker *ticker, uint64_t from, uint64_t to)
{
	return (double)(to - from) / ticker->per_ns;
}

void
sl__ticker_init(struct sl__ticker *ticker, const struct sl_clock *clock)
{
	enum { READINGS = 64, TRIES = 64 };
	uint64_t least = UINT64_MAX;

	ticker->clock = clock;
	ticker->per_ns = clock ? 1 : sl__ticks_per_ns();
	for (int k = 0; k < TRIES; k++) {
		uint64_t begin = sl__ticks_read(clock), end = begin;

		for (int i = 0; i < READINGS; i++)
			end = sl__ticks_read(clock);
		if (end - begin < least)
			least = end - begin;
	}
	ticker->reading_ns = (double)least / READINGS / ticker->per_ns;
}
