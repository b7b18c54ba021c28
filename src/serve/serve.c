/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - a store of results as a site for browsers and programs.
 *
 * Every thread of the server takes a worker while it answers: a connection to
 * the store is for one thread at a time.  A worker whose store cannot be
 * reached any more opens it anew for its next request.  What was answered is
 * kept, and sent again as long as nothing in the store changed.
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "serve/reply_cache.h"
#include "serve/site.h"
#include "sleuth/serving.h"
#include "store/store.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/banned.h"

enum {
	N_WORKERS = 4,
	REQUEST_MOST_S = 30,
	TICK_MS = 200,
	PORT_MOST = 65535,
	TOKEN_LEAST = 16
};

struct worker {
	struct worker *next;
	struct sl_store *store; /* NULL: to be opened */
	struct sl__reply_cache cache;
};

struct site {
	struct sl_serve_options how;
	int is_local; /* on a loopback address */
	struct worker workers[N_WORKERS];
	pthread_mutex_t lock; /* of 'idle' */
	struct worker *idle;
};

static enum sl_status
open_store(struct worker *worker, const struct site *site, struct sl_error *err)
{
	const struct sl_store_options how = {.struct_size = sizeof(how),
					     .where = site->how.where,
					     .must_exist = 1};

	return worker->store ? SL_OK : sl_store_open(&worker->store, &how, err);
}

static struct worker *
take_worker(struct site *site)
{
	struct worker *worker;

	pthread_mutex_lock(&site->lock);
	worker = site->idle;
	assert(worker); /* there are as many as threads */
	site->idle = worker->next;
	pthread_mutex_unlock(&site->lock);
	return worker;
}

static void
return_worker(struct site *site, struct worker *worker)
{
	pthread_mutex_lock(&site->lock);
	worker->next = site->idle;
	site->idle = worker;
	pthread_mutex_unlock(&site->lock);
}

/* Routing. */

/* Whether the path is the route's; *run is its number, where it has one. */
static int
matches(const char *route, const char *path, uint64_t *run)
{
	size_t n = strcspn(route, "#");

	*run = 0;
	if (!route[n])
		return strcmp(route, path) == 0;
	if (strncmp(route, path, n) != 0)
		return 0;
	path += n;
	return sl__run_read(run, &path) && strcmp(route + n + 1, path) == 0;
}

static const struct sl__route *
find_route(struct sl__visit *visit, unsigned *methods)
{
	*methods = 0;
	for (const struct sl__route *r = sl__routes; r->path; r++) {
		uint64_t run;

		if (!matches(r->path, visit->request->path, &run))
			continue;
		visit->run = run;
		*methods |= r->method;
		if (r->method == visit->request->method)
			return r;
	}
	return NULL;
}

static void
write_error(struct sl__http_reply *reply, unsigned status, int is_page,
	    const struct sl_error *err)
{
	struct sl__json json;

	sl_buf_release(&reply->body);
	reply->status = status;
	reply->is_lasting = 0;
	if (is_page) {
		sl__write_error_page(&reply->body, status, err);
		return;
	}
	reply->type = "application/json";
	sl__json_init(&json, &reply->body);
	sl__json_object(&json, NULL);
	sl__json_integer(&json, "schema", 1);
	sl__json_object(&json, "error");
	sl__json_integer(&json, "status", status);
	sl__json_text(&json, "message", err->text);
	sl__json_end_object(&json);
	sl__json_end_object(&json);
}

static unsigned
status_code(enum sl_status status)
{
	switch (status) {
	case SL_OK:
		return 200;
	case SL_E_USAGE:
		return 400;
	case SL_E_DATA:
	case SL_E_ABSENT:
		return 404;
	case SL_E_NOMEM:
	case SL_E_IO:
		return 503;
	case SL_E_MEASURE:
	case SL_E_INTERRUPTED:
	case SL_E_BUG:
		break;
	}
	return 500;
}

/* A page elsewhere can have its name mean 127.0.0.1 and so read what is served
 * there: such a request names that page as its host. */
