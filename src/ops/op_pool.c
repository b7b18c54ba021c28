/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_pool.c - pooling: windows, whole images, regions; and undoing it.
 *
 * A window of k elements takes k - 1 comparisons or additions, whether part
 * of it lies in the padding or not: which parts do is left out of the count,
 * as every other tool does.
 *
 * A window is cut to what of it lies in the image, and its elements are joined
 * one by one; what an average divides by is counted apart, because padding
 * may count.  The whole image is one window.
 */
#include "base/dtype.h"
#include "ops/cost.h"
#include "ops/op_row.h"
#include "ops/ref_pool.h"
#include "ops/window.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Whether channels come last: [n][h][w][c]. */
static int
is_channels_last(struct sl__rule_context *call)
{
	int may_be = sl__is_op(call->node, SL__OP_MS_QLinearAveragePool) ||
		     sl__is_op(call->node, SL__OP_MS_QLinearGlobalAveragePool);

	return sl__is_op(call->node, SL__OP_MS_NhwcMaxPool) ||
	       (may_be &&
		sl__attribute_int(call->node, "channels_last", 0) != 0);
}

static enum sl_status
check_image(struct sl__rule_context *call)
{
	if (sl__in_rank(call, 0) < 3)
		sl__rule_reject(
			call,
			"it pools batches of images with channels, not %s",
			sl__in_shape_text(call, 0));
	return call->failure;
}

enum sl_status
sl__infer_pool(struct sl__rule_context *call)
{
	int64_t dims[SL__WINDOW_MOST + 2];
	const struct sl__type *x = sl__in_type(call, 0);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int rank = sl__in_rank(call, 0);
	int first = is_channels_last(call) ? 1 : 2;
	struct sl__window w;

	if (rank < 0) {
		sl__out_set_dtype_only(call, 0, dtype);
		return sl__out_set_dtype_only(call, 1, SL_DTYPE_I64);
	}
	if (check_image(call) || sl__window_read(&w, call, rank - 2, NULL))
		return call->failure;
	w.may_stick_out = 1;
	for (int d = 0; d < rank - 2; d++)
		dims[first + d] =
			sl__window_output_size(call, &w, d, x->dims[first + d]);
	dims[0] = x->dims[0];
	dims[first == 1 ? rank - 1 : 1] = x->dims[first == 1 ? rank - 1 : 1];
	sl__out_set_shape(call, 0, dtype, rank, dims);
	return sl__out_set_shape(call, 1, SL_DTYPE_I64, rank, dims);
}

enum sl_status
sl__infer_global_pool(struct sl__rule_context *call)
{
	int rank = sl__in_rank(call, 0);
	int first = is_channels_last(call) ? 1 : 2;
	int64_t *dims;

	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, sl__in_dtype(call, 0));
	if (check_image(call))
		return call->failure;
	dims = sl__sizes_copy_from_input(call, 0);
	for (int d = 0; dims && d < rank - 2; d++)
		dims[first + d] = 1;
	return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), rank, dims);
}

