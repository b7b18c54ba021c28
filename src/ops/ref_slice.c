/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_slice.c - reference kernels of pieces of tensors: Slice, Split, Concat,
 * Pad and their kin.
 */
#include "base/dtype.h"
#include "ops/ref_move.h"

#include <string.h>

#include "base/banned.h"

static int64_t
between(int64_t at, int64_t low, int64_t high)
{
	return at < low ? low : at > high ? high : at;
}

/* What is taken of a dimension: first and n are in range, whatever the node
 * asks for. */
struct cut {
	int64_t first, n, step;
};

static struct cut
cut_of(int64_t start, int64_t end, int64_t step, int64_t size)
{
	struct cut cut = {0, 0, step};

	start += start < 0 ? size : 0;
	end += end < 0 ? size : 0;
	if (step > 0) {
		start = between(start, 0, size);
		end = between(end, 0, size);
		cut.n = start < end ? (end - start - 1) / step + 1 : 0;
	} else if (size > 0) {
		start = between(start, 0, size - 1);
		end = between(end, -1, size - 1);
		cut.step = step < -INT64_MAX ? -INT64_MAX : step;
		cut.n = start > end ? (start - end - 1) / -cut.step + 1 : 0;
	}
	cut.first = start;
	if (cut.n < 2)
		cut.step = 1; /* never taken */
	return cut;
}

/* The lists of a Slice; axes and steps may be NULL. */
struct slice {
	const int64_t *starts, *ends, *axes, *steps;
	size_t n;
};

static enum sl_status
slice_of(struct sl__eval *ev, struct slice *s)
{
	size_t n_ends, n_axes, n_steps;

	s->starts = sl__ref_list(ev, 1, "starts", &s->n);
	s->ends = sl__ref_list(ev, 2, "ends", &n_ends);
	s->axes = sl__ref_list(ev, 3, "axes", &n_axes);
	s->steps = sl__ref_list(ev, 4, "steps", &n_steps);
	if (n_ends != s->n || (s->axes && n_axes != s->n) ||
	    (s->steps && n_steps != s->n))
		return sl__ref_refuse(ev, "its starts, ends, axes and steps "
					  "are not as many");
	return ev->failure;
}

static enum sl_status
cut_all(struct sl__eval *ev, const struct slice *s, const struct sl__tensor *in,
	struct cut *cuts)
{
	for (size_t d = 0; d < in->rank; d++) {
		cuts[d].first = 0;
		cuts[d].n = in->dims[d];
		cuts[d].step = 1;
	}
	for (size_t i = 0; i < s->n; i++) {
		int64_t step = s->steps ? s->steps[i] : 1;
		int axis = sl__axis(s->axes ? s->axes[i] : (int64_t)i,
				    (int)in->rank);

		if (axis < 0 || step == 0)
			return sl__ref_refuse(
				ev,
				"a step of 0, or an axis outside of "
				"%zu dimensions",
				in->rank);
		cuts[axis] =
			cut_of(s->starts[i], s->ends[i], step, in->dims[axis]);
	}
	return SL_OK;
}

enum sl_status
sl__ref_slice(struct sl__eval *ev)
{
	struct cut cuts[SL__RANK_MOST];
	int64_t dims[SL__RANK_MOST], strides[SL__RANK_MOST];
	const struct sl__tensor *in = sl__ref_need(ev, 0);
	struct sl__mover m;
	struct sl__path path;
	struct slice s;

	if (!in || slice_of(ev, &s) || cut_all(ev, &s, in, cuts))
		return ev->failure;
	for (size_t d = 0; d < in->rank; d++)
		dims[d] = cuts[d].n;
	if (sl__ref_out(ev, 0, in->dtype, in->rank, dims) ||
	    sl__move_between(&m, ev, 0, 0))
		return ev->failure;
	sl__path_init(&path, in->rank, dims);
	(void)sl__ref_strides(strides, in->rank, in->dims);
	for (size_t d = 0; d < in->rank; d++) {
		path.from[d] = strides[d] * cuts[d].step;
		path.from_at += strides[d] * cuts[d].first;
	}
	sl__move_path(&m, &path);
	return sl__move_end(ev, 0);
}

/* Size of part k: as the list says, or the same for all but the last. */
static int64_t
part_size(const int64_t *split, int64_t size, int64_t n, int64_t k)
{
	int64_t part = size / n + (size % n != 0);

	if (split)
		return split[k];
	return between(size - k * part, 0, part);
}

