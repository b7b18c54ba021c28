/* SPDX-License-Identifier: Apache-2.0 */
/* anytime_t.c - the mean of a few figures, looked at after each of them. */
#include "stats/anytime_t.h"

#include <math.h>

#include "base/banned.h"

/* The k of the header: effects of some three spreads are expected, so that
 * three or four figures that agree are enough. */
static const double K = 0.1;

void
sl__anytime_t_add(struct sl__anytime_t *t, double x)
{
	double before = x - t->mean;

	t->n++;
	t->mean += before / (double)t->n;
	t->squares += before * (x - t->mean);
}

double
sl__anytime_t_log_e(const struct sl__anytime_t *t, double u, int is_above)
{
	double n = (double)t->n, off = t->mean - u;
	double sum = n * off, all = t->squares + n * off * off;

	if (!t->n || !(all > 0) || (is_above ? off <= 0 : off >= 0))
		return t->n ? 0.5 * log(K / (n + K)) : 0;
	/* (n + k) V - S^2, without taking n off^2 n away from itself. */
	return 0.5 * log(K / (n + K)) +
	       0.5 * n *
		       (log(n + K) + log(all) -
			log((n + K) * t->squares + K * sum * off));
}

double
sl__anytime_t_half_width(const struct sl__anytime_t *t, double alpha)
{
	double n = (double)t->n, g, over, under;

	if (t->n < 2)
		return (double)INFINITY;
	g = exp(2 / n * (0.5 * log((n + K) / K) - log(alpha)));
	over = (g - 1) * (n + K);
	under = n * g - over;
	if (under <= 0)
		return (double)INFINITY;
	return sqrt(t->squares / n * over / under);
}
