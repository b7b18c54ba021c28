/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_serve.c - every path of the table answers, and no other: wrong numbers,
 * paths to files, unknown arguments and methods are refused with a reason that
 * is JSON; a client that names another host than this one learns nothing; the
 * server ends when it is asked to, and says why it cannot begin.
 */
#include "served.h"

static void
test_runs(void **state)
{
	struct sl_store *store = store_at(store_path);
	const char *reply;

	(void)state;
	put(store, document_of("a", 2), &(struct sl_labels)SL_LABELS_INIT);
	put(store, document_of("b", 3),
	    &(struct sl_labels){.struct_size = sizeof(struct sl_labels),
				.saved_at_s = 1e9,
				.branch = "main",
				.commit = "abcdef",
				.machine = "m1",
				.tags = &(struct sl_parameter){"k", "v w"},
				.n_tags = 1});
	sl_store_close(store);
	start_serving(NULL);
	reply = ask(served.port, "GET /api/runs");
	assert_int_equal(status_of(reply), 200);
	assert_non_null(strstr(reply, "Content-Type: application/json"));
	assert_non_null(strstr(reply, "\"id\": 1,"));
	assert_non_null(strstr(reply, "\"id\": 2,"));
	reply = ask(served.port, "GET /api/runs/2");
	assert_int_equal(status_of(reply), 200);
	assert_string_equal(body_of(reply), document_of("b", 3));
	assert_int_equal(status_of(ask(served.port, "GET /api/runs/3")), 404);
	stop_serving();
}

static int
finds(const char *arguments, int first, int second)
{
	char line[256];
	const char *reply;

	snprintf(line, sizeof(line), "GET /api/runs?%s", arguments);
	reply = ask(served.port, line);
	return status_of(reply) == 200 &&
	       !!strstr(reply, "\"id\": 1,") == first &&
	       !!strstr(reply, "\"id\": 2,") == second;
}

static void
test_filters(void **state)
{
	(void)state;
	start_serving(NULL);
	assert_true(finds("", 1, 1));
	assert_true(finds("model=&branch=", 1, 1));
	assert_true(finds("model=a", 1, 0));
	assert_true(finds("branch=main", 0, 1));
	assert_true(finds("commit=abc", 0, 1));
	assert_true(finds("machine=m1", 0, 1));
	assert_true(finds("command=bench", 0, 0));
	assert_true(finds("tag=k%3Dv+w", 0, 1));
	assert_true(finds("since=2001-09-10", 1, 0));
	assert_true(finds("since=2001-09-09T01:46:40Z", 1, 1));
	assert_true(finds("since=2001-09-09T01:46:41Z", 1, 0));
	assert_true(finds("limit=1", 0, 1));
	assert_true(finds("limit=1&offset=1", 1, 0));
	assert_true(finds("model=%27%20OR%201%3D1%20--", 0, 0));
	stop_serving();
}

/* Refused with the status, a reason, and the reason as JSON. */
static void
refuses(const char *line, int status, const char *reason)
{
	const char *reply = ask(served.port, line);

	if (status_of(reply) != status || !strstr(reply, reason) ||
	    !strstr(reply, "\"message\": "))
		fail_msg("%s: %s", line, reply);
}

static void
test_refusals(void **state)
{
	(void)state;
	start_serving(NULL);
	refuses("GET /api/runs?modle=a", 400, "did you mean 'model'?");
	refuses("GET /api/runs?limit=0", 400, "asks for nothing");
	refuses("GET /api/runs?limit=10001", 400, "up to 10000");
	refuses("GET /api/runs?limit=-1", 400, "must be a number");
	refuses("GET /api/runs?offset=1e3", 400, "must be a number");
	refuses("GET /api/runs?since=yesterday", 400, "must be a date");
	refuses("GET /api/runs?since=2026-13-01", 400, "must be a date");
	refuses("GET /api/runs?tag=k", 400, "NAME=VALUE");
	refuses("GET /api", 404, "is not here");
	refuses("GET /api/runs/", 404, "is not here");
	refuses("GET /api/runs/0", 404, "is not here");
	refuses("GET /api/runs/-1", 404, "is not here");
	refuses("GET /api/runs/01", 404, "is not here");
	refuses("GET /api/runs/1x", 404, "is not here");
	refuses("GET /api/runs/1%002", 404, "is not here");
	refuses("GET /api/runs/99999999999999999999999999", 404, "not here");
	refuses("GET /api/runs/999999999999999999", 404, "not in the store");
	refuses("GET /../../etc/passwd", 404, "is not here");
	refuses("GET /..%2f..%2fetc%2fpasswd", 404, "is not here");
	refuses("GET //etc/passwd", 404, "is not here");
	refuses("POST /api/runs", 405, "Allow: GET, HEAD");
	refuses("PUT /api/runs/1", 405, "Allow: GET, HEAD, DELETE");
	refuses("GET /api/runs/1/pin", 405, "Allow: POST, DELETE");
	refuses("DELETE /api/runs/1", 403, "the server has no token");
	refuses("POST /api/runs/1/pin", 403, "the server has no token");
	refuses("TRACE /api/runs", 405, "Allow: GET, HEAD");
	stop_serving();
}

