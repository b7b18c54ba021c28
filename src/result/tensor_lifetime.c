/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_lifetime.c - which tensors were in memory while a plan ran. */
#include "result/tensor_lifetime.h"

#include "base/banned.h"

enum { LINE_BYTES = 64 };

uint64_t
sl__tensor_lifetime_line_bytes(const struct sl__tensor_lifetime *t)
{
	uintptr_t first = t->start / LINE_BYTES;
	uintptr_t end = (t->start + t->n_bytes + LINE_BYTES - 1) / LINE_BYTES;

	return t->n_bytes ? (uint64_t)(end - first) * LINE_BYTES : 0;
}

int
sl__tensor_is_alive_at(const struct sl__tensor_lifetime *t, size_t moment)
{
	return t->born <= moment && moment <= t->last;
}