static int
is_known_host(const struct site *site, const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

	if (!site->is_local)
		return 1;
	for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) == 0 &&
		    (!host[n] || host[n] == ':'))
			return 1;
	}
	return host && strcmp(host, site->how.address) == 0;
}

static const char *
methods_text(unsigned methods)
{
	if (methods & SL__HTTP_GET)
		return methods & SL__HTTP_DELETE ? "GET, HEAD, DELETE"
						 : "GET, HEAD";
	return "POST, DELETE";
}

/* How long it takes depends on what was given, not on where it differs. */
static int
is_token(const char *given, const char *token)
{
	size_t n = strlen(token), n_given = strlen(given);
	volatile unsigned char differs = n != n_given;

	for (size_t i = 0; i < n_given; i++)
		differs |= (unsigned char)(given[i] ^ token[i % n]);
	return !differs;
}

/* The status that a request is refused with; 0: it may be answered. */
static unsigned
check_access(const struct site *site, const struct sl__http_request *request,
	     struct sl_error *err)
{
	if (!is_known_host(site, request->host)) {
		(void)sl__fail(err, SL_E_USAGE,
			       "'%s' is not a name of this server",
			       request->host ? request->host : "");
		return 403;
	}
	if (request->method == SL__HTTP_GET)
		return 0;
	if (!site->how.token) {
		(void)sl__fail(err, SL_E_USAGE,
			       "nothing can be changed here: the server has no "
			       "token");
		return 403;
	}
	if (!request->token || !is_token(request->token, site->how.token)) {
		(void)sl__fail(err, SL_E_USAGE,
			       "changes need 'Authorization: Bearer' and the "
			       "token");
		return 401;
	}
	return 0;
}

/* The path and the arguments, each with its length before it. */
static void
write_key(struct sl_buf *key, const struct sl__http_request *request)
{
	sl__buf_text(key, request->path);
	for (size_t i = 0; i < request->n_args; i++)
		sl__buf_format(key, " %zu:%s=%s",
			       strlen(request->args[i].value),
			       request->args[i].name, request->args[i].value);
}

/* Answers a request that changes nothing, by what is kept or anew. */
static enum sl_status
answer_get(struct sl_buf *body, const struct sl__visit *visit,
	   const struct sl__route *route, struct worker *worker,
	   struct sl_error *err)
{
	struct sl_buf key = {0}, state = {0};
	const struct sl_buf *kept = NULL;
	enum sl_status rc = sl__store_state(worker->store, &state, err);

	write_key(&key, visit->request);
	if (!rc)
		rc = sl__buf_status(&key, err);
	if (!rc)
		kept = sl__reply_cache_find(&worker->cache, key.data,
					    state.data);
	if (kept)
		sl__buf_add(body, kept->data, kept->n_bytes);
	else if (!rc)
		rc = route->write(body, visit, err);
	if (!rc)
		rc = sl__buf_status(body, err);
	if (!rc && !kept)
		sl__reply_cache_put(&worker->cache, key.data, state.data, body);
	sl_buf_release(&key);
	sl_buf_release(&state);
	return rc;
}

static enum sl_status
answer_from_store(struct sl_buf *body, struct sl__visit *visit,
		  const struct sl__route *route, struct site *site,
		  struct sl_error *err)
{
	struct worker *worker = take_worker(site);
	enum sl_status rc = open_store(worker, site, err);

	visit->store = worker->store;
	if (!rc && route->kind != SL__ROUTE_FRESH)
		rc = answer_get(body, visit, route, worker, err);
	else if (!rc)
		rc = route->write(body, visit, err);
	if (rc == SL_E_IO) {
		sl_store_close(worker->store);
		worker->store = NULL;
		sl__reply_cache_release(&worker->cache);
	}
	return_worker(site, worker);
	return rc;
}

