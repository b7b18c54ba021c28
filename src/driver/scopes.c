/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.c - what the scopes of a program took, and what that is of the
 * machine's ceilings.
 *
 * A report on a program does not stop to measure the machine: it takes what
 * "sleuth machine" left in the cache, or says that nothing is there.
 */
#include "result/roof.h"
#include "timing/scope.h"

#include "base/banned.h"

static void
place(struct sl_scope_row *row, const struct sl_scopes *s)
{
	struct sl__achieved_rates rates = sl__rates_of_scope(s, row);
	struct sl__roof_share flops =
		sl__flops_share_of_roof(s->machine, &rates);
	struct sl__roof_share bytes =
		sl__bytes_share_of_roof(s->machine, &rates);

	row->compute_share = flops.share;
	row->compute_ceiling = flops.share.absent ? NULL : flops.of;
	row->bandwidth_share = bytes.share;
	row->bandwidth_ceiling = bytes.share.absent ? NULL : bytes.of;
}

enum sl_status
sl_scope_top(struct sl_scopes **out, size_t n, struct sl_error *err)
{
	struct sl_scope_row *rows;
	enum sl_status rc = sl__scopes_collect(out, &rows, n, err);

	if (rc)
		return rc;
	if (sl_machine_open_cached(&(*out)->machine, NULL, NULL))
		(*out)->machine = NULL;
	for (size_t i = 0; i < (*out)->n_rows; i++)
		place(&rows[i], *out);
	return SL_OK;
}

void
sl_scopes_free(struct sl_scopes *s)
{
	if (s)
		sl_machine_free(s->machine);
	sl__scopes_release(s);
}

enum sl_status
sl_scope_report(const struct sl_render_options *how, struct sl_buf *out,
		struct sl_error *err)
{
	struct sl_scopes *s;
	enum sl_status rc = sl_scope_top(&s, 0, err);

	if (rc)
		return rc;
	rc = sl_scopes_render(s, how, out, err);
	sl_scopes_free(s);
	return rc;
}
