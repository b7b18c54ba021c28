/* SPDX-License-Identifier: Apache-2.0 */
/* ref_stack.c - tensors of one shape that come one by one and become one. */
#include "ops/ref_stack.h"
#include "base/status.h"

#include <string.h>

#include "base/banned.h"

/* Room for n_bytes in all; what is new is zero. */
static enum sl_status
reserve(struct sl__stack *s, struct sl__eval *ev, uint64_t n_bytes)
{
	unsigned char *bytes;
	size_t cap;

	if (n_bytes <= s->cap_bytes)
		return SL_OK;
	if (n_bytes > SIZE_MAX / 4)
		return sl__ref_nomem(ev);
	cap = n_bytes > 2 * s->cap_bytes ? (size_t)n_bytes : 2 * s->cap_bytes;
	bytes = sl__alloc(ev->allocator, cap);
	if (!bytes)
		return sl__ref_nomem(ev);
	memset(bytes, 0, cap);
	if (s->n_bytes)
		memcpy(bytes, s->bytes, s->n_bytes);
	sl__release(ev->allocator, s->bytes);
	s->bytes = bytes;
	s->cap_bytes = cap;
	return SL_OK;
}

/* Makes room for n more pieces of numbers, or n_text bytes of text. */
static enum sl_status
grow(struct sl__stack *s, struct sl__eval *ev, int64_t n, size_t n_text)
{
	uint64_t n_elements, n_bits, n_bytes = s->n_bytes + (uint64_t)n_text;

	if (s->dtype != SL_DTYPE_STRING) {
		if (__builtin_mul_overflow((uint64_t)s->n + (uint64_t)n,
					   (uint64_t)s->n_piece, &n_elements) ||
		    __builtin_mul_overflow(n_elements,
					   (uint64_t)sl_dtype_bits(s->dtype),
					   &n_bits))
			return sl__ref_nomem(ev);
		n_bytes = n_bits / 8 + (n_bits % 8 != 0);
	}
	if (reserve(s, ev, n_bytes))
		return ev->failure;
	s->n_bytes = (size_t)n_bytes;
	return SL_OK;
}

enum sl_status
sl__stack_skip(struct sl__stack *s, struct sl__eval *ev, int64_t n)
{
	/* An empty text is its NUL. */
	if (s->has_shape && grow(s, ev, n, (size_t)n * (size_t)s->n_piece))
		return ev->failure;
	s->n += n;
	return SL_OK;
}

/* The shape is known from here on; what was skipped before is made up for. */
static enum sl_status
set_shape(struct sl__stack *s, struct sl__eval *ev, enum sl_dtype dtype,
	  size_t rank, const int64_t *dims)
{
	struct sl__tensor piece = {.dtype = dtype, .rank = rank, .dims = dims};
	int64_t n = s->n;

	if (rank >= SL__RANK_MOST || dtype == SL_DTYPE_NONE ||
	    !sl__tensor_measure(&piece))
		return sl__ref_refuse(
			ev, "what a body gives cannot be put side by side");
	s->has_shape = 1;
	s->dtype = dtype;
	s->rank = rank;
	s->n_piece = (int64_t)piece.n_elements;
	if (rank)
		memcpy(s->dims, dims, rank * sizeof(*dims));
	s->n = 0;
	return sl__stack_skip(s, ev, n);
}

enum sl_status
sl__stack_declare(struct sl__stack *s, struct sl__eval *ev,
		  const struct sl__type *type)
{
	int64_t dims[SL__RANK_MOST];
	size_t rank = 0;

	if (s->has_shape)
		return SL_OK;
	if (type->kind != SL__TYPE_TENSOR)
		return sl__ref_refuse(
			ev, "nothing says what a body that does not run "
			    "would give");
	for (int d = 0; d < type->rank && d < SL__RANK_MOST; d++)
		dims[rank++] = type->dims[d] < 0 ? 0 : type->dims[d];
	return set_shape(s, ev, type->dtype, rank, dims);
}

static enum sl_status
push_texts(struct sl__stack *s, struct sl__eval *ev, const struct sl__tensor *t)
{
	for (uint64_t i = 0; i < t->n_elements; i++) {
		size_t n = strlen(t->strings[i]) + 1, at = s->n_bytes;

		if (grow(s, ev, 0, n))
			return ev->failure;
		memcpy(s->bytes + at, t->strings[i], n);
	}
	return SL_OK;
}

