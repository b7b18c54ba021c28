/* SPDX-License-Identifier: Apache-2.0 */
/* questions.c - what is computed for a request: series and comparisons. */
#include "base/status.h"
#include "serve/site.h"
#include "sleuth/gating.h"

#include <string.h>

#include "base/banned.h"

enum { POINTS_DEFAULT = 1000 }; /* as `sleuth history` */

enum sl_status
sl__render_series(struct sl_buf *body, const struct sl__visit *visit,
		  const struct sl_render_options *how, struct sl_error *err)
{
	static const char *const also[] = {NULL};
	struct sl_history *history = NULL;
	struct sl_store_query query;
	enum sl_status rc = sl__visit_query(&query, visit, also, err);

	if (rc)
		return rc;
	if (!sl__visit_argument(visit, "limit"))
		query.n_most = POINTS_DEFAULT;
	rc = sl_history_of(&history, visit->store, &query, err);
	if (!rc)
		rc = sl_history_render(history, how, body, err);
	sl_history_free(history);
	return rc;
}

/* The document of the result whose number an argument is. */
static enum sl_status
read_result(struct sl_buf *json, const struct sl__visit *visit,
	    const char *name, struct sl_error *err)
{
	const char *text = sl__visit_argument(visit, name);
	uint64_t id;

	if (!text)
		return sl__fail(err, SL_E_USAGE,
				"%s is missing: the number of a result", name);
	if (strncmp(text, "run:", 4) == 0)
		text += 4;
	if (!sl__run_read(&id, &text) || *text)
		return sl__fail(err, SL_E_USAGE,
				"%s must be the number of a result", name);
	return sl_store_get(visit->store, id, json, err);
}

enum sl_status
sl__render_comparison(struct sl_buf *body, const struct sl__visit *visit,
		      const struct sl_render_options *how, struct sl_error *err)
{
	/* As `sleuth compare run:A run:B`. */
	static const struct sl_gate_limit limit = {.metric = SL_GATE_TIME,
						   .share = 0.01};
	struct sl_buf before = {0}, now = {0};
	struct sl_gate_check *check = NULL;
	enum sl_status rc = read_result(&before, visit, "a", err);

	if (!rc)
		rc = read_result(&now, visit, "b", err);
	if (!rc)
		rc = sl_gate_documents(
			&check,
			&(struct sl_gate_options){
				.struct_size = sizeof(struct sl_gate_options),
				.now = &now,
				.baselines = &before,
				.n_baselines = 1,
				.limits = &limit,
				.n_limits = 1},
			err);
	if (!rc)
		rc = sl_gate_check_render(check, how, body, err);
	sl_gate_check_free(check);
	sl_buf_release(&before);
	sl_buf_release(&now);
	return rc;
}
