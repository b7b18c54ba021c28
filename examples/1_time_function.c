/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1_time_function.c - how long does a function take, and how sure is that?
 *
 * Times the sum of an array for a fifth of a second, prints two figures by
 * hand and then the whole report.
 */
#include <sleuth.h>

#include <stdio.h>

enum { N = 10000 };

struct array {
	float x[N];
	volatile float sum; /* volatile: the work must not be left out */
};

static int
add_up(void *ctx)
{
	struct array *array = ctx;
	float sum = 0;

	for (int i = 0; i < N; i++)
		sum += array->x[i];
	array->sum = sum;
	return 0;
}

int
main(void)
{
	static struct array array;
	struct sl_measure_options how = SL_MEASURE_OPTIONS_INIT;
	struct sl_measurement *m;
	struct sl_buf page = {0};
	struct sl_error err;

	how.name = "add_up";
	how.time_s = 0.2;
	for (int i = 0; i < N; i++)
		array.x[i] = 1;
	if (sl_measure(&m, add_up, &array, &how, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("median %.0f ns [%.0f, %.0f]\n\n", m->wall.median.value,
	       m->wall.median.lo, m->wall.median.hi);
	if (!sl_measurement_render(m, NULL, &page, NULL))
		fputs(page.data, stdout);
	sl_buf_release(&page);
	sl_measurement_free(m);
	return 0;
}
