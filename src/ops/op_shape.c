/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_shape.c - operators about shapes: what it is, and the same elements
 * under another.
 *
 * Exporters compute shapes in the graph (Shape, Gather, Concat, Reshape), so
 * contents are followed here too: what Shape returns is its input's sizes,
 * symbols included.  Most of these operators are views and cost nothing.
 */
#include "ops/cost.h"
#include "ops/list_input.h"
#include "ops/ref_move.h"
#include "ops/ref_rules.h"

#include <string.h>

#include "base/banned.h"

static int64_t
clamp(int64_t at, int64_t rank)
{
	if (at < 0)
		at += rank;
	return at < 0 ? 0 : at > rank ? rank : at;
}

/* How many of the sizes a Shape node returns, and from which on. */
static int64_t
shape_part(const struct sl__node *node, int64_t rank, int64_t *first)
{
	int64_t end = clamp(sl__attribute_int(node, "end", rank), rank);

	*first = clamp(sl__attribute_int(node, "start", 0), rank);
	return end > *first ? end - *first : 0;
}

enum sl_status
sl__infer_shape(struct sl__rule_context *call)
{
	int rank = sl__in_rank(call, 0);
	int64_t first, n;

	if (rank < 0)
		return sl__out_set_rank_only(
			call, 0, SL_DTYPE_I64, 1,
			"the rank of its input is not known");
	n = shape_part(call->node, rank, &first);
	return sl__out_set_shape(call, 0, SL_DTYPE_I64, 1, &n);
}

enum sl_status
sl__fold_shape(struct sl__rule_context *call)
{
	int rank = sl__in_rank(call, 0);
	const int64_t *dims;
	int64_t first, n;

	if (rank < 0)
		return SL_OK;
	n = shape_part(call->node, rank, &first);
	dims = n ? sl__in_type(call, 0)->dims + first : (const int64_t[]){0};
	return sl__out_set_known_contents(call, 0, dims, NULL, (size_t)n);
}

/* And the length of a sequence. */
enum sl_status
sl__infer_size(struct sl__rule_context *call)
{
	return sl__out_set_shape(call, 0, SL_DTYPE_I64, 0, NULL);
}

enum sl_status
sl__fold_size(struct sl__rule_context *call)
{
	int rank = sl__in_rank(call, 0);
	int64_t n;

	if (rank < 0)
		return SL_OK;
	n = sl__size_product(call->shapes, sl__in_type(call, 0)->dims, rank);
	return n == -1 ? SL_OK
		       : sl__out_set_known_contents(call, 0, &n, NULL, 1);
}

enum sl_status
sl__ref_shape(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	int64_t first, n;

	if (!in)
		return ev->failure;
	n = shape_part(ev->node, (int64_t)in->rank, &first);
	if (sl__ref_output_alloc(ev, 0, SL_DTYPE_I64, 1, &n) || !n)
		return ev->failure;
	return sl__ref_output_store_integers(ev, 0, in->dims + first);
}

enum sl_status
sl__ref_size(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	int64_t n = in ? (int64_t)in->n_elements : 0;

	if (!in || sl__ref_output_alloc(ev, 0, SL_DTYPE_I64, 0, NULL))
		return ev->failure;
	return sl__ref_output_store_integers(ev, 0, &n);
}

/* Also Scatter, Trilu and ReverseSequence, whose output is like input 0. */
enum sl_status
sl__infer_identity(struct sl__rule_context *call)
{
	return sl__out_set_type(call, 0, sl__in_type(call, 0));
}

/* Elements and their order stay. */
enum sl_status
sl__fold_same(struct sl__rule_context *call)
{
	const struct sl__known_contents *known = sl__in_known_contents(call, 0);

	if (known)
		sl__out_set_same_contents(call, 0, known);
	return SL_OK;
}

