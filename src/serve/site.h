/* SPDX-License-Identifier: Apache-2.0 */
/* site.h - what the functions that answer requests share. */
#ifndef SL_SITE_H
#define SL_SITE_H

#include "base/arena.h"
#include "serve/http_server.h"
#include "sleuth/storing.h"

/* A request that is being answered. */
struct sl__visit {
	const struct sl__http_request *request;
	struct sl_store *store;
	struct sl__arena *arena; /* of this request */
	uint64_t run;            /* N of its path; 0: the path has none */
	int has_token;           /* there is a token to change things with */
};

/*
 * Appends the body of a reply.  SL_E_USAGE is the client's mistake, SL_E_DATA
 * something that is not there.
 */
typedef enum sl_status sl__page_function(struct sl_buf *body,
					 const struct sl__visit *visit,
					 struct sl_error *err);

enum sl__route_kind {
	SL__ROUTE_DATA = 0, /* from the store; holds until that changes */
	SL__ROUTE_PAGE,     /* likewise; errors are pages, too */
	SL__ROUTE_FRESH,    /* from the store, and made anew each time */
	SL__ROUTE_FILE      /* the same as long as the program runs */
};

/* How a path is answered; all methods but GET need the token. */
struct sl__route {
	const char *path; /* '#' is the number of a result */
	enum sl__http_method method;
	enum sl__route_kind kind;
	const char *type;
	sl__page_function *write;
};

/* All of them; ends with a NULL path. */
extern const struct sl__route sl__routes[];

/* The first argument of that name that is not empty; NULL: none. */
const char *sl__visit_argument(const struct sl__visit *visit, const char *name);

/*
 * Which results the arguments mean: model, command, branch, commit, machine,
 * tag=NAME=VALUE, since=DATE, limit, offset.  Empty ones mean nothing.
 * SL_E_USAGE for a value that makes no sense and for other names than these
 * and those in 'also' (up to a NULL).
 */
enum sl_status sl__visit_query(struct sl_store_query *query,
			       const struct sl__visit *visit,
			       const char *const *also,
			       struct sl_error *err) SL_CHECKED;

/* A number of a result, up to 18 digits, at *text, which moves behind it; 0:
 * there is none. */
int sl__run_read(uint64_t *run, const char **text);

/* The series that the arguments mean; and the results a and b compared. */
enum sl_status sl__render_series(struct sl_buf *body,
				 const struct sl__visit *visit,
				 const struct sl_render_options *how,
				 struct sl_error *err) SL_CHECKED;
enum sl_status sl__render_comparison(struct sl_buf *body,
				     const struct sl__visit *visit,
				     const struct sl_render_options *how,
				     struct sl_error *err) SL_CHECKED;

/* A page that says what went wrong; failures stick to the buffer. */
void sl__write_error_page(struct sl_buf *body, unsigned status,
			  const struct sl_error *err);

sl__page_function sl__page_runs, sl__page_run, sl__page_series,
	sl__page_compare, sl__file_style, sl__file_script, sl__file_site_script,
	sl__file_icon;
sl__page_function sl__change_tag, sl__change_pin, sl__change_baseline,
	sl__change_delete;
sl__page_function sl__api_live, sl__api_runs, sl__api_run, sl__api_series,
	sl__api_compare, sl__write_metrics;

#endif
