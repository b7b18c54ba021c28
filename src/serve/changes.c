/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - what the holder of the token may change: tags of a result, its
 * pin, the baseline, and whether it is there at all.
 */
#include "base/json.h"
#include "base/status.h"
#include "serve/site.h"

#include <string.h>

#include "base/banned.h"

/* Appends the result as /api/runs lists it. */
static enum sl_status
show(struct sl_buf *body, const struct sl__visit *visit, struct sl_error *err)
{
	const struct sl_store_query query = {
		.struct_size = sizeof(query), .ids = &visit->run, .n_ids = 1};
	const struct sl_render_options as_json = {
		.struct_size = sizeof(as_json), .format = SL_FORMAT_JSON};
	struct sl_stored_runs *runs;
	enum sl_status rc = sl_store_find(&runs, visit->store, &query, err);

	if (!rc)
		rc = sl_stored_runs_render(runs, &as_json, body, err);
	sl_stored_runs_free(runs);
	return rc;
}

static int
is_removal(const struct sl__visit *visit)
{
	return visit->request->method == SL__HTTP_DELETE;
}

static enum sl_status
need(const char **out, const struct sl__visit *visit, const char *name,
     struct sl_error *err)
{
	*out = sl__visit_argument(visit, name);
	return *out ? SL_OK : sl__fail(err, SL_E_USAGE, "%s is missing", name);
}

enum sl_status
sl__change_tag(struct sl_buf *body, const struct sl__visit *visit,
	       struct sl_error *err)
{
	struct sl_parameter tag = {NULL, NULL};
	enum sl_status rc = need(&tag.name, visit, "name", err);

	if (!rc && !is_removal(visit))
		rc = need(&tag.value, visit, "value", err);
	if (!rc && (strcmp(tag.name, SL_TAG_PINNED) == 0 ||
		    strcmp(tag.name, SL_TAG_BASELINE) == 0))
		return sl__fail(err, SL_E_USAGE,
				"%s has a path of its own beside this one",
				tag.name);
	if (!rc)
		rc = sl_store_tag(visit->store, visit->run, &tag, 0, err);
	return rc ? rc : show(body, visit, err);
}

enum sl_status
sl__change_pin(struct sl_buf *body, const struct sl__visit *visit,
	       struct sl_error *err)
{
	const struct sl_parameter tag = {SL_TAG_PINNED,
					 is_removal(visit) ? NULL : "yes"};
	enum sl_status rc =
		sl_store_tag(visit->store, visit->run, &tag, 0, err);

	return rc ? rc : show(body, visit, err);
}

enum sl_status
sl__change_baseline(struct sl_buf *body, const struct sl__visit *visit,
		    struct sl_error *err)
{
	struct sl_parameter tag = {SL_TAG_BASELINE, NULL};
	enum sl_status rc = SL_OK;

	if (!is_removal(visit))
		rc = need(&tag.value, visit, "name", err);
	if (!rc)
		rc = sl_store_tag(visit->store, visit->run, &tag, 1, err);
	return rc ? rc : show(body, visit, err);
}

enum sl_status
sl__change_delete(struct sl_buf *body, const struct sl__visit *visit,
		  struct sl_error *err)
{
	const struct sl_store_query query = {
		.struct_size = sizeof(query), .ids = &visit->run, .n_ids = 1};
	const struct sl_store_query pinned = {
		.struct_size = sizeof(pinned),
		.ids = &visit->run,
		.n_ids = 1,
		.tags = &(struct sl_parameter){SL_TAG_PINNED, "yes"},
		.n_tags = 1};
	struct sl_stored_runs *runs;
	struct sl__json json;
	enum sl_status rc = sl_store_find(&runs, visit->store, &pinned, err);
	size_t n;

	if (!rc && runs->n)
		rc = sl__fail(err, SL_E_USAGE,
			      "the result is pinned; take the pin away first");
	sl_stored_runs_free(runs);
	if (!rc)
		rc = sl_store_delete(visit->store, &n, &query, err);
	if (!rc && !n)
		rc = sl__fail(err, SL_E_DATA, "the result is not in the store");
	if (rc)
		return rc;
	sl__json_init(&json, body);
	sl__json_object(&json, NULL);
	sl__json_integer(&json, "schema", 1);
	sl__json_integer(&json, "deleted", n);
	sl__json_end_object(&json);
	return SL_OK;
}