static void
answer_with(struct sl__http_reply *reply, struct sl__visit *visit,
	    const struct sl__route *route, struct site *site)
{
	struct sl_error err;
	enum sl_status rc;

	reply->type = route->type;
	reply->is_lasting = route->kind == SL__ROUTE_FILE;
	rc = reply->is_lasting ? route->write(&reply->body, visit, &err)
			       : answer_from_store(&reply->body, visit, route,
						   site, &err);
	if (!rc)
		rc = sl__buf_status(&reply->body, &err);
	if (rc)
		write_error(reply, status_code(rc),
			    route->kind == SL__ROUTE_PAGE, &err);
}

static void
answer(struct sl__http_reply *reply, const struct sl__http_request *request,
       void *ctx)
{
	struct site *site = ctx;
	struct sl__arena arena;
	struct sl__visit visit = {.request = request,
				  .arena = &arena,
				  .has_token = site->how.token != NULL};
	const struct sl__route *route;
	struct sl_error err;
	unsigned methods, status;

	sl__arena_init(&arena, NULL);
	route = find_route(&visit, &methods);
	if (!methods) {
		status = 404;
		(void)sl__fail(&err, SL_E_DATA, "%s is not here",
			       request->path);
	} else if (!route) {
		status = 405;
		(void)sl__fail(&err, SL_E_USAGE, "%s takes %s", request->path,
			       methods_text(methods));
		reply->allow = methods_text(methods);
	} else {
		status = check_access(site, request, &err);
	}
	if (status)
		write_error(reply, status, 0, &err);
	else
		answer_with(reply, &visit, route, site);
	sl__arena_release(&arena);
}

/* Serving. */

static int
is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static enum sl_status
read_options(struct sl_serve_options *how,
	     const struct sl_serve_options *options, struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(how, sizeof(*how), options,
					     "sl_serve_options", err);

	if (!rc && !how->address)
		how->address = "127.0.0.1";
	if (!rc && !how->interrupt)
		return sl__fail(err, SL_E_USAGE,
				"nothing would end it: set "
				"'interrupt'");
	if (!rc && how->port > PORT_MOST)
		return sl__fail(err, SL_E_USAGE,
				"%u is above %d, the last "
				"port",
				how->port, PORT_MOST);
	if (!rc && how->token && strlen(how->token) < TOKEN_LEAST)
		return sl__fail(err, SL_E_USAGE,
				"a token has at least %d characters",
				TOKEN_LEAST);
	return rc;
}

static void
wait_for_end(const struct site *site, struct sl__http_server *server)
{
	const struct timespec tick = {.tv_nsec = 1000000L * TICK_MS};
	int is_6 = strchr(site->how.address, ':') != NULL;
	char url[128];

	snprintf(url, sizeof(url), "http://%s%s%s:%u/", is_6 ? "[" : "",
		 site->how.address, is_6 ? "]" : "",
		 sl__http_server_port(server));
	if (site->how.ready)
		site->how.ready(url, site->how.ready_ctx);
	while (!*site->how.interrupt) {
		nanosleep(&tick, NULL);
		sl__http_server_drop_slow(server);
	}
}

enum sl_status
sl_serve(const struct sl_serve_options *options, struct sl_error *err)
{
	struct site site = {.idle = NULL};
	struct sl__http_server *server = NULL;
	enum sl_status rc = read_options(&site.how, options, err);

	if (rc)
		return rc;
	site.is_local = is_loopback(site.how.address);
	pthread_mutex_init(&site.lock, NULL);
	for (size_t i = 0; i < N_WORKERS; i++)
		return_worker(&site, &site.workers[i]);
	/* So that a store that is not there is told at once. */
	rc = open_store(&site.workers[0], &site, err);
	if (!rc)
		rc = sl__http_server_open(
			&server,
			&(struct sl__http_options){.address = site.how.address,
						   .port = site.how.port,
						   .n_threads = N_WORKERS,
						   .request_most_s =
							   REQUEST_MOST_S,
						   .handle = answer,
						   .ctx = &site},
			err);
	if (!rc)
		wait_for_end(&site, server);
	sl__http_server_close(server);
	for (size_t i = 0; i < N_WORKERS; i++) {
		sl_store_close(site.workers[i].store);
		sl__reply_cache_release(&site.workers[i].cache);
	}
	pthread_mutex_destroy(&site.lock);
	return rc;
}
