/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server.c - requests over HTTP, through libmicrohttpd.
 *
 * The library bounds the bytes of a request's head and closes connections on
 * which nothing happens.  A client that sends a byte now and then is dropped
 * by a deadline: every connection is in a list with the time by which its
 * request must be answered, and is shut down after that.
 */
#include "serve/http_server.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#ifdef SL_WITH_MICROHTTPD
#include "base/clock.h"
#include "base/utf8.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#endif

#include "base/banned.h"

#ifdef SL_WITH_MICROHTTPD

enum {
	CONNECTIONS_MOST = 256,
	HEAD_MOST_BYTES = 16384, /* address and header fields of a request */
	IDLE_MOST_S = 10,
	ARGS_MOST = 64,
	BACKLOG = 128,
	CLOSE_MOST_MS = 2000 /* for replies that are being sent */
};

/* One connection; in the list of its server. */
struct connection {
	struct connection *next, *before;
	int socket;
	double deadline_s;
	int is_busy; /* a request is being answered */
};

struct sl__http_server {
	struct sl__http_options how;
	struct MHD_Daemon *daemon;
	int socket;
	unsigned port;
	pthread_mutex_t lock; /* of the list */
	struct connection *connections;
};

static double
now_s(void)
{
	return 1e-9 * (double)sl__clock_now_ns(NULL);
}

/* Listening. */

static enum sl_status
listen_at(struct sl__http_server *server, struct sl_error *err)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	const char *address = server->how.address;
	struct sockaddr_storage found;
	socklen_t n_found = sizeof(found);
	struct addrinfo *info = NULL;
	enum sl_status rc = SL_OK;
	char port[16];
	int one = 1;

	snprintf(port, sizeof(port), "%u", server->how.port);
	if (getaddrinfo(address, port, &hints, &info))
		return sl__fail(err, SL_E_USAGE,
				"'%s' is not an address such as 127.0.0.1 or "
				"::1",
				address);
	server->socket = socket(info->ai_family, info->ai_socktype, 0);
	if (server->socket < 0 ||
	    setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &one,
		       sizeof(one)) ||
	    fcntl(server->socket, F_SETFD, FD_CLOEXEC) ||
	    fcntl(server->socket, F_SETFL, O_NONBLOCK) ||
	    bind(server->socket, info->ai_addr, info->ai_addrlen) ||
	    listen(server->socket, BACKLOG) ||
	    getsockname(server->socket, (struct sockaddr *)&found, &n_found))
		rc = sl__fail_errno(err, SL_E_IO, errno, "%s port %u", address,
				    server->how.port);
	else if (found.ss_family == AF_INET6)
		server->port =
			ntohs(((struct sockaddr_in6 *)&found)->sin6_port);
	else
		server->port = ntohs(((struct sockaddr_in *)&found)->sin_port);
	freeaddrinfo(info);
	return rc;
}

/* Connections and their deadlines. */

static void
notice_connection(void *ctx, struct MHD_Connection *mhd, void **socket_ctx,
		  enum MHD_ConnectionNotificationCode code)
{
	struct sl__http_server *server = ctx;
	struct connection *c = *socket_ctx;

	pthread_mutex_lock(&server->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		c = sl__allocator_alloc(NULL, sizeof(*c));
		*socket_ctx = c;
		if (c) {
			*c = (struct connection){
				.next = server->connections,
				.socket =
					MHD_get_connection_info(
						mhd,
						MHD_CONNECTION_INFO_CONNECTION_FD)
						->connect_fd,
				.deadline_s =
					now_s() + server->how.request_most_s};
			if (c->next)
				c->next->before = c;
			server->connections = c;
		}
	} else if (c) {
		if (c->next)
			c->next->before = c->before;
		if (c->before)
			c->before->next = c->next;
		else
			server->connections = c->next;
		sl__allocator_free(NULL, c);
	}
	pthread_mutex_unlock(&server->lock);
}

