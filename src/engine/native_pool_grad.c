/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_pool_grad.c - gradients of pools in f32, an image at a time.
 *
 * MaxPoolGrad(dy, x) looks for the first of the largest elements again, as the
 * pool did; AveragePoolGrad(dy) shares each element out.
 */
#include "compute/parallel.h"
#include "engine/node_steps.h"
#include "ops/window.h"

#include <string.h>

#include "base/banned.h"

enum { DIMS = 3 }; /* of an image; those that it lacks are 1 */

/* Taps of a window along a dimension that lie in the image: from first on, so
 * many; and those in the padding too. */
struct taps {
	int64_t start, first, n, n_padded;
};

struct pool {
	int64_t n_images, in_size, out_size;
	int64_t in[DIMS], out[DIMS], kernel[DIMS], strides[DIMS],
		dilations[DIMS], before[DIMS], after[DIMS];
	int is_max, counts_pads;
	struct taps *taps[DIMS]; /* by place in the output */
	unsigned char **at;      /* dy, x of MaxPoolGrad, dx */
};

static struct taps
taps_of(const struct pool *p, int d, int64_t o)
{
	struct taps t = {o * p->strides[d] - p->before[d], -1, 0, 0};

	for (int64_t k = 0; k < p->kernel[d]; k++) {
		int64_t i = t.start + k * p->dilations[d];

		t.n_padded += i < p->in[d] + p->after[d];
		if (i < 0 || i >= p->in[d])
			continue;
		t.first = t.first < 0 ? i : t.first;
		t.n++;
	}
	return t;
}

/* Element of the first tap of row a, b of a window. */
static int64_t
row_of(const struct pool *p, const struct taps *const *t, int64_t a, int64_t b)
{
	return ((t[0]->first + a * p->dilations[0]) * p->in[1] + t[1]->first +
		b * p->dilations[1]) *
		       p->in[2] +
	       t[2]->first;
}

/* Gives each element of a window its share. */
static void
share_out(const struct pool *p, const struct taps *const *t, float dy,
	  float *dx)
{
	int64_t n = p->counts_pads
			    ? t[0]->n_padded * t[1]->n_padded * t[2]->n_padded
			    : t[0]->n * t[1]->n * t[2]->n;
	float share = n ? dy / (float)n : 0;

	for (int64_t a = 0; a < t[0]->n; a++) {
		for (int64_t b = 0; b < t[1]->n; b++) {
			float *row = dx + row_of(p, t, a, b);

			for (int64_t c = 0; c < t[2]->n; c++)
				row[c * p->dilations[2]] += share;
		}
	}
}

/* Gives the first of the largest elements of a window all of it.  Which one
 * that is cannot be foretold: no branch depends on it. */
static void
give_largest(const struct pool *p, const struct taps *const *t, float dy,
	     const float *x, float *dx)
{
	int64_t best = row_of(p, t, 0, 0), step = p->dilations[2];
	float most;

	if (!t[0]->n || !t[1]->n || !t[2]->n)
		return;
	most = x[best];
	for (int64_t a = 0; a < t[0]->n; a++) {
		for (int64_t b = 0; b < t[1]->n; b++) {
			int64_t i = row_of(p, t, a, b);

			for (int64_t c = 0; c < t[2]->n; c++, i += step) {
				best = x[i] > most ? i : best;
				most = x[i] > most ? x[i] : most;
			}
		}
	}
	dx[best] += dy;
}

static void
run_image(const struct pool *p, int64_t image)
{
	const float *dy = (const float *)(void *)p->at[0] + image * p->out_size;
	const float *x = (const float *)(void *)p->at[1] + image * p->in_size;
	float *dx =
		(float *)(void *)p->at[p->is_max ? 2 : 1] + image * p->in_size;
	const struct taps *t[DIMS];

	memset(dx, 0, (size_t)p->in_size * sizeof(*dx));
	for (int64_t a = 0; a < p->out[0]; a++) {
		t[0] = &p->taps[0][a];
		for (int64_t b = 0; b < p->out[1]; b++) {
			t[1] = &p->taps[1][b];
			for (int64_t c = 0; c < p->out[2]; c++) {
				t[2] = &p->taps[2][c];
				if (p->is_max)
					give_largest(p, t, *dy++, x, dx);
				else
					share_out(p, t, *dy++, dx);
			}
		}
	}
}

static void
run_part(int rank, int n_ranks, void *ctx)
{
	const struct pool *p = ctx;
	int64_t first, end;

	sl__parallel_range(p->n_images, rank, n_ranks, &first, &end);
	for (int64_t i = first; i < end; i++)
		run_image(p, i);
}

static int
read_pool(struct pool *p, const struct sl__planner *pl,
	  const struct sl__node *node)
{
	const struct sl__type *y = sl__plan_node_input_type(pl, node, 0);
	const struct sl__type *x = sl__plan_node_output_type(pl, node, 0);
	struct sl__window w;
	int lacks = DIMS - (x->rank - 2);

	if (y->dtype != SL_DTYPE_F32 || x->rank < 3 || lacks < 0 ||
	    sl__window_read_from_node(&w, node, x->rank - 2, NULL, NULL))
		return 0;
	for (int d = 0; d < DIMS; d++) {
		int own = d - lacks;

		p->in[d] = own < 0 ? 1 : x->dims[own + 2];
		p->out[d] = own < 0 ? 1 : y->dims[own + 2];
		p->kernel[d] = own < 0 ? 1 : w.kernel[own];
		p->strides[d] = own < 0 ? 1 : w.strides[own];
		p->dilations[d] = own < 0 ? 1 : w.dilations[own];
		p->before[d] = own < 0 ? 0 : w.pads_before[own];
		p->after[d] = own < 0 ? 0 : w.pads_after[own];
	}
	p->n_images = x->dims[0] * x->dims[1];
	p->in_size = sl__sizes_product(x, 2, x->rank);
	p->out_size = sl__sizes_product(y, 2, y->rank);
	p->is_max = sl__is_op(node, SL__OP_SLEUTH_MaxPoolGrad);
	p->counts_pads = sl__attribute_int(node, "count_include_pad", 0) != 0;
	return p->n_images * p->in_size * p->out_size != 0;
}

int
sl__make_pool_grad(struct sl__planner *pl, const struct sl__node *node)
{
	struct pool *p = sl__plan_alloc_state(pl, sizeof(*p));
	uint32_t at[3], n;

	if (!p || !read_pool(p, pl, node))
		return 0;
	for (int d = 0; d < DIMS; d++) {
		p->taps[d] = sl__plan_alloc_state(
			pl, (size_t)p->out[d] * sizeof(*p->taps[d]));
		for (int64_t o = 0; p->taps[d] && o < p->out[d]; o++)
			p->taps[d][o] = taps_of(p, d, o);
	}
	n = p->is_max ? 2 : 1;
	sl__plan_node_operands(pl, node, n, at);
	p->at = sl__plan_add_parallel_step(pl, at, n + 1, "pool_grad", run_part,
					   p)
			->at;
	return 1;
}
