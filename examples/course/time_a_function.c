/* SPDX-License-Identifier: Apache-2.0 */
/* time_a_function.c - how long does a function take, and how sure is that? */
#include <sleuth.h>

#include <stdio.h>

static int
add_up(void *ctx)
{
	volatile double *sum = (volatile double *)ctx;

	for (int i = 0; i < 1000; i++)
		*sum = *sum + i;
	return 0;
}

int
main(void)
{
	struct sl_measure_options how = SL_MEASURE_OPTIONS_INIT;
	struct sl_measurement *m;
	struct sl_error err;
	double sum = 0;

	how.time_s = 0.1;
	if (sl_measure(&m, add_up, &sum, &how, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("median %.1f ns [%.1f, %.1f], mean %.1f ns, %zu samples\n",
	       m->wall.median.value, m->wall.median.lo, m->wall.median.hi,
	       m->wall.mean.value, m->wall.n);
	sl_measurement_free(m);
	return 0;
}
