/* SPDX-License-Identifier: Apache-2.0 */
/* md1_queue.h - the queue M/D/1, whose waiting times have a closed form. */
#ifndef SL_TEST_MD1_QUEUE_H
#define SL_TEST_MD1_QUEUE_H

#include <math.h>

/*
 * P(a query waits at most x), at a load of rho and with a service of 1 (Erlang
 * 1909): (1 - rho) sum over k <= x of (-rho (x - k))^k / k! e^(rho (x - k)).
 * Terms cancel: good to 1e-6 up to x of about 15.
 */
static inline double
md1_waits_at_most(double rho, double x)
{
	double sum = 0;

	for (double k = 0; k <= x; k++) {
		double u = rho * (x - k);
		double size = k > 0 ? exp(k * log(u) - lgamma(k + 1) + u)
				    : exp(u);

		if (u > 0 || !(k > 0))
			sum += fmod(k, 2) > 0 ? -size : size;
	}
	return (1 - rho) * sum;
}

/* The latency, waiting and service, that a share p does not exceed. */
static inline double
md1_latency_quantile(double rho, double p)
{
	double low = 0, high = 15;

	while (high - low > 1e-9) {
		double middle = (low + high) / 2;

		if (md1_waits_at_most(rho, middle) < p)
			low = middle;
		else
			high = middle;
	}
	return 1 + high;
}

/* The mean wait (Pollaczek and Khinchine). */
static inline double
md1_mean_wait(double rho)
{
	return rho / (2 * (1 - rho));
}

#endif
