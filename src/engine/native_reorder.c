/* SPDX-License-Identifier: Apache-2.0 */
/* native_reorder.c - values brought from one layout into another by own
 * kernels. */
#include "base/status.h"
#include "compute/element_conversion.h"
#include "engine/data_movement.h"
#include "engine/reorder.h"

#include <string.h>

#include "base/banned.h"

struct reordering {
	struct sl__iteration_space space; /* operand 0 is the target */
	enum sl_dtype from, to;
	unsigned char **at;
};

static void
set_reordering(struct reordering *out, const struct sl__reordering *r)
{
	memset(out, 0, sizeof(*out));
	sl__space_init(&out->space, (int)r->rank, r->dims);
	out->space.n = 2;
	memcpy(out->space.strides[0], r->to, sizeof(r->to));
	memcpy(out->space.strides[1], r->from, sizeof(r->from));
	sl__space_sort_loops(&out->space);
	sl__space_merge_loops(&out->space);
	out->from = (enum sl_dtype)r->from_dtype;
	out->to = (enum sl_dtype)r->to_dtype;
}

/* Elements of the innermost loop from offsets at[0] and at[1] on, by way of
 * f32 where the types differ. */
static void
convert_row(const struct reordering *r, const int64_t *at,
	    const unsigned char *from, unsigned char *to)
{
	int last = r->space.rank - 1;
	int64_t steps[2] = {r->space.strides[0][last],
			    r->space.strides[1][last]};
	size_t sizes[2] = {sl_dtype_bits(r->to) / 8,
			   sl_dtype_bits(r->from) / 8};

	for (int64_t i = 0; i < r->space.dims[last]; i++) {
		const void *x =
			from + (size_t)(at[1] + i * steps[1]) * sizes[1];
		void *y = to + (size_t)(at[0] + i * steps[0]) * sizes[0];
		float number;

		if (r->from == r->to) {
			memcpy(y, x, sizes[0]);
			continue;
		}
		sl__numbers_to_f32(r->from, x, 1, &number);
		sl__numbers_from_f32(r->to, &number, 1, y);
	}
}

static void
convert_rows(const struct reordering *r, int64_t first, int64_t end,
	     const unsigned char *from, unsigned char *to)
{
	int n = r->space.rank - 1;
	struct sl__space_position at;

	sl__space_seek(&r->space, n, first, &at);
	for (; first < end; first++) {
		convert_row(r, at.offsets, from, to);
		sl__space_next(&r->space, n, &at);
	}
}

static int64_t
n_rows(const struct reordering *r)
{
	return sl__space_n_positions(&r->space, r->space.rank - 1);
}

static void
run_part(int rank, int n, void *ctx)
{
	const struct reordering *r = ctx;
	int64_t first, end;

	sl__parallel_range(n_rows(r), rank, n, &first, &end);
	convert_rows(r, first, end, r->at[0], r->at[1]);
}

void
sl__reorder_now(const struct sl__reordering *r, const void *from, void *to)
{
	struct reordering own;

	set_reordering(&own, r);
	convert_rows(&own, 0, n_rows(&own), from, to);
}

static struct sl__step *
plan_copy(struct sl__planner *pl, const struct reordering *r,
	  const uint32_t *operands)
{
	struct sl__copy_region *region =
		sl__plan_alloc_state(pl, sizeof(*region));
	struct sl__data_movement movement = {region, 1,
					     sl_dtype_bits(r->to) / 8};

	if (region) {
		region->space = r->space;
		region->from = 0;
		region->to = 1;
		sl__plan_data_movement(pl, &movement, operands, 2, "reorder");
	}
	return pl->rc ? &pl->spare
		      : &pl->program->steps[pl->program->n_steps - 1];
}

void
sl__plan_mark_reorder(struct sl__planner *pl, struct sl__step *step,
		      uint32_t value)
{
	step->node = SL__NONE;
	step->core_flops = step->nominal_flops = step->executed_flops = 0;
	step->name = sl__arena_format(&pl->program->arena, "reorder %s",
				      pl->graph->values[value].name);
	if (!step->name && !pl->rc)
		pl->rc = sl__fail_nomem(pl->err);
}

void
sl__plan_native_reorder(struct sl__planner *pl, uint32_t value,
			const struct sl__reordering *r,
			const uint32_t *operands)
{
	struct reordering *own = sl__plan_alloc_state(pl, sizeof(*own));
	int is_counted = pl->is_counted;
	struct sl__step *step;

	if (!own)
		return;
	set_reordering(own, r);
	if (own->from == own->to) {
		step = plan_copy(pl, own, operands);
	} else {
		step = sl__plan_add_parallel_step(pl, operands, 2, "reorder",
						  run_part, own);
		own->at = step->at;
	}
	pl->is_counted = is_counted;
	sl__plan_mark_reorder(pl, step, value);
}