static struct connection *
connection_of(struct MHD_Connection *mhd)
{
	return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

static void
set_busy(struct sl__http_server *server, struct MHD_Connection *mhd,
	 int is_busy)
{
	struct connection *c = connection_of(mhd);

	if (!c)
		return;
	pthread_mutex_lock(&server->lock);
	c->is_busy = is_busy;
	if (!is_busy)
		c->deadline_s = now_s() + server->how.request_most_s;
	pthread_mutex_unlock(&server->lock);
}

static void
notice_end(void *ctx, struct MHD_Connection *mhd, void **request_ctx,
	   enum MHD_RequestTerminationCode code)
{
	(void)request_ctx;
	(void)code;
	set_busy(ctx, mhd, 0);
}

void
sl__http_server_drop_slow(struct sl__http_server *server)
{
	double now = now_s();

	/* A socket in the list is open: it is closed after it left the list. */
	pthread_mutex_lock(&server->lock);
	for (struct connection *c = server->connections; c; c = c->next) {
		if (now > c->deadline_s)
			shutdown(c->socket, SHUT_RDWR);
	}
	pthread_mutex_unlock(&server->lock);
}

/* Requests. */

static int
hexadecimal(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes in place; what would end the text, and what is no byte, stays. */
static size_t
unescape(void *ctx, struct MHD_Connection *mhd, char *text)
{
	char *to = text;

	(void)ctx;
	(void)mhd;
	for (const char *at = text; *at; at++) {
		int high = *at == '%' ? hexadecimal(at[1]) : -1;
		int low = high >= 0 ? hexadecimal(at[2]) : -1;

		if (low >= 0 && (high || low)) {
			*to++ = (char)(16 * high + low);
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}

static int
is_utf8(const char *text)
{
	uint32_t code;

	while (*text) {
		size_t n = sl__utf8_decode(text, &code);

		if (!n)
			return 0;
		text += n;
	}
	return 1;
}

struct arguments {
	struct sl_parameter list[ARGS_MOST];
	size_t n;
	int is_refused;
};

static enum MHD_Result
add_argument(void *ctx, enum MHD_ValueKind kind, const char *key,
	     const char *value)
{
	struct arguments *args = ctx;

	(void)kind;
	value = value ? value : "";
	if (args->n == ARGS_MOST || !is_utf8(key) || !is_utf8(value)) {
		args->is_refused = 1;
		return MHD_NO;
	}
	args->list[args->n++] = (struct sl_parameter){key, value};
	return MHD_YES;
}

static enum sl__http_method
method_of(const char *text)
{
	static const struct {
		const char *text;
		enum sl__http_method method;
	} methods[] = {{MHD_HTTP_METHOD_GET, SL__HTTP_GET},
		       {MHD_HTTP_METHOD_HEAD, SL__HTTP_GET},
		       {MHD_HTTP_METHOD_POST, SL__HTTP_POST},
		       {MHD_HTTP_METHOD_DELETE, SL__HTTP_DELETE}};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(text, methods[i].text) == 0)
			return methods[i].method;
	}
	return SL__HTTP_OTHER;
}

static const char *
header(struct MHD_Connection *mhd, const char *name)
{
	return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name);
}

static int
has_body(struct MHD_Connection *mhd)
{
	const char *length = header(mhd, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0") != 0) ||
	       header(mhd, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static void
refuse(struct sl__http_reply *reply, unsigned status, const char *why)
{
	reply->status = status;
	reply->type = "text/plain; charset=utf-8";
	sl__buf_text(&reply->body, why);
}

/* Replies. */

static void
free_body(void *data)
{
	struct sl_buf body = {.data = data};

	sl_buf_release(&body);
}

/* What holds for every reply: it is what it says, belongs to this site alone,
 * and asks for nothing from elsewhere. */
static const struct {
	const char *name, *value;
} fixed_headers[] = {
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Content-Security-Policy",
	 "default-src 'none'; style-src 'self'; script-src 'self'; "
	 "connect-src 'self'; img-src 'self'; form-action 'self'; "
	 "base-uri 'none'; frame-ancestors 'none'"},
};

static enum MHD_Result
send_reply(struct MHD_Connection *mhd, struct sl__http_reply *reply)
{
	struct MHD_Response *response;
	enum MHD_Result rc = MHD_YES;

	if (sl__buf_status(&reply->body, NULL)) {
		sl_buf_release(&reply->body);
		refuse(reply, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
	}
	response = MHD_create_response_from_buffer_with_free_callback(
		reply->body.n_bytes, reply->body.data, free_body);
	if (!response) {
		sl_buf_release(&reply->body);
		return MHD_NO;
	}
	for (size_t i = 0; i < sizeof(fixed_headers) / sizeof(fixed_headers[0]);
	     i++)
		rc &= MHD_add_response_header(response, fixed_headers[i].name,
					      fixed_headers[i].value);
	rc &= MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				      reply->is_lasting ? "max-age=3600"
							: "no-cache");
	if (reply->type)
		rc &= MHD_add_response_header(
			response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
	if (reply->allow)
		rc &= MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					      reply->allow);
	if (reply->status == MHD_HTTP_UNAUTHORIZED)
		rc &= MHD_add_response_header(
			response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (rc == MHD_YES)
		rc = MHD_queue_response(mhd, reply->status, response);
	MHD_destroy_response(response);
	return rc;
}

static void
handle(struct sl__http_server *server, struct MHD_Connection *mhd,
       struct sl__http_request *request, struct sl__http_reply *reply)
{
	static const char scheme[] = "Bearer ";
	struct arguments args = {.n = 0};
	const char *authorization = header(mhd, MHD_HTTP_HEADER_AUTHORIZATION);

	MHD_get_connection_values(mhd, MHD_GET_ARGUMENT_KIND, add_argument,
				  &args);
	if (args.is_refused || !is_utf8(request->path)) {
		refuse(reply, MHD_HTTP_BAD_REQUEST,
		       "more arguments than any page has, or bytes that are "
		       "not UTF-8\n");
		return;
	}
	request->args = args.list;
	request->n_args = args.n;
	request->host = header(mhd, MHD_HTTP_HEADER_HOST);
	if (authorization &&
	    strncasecmp(authorization, scheme, strlen(scheme)) == 0)
		request->token = authorization + strlen(scheme);
	server->how.handle(reply, request, server->how.ctx);
}

/* Called when a request's head is there, and once more at its end. */
static enum MHD_Result
answer(void *ctx, struct MHD_Connection *mhd, const char *path,
       const char *method, const char *version, const char *body,
       size_t *n_body_bytes, void **request_ctx)
{
	struct sl__http_server *server = ctx;
	struct sl__http_request request = {.method = method_of(method),
					   .path = path};
	struct sl__http_reply reply = {.status = MHD_HTTP_OK};

	(void)version;
	(void)body;
	(void)n_body_bytes;
	if (!*request_ctx) {
		*request_ctx = server;
		set_busy(server, mhd, 1);
		if (!has_body(mhd))
			return MHD_YES;
		refuse(&reply, 413, "no request here has a body\n");
	} else {
		handle(server, mhd, &request, &reply);
	}
	return send_reply(mhd, &reply);
}

/* Opening and closing. */

enum sl_status
sl__http_server_open(struct sl__http_server **out,
		     const struct sl__http_options *options,
		     struct sl_error *err)
{
	struct sl__http_server *server;
	struct sl__arena *arena;
	enum sl_status rc;

	*out = NULL;
	server = sl__arena_object_new(&arena, NULL, sizeof(*server));
	if (!server)
		return sl__fail_nomem(err);
	server->how = *options;
	server->socket = -1;
	pthread_mutex_init(&server->lock, NULL);
	rc = listen_at(server, err);
	if (!rc) {
		server->daemon = MHD_start_daemon(
			MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer,
			server, MHD_OPTION_LISTEN_SOCKET, server->socket,
			MHD_OPTION_THREAD_POOL_SIZE, options->n_threads,
			MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT,
			(size_t)HEAD_MOST_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
			(unsigned)IDLE_MOST_S, MHD_OPTION_NOTIFY_CONNECTION,
			notice_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
			notice_end, server, MHD_OPTION_UNESCAPE_CALLBACK,
			unescape, NULL, MHD_OPTION_END);
		if (!server->daemon)
			rc = sl__fail_errno(err, SL_E_IO, errno,
					    "the server's threads");
	}
	if (rc)
		sl__http_server_close(server);
	else
		*out = server;
	return rc;
}

static int
is_busy(struct sl__http_server *server)
{
	int is = 0;

	pthread_mutex_lock(&server->lock);
	for (struct connection *c = server->connections; c; c = c->next)
		is |= c->is_busy;
	pthread_mutex_unlock(&server->lock);
	return is;
}

void
sl__http_server_close(struct sl__http_server *server)
{
	const struct timespec moment = {.tv_nsec = 10000000};

	if (!server)
		return;
	if (server->daemon) {
		MHD_quiesce_daemon(server->daemon);
		for (int ms = 0; ms < CLOSE_MOST_MS && is_busy(server);
		     ms += 10)
			nanosleep(&moment, NULL);
		MHD_stop_daemon(server->daemon);
	}
	if (server->socket >= 0)
		close(server->socket);
	pthread_mutex_destroy(&server->lock);
	sl__arena_object_free(server);
}

unsigned
sl__http_server_port(const struct sl__http_server *server)
{
	return server->port;
}

#else

enum sl_status
sl__http_server_open(struct sl__http_server **out,
		     const struct sl__http_options *options,
		     struct sl_error *err)
{
	(void)options;
	*out = NULL;
	return sl__fail(err, SL_E_ABSENT,
			"this build has no server (libmicrohttpd)");
}

void
sl__http_server_close(struct sl__http_server *server)
{
	(void)server;
}

unsigned
sl__http_server_port(const struct sl__http_server *server)
{
	(void)server;
	return 0;
}

void
sl__http_server_drop_slow(struct sl__http_server *server)
{
	(void)server;
}

#endif
