/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_shape.c - reference kernels of operators about shapes, and of tensors
 * made from nothing.
 *
 * Inference has found the sizes of the output; what is left is a path through
 * its elements.
 */
#include "base/dtype.h"
#include "base/status.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

/* Reshape, Flatten, Squeeze, Unsqueeze: the sizes are inference's. */
enum sl_status
sl__ref_view(struct sl__eval *ev, struct sl_error *err)
{
	return sl__move_all(ev, 0, 0, err);
}

enum sl_status
sl__ref_identity(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *in = sl__ref_in(ev, 0);

	if (!in)
		return sl__fail(err, SL_E_DATA, "it has no input");
	return sl__ref_out_copy(ev, 0, in, err);
}

enum sl_status
sl__ref_constant(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *tensor;
	struct sl__datum held = {0};
	enum sl_status rc =
		sl__constant_tensor(&tensor, ev->node, ev->scratch, err);

	if (!rc && !tensor)
		return sl__fail(err, SL_E_DATA, "it holds no number");
	if (!rc)
		rc = sl__datum_load(&held, tensor, ev->allocator, err);
	if (!rc)
		rc = sl__ref_out_copy(ev, 0, &held, err);
	sl__datum_clear(&held, ev->allocator);
	return rc;
}

static int64_t
clamp(int64_t at, int64_t rank)
{
	if (at < 0)
		at += rank;
	return at < 0 ? 0 : at > rank ? rank : at;
}

enum sl_status
sl__ref_shape(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *in;
	enum sl_status rc = sl__ref_need(ev, 0, &in, err);
	int64_t rank, first, n;

	if (rc)
		return rc;
	rank = (int64_t)in->rank;
	first = clamp(sl__int(ev->node, "start", 0), rank);
	n = clamp(sl__int(ev->node, "end", rank), rank) - first;
	n = n < 0 ? 0 : n;
	rc = sl__ref_out(ev, 0, SL_DTYPE_I64, 1, &n, err);
	if (!rc && n)
		sl__ref_store_integers(ev, 0, in->dims + first);
	return rc;
}

enum sl_status
sl__ref_size(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *in;
	enum sl_status rc = sl__ref_need(ev, 0, &in, err);
	int64_t n;

	if (!rc)
		rc = sl__ref_out(ev, 0, SL_DTYPE_I64, 0, NULL, err);
	if (rc)
		return rc;
	n = (int64_t)in->n_elements;
	sl__ref_store_integers(ev, 0, &n);
	return SL_OK;
}

/* Input 0 to output 0; the caller sets path.from. */
static enum sl_status
begin(struct sl__eval *ev, struct sl__mover *m, struct sl__path *path,
      int *is_done, struct sl_error *err)
{
	enum sl_status rc = sl__move_between(m, ev, 0, 0, is_done, err);
	const struct sl__datum *out = sl__ref_result(ev, 0);

	if (!rc && !*is_done)
		sl__path_init(path, out->tensor.rank, out->tensor.dims);
	return rc;
}

static enum sl_status
finish(struct sl__eval *ev, const struct sl__mover *m,
       const struct sl__path *path, struct sl_error *err)
{
	sl__move_path(m, path);
	return sl__move_end(ev, 0, err);
}

enum sl_status
sl__ref_expand(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	struct sl__mover m;
	struct sl__path path;
	int is_done;
	enum sl_status rc = begin(ev, &m, &path, &is_done, err);

	if (rc || is_done)
		return rc;
	if (in->rank > path.rank)
		return sl__fail(err, SL_E_DATA,
				"its output has fewer "
				"dimensions than its input");
	sl__ref_broadcast(path.from, path.rank, in->rank, in->dims);
	return finish(ev, &m, &path, err);
}

