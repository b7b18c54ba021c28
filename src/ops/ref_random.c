/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_random.c - operators that draw random numbers.
 *
 * The attribute "seed" decides what is drawn; without it the node's name
 * does, so that the same model with the same input gives the same bits, and
 * two nodes do not draw the same.
 */
#include "base/rng.h"
#include "base/status.h"
#include "ops/ref.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* FNV-1a over the name, or the bits of the seed. */
static void
start(struct sl__rng *rng, const struct sl__node *node)
{
	const struct sl__attribute *a = sl__attribute(node, "seed");
	uint64_t seed = 0xcbf29ce484222325u;
	double given;

	for (const char *at = node->name; !a && *at; at++)
		seed = (seed ^ (unsigned char)*at) * 0x100000001b3u;
	if (a && a->kind == SL__ATTRIBUTE_INT) {
		seed = (uint64_t)sl__int(node, "seed", 0);
	} else if (a) {
		given = sl__float(node, "seed", 0);
		memcpy(&seed, &given, sizeof(seed));
	}
	sl__rng_init(rng, seed);
}

static size_t
n_results(const struct sl__eval *ev)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);

	return out && out->kind == SL__TYPE_TENSOR
		       ? (size_t)out->tensor.n_elements
		       : 0;
}

/* RandomNormal, RandomUniform, and the same like an input. */
enum sl_status
sl__ref_random(struct sl__eval *ev, struct sl_error *err)
{
	const struct sl__node *node = ev->node;
	int is_normal = sl__is_op(node, SL__OP_ONNX_RandomNormal) ||
			sl__is_op(node, SL__OP_ONNX_RandomNormalLike);
	double low = sl__float(node, is_normal ? "mean" : "low", 0);
	double scale = is_normal ? sl__float(node, "scale", 1)
				 : sl__float(node, "high", 1) - low;
	double *y = sl__ref_new(ev, n_results(ev), sizeof(*y));
	struct sl__rng rng;

	if (!y)
		return sl__fail_nomem(err);
	start(&rng, node);
	for (size_t i = 0; i < n_results(ev); i++)
		y[i] = low + scale * (is_normal ? sl__rng_normal(&rng)
						: sl__rng_uniform(&rng));
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}

/* 1 with the probability that the input says. */
enum sl_status
sl__ref_bernoulli(struct sl__eval *ev, struct sl_error *err)
{
	const double *p = sl__ref_doubles(ev, 0, err);
	double *y = sl__ref_new(ev, n_results(ev), sizeof(*y));
	struct sl__rng rng;

	if (!p || !y)
		return p ? sl__fail_nomem(err) : sl__ref_failure(ev);
	start(&rng, ev->node);
	for (size_t i = 0; i < n_results(ev); i++)
		y[i] = sl__rng_uniform(&rng) < p[i];
	sl__ref_store_doubles(ev, 0, y);
	return SL_OK;
}

/* A class, by the sums of the weights up to each. */
static int64_t
draw(struct sl__rng *rng, const double *sums, size_t n)
{
	double at = sl__rng_uniform(rng) * sums[n - 1];
	size_t low = 0, high = n - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (at < sums[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return (int64_t)low;
}

/* Weights that logarithms say, relative to the largest, summed up. */
static void
sum_weights(double *sums, const double *logs, size_t n)
{
	double largest = logs[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		largest = logs[i] > largest ? logs[i] : largest;
	for (size_t i = 0; i < n; i++) {
		sum += exp(logs[i] - largest);
		sums[i] = sum;
	}
}

enum sl_status
sl__ref_multinomial(struct sl__eval *ev, struct sl_error *err)
{
	const double *logs = sl__ref_doubles(ev, 0, err);
	size_t n_classes = (size_t)sl__ref_dim(ev, 0, 1);
	size_t n_rows = (size_t)sl__ref_dim(ev, 0, 0), n_samples;
	double *sums = sl__ref_new(ev, n_classes, sizeof(*sums));
	int64_t *y = sl__ref_new(ev, n_results(ev), sizeof(*y));
	struct sl__rng rng;

	if (!logs || !sums || !y)
		return logs ? sl__fail_nomem(err) : sl__ref_failure(ev);
	if (n_results(ev) == 0)
		return SL_OK;
	if (sl__ref_rank(ev, 0) != 2 || n_classes == 0)
		return sl__fail(err, SL_E_DATA,
				"there are no classes to draw from");
	n_samples = n_results(ev) / n_rows;
	start(&rng, ev->node);
	for (size_t row = 0; row < n_rows; row++) {
		sum_weights(sums, logs + row * n_classes, n_classes);
		for (size_t i = 0; i < n_samples; i++)
			y[row * n_samples + i] = draw(&rng, sums, n_classes);
	}
	sl__ref_store_integers(ev, 0, y);
	return SL_OK;
}

/* Before version 7 "is_test" says so, from 12 on an input; between them
 * nothing is ever dropped. */
static int
is_training(const struct sl__eval *ev)
{
	if (ev->node->version < 7)
		return !sl__int(ev->node, "is_test", 0);
	return ev->node->version >= 12 && sl__ref_number(ev, 2, 0) != 0;
}

static enum sl_status
drop(struct sl__eval *ev, double ratio, struct sl_error *err)
{
	const double *x = sl__ref_doubles(ev, 0, err);
	size_t n = n_results(ev);
	double *y = sl__ref_new(ev, n, sizeof(*y));
	int64_t *mask = sl__ref_new(ev, n, sizeof(*mask));
	struct sl__rng rng;

	if (!x || !y || !mask)
		return x ? sl__fail_nomem(err) : sl__ref_failure(ev);
	start(&rng, ev->node);
	for (size_t i = 0; i < n; i++) {
		mask[i] = sl__rng_uniform(&rng) >= ratio;
		y[i] = mask[i] ? x[i] / (1 - ratio) : 0;
	}
	sl__ref_store_doubles(ev, 0, y);
	sl__ref_store_integers(ev, 1, mask);
	return SL_OK;
}

/* Everything is kept. */
static enum sl_status
keep(struct sl__eval *ev, struct sl_error *err)
{
	struct sl__datum *mask = sl__ref_result(ev, 1);
	int64_t one = 1;

	for (uint64_t i = 0; mask && i < mask->tensor.n_elements; i++)
		sl__store_integers(mask->bytes, mask->tensor.dtype, i, 1, &one);
	return sl__ref_out_copy(ev, 0, sl__ref_in(ev, 0), err);
}

enum sl_status
sl__ref_dropout(struct sl__eval *ev, struct sl_error *err)
{
	double ratio = sl__ref_number(ev, 1, sl__float(ev->node, "ratio", 0.5));

	if (!is_training(ev) || ratio == 0)
		return keep(ev, err);
	if (!(ratio > 0 && ratio <= 1))
		return sl__fail(err, SL_E_DATA, "a ratio of %g is dropped",
				ratio);
	return drop(ev, ratio, err);
}
