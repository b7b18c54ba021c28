/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_machine.c - what a machine is and can do, in any format.
 */
#include "buf.h"
#include "machine_page.h"
#include "render.h"
#include "roofline.h"
#include "status.h"

#include <stdio.h>

#include "banned.h"

static enum sl_status
render_page(const struct sl_machine *m, const struct sl_render_options *how,
	    struct sl_buf *out, struct sl_error *err)
{
	struct sl__doc doc;
	enum sl_status rc;

	sl__doc_init(&doc, NULL);
	sl__machine_page(&doc, m, how);
	rc = sl__doc_render(&doc, how, out, err);
	sl__doc_release(&doc);
	return rc;
}

static enum sl_status
render_svg(const struct sl_machine *m, struct sl_buf *out, struct sl_error *err)
{
	struct sl__roofline roofline;
	char title[256];

	if (!sl__roofline_of(&roofline, m, m->max_threads))
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
	enum sl_status rc;

	rc = sl__render_check(&how, err);
	if (rc)
		return rc;
	switch (how->format) {
	case SL_FORMAT_TEXT:
	case SL_FORMAT_MARKDOWN:
		return render_page(m, how, out, err);
	case SL_FORMAT_JSON:
		sl__machine_json(out, m,
				 how->command ? how->command : "machine");
		return sl__buf_status(out, err);
	case SL_FORMAT_CSV:
		sl__machine_csv(out, m);
		return sl__buf_status(out, err);
	case SL_FORMAT_SVG:
		return render_svg(m, out, err);
	case SL_FORMAT_HYPERFINE:
		break;
	}
	return sl__fail(err, SL_E_USAGE,
			"a machine cannot be written in this format");
}
