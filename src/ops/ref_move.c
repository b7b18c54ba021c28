/* SPDX-License-Identifier: Apache-2.0 */
/* ref_move.c - elements moved between tensors, whatever their type. */
#include "ops/ref_move.h"
#include "base/dtype.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

const struct sl__tensor *
sl__ref_require_tensor(struct sl__kernel_call *ev, size_t i)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	if (!t)
		sl__ref_reject(ev, "input %zu is no tensor", i);
	else if (t->rank > SL__RANK_MOST)
		sl__ref_reject(ev,
			       "input %zu has %zu dimensions, %d are the most",
			       i, t->rank, SL__RANK_MOST);
	return ev->failure ? NULL : t;
}

enum sl_status
sl__strided_iterator_over_output(struct sl__kernel_call *ev,
				 struct sl__strided_iterator *w)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);

	if (out->kind != SL__TYPE_TENSOR || out->tensor.rank > SL__RANK_MOST)
		return sl__ref_reject(ev, "its result has no sizes");
	sl__strided_iterator_begin(w, out->tensor.rank, out->tensor.dims);
	return ev->failure;
}

enum sl_status
sl__strided_iterator_add_input(struct sl__kernel_call *ev,
			       struct sl__strided_iterator *w, size_t i,
			       size_t first)
{
	const struct sl__tensor *t = sl__ref_require_tensor(ev, i);

	if (!t)
		return ev->failure;
	if (t->rank > w->rank)
		return sl__ref_reject(
			ev, "an input has %zu dimensions, the result %zu",
			t->rank, w->rank);
	if (first == SIZE_MAX)
		first = w->rank - t->rank;
	for (size_t d = 0; d < t->rank; d++) {
		if (t->dims[d] != 1 && t->dims[d] != w->dims[first + d])
			return sl__ref_reject(ev,
					      "input %zu does not fit: a "
					      "dimension of %lld in "
					      "a result of %lld",
					      i, (long long)t->dims[d],
					      (long long)w->dims[first + d]);
	}
	sl__broadcast_strides(w->strides[w->n++], first + t->rank, t->rank,
			      t->dims);
	return SL_OK;
}

enum sl_status
sl__ref_index_normalize(struct sl__kernel_call *ev, int64_t *index,
			int64_t size)
{
	if (*index < -size || *index >= size)
		return sl__ref_reject(ev,
				      "index %lld lies outside of %lld places",
				      (long long)*index, (long long)size);
	if (*index < 0)
		*index += size;
	return SL_OK;
}

enum sl_status
sl__move_begin(struct sl__kernel_call *ev, struct sl__element_mover *m,
	       const struct sl__runtime_value *to,
	       const struct sl__tensor *from)
{
	if (to->kind != SL__TYPE_TENSOR ||
	    (to->tensor.n_elements && !to->bytes))
		return sl__ref_reject(
			ev, "the sizes of its output cannot be found");
	if (to->tensor.dtype != from->dtype)
		return sl__ref_reject(ev, "%s is to be moved into %s",
				      sl_dtype_text(from->dtype),
				      sl_dtype_text(to->tensor.dtype));
	if (to->tensor.rank > SL__RANK_MOST || from->rank > SL__RANK_MOST)
		return sl__ref_reject(ev, "more than %d dimensions",
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
sl__move_begin_input_to_output(struct sl__element_mover *m,
			       struct sl__kernel_call *ev, size_t i, size_t k)
{
	const struct sl__tensor *in = sl__ref_require_tensor(ev, i);

	return in ? sl__move_begin(ev, m, sl__ref_output(ev, k), in)
		  : ev->failure;
}

enum sl_status
sl__move_own_strings(struct sl__kernel_call *ev, size_t k)
{
	struct sl__runtime_value *out = sl__ref_output(ev, k);

	if (ev->failure || !out || out->tensor.dtype != SL_DTYPE_STRING)
		return ev->failure;
	return sl__ref_keep_status(
		ev, sl__runtime_value_copy_strings(
			    out, out->tensor.rank, out->tensor.dims,
			    out->tensor.strings, ev->allocator, ev->err));
}

/* One element of less than a byte. */
static void
move_bits(const struct sl__element_mover *m, uint64_t to, uint64_t from)
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
sl__move_elements(const struct sl__element_mover *m, int64_t to, int64_t from,
		  int64_t n)
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
sl__move_zero_fill(const struct sl__element_mover *m, int64_t n)
{
	const char **texts = (const char **)(void *)m->to;

	for (int64_t i = 0; m->is_text && i < n; i++)
		texts[i] = "";
	if (!m->is_text && n > 0)
		memset(m->to, 0, ((size_t)n * m->n_bits + 7) / 8);
}

void
sl__strided_path_init(struct sl__strided_path *path, size_t rank,
		      const int64_t *dims)
{
	path->rank = rank;
	path->to_at = path->from_at = 0;
	for (size_t d = 0; d < rank; d++) {
		path->dims[d] = dims[d];
		path->from[d] = 0;
	}
	(void)sl__row_major_strides(path->to, rank, dims);
}

/* The last dimensions that lie in one piece on both sides are one run. */
void
sl__move_strided_path(const struct sl__element_mover *m,
		      const struct sl__strided_path *path)
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
		sl__move_elements(m, offsets[0], offsets[1], run);
	} while (sl__strided_position_next(at, rank, path->dims, offsets,
					   strides, 2));
}

