/* SPDX-License-Identifier: Apache-2.0 */
/* report_inspect.c - what was found in models, in any format. */
#include "base/status.h"
#include "report/inspect_page.h"
#include "report/render.h"
#include "result/tables.h"

#include "base/banned.h"

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
		.table = &sl__table_inspections,
		.csv = sl__inspect_csv,
	};
	struct sl__inspect_result result = {
		.inspections = {inspections, n},
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
