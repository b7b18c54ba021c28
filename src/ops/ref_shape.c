/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_shape.c - reference kernels of operators about shapes, and of tensors
 * made from nothing.
 *
 * Inference has found the sizes of the output; what is left is a path through
 * its elements.
 */
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

/* Reshape, Flatten, Squeeze, Unsqueeze: the sizes are inference's. */
enum sl_status
sl__ref_view(struct sl__eval *ev)
{
	struct sl__mover m;
	uint64_t n, n_out;

	if (sl__move_between(&m, ev, 0, 0))
		return ev->failure;
	n = sl__ref_tensor(ev, 0)->n_elements;
	n_out = sl__ref_result(ev, 0)->tensor.n_elements;
	if (n != n_out)
		return sl__ref_refuse(ev, "%llu elements do not make %llu",
				      (unsigned long long)n,
				      (unsigned long long)n_out);
	sl__move(&m, 0, 0, (int64_t)n);
	return sl__move_end(ev, 0);
}

enum sl_status
sl__ref_identity(struct sl__eval *ev)
{
	const struct sl__datum *in = sl__ref_in(ev, 0);

	return in ? sl__ref_out_copy(ev, 0, in)
		  : sl__ref_refuse(ev, "it has no input");
}

enum sl_status
sl__ref_constant(struct sl__eval *ev)
{
	const struct sl__tensor *tensor;
	struct sl__datum held = {0};

	if (sl__ref_keep(ev, sl__constant_tensor(&tensor, ev->node, ev->scratch,
						 ev->err)))
		return ev->failure;
	if (!tensor)
		return sl__ref_refuse(ev, "it holds no number");
	if (!sl__ref_keep(
		    ev, sl__datum_load(&held, tensor, ev->allocator, ev->err)))
		sl__ref_out_copy(ev, 0, &held);
	sl__datum_clear(&held, ev->allocator);
	return ev->failure;
}

static int64_t
clamp(int64_t at, int64_t rank)
{
	if (at < 0)
		at += rank;
	return at < 0 ? 0 : at > rank ? rank : at;
}

enum sl_status
sl__ref_shape(struct sl__eval *ev)
{
	const struct sl__tensor *in = sl__ref_need(ev, 0);
	int64_t rank, first, n;

	if (!in)
		return ev->failure;
	rank = (int64_t)in->rank;
	first = clamp(sl__int(ev->node, "start", 0), rank);
	n = clamp(sl__int(ev->node, "end", rank), rank) - first;
	n = n < 0 ? 0 : n;
	if (sl__ref_out(ev, 0, SL_DTYPE_I64, 1, &n) || !n)
		return ev->failure;
	return sl__ref_store_integers(ev, 0, in->dims + first);
}

enum sl_status
sl__ref_size(struct sl__eval *ev)
{
	const struct sl__tensor *in = sl__ref_need(ev, 0);
	int64_t n = in ? (int64_t)in->n_elements : 0;

	if (!in || sl__ref_out(ev, 0, SL_DTYPE_I64, 0, NULL))
		return ev->failure;
	return sl__ref_store_integers(ev, 0, &n);
}

/* Input 0 to output 0; the caller sets path.from. */
static enum sl_status
begin(struct sl__eval *ev, struct sl__mover *m, struct sl__path *path)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);

	if (!sl__move_between(m, ev, 0, 0))
		sl__path_init(path, out->tensor.rank, out->tensor.dims);
	return ev->failure;
}

static enum sl_status
finish(struct sl__eval *ev, const struct sl__mover *m,
       const struct sl__path *path)
{
	sl__move_path(m, path);
	return sl__move_end(ev, 0);
}

enum sl_status
sl__ref_expand(struct sl__eval *ev)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	struct sl__mover m;
	struct sl__path path;

	if (begin(ev, &m, &path))
		return ev->failure;
	if (in->rank > path.rank)
		return sl__ref_refuse(ev, "its output has fewer dimensions "
					  "than its input");
	sl__ref_broadcast(path.from, path.rank, in->rank, in->dims);
	return finish(ev, &m, &path);
}