enum sl_status
sl__stack_push(struct sl__stack *s, struct sl__eval *ev,
	       const struct sl__datum *piece)
{
	const struct sl__tensor *t = &piece->tensor;
	struct sl__mover m = {0};

	if (piece->kind != SL__TYPE_TENSOR)
		return sl__ref_refuse(ev,
				      "what is no tensor cannot be stacked");
	if (!s->has_shape && set_shape(s, ev, t->dtype, t->rank, t->dims))
		return ev->failure;
	if (t->dtype != s->dtype || t->rank != s->rank ||
	    (t->rank && memcmp(t->dims, s->dims, t->rank * sizeof(*t->dims))))
		return sl__ref_refuse(ev,
				      "run %lld of a body gives another shape "
				      "or type than the first",
				      (long long)s->n);
	if (t->dtype == SL_DTYPE_STRING) {
		push_texts(s, ev, t);
	} else if (!grow(s, ev, 1, 0)) {
		m.from = t->bytes;
		m.to = s->bytes;
		m.n_bits = sl_dtype_bits(s->dtype);
		sl__move(&m, s->n * s->n_piece, 0, s->n_piece);
	}
	s->n += !ev->failure;
	return ev->failure;
}

void
sl__stack_release(struct sl__stack *s, struct sl__eval *ev)
{
	sl__release(ev->allocator, s->bytes);
	memset(s, 0, sizeof(*s));
}

/* All pieces as a tensor; strings get their pointers in the scratch arena. */
static enum sl_status
as_tensor(const struct sl__stack *s, struct sl__eval *ev,
	  struct sl__tensor *out)
{
	size_t n = (size_t)s->n * (size_t)s->n_piece;
	const char *at = (const char *)s->bytes;
	const char **texts;

	memset(out, 0, sizeof(*out));
	out->dtype = s->dtype;
	out->bytes = s->bytes;
	if (s->dtype != SL_DTYPE_STRING)
		return SL_OK;
	out->bytes = NULL;
	texts = sl__ref_new(ev, n, sizeof(*texts));
	if (!texts)
		return ev->failure;
	for (size_t i = 0; i < n; i++) {
		texts[i] = at;
		at += strlen(at) + 1;
	}
	out->strings = texts;
	return SL_OK;
}

/* The sizes of the output, and the way from the pieces to it. */
static enum sl_status
lay_out(const struct sl__stack *s, struct sl__eval *ev,
	const struct sl__stacking *how, int64_t *dims, struct sl__path *path)
{
	int axis = sl__axis(how->axis, (int)s->rank + 1);
	int64_t strides[SL__RANK_MOST], pieces[SL__RANK_MOST];
	size_t at = 1;

	if (axis < 0)
		return sl__ref_refuse(ev,
				      "output axis %lld lies outside of %zu "
				      "dimensions",
				      (long long)how->axis, s->rank + 1);
	for (int d = 0; d <= (int)s->rank; d++)
		dims[d] = d == axis ? s->n : s->dims[d < axis ? d : d - 1];
	(void)sl__ref_strides(strides, s->rank + 1, dims);
	pieces[0] = s->n;
	if (s->rank)
		memcpy(pieces + 1, s->dims, s->rank * sizeof(*pieces));
	sl__path_init(path, s->rank + 1, pieces);
	memcpy(path->from, path->to, (s->rank + 1) * sizeof(*path->from));
	path->to[0] = strides[axis];
	for (int d = 0; d <= (int)s->rank; d++) {
		if (d != axis)
			path->to[at++] = strides[d];
	}
	if (how->is_reverse && s->n) {
		path->to_at = (s->n - 1) * path->to[0];
		path->to[0] = -path->to[0];
	}
	return SL_OK;
}

enum sl_status
sl__stack_give(struct sl__stack *s, struct sl__eval *ev, size_t k,
	       const struct sl__stacking *how)
{
	int64_t dims[SL__RANK_MOST + 1];
	struct sl__tensor pieces;
	struct sl__path path;
	struct sl__mover m;
	size_t rank = s->rank + 1;

	if (!sl__ref_result(ev, k))
		return SL_OK;
	if (lay_out(s, ev, how, dims, &path) || as_tensor(s, ev, &pieces))
		return ev->failure;
	if (how->n_rows) {
		memmove(dims + 1, dims, rank * sizeof(*dims));
		dims[0] = how->n_rows;
		dims[1] = s->n / how->n_rows;
		rank++;
	}
	if (sl__ref_out(ev, k, s->dtype, rank, dims) ||
	    sl__move_begin(ev, &m, sl__ref_result(ev, k), &pieces))
		return ev->failure;
	sl__move_path(&m, &path);
	return sl__move_end(ev, k);
}
