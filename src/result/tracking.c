/* SPDX-License-Identifier: Apache-2.0 */
/* tracking.c - which tensors were in memory while a plan ran. */
#include "result/tracking.h"

#include "base/banned.h"

enum { LINE_BYTES = 64 };

uint64_t
sl__tracked_bytes(const struct sl__tracked *t)
{
	uintptr_t first = t->start / LINE_BYTES;
	uintptr_t end = (t->start + t->n_bytes + LINE_BYTES - 1) / LINE_BYTES;

	return t->n_bytes ? (uint64_t)(end - first) * LINE_BYTES : 0;
}

int
sl__tracked_is_live(const struct sl__tracked *t, size_t moment)
{
	return t->born <= moment && moment <= t->last;
}
