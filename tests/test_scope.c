/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scope.c - scopes are counted under their names, time adds up in the
 * nesting, threads add up after they ended, and misuse is counted, not
 * suffered.  No test looks at how long anything took.
 */
#include "harness.h"
#include "scope_rows.h"
#include "sleuth.h"

#include <pthread.h>
#include <stdatomic.h>

static void
nested_times_add_up(void **state)
{
	const struct sl_scope_row *outer, *inner;
	struct sl_scopes *s;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct sl_scope scope = sl_scope_begin("outer", 0);

		iteration("inner", 0);
		iteration("inner", 0);
		sl_scope_end(&scope);
	}
	s = take();
	outer = row_of(s, "outer");
	inner = row_of(s, "inner");
	assert_int_equal(s->n_scopes, 2);
	assert_int_equal(outer->n_calls, 100);
	assert_int_equal(inner->n_calls, 200);
	assert_null(outer->parent);
	assert_string_equal(inner->parent, "outer");
	assert_near(inner->self_ns, inner->total_ns, 1e-9);
	assert_near(outer->self_ns + inner->total_ns, outer->total_ns, 1e-6);
	assert_near(s->self_ns, outer->self_ns + inner->self_ns, 1e-6);
	assert_close(inner->mean.value * 200, inner->total_ns, 1e-9);
	assert_true(inner->min_ns <= inner->mean.value &&
		    inner->mean.value <= inner->max_ns);
	assert_true(s->pair_ns > 0 && s->resources_pair_ns > s->pair_ns);
	sl_scopes_free(s);
}

/* What the end of a scope returns is what its row counts. */
static void
the_end_returns_what_is_counted(void **state)
{
	double returned_ns = 0, last_ns = 0;
	struct sl_scopes *s;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct sl_scope scope = sl_scope_begin("timed", 0);

		for (volatile int k = 0; k < 10000; k++)
			;
		last_ns = sl_scope_end(&scope);
		assert_true(last_ns > 0);
		returned_ns += last_ns;
	}
	s = take();
	assert_close(row_of(s, "timed")->total_ns, returned_ns, 1e-12);
	assert_true(last_ns >= row_of(s, "timed")->min_ns * (1 - 1e-12) &&
		    last_ns <= row_of(s, "timed")->max_ns * (1 + 1e-12));
	sl_scopes_free(s);
}

static void
names_are_compared_by_content(void **state)
{
	char buffer[8] = "one";
	char other[8] = "two";
	struct sl_scopes *s;

	(void)state;
	for (int i = 0; i < 10; i++) {
		strcpy(buffer, i % 2 ? "one" : "two");
		iteration(buffer, 0);
		iteration(other, 0);
	}
	iteration(NULL, 0);
	s = take();
	assert_int_equal(s->n_scopes, 3);
	assert_int_equal(row_of(s, "one")->n_calls, 5);
	assert_int_equal(row_of(s, "two")->n_calls, 15);
	assert_int_equal(row_of(s, "(unnamed)")->n_calls, 1);
	sl_scopes_free(s);
}

static void
descend(int depth)
{
	struct sl_scope scope = sl_scope_begin("recursive", 0);

	if (depth > 1)
		descend(depth - 1);
	sl_scope_end(&scope);
}

static void
recursion_is_counted_once(void **state)
{
	const struct sl_scope_row *row;
	struct sl_scopes *s;

	(void)state;
	descend(10);
	s = take();
	row = row_of(s, "recursive");
	assert_int_equal(row->n_calls, 10);
	assert_near(row->total_ns, row->max_ns, 1e-9);
	assert_near(row->self_ns, row->total_ns, 1e-6);
	sl_scopes_free(s);
}

static void
a_block_closes_its_scope(void **state)
{
	struct sl_scopes *s;

	(void)state;
	for (int i = 0; i < 3; i++) {
		SL_SCOPE("block");
		sl_scope_work(NULL, 10, 0);
		if (i == 1)
			continue;
		SL_SCOPE("rest");
	}
	s = take();
	assert_int_equal(row_of(s, "block")->n_calls, 3);
	assert_near(row_of(s, "block")->n_flops, 30, 0);
	assert_int_equal(row_of(s, "rest")->n_calls, 2);
	assert_int_equal(s->n_unbalanced, 0);
	sl_scopes_free(s);
}

static void
misuse_is_counted(void **state)
{
	struct sl_scope outer, inner, none = {0};
	struct sl_scopes *s;

	(void)state;
	outer = sl_scope_begin("outer", 0);
	inner = sl_scope_begin("inner", 0);
	sl_scope_end(&outer);                     /* forgets inner: 1 */
	assert_true(isnan(sl_scope_end(&inner))); /* too late: 2 */
	assert_true(isnan(sl_scope_end(&inner))); /* closed by now: nothing */
	assert_true(isnan(sl_scope_end(&none)));
	assert_true(isnan(sl_scope_end(NULL)));
	sl_scope_work(&inner, 1, 1);
	sl_scope_work(NULL, 1, 1);
	s = take();
	assert_int_equal(s->n_unbalanced, 2);
	assert_int_equal(row_of(s, "outer")->n_calls, 1);
	assert_int_equal(row_of(s, "inner")->n_calls, 0);
	sl_scopes_free(s);
}

/* The times add up: what was inside a forgotten scope is not counted twice,
 * and what it declared is not lost. */
