/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect_json.c - models that were inspected as JSON (docs/schema.md).
 *
 * The table of an inspection writes all but the machines on paper, which are
 * the view's.
 */
#include "report/hardware_page.h"
#include "report/inspect_page.h"
#include "result/record.h"
#include "result/tables.h"

#include "base/banned.h"

static void
add_model(struct sl__json *json, const struct sl__inspect_result *r, size_t m)
{
	sl__record_write(json, &sl__table_inspection, r->models[m], NULL);
	if (r->view.hardware)
		sl__hardware_json(json, r->view.hardware[m]);
}

void
sl__inspect_json(struct sl__json *json, const void *result)
{
	const struct sl__inspect_result *r = result;

	if (r->n_models == 1) {
		add_model(json, r, 0);
		return;
	}
	sl__json_array(json, "results");
	for (size_t m = 0; m < r->n_models; m++) {
		sl__json_object(json, NULL);
		add_model(json, r, m);
		sl__json_end_object(json);
	}
	sl__json_end_array(json);
}