enum sl_status
sl__move_output_strided(struct sl__kernel_call *ev,
			const struct sl__element_mover *m, int64_t from,
			const int64_t *strides)
{
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	struct sl__strided_path path;

	sl__strided_path_init(&path, out->rank, out->dims);
	path.from_at = from;
	memcpy(path.from, strides, out->rank * sizeof(*strides));
	sl__move_strided_path(m, &path);
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__axis_split_tensor(struct sl__kernel_call *ev, struct sl__axis_split *out,
		      const struct sl__tensor *t, int64_t *axis)
{
	int at = sl__axis_normalize(axis ? *axis : 0, (int)t->rank);

	if (at < 0)
		return sl__ref_reject(
			ev, "axis %lld lies outside of %zu dimensions",
			axis ? (long long)*axis : 0LL, t->rank);
	out->outer = sl__dims_product(t->dims, 0, (size_t)at);
	out->size = t->dims[at];
	out->inner = sl__dims_product(t->dims, (size_t)at + 1, t->rank);
	if (axis)
		*axis = at;
	return SL_OK;
}

enum sl_status
sl__move_axis_slice(struct sl__kernel_call *ev, struct sl__runtime_value *to,
		    const struct sl__tensor *from,
		    const struct sl__axis_slice *cut)
{
	int64_t dims[SL__RANK_MOST], axis = cut->axis, n = cut->n;
	struct sl__axis_split a = {0};
	struct sl__element_mover m;
	size_t rank = 0;

	if (sl__axis_split_tensor(ev, &a, from, &axis))
		return ev->failure;
	for (size_t d = 0; d < from->rank && d < SL__RANK_MOST; d++) {
		if ((int64_t)d != axis || !cut->is_dropped)
			dims[rank++] = (int64_t)d == axis ? n : from->dims[d];
	}
	if (sl__ref_value_alloc(ev, to, from->dtype, rank, dims) ||
	    sl__move_begin(ev, &m, to, from) || to->tensor.n_elements == 0)
		return ev->failure;
	for (int64_t o = 0; o < a.outer; o++)
		sl__move_elements(&m, o * n * a.inner,
				  (o * a.size + cut->first) * a.inner,
				  n * a.inner);
	return m.is_text ? sl__ref_value_set_strings(ev, to, rank, dims,
						     to->tensor.strings)
			 : SL_OK;
}

enum sl_status
sl__move_fill_output(struct sl__kernel_call *ev, struct sl__element_mover *m,
		     const struct sl__tensor *with)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);

	if (sl__move_begin(ev, m, out, with))
		return ev->failure;
	for (uint64_t i = 0; i < out->tensor.n_elements; i++)
		sl__move_elements(m, (int64_t)i, 0, 1);
	return SL_OK;
}
