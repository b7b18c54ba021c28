/* SPDX-License-Identifier: Apache-2.0 */
/* http_server.h - requests over HTTP, and replies to them. */
#ifndef SL_HTTP_SERVER_H
#define SL_HTTP_SERVER_H

#include "sleuth/measuring.h"

enum sl__http_method {
	SL__HTTP_GET = 1u << 0, /* and HEAD, whose reply loses its body */
	SL__HTTP_POST = 1u << 1,
	SL__HTTP_DELETE = 1u << 2,
	SL__HTTP_OTHER = 0
};

/* A request without a body: with one, it is refused before it comes here. */
struct sl__http_request {
	enum sl__http_method method;
	const char *path;                /* begins with '/'; %41 is an A */
	const struct sl_parameter *args; /* after '?', in order; UTF-8 */
	size_t n_args;
	const char *host;  /* as the client calls the server; NULL: not said */
	const char *token; /* of "Authorization: Bearer"; NULL: none */
};

/* All zero when the handler gets it. */
struct sl__http_reply {
	unsigned status;   /* 200, 404, ... */
	const char *type;  /* of the body, such as "application/json" */
	const char *allow; /* methods that would do; of status 405 */
	int is_lasting;    /* a browser may keep it for an hour */
	struct sl_buf body;
};

/* Fills 'reply'; called from several threads at a time. */
typedef void sl__http_handler(struct sl__http_reply *reply,
			      const struct sl__http_request *request,
			      void *ctx);

struct sl__http_options {
	const char *address; /* a number: 127.0.0.1, ::1 */
	unsigned port;       /* 0: a free one */
	unsigned n_threads;
	double request_most_s; /* from the first byte to the last one sent */
	sl__http_handler *handle;
	void *ctx;
};

/*
 * Accepts connections from sl__http_server_open() on, in threads of its own.
 * Limits: connections at a time, bytes of a request, and time; a request that
 * breaks one is refused or dropped.
 */
struct sl__http_server;

/* SL_E_USAGE for an address that is none, SL_E_IO where it cannot be listened
 * on, SL_E_ABSENT in a build without libmicrohttpd. */
enum sl_status sl__http_server_open(struct sl__http_server **out,
				    const struct sl__http_options *options,
				    struct sl_error *err) SL_CHECKED;

/* Lets no new request in, waits a moment for replies that are being sent, and
 * ends the threads; NULL is fine. */
void sl__http_server_close(struct sl__http_server *server);

/* The port it listens on. */
unsigned sl__http_server_port(const struct sl__http_server *server);

/* Drops connections whose request takes too long; to be called now and then. */
void sl__http_server_drop_slow(struct sl__http_server *server);

#endif
