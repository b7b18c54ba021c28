/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_random.c - operators that draw random numbers.
 *
 * The attribute "seed" decides what is drawn; without it the node's name
 * does, so that the same model with the same input gives the same bits, and
 * two nodes do not draw the same.
 */
#include "base/rng.h"
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

static int64_t
n_results(const struct sl__eval *ev)
{
	const struct sl__datum *out = sl__ref_result(ev, 0);

	return out && out->kind == SL__TYPE_TENSOR
		       ? (int64_t)out->tensor.n_elements
		       : 0;
}

/* RandomNormal, RandomUniform, and the same like an input. */
enum sl_status
sl__ref_random(struct sl__eval *ev)
{
	const struct sl__node *node = ev->node;
	int is_normal = sl__is_op(node, SL__OP_ONNX_RandomNormal) ||
			sl__is_op(node, SL__OP_ONNX_RandomNormalLike);
	double low = sl__float(node, is_normal ? "mean" : "low", 0);
	double scale = is_normal ? sl__float(node, "scale", 1)
				 : sl__float(node, "high", 1) - low;
	double *y = sl__ref_new_doubles(ev, n_results(ev));
	struct sl__rng rng;

	start(&rng, node);
	for (int64_t i = 0; y && i < n_results(ev); i++)
		y[i] = low + scale * (is_normal ? sl__rng_normal(&rng)
						: sl__rng_uniform(&rng));
	return sl__ref_store_doubles(ev, 0, y);
}

/* 1 with the probability that the input says. */
enum sl_status
sl__ref_bernoulli(struct sl__eval *ev)
{
	const double *p = sl__ref_doubles(ev, 0);
	double *y = sl__ref_new_doubles(ev, n_results(ev));
	struct sl__rng rng;

	start(&rng, ev->node);
	for (int64_t i = 0; !ev->failure && i < n_results(ev); i++)
		y[i] = sl__rng_uniform(&rng) < p[i];
	return sl__ref_store_doubles(ev, 0, y);
}

/* A class, by the sums of the weights up to each. */
static int64_t
draw(struct sl__rng *rng, const double *sums, int64_t n)
{
	double at = sl__rng_uniform(rng) * sums[n - 1];
	int64_t low = 0, high = n - 1;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		if (at < sums[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Weights that logarithms say, relative to the largest, summed up. */
static void
sum_weights(double *sums, const double *logs, int64_t n)
{
	double largest = logs[0], sum = 0;

	for (int64_t i = 1; i < n; i++)
		largest = logs[i] > largest ? logs[i] : largest;
	for (int64_t i = 0; i < n; i++) {
		sum += exp(logs[i] - largest);
		sums[i] = sum;
	}
}

enum sl_status
sl__ref_multinomial(struct sl__eval *ev)
{
	const double *logs = sl__ref_doubles(ev, 0);
	int64_t n_classes = sl__ref_dim(ev, 0, 1), n = n_results(ev);
	int64_t n_rows = sl__ref_dim(ev, 0, 0);
	double *sums = sl__ref_new_doubles(ev, n_classes);
	int64_t *y = sl__ref_new_integers(ev, n);
	struct sl__rng rng;

	if (ev->failure || n == 0)
		return ev->failure;
	if (sl__ref_rank(ev, 0) != 2 || n_classes == 0)
		return sl__ref_refuse(ev, "there are no classes to draw from");
	start(&rng, ev->node);
	for (int64_t i = 0; i < n; i++) {
		if (i % (n / n_rows) == 0)
			sum_weights(sums, logs + i / (n / n_rows) * n_classes,
				    n_classes);
		y[i] = draw(&rng, sums, n_classes);
	}
	return sl__ref_store_integers(ev, 0, y);
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
drop(struct sl__eval *ev, double ratio)
{
	const double *x = sl__ref_doubles(ev, 0);
	int64_t n = n_results(ev);
	double *y = sl__ref_new_doubles(ev, n);
	int64_t *mask = sl__ref_new_integers(ev, n);
	struct sl__rng rng;

	start(&rng, ev->node);
	for (int64_t i = 0; !ev->failure && i < n; i++) {
		mask[i] = sl__rng_uniform(&rng) >= ratio;
		y[i] = mask[i] ? x[i] / (1 - ratio) : 0;
	}
	sl__ref_store_doubles(ev, 0, y);
	return sl__ref_store_integers(ev, 1, mask);
}

/* Everything is kept. */
static enum sl_status
keep(struct sl__eval *ev)
{
	struct sl__datum *mask = sl__ref_result(ev, 1);
	int64_t one = 1;

	for (uint64_t i = 0; mask && i < mask->tensor.n_elements; i++)
		sl__store_integers(mask->bytes, mask->tensor.dtype, i, 1, &one);
	return sl__ref_out_copy(ev, 0, sl__ref_in(ev, 0));
}

enum sl_status
sl__ref_dropout(struct sl__eval *ev)
{
	double ratio = sl__ref_number(ev, 1, sl__float(ev->node, "ratio", 0.5));

	if (!is_training(ev) || ratio == 0)
		return keep(ev);
	if (!(ratio > 0 && ratio <= 1))
		return sl__ref_refuse(ev, "a ratio of %g is dropped", ratio);
	return drop(ev, ratio);
}