/* Reshape, Flatten, Squeeze, Unsqueeze: the sizes are inference's. */
enum sl_status
sl__ref_view(struct sl__kernel_call *ev)
{
	struct sl__element_mover m;
	uint64_t n, n_out;

	if (sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	n = sl__ref_input_tensor(ev, 0)->n_elements;
	n_out = sl__ref_output(ev, 0)->tensor.n_elements;
	if (n != n_out)
		return sl__ref_reject(ev, "%llu elements do not make %llu",
				      (unsigned long long)n,
				      (unsigned long long)n_out);
	sl__move_elements(&m, 0, 0, (int64_t)n);
	return sl__move_own_strings(ev, 0);
}

enum sl_status
sl__ref_identity(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *in = sl__ref_input(ev, 0);

	return in ? sl__ref_output_copy(ev, 0, in)
		  : sl__ref_reject(ev, "it has no input");
}

void
sl__cost_view(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_VIEW;
	cost->weight_bytes = cost->read_bytes = cost->written_bytes = 0;
}

/* The sizes asked for, with zeros resolved; returns where the -1 is, or -1. */
static int
reshape_wanted(struct sl__rule_context *call,
	       const struct sl__integer_list *want, int64_t *dims)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int copies_zeros = !sl__attribute_int(call->node, "allowzero", 0);
	int free_dim = -1;

	for (int i = 0; i < (int)want->n; i++) {
		dims[i] = want->values[i];
		if (dims[i] == 0 && copies_zeros && i >= in->rank)
			sl__rule_reject(
				call,
				"0 in place %d of the new shape, but the "
				"input is %s",
				i, sl__in_shape_text(call, 0));
		else if (dims[i] == 0 && copies_zeros)
			dims[i] = in->dims[i];
		else if (dims[i] == -1 && free_dim >= 0)
			sl__rule_reject(call,
					"-1 stands twice in the new shape");
		else if (dims[i] == -1)
			free_dim = i;
	}
	return free_dim;
}

/* A shape as a message shows it. */
static const char *
text_of(struct sl__rule_context *call, const int64_t *dims, int rank)
{
	struct sl__type type = {SL__TYPE_TENSOR, SL_DTYPE_NONE, rank, dims,
				NULL};

	return sl__type_text(call->shapes, &type);
}

static void
refuse_reshape(struct sl__rule_context *call, const int64_t *dims, int rank)
{
	/* Numbers may have been cut at the ends of their range. */
	for (int d = 0; d < rank; d++) {
		if (dims[d] >= -SL__SYMBOL_END)
			sl__rule_reject(
				call,
				"%s elements do not make a shape beyond all "
				"sizes",
				sl__in_shape_text(call, 0));
	}
	sl__rule_reject(call, "%s elements do not make %s",
			sl__in_shape_text(call, 0), text_of(call, dims, rank));
}

/* What stands in place of -1. */
static void
reshape_free(struct sl__rule_context *call, int64_t *dims, int rank,
	     int free_dim)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int64_t size;

	dims[free_dim] = 1;
	size = sl__size_div_cancelling(call->shapes, in->dims, in->rank, dims,
				       rank);
	/* Nothing into nothing: any size would do. */
	for (int i = 0; size == -1 && i < rank; i++) {
		if (dims[i] == 0)
			size = 0;
	}
	dims[free_dim] = size;
	if (size == -1)
		refuse_reshape(call, dims, rank);
}

/* Numbers of elements that are certainly different are refused. */
static void
reshape_check(struct sl__rule_context *call, const int64_t *dims, int rank)
{
	struct sl__type out = {SL__TYPE_TENSOR, SL_DTYPE_NONE, rank, dims,
			       NULL};
	uint64_t before, after;

	if (sl__type_elements(sl__in_type(call, 0), &before) &&
	    sl__type_elements(&out, &after) && before != after)
		refuse_reshape(call, dims, rank);
}

/* Symbols that came up where the input's own sizes settle them: one symbol in
 * the new shape that the input does not have is what the others leave. */
static void
reshape_settle(struct sl__rule_context *call, int64_t *dims, int rank)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int64_t size, kept;
	int at = -1;

	for (int i = 0; i < rank; i++) {
		if (!sl__is_symbol(dims[i]) ||
		    (size_t)(dims[i] - SL__SYMBOL_BASE) <
			    call->shapes->graph->n_symbols)
			continue;
		if (at >= 0)
			return;
		at = i;
	}
	if (at < 0)
		return;
	kept = dims[at];
	dims[at] = 1;
	size = sl__size_div_cancelling(call->shapes, in->dims, in->rank, dims,
				       rank);
	dims[at] = size >= 0 ? size : kept;
}