/* Each dimension becomes two: the repetitions, and itself. */
enum sl_status
sl__ref_tile(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	int64_t to[SL__RANK_MOST], from[SL__RANK_MOST];
	struct sl__mover m;
	struct sl__path path;
	int is_done;
	enum sl_status rc = begin(ev, &m, &path, &is_done, err);

	if (rc || is_done)
		return rc;
	if (in->rank != path.rank)
		return sl__fail(err, SL_E_DATA,
				"its output has another number "
				"of dimensions");
	(void)sl__ref_strides(from, in->rank, in->dims);
	memcpy(to, path.to, sizeof(to));
	for (size_t d = in->rank; d-- > 0;) {
		path.dims[2 * d] = path.dims[d] / in->dims[d];
		path.to[2 * d] = to[d] * in->dims[d];
		path.from[2 * d] = 0;
		path.dims[2 * d + 1] = in->dims[d];
		path.to[2 * d + 1] = to[d];
		path.from[2 * d + 1] = from[d];
	}
	path.rank = 2 * in->rank;
	return finish(ev, &m, &path, err);
}

enum sl_status
sl__ref_transpose(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	int64_t from[SL__RANK_MOST];
	const int64_t *perm;
	size_t n = sl__ints(ev->node, "perm", &perm);
	struct sl__mover m;
	struct sl__path path;
	int is_done;
	enum sl_status rc = begin(ev, &m, &path, &is_done, err);

	if (rc || is_done)
		return rc;
	(void)sl__ref_strides(from, in->rank, in->dims);
	for (size_t d = 0; d < in->rank; d++) {
		int axis =
			sl__axis(n ? perm[d % n] : (int64_t)(in->rank - 1 - d),
				 (int)in->rank);

		if (axis < 0 || in->dims[axis] != path.dims[d])
			return sl__fail(err, SL_E_DATA,
					"perm is not an order of its "
					"dimensions");
		path.from[d] = from[axis];
	}
	return finish(ev, &m, &path, err);
}

/* Both take an image [n][c][h][w] apart into six dimensions. */
static enum sl_status
blocks_of(struct sl__eval *ev, int64_t *size, struct sl_error *err)
{
	*size = sl__int(ev->node, "blocksize", 0);
	if (sl__ref_rank(ev, 0) != 4 || *size < 1)
		return sl__fail(err, SL_E_DATA,
				"an image of 4 dimensions and a block of at "
				"least 1 are needed");
	return SL_OK;
}

enum sl_status
sl__ref_depth_to_space(struct sl__eval *ev, struct sl_error *err)
{
	int is_crd = !strcmp(sl__word(ev->node, "mode", "DCR"), "CRD");
	const struct sl__datum *out = sl__ref_result(ev, 0);
	int64_t b, c, h, w, plane;
	struct sl__mover m;
	struct sl__path path;
	int is_done;
	enum sl_status rc = blocks_of(ev, &b, err);

	if (!rc)
		rc = sl__move_between(&m, ev, 0, 0, &is_done, err);
	if (rc || is_done)
		return rc;
	c = out->tensor.dims[1];
	h = sl__ref_dim(ev, 0, 2);
	w = sl__ref_dim(ev, 0, 3);
	plane = h * w;
	{
		const int64_t dims[] = {out->tensor.dims[0], c, h, b, w, b};
		const int64_t dcr[] = {b * b * c * plane, plane, w,
				       b * c * plane,     1,     c * plane};
		const int64_t crd[] = {b * b * c * plane,
				       b * b * plane,
				       w,
				       b * plane,
				       1,
				       plane};

		sl__path_init(&path, 6, dims);
		memcpy(path.from, is_crd ? crd : dcr, sizeof(crd));
	}
	return finish(ev, &m, &path, err);
}