/* Each dimension becomes two: the repetitions, and itself. */
enum sl_status
sl__ref_tile(struct sl__eval *ev)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	int64_t to[SL__RANK_MOST], from[SL__RANK_MOST];
	struct sl__mover m;
	struct sl__path path;

	if (begin(ev, &m, &path))
		return ev->failure;
	if (in->rank != path.rank)
		return sl__ref_refuse(ev, "its output has another number of "
					  "dimensions");
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
	return finish(ev, &m, &path);
}

enum sl_status
sl__ref_transpose(struct sl__eval *ev)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	int64_t from[SL__RANK_MOST];
	const int64_t *perm;
	size_t n = sl__ints(ev->node, "perm", &perm);
	struct sl__mover m;
	struct sl__path path;

	if (begin(ev, &m, &path))
		return ev->failure;
	(void)sl__ref_strides(from, in->rank, in->dims);
	for (size_t d = 0; d < in->rank; d++) {
		int axis =
			sl__axis(n ? perm[d % n] : (int64_t)(in->rank - 1 - d),
				 (int)in->rank);

		if (axis < 0 || in->dims[axis] != path.dims[d])
			return sl__ref_refuse(
				ev, "perm is not an order of its dimensions");
		path.from[d] = from[axis];
	}
	return finish(ev, &m, &path);
}

/* DepthToSpace and SpaceToDepth take an image [n][c][h][w] apart into six
 * dimensions of the output, each with a stride in the input. */
enum sl_status
sl__ref_blocks(struct sl__eval *ev)
{
	int is_crd = !strcmp(sl__word(ev->node, "mode", "DCR"), "CRD");
	int is_spread = sl__is_op(ev->node, SL__OP_ONNX_DepthToSpace);
	int64_t b = sl__int(ev->node, "blocksize", 0), c, h, w, n, p;
	const int64_t *small, *wide;
	struct sl__mover m;
	struct sl__path path;

	if (sl__ref_rank(ev, 0) != 4 || b < 1)
		return sl__ref_refuse(ev, "an image of 4 dimensions and a "
					  "block of at least 1 are needed");
	if (sl__move_between(&m, ev, 0, 0))
		return ev->failure;
	/* The image of small planes, and the one of wide ones. */
	small = sl__ref_tensor(ev, 0)->dims;
	wide = sl__ref_result(ev, 0)->tensor.dims;
	if (!is_spread) {
		wide = small;
		small = sl__ref_result(ev, 0)->tensor.dims;
	}
	n = wide[0];
	c = wide[1];
	h = small[2];
	w = small[3];
	p = is_spread ? h * w : h * b * w * b;
	{
		const int64_t dims[3][6] = {{n, c, h, b, w, b},
					    {n, b, b, c, h, w},
					    {n, c, b, b, h, w}};
		const int64_t from[4][6] = {
			{b * b * c * p, p, w, b * c * p, 1, c * p},
			{b * b * c * p, b * b * p, w, b * p, 1, p},
			{c * p, w * b, 1, p, b * w * b, b},
			{c * p, p, w * b, 1, b * w * b, b}};

		sl__path_init(&path, 6, dims[is_spread ? 0 : 1 + is_crd]);
		memcpy(path.from, from[(is_spread ? 0 : 2) + is_crd],
		       sizeof(from[0]));
	}
	return finish(ev, &m, &path);
}

/* Every element of output 0 becomes the first of the tensor. */
static enum sl_status
fill(struct sl__eval *ev, struct sl__mover *m, const struct sl__tensor *with)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);

	if (sl__move_begin(ev, m, out, with))
		return ev->failure;
	for (uint64_t i = 0; i < out->tensor.n_elements; i++)
		sl__move(m, (int64_t)i, 0, 1);
	return SL_OK;
}

enum sl_status
sl__ref_constant_of_shape(struct sl__eval *ev)
{
	static const float zero = 0;
	struct sl__tensor with = {
		.dtype = SL_DTYPE_F32,
		.n_elements = 1,
		.bytes = (const unsigned char *)(const void *)&zero};
	const struct sl__attribute *a = sl__attribute(ev->node, "value");
	struct sl__mover m;

	if (a && a->kind == SL__ATTRIBUTE_TENSOR)
		with = *a->tensor;
	if (with.n_elements != 1 || (!with.bytes && !with.strings))
		return sl__ref_refuse(ev, "its value is not one number");
	fill(ev, &m, &with);
	return sl__move_end(ev, 0);
}