enum sl_status
sl__infer_reshape(struct sl__rule_context *call)
{
	static const char why[] = "the shape it asks for depends on data";
	struct sl__integer_list want = sl__integer_list_read(call, 1, "shape");
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int in_rank = sl__in_rank(call, 0);
	int free_dim;
	int64_t *dims;

	if (!want.is_given)
		return sl__rule_reject(call, "no new shape is given");
	if (!want.values || want.n > SL__RANK_MOST)
		return sl__out_set_rank_only(call, 0, dtype, want.n, why);
	dims = sl__sizes_alloc(call, (size_t)want.n);
	if (!dims)
		return call->failure;
	if (in_rank < 0) {
		for (int64_t i = 0; i < want.n; i++)
			dims[i] = want.values[i] > 0 ||
						  sl__is_symbol(want.values[i])
					  ? want.values[i]
					  : sl__size_new_unknown(call->shapes);
		return sl__out_set_shape(call, 0, dtype, (int)want.n, dims);
	}
	free_dim = reshape_wanted(call, &want, dims);
	if (call->failure)
		return call->failure;
	if (free_dim >= 0)
		reshape_free(call, dims, (int)want.n, free_dim);
	else
		reshape_settle(call, dims, (int)want.n);
	reshape_check(call, dims, (int)want.n);
	return sl__out_set_shape(call, 0, dtype, (int)want.n, dims);
}

enum sl_status
sl__infer_flatten(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t axis = sl__attribute_int(call->node, "axis", 1);
	int64_t dims[2];

	if (rank < 0)
		return sl__out_set_rank_only(
			call, 0, sl__in_dtype(call, 0), 2,
			"the rank of its input is not known");
	if (axis < -rank || axis > rank)
		return sl__rule_reject(
			call, "axis %lld lies outside of %d dimensions",
			(long long)axis, rank);
	if (axis < 0)
		axis += rank;
	dims[0] = sl__size_product(call->shapes, in->dims, (int)axis);
	dims[1] = axis < rank ? sl__size_product(call->shapes, in->dims + axis,
						 rank - (int)axis)
			      : 1;
	return sl__out_set_shape(call, 0, in->dtype, 2, dims);
}

/* Which dimensions go: those named, or all of size 1. */
static enum sl_status
squeeze_axes(struct sl__rule_context *call, const struct sl__integer_list *axes,
	     unsigned char *is_axis)
{
	const struct sl__type *in = sl__in_type(call, 0);

	if (axes->is_given)
		sl__integer_list_mark_axes(call, axes, in->rank, is_axis);
	for (int i = 0; !call->failure && i < in->rank; i++) {
		if (!axes->is_given)
			is_axis[i] = in->dims[i] == 1;
		else if (is_axis[i] && in->dims[i] != 1 &&
			 !sl__is_symbol(in->dims[i]))
			sl__rule_reject(
				call,
				"dimension %d of %s is not 1 and cannot be "
				"squeezed away",
				i, sl__in_shape_text(call, 0));
	}
	return call->failure;
}

/* Whether it depends on a size that has no number yet what is squeezed. */
static int
is_squeeze_open(const struct sl__type *in, const struct sl__integer_list *axes)
{
	if (axes->is_given)
		return !sl__integer_list_is_known(axes);
	for (int i = 0; i < in->rank; i++) {
		if (sl__is_symbol(in->dims[i]))
			return 1;
	}
	return 0;
}

enum sl_status
sl__infer_squeeze(struct sl__rule_context *call)
{
	static const char why[] = "which dimensions go depends on data";
	struct sl__integer_list axes = sl__integer_list_read(call, 1, "axes");
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0), n = 0;
	unsigned char *is_axis;
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), -1,
					 NULL);
	if (is_squeeze_open(in, &axes))
		return sl__out_set_rank_only(call, 0, in->dtype,
					     axes.n >= 0 ? rank - axes.n : -1,
					     why);
	dims = sl__sizes_alloc(call, (size_t)rank);
	is_axis = sl__arena_alloc(&call->shapes->arena, (size_t)rank);
	if (!dims || !is_axis)
		return sl__rule_nomem(call);
	if (squeeze_axes(call, &axes, is_axis))
		return call->failure;
	for (int i = 0; i < rank; i++) {
		if (!is_axis[i])
			dims[n++] = in->dims[i];
	}
	return sl__out_set_shape(call, 0, in->dtype, n, dims);
}