enum sl_status
sl__ref_space_to_depth(struct sl__eval *ev, struct sl_error *err)
{
	int is_crd = !strcmp(sl__word(ev->node, "mode", "DCR"), "CRD");
	const struct sl__datum *out = sl__ref_result(ev, 0);
	int64_t b, c, h, w;
	struct sl__mover m;
	struct sl__path path;
	int is_done;
	enum sl_status rc = blocks_of(ev, &b, err);

	if (!rc)
		rc = sl__move_between(&m, ev, 0, 0, &is_done, err);
	if (rc || is_done)
		return rc;
	c = sl__ref_dim(ev, 0, 1);
	h = out->tensor.dims[2];
	w = out->tensor.dims[3];
	{
		const int64_t n = out->tensor.dims[0], plane = h * b * w * b;
		const int64_t dcr_dims[] = {n, b, b, c, h, w};
		const int64_t dcr[] = {c * plane, w * b,     1,
				       plane,     b * w * b, b};
		const int64_t crd_dims[] = {n, c, b, b, h, w};
		const int64_t crd[] = {c * plane, plane,     w * b,
				       1,         b * w * b, b};

		sl__path_init(&path, 6, is_crd ? crd_dims : dcr_dims);
		memcpy(path.from, is_crd ? crd : dcr, sizeof(crd));
	}
	return finish(ev, &m, &path, err);
}

/* Every element of output 0 becomes element 'which' of the tensor. */
static enum sl_status
fill(struct sl__eval *ev, const struct sl__tensor *with, int64_t which,
     struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	struct sl__mover m;
	enum sl_status rc;

	if (!out)
		return SL_OK;
	rc = sl__move_begin(&m, out, with, err);
	for (uint64_t i = 0; !rc && i < out->tensor.n_elements; i++)
		sl__move(&m, (int64_t)i, which, 1);
	return rc;
}

enum sl_status
sl__ref_constant_of_shape(struct sl__eval *ev, struct sl_error *err)
{
	static const float zero = 0;
	struct sl__tensor with = {
		.dtype = SL_DTYPE_F32,
		.n_elements = 1,
		.bytes = (const unsigned char *)(const void *)&zero};
	const struct sl__attribute *a = sl__attribute(ev->node, "value");
	enum sl_status rc;

	if (a && a->kind == SL__ATTRIBUTE_TENSOR)
		with = *a->tensor;
	if (with.n_elements != 1 || (!with.bytes && !with.strings))
		return sl__fail(err, SL_E_DATA, "its value is not one number");
	rc = fill(ev, &with, 0, err);
	return rc ? rc : sl__move_end(ev, 0, err);
}

static enum sl_status
range_of_integers(struct sl__eval *ev, size_t n, struct sl_error *err)
{
	const int64_t *start = sl__ref_integers(ev, 0, err);
	const int64_t *delta = sl__ref_integers(ev, 2, err);
	int64_t *made = sl__ref_new(ev, n, sizeof(*made));

	if (!made)
		return sl__fail_nomem(err);
	if (!start || !delta)
		return sl__ref_failure(ev);
	if (!sl__ref_tensor(ev, 0)->n_elements ||
	    !sl__ref_tensor(ev, 2)->n_elements)
		return sl__fail(err, SL_E_DATA,
				"its first number or step is empty");
	for (size_t i = 0; i < n; i++)
		made[i] = (int64_t)((uint64_t)*start + i * (uint64_t)*delta);
	sl__ref_store_integers(ev, 0, made);
	return SL_OK;
}

enum sl_status
sl__ref_range(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	double start = sl__ref_number(ev, 0, 0);
	double delta = sl__ref_number(ev, 2, 1);
	double *made;
	size_t n;

	if (!out)
		return SL_OK;
	if (out->kind != SL__TYPE_TENSOR)
		return sl__fail(err, SL_E_DATA,
				"its first number, limit and step do not say "
				"how many there are");
	n = (size_t)out->tensor.n_elements;
	if (n == 0)
		return SL_OK;
	if (sl__ref_is_whole(out->tensor.dtype))
		return range_of_integers(ev, n, err);
	made = sl__ref_new(ev, n, sizeof(*made));
	if (!made)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		made[i] = start + (double)i * delta;
	sl__ref_store_doubles(ev, 0, made);
	return SL_OK;
}