enum sl_status
sl__ref_split(struct sl__eval *ev)
{
	struct sl__cut cut = {.axis = sl__int(ev->node, "axis", 0)};
	const struct sl__tensor *in = sl__ref_need(ev, 0);
	uint32_t n_parts = ev->node->n_outputs;
	struct sl__around a;
	size_t n;
	const int64_t *split = sl__ref_list(ev, 1, "split", &n);

	if (ev->failure || sl__around_axis(ev, &a, in, &cut.axis))
		return ev->failure;
	if (split && n != n_parts)
		return sl__ref_refuse(ev, "%zu sizes for %u parts", n, n_parts);
	for (uint32_t k = 0; !ev->failure && k < n_parts; k++) {
		cut.n = part_size(split, a.size, n_parts, k);
		if (cut.n < 0 || cut.n > a.size - cut.first)
			return sl__ref_refuse(ev,
					      "part %u, of %lld, goes beyond "
					      "the dimension of %lld",
					      k, (long long)cut.n,
					      (long long)a.size);
		if (sl__ref_result(ev, k))
			sl__move_cut(ev, sl__ref_result(ev, k), in, &cut);
		cut.first += cut.n;
	}
	return ev->failure;
}

enum sl_status
sl__ref_concat(struct sl__eval *ev)
{
	int64_t axis = sl__int(ev->node, "axis", 1), at = 0;
	const struct sl__datum *out = sl__ref_result(ev, 0);
	struct sl__around whole, part;
	struct sl__mover m;

	for (size_t i = 0; i < ev->node->n_inputs; i++) {
		if (sl__move_between(&m, ev, i, 0) ||
		    sl__around_axis(ev, &whole, &out->tensor, &axis) ||
		    sl__around_axis(ev, &part, sl__ref_tensor(ev, i), &axis))
			return ev->failure;
		if (sl__ref_tensor(ev, i)->n_elements == 0)
			continue;
		if (part.outer != whole.outer || part.inner != whole.inner ||
		    part.size > whole.size - at)
			return sl__ref_refuse(
				ev, "input %zu does not go beside the others",
				i);
		for (int64_t o = 0; o < part.outer; o++)
			sl__move(&m, (o * whole.size + at) * whole.inner,
				 o * part.size * part.inner,
				 part.size * part.inner);
		at += part.size;
	}
	return sl__move_end(ev, 0);
}

enum pad_mode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP };

static enum sl_status
pad_mode_of(struct sl__eval *ev, enum pad_mode *mode)
{
	static const char *const names[] = {"constant", "reflect", "edge",
					    "wrap"};
	const char *word = sl__word(ev->node, "mode", "constant");

	for (int i = 0; i < 4; i++) {
		*mode = (enum pad_mode)i;
		if (!strcmp(word, names[i]))
			return SL_OK;
	}
	return sl__ref_refuse(ev, "there is no mode '%.40s'", word);
}

/* Small enough to be added up. */
static int
is_amount(int64_t pad)
{
	return pad > INT64_MIN / 4 && pad < INT64_MAX / 4;
}

/* before[d] and after[d]: elements that come in, or go where negative. */
static enum sl_status
pad_amounts(struct sl__eval *ev, size_t rank, int64_t *before, int64_t *after)
{
	const char *name = ev->node->version < 2 ? "paddings" : "pads";
	size_t n_pads, n;
	const int64_t *pads = sl__ref_list(ev, 1, name, &n_pads);
	const int64_t *axes = sl__ref_list(ev, 3, NULL, &n);

	if (ev->failure)
		return ev->failure;
	n = axes ? n : rank;
	memset(before, 0, rank * sizeof(*before));
	memset(after, 0, rank * sizeof(*after));
	if (n_pads != 2 * n)
		return sl__ref_refuse(
			ev,
			"%zu pads for %zu dimensions: two each are "
			"needed",
			n_pads, n);
	for (size_t i = 0; i < n; i++) {
		int axis = axes ? sl__axis(axes[i], (int)rank) : (int)i;

		if (axis < 0 || !is_amount(pads[i]) || !is_amount(pads[n + i]))
			return sl__ref_refuse(
				ev,
				"an axis outside of %zu dimensions, or "
				"a pad beyond all sizes",
				rank);
		before[axis] = pads[i];
		after[axis] = pads[n + i];
	}
	return SL_OK;
}

static int64_t
wrapped(int64_t i, int64_t n)
{
	return i % n < 0 ? i % n + n : i % n;
}

/* There and back again, without either end twice. */
static int64_t
reflected(int64_t i, int64_t n)
{
	int64_t there = n - 1;

	if (there == 0)
		return 0;
	i = wrapped(i, 2 * there);
	return i > there ? 2 * there - i : i;
}

/*
 * Where each of n_out places of a dimension comes from; -1: a new element.
 * What negative amounts take away is gone before anything is repeated.
 */
