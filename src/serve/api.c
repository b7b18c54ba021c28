/* SPDX-License-Identifier: Apache-2.0 */
/* api.c - results for programs: JSON under /api/, as commands write it. */
#include "base/buf.h"
#include "result/record.h"
#include "result/saved_result.h"
#include "result/tables.h"
#include "serve/site.h"

#include "base/banned.h"

static const struct sl_render_options as_json = {.struct_size = sizeof(as_json),
						 .format = SL_FORMAT_JSON};

enum sl_status
sl__api_runs(struct sl_buf *body, const struct sl__visit *visit,
	     struct sl_error *err)
{
	static const char *const also[] = {NULL};
	struct sl_stored_runs *runs = NULL;
	struct sl_store_query query;
	enum sl_status rc = sl__visit_query(&query, visit, also, err);

	if (!rc)
		rc = sl_store_find(&runs, visit->store, &query, err);
	if (!rc)
		rc = sl_stored_runs_render(runs, &as_json, body, err);
	sl_stored_runs_free(runs);
	return rc;
}

enum sl_status
sl__api_run(struct sl_buf *body, const struct sl__visit *visit,
	    struct sl_error *err)
{
	return sl_store_get(visit->store, visit->run, body, err);
}

enum sl_status
sl__api_series(struct sl_buf *body, const struct sl__visit *visit,
	       struct sl_error *err)
{
	return sl__render_series(body, visit, &as_json, err);
}

enum sl_status
sl__api_compare(struct sl_buf *body, const struct sl__visit *visit,
		struct sl_error *err)
{
	return sl__render_comparison(body, visit, &as_json, err);
}

enum sl_status
sl__api_live(struct sl_buf *body, const struct sl__visit *visit,
	     struct sl_error *err)
{
	struct sl_live_runs *runs;
	struct sl__json json;
	enum sl_status rc = sl_store_live_find(&runs, visit->store, err);

	if (rc)
		return rc;
	sl__result_document_begin(&json, body,
				  &(struct sl__result_head){.command = "serve"},
				  &sl__table_live_runs);
	sl__record_write_members(&json, &sl__table_live_runs, runs, NULL);
	sl__json_end_object(&json);
	sl_live_runs_free(runs);
	return sl__buf_status(body, err);
}
