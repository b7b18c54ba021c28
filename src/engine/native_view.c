/* SPDX-License-Identifier: Apache-2.0 */
/* native_view.c - other sizes, the same elements: nothing is done. */
#include "engine/product.h"

#include "base/banned.h"

/* Sizes that forms can describe. */
enum { RANK_MOST = 8 };

/* Whether a value lies row-major, but in another type than its own, that of
 * products: it stays as it is. */
static int
is_narrow(const struct sl__planner *pl, uint32_t from, uint32_t to)
{
	const struct sl__form *form = sl__plan_form(pl, from);

	return form && sl__form_is_dense(form) &&
	       sl__form_dtype(form) == SL_DTYPE_BF16 &&
	       sl__plan_type(pl, to)->dtype == SL_DTYPE_F32 &&
	       sl__plan_type(pl, to)->rank <= RANK_MOST;
}

static enum sl_status
view_narrow(struct sl__planner *pl, uint32_t from, uint32_t to,
	    struct sl_error *err)
{
	const struct sl__form *form;
	uint32_t buffer;
	enum sl_status rc =
		sl__plan_read(pl, from, sl__plan_form(pl, from), &buffer, err);

	if (!rc)
		rc = sl__product_form(pl, to, SL_DTYPE_BF16, &form, err);
	if (!rc)
		sl__plan_alias(pl, to, form, buffer);
	return rc;
}

enum sl_status
sl__make_view(struct sl__planner *pl, const struct sl__node *node, int *is_made,
	      struct sl_error *err)
{
	uint32_t buffer;
	enum sl_status rc;

	*is_made = 0;
	/* The reference kernel says what is wrong with other sizes. */
	if (sl__plan_type(pl, sl__plan_in(node, 0))->dtype == SL_DTYPE_STRING ||
	    sl__plan_bytes(pl, sl__plan_in(node, 0)) !=
		    sl__plan_bytes(pl, sl__plan_out(node, 0)))
		return SL_OK;
	*is_made = 1;
	if (is_narrow(pl, sl__plan_in(node, 0), sl__plan_out(node, 0)))
		return view_narrow(pl, sl__plan_in(node, 0),
				   sl__plan_out(node, 0), err);
	rc = sl__plan_read(pl, sl__plan_in(node, 0), NULL, &buffer, err);
	if (!rc)
		rc = sl__plan_view(pl, sl__plan_out(node, 0), buffer, 0, err);
	return rc;
}