static enum sl_status
pad_sources(int64_t *sources, int64_t n_out, int64_t n_in,
	    const int64_t amounts[2], enum pad_mode mode)
{
	int64_t low = amounts[0] < 0 ? -amounts[0] : 0;
	int64_t n = n_in - low - (amounts[1] < 0 ? -amounts[1] : 0);
	int64_t ahead = amounts[0] > 0 ? amounts[0] : 0;

	if (n <= 0 && mode != PAD_CONSTANT)
		return n_out ? SL_E_DATA : SL_OK;
	for (int64_t k = 0; k < n_out; k++) {
		int64_t i = k - ahead;

		if (i >= 0 && i < n)
			sources[k] = low + i;
		else if (mode == PAD_CONSTANT)
			sources[k] = -1;
		else if (mode == PAD_EDGE)
			sources[k] = low + between(i, 0, n - 1);
		else if (mode == PAD_WRAP)
			sources[k] = low + wrapped(i, n);
		else
			sources[k] = low + reflected(i, n);
	}
	return SL_OK;
}

/* One element for what comes in, in storage of up to 16 bytes. */
static enum sl_status
pad_value(struct sl__eval *ev, struct sl__mover *m, unsigned char *storage)
{
	static const char *const nothing = "";
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	const struct sl__tensor *value = sl__ref_tensor(ev, 2);
	double number = sl__float(ev->node, "value", 0);

	if (value && value->n_elements)
		return sl__move_begin(ev, m, sl__ref_result(ev, 0), value);
	memset(storage, 0, 16);
	if (sl__dtype_family(in->dtype) != SL__DTYPE_OTHER)
		sl__store_doubles(storage, in->dtype, 0, 1, &number);
	m->from = storage;
	if (m->is_text)
		m->from = (const unsigned char *)(const void *)&nothing;
	return SL_OK;
}

/* Where the elements of each dimension come from, and how to walk there. */
struct padding {
	const int64_t *sources[SL__RANK_MOST];
	int64_t strides[SL__RANK_MOST]; /* of the input */
};

static enum sl_status
find_sources(struct sl__eval *ev, struct padding *p)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	const struct sl__tensor *out = &sl__ref_result(ev, 0)->tensor;
	int64_t before[SL__RANK_MOST], after[SL__RANK_MOST];
	enum pad_mode mode;

	if (pad_mode_of(ev, &mode) || pad_amounts(ev, in->rank, before, after))
		return ev->failure;
	if (in->rank != out->rank)
		return sl__ref_refuse(ev, "its output has another number of "
					  "dimensions");
	for (size_t d = 0; d < in->rank; d++) {
		const int64_t amounts[2] = {before[d], after[d]};
		int64_t *made = sl__ref_new_integers(ev, out->dims[d]);

		p->sources[d] = made;
		if (made &&
		    pad_sources(made, out->dims[d], in->dims[d], amounts, mode))
			return sl__ref_refuse(ev,
					      "nothing is left of dimension "
					      "%zu that could be repeated",
					      d);
	}
	(void)sl__ref_strides(p->strides, in->rank, in->dims);
	return ev->failure;
}

/* Row-major over the output; *from is -1 where a new element goes. */
static void
pad_elements(const struct sl__mover *m, const struct sl__mover *value,
	     const struct padding *p, const struct sl__tensor *out)
{
	int64_t at[SL__RANK_MOST] = {0};
	int64_t k = 0;

	do {
		int64_t from = 0;

		for (size_t d = 0; from >= 0 && d < out->rank; d++) {
			int64_t source = p->sources[d][at[d]];

			from = source < 0 ? -1 : from + source * p->strides[d];
		}
		if (from < 0)
			sl__move(value, k, 0, 1);
		else
			sl__move(m, k, from, 1);
		k++;
	} while (sl__ref_next(at, out->rank, out->dims, NULL, NULL, 0));
}

enum sl_status
sl__ref_pad(struct sl__eval *ev)
{
	struct sl__mover m, value;
	unsigned char storage[16];
	struct padding padding;

	if (sl__move_between(&m, ev, 0, 0))
		return ev->failure;
	value = m;
	if (pad_value(ev, &value, storage) || find_sources(ev, &padding))
		return ev->failure;
	pad_elements(&m, &value, &padding, &sl__ref_result(ev, 0)->tensor);
	return sl__move_end(ev, 0);
}