/* Backwards: (in - 1) * stride + kernel - pads, or the shape as given. */
enum sl_status
sl__infer_max_unpool(struct sl__rule_context *call)
{
	int64_t dims[SL__WINDOW_MOST + 2];
	const struct sl__type *x = sl__in_type(call, 0);
	const struct sl__known_contents *shape = sl__in_known_contents(call, 2);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int rank = sl__in_rank(call, 0);
	struct sl__window w;

	if (sl__has_in(call, 2) && !(shape && shape->ints))
		return sl__out_set_unknown_shape(
			call, 0, dtype,
			"depends on the contents of output_shape");
	if (shape && shape->ints)
		return sl__out_set_shape(call, 0, dtype, (int)shape->n,
					 shape->ints);
	if (rank < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (check_image(call) || sl__window_read(&w, call, rank - 2, NULL))
		return call->failure;
	dims[0] = x->dims[0];
	dims[1] = x->dims[1];
	for (int d = 0; d < rank - 2; d++) {
		int64_t more = w.kernel[d] - w.strides[d] - w.pads_before[d] -
			       w.pads_after[d];
		int64_t size = sl__size_mul(call->shapes, x->dims[d + 2],
					    w.strides[d]);

		dims[d + 2] = more < 0 ? sl__size_sub(call->shapes, size, -more)
				       : sl__size_add(call->shapes, size, more);
	}
	return sl__out_set_shape(call, 0, dtype, rank, dims);
}

/* One image of a given size per region. */
static enum sl_status
infer_regions(struct sl__rule_context *call, int64_t height, int64_t width)
{
	const struct sl__type *x = sl__in_type(call, 0),
			      *rois = sl__in_type(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return sl__out_set_dtype_only(call, 0, dtype);
	if (x->rank != 4 || rois->rank != 2)
		return sl__rule_reject(
			call,
			"an input of %s and regions of %s: it takes "
			"images and a list",
			sl__in_shape_text(call, 0), sl__in_shape_text(call, 1));
	if (height < 1 || width < 1)
		return sl__rule_reject(call, "regions of %lldx%lld",
				       (long long)height, (long long)width);
	return sl__out_set_shape(
		call, 0, dtype, 4,
		(int64_t[]){rois->dims[0], x->dims[1], height, width});
}

enum sl_status
sl__infer_roi_align(struct sl__rule_context *call)
{
	return infer_regions(call,
			     sl__attribute_int(call->node, "output_height", 1),
			     sl__attribute_int(call->node, "output_width", 1));
}

enum sl_status
sl__infer_max_roi_pool(struct sl__rule_context *call)
{
	const int64_t *size;
	size_t n = sl__attribute_ints(call->node, "pooled_shape", &size);

	if (n != 2)
		return sl__rule_reject(
			call, "pooled_shape has %zu numbers, not 2", n);
	return infer_regions(call, size[0], size[1]);
}

/* Elements of the window that a node slides. */
static uint64_t
taps_of(struct sl__rule_context *call)
{
	struct sl__window w;

	if (sl__window_read(&w, call, sl__in_rank(call, 0) - 2, NULL))
		return 1;
	return sl__window_taps(&w);
}

void
sl__cost_max_pool(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_POOL;
	cost->cmp = sl__saturating_mul(cost->out_elements, taps_of(call) - 1);
}

/* A mean of n elements each; quantized ones go back to small integers by one
 * scale. */
static void
count_means(struct sl__rule_context *call, struct sl_cost *cost,
	    uint64_t n_joins)
{
	int is_scaled =
		sl__is_op(call->node, SL__OP_MS_QLinearAveragePool) ||
		sl__is_op(call->node, SL__OP_MS_QLinearGlobalAveragePool);

	cost->add = n_joins;
	sl__cost_add_operations(
		cost, cost->out_elements,
		SL__OPERATIONS_EACH(.div = 1, .mul = is_scaled ? 1 : 0));
}

/* A window of one element is how exporters write an adaptive pool to the
 * size that is there already. */
void
sl__cost_average_pool(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t taps = taps_of(call);

	cost->work = taps == 1 ? SL_WORK_ADAPTIVE_POOL : SL_WORK_POOL;
	count_means(call, cost,
		    sl__saturating_mul(cost->out_elements, taps - 1));
}

/* (sum of |x|^p)^(1/p): p = 1 takes no powers, 2 a product and a root. */
static void
count_norm(uint64_t p, uint64_t n_in, uint64_t n_out, struct sl_cost *cost)
{
	cost->work = SL_WORK_POOL;
	if (p == 1) {
		cost->add = n_in - n_out;
		return;
	}
	cost->exp = n_out;
	if (p == 2) {
		cost->fma = n_in;
	} else {
		cost->exp = sl__saturating_add(n_in, n_out);
		cost->add = n_in - n_out;
	}
}

static uint64_t
norm_power(struct sl__rule_context *call)
{
	int64_t p = sl__attribute_int(call->node, "p", 2);

	return p < 1 ? 2 : (uint64_t)p;
}

void
sl__cost_lp_pool(struct sl__rule_context *call, struct sl_cost *cost)
{
	count_norm(norm_power(call),
		   sl__saturating_mul(cost->out_elements, taps_of(call)),
		   cost->out_elements, cost);
}

/* What one image's reduction to one element leaves out; an empty image has
 * outputs and no inputs. */
static uint64_t
steps_of(const struct sl_cost *cost)
{
	return cost->in_elements > cost->out_elements
		       ? cost->in_elements - cost->out_elements
		       : 0;
}

void
sl__cost_global_lp_pool(struct sl__rule_context *call, struct sl_cost *cost)
{
	count_norm(norm_power(call), steps_of(cost) + cost->out_elements,
		   cost->out_elements, cost);
}

void
sl__cost_global_average_pool(struct sl__rule_context *call,
			     struct sl_cost *cost)
{
	cost->work = SL_WORK_ADAPTIVE_POOL;
	count_means(call, cost, steps_of(cost));
}

void
sl__cost_global_max_pool(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_POOL;
	cost->cmp = steps_of(cost);
}

/* Regions are data.  At most each covers the whole image. */
void
sl__cost_max_roi_pool(struct sl__rule_context *call, struct sl_cost *cost)
{
	uint64_t image = sl__saturating_mul(sl__in_dim(call, 0, 2),
					    sl__in_dim(call, 0, 3));

	cost->work = SL_WORK_POOL;
	cost->cmp = sl__saturating_mul(
		image, sl__saturating_mul(sl__out_dim(call, 0, 0),
					  sl__out_dim(call, 0, 1)));
	sl__cost_mark_estimated(cost,
				"as if every region were the whole image");
}

static uint64_t
divide_up(uint64_t a, uint64_t b)
{
	return b ? a / b + (a % b != 0) : 0;
}

/*
 * Each output element is the mean or maximum of samples in a grid; a sample
 * lies between four elements.  Where sampling_ratio is 0 the grid is as fine
 * as the region: at most the whole image over the output.
 */
void
sl__cost_roi_align(struct sl__rule_context *call, struct sl_cost *cost)
{
	int64_t ratio = sl__attribute_int(call->node, "sampling_ratio", 0);
	uint64_t samples = sl__saturating_mul((uint64_t)ratio, (uint64_t)ratio);

	if (ratio <= 0) {
		samples =
			sl__saturating_mul(divide_up(sl__in_dim(call, 0, 2),
						     sl__out_dim(call, 0, 2)),
					   divide_up(sl__in_dim(call, 0, 3),
						     sl__out_dim(call, 0, 3)));
		sl__cost_mark_estimated(
			cost, "as if every region were the whole image");
	}
	samples = sl__saturating_mul(samples, cost->out_elements);
	cost->work = SL_WORK_POOL;
	cost->fma = sl__saturating_mul(4, samples);
	if (!strcmp(sl__attribute_string(call->node, "mode", "avg"), "max"))
		cost->cmp = samples;
	else
		cost->div = cost->out_elements;
}

enum { MOST = SL__WINDOW_MOST };

enum joining { MAXIMUM, AVERAGE, NORM };

/* x [images][in], y and indices [images][out]. */
struct pool {
	struct sl__window w;
	enum joining joining;
	unsigned form; /* SL__POOL_ bits */
	double p;      /* of NORM */
	int counts_pads;
	int is_column_major; /* the indices; rows are x's own order */
	double least;        /* what a window without elements gives: the
				least of the type */
	int64_t images, in[MOST], out[MOST], in_size, out_size;
	const double *x;
	double *y;
	int64_t *indices;
};

/* What the elements of a window come to so far. */
struct joined {
	double value;
	int64_t at, n; /* where the largest is, in the image; how many */
};

/* The taps of dimension d that lie in the image where the window starts at
 * 'start': *first and how many. */
static int64_t
taps_inside(const struct sl__window *w, int d, int64_t start, int64_t in,
	    int64_t *first)
{
	int64_t step = w->dilations[d];
	int64_t end = in <= start ? 0 : (in - start + step - 1) / step;

	*first = start >= 0 ? 0 : (-start + step - 1) / step;
	if (end > w->kernel[d])
		end = w->kernel[d];
	return end > *first ? end - *first : 0;
}

/* Whether x takes the place of the largest so far; a NaN wins. */
static int
is_larger(double x, double largest)
{
	return x > largest || (isnan(x) && !isnan(largest));
}

static void
join(struct joined *so_far, const struct pool *p, double x, int64_t at)
{
	switch (p->joining) {
	case MAXIMUM:
		if (so_far->n == 0 || is_larger(x, so_far->value)) {
			so_far->value = x;
			so_far->at = at;
		}
		break;
	case AVERAGE:
		so_far->value += x;
		break;
	case NORM:
		so_far->value += pow(fabs(x), p->p);
		break;
	}
	so_far->n++;
}

/* All elements of the window at output position at[]. */
static struct joined
join_window(const struct pool *p, const double *image, const int64_t *at)
{
	struct joined all = {.at = -1};
	int64_t first[MOST], n[MOST], tap[MOST] = {0};
	int last = p->w.n - 1;

	for (int d = 0; d <= last; d++) {
		int64_t start = at[d] * p->w.strides[d] - p->w.pads_before[d];

		n[d] = taps_inside(&p->w, d, start, p->in[d], &first[d]);
		first[d] = start + first[d] * p->w.dilations[d];
		if (n[d] == 0)
			return all;
	}
	do {
		int64_t row = 0;

		for (int d = 0; d <= last; d++)
			row = row * p->in[d] + first[d] +
			      tap[d] * p->w.dilations[d];
		for (int64_t i = 0; i < n[last]; i++) {
			int64_t k = row + i * p->w.dilations[last];

			join(&all, p, image[k], k);
		}
	} while (
		sl__strided_position_next(tap, (size_t)last, n, NULL, NULL, 0));
	return all;
}

/* The taps that lie in the image or its padding. */
static int64_t
padded_taps(const struct pool *p, const int64_t *at)
{
	int64_t n = 1, first;

	for (int d = 0; d < p->w.n; d++)
		n *= taps_inside(&p->w, d, at[d] * p->w.strides[d],
				 p->w.pads_before[d] + p->in[d] +
					 p->w.pads_after[d],
				 &first);
	return n;
}

static double
finish(const struct pool *p, const struct joined *all, const int64_t *at)
{
	int64_t n = p->counts_pads ? padded_taps(p, at) : all->n;

	switch (p->joining) {
	case AVERAGE:
		return n ? all->value / (double)n : 0;
	case NORM:
		return pow(all->value, 1 / p->p);
	case MAXIMUM:
		break;
	}
	return all->n ? all->value : p->least;
}

/* An element's place in its image counted with the first dimension running
 * fastest. */
static int64_t
column_major(const struct pool *p, int64_t at)
{
	int64_t index = 0;
	int64_t place[MOST];

	for (int d = p->w.n; d-- > 0;) {
		place[d] = at % p->in[d];
		at /= p->in[d];
	}
	for (int d = p->w.n; d-- > 0;)
		index = index * p->in[d] + place[d];
	return index;
}

static void
pool_images(const struct pool *p)
{
	for (int64_t i = 0; i < p->images && p->out_size; i++) {
		int64_t at[MOST] = {0}, k = i * p->out_size;

		do {
			struct joined all =
				join_window(p, p->x + i * p->in_size, at);

			p->y[k] = finish(p, &all, at);
			if (p->is_column_major && all.at >= 0)
				all.at = column_major(p, all.at);
			if (p->indices)
				p->indices[k] =
					all.at < 0 ? -1
						   : all.at + i * p->in_size;
			k++;
		} while (sl__strided_position_next(at, (size_t)p->w.n, p->out,
						   NULL, NULL, 0));
	}
}

/* LpPool's p was a real number once. */
static double
read_power(const struct sl__node *node)
{
	const struct sl__attribute *p = sl__attribute_find(node, "p");

	return p && p->kind == SL__ATTRIBUTE_FLOAT
		       ? (double)p->floats[0]
		       : (double)sl__attribute_int(node, "p", 2);
}

static double
least_of(enum sl_dtype dtype)
{
	if (!sl__ref_dtype_is_integer(dtype))
		return -HUGE_VAL;
	return sl__dtype_is_signed(dtype)
		       ? -ldexp(1, (int)sl_dtype_bits(dtype) - 1)
		       : 0;
}

/* One window, or one as large as the image. */
static enum sl_status
read_window(struct pool *p, struct sl__kernel_call *ev)
{
	if (!(p->form & SL__POOL_WHOLE)) {
		if (sl__window_read_for_kernel(&p->w, ev, p->w.n, NULL))
			return ev->failure;
		sl__window_fill_same_pads(&p->w, p->in, p->out);
		p->counts_pads = sl__attribute_int(ev->node,
						   "count_include_pad", 0) != 0;
		p->is_column_major =
			sl__attribute_int(ev->node, "storage_order", 0) != 0;
		return SL_OK;
	}
	if (p->in_size == 0)
		return sl__ref_reject(ev, "an image without elements");
	for (int d = 0; d < p->w.n; d++) {
		p->w.kernel[d] = p->in[d];
		p->w.strides[d] = p->w.dilations[d] = 1;
	}
	return SL_OK;
}

static enum sl_status
read_pool(struct pool *p, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *y = &sl__ref_output(ev, 0)->tensor;
	int first = p->form & SL__POOL_CHANNELS_LAST ? 1 : 2;

	if (!x || x->rank < 3 || x->rank != y->rank || x->rank - 2 > MOST)
		return sl__ref_reject(ev, "it pools images only");
	p->w.n = (int)x->rank - 2;
	for (int d = 0; d < p->w.n; d++) {
		p->in[d] = x->dims[first + d];
		p->out[d] = y->dims[first + d];
	}
	p->in_size = sl__dims_product(p->in, 0, x->rank - 2);
	p->out_size = sl__dims_product(p->out, 0, x->rank - 2);
	p->images = (int64_t)((uint64_t)x->dims[0] *
			      (uint64_t)x->dims[first == 2 ? 1 : x->rank - 1]);
	p->least = least_of(x->dtype);
	p->p = read_power(ev->node);
	return read_window(p, ev);
}

/* [batch][a][b] to [batch][b][a]. */
static void
swap_inner(double *to, const double *from, int64_t batch, int64_t a, int64_t b)
{
	for (int64_t i = 0; i < batch * a * b; i++)
		to[(i / (a * b) * b + i % b) * a + i / b % a] = from[i];
}

/* y from x, both as the model has them. */
static enum sl_status
run_pool(struct pool *p, struct sl__kernel_call *ev, const double *x, double *y)
{
	int64_t batch = sl__ref_input_dim(ev, 0, 0), channels;
	double *inner_x, *inner_y;

	p->x = x;
	p->y = y;
	if (!(p->form & SL__POOL_CHANNELS_LAST)) {
		pool_images(p);
		return SL_OK;
	}
	inner_x = sl__ref_scratch_doubles(ev, p->images * p->in_size);
	inner_y = sl__ref_scratch_doubles(ev, p->images * p->out_size);
	if (ev->failure)
		return ev->failure;
	channels = sl__ref_input_dim(ev, 0, -1);
	swap_inner(inner_x, x, batch, p->in_size, channels);
	p->x = inner_x;
	p->y = inner_y;
	pool_images(p);
	swap_inner(y, inner_y, batch, channels, p->out_size);
	return SL_OK;
}

/* What each operator does with its windows. */
static const struct pool_row {
	enum sl__op_id id;
	enum joining joining;
	unsigned form;
} pools[] = {
	{SL__OP_ONNX_AveragePool, AVERAGE, 0},
	{SL__OP_ONNX_MaxPool, MAXIMUM, 0},
	{SL__OP_ONNX_LpPool, NORM, 0},
	{SL__OP_ONNX_GlobalAveragePool, AVERAGE, SL__POOL_WHOLE},
	{SL__OP_ONNX_GlobalMaxPool, MAXIMUM, SL__POOL_WHOLE},
	{SL__OP_ONNX_GlobalLpPool, NORM, SL__POOL_WHOLE},
	{SL__OP_MS_NhwcMaxPool, MAXIMUM, SL__POOL_CHANNELS_LAST},
};

/* Input 0 to output 0, and to output 1 where the largest lie. */
enum sl_status
sl__ref_pool(struct sl__kernel_call *ev)
{
	const struct pool_row *row = SL__OP_ROW_OF(ev->node, pools);
	struct pool p = {.joining = row->joining, .form = row->form};
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y;

	if (!x || sl__ref_output_is_empty(ev) || read_pool(&p, ev))
		return ev->failure;
	y = sl__ref_scratch_doubles(ev, p.images * p.out_size);
	if (sl__ref_output(ev, 1))
		p.indices = sl__ref_scratch_integers(ev, p.images * p.out_size);
	if (ev->failure || run_pool(&p, ev, x, y))
		return ev->failure;
	sl__ref_output_store_doubles(ev, 0, y);
	return p.indices ? sl__ref_output_store_integers(ev, 1, p.indices)
			 : ev->failure;
}

enum sl_status
sl__ref_pool_averages(struct sl__kernel_call *ev, unsigned form,
		      const double *x, double *y)
{
	struct pool p = {.joining = AVERAGE, .form = form};

	return read_pool(&p, ev) ? ev->failure : run_pool(&p, ev, x, y);
}

/* The sizes that the window, undone, gives, which are what the indices count
 * in.  A larger output_shape has them in its corner. */
static enum sl_status
unpooled_sizes(int64_t *dims, struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	struct sl__window w;

	if (sl__window_read_for_kernel(&w, ev, (int)x->rank - 2, NULL))
		return ev->failure;
	dims[0] = x->dims[0];
	dims[1] = x->dims[1];
	for (int d = 0; d < w.n; d++) {
		int64_t more = w.kernel[d] - w.pads_before[d] - w.pads_after[d];

		if (__builtin_mul_overflow(x->dims[d + 2] - 1, w.strides[d],
					   &dims[d + 2]) ||
		    __builtin_add_overflow(dims[d + 2], more, &dims[d + 2]) ||
		    dims[d + 2] < 0)
			return sl__ref_reject(ev, "an output of %lld",
					      (long long)dims[d + 2]);
	}
	return SL_OK;
}

/* Where element 'index' of dims lies among out's; -1: outside. */
static int64_t
place_in(const struct sl__tensor *out, const int64_t *dims, int64_t index)
{
	int64_t at = 0, stride = 1;

	for (size_t d = out->rank; d-- > 0;) {
		int64_t i = dims[d] > 0 ? index % dims[d] : -1;

		if (index < 0 || i < 0 || i >= out->dims[d])
			return -1;
		at += i * stride;
		stride *= out->dims[d];
		index /= dims[d];
	}
	return index == 0 ? at : -1;
}

enum sl_status
sl__ref_max_unpool(struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *which = sl__ref_input_tensor(ev, 1);
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	int64_t dims[MOST + 2];
	const int64_t *indices = sl__ref_input_integers(ev, 1);
	const double *from = sl__ref_input_doubles(ev, 0);
	double *to = sl__ref_scratch_output(ev, 0);

	if (ev->failure)
		return ev->failure;
	if (x->n_elements != which->n_elements || x->rank < 3 ||
	    x->rank > MOST + 2 || out->tensor.rank != x->rank)
		return sl__ref_reject(ev,
				      "elements and indices are not as many");
	if (unpooled_sizes(dims, ev))
		return ev->failure;
	for (uint64_t i = 0; i < x->n_elements; i++) {
		int64_t at = place_in(&out->tensor, dims, indices[i]);

		if (at < 0)
			return sl__ref_reject(
				ev, "index %lld lies outside the output",
				(long long)indices[i]);
		to[at] = from[i];
	}
	return sl__ref_output_store_doubles(ev, 0, to);
}

/* One region of an image, in whole elements: 'start' and 'size' of rows and
 * columns. */
struct region {
	double start[2], size[2];
};

/* Corners are rounded, and both belong to the region.  The products are f32,
 * which decides what lies half way between two elements. */
static struct region
read_region(const double *roi, double scale)
{
	struct region r;

	for (int d = 0; d < 2; d++) {
		double last = round((double)(float)(roi[4 - d] * scale));

		r.start[d] = round((double)(float)(roi[2 - d] * scale));
		r.size[d] = fmax(last - r.start[d] + 1, 1);
	}
	return r;
}

/* Where cell i of n of the region lies along dimension d. */
static void
find_cell(const struct region *r, int d, int64_t i, int64_t n, int64_t in,
	  int64_t bounds[2])
{
	double step = r->size[d] / (double)n;
	double low = floor((double)i * step) + r->start[d];
	double high = ceil((double)(i + 1) * step) + r->start[d];

	bounds[0] = (int64_t)fmin(fmax(low, 0), (double)in);
	bounds[1] = (int64_t)fmin(fmax(high, 0), (double)in);
}

/* The largest element of a cell; 0 where it has none. */
static double
largest(const double *image, int64_t width, const int64_t *rows,
	const int64_t *columns)
{
	double most = -HUGE_VAL;

	if (rows[1] <= rows[0] || columns[1] <= columns[0])
		return 0;
	for (int64_t i = rows[0]; i < rows[1]; i++) {
		for (int64_t j = columns[0]; j < columns[1]; j++) {
			if (is_larger(image[i * width + j], most))
				most = image[i * width + j];
		}
	}
	return most;
}

/* x [channels][in] of one image, y [channels][out] of one region. */
static void
pool_region(const struct region *r, const double *x, const int64_t *x_dims,
	    double *y, const int64_t *y_dims)
{
	int64_t rows[2], columns[2];

	for (int64_t c = 0; c < x_dims[1]; c++) {
		for (int64_t k = 0; k < y_dims[2] * y_dims[3]; k++) {
			find_cell(r, 0, k / y_dims[3], y_dims[2], x_dims[2],
				  rows);
			find_cell(r, 1, k % y_dims[3], y_dims[3], x_dims[3],
				  columns);
			*y++ = largest(x + c * x_dims[2] * x_dims[3], x_dims[3],
				       rows, columns);
		}
	}
}

enum sl_status
sl__ref_max_roi_pool(struct sl__kernel_call *ev)
{
	const struct sl__tensor *x = sl__ref_input_tensor(ev, 0);
	const struct sl__tensor *rois = sl__ref_input_tensor(ev, 1);
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	double scale = sl__attribute_float(ev->node, "spatial_scale", 1);
	const double *images = sl__ref_input_doubles(ev, 0);
	const double *regions = sl__ref_input_doubles(ev, 1);
	double *y = sl__ref_scratch_output(ev, 0);

	if (ev->failure)
		return ev->failure;
	if (x->rank != 4 || rois->rank != 2 || rois->dims[1] != 5 ||
	    out->tensor.rank != 4)
		return sl__ref_reject(ev, "a region is 5 numbers, and images "
					  "are of 2 dimensions");
	for (int64_t i = 0; i < rois->dims[0]; i++) {
		const int64_t *dims = out->tensor.dims;
		struct region r = read_region(regions + 5 * i, scale);
		double n = regions[5 * i];

		if (!(n >= 0 && n < (double)x->dims[0]))
			return sl__ref_reject(ev, "no image %g", n);
		pool_region(&r,
			    images + (int64_t)n * x->dims[1] * x->dims[2] *
					     x->dims[3],
			    x->dims, y + i * dims[1] * dims[2] * dims[3], dims);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}
