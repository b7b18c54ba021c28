/* SPDX-License-Identifier: Apache-2.0 */
/* report_inspect.c - what was found in models, in any format. */
#include "base/option_struct.h"
#include "base/status.h"
#include "report/figures.h"
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
		.views = sl__inspect_views,
		.table = &sl__table_inspections,
		.csv = sl__inspect_csv,
	};
	struct sl__inspect_page_input result = {
		.inspections = {inspections, n}};
	enum sl_status rc = sl__options_copy(&result.view, sizeof(result.view),
					     view, "sl_inspect_view", err);

	if (rc)
		return rc;
	if (!n)
		return sl__fail(err, SL_E_USAGE, "no model to report on");
	return sl__render(&renderer, &result, how, out, err);
}
