/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_generate.c - tensors from nothing: constants, ranges, random numbers.
 *
 * ConstantOfShape and Range are what exporters build masks and positions
 * from, so small ones are followed.
 *
 * The attribute "seed" decides which random numbers are drawn; without it the
 * node's name does, so that the same model with the same input gives the same
 * bits, and two nodes do not draw the same.
 */
#include "base/dtype.h"
#include "base/rng.h"
#include "ops/cost.h"
#include "ops/list_input.h"
#include "ops/ref_move.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* The type of number that the attribute names. */
static enum sl_dtype
dtype_of(struct sl__rule_context *call, enum sl_dtype otherwise)
{
	int64_t dtype =
		sl__attribute_int(call->node, "dtype", (int64_t)otherwise);

	return dtype > 0 && dtype < SL_N_DTYPES ? (enum sl_dtype)dtype
						: SL_DTYPE_NONE;
}

static const struct sl__tensor *
fill_of(struct sl__rule_context *call)
{
	const struct sl__attribute *a = sl__attribute_find(call->node, "value");

	return a && a->kind == SL__ATTRIBUTE_TENSOR ? a->tensor : NULL;
}

enum sl_status
sl__infer_constant_of_shape(struct sl__rule_context *call)
{
	struct sl__integer_list want = sl__integer_list_read(call, 0, NULL);
	const struct sl__tensor *fill = fill_of(call);
	enum sl_dtype dtype = fill ? fill->dtype : SL_DTYPE_F32;

	if (!want.values || want.n > SL__RANK_MOST)
		return sl__out_set_rank_only(
			call, 0, dtype, want.n,
			"the shape it asks for depends on data");
	return sl__out_set_shape(call, 0, dtype, (int)want.n, want.values);
}

enum sl_status
sl__fold_constant_of_shape(struct sl__rule_context *call)
{
	const struct sl__type *out = sl__out_type_or_null(call, 0);
	const struct sl__tensor *fill = fill_of(call);
	static const double zero = 0;
	struct sl__known_contents one = {SL_DTYPE_F32, 1, NULL, &zero};
	const struct sl__known_contents *known = &one;
	int64_t *words;
	uint64_t n;

	if (!out || !sl__type_elements(out, &n) || n > SL__KNOWN_MOST ||
	    (fill && fill->n_elements != 1))
		return SL_OK;
	if (fill)
		known = sl__known_contents_read(call->shapes, fill);
	words = known ? sl__sizes_alloc(call, (size_t)n) : NULL;
	if (!words)
		return call->failure;
	for (uint64_t i = 0; i < n; i++)
		memcpy(&words[i],
		       known->ints ? (const void *)known->ints : known->floats,
		       sizeof(*words));
	return sl__out_set_known_contents(
		call, 0, known->ints ? words : NULL,
		known->ints ? NULL : (const void *)words, (size_t)n);
}

enum sl_status
sl__ref_constant_of_shape(struct sl__kernel_call *ev)
{
	static const float zero = 0;
	struct sl__tensor with = {
		.dtype = SL_DTYPE_F32,
		.n_elements = 1,
		.bytes = (const unsigned char *)(const void *)&zero};
	const struct sl__attribute *a = sl__attribute_find(ev->node, "value");
	struct sl__element_mover m;

	if (a && a->kind == SL__ATTRIBUTE_TENSOR)
		with = *a->tensor;
	if (with.n_elements != 1 || (!with.bytes && !with.strings))
		return sl__ref_reject(ev, "its value is not one number");
	sl__move_fill_output(ev, &m, &with);
	return sl__move_own_strings(ev, 0);
}

/* The three inputs as numbers of one family. */
struct range {
	int is_integer;
	int64_t i[3]; /* start, limit, delta */
	double f[3];
};

/* Returns 0 where they are not all known. */
static int
range_of(struct sl__rule_context *call, struct range *range)
{
	for (size_t k = 0; k < 3; k++) {
		const struct sl__known_contents *known =
			sl__in_known_contents(call, k);

		if (!known || known->n != 1)
			return 0;
		if (k && range->is_integer != (known->ints != NULL))
			return 0;
		range->is_integer = known->ints != NULL;
		if (known->ints)
			range->i[k] = known->ints[0];
		else
			range->f[k] = known->floats[0];
	}
	return 1;
}

