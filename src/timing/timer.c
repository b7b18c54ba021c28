/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c - timing calls of a function with a calibrated clock. */
#include "timing/timer.h"
#include "base/status.h"

#include <math.h>

#include "base/banned.h"

void
sl__timer_init(struct sl__timer *timer, const struct sl_clock *clock)
{
	timer->clock = clock ? clock : sl__clock_monotonic();
	sl__clock_calibrate(&timer->cost, timer->clock);
}

double
sl__timer_shortest_ns(const struct sl__timer *timer)
{
	return 100 * fmax(timer->cost.reading_ns, timer->cost.resolution_ns);
}

int
sl__timer_time_calls(const struct sl__timer *timer, sl_function *fn, void *ctx,
		     size_t n_calls, double *took_ns)
{
	const struct sl_clock *clock = timer->clock;
	uint64_t start = clock->now_ns(clock->ctx);

	for (size_t i = 0; i < n_calls; i++) {
		int failed = fn(ctx);

		if (failed)
			return failed;
	}
	uint64_t end = clock->now_ns(clock->ctx);

	*took_ns = fmax(0, (double)(end - start) - timer->cost.reading_ns);
	return 0;
}

enum sl_status
sl__timer_set_error(const struct sl_candidate *what, int returned,
		    struct sl_error *err)
{
	return sl__fail(err, SL_E_MEASURE, "%s failed: it returned %d",
			what->name, returned);
}

int
sl__timer_choose_n_calls(const struct sl__timer *timer,
			 const struct sl_candidate *what, double target_ns,
			 size_t *n_calls, double *call_ns)
{
	/* 2^40 calls of an empty function take a quarter of an hour: a
	 * function that short was optimised away. */
	static const size_t max_calls = (size_t)1 << 40;
	size_t n = 1;
	double last_ns = 0;

	for (;;) {
		double took_ns;
		int failed = sl__timer_time_calls(timer, what->fn, what->ctx, n,
						  &took_ns);

		if (failed)
			return failed;
		/* Far beyond the target nothing hangs on a second one. */
		if (took_ns >= 10 * target_ns && last_ns <= 0)
			last_ns = took_ns;
		if (took_ns >= target_ns && last_ns > 0) {
			*n_calls = n;
			*call_ns = fmin(took_ns, last_ns) / (double)n;
			return 0;
		}
		if (took_ns >= target_ns) {
			last_ns = took_ns; /* confirm with a second one */
			continue;
		}
		last_ns = 0;
		if (n >= max_calls) {
			*n_calls = n;
			*call_ns = took_ns / (double)n;
			return 0;
		}
		n *= 2;
	}
}
