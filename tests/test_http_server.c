/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_http_server.c - requests come as they were sent; what is oversized, has
 * a body or bytes that are not text is refused; a client that is slower than
 * allowed is dropped, whatever it sends; every reply carries the policy.
 */
#include "base/buf.h"
#include "http_client.h"
#include "serve/http_server.h"

#include <errno.h>
#include <time.h>

static struct sl__http_server *server;
static unsigned port;

/* Replies with what it was asked. */
static void
echo(struct sl__http_reply *reply, const struct sl__http_request *r, void *ctx)
{
	(void)ctx;
	reply->type = "text/plain";
	sl__buf_format(&reply->body, "%u %s host=%s token=%s", r->method,
		       r->path, r->host ? r->host : "-",
		       r->token ? r->token : "-");
	for (size_t i = 0; i < r->n_args; i++)
		sl__buf_format(&reply->body, " [%s=%s]", r->args[i].name,
			       r->args[i].value);
}

static int
open_server(void **state)
{
	const struct sl__http_options how = {.address = "127.0.0.1",
					     .n_threads = 2,
					     .request_most_s = 0.05,
					     .handle = echo};
	struct sl_error err;

	(void)state;
	if (sl__http_server_open(&server, &how, &err)) {
		print_error("%s\n", err.text);
		return -1;
	}
	port = sl__http_server_port(server);
	return 0;
}

static int
close_server(void **state)
{
	(void)state;
	sl__http_server_close(server);
	return 0;
}

static void
test_request(void **state)
{
	const char *reply = ask_with(port,
				     "GET /a%41/%2e%2e?x=1&y=%C3%A9+b&z&x=2",
				     "Authorization: bearer secret\r\n");
	char expected[128];

	(void)state;
	assert_int_equal(status_of(reply), 200);
	assert_non_null(strstr(reply, "Content-Security-Policy: default-src "
				      "'none'"));
	assert_non_null(strstr(reply, "X-Content-Type-Options: nosniff"));
	snprintf(expected, sizeof(expected),
		 "1 /aA/.. host=127.0.0.1:%u token=secret [x=1] [y=é b] [z=] "
		 "[x=2]",
		 port);
	assert_string_equal(body_of(reply), expected);
}

static void
test_methods(void **state)
{
	static const struct {
		const char *line, *body;
	} cases[] = {{"POST /", "2 /"},
		     {"DELETE /", "4 /"},
		     {"PUT /", "0 /"},
		     {"OPTIONS /", "0 /"},
		     {"XYZ /", "0 /"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *reply = ask(port, cases[i].line);

		assert_int_equal(status_of(reply), 200);
		assert_memory_equal(body_of(reply), cases[i].body,
				    strlen(cases[i].body));
	}
	assert_string_equal(body_of(ask(port, "HEAD /")), "");
}

/* A zero that is spelled out does not end the path. */
static void
test_zero_byte(void **state)
{
	(void)state;
	assert_non_null(strstr(ask(port, "GET /a%00b"), "1 /a%00b"));
	assert_non_null(strstr(ask(port, "GET /a%zz%4"), "1 /a%zz%4"));
}

static void
test_refused(void **state)
{
	char long_line[4000];

	(void)state;
	assert_int_equal(status_of(ask(port, "GET /%ff")), 400);
	assert_int_equal(status_of(ask(port, "GET /?a=%c3")), 400);
	assert_int_equal(
		status_of(ask_with(port, "POST /", "Content-Length: 5\r\n")),
		413);
	assert_int_equal(status_of(ask_with(port, "GET /",
					    "Transfer-Encoding: chunked\r\n")),
			 413);
	strcpy(long_line, "GET /?");
	for (int i = 0; i < 65; i++)
		strcat(long_line, "a&");
	assert_int_equal(status_of(ask(port, long_line)), 400);
}

/* All that comes until the server closes, which drops clients by their
 * deadline of 50 ms; a reply keeps the connection until then. */
static const char *
read_until_dropped(int client)
{
	const struct timespec moment = {.tv_nsec = 5000000};
	static char reply[4096];
	size_t n = 0;
	ssize_t more;

	while ((more = recv(client, reply + n, sizeof(reply) - 1 - n,
			    MSG_DONTWAIT)) != 0) {
		if (more < 0 && errno != EAGAIN)
			break;
		if (more > 0)
			n += (size_t)more;
		nanosleep(&moment, NULL);
		sl__http_server_drop_slow(server);
	}
	reply[n] = '\0';
	close(client);
	return reply;
}

/* A head that is larger than allowed never reaches the handler. */
static void
test_oversized(void **state)
{
	static char text[100000];
	const char *reply;

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text, "GET /", 5);
	reply = send_bytes(port, text, sizeof(text));
	assert_true(status_of(reply) == 0 || status_of(reply) == 414);
	snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\nX: %090000d",
		 1);
	memcpy(text + 90000, "\r\n\r\n", 5);
	reply = send_bytes(port, text, strlen(text));
	assert_true(status_of(reply) == 0 || status_of(reply) == 431);
	assert_int_equal(status_of(ask(port, "GET /")), 200);
}

static void
test_garbage(void **state)
{
	static const char *const texts[] = {
		"\r\n\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\x01\xfc\x03",
		"GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbroken\r\n\r\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int client = connect_to(port);

		assert_int_equal(write(client, texts[i], strlen(texts[i])),
				 strlen(texts[i]));
		shutdown(client, SHUT_WR);
		assert_int_not_equal(status_of(read_until_dropped(client)),
				     500);
	}
	assert_int_equal(status_of(ask(port, "GET /")), 200);
}

/* One byte now and then keeps no connection: it is dropped after its time,
 * here 50 ms, without a reply. */
static void
test_slow_client(void **state)
{
	const struct timespec moment = {.tv_nsec = 5000000};
	int client = connect_to(port);
	ssize_t n = 1;

	(void)state;
	for (int i = 0; n == 1 && i < 10000; i++) {
		char byte;

		nanosleep(&moment, NULL);
		sl__http_server_drop_slow(server);
		n = write(client, "G", 1);
		if (recv(client, &byte, 1, MSG_DONTWAIT) == 0)
			break; /* the server closed it */
	}
	assert_string_equal(read_reply(client), "");
	assert_int_equal(status_of(ask(port, "GET /")), 200);
}

static void
test_cannot_listen(void **state)
{
	struct sl__http_options how = {
		.address = "localhost", .n_threads = 1, .handle = echo};
	struct sl__http_server *second;
	struct sl_error err;

	(void)state;
	assert_int_equal(sl__http_server_open(&second, &how, &err), SL_E_USAGE);
	how.address = "127.0.0.1";
	how.port = port;
	assert_int_equal(sl__http_server_open(&second, &how, &err), SL_E_IO);
	assert_null(second);
	assert_non_null(strstr(err.text, "Address already in use"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_zero_byte),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_oversized),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_slow_client),
		cmocka_unit_test(test_cannot_listen),
	};

	return cmocka_run_group_tests(tests, open_server, close_server);
}
