/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quiet_loop.c - nothing allocates or locks while samples are taken.
 *
 * malloc and pthread_mutex_lock of this program count their calls on the way
 * to the C library's.  The function that is measured writes the counts down
 * at every call; between the first sample and the last they must not change.
 * (Under a sanitizer, which has its own malloc, this program is not built.)
 */
#define _GNU_SOURCE
#include "harness.h"
#include "sleuth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *block, size_t n_bytes);

static _Atomic long n_events;

void *
malloc(size_t n_bytes)
{
	n_events++;
	return __libc_malloc(n_bytes);
}

void *
calloc(size_t n, size_t n_bytes)
{
	n_events++;
	return __libc_calloc(n, n_bytes);
}

void *
realloc(void *block, size_t n_bytes)
{
	n_events++;
	return __libc_realloc(block, n_bytes);
}

int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	n_events++;
	return real(mutex);
}

/* When the count last changed, seen from inside the measured function. */
struct witness {
	size_t n_calls, last_change;
	long seen;
	volatile uint64_t sink;
};

static int
work(void *ctx)
{
	struct witness *w = ctx;
	long now = n_events;

	w->n_calls++;
	if (now != w->seen) {
		w->seen = now;
		w->last_change = w->n_calls;
	}
	for (int i = 0; i < 20000; i++)
		w->sink = w->sink * 5 + 1;
	return 0;
}

static void
the_counters_count(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	void *volatile block;
	long before = n_events;

	(void)state;
	block = malloc(8);
	free(block);
	assert_int_equal(n_events, before + 1);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	assert_int_equal(n_events, before + 2);
}

static void
measuring_is_quiet(void **state)
{
	struct sl_measure_options how = {.struct_size = sizeof(how),
					 .n_runs = 2000};
	struct witness w = {0};
	struct sl_measurement *m;

	(void)state;
	assert_int_equal(sl_measure(&m, work, &w, &how, NULL), SL_OK);
	/* The last change is the storage, reserved after the calibration
	 * and before the first of the samples. */
	assert_true(w.last_change > 0);
	assert_true(w.last_change <=
		    w.n_calls - m->n_samples * m->calls_per_sample + 1);
	sl_measurement_free(m);
}

static void
comparing_is_quiet(void **state)
{
	struct sl_compare_options how = {
		.struct_size = sizeof(how), .time_s = 0.2, .margin = -1};
	struct witness w[2] = {{0}};
	struct sl_candidate pair[2] = {{"a", work, &w[0]}, {"b", work, &w[1]}};
	struct sl_comparisons *c;

	(void)state;
	assert_int_equal(sl_compare(&c, pair, 2, &how, NULL), SL_OK);
	/* Storage is reserved after a few calls that calibrate; the rest is
	 * rounds. */
	assert_in_range(w[1].last_change, 1, 40);
	assert_true(w[1].n_calls > 200);
	sl_comparisons_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counters_count),
		cmocka_unit_test(measuring_is_quiet),
		cmocka_unit_test(comparing_is_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
