/* SPDX-License-Identifier: Apache-2.0 */
/* report_inspect.c - what was found in models, in any format. */
#include "base/status.h"
#include "report/hardware_page.h"
#include "report/inspect_page.h"
#include "report/render.h"
#include "result/record.h"
#include "result/tables.h"

#include "base/banned.h"

/* The table of an inspection writes all but the machines on paper, which are
 * the view's. */
static void
add_model(struct sl__json *json, const struct sl__inspect_result *r, size_t m)
{
	sl__record_write(json, &sl__table_inspection, r->models[m], NULL);
	if (r->view.hardware)
		sl__hardware_json(json, r->view.hardware[m]);
}

static void
add_json(struct sl__json *json, const void *result)
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

enum sl_status
sl_inspection_render(const struct sl_inspection *const *inspections, size_t n,
		     const struct sl_inspect_view *view,
		     const struct sl_render_options *how, struct sl_buf *out,
		     struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "an inspection",
		.command = "inspect",
		.page = sl__inspect_page,
		.json = add_json,
		.table = &sl__table_inspections,
		.csv = sl__inspect_csv,
	};
	struct sl__inspect_result result = {
		.models = inspections,
		.n_models = n,
		.view = {.struct_size = sizeof(*view)}};

	if (view && view->struct_size != sizeof(*view))
		return sl__fail(err, SL_E_USAGE,
				"sl_inspect_view: struct_size is wrong");
	if (!n)
		return sl__fail(err, SL_E_USAGE, "no model to report on");
	if (view)
		result.view = *view;
	return sl__render(&renderer, &result, how, out, err);
}