/* max(0, ceil((limit - start) / delta)). */
static int64_t
range_elements(struct sl__shapes *shapes, const struct range *r)
{
	int64_t whole;
	double n;

	if (!r->is_integer) {
		n = ceil((r->f[1] - r->f[0]) / r->f[2]);
		/* Not a number, or beyond what a tensor can hold. */
		if (!(n < 9e15))
			return sl__size_new_unknown(shapes);
		return n > 0 ? (int64_t)n : 0;
	}
	if (sl__is_symbol(r->i[2]) || r->i[2] == 0)
		return sl__size_new_unknown(shapes);
	if (sl__is_symbol(r->i[0]) || sl__is_symbol(r->i[1])) {
		if (r->i[2] != 1)
			return sl__size_new_unknown(shapes);
		return sl__size_sub_cancelling(shapes, r->i[1], r->i[0]);
	}
	if (__builtin_sub_overflow(r->i[1], r->i[0], &whole))
		return sl__size_new_unknown(shapes);
	whole = whole / r->i[2] +
		(whole % r->i[2] != 0 && (whole < 0) == (r->i[2] < 0));
	return whole > 0 ? whole : 0;
}

enum sl_status
sl__infer_range(struct sl__rule_context *call)
{
	struct range range = {0};
	int64_t n = range_of(call, &range)
			    ? range_elements(call->shapes, &range)
			    : sl__size_new_unknown(call->shapes);

	return sl__out_set_shape(call, 0, sl__in_dtype(call, 0), 1, &n);
}

static enum sl_status
range_of_integers(struct sl__kernel_call *ev, int64_t n)
{
	const int64_t *start = sl__ref_input_integers(ev, 0);
	const int64_t *delta = sl__ref_input_integers(ev, 2);
	int64_t *made = sl__ref_scratch_integers(ev, n);

	if (ev->failure)
		return ev->failure;
	if (!sl__ref_input_tensor(ev, 0)->n_elements ||
	    !sl__ref_input_tensor(ev, 2)->n_elements)
		return sl__ref_reject(ev, "its first number or step is empty");
	for (int64_t i = 0; i < n; i++)
		made[i] = (int64_t)((uint64_t)*start +
				    (uint64_t)i * (uint64_t)*delta);
	return sl__ref_output_store_integers(ev, 0, made);
}

enum sl_status
sl__ref_range(struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	double start = sl__ref_input_scalar(ev, 0, 0);
	double delta = sl__ref_input_scalar(ev, 2, 1);
	double *made;
	int64_t n;

	if (out->kind != SL__TYPE_TENSOR)
		return sl__ref_reject(ev, "its first number, limit and step "
					  "do not say how many there are");
	n = (int64_t)out->tensor.n_elements;
	if (sl__ref_dtype_is_integer(out->tensor.dtype))
		return range_of_integers(ev, n);
	made = sl__ref_scratch_doubles(ev, n);
	for (int64_t i = 0; made && i < n; i++)
		made[i] = start + (double)i * delta;
	return sl__ref_output_store_doubles(ev, 0, made);
}

/* EyeLike, RandomNormalLike, RandomUniformLike, Bernoulli. */
enum sl_status
sl__infer_like(struct sl__rule_context *call)
{
	return sl__out_set_like_input(call, 0, 0,
				      dtype_of(call, sl__in_dtype(call, 0)));
}

enum sl_status
sl__ref_eye_like(struct sl__kernel_call *ev)
{
	int64_t shift = sl__attribute_int(ev->node, "k", 0), column;
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);
	double *made;

	if (out->kind != SL__TYPE_TENSOR || out->tensor.rank != 2)
		return sl__ref_reject(ev, "its input is no matrix");
	made = sl__ref_scratch_output(ev, 0);
	for (int64_t row = 0; made && row < out->tensor.dims[0]; row++) {
		if (!__builtin_add_overflow(row, shift, &column) &&
		    column >= 0 && column < out->tensor.dims[1])
			made[row * out->tensor.dims[1] + column] = 1;
	}
	return sl__ref_output_store_doubles(ev, 0, made);
}

/* Only the shape of the input matters, or its contents are the shape; so it is
 * with Shape and Size, which look at no element. */
void
sl__cost_like(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->work = SL_WORK_MOVEMENT;
	cost->weight_bytes = cost->read_bytes = 0;
}

enum sl_status
sl__infer_random(struct sl__rule_context *call)
{
	struct sl__integer_list want = sl__integer_list_read(call, 0, "shape");

	if (!want.values || want.n > SL__RANK_MOST)
		return sl__rule_reject(call, "no shape is given");
	return sl__out_set_shape(call, 0, dtype_of(call, SL_DTYPE_F32),
				 (int)want.n, want.values);
}

