/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_history.c - a change in the times of a model is found in its own
 * series, with the first commit after it; machines, settings and models are
 * not joined, and results without a time are passed over.  With an anchor, what
 * both times share is no change; another version of it, or none, is another
 * series.
 */
#include "store_case.h"

enum { N = 24 };

static void
put_at(struct sl_store *store, const char *model, const char *machine,
       const char *commit, double median_ms)
{
	const struct sl_labels labels = {.struct_size = sizeof(labels),
					 .machine = machine,
					 .commit = commit};

	put(store, document_of(model, median_ms), &labels);
}

/* On machine a, model m is 5 % slower from commit c12 on; on b it is not. */
static void
fill(struct sl_store *store)
{
	struct sl_labels labels = {.struct_size = sizeof(labels),
				   .machine = "a"};

	for (int i = 0; i < N; i++) {
		double noise = 1 + 0.001 * ((i * 7) % 5);
		char commit[16];

		snprintf(commit, sizeof(commit), "c%d", i);
		put_at(store, "m", "a", commit, noise * (i >= 12 ? 10.5 : 10));
		put_at(store, "m", "b", commit, noise * 3);
		put_at(store, "other", "a", commit, noise * 5);
	}
	put(store,
	    "{\"schema\": 1, \"tool\": {\"version\": \"1\"}, \"command\": "
	    "\"inspect\", \"kind\": \"inspect\", \"model\": {\"name\": "
	    "\"m\"}}",
	    &labels);
}

static struct sl_history *
history_of(struct sl_store *store, struct sl_store_query query)
{
	struct sl_history *history;
	struct sl_error err;

	query.struct_size = sizeof(query);
	if (sl_history_of(&history, store, &query, &err))
		fail_msg("%s", err.text);
	return history;
}

static void
test_series(void **state)
{
	struct sl_store *store = store_at(store_path);
	const struct sl_history_change *c;
	struct sl_history *h;

	(void)state;
	fill(store);
	h = history_of(store, (struct sl_store_query){.model = "m"});
	assert_int_equal(h->n_series, 2);
	assert_int_equal(h->n_points, 2 * N);
	assert_string_equal(h->series[0].machine, "a");
	assert_string_equal(h->series[0].settings, "batch 1, f32, 2 threads");
	assert_string_equal(h->series[1].machine, "b");
	assert_int_equal(h->series[1].first, N);
	assert_int_equal(h->points[N].series, 1);
	assert_int_equal(h->points[N].run, 2);
	assert_int_equal(h->n_changes, 1);
	c = &h->changes[0];
	assert_int_equal(c->series, 0);
	assert_int_equal(c->point, 12);
	assert_int_equal(c->run, 1 + 12 * 3);
	assert_string_equal(c->commit, "c12");
	assert_string_equal(c->commit_before, "c11");
	assert_close(c->after_ns, 10.52e6, 0.002);
	assert_close(c->before_ns, 10.02e6, 0.002);
	assert_near(c->share, 0.05, 0.003);
	sl_history_free(h);
	h = history_of(store, (struct sl_store_query){.machine = "b"});
	assert_int_equal(h->n_series, 1);
	assert_int_equal(h->n_changes, 0);
	sl_history_free(h);
	h = history_of(store, (struct sl_store_query){.model = "none"});
	assert_int_equal(h->n_series + h->n_points + h->n_changes, 0);
	sl_history_free(h);
	sl_store_close(store);
}

/* The machine of all is 30 % slower from point 8 on, model m 5 % from c12 on;
 * the last results have another version of the anchor. */
static void
fill_anchored(struct sl_store *store)
{
	for (int i = 0; i < N + 4; i++) {
		double machine = i >= 8 ? 1.3 : 1;
		double noise = 1 + 0.001 * ((i * 7) % 5);
		struct sl_labels labels = {
			.struct_size = sizeof(labels),
			.machine = "a",
			.anchor = {.version = i < N ? 1 : 2,
				   .time_ns = {.value = 2e5 * machine,
					       .lo = 1.9e5 * machine,
					       .hi = 2.1e5 * machine,
					       .n = 20}}};
		char commit[16];

		snprintf(commit, sizeof(commit), "c%d", i);
		labels.commit = commit;
		put(store,
		    document_of("m", machine * noise * (i >= 12 ? 2.1 : 2)),
		    &labels);
		put(store, document_of("still", machine * noise * 2), &labels);
	}
}

static void
test_anchored(void **state)
{
	struct sl_store *store = store_at(store_path);
	const struct sl_history_point *p;
	struct sl_history *h;

	(void)state;
	fill_anchored(store);
	h = history_of(store, (struct sl_store_query){.model = "m"});
	assert_int_equal(h->n_series, 2);
	assert_int_equal(h->series[0].anchor, 1);
	assert_int_equal(h->series[0].n_points, N);
	assert_int_equal(h->series[1].anchor, 2);
	assert_int_equal(h->series[1].n_points, 4);
	/* The median of 8 anchors of 0.2 ms and 16 of 0.26 ms. */
	assert_close(h->series[0].anchor_ns, 2.6e5, 1e-12);
	p = &h->points[0];
	assert_close(p->time_ns.value, 2e6, 1e-12);
	assert_close(p->anchor_ns, 2e5, 1e-12);
	assert_close(p->drawn_ns.value, 2.6e6, 1e-12);
	/* ln(2 / 1.5) and ln(2.1 / 2), ln(2.5 / 2) and ln(2 / 1.9). */
	assert_close(p->drawn_ns.lo, 2.6e6 * exp(-0.29179008710), 1e-9);
	assert_close(p->drawn_ns.hi, 2.6e6 * exp(0.22896298072), 1e-9);
	assert_int_equal(h->n_changes, 1);
	assert_string_equal(h->changes[0].commit, "c12");
	assert_near(h->changes[0].share, 0.05, 0.003);
	sl_history_free(h);
	h = history_of(store, (struct sl_store_query){.model = "still"});
	assert_int_equal(h->n_changes, 0);
	sl_history_free(h);
	/* One without an anchor is apart, and drawn as it is. */
	put_at(store, "still", "a", "c99", 3);
	h = history_of(store, (struct sl_store_query){.model = "still"});
	assert_int_equal(h->n_series, 3);
	assert_int_equal(h->series[2].anchor, 0);
	assert_true(isnan(h->series[2].anchor_ns));
	p = &h->points[h->n_points - 1];
	assert_true(isnan(p->anchor_ns));
	assert_close(p->drawn_ns.value, 3e6, 1e-12);
	sl_history_free(h);
	sl_store_close(store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_series, make_store_folder,
						remove_store_folder),
		cmocka_unit_test_setup_teardown(
			test_anchored, make_store_folder, remove_store_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
