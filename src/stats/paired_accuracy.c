/* SPDX-License-Identifier: Apache-2.0 */
/* paired_accuracy.c - which of two models is right more often. */
#include "stats/paired_accuracy.h"
#include "stats/bootstrap.h"
#include "stats/proportion.h"
#include "stats/sign_test.h"

#include <math.h>

#include "base/banned.h"

const char *
sl_accuracy_change_text(enum sl_accuracy_change change)
{
	static const char *const words[SL_N_ACCURACY_CHANGES] = {
		"no proved difference", "lower", "higher"};

	return (unsigned)change < SL_N_ACCURACY_CHANGES ? words[change]
							: words[0];
}

/* Whether x is neither 0 nor 1. */
static int
is_between(double x)
{
	return x > 0 && x < 1;
}

struct sl_accuracy_difference
sl__paired_accuracy(const double *a, const double *b, size_t n, double alpha,
		    double *scratch)
{
	struct sl_accuracy_difference d = {.log_e = 0};
	struct sl_estimate gained, lost;
	size_t n_between = 0;

	for (size_t i = 0; i < n; i++) {
		scratch[i] = b[i] - a[i];
		d.n_gained += b[i] > a[i];
		d.n_lost += b[i] < a[i];
		n_between += is_between(a[i]) || is_between(b[i]);
	}
	d.value = sl__student_mean(scratch, n, 0.05);
	if (n && !n_between) {
		gained = sl__proportion(d.n_gained, n, 0.025);
		lost = sl__proportion(d.n_lost, n, 0.025);
		d.value.method = gained.method;
		d.value.needs_n = 0;
		d.value.lo = gained.lo - lost.hi;
		d.value.hi = gained.hi - lost.lo;
	}
	d.log_e = sl__sign_log_e(d.n_gained + d.n_lost, d.n_gained);
	if (d.log_e >= -log(alpha))
		d.change = d.n_gained > d.n_lost ? SL_ACCURACY_HIGHER
						 : SL_ACCURACY_LOWER;
	return d;
}
