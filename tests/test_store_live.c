/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_live.c - a measurement is told of, told again and over; of two at
 * a time each has its own; one that fell silent is not shown, and removed when
 * another begins.
 */
#include "store_case.h"

static const struct sl_live_run begun = {.machine = "m",
					 .command = "profile",
					 .name = "resnet50",
					 .phase = "measuring",
					 .share = 0.25,
					 .remaining_s = 12};

static struct sl_live_runs *
find_live(struct sl_store *store)
{
	struct sl_live_runs *runs;
	struct sl_error err;

	if (sl_store_live_find(&runs, store, &err))
		fail_msg("%s", err.text);
	return runs;
}

static void
put_live(struct sl_store *store, struct sl_live_run *run)
{
	struct sl_error err;

	if (sl_store_live_put(store, run, &err))
		fail_msg("%s", err.text);
}

static size_t
count_rows(struct sl_store *store)
{
	struct sl_live_runs *runs;
	struct sl_error err;
	size_t n;

	/* As if all had been told of just now, or later. */
	if (sl__store_run(store, "UPDATE sleuth_live SET beat_at = 4e9", NULL,
			  0, &err))
		fail_msg("%s", err.text);
	runs = find_live(store);
	n = runs->n;
	sl_live_runs_free(runs);
	return n;
}

static void
test_told(void **state)
{
	struct sl_store *store = store_at(store_path);
	struct sl_live_run first = begun, second = begun;
	struct sl_live_runs *runs;
	struct sl_error err;

	(void)state;
	second.remaining_s = NAN;
	put_live(store, &first);
	put_live(store, &second);
	assert_int_not_equal(first.id, second.id);
	first.share = 0.5;
	first.phase = "comparing";
	put_live(store, &first);
	runs = find_live(store);
	assert_int_equal(runs->n, 2);
	assert_int_equal(runs->list[0].id, first.id);
	assert_string_equal(runs->list[0].phase, "comparing");
	assert_string_equal(runs->list[0].name, "resnet50");
	assert_string_equal(runs->list[0].command, "profile");
	assert_string_equal(runs->list[0].machine, "m");
	assert_near(runs->list[0].share, 0.5, 0);
	assert_near(runs->list[0].remaining_s, 12, 0);
	assert_true(runs->list[0].beat_at_s >= runs->list[0].started_at_s);
	assert_near(runs->list[1].share, 0.25, 0);
	assert_true(isnan(runs->list[1].remaining_s));
	sl_live_runs_free(runs);
	assert_int_equal(sl_store_live_end(store, first.id, &err), SL_OK);
	runs = find_live(store);
	assert_int_equal(runs->n, 1);
	assert_int_equal(runs->list[0].id, second.id);
	sl_live_runs_free(runs);
	assert_int_equal(sl_store_live_end(store, second.id, &err), SL_OK);
	sl_store_close(store);
}

static void
test_silent(void **state)
{
	struct sl_store *store = store_at(store_path);
	struct sl_live_run silent = begun, other = begun;
	struct sl_live_runs *runs;
	struct sl_error err;

	(void)state;
	put_live(store, &silent);
	assert_int_equal(sl__store_run(store,
				       "UPDATE sleuth_live SET beat_at = 1000",
				       NULL, 0, &err),
			 SL_OK);
	runs = find_live(store);
	assert_int_equal(runs->n, 0);
	sl_live_runs_free(runs);
	put_live(store, &other);
	assert_int_equal(count_rows(store), 1);
	assert_int_equal(sl_store_live_end(store, other.id, &err), SL_OK);
	assert_int_equal(count_rows(store), 0);
	sl_store_close(store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests(tests, make_store_folder,
				      remove_store_folder);
}
