/* SPDX-License-Identifier: Apache-2.0 */
/*
 * running_sum.c - running sums and products along lines.
 *
 * A line along the axis is one after the other; lines beside each other in
 * memory go together, COLUMNS at a time.  Of reals, sums are in double
 * precision, as the reference kernel makes them.
 */
#include "compute/running_sum.h"
#include "compute/targets.h"

#include "base/banned.h"

enum { COLUMNS = SL__RUNNING_SUM_COLUMNS };

/* Columns [first .. first + n) of slice 'outer': where they begin, and how far
 * it is from one place to the next, which may be backwards. */
struct stretch {
	int64_t start, step;
	int64_t n;
};

static struct stretch
stretch_of(const struct sl__running_sum *r, int64_t block)
{
	int64_t outer = block / r->n_blocks;
	int64_t first = block % r->n_blocks * COLUMNS;
	int64_t last = r->is_reverse ? r->size - 1 : 0;
	struct stretch s = {
		(outer * r->size + last) * r->inner + first,
		r->is_reverse ? -r->inner : r->inner,
		r->inner - first < COLUMNS ? r->inner - first : COLUMNS,
	};

	return s;
}

/* With n known where it is inlined, sums stay in registers. */
#define RUN(name, type, sum)                                                \
	SL__INLINE void name##_columns(const struct sl__running_sum *r,     \
				       const struct stretch *s, int64_t n)  \
	{                                                                   \
		int is_product = r->is_product;                             \
		int is_exclusive = r->is_exclusive;                         \
		const type *x = (const type *)r->x + s->start;              \
		type *y = (type *)r->y + s->start;                          \
		sum sums[COLUMNS];                                          \
                                                                            \
		for (int64_t c = 0; c < n; c++)                             \
			sums[c] = is_product ? 1 : 0;                       \
		for (int64_t i = 0; i < r->size; i++) {                     \
			SL__EACH_ALONE                                      \
			for (int64_t c = 0; c < n; c++) {                   \
				sum before = sums[c], v = (sum)x[c];        \
				sum now = is_product ? before * v           \
						     : before + v;          \
                                                                            \
				sums[c] = now;                              \
				y[c] = (type)(is_exclusive ? before : now); \
			}                                                   \
			x += s->step;                                       \
			y += s->step;                                       \
		}                                                           \
	}                                                                   \
	SL__INLINE void name##_body(const struct sl__running_sum *r,        \
				    const struct stretch *s)                \
	{                                                                   \
		if (s->n == COLUMNS)                                        \
			name##_columns(r, s, COLUMNS);                      \
		else if (s->n == 1)                                         \
			name##_columns(r, s, 1);                            \
		else                                                        \
			name##_columns(r, s, s->n);                         \
	}                                                                   \
	SL__VECTOR_TARGETS(                                                 \
		name, name##_body,                                          \
		(const struct sl__running_sum *r, const struct stretch *s), \
		(r, s))                                                     \
	static void name##_blocks(const struct sl__running_sum *r,          \
				  int64_t first, int64_t end)               \
	{                                                                   \
		void (*run)(const struct sl__running_sum *,                 \
			    const struct stretch *) = name##_for();         \
                                                                            \
		for (int64_t i = first; i < end; i++) {                     \
			struct stretch s = stretch_of(r, i);                \
                                                                            \
			run(r, &s);                                         \
		}                                                           \
	}
RUN(f32, float, double)
RUN(f64, double, double)
RUN(i32, uint32_t, uint32_t) /* that wraps */
RUN(i64, uint64_t, uint64_t)

sl__running_sum_function *
sl__running_sum_for(enum sl_dtype dtype)
{
	static const struct {
		enum sl_dtype dtype;
		sl__running_sum_function *run;
	} runs[] = {{SL_DTYPE_F32, f32_blocks}, {SL_DTYPE_F64, f64_blocks},
		    {SL_DTYPE_I32, i32_blocks}, {SL_DTYPE_U32, i32_blocks},
		    {SL_DTYPE_I64, i64_blocks}, {SL_DTYPE_U64, i64_blocks}};

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		if (runs[i].dtype == dtype)
			return runs[i].run;
	}
	return NULL;
}