/* Each dimension loses or gains half of the difference at either end. */
enum sl_status
sl__ref_center_crop_pad(struct sl__eval *ev)
{
	const struct sl__tensor *in = sl__ref_tensor(ev, 0), *out;
	int64_t strides[SL__RANK_MOST];
	struct sl__mover m;
	struct sl__path path;

	if (sl__move_between(&m, ev, 0, 0))
		return ev->failure;
	out = &sl__ref_result(ev, 0)->tensor;
	if (in->rank != out->rank)
		return sl__ref_refuse(ev, "its output has another number "
					  "of dimensions");
	sl__move_blank(&m, (int64_t)out->n_elements);
	sl__path_init(&path, out->rank, out->dims);
	(void)sl__ref_strides(strides, in->rank, in->dims);
	for (size_t d = 0; d < in->rank; d++) {
		int64_t more = out->dims[d] - in->dims[d];

		path.from[d] = strides[d];
		if (more > 0) {
			path.dims[d] = in->dims[d];
			path.to_at += more / 2 * path.to[d];
		} else {
			path.from_at += -more / 2 * strides[d];
		}
	}
	sl__move_path(&m, &path);
	return sl__move_end(ev, 0);
}

enum sl_status
sl__ref_reverse_sequence(struct sl__eval *ev)
{
	int64_t batch_axis = sl__int(ev->node, "batch_axis", 1);
	int64_t time_axis = sl__int(ev->node, "time_axis", 0);
	const struct sl__tensor *in = sl__ref_tensor(ev, 0);
	int64_t strides[SL__RANK_MOST], n_batch, n_time;
	struct sl__mover m;
	size_t n;
	const int64_t *lengths = sl__ref_list(ev, 1, NULL, &n);

	if (ev->failure || sl__move_between(&m, ev, 0, 0))
		return ev->failure;
	if (in->rank < 2 || (batch_axis != 0 && batch_axis != 1) ||
	    time_axis != 1 - batch_axis)
		return sl__ref_refuse(ev,
				      "batch and time are not its first two "
				      "dimensions");
	n_batch = in->dims[batch_axis];
	n_time = in->dims[time_axis];
	if ((int64_t)n != n_batch)
		return sl__ref_refuse(ev, "%zu lengths for %lld sequences", n,
				      (long long)n_batch);
	(void)sl__ref_strides(strides, in->rank, in->dims);
	for (int64_t b = 0; b < n_batch; b++) {
		if (lengths[b] < 0 || lengths[b] > n_time)
			return sl__ref_refuse(
				ev, "a sequence of %lld elements, in %lld",
				(long long)lengths[b], (long long)n_time);
		for (int64_t t = 0; t < n_time; t++) {
			int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
			int64_t start = b * strides[batch_axis];

			sl__move(&m, start + t * strides[time_axis],
				 start + from * strides[time_axis], strides[1]);
		}
	}
	return sl__move_end(ev, 0);
}

/* The tensor around the axis; as one dimension where the node names none. */
static enum sl_status
compress_around(struct sl__eval *ev, const struct sl__tensor *in,
		struct sl__around *a, int64_t *axis)
{
	*axis = -1;
	a->outer = a->inner = 1;
	a->size = (int64_t)in->n_elements;
	if (!sl__attribute(ev->node, "axis"))
		return SL_OK;
	*axis = sl__int(ev->node, "axis", 0);
	return sl__around_axis(ev, a, in, axis);
}

/* places[] that the mask sets, of which there are 'size'. */
static int64_t *
find_set(struct sl__eval *ev, int64_t size, int64_t *n)
{
	const int64_t *mask = sl__ref_integers(ev, 1);
	int64_t n_mask = mask ? (int64_t)sl__ref_tensor(ev, 1)->n_elements : 0;
	int64_t *places = sl__ref_new_integers(ev, n_mask);

	*n = 0;
	for (int64_t i = 0; !ev->failure && i < n_mask; i++) {
		if (mask[i] && i >= size)
			sl__ref_refuse(ev, "place %lld is asked for, of %lld",
				       (long long)i, (long long)size);
		else if (mask[i])
			places[(*n)++] = i;
	}
	return ev->failure ? NULL : places;
}

enum sl_status
sl__ref_compress(struct sl__eval *ev)
{
	int64_t dims[SL__RANK_MOST], axis, n, *places;
	const struct sl__tensor *in = sl__ref_need(ev, 0);
	struct sl__around a;
	struct sl__mover m;

	if (!in || compress_around(ev, in, &a, &axis))
		return ev->failure;
	places = find_set(ev, a.size, &n);
	if (in->rank)
		memcpy(dims, in->dims, in->rank * sizeof(*dims));
	dims[axis < 0 ? 0 : axis] = n;
	if (!places ||
	    sl__ref_out(ev, 0, in->dtype, axis < 0 ? 1 : in->rank, dims) ||
	    sl__move_between(&m, ev, 0, 0) || sl__ref_is_idle(ev))
		return ev->failure;
	for (int64_t o = 0; o < a.outer; o++) {
		for (int64_t i = 0; i < n; i++)
			sl__move(&m, (o * n + i) * a.inner,
				 (o * a.size + places[i]) * a.inner, a.inner);
	}
	return sl__move_end(ev, 0);
}