static int
status_for_host(const char *host)
{
	char text[256];
	int n = snprintf(text, sizeof(text),
			 "GET /api/runs HTTP/1.1\r\n%s%s%sConnection: close"
			 "\r\n\r\n",
			 host ? "Host: " : "", host ? host : "",
			 host ? "\r\n" : "");

	return status_of(send_bytes(served.port, text, (size_t)n));
}

static void
test_hosts(void **state)
{
	(void)state;
	start_serving(NULL);
	assert_int_equal(status_for_host("localhost"), 200);
	assert_int_equal(status_for_host("LOCALHOST:80"), 200);
	assert_int_equal(status_for_host("[::1]:9"), 200);
	assert_int_equal(status_for_host("127.0.0.1.example.org"), 403);
	assert_int_equal(status_for_host("example.org"), 403);
	assert_int_equal(status_for_host("localhost.example.org"), 403);
	assert_int_not_equal(status_for_host(NULL), 200);
	stop_serving();
	start_serving(&(struct sl_serve_options){.address = "0.0.0.0"});
	assert_int_equal(status_for_host("example.org"), 200);
	stop_serving();
}

/* A reply that was kept is not sent once another process changed the store. */
static void
test_news(void **state)
{
	struct sl_store *store = store_at(store_path);

	(void)state;
	start_serving(NULL);
	for (int i = 0; i < 12; i++) {
		char expected[32];
		uint64_t id;

		id = put(store, document_of("news", i + 1),
			 &(struct sl_labels)SL_LABELS_INIT);
		snprintf(expected, sizeof(expected), "\"id\": %d,", (int)id);
		assert_non_null(strstr(
			ask(served.port, "GET /api/runs?limit=1"), expected));
	}
	stop_serving();
	sl_store_close(store);
}

/* The same document that the program's own commands write. */
static void
test_series(void **state)
{
	const struct sl_render_options how = {.struct_size = sizeof(how),
					      .format = SL_FORMAT_JSON};
	struct sl_store_query query = SL_STORE_QUERY_INIT;
	struct sl_store *store = store_at(store_path);
	struct sl_history *history;
	struct sl_buf json = {0};
	struct sl_error err;

	(void)state;
	query.model = "a";
	assert_int_equal(sl_history_of(&history, store, &query, &err), SL_OK);
	assert_int_equal(sl_history_render(history, &how, &json, &err), SL_OK);
	start_serving(NULL);
	assert_string_equal(
		body_of(ask(served.port, "GET /api/series?model=a")),
		json.data);
	refuses("GET /api/series?a=1", 400, "'a' means nothing here");
	stop_serving();
	sl_buf_release(&json);
	sl_history_free(history);
	sl_store_close(store);
}

static void
test_compare(void **state)
{
	const char *reply;

	(void)state;
	start_serving(NULL);
	reply = ask(served.port, "GET /api/compare?a=1&b=run:1");
	assert_int_equal(status_of(reply), 200);
	assert_non_null(strstr(reply, "\"ratio\": 1,"));
	refuses("GET /api/compare?a=1", 400, "b is missing");
	refuses("GET /api/compare?a=1&b=x", 400, "b must be the number");
	refuses("GET /api/compare?a=1&b=2x", 400, "b must be the number");
	refuses("GET /api/compare?a=99&b=1", 404, "run:99 is not in the store");
	stop_serving();
}

static void
test_cannot_begin(void **state)
{
	static volatile sig_atomic_t ended = 1;
	struct sl_serve_options how = SL_SERVE_OPTIONS_INIT;
	struct sl_error err;

	(void)state;
	how.where = store_path;
	assert_int_equal(sl_serve(&how, &err), SL_E_USAGE);
	how.interrupt = &ended;
	assert_int_equal(sl_serve(&how, &err), SL_OK);
	how.port = 65536;
	assert_int_equal(sl_serve(&how, &err), SL_E_USAGE);
	how.port = 0;
	how.token = "fifteen letters";
	assert_int_equal(sl_serve(&how, &err), SL_E_USAGE);
	how.token = NULL;
	how.address = "here";
	assert_int_equal(sl_serve(&how, &err), SL_E_USAGE);
	how.address = NULL;
	how.where = "/nowhere/results.db";
	assert_int_equal(sl_serve(&how, &err), SL_E_ABSENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_news),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_cannot_begin),
	};

	return cmocka_run_group_tests(tests, make_store_folder,
				      remove_store_folder);
}
