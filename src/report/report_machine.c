/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_machine.c - what a machine is and can do, in any format.
 */
#include "base/buf.h"
#include "base/status.h"
#include "report/machine_page.h"
#include "report/render.h"
#include "report/roofline.h"
#include "result/tables.h"

#include <stdio.h>

#include "base/banned.h"

static enum sl_status
render_svg(struct sl_buf *out, const void *result, struct sl_error *err)
{
	const struct sl_machine *m = result;
	struct sl__roofline roofline;
	char title[256];

	if (!sl__roofline_of_machine(&roofline, m, m->max_threads))
		return sl__fail(err, SL_E_ABSENT,
				"no roofline: peaks or memory levels were not "
				"measured");
	snprintf(title, sizeof(title), "%s, %zu thread%s",
		 m->model.value ? m->model.value : "this machine",
		 m->max_threads, m->max_threads == 1 ? "" : "s");
	sl__roofline_svg(out, &roofline, title);
	return sl__buf_status(out, err);
}

enum sl_status
sl_machine_render(const struct sl_machine *m,
		  const struct sl_render_options *how, struct sl_buf *out,
		  struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a machine",
		.command = "machine",
		.page = sl__machine_page,
		.table = &sl__table_machine_document,
		.csv = sl__machine_csv,
		.svg = render_svg,
	};

	return sl__render(&renderer, m, how, out, err);
}
