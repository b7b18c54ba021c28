/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_pool.c - pooling: windows, whole images, regions; and undoing it.
 *
 * A window of k elements takes k - 1 comparisons or additions, whether part
 * of it lies in the padding or not: which parts do is left out of the count,
 * as every other tool does.
 */
#include "graph/op_rules.h"
#include "ops/cost.h"
#include "ops/window.h"

#include <string.h>

#include "base/banned.h"

/* Whether channels come last: [n][h][w][c]. */
static int
is_channels_last(struct sl__call *call)
{
	int may_be = sl__is_op(call->node, SL__OP_MS_QLinearAveragePool) ||
		     sl__is_op(call->node, SL__OP_MS_QLinearGlobalAveragePool);

	return sl__is_op(call->node, SL__OP_MS_NhwcMaxPool) ||
	       (may_be && sl__int(call->node, "channels_last", 0) != 0);
}

static enum sl_status
check_image(struct sl__call *call)
{
	if (sl__in_rank(call, 0) < 3)
		sl__refuse(call,
			   "it pools batches of images with channels, not %s",
			   sl__in_text(call, 0));
	return call->failure;
}

enum sl_status
sl__infer_pool(struct sl__call *call)
{
	int64_t dims[SL__WINDOW_MOST + 2];
	const struct sl__type *x = sl__in(call, 0);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int rank = sl__in_rank(call, 0);
	int first = is_channels_last(call) ? 1 : 2;
	struct sl__window w;

	if (rank < 0) {
		sl__out_rankless(call, 0, dtype);
		return sl__out_rankless(call, 1, SL_DTYPE_I64);
	}
	if (check_image(call) || sl__window_read(&w, call, rank - 2, NULL))
		return call->failure;
	w.may_stick_out = 1;
	for (int d = 0; d < rank - 2; d++)
		dims[first + d] =
			sl__window_positions(call, &w, d, x->dims[first + d]);
	dims[0] = x->dims[0];
	dims[first == 1 ? rank - 1 : 1] = x->dims[first == 1 ? rank - 1 : 1];
	sl__out(call, 0, dtype, rank, dims);
	return sl__out(call, 1, SL_DTYPE_I64, rank, dims);
}

enum sl_status
sl__infer_global_pool(struct sl__call *call)
{
	int rank = sl__in_rank(call, 0);
	int first = is_channels_last(call) ? 1 : 2;
	int64_t *dims;

	if (rank < 0)
		return sl__out_rankless(call, 0, sl__in_dtype(call, 0));
	if (check_image(call))
		return call->failure;
	dims = sl__copy_sizes(call, 0);
	for (int d = 0; dims && d < rank - 2; d++)
		dims[first + d] = 1;
	return sl__out(call, 0, sl__in_dtype(call, 0), rank, dims);
}

/* Backwards: (in - 1) * stride + kernel - pads, or the shape as given. */
enum sl_status
sl__infer_max_unpool(struct sl__call *call)
{
	int64_t dims[SL__WINDOW_MOST + 2];
	const struct sl__type *x = sl__in(call, 0);
	const struct sl__known *shape = sl__in_known(call, 2);
	enum sl_dtype dtype = sl__in_dtype(call, 0);
	int rank = sl__in_rank(call, 0);
	struct sl__window w;

	if (sl__has_in(call, 2) && !(shape && shape->ints))
		return sl__out_unknown(
			call, 0, dtype,
			"depends on the contents of output_shape");
	if (shape && shape->ints)
		return sl__out(call, 0, dtype, (int)shape->n, shape->ints);
	if (rank < 0)
		return sl__out_rankless(call, 0, dtype);
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
	return sl__out(call, 0, dtype, rank, dims);
}

/* One image of a given size per region. */
static enum sl_status
infer_regions(struct sl__call *call, int64_t height, int64_t width)
{
	const struct sl__type *x = sl__in(call, 0), *rois = sl__in(call, 1);
	enum sl_dtype dtype = sl__in_dtype(call, 0);

	if (sl__in_rank(call, 0) < 0 || sl__in_rank(call, 1) < 0)
		return sl__out_rankless(call, 0, dtype);
	if (x->rank != 4 || rois->rank != 2)
		return sl__refuse(call,
				  "an input of %s and regions of %s: it takes "
				  "images and a list",
				  sl__in_text(call, 0), sl__in_text(call, 1));
	if (height < 1 || width < 1)
		return sl__refuse(call, "regions of %lldx%lld",
				  (long long)height, (long long)width);
	return sl__out(call, 0, dtype, 4,
		       (int64_t[]){rois->dims[0], x->dims[1], height, width});
}