enum sl_status
sl__ref_eye_like(struct sl__eval *ev, struct sl_error *err)
{
	int64_t shift = sl__int(ev->node, "k", 0);
	struct sl__datum *out = sl__ref_result(ev, 0);
	static const int64_t one = 1;
	static const double unity = 1;

	if (!out)
		return SL_OK;
	if (out->kind != SL__TYPE_TENSOR || out->tensor.rank != 2)
		return sl__fail(err, SL_E_DATA, "its input is no matrix");
	if (sl__dtype_family(out->tensor.dtype) == SL__DTYPE_OTHER)
		return sl__fail(err, SL_E_DATA, "there is no matrix of %s",
				sl_dtype_text(out->tensor.dtype));
	if (out->tensor.n_bytes)
		memset(out->bytes, 0, (size_t)out->tensor.n_bytes);
	if (sl__ref_is_idle(ev))
		return SL_OK;
	for (int64_t row = 0; row < out->tensor.dims[0]; row++) {
		int64_t n = out->tensor.dims[1], column;

		if (__builtin_add_overflow(row, shift, &column) || column < 0 ||
		    column >= n)
			continue;
		if (sl__ref_is_whole(out->tensor.dtype))
			sl__store_integers(out->bytes, out->tensor.dtype,
					   (uint64_t)(row * n + column), 1,
					   &one);
		else
			sl__store_doubles(out->bytes, out->tensor.dtype,
					  (uint64_t)(row * n + column), 1,
					  &unity);
	}
	return SL_OK;
}

/* Indices count from either end; one outside sets nothing. */
enum sl_status
sl__ref_one_hot(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__tensor *values = sl__ref_tensor(ev, 2);
	const struct sl__datum *out = sl__ref_result(ev, 0);
	const int64_t *indices = sl__ref_integers(ev, 0, err);
	int64_t axis = sl__int(ev->node, "axis", -1);
	struct sl__around a;
	struct sl__mover m;
	enum sl_status rc;

	if (!indices)
		return sl__ref_failure(ev);
	if (!values || values->n_elements != 2)
		return sl__fail(err, SL_E_DATA, "values are not two");
	if (!out)
		return SL_OK;
	rc = fill(ev, values, 0, err);
	if (!rc)
		rc = sl__move_begin(&m, out, values, err);
	if (!rc)
		rc = sl__around_axis(&a, &out->tensor, &axis, err);
	if (rc || out->tensor.n_elements == 0)
		return rc;
	for (int64_t o = 0; o < a.outer; o++) {
		for (int64_t i = 0; i < a.inner; i++) {
			int64_t at = indices[o * a.inner + i];

			if (at < -a.size || at >= a.size)
				continue;
			at += at < 0 ? a.size : 0;
			sl__move(&m, (o * a.size + at) * a.inner + i, 1, 1);
		}
	}
	return sl__move_end(ev, 0, err);
}

enum sl_status
sl__ref_trilu(struct sl__eval *ev, struct sl_error *err)
{
	int is_upper = sl__int(ev->node, "upper", 1) != 0;
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	const int64_t *shifts;
	int64_t rows, columns, shift;
	struct sl__mover m;
	size_t n;
	int is_done;
	enum sl_status rc = sl__move_between(&m, ev, 0, 0, &is_done, err);

	if (!rc)
		rc = sl__ref_list(ev, 1, NULL, &shifts, &n, err);
	if (rc || is_done)
		return rc;
	if (in->rank < 2)
		return sl__fail(err, SL_E_DATA, "its input is no matrix");
	rows = in->dims[in->rank - 2];
	columns = in->dims[in->rank - 1];
	/* Beyond these nothing changes any more. */
	shift = n ? shifts[0] : 0;
	shift = shift < -rows ? -rows : shift > columns ? columns : shift;
	sl__move_blank(&m, (int64_t)in->n_elements);
	for (int64_t i = 0; i < (int64_t)in->n_elements / columns; i++) {
		int64_t middle = i % rows + shift + (is_upper ? 0 : 1);
		int64_t first, end;

		middle = middle < 0 ? 0 : middle > columns ? columns : middle;
		first = is_upper ? middle : 0;
		end = is_upper ? columns : middle;
		sl__move(&m, i * columns + first, i * columns + first,
			 end - first);
	}
	return sl__move_end(ev, 0, err);
}
