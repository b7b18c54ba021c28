/* SPDX-License-Identifier: Apache-2.0 */
/* ref_move.c - elements moved between tensors, whatever their type. */
#include "ops/ref_move.h"
#include "base/dtype.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

enum sl_status
sl__ref_need(const struct sl__eval *ev, size_t i, const struct sl__tensor **out,
	     struct sl_error *err)
{
	*out = sl__ref_tensor(ev, i);
	if (!*out)
		return sl__fail(err, SL_E_DATA, "input %zu is no tensor", i);
	if ((*out)->rank > SL__RANK_MOST)
		return sl__fail(err, SL_E_DATA,
				"input %zu has %zu dimensions, %d are the most",
				i, (*out)->rank, SL__RANK_MOST);
	return SL_OK;
}

enum sl_status
sl__ref_place(int64_t *index, int64_t size, struct sl_error *err)
{
	if (*index < -size || *index >= size)
		return sl__fail(err, SL_E_DATA,
				"index %lld lies outside of %lld places",
				(long long)*index, (long long)size);
	if (*index < 0)
		*index += size;
	return SL_OK;
}

enum sl_status
sl__move_begin(struct sl__mover *m, const struct sl__datum *to,
	       const struct sl__tensor *from, struct sl_error *err)
{
	if (to->kind != SL__TYPE_TENSOR ||
	    (to->tensor.n_elements && !to->bytes))
		return sl__fail(err, SL_E_DATA,
				"the sizes of its output cannot be found");
	if (to->tensor.dtype != from->dtype)
		return sl__fail(err, SL_E_DATA, "%s is to be moved into %s",
				sl_dtype_text(from->dtype),
				sl_dtype_text(to->tensor.dtype));
	if (to->tensor.rank > SL__RANK_MOST || from->rank > SL__RANK_MOST)
		return sl__fail(err, SL_E_DATA, "more than %d dimensions",
				SL__RANK_MOST);
	m->is_text = from->dtype == SL_DTYPE_STRING;
	m->from = m->is_text
			  ? (const unsigned char *)(const void *)from->strings
			  : from->bytes;
	m->to = to->bytes;
	m->n_bits = m->is_text ? 8 * (unsigned)sizeof(char *)
			       : sl_dtype_bits(from->dtype);
	return SL_OK;
}

enum sl_status
sl__move_between(struct sl__mover *m, struct sl__eval *ev, size_t i, size_t k,
		 int *is_done, struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, k);
	const struct sl__tensor *in;
	enum sl_status rc = sl__ref_need(ev, i, &in, err);

	*is_done = 1;
	if (rc || !out)
		return rc;
	rc = sl__move_begin(m, out, in, err);
	*is_done = rc || out->tensor.n_elements == 0;
	return rc;
}

enum sl_status
sl__move_end(struct sl__eval *ev, size_t k, struct sl_error *err)
{
	struct sl__datum *out = sl__ref_result(ev, k);

	if (!out || out->tensor.dtype != SL_DTYPE_STRING)
		return SL_OK;
	return sl__datum_strings(out, out->tensor.rank, out->tensor.dims,
				 out->tensor.strings, ev->allocator, err);
}

/* One element of less than a byte. */
static void
move_bits(const struct sl__mover *m, uint64_t to, uint64_t from)
{
	unsigned each = 8 / m->n_bits, mask = (1u << m->n_bits) - 1;
	unsigned at = (unsigned)(to % each) * m->n_bits;
	unsigned bits = (unsigned)m->from[from / each] >>
			((unsigned)(from % each) * m->n_bits);
	unsigned char *byte = &m->to[to / each];

	*byte = (unsigned char)((*byte & ~(mask << at)) |
				((bits & mask) << at));
}

void
sl__move(const struct sl__mover *m, int64_t to, int64_t from, int64_t n)
{
	size_t width = m->n_bits / 8;

	if (n <= 0)
		return;
	if (width) {
		memcpy(m->to + (size_t)to * width,
		       m->from + (size_t)from * width, (size_t)n * width);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		move_bits(m, (uint64_t)(to + i), (uint64_t)(from + i));
}

void
sl__move_blank(const struct sl__mover *m, int64_t n)
{
	const char **texts = (const char **)(void *)m->to;

	for (int64_t i = 0; m->is_text && i < n; i++)
		texts[i] = "";
	if (!m->is_text && n > 0)
		memset(m->to, 0, ((size_t)n * m->n_bits + 7) / 8);
}

enum sl_status
sl__move_all(struct sl__eval *ev, size_t i, size_t k, struct sl_error *err)
{
	struct sl__mover m;
	uint64_t n, n_out;
	int is_done;
	enum sl_status rc = sl__move_between(&m, ev, i, k, &is_done, err);

	if (rc || !sl__ref_result(ev, k))
		return rc;
	n = sl__ref_tensor(ev, i)->n_elements;
	n_out = sl__ref_result(ev, k)->tensor.n_elements;
	if (n != n_out)
		return sl__fail(
			err, SL_E_DATA, "%llu elements do not make %llu",
			(unsigned long long)n, (unsigned long long)n_out);
	if (is_done)
		return SL_OK;
	sl__move(&m, 0, 0, (int64_t)n);
	return sl__move_end(ev, k, err);
}

void
sl__path_init(struct sl__path *path, size_t rank, const int64_t *dims)
{
	path->rank = rank;
	path->to_at = path->from_at = 0;
	for (size_t d = 0; d < rank; d++) {
		path->dims[d] = dims[d];
		path->from[d] = 0;
	}
	(void)sl__ref_strides(path->to, rank, dims);
}

/* The last dimensions that lie in one piece on both sides are one run. */
void
sl__move_path(const struct sl__mover *m, const struct sl__path *path)
{
	int64_t at[SL__PATH_RANK_MOST] = {0};
	int64_t offsets[2] = {path->to_at, path->from_at};
	const int64_t *const strides[2] = {path->to, path->from};
	size_t rank = path->rank;
	int64_t run = 1;

	for (size_t d = 0; d < rank; d++) {
		if (path->dims[d] <= 0)
			return;
	}
	while (rank &&
	       (path->dims[rank - 1] == 1 ||
		(path->to[rank - 1] == run && path->from[rank - 1] == run)))
		run *= path->dims[--rank];
	do {
		sl__move(m, offsets[0], offsets[1], run);
	} while (sl__ref_next(at, rank, path->dims, offsets, strides, 2));
}

enum sl_status
sl__around_axis(struct sl__around *out, const struct sl__tensor *t,
		int64_t *axis, struct sl_error *err)
{
	int at = sl__axis(axis ? *axis : 0, (int)t->rank);
	uint64_t outer = 1, inner = 1;

	if (at < 0)
		return sl__fail(err, SL_E_DATA,
				"axis %lld lies outside of %zu dimensions",
				axis ? (long long)*axis : 0LL, t->rank);
	for (int d = 0; d < at; d++)
		outer *= (uint64_t)t->dims[d];
	for (size_t d = (size_t)at + 1; d < t->rank; d++)
		inner *= (uint64_t)t->dims[d];
	out->outer = (int64_t)outer;
	out->size = t->dims[at];
	out->inner = (int64_t)inner;
	if (axis)
		*axis = at;
	return SL_OK;
}
