/* SPDX-License-Identifier: Apache-2.0 */
/* size_text.h - what a size is printed as, and what it is worth. */
#ifndef SL_TEST_SIZE_TEXT_H
#define SL_TEST_SIZE_TEXT_H

#include "base/buf.h"
#include "harness.h"
#include "graph/shapes.h"

/* Until the next call. */
static inline const char *
size_text(const struct sl__shapes *shapes, int64_t size)
{
	static char copy[4096];
	struct sl_buf text = {0};

	sl__size_print(&text, shapes, size);
	assert_int_equal(sl__buf_status(&text, NULL), SL_OK);
	assert_in_range(text.n_bytes, 1, sizeof(copy) - 1);
	memcpy(copy, text.data, text.n_bytes + 1);
	sl_buf_release(&text);
	return copy;
}

/*
 * The number that a size is where symbol i of the graph is values[i]; -1 where
 * it depends on data.  Written from what the kinds of expressions mean, so
 * that it is a second opinion on how they are made and simplified.
 */
static inline int64_t
size_value(const struct sl__shapes *shapes, int64_t size, const int64_t *values)
{
	const struct sl__symbolic_size *parts =
		sl__size_expression(shapes, size);
	int64_t a, b;

	if (!parts)
		return size;
	if (parts->kind == SL__SIZE_SYMBOL)
		return values[size - SL__SYMBOL_BASE];
	if (parts->kind == SL__SIZE_UNKNOWN || parts->kind == SL__SIZE_NAMED)
		return -1;
	a = size_value(shapes, parts->a, values);
	b = size_value(shapes, parts->b, values);
	if (parts->kind == SL__SIZE_SUM)
		return a + b;
	if (parts->kind == SL__SIZE_DIFFERENCE)
		return a - b;
	if (parts->kind == SL__SIZE_PRODUCT)
		return a * b;
	assert_int_not_equal(b, 0);
	return (int64_t)floor((double)a / (double)b);
}

#endif