static enum sl_status
range_of_integers(struct sl__eval *ev, int64_t n)
{
	const int64_t *start = sl__ref_integers(ev, 0);
	const int64_t *delta = sl__ref_integers(ev, 2);
	int64_t *made = sl__ref_new_integers(ev, n);

	if (ev->failure)
		return ev->failure;
	if (!sl__ref_tensor(ev, 0)->n_elements ||
	    !sl__ref_tensor(ev, 2)->n_elements)
		return sl__ref_refuse(ev, "its first number or step is empty");
	for (int64_t i = 0; i < n; i++)
		made[i] = (int64_t)((uint64_t)*start +
				    (uint64_t)i * (uint64_t)*delta);
	return sl__ref_store_integers(ev, 0, made);
}

enum sl_status
sl__ref_range(struct sl__eval *ev)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);
	double start = sl__ref_number(ev, 0, 0);
	double delta = sl__ref_number(ev, 2, 1);
	double *made;
	int64_t n;

	if (out->kind != SL__TYPE_TENSOR)
		return sl__ref_refuse(ev, "its first number, limit and step "
					  "do not say how many there are");
	n = (int64_t)out->tensor.n_elements;
	if (sl__ref_is_whole(out->tensor.dtype))
		return range_of_integers(ev, n);
	made = sl__ref_new_doubles(ev, n);
	for (int64_t i = 0; made && i < n; i++)
		made[i] = start + (double)i * delta;
	return sl__ref_store_doubles(ev, 0, made);
}

enum sl_status
sl__ref_eye_like(struct sl__eval *ev)
{
	int64_t shift = sl__int(ev->node, "k", 0), column;
	const struct sl__datum *out = sl__ref_result(ev, 0);
	double *made;

	if (out->kind != SL__TYPE_TENSOR || out->tensor.rank != 2)
		return sl__ref_refuse(ev, "its input is no matrix");
	made = sl__ref_new_output(ev, 0);
	for (int64_t row = 0; made && row < out->tensor.dims[0]; row++) {
		if (!__builtin_add_overflow(row, shift, &column) &&
		    column >= 0 && column < out->tensor.dims[1])
			made[row * out->tensor.dims[1] + column] = 1;
	}
	return sl__ref_store_doubles(ev, 0, made);
}

/* Indices count from either end; one outside sets nothing. */
enum sl_status
sl__ref_one_hot(struct sl__eval *ev)
{
	const struct sl__tensor *values = sl__ref_tensor(ev, 2);
	const struct sl__datum *out = sl__ref_result(ev, 0);
	const int64_t *indices = sl__ref_integers(ev, 0);
	int64_t axis = sl__int(ev->node, "axis", -1);
	struct sl__around a;
	struct sl__mover m;

	if (!indices)
		return ev->failure;
	if (!values || values->n_elements != 2)
		return sl__ref_refuse(ev, "values are not two");
	if (fill(ev, &m, values) ||
	    sl__around_axis(ev, &a, &out->tensor, &axis))
		return ev->failure;
	for (int64_t k = 0; k < a.outer * a.inner; k++) {
		int64_t at = indices[k] + (indices[k] < 0 ? a.size : 0);

		if (at >= 0 && at < a.size)
			sl__move(&m,
				 (k / a.inner * a.size + at) * a.inner +
					 k % a.inner,
				 1, 1);
	}
	return sl__move_end(ev, 0);
}

enum sl_status
sl__ref_trilu(struct sl__eval *ev)
{
	int is_upper = sl__int(ev->node, "upper", 1) != 0;
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	int64_t rows, columns, shift;
	struct sl__mover m;
	size_t n;
	const int64_t *shifts = sl__ref_list(ev, 1, NULL, &n);

	if (ev->failure || sl__move_between(&m, ev, 0, 0))
		return ev->failure;
	if (in->rank < 2)
		return sl__ref_refuse(ev, "its input is no matrix");
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
	return sl__move_end(ev, 0);
}