/* What every generator does to an element; its own steps are not counted. */
void
sl__cost_random(struct sl__rule_context *call, struct sl_cost *cost)
{
	int is_normal = sl__is_op(call->node, SL__OP_ONNX_RandomNormal) ||
			sl__is_op(call->node, SL__OP_ONNX_RandomNormalLike);

	cost->weight_bytes = cost->read_bytes = 0;
	sl__cost_add_operations(
		cost, cost->out_elements,
		SL__OPERATIONS_EACH(.fma = 1, .exp = (uint64_t)is_normal));
	sl__cost_mark_estimated(cost,
				"scaling and shaping of random numbers, not "
				"drawing them");
}

/* One comparison with a random number for each element. */
void
sl__cost_bernoulli(struct sl__rule_context *call, struct sl_cost *cost)
{
	(void)call;
	cost->cmp = cost->out_elements;
	sl__cost_mark_estimated(cost,
				"comparisons with random numbers, not drawing "
				"them");
}

enum sl_status
sl__infer_multinomial(struct sl__rule_context *call)
{
	int64_t n_samples = sl__attribute_int(call->node, "sample_size", 1);
	int64_t dims[2] = {sl__in_rank(call, 0) == 2
				   ? sl__in_type(call, 0)->dims[0]
				   : sl__size_new_unknown(call->shapes),
			   n_samples < 0 ? -1 : n_samples};

	return sl__out_set_shape(call, 0, dtype_of(call, SL_DTYPE_I32), 2,
				 dims);
}

/* Weights from logarithms, summed up; each sample looks for its place. */
void
sl__cost_multinomial(struct sl__rule_context *call, struct sl_cost *cost)
{
	cost->exp = cost->add = cost->in_elements;
	cost->cmp =
		sl__saturating_mul(cost->out_elements, sl__in_dim(call, 0, -1));
	sl__cost_mark_estimated(cost,
				"at most one comparison with each class for a "
				"sample");
}

/* FNV-1a over the name, or the bits of the seed. */
static void
start(struct sl__rng *rng, const struct sl__node *node)
{
	const struct sl__attribute *a = sl__attribute_find(node, "seed");
	uint64_t seed = 0xcbf29ce484222325u;
	double given;

	for (const char *at = node->name; !a && *at; at++)
		seed = (seed ^ (unsigned char)*at) * 0x100000001b3u;
	if (a && a->kind == SL__ATTRIBUTE_INT) {
		seed = (uint64_t)sl__attribute_int(node, "seed", 0);
	} else if (a) {
		given = sl__attribute_float(node, "seed", 0);
		memcpy(&seed, &given, sizeof(seed));
	}
	sl__rng_init(rng, seed);
}

static int64_t
n_results(const struct sl__kernel_call *ev)
{
	const struct sl__runtime_value *out = sl__ref_output(ev, 0);

	return out && out->kind == SL__TYPE_TENSOR
		       ? (int64_t)out->tensor.n_elements
		       : 0;
}

