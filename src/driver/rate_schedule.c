/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_schedule.c - the learning rate of each step, as a function of the step
 * alone, so that training that is resumed has the same rates.
 */
#include "sleuth/training_runs.h"

#include <math.h>

#include "base/banned.h"

static const double pi = 3.14159265358979323846;

const char *
sl_schedule_text(enum sl_schedule schedule)
{
	static const char *const words[SL_N_SCHEDULES] = {"cosine", "constant",
							  "step"};

	return words[(unsigned)schedule < SL_N_SCHEDULES ? schedule : 0];
}

/* Cosine: Loshchilov and Hutter, "SGDR", 2016, without restarts. */
double
sl_rate_at(const struct sl_rate *rate, uint64_t step)
{
	uint64_t n_warmup = rate->n_warmup, done, n;
	double least = rate->peak * rate->final_share;

	if (step < n_warmup)
		return rate->peak * (double)(step + 1) / (double)n_warmup;
	done = step - n_warmup;
	n = rate->n_steps > n_warmup ? rate->n_steps - n_warmup : 1;
	done = done < n ? done : n;
	switch (rate->schedule) {
	case SL_SCHEDULE_CONSTANT:
		return rate->peak;
	case SL_SCHEDULE_STEP:
		return rate->peak *
		       pow(rate->factor,
			   floor((double)done / (double)rate->n_between));
	case SL_SCHEDULE_COSINE:
	default:
		return least +
		       (rate->peak - least) *
			       (1 + cos(pi * (double)done / (double)n)) / 2;
	}
}
