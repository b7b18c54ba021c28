/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_changes.c - with the token a result is tagged, pinned, made the baseline
 * and deleted; without it, with a part of it, or with more than it, nothing
 * changes; no path but these takes anything but GET.
 */
#include "served.h"

#define TOKEN  "0123456789abcdef"
#define BEARER "Authorization: Bearer "

static void
start(void)
{
	start_serving(&(struct sl_serve_options){.token = TOKEN});
}

/* The reply to a change with the token. */
static const char *
change(const char *line)
{
	return ask_with(served.port, line, BEARER TOKEN "\r\n");
}

static void
says(const char *line, int status, const char *words)
{
	const char *reply = change(line);

	if (status_of(reply) != status || !strstr(reply, words))
		fail_msg("%s: %s", line, reply);
}

static void
put_three(void)
{
	struct sl_store *store = store_at(store_path);

	for (int i = 0; i < 3; i++)
		put(store, document_of("a", 2),
		    &(struct sl_labels)SL_LABELS_INIT);
	sl_store_close(store);
}

static void
test_changes(void **state)
{
	(void)state;
	put_three();
	start();
	says("POST /api/runs/1/tags?name=k&value=v+w", 200, "\"k\": \"v w\"");
	says("DELETE /api/runs/1/tags?name=k", 200, "\"tags\": {}");
	says("POST /api/runs/1/pin", 200, "\"pinned\": \"yes\"");
	says("DELETE /api/runs/1", 400, "the result is pinned");
	says("DELETE /api/runs/1/pin", 200, "\"tags\": {}");
	says("POST /api/runs/1/baseline?name=main", 200,
	     "\"baseline\": \"main\"");
	says("POST /api/runs/2/baseline?name=main", 200,
	     "\"baseline\": \"main\"");
	assert_null(strstr(ask(served.port, "GET /api/runs?limit=1&offset=2"),
			   "baseline"));
	says("DELETE /api/runs/2/baseline", 200, "\"tags\": {}");
	says("DELETE /api/runs/1", 200, "\"deleted\": 1");
	says("DELETE /api/runs/1", 404, "not in the store");
	says("POST /api/runs/1/pin", 404, "not in the store");
	stop_serving();
}

static void
test_refused(void **state)
{
	(void)state;
	start();
	says("POST /api/runs/2/tags?name=k", 400, "value is missing");
	says("POST /api/runs/2/tags?value=k", 400, "name is missing");
	says("POST /api/runs/2/tags?name=a%3Db&value=c", 400, "has no '='");
	says("POST /api/runs/2/tags?name=a&value=b%0Apinned%3Dyes", 400,
	     "line break");
	says("POST /api/runs/2/tags?name=pinned&value=x", 400, "a path of its");
	says("POST /api/runs/2/baseline", 400, "name is missing");
	says("POST /api/runs", 405, "Allow: GET, HEAD");
	says("DELETE /", 405, "Allow: GET, HEAD");
	says("POST /metrics", 405, "Allow: GET, HEAD");
	says("GET /api/runs/2", 200, "\"profile\"");
	stop_serving();
}

static void
test_wrong_tokens(void **state)
{
	static const char *const fields[] = {
		"",
		BEARER "\r\n",
		BEARER "0123456789abcdeg\r\n",
		BEARER "1123456789abcdef\r\n",
		BEARER "0123456789abcde\r\n",
		BEARER "0123456789abcdef0\r\n",
		BEARER TOKEN TOKEN "\r\n",
		BEARER "0123456789ABCDEF\r\n",
		"Authorization: Basic " TOKEN "\r\n",
		"Authorization: " TOKEN "\r\n",
		"Cookie: token=" TOKEN "\r\n",
	};

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *reply =
			ask_with(served.port, "DELETE /api/runs/2", fields[i]);

		assert_int_equal(status_of(reply), 401);
		assert_non_null(strstr(reply, "WWW-Authenticate: Bearer"));
		assert_null(strstr(reply, TOKEN));
	}
	assert_int_equal(
		status_of(ask(served.port, "DELETE /api/runs/2?token=" TOKEN)),
		401);
	assert_int_equal(status_of(ask(served.port, "GET /api/runs/2")), 200);
	stop_serving();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_wrong_tokens),
	};

	return cmocka_run_group_tests(tests, make_store_folder,
				      remove_store_folder);
}