enum sl_status
sl__infer_unsqueeze(struct sl__rule_context *call)
{
	static const char why[] = "where dimensions go in depends on data";
	struct sl__integer_list axes = sl__integer_list_read(call, 1, "axes");
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0), at = 0;
	unsigned char *is_axis;
	int64_t *dims;
	int n;

	if (!axes.is_given)
		return sl__rule_reject(call, "no axes are given");
	if (rank < 0 || axes.n > SL__RANK_MOST)
		return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), -1,
					 NULL);
	if (!sl__integer_list_is_known(&axes))
		return sl__out_set_rank_only(call, 0, in->dtype,
					     axes.n >= 0 ? rank + axes.n : -1,
					     why);
	n = rank + (int)axes.n;
	dims = sl__sizes_alloc(call, (size_t)n);
	is_axis = sl__arena_alloc(&call->shapes->arena, (size_t)n);
	if (!dims || !is_axis)
		return sl__rule_nomem(call);
	if (sl__integer_list_mark_axes(call, &axes, n, is_axis))
		return call->failure;
	for (int i = 0; i < n; i++)
		dims[i] = is_axis[i] ? 1 : in->dims[at++];
	return sl__out_set_shape(call, 0, in->dtype, n, dims);
}

void
sl__cost_movement(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_MOVEMENT;
}

enum sl_status
sl__infer_expand(struct sl__rule_context *call)
{
	static const char why[] = "the shape it asks for depends on data";
	struct sl__integer_list want = sl__integer_list_read(call, 1, NULL);
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0), n;
	int64_t *dims;

	if (rank < 0 || want.n < 0 || want.n > SL__RANK_MOST)
		return sl__out_set_unknown_shape(call, 0, sl__in_dtype(call, 0),
						 why);
	n = rank > (int)want.n ? rank : (int)want.n;
	dims = sl__sizes_alloc(call, (size_t)n);
	for (int i = 0; dims && i < n; i++) {
		int a = i - (n - rank), b = i - (n - (int)want.n);
		int64_t size = a >= 0 ? in->dims[a] : 1;
		int64_t to = 1;

		/* Only what is 1 can be stretched. */
		if (b >= 0 && want.values)
			to = want.values[b];
		else if (b >= 0 && (size == 1 || sl__is_symbol(size)))
			to = size = sl__size_new_unknown(call->shapes);
		dims[i] = sl__broadcast_size(call->shapes, size, to);
		if (dims[i] == -1 && want.values)
			sl__rule_reject(
				call, "%s does not expand to %s",
				sl__in_shape_text(call, 0),
				text_of(call, want.values, (int)want.n));
	}
	return sl__out_set_shape(call, 0, in->dtype, n, dims);
}

enum sl_status
sl__ref_expand(struct sl__kernel_call *ev)
{
	struct sl__element_mover m;
	struct sl__strided_iterator w;

	if (sl__move_begin_input_to_output(&m, ev, 0, 0) ||
	    sl__strided_iterator_over_output(ev, &w) ||
	    sl__strided_iterator_add_input(ev, &w, 0, SIZE_MAX))
		return ev->failure;
	return sl__move_output_strided(ev, &m, 0, w.strides[0]);
}

/* Repetitions of each dimension; of one dimension in the first versions. */
static enum sl_status
tile_repeats(struct sl__rule_context *call, int rank, int64_t *repeats)
{
	struct sl__integer_list tiles = sl__integer_list_read(call, 1, NULL);
	struct sl__integer_list axis = sl__integer_list_read(call, 2, NULL);
	int is_old = sl__has_in(call, 2);

	for (int i = 0; i < rank; i++)
		repeats[i] = is_old ? 1 : sl__size_new_unknown(call->shapes);
	if (is_old) {
		int at = axis.values && axis.n == 1
				 ? sl__axis_normalize(axis.values[0], rank)
				 : -1;

		if (at >= 0 && tiles.values && tiles.n == 1)
			repeats[at] = tiles.values[0];
		return SL_OK;
	}
	if (tiles.n >= 0 && tiles.n != rank)
		return sl__rule_reject(call,
				       "%lld repetitions for %d dimensions",
				       (long long)tiles.n, rank);
	if (tiles.values && rank)
		memcpy(repeats, tiles.values, (size_t)rank * sizeof(*repeats));
	return SL_OK;
}

