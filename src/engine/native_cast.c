/* SPDX-License-Identifier: Apache-2.0 */
/* native_cast.c - elements of one type as another. */
#include "base/status.h"
#include "engine/loops.h"
#include "engine/numbers.h"

#include <string.h>

#include "base/banned.h"

struct cast {
	enum sl_dtype from, to;
	int64_t n;
	const unsigned char *x;
	unsigned char *y;
};

enum { PIECE = 512 };

/* One of the two types is computed with, or both go by way of one. */
static void
convert(const struct cast *c, const void *x, int64_t n, void *y)
{
	float reals[PIECE];
	int64_t wholes[PIECE];

	if (c->to == SL_DTYPE_F32) {
		sl__numbers_to_f32(c->from, x, n, y);
	} else if (c->from == SL_DTYPE_F32) {
		sl__numbers_from_f32(c->to, x, n, y);
	} else if (sl__numbers_of(c->from) == SL__NUMBERS_REAL ||
		   sl__numbers_of(c->to) == SL__NUMBERS_REAL) {
		sl__numbers_to_f32(c->from, x, n, reals);
		sl__numbers_from_f32(c->to, reals, n, y);
	} else {
		sl__numbers_to_i64(c->from, x, n, wholes);
		sl__numbers_from_i64(c->to, wholes, n, y);
	}
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct cast *c = ctx;
	size_t from = sl_dtype_bits(c->from) / 8, to = sl_dtype_bits(c->to) / 8;
	int64_t first, end;

	sl__parallel_part(c->n, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i += PIECE) {
		int64_t n = end - i < PIECE ? end - i : PIECE;

		convert(c, c->x + (size_t)i * from, n, c->y + (size_t)i * to);
	}
}

static enum sl_status
run(struct sl__step *step, struct sl_error *err)
{
	struct cast *c = step->state;

	(void)err;
	c->x = step->at[0];
	c->y = step->at[1];
	sl__parallel(sl__threads_for(step->n_threads, step->n_bytes), run_part,
		     c);
	return SL_OK;
}

static int
read_cast(const struct sl__planner *pl, const struct sl__node *node,
	  struct cast *c)
{
	c->from = sl__plan_type(pl, sl__plan_in(node, 0))->dtype;
	c->to = sl__plan_type(pl, sl__plan_out(node, 0))->dtype;
	c->n = (int64_t)sl__plan_elements(pl, sl__plan_in(node, 0));
	return c->n && sl__numbers_of(c->from) && sl__numbers_of(c->to);
}

enum sl_status
sl__make_cast(struct sl__planner *pl, const struct sl__node *node, int *is_made,
	      struct sl_error *err)
{
	struct cast *c = sl__plan_state(pl, sizeof(*c));
	struct sl__step *step;
	uint32_t at[2];
	enum sl_status rc;

	*is_made = 0;
	if (!c)
		return sl__fail_nomem(err);
	if (!read_cast(pl, node, c))
		return SL_OK;
	*is_made = 1;
	rc = sl__plan_read(pl, sl__plan_in(node, 0), NULL, &at[0], err);
	if (rc)
		return rc;
	if (c->from == c->to)
		return sl__plan_view(pl, sl__plan_out(node, 0), at[0], 0, err);
	rc = sl__plan_write(pl, sl__plan_out(node, 0), NULL, &at[1], err);
	if (!rc)
		rc = sl__plan_step(pl, at, 2, &step, err);
	if (rc)
		return rc;
	step->kernel = "cast";
	step->state = c;
	step->run = run;
	return SL_OK;
}