enum sl_status
sl__infer_roi_align(struct sl__call *call)
{
	return infer_regions(call, sl__int(call->node, "output_height", 1),
			     sl__int(call->node, "output_width", 1));
}

enum sl_status
sl__infer_max_roi_pool(struct sl__call *call)
{
	const int64_t *size;
	size_t n = sl__ints(call->node, "pooled_shape", &size);

	if (n != 2)
		return sl__refuse(call, "pooled_shape has %zu numbers, not 2",
				  n);
	return infer_regions(call, size[0], size[1]);
}

/* Elements of the window that a node slides. */
static uint64_t
taps_of(struct sl__call *call)
{
	struct sl__window w;

	if (sl__window_read(&w, call, sl__in_rank(call, 0) - 2, NULL))
		return 1;
	return sl__window_taps(&w);
}

void
sl__cost_max_pool(struct sl__call *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_POOL;
	cost->cmp = sl__times(cost->out_elements, taps_of(call) - 1);
}

/* A mean of n elements each; quantized ones go back to small integers by one
 * scale. */
static void
count_means(struct sl__call *call, struct sl_cost *cost, uint64_t n_joins)
{
	int is_scaled =
		sl__is_op(call->node, SL__OP_MS_QLinearAveragePool) ||
		sl__is_op(call->node, SL__OP_MS_QLinearGlobalAveragePool);

	cost->add = n_joins;
	sl__count(cost, cost->out_elements,
		  SL__PER(.div = 1, .mul = is_scaled ? 1 : 0));
}

/* A window of one element is how exporters write an adaptive pool to the
 * size that is there already. */
void
sl__cost_average_pool(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t taps = taps_of(call);

	cost->work = taps == 1 ? SL_WORK_ADAPTIVE_POOL : SL_WORK_POOL;
	count_means(call, cost, sl__times(cost->out_elements, taps - 1));
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
		cost->exp = sl__plus(n_in, n_out);
		cost->add = n_in - n_out;
	}
}

static uint64_t
norm_power(struct sl__call *call)
{
	int64_t p = sl__int(call->node, "p", 2);

	return p < 1 ? 2 : (uint64_t)p;
}

void
sl__cost_lp_pool(struct sl__call *call, struct sl_cost *cost)
{
	count_norm(norm_power(call),
		   sl__times(cost->out_elements, taps_of(call)),
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
sl__cost_global_lp_pool(struct sl__call *call, struct sl_cost *cost)
{
	count_norm(norm_power(call), steps_of(cost) + cost->out_elements,
		   cost->out_elements, cost);
}

void
sl__cost_global_average_pool(struct sl__call *call, struct sl_cost *cost)
{
	cost->work = SL_WORK_ADAPTIVE_POOL;
	count_means(call, cost, steps_of(cost));
}

void
sl__cost_global_max_pool(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_POOL;
	cost->cmp = steps_of(cost);
}

void
sl__cost_max_unpool(struct sl__call *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_MOVEMENT;
}

/* Regions are data.  At most each covers the whole image. */
void
sl__cost_max_roi_pool(struct sl__call *call, struct sl_cost *cost)
{
	uint64_t image =
		sl__times(sl__in_dim(call, 0, 2), sl__in_dim(call, 0, 3));

	cost->work = SL_WORK_POOL;
	cost->cmp = sl__times(image, sl__times(sl__out_dim(call, 0, 0),
					       sl__out_dim(call, 0, 1)));
	sl__cost_estimate(cost, "as if every region were the whole image");
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
sl__cost_roi_align(struct sl__call *call, struct sl_cost *cost)
{
	int64_t ratio = sl__int(call->node, "sampling_ratio", 0);
	uint64_t samples = sl__times((uint64_t)ratio, (uint64_t)ratio);

	if (ratio <= 0) {
		samples = sl__times(divide_up(sl__in_dim(call, 0, 2),
					      sl__out_dim(call, 0, 2)),
				    divide_up(sl__in_dim(call, 0, 3),
					      sl__out_dim(call, 0, 3)));
		sl__cost_estimate(cost,
				  "as if every region were the whole image");
	}
	samples = sl__times(samples, cost->out_elements);
	cost->work = SL_WORK_POOL;
	cost->fma = sl__times(4, samples);
	if (!strcmp(sl__word(call->node, "mode", "avg"), "max"))
		cost->cmp = samples;
	else
		cost->div = cost->out_elements;
}