/* RandomNormal, RandomUniform, and the same like an input. */
enum sl_status
sl__ref_random(struct sl__kernel_call *ev)
{
	const struct sl__node *node = ev->node;
	int is_normal = sl__is_op(node, SL__OP_ONNX_RandomNormal) ||
			sl__is_op(node, SL__OP_ONNX_RandomNormalLike);
	double low = sl__attribute_float(node, is_normal ? "mean" : "low", 0);
	double scale = is_normal ? sl__attribute_float(node, "scale", 1)
				 : sl__attribute_float(node, "high", 1) - low;
	double *y = sl__ref_scratch_doubles(ev, n_results(ev));
	struct sl__rng rng;

	start(&rng, node);
	for (int64_t i = 0; y && i < n_results(ev); i++)
		y[i] = low + scale * (is_normal ? sl__rng_normal(&rng)
						: sl__rng_uniform(&rng));
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* 1 with the probability that the input says. */
enum sl_status
sl__ref_bernoulli(struct sl__kernel_call *ev)
{
	const double *p = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_doubles(ev, n_results(ev));
	struct sl__rng rng;

	start(&rng, ev->node);
	for (int64_t i = 0; !ev->failure && i < n_results(ev); i++)
		y[i] = sl__rng_uniform(&rng) < p[i];
	return sl__ref_output_store_doubles(ev, 0, y);
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
sl__ref_multinomial(struct sl__kernel_call *ev)
{
	const double *logs = sl__ref_input_doubles(ev, 0);
	int64_t n_classes = sl__ref_input_dim(ev, 0, 1), n = n_results(ev);
	int64_t n_rows = sl__ref_input_dim(ev, 0, 0);
	double *sums = sl__ref_scratch_doubles(ev, n_classes);
	int64_t *y = sl__ref_scratch_integers(ev, n);
	struct sl__rng rng;

	if (ev->failure || n == 0)
		return ev->failure;
	if (sl__ref_input_rank(ev, 0) != 2 || n_classes == 0)
		return sl__ref_reject(ev, "there are no classes to draw from");
	start(&rng, ev->node);
	for (int64_t i = 0; i < n; i++) {
		if (i % (n / n_rows) == 0)
			sum_weights(sums, logs + i / (n / n_rows) * n_classes,
				    n_classes);
		y[i] = draw(&rng, sums, n_classes);
	}
	return sl__ref_output_store_integers(ev, 0, y);
}

/* Before version 7 "is_test" says so, from 12 on an input; between them
 * nothing is ever dropped. */
static int
is_training(const struct sl__kernel_call *ev)
{
	if (ev->node->version < 7)
		return !sl__attribute_int(ev->node, "is_test", 0);
	return ev->node->version >= 12 && sl__ref_input_scalar(ev, 2, 0) != 0;
}

/* MT19937 (Matsumoto and Nishimura, 1998), from which NumPy, and so ONNX's
 * reference, draws the mask of a Dropout that has a seed. */
enum { N_WORDS = 624, N_AHEAD = 397 };

struct twister {
	uint32_t words[N_WORDS];
	size_t at;
};

static void
twister_init(struct twister *t, uint32_t seed)
{
	t->at = N_WORDS;
	for (uint32_t i = 0; i < N_WORDS; i++) {
		t->words[i] = seed;
		seed = 1812433253u * (seed ^ seed >> 30) + i + 1;
	}
}

static uint32_t
twister_next(struct twister *t)
{
	uint32_t y, *w = t->words;

	for (size_t i = 0; t->at == N_WORDS && i < N_WORDS; i++) {
		y = (w[i] & 0x80000000u) | (w[(i + 1) % N_WORDS] & 0x7fffffffu);
		w[i] = w[(i + N_AHEAD) % N_WORDS] ^ y >> 1 ^
		       (y & 1 ? 0x9908b0dfu : 0);
	}
	t->at %= N_WORDS;
	y = w[t->at++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* [0, 1), 53 bits. */
static double
twister_uniform(struct twister *t)
{
	uint32_t high = twister_next(t) >> 5, low = twister_next(t) >> 6;

	return (high * 0x1p26 + low) * 0x1p-53;
}

static enum sl_status
drop(struct sl__kernel_call *ev, double ratio)
{
	int64_t seed = sl__attribute_int(ev->node, "seed", -1);
	int is_seeded = seed >= 0 && seed <= UINT32_MAX;
	struct twister twister;
	const double *x = sl__ref_input_doubles(ev, 0);
	int64_t n = n_results(ev);
	double *y = sl__ref_scratch_doubles(ev, n);
	int64_t *mask = sl__ref_scratch_integers(ev, n);
	struct sl__rng rng;

	start(&rng, ev->node);
	twister_init(&twister, (uint32_t)seed);
	for (int64_t i = 0; !ev->failure && i < n; i++) {
		mask[i] = (is_seeded ? twister_uniform(&twister)
				     : sl__rng_uniform(&rng)) >= ratio;
		y[i] = mask[i] ? x[i] / (1 - ratio) : 0;
	}
	sl__ref_output_store_doubles(ev, 0, y);
	return sl__ref_output_store_integers(ev, 1, mask);
}

/* Everything is kept. */
static enum sl_status
keep(struct sl__kernel_call *ev)
{
	struct sl__runtime_value *mask = sl__ref_output(ev, 1);
	int64_t one = 1;

	for (uint64_t i = 0; mask && i < mask->tensor.n_elements; i++)
		sl__store_integers(mask->bytes, mask->tensor.dtype, i, 1, &one);
	return sl__ref_output_copy(ev, 0, sl__ref_input(ev, 0));
}

enum sl_status
sl__ref_dropout(struct sl__kernel_call *ev)
{
	double ratio = sl__ref_input_scalar(
		ev, 1, sl__attribute_float(ev->node, "ratio", 0.5));

	if (!is_training(ev) || ratio == 0)
		return keep(ev);
	if (!(ratio > 0 && ratio <= 1))
		return sl__ref_reject(ev, "a ratio of %g is dropped", ratio);
	return drop(ev, ratio);
}
