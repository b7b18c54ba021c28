/* SPDX-License-Identifier: Apache-2.0 */
/* native_view.c - other sizes, the same elements: nothing is done. */
#include "planner.h"

#include "banned.h"

enum sl_status
sl__make_view(struct sl__planner *pl, const struct sl__node *node, int *is_made,
	      struct sl_error *err)
{
	uint32_t buffer;
	enum sl_status rc;

	*is_made = 0;
	if (sl__plan_type(pl, sl__plan_in(node, 0))->dtype == SL_DTYPE_STRING)
		return SL_OK;
	rc = sl__plan_read(pl, sl__plan_in(node, 0), NULL, &buffer, err);
	if (!rc)
		rc = sl__plan_view(pl, sl__plan_out(node, 0), buffer, 0, err);
	*is_made = 1;
	return rc;
}
