/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_counter_set.c - counters of several threads: an event is counted by all
 * or by none, turns are scaled, and no failure to read is swallowed.
 */
#include "scripted_counters.h"

struct fixture {
	struct scripted_counters script;
	struct sl__counter_backend source;
	struct sl__counter_set *set;
	struct sl__arena arena;
};

static void
start(struct fixture *f)
{
	f->source = script_counters(&f->script);
	f->set = NULL;
	sl__arena_init(&f->arena, NULL);
}

static void
open_set(struct fixture *f, size_t n_threads)
{
	assert_int_equal(sl__counter_set_open(&f->set, &f->source, n_threads,
					      &f->arena, NULL),
			 SL_OK);
	assert_int_equal(f->script.n_open, 0);
}

static void
join_all(struct fixture *f, size_t n_threads)
{
	for (size_t i = 0; i < n_threads; i++)
		sl__counter_set_join(f->set, i);
	assert_int_equal(sl__counter_set_drop_unopened(f->set, NULL), SL_OK);
}

static void
finish(struct fixture *f)
{
	sl__counter_set_close(f->set);
	assert_int_equal(f->script.n_open, 0);
	sl__arena_release(&f->arena);
}

static const char *
absence(const struct fixture *f, enum sl_event event)
{
	const char *absent;
	const char *name = sl__counter_set_name(f->set, event, &absent);

	assert_true(!name != !absent);
	return absent;
}

static void
each_thread_has_its_own(void **state)
{
	struct sl__counter_reading a[SL_N_EVENTS], b[SL_N_EVENTS];
	struct fixture f;
	size_t n;

	(void)state;
	start(&f);
	open_set(&f, 2);
	n = sl__counter_set_n_events(f.set);
	assert_true(n >= 5);
	join_all(&f, 2);
	assert_int_equal(f.script.n_open, 2 * n);
	/* The second reading of one is no further for the other. */
	assert_int_equal(sl__counter_set_read(f.set, 0, a, NULL), SL_OK);
	assert_int_equal(sl__counter_set_read(f.set, 0, a, NULL), SL_OK);
	assert_int_equal(sl__counter_set_read(f.set, 1, b, NULL), SL_OK);
	assert_int_equal(a[SL_EVENT_CYCLES].value, 2000);
	assert_int_equal(b[SL_EVENT_CYCLES].value, 1000);
	assert_int_equal(b[SL_EVENT_L3_MISSES].enabled_ns, 100);
	finish(&f);
}

static void
a_refused_event_is_absent(void **state)
{
	struct sl__counter_reading now[SL_N_EVENTS];
	struct fixture f;

	(void)state;
	start(&f);
	f.script.open_errors[SL_EVENT_STALLS] = ENOENT;
	open_set(&f, 1);
	join_all(&f, 1);
	assert_non_null(strstr(absence(&f, SL_EVENT_STALLS), "CPU"));
	assert_null(absence(&f, SL_EVENT_CYCLES));
	assert_int_equal(sl__counter_set_read(f.set, 0, now, NULL), SL_OK);
	assert_int_equal(now[SL_EVENT_STALLS].value, 0);
	assert_int_equal(now[SL_EVENT_CYCLES].value, 1000);
	finish(&f);
}

static void
none_is_none(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	for (int e = 0; e < SL_N_EVENTS; e++)
		f.script.open_errors[e] = EACCES;
	f.source.paranoid = 3;
	open_set(&f, 4);
	assert_int_equal(sl__counter_set_n_events(f.set), 0);
	assert_non_null(strstr(absence(&f, SL_EVENT_CYCLES), "is 3"));
	finish(&f);
}

/* A sum over threads would lack one: the event goes, and its counters close. */
static void
what_one_thread_lacks_all_do(void **state)
{
	struct fixture f;
	size_t n;

	(void)state;
	start(&f);
	open_set(&f, 3);
	n = sl__counter_set_n_events(f.set);
	/* All for choosing and for two threads, and two for the third. */
	f.script.refused_from = n + 2 * n + 2;
	join_all(&f, 3);
	assert_int_equal(sl__counter_set_n_events(f.set), 2);
	assert_int_equal(f.script.n_open, 3 * 2);
	assert_null(absence(&f, SL_EVENT_INSTRUCTIONS));
	assert_string_equal(absence(&f, SL_EVENT_L1_MISSES),
			    "no file descriptor is left");
	finish(&f);
}

static void
a_thread_that_never_came_is_missed(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	open_set(&f, 2);
	join_all(&f, 1);
	assert_int_equal(sl__counter_set_n_events(f.set), 0);
	assert_non_null(strstr(absence(&f, SL_EVENT_CYCLES), "reached"));
	finish(&f);
}

static void
a_read_that_fails_is_an_error(void **state)
{
	struct sl__counter_reading now[SL_N_EVENTS];
	struct sl_error err;
	struct fixture f;

	(void)state;
	start(&f);
	open_set(&f, 1);
	join_all(&f, 1);
	f.script.fail_read_at = 2;
	assert_int_equal(sl__counter_set_read(f.set, 0, now, &err),
			 SL_E_MEASURE);
	assert_non_null(strstr(err.text, "counter of instructions"));
	finish(&f);
}

static void
turns_are_scaled(void **state)
{
	const struct sl__counter_reading begin = {50, 100, 100},
					 middle = {150, 300, 150},
					 end = {150, 500, 150};
	struct sl__counter_tally tally = {0, 0, 0};

	(void)state;
	/* Nobody ran: nothing to count. */
	assert_near(sl__counter_tally_scaled(&tally), 0, 0);
	assert_int_equal(sl__counter_tally_add(&tally, &begin, &middle, NULL),
			 SL_OK);
	/* 100 in a quarter of the time. */
	assert_near(sl__counter_tally_scaled(&tally), 400, 1e-9);
	/* No turn in the second stretch: an eighth. */
	assert_int_equal(sl__counter_tally_add(&tally, &middle, &end, NULL),
			 SL_OK);
	assert_near(sl__counter_tally_scaled(&tally), 800, 1e-9);
	tally = (struct sl__counter_tally){0, 0, 0};
	assert_int_equal(sl__counter_tally_add(&tally, &middle, &end, NULL),
			 SL_OK);
	assert_true(isnan(sl__counter_tally_scaled(&tally)));
	assert_int_equal(sl__counter_tally_add(&tally, &end, &begin, NULL),
			 SL_E_MEASURE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_its_own),
		cmocka_unit_test(a_refused_event_is_absent),
		cmocka_unit_test(none_is_none),
		cmocka_unit_test(what_one_thread_lacks_all_do),
		cmocka_unit_test(a_thread_that_never_came_is_missed),
		cmocka_unit_test(a_read_that_fails_is_an_error),
		cmocka_unit_test(turns_are_scaled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
