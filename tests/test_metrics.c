/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_metrics.c - the text for Prometheus: the newest time of each series and
 * no other, once; names that hold quotes, backslashes and line breaks stay one
 * value of a label; a result without a time or an interval has no sample.
 */
#include "served.h"

static void
put_on(const char *machine, const char *document)
{
	struct sl_store *store = store_at(store_path);

	put(store, document,
	    &(struct sl_labels){.struct_size = sizeof(struct sl_labels),
				.machine = machine,
				.saved_at_s = 1e9});
	sl_store_close(store);
}

static size_t
count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static void
test_newest(void **state)
{
	const char *body;

	(void)state;
	put_on("m", document_of("a", 2));
	put_on("m", document_of("a", 3));
	put_on("other", document_of("a", 4));
	put_on("m", document_of("b", 5));
	start_serving(NULL);
	body = body_of(ask(served.port, "GET /metrics"));
	assert_int_equal(count(body, "\nsleuth_median_seconds{"), 3);
	assert_non_null(strstr(body, "# TYPE sleuth_median_seconds gauge\n"));
	assert_non_null(strstr(
		body, "sleuth_median_seconds{name=\"a\",settings=\"batch 1, "
		      "f32, 2 threads\",machine=\"m\"} 0.003\n"));
	assert_non_null(strstr(body, "machine=\"other\"} 0.004\n"));
	assert_non_null(strstr(
		body, "sleuth_median_low_seconds{name=\"b\",settings=\"batch "
		      "1, f32, 2 threads\",machine=\"m\"} 0.0015\n"));
	assert_int_equal(count(body, " 1000000000\n"), 3);
	stop_serving();
}

/* One document with two commands, of which the second is the first again: the
 * last counts, and its labels stand once. */
static void
test_same_name_twice(void **state)
{
	static const char bench[] =
		"{\"schema\": 1, \"tool\": {\"version\": \"1\"}, \"command\": "
		"\"bench\", \"kind\": \"bench\", \"results\": ["
		"{\"command\": \"x\", \"latency\": {\"n\": 5, \"median_ms\": "
		"1}}, {\"command\": \"x\", \"latency\": {\"n\": 5, "
		"\"median_ms\": 2}}, {\"command\": \"failed\"}]}";
	const char *body;

	(void)state;
	put_on("m", bench);
	start_serving(NULL);
	body = body_of(ask(served.port, "GET /metrics"));
	assert_int_equal(count(body, "_median_seconds{name=\"x\""), 1);
	assert_non_null(strstr(body, "sleuth_median_seconds{name=\"x\","
				     "settings=\"\",machine=\"m\"} 0.002\n"));
	assert_int_equal(count(body, "_low_seconds{name=\"x\""), 0);
	assert_int_equal(count(body, "failed"), 0);
	stop_serving();
}

static void
test_hostile_names(void **state)
{
	const char *body;

	(void)state;
	put_on("m", document_of("q\\\"} 1\\nevil 2\\\\", 7));
	start_serving(NULL);
	body = body_of(ask(served.port, "GET /metrics"));
	assert_non_null(strstr(body, "{name=\"q\\\"} 1\\nevil 2\\\\\","));
	assert_int_equal(count(body, "\nevil"), 0);
	stop_serving();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_same_name_twice),
		cmocka_unit_test(test_hostile_names),
	};

	return cmocka_run_group_tests(tests, make_store_folder,
				      remove_store_folder);
}