static void
a_forgotten_scope_belongs_to_the_one_around(void **state)
{
	const struct sl_scope_row *outer_row, *leaf_row;
	struct sl_scope outer, inner, leaf;
	struct sl_scopes *s;

	(void)state;
	outer = sl_scope_begin("outer", 0);
	inner = sl_scope_begin("inner", 0);
	sl_scope_work(&inner, 5, 7);
	leaf = sl_scope_begin("leaf", 0);
	for (volatile int k = 0; k < 100000; k++)
		;
	sl_scope_end(&leaf);
	sl_scope_end(&outer);
	s = take();
	outer_row = row_of(s, "outer");
	leaf_row = row_of(s, "leaf");
	assert_int_equal(row_of(s, "inner")->n_calls, 0);
	assert_int_equal(s->n_unbalanced, 1);
	assert_near(outer_row->self_ns + leaf_row->total_ns,
		    outer_row->total_ns, 1e-6);
	assert_near(outer_row->n_flops, 5, 0);
	assert_near(outer_row->n_bytes, 7, 0);
	sl_scopes_free(s);
}

static void
what_does_not_fit_is_dropped(void **state)
{
	struct sl_scope open[100];
	char name[16];
	struct sl_scopes *s;

	(void)state;
	for (int i = 0; i < 100; i++)
		open[i] = sl_scope_begin("deep", 0);
	for (int i = 99; i >= 0; i--)
		sl_scope_end(&open[i]);
	s = take();
	assert_int_equal(row_of(s, "deep")->n_calls, 64);
	assert_int_equal(s->n_dropped, 36);
	sl_scopes_free(s);

	sl_scope_reset();
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		iteration(name, 0);
	}
	s = take();
	assert_true(s->n_dropped >= 300 - 256);
	assert_int_equal(s->n_scopes + s->n_dropped, 300);
	sl_scopes_free(s);
}

static void *
thread_main(void *arg)
{
	struct sl_scope *foreign = arg;
	struct sl_scope left_open;

	for (int i = 0; i < 1000; i++)
		iteration("shared", 0);
	if (foreign)
		sl_scope_end(foreign); /* not this thread's */
	left_open = sl_scope_begin("left open", 0);
	(void)left_open;
	return NULL;
}

static void
run_threads(size_t n, struct sl_scope *foreign)
{
	pthread_t threads[8];

	for (size_t i = 0; i < n; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, thread_main, foreign),
			0);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void
threads_that_ended_keep_their_part(void **state)
{
	struct sl_scopes *s;

	(void)state;
	run_threads(4, NULL);
	run_threads(4, NULL); /* take over the tables of the first four */
	iteration("shared", 0);
	s = take();
	assert_int_equal(row_of(s, "shared")->n_calls, 8001);
	assert_true(row_of(s, "shared")->n_threads <= 5);
	assert_int_equal(row_of(s, "left open")->n_calls, 0);
	assert_int_equal(s->n_unbalanced, 8);
	sl_scopes_free(s);
}

static void
a_scope_of_another_thread_stays_open(void **state)
{
	struct sl_scope mine = sl_scope_begin("mine", 0), copy = mine;
	struct sl_scopes *s;

	(void)state;
	run_threads(1, &copy);
	sl_scope_end(&mine);
	s = take();
	assert_int_equal(row_of(s, "mine")->n_calls, 1);
	assert_int_equal(s->n_unbalanced, 2); /* the other left one open */
	sl_scopes_free(s);
}

static void *
busy_main(void *arg)
{
	_Atomic int *stop = arg;

	do {
		for (int i = 0; i < 100; i++)
			iteration("busy", i % 50 ? 0 : SL_SCOPE_RESOURCES);
	} while (!*stop);
	return NULL;
}

/* Readers see whole calls: the counts of a row agree with each other. */
static void
reading_while_threads_run(void **state)
{
	_Atomic int stop = 0;
	pthread_t thread;
	size_t n_last = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, busy_main, &stop), 0);
	for (int i = 0; i < 200; i++) {
		struct sl_scopes *s = take();
		const struct sl_scope_row *row = row_of(s, "busy");

		if (row->n_calls) {
			assert_true(row->n_calls >= n_last);
			n_last = row->n_calls;
			assert_close(row->mean.value * (double)row->n_calls,
				     row->total_ns, 1e-6);
		}
		sl_scopes_free(s);
		if (i == 100) {
			sl_scope_reset();
			n_last = 0;
		}
	}
	stop = 1;
	pthread_join(thread, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nested_times_add_up, reset),
		cmocka_unit_test_setup(the_end_returns_what_is_counted, reset),
		cmocka_unit_test_setup(names_are_compared_by_content, reset),
		cmocka_unit_test_setup(recursion_is_counted_once, reset),
		cmocka_unit_test_setup(a_block_closes_its_scope, reset),
		cmocka_unit_test_setup(misuse_is_counted, reset),
		cmocka_unit_test_setup(
			a_forgotten_scope_belongs_to_the_one_around, reset),
		cmocka_unit_test_setup(threads_that_ended_keep_their_part,
				       reset),
		cmocka_unit_test_setup(a_scope_of_another_thread_stays_open,
				       reset),
		cmocka_unit_test_setup(reading_while_threads_run, reset),
		cmocka_unit_test_setup(what_does_not_fit_is_dropped, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