enum sl_status
sl__infer_tile(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), -1,
					 NULL);
	dims = sl__sizes_alloc(call, (size_t)rank);
	if (!dims || tile_repeats(call, rank, dims))
		return call->failure;
	for (int i = 0; i < rank; i++)
		dims[i] = dims[i] < 0 && !sl__is_symbol(dims[i])
				  ? -1
				  : sl__size_mul(call->shapes, in->dims[i],
						 dims[i]);
	return sl__out_set_shape(call, 0, in->dtype, rank, dims);
}

/* Each dimension becomes two: the repetitions, and itself. */
enum sl_status
sl__ref_tile(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_input_tensor(ev, 0);
	int64_t to[SL__RANK_MOST], from[SL__RANK_MOST];
	const struct sl__tensor *out = &sl__ref_output(ev, 0)->tensor;
	struct sl__element_mover m;
	struct sl__strided_path path;

	if (sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	if (in->rank != out->rank)
		return sl__ref_reject(ev, "its output has another number of "
					  "dimensions");
	sl__strided_path_init(&path, out->rank, out->dims);
	(void)sl__row_major_strides(from, in->rank, in->dims);
	(void)sl__row_major_strides(to, out->rank, out->dims);
	for (size_t d = in->rank; d-- > 0;) {
		path.dims[2 * d] = out->dims[d] / in->dims[d];
		path.to[2 * d] = to[d] * in->dims[d];
		path.from[2 * d] = 0;
		path.dims[2 * d + 1] = in->dims[d];
		path.to[2 * d + 1] = to[d];
		path.from[2 * d + 1] = from[d];
	}
	path.rank = 2 * in->rank;
	sl__move_strided_path(&m, &path);
	return sl__move_own_strings(ev, 0);
}

/* Where output dimension i comes from; reversed by default. */
static enum sl_status
permutation(struct sl__rule_context *call, int rank, int64_t *from)
{
	const int64_t *perm;
	size_t n = sl__attribute_ints(call->node, "perm", &perm);

	if (n && n != (size_t)rank)
		return sl__rule_reject(
			call, "perm has %zu elements, the input %d dimensions",
			n, rank);
	for (int i = 0; i < rank; i++) {
		from[i] = n ? sl__axis_normalize(perm[i], rank) : rank - 1 - i;
		for (int k = 0; k <= i; k++) {
			if (from[i] < 0 || (k < i && from[k] == from[i]))
				sl__rule_reject(call,
						"perm is not an order of %d "
						"dimensions",
						rank);
		}
	}
	return call->failure;
}

enum sl_status
sl__infer_transpose(struct sl__rule_context *call)
{
	const struct sl__type *in = sl__in_type(call, 0);
	int rank = sl__in_rank(call, 0);
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	dims = sl__sizes_alloc(call, (size_t)rank);
	if (!dims || permutation(call, rank, dims))
		return call->failure;
	for (int i = 0; i < rank; i++)
		dims[i] = in->dims[dims[i]];
	return sl__out_set_shape(call, 0, in->dtype, rank, dims);
}

enum sl_status
sl__ref_transpose(struct sl__kernel_call *ev)
{
	const struct sl__tensor *in = sl__ref_require_tensor(ev, 0);
	int64_t strides[SL__RANK_MOST], from[SL__RANK_MOST];
	struct sl__ref_rule_view v;
	struct sl__element_mover m;

	if (!in || sl__ref_rule_view_begin(&v, ev))
		return ev->failure;
	permutation(&v.call, (int)in->rank, from);
	if (sl__ref_rule_view_end(&v, ev) ||
	    sl__move_begin_input_to_output(&m, ev, 0, 0))
		return ev->failure;
	(void)sl__row_major_strides(strides, in->rank, in->dims);
	for (size_t d = 0; d < in->rank; d++)
		from[d] = strides[from[d]];
	return sl__move_output_strided(ev, &m, 0, from);
}
