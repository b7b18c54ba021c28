/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_machine.c - what a machine is and can do, in any format.
 */
#include "report/figures.h"
#include "report/machine_page.h"
#include "report/render.h"
#include "result/tables.h"

#include "base/banned.h"

enum sl_status
sl_machine_render(const struct sl_machine *m,
		  const struct sl_render_options *how, struct sl_buf *out,
		  struct sl_error *err)
{
	static const struct sl__renderer renderer = {
		.kind = "a machine",
		.command = "machine",
		.page = sl__machine_page,
		.views = sl__machine_views,
		.table = &sl__table_machine_document,
		.csv = sl__machine_csv,
	};

	return sl__render(&renderer, m, how, out, err);
}
