/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_parallel.c - proves that parts cover everything once, that each rank
 * is called once with the same n, that two callers do not disturb each other,
 * and that the number of threads is put back.
 */
#include "compute/parallel.h"
#include "harness.h"
#include "sleuth.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RANKS_MOST = 64 };

static void
parts_cover_everything_once(void **state)
{
	(void)state;
	for (int n = 1; n <= 17; n++) {
		for (int64_t total = 0; total <= 70; total++) {
			int64_t next = 0, least = INT64_MAX, most = 0;

			for (int rank = 0; rank < n; rank++) {
				int64_t first, end;

				sl__parallel_range(total, rank, n, &first,
						   &end);
				assert_int_equal(first, next);
				assert_true(end >= first);
				least = end - first < least ? end - first
							    : least;
				most = end - first > most ? end - first : most;
				next = end;
			}
			assert_int_equal(next, total);
			assert_true(most - least <= 1);
		}
	}
}

static void
parts_of_very_much_do_not_overflow(void **state)
{
	const int64_t total = INT64_MAX - 5;
	int64_t first, end, next = 0;

	(void)state;
	for (int rank = 0; rank < 7; rank++) {
		sl__parallel_range(total, rank, 7, &first, &end);
		assert_int_equal(first, next);
		next = end;
	}
	assert_int_equal(next, total);
}

struct calls {
	atomic_int of[RANKS_MOST]; /* by rank */
	atomic_int n_wrong, n;
	int64_t *sum; /* one for each element of what is divided */
};

static void
note_call(int rank, int n, void *ctx)
{
	struct calls *c = ctx;

	if (rank < 0 || rank >= n || n > RANKS_MOST) {
		atomic_fetch_add(&c->n_wrong, 1);
		return;
	}
	atomic_fetch_add(&c->of[rank], 1);
	atomic_store(&c->n, n);
}

static void
each_rank_is_called_once(void **state)
{
	(void)state;
	for (int n = 0; n <= 6; n++) {
		struct calls c = {0};
		int got;

		sl__parallel_run(n, note_call, &c);
		got = atomic_load(&c.n);
		assert_int_equal(atomic_load(&c.n_wrong), 0);
		/* Fewer than asked for is the system's right, none is not. */
		assert_true(got >= 1 && got <= (n > 1 ? n : 1));
		for (int rank = 0; rank < RANKS_MOST; rank++)
			assert_int_equal(atomic_load(&c.of[rank]), rank < got);
	}
}

/* It ends for any number of threads, more than there are CPUs too, and leaves
 * regions as they were. */
static void
waking_threads_ends(void **state)
{
	(void)state;
	for (int n = 0; n <= 9; n++) {
		struct calls c = {0};

		sl__parallel_wake(n);
		(void)sl__parallel_take_widest();
		sl__parallel_run(n, note_call, &c);
		assert_int_equal(atomic_load(&c.n_wrong), 0);
		assert_true(atomic_load(&c.n) >= 1);
		assert_int_equal(sl__parallel_take_widest(), !sl_threads_yield()
								     ? 0
							     : n > 1 ? n
								     : 1);
	}
}

enum { TOTAL = 1001, ROUNDS = 200 };

static void
add_part(int rank, int n, void *ctx)
{
	struct calls *c = ctx;
	int64_t first, end;

	sl__parallel_range(TOTAL, rank, n, &first, &end);
	for (int64_t i = first; i < end; i++)
		c->sum[i] += i;
}

static void *
add_often(void *ctx)
{
	struct calls *c = ctx;

	for (int round = 0; round < ROUNDS; round++)
		sl__parallel_run(1 + round % 4, add_part, c);
	return NULL;
}

static void
check_sums(const int64_t *sum, int64_t rounds)
{
	for (int64_t i = 0; i < TOTAL; i++)
		assert_int_equal(sum[i], rounds * i);
}

static void
two_callers_do_not_disturb_each_other(void **state)
{
	static int64_t sums[2][TOTAL];
	struct calls calls[2] = {{.sum = sums[0]}, {.sum = sums[1]}};
	pthread_t threads[2];

	(void)state;
	memset(sums, 0, sizeof(sums));
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, add_often, &calls[i]),
			0);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		check_sums(sums[i], ROUNDS);
	}
}

/* Called by one of several threads, it still does everything. */
static void
call_again(int rank, int n, void *ctx)
{
	struct calls *both = ctx;

	(void)n;
	if (rank < 2)
		sl__parallel_run(3, add_part, &both[rank]);
}

static void
calls_inside_calls_do_everything(void **state)
{
	static int64_t sums[2][TOTAL];
	struct calls both[2] = {{.sum = sums[0]}, {.sum = sums[1]}};

	(void)state;
	memset(sums, 0, sizeof(sums));
	sl__parallel_run(2, call_again, both);
	check_sums(sums[0], 1);
	/* With one thread there is no second caller. */
	if (sums[1][1])
		check_sums(sums[1], 1);
}

#ifndef SL_WITHOUT_DNNL /* whose threads are numbered */
static void *
set_three(void *ctx)
{
	(void)ctx;
	(void)sl__parallel_set_threads(3);
	return NULL;
}

static void
numbers_are_put_back_and_one_threads_own(void **state)
{
	int before = sl__parallel_set_threads(2);
	pthread_t other;

	(void)state;
	assert_int_equal(pthread_create(&other, NULL, set_three, NULL), 0);
	pthread_join(other, NULL);
	assert_int_equal(sl__parallel_set_threads(5), 2);
	assert_int_equal(sl__parallel_set_threads(before), 5);
	assert_int_equal(sl__parallel_set_threads(before), before);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_cover_everything_once),
		cmocka_unit_test(parts_of_very_much_do_not_overflow),
		cmocka_unit_test(each_rank_is_called_once),
		cmocka_unit_test(waking_threads_ends),
		cmocka_unit_test(two_callers_do_not_disturb_each_other),
		cmocka_unit_test(calls_inside_calls_do_everything),
#ifndef SL_WITHOUT_DNNL
		cmocka_unit_test(numbers_are_put_back_and_one_threads_own),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
