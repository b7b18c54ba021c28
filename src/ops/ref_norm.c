/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_norm.c - normalizations computed.
 *
 * Most take rows of elements, their mean and variance, and scale what is
 * left.  The variance is the mean of the squared distances from the mean, in
 * two passes, so that nothing cancels.
 */
#include "ops/op_row.h"
#include "ops/ref_move.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

struct moments {
	double mean, variance;
};

/* Of n elements, NAN of none; or without a mean to subtract, how far the
 * squares are from 0. */
static struct moments
measure(const double *x, int64_t n, int is_centred)
{
	struct moments m = {0, 0};

	for (int64_t i = 0; is_centred && i < n; i++)
		m.mean += x[i];
	if (is_centred)
		m.mean /= (double)n;
	for (int64_t i = 0; i < n; i++)
		m.variance += (x[i] - m.mean) * (x[i] - m.mean);
	m.variance /= (double)n;
	return m;
}

/* Input i with n numbers; NULL where it is left out. */
static const double *
read_vector(struct sl__kernel_call *ev, size_t i, int64_t n)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, i);

	if (t && t->n_elements != (uint64_t)n)
		sl__ref_reject(ev, "input %zu has %llu numbers, not %lld", i,
			       (unsigned long long)t->n_elements, (long long)n);
	return sl__ref_optional_doubles(ev, i);
}

enum { NO_INPUT = 99 };

/* Where the inputs of those stand that take rows from an axis on.  With a skip,
 * what is normalized is the sum of inputs 0, 1 and 'more'. */
static const struct layer_form {
	enum sl__op_id id;
	int is_centred, has_skip;
	size_t scale, bias, more;
	double epsilon;
} layer_forms[] = {
	{SL__OP_ONNX_LayerNormalization, 1, 0, 1, 2, NO_INPUT, 1e-5},
	{SL__OP_ONNX_RMSNormalization, 0, 0, 1, NO_INPUT, NO_INPUT, 1e-5},
	{SL__OP_ONNX_SimplifiedLayerNormalization, 0, 0, 1, NO_INPUT, NO_INPUT,
	 1e-5},
	{SL__OP_MS_SimplifiedLayerNormalization, 0, 0, 1, NO_INPUT, NO_INPUT,
	 1e-5},
	{SL__OP_MS_SkipLayerNormalization, 1, 1, 2, 3, 4, 1e-12},
	{SL__OP_MS_SkipSimplifiedLayerNormalization, 0, 1, 2, NO_INPUT, 3,
	 1e-12},
};

/* Adds input i to a walk over input 0, where it is given; its numbers. */
static const double *
walk_given(struct sl__kernel_call *ev, struct sl__strided_iterator *w, size_t i)
{
	if (ev->failure || !sl__ref_input(ev, i))
		w->n++; /* which stays where it is */
	else
		sl__strided_iterator_add_input(ev, w, i, SIZE_MAX);
	return sl__ref_optional_doubles(ev, i);
}

/* Input 0 and two others that are broadcast to it. */
static double *
add_repeated(struct sl__kernel_call *ev, const double *x, size_t i, size_t k)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	double *sum = sl__ref_scratch_doubles(ev, (int64_t)t->n_elements);
	const double *a, *b;
	struct sl__strided_iterator w;

	sl__strided_iterator_begin(&w, t->rank, t->dims);
	a = walk_given(ev, &w, i);
	b = walk_given(ev, &w, k);
	for (uint64_t n = 0; !ev->failure && n < t->n_elements; n++) {
		sum[n] = x[n] + (a ? a[w.offsets[0]] : 0) +
			 (b ? b[w.offsets[1]] : 0);
		sl__strided_iterator_next(&w);
	}
	return sum;
}

/* x [n_rows][length]. */
struct layers {
	const struct sl__tensor *t;
	int64_t n_rows, length;
	const double *x, *scale, *bias; /* the last two may be NULL */
	struct sl__strided_iterator w;  /* through them */
	double epsilon;
	int is_centred;
	double *y, *mean, *deviation; /* the last two: 1 for each row */
};

static enum sl_status
open_layers(struct layers *l, struct sl__kernel_call *ev, int64_t axis)
{
	int first;

	l->t = sl__ref_require_tensor(ev, 0);
	if (!l->t)
		return ev->failure;
	first = sl__axis_normalize(axis, (int)l->t->rank);
	if (first < 0)
		return sl__ref_reject(ev, "no axis %lld", (long long)axis);
	l->n_rows = sl__dims_product(l->t->dims, 0, (size_t)first);
	/* Unless more is asked for than what has the sizes of input 0. */
	if (l->t->n_elements == 0 && !sl__ref_output(ev, 1) &&
	    !sl__ref_output(ev, 2))
		l->n_rows = 0;
	l->length = sl__dims_product(l->t->dims, (size_t)first, l->t->rank);
	l->x = sl__ref_input_doubles(ev, 0);
	l->y = sl__ref_scratch_doubles(ev, (int64_t)l->t->n_elements);
	l->mean = sl__ref_scratch_doubles(ev, l->n_rows);
	l->deviation = sl__ref_scratch_doubles(ev, l->n_rows);
	return ev->failure;
}

static void
normalize_layers(struct layers *l)
{
	for (int64_t row = 0; row < l->n_rows; row++) {
		const double *x = l->x + row * l->length;
		double *y = l->y + row * l->length;
		struct moments m = measure(x, l->length, l->is_centred);

		l->mean[row] = m.mean;
		l->deviation[row] = 1 / sqrt(m.variance + l->epsilon);
		for (int64_t i = 0; i < l->length; i++) {
			y[i] = (x[i] - m.mean) * l->deviation[row];
			if (l->scale)
				y[i] *= l->scale[l->w.offsets[0]];
			if (l->bias)
				y[i] += l->bias[l->w.offsets[1]];
			sl__strided_iterator_next(&l->w);
		}
	}
}

/* Mean and deviation may be asked for; where nothing is subtracted, output 1
 * is 1 / root mean square.  Those with a skip give what they normalized. */
enum sl_status
sl__ref_layer_norm(struct sl__kernel_call *ev)
{
	const struct layer_form *form = SL__OP_ROW_OF(ev->node, layer_forms);
	struct layers l = {.is_centred = form->is_centred};
	double *sum = NULL;

	if (open_layers(&l, ev,
			form->has_skip
				? -1
				: sl__attribute_int(ev->node, "axis", -1)))
		return ev->failure;
	sl__strided_iterator_begin(&l.w, l.t->rank, l.t->dims);
	l.scale = walk_given(ev, &l.w, form->scale);
	l.bias = walk_given(ev, &l.w, form->bias);
	l.epsilon = sl__attribute_float(ev->node, "epsilon", form->epsilon);
	if (form->has_skip)
		l.x = sum = add_repeated(ev, l.x, 1, form->more);
	if (ev->failure)
		return ev->failure;
	normalize_layers(&l);
	sl__ref_output_store_doubles(ev, 0, l.y);
	if (!form->is_centred && !form->has_skip)
		return sl__ref_output_store_doubles(ev, 1, l.deviation);
	sl__ref_output_store_doubles(ev, 1, l.mean);
	sl__ref_output_store_doubles(ev, 2, l.deviation);
	return sum ? sl__ref_output_store_doubles(ev, 3, sum) : ev->failure;
}

/* The rows of InstanceNormalization and GroupNormalization are runs of
 * elements of one image; scale and bias are one for each 'span' elements,
 * and start again after n_parts of them. */
struct spans {
	int64_t n_rows, length, span, n_parts;
};

static enum sl_status
run_spans(struct sl__kernel_call *ev, struct spans *s)
{
	double epsilon = sl__attribute_float(ev->node, "epsilon", 1e-5);
	const double *x = sl__ref_input_doubles(ev, 0);
	const double *scale = read_vector(ev, 1, s->n_parts);
	const double *bias = read_vector(ev, 2, s->n_parts);
	double *y = sl__ref_scratch_output(ev, 0);

	for (int64_t row = 0; !ev->failure && row < s->n_rows; row++) {
		struct moments m = measure(x + row * s->length, s->length, 1);
		double factor = 1 / sqrt(m.variance + epsilon);

		for (int64_t k = 0; k < s->length; k++) {
			int64_t i = row * s->length + k;
			int64_t part = i / s->span % s->n_parts;

			y[i] = (x[i] - m.mean) * factor;
			if (scale)
				y[i] *= scale[part];
			if (bias)
				y[i] += bias[part];
		}
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

enum sl_status
sl__ref_instance_norm(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	struct spans s = {0};

	if (!t || t->rank < 2)
		return sl__ref_reject(ev, "it lacks channels");
	s.n_parts = t->dims[1];
	s.n_rows = t->dims[0] * t->dims[1];
	s.length = s.span = sl__dims_product(t->dims, 2, t->rank);
	return run_spans(ev, &s);
}

/* Version 18 scales groups, later ones channels. */
enum sl_status
sl__ref_group_norm(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	int64_t n_groups = sl__attribute_int(ev->node, "num_groups", 1), image;
	struct spans s = {0};

	if (!t || t->rank < 2 || n_groups < 1 || t->dims[1] % n_groups)
		return sl__ref_reject(ev,
				      "its channels do not make %lld groups",
				      (long long)n_groups);
	image = sl__dims_product(t->dims, 2, t->rank);
	s.n_rows = t->dims[0] * n_groups;
	s.length = t->dims[1] / n_groups * image;
	s.n_parts = ev->node->version < 21 ? n_groups : t->dims[1];
	s.span = ev->node->version < 21 ? s.length : image;
	return run_spans(ev, &s);
}

/* x [batch][n_parts][span]: parts are channels, or in old versions without
 * 'spatial' elements. */
struct batches {
	int64_t n_all, batch, n_parts, span;
	const double *x, *scale, *bias, *mean, *variance;
	double *y, *means, *variances; /* the last two: what is used */
};

static enum sl_status
open_batches(struct batches *b, struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);

	b->x = sl__ref_input_doubles(ev, 0);
	if (!b->x)
		return ev->failure;
	b->n_all = (int64_t)t->n_elements;
	b->batch = t->rank > 0 ? t->dims[0] : 1;
	b->n_parts = t->rank > 1 ? t->dims[1] : 1;
	b->span = t->rank > 1 ? sl__dims_product(t->dims, 2, t->rank) : 1;
	if (ev->node->version < 9 &&
	    !sl__attribute_int(ev->node, "spatial", 1)) {
		b->n_parts = sl__dims_product(t->dims, 1, t->rank);
		b->span = 1;
	}
	b->scale = read_vector(ev, 1, b->n_parts);
	b->bias = read_vector(ev, 2, b->n_parts);
	b->mean = read_vector(ev, 3, b->n_parts);
	b->variance = read_vector(ev, 4, b->n_parts);
	if (!b->scale || !b->bias || !b->mean || !b->variance)
		return sl__ref_reject(ev, "it lacks a scale, bias, mean or "
					  "variance");
	b->y = sl__ref_scratch_doubles(ev, b->n_all);
	b->means = sl__ref_scratch_doubles(ev, b->n_parts);
	b->variances = sl__ref_scratch_doubles(ev, b->n_parts);
	return ev->failure;
}

/* Mean and variance of each part. */
static void
measure_batches(struct batches *b)
{
	int64_t n = b->n_all;
	double per_part = (double)b->batch * (double)b->span;

	for (int64_t i = 0; i < n; i++)
		b->means[i / b->span % b->n_parts] += b->x[i];
	for (int64_t k = 0; k < b->n_parts; k++)
		b->means[k] /= per_part;
	for (int64_t i = 0; i < n; i++) {
		int64_t k = i / b->span % b->n_parts;

		b->variances[k] +=
			(b->x[i] - b->means[k]) * (b->x[i] - b->means[k]);
	}
	for (int64_t k = 0; k < b->n_parts; k++)
		b->variances[k] /= per_part;
}

/* Outputs 1 and 2 are the running statistics, 3 and 4 of old versions the
 * batch's own. */
static enum sl_status
store_statistics(struct batches *b, struct sl__kernel_call *ev)
{
	double momentum = sl__attribute_float(ev->node, "momentum", 0.9);
	double *running = sl__ref_scratch_doubles(ev, b->n_parts);

	if (!running)
		return ev->failure;
	for (int64_t k = 0; k < b->n_parts; k++)
		running[k] =
			b->mean[k] * momentum + b->means[k] * (1 - momentum);
	sl__ref_output_store_doubles(ev, 1, running);
	for (int64_t k = 0; k < b->n_parts; k++)
		running[k] = b->variance[k] * momentum +
			     b->variances[k] * (1 - momentum);
	sl__ref_output_store_doubles(ev, 2, running);
	sl__ref_output_store_doubles(ev, 3, b->means);
	return sl__ref_output_store_doubles(ev, 4, b->variances);
}

enum sl_status
sl__ref_batch_norm(struct sl__kernel_call *ev)
{
	const struct sl__node *node = ev->node;
	double epsilon = sl__attribute_float(node, "epsilon", 1e-5);
	int is_training =
		node->version < 14
			? node->n_outputs > 1
			: sl__attribute_int(node, "training_mode", 0) != 0;
	struct batches b = {0};
	size_t size;

	if (open_batches(&b, ev))
		return ev->failure;
	size = (size_t)b.n_parts * sizeof(*b.means);
	if (is_training) {
		measure_batches(&b);
	} else {
		memcpy(b.means, b.mean, size);
		memcpy(b.variances, b.variance, size);
	}
	if (store_statistics(&b, ev))
		return ev->failure;
	for (int64_t i = 0; i < b.n_all; i++) {
		int64_t k = i / b.span % b.n_parts;

		b.y[i] = (b.x[i] - b.means[k]) /
				 sqrt(b.variances[k] + epsilon) * b.scale[k] +
			 b.bias[k];
	}
	return sl__ref_output_store_doubles(ev, 0, b.y);
}

/* x over the sum of |x| or the root of the sum of squares; 0 over 0 is 0. */
static void
normalize_line(const double *x, double *y, int64_t n, int64_t step, int p)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++) {
		double e = x[i * step];

		sum += p == 1 ? fabs(e) : e * e;
	}
	if (p == 2)
		sum = sqrt(sum);
	for (int64_t i = 0; i < n; i++)
		y[i * step] = sum <= 0 ? 0 : x[i * step] / sum;
}

enum sl_status
sl__ref_lp_norm(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	int64_t p = sl__attribute_int(ev->node, "p", 2), n, inner, outer;
	int axis = sl__axis_normalize(sl__attribute_int(ev->node, "axis", -1),
				      sl__ref_input_rank(ev, 0));
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);

	if (ev->failure)
		return ev->failure;
	if (axis < 0 || (p != 1 && p != 2))
		return sl__ref_reject(ev, "no such axis, or a norm of "
					  "other than 1 or 2");
	n = t->dims[axis];
	outer = sl__dims_product(t->dims, 0, (size_t)axis);
	inner = sl__dims_product(t->dims, (size_t)axis + 1, t->rank);
	for (int64_t i = 0; i < outer * inner; i++) {
		int64_t at = i / inner * n * inner + i % inner;

		normalize_line(x + at, y + at, n, inner, (int)p);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* x / (bias + alpha / size * sum of squares)^beta over 'size' channels around
 * each. */
enum sl_status
sl__ref_lrn(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	const struct sl__node *node = ev->node;
	double alpha = sl__attribute_float(node, "alpha", 1e-4);
	double beta = sl__attribute_float(node, "beta", 0.75);
	double bias = sl__attribute_float(node, "bias", 1);
	int64_t size = sl__attribute_int(node, "size", 0), image;
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0);

	if (ev->failure)
		return ev->failure;
	if (t->rank < 2 || size < 1)
		return sl__ref_reject(ev, "%lld channels at a time",
				      (long long)size);
	image = sl__dims_product(t->dims, 2, t->rank);
	for (int64_t i = 0; i < (int64_t)t->n_elements; i++) {
		int64_t c = i / image % t->dims[1];
		int64_t first = c < (size - 1) / 2 ? 0 : c - (size - 1) / 2;
		int64_t last = t->dims[1] - 1 - c < size / 2 ? t->dims[1] - 1
							     : c + size / 2;
		double sum = 0;

		for (int64_t k = first; k <= last; k++) {
			double e = x[i + (k - c) * image];

			sum += e * e;
		}
		y[i] = x[i] / pow(bias + alpha / (double)size * sum, beta);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* Strides through the statistics: 0 along the axes, which by default are all
 * but the channels.  Returns how many statistics there are; -1: no such
 * axis. */
static int64_t
statistics_steps(const struct sl__node *node, const struct sl__tensor *t,
		 int64_t *steps)
{
	static const int64_t usual[] = {0, 2, 3};
	const int64_t *axes;
	size_t n_axes = sl__attribute_ints(node, "axes", &axes);
	int64_t n = 1;

	if (!n_axes) {
		axes = usual;
		n_axes = 3;
	}
	for (size_t d = 0; d < t->rank; d++)
		steps[d] = 1;
	for (size_t i = 0; i < n_axes; i++) {
		int axis = sl__axis_normalize(axes[i], (int)t->rank);

		if (axis < 0)
			return -1;
		steps[axis] = 0;
	}
	for (size_t d = t->rank; d-- > 0;) {
		if (!steps[d])
			continue;
		steps[d] = n;
		n *= t->dims[d];
	}
	return n;
}

/* Adds x, or its squared distance from 'mean', to the statistic that each
 * element belongs to, and divides by how many these are. */
static void
gather_statistics(struct sl__strided_iterator *w, const double *x,
		  const double *mean, double *sums)
{
	double count = 1;

	for (size_t d = 0; d < w->rank; d++)
		count *= w->strides[0][d] ? 1 : (double)w->dims[d];
	do {
		int64_t to = w->offsets[0];
		double off = *x++ - (mean ? mean[to] : 0);

		sums[to] += (mean ? off * off : off) / count;
	} while (sl__strided_iterator_next(w));
}

/* (x - mean) / (deviation + 1e-9), as ONNX's function has it. */
enum sl_status
sl__ref_mean_variance_norm(struct sl__kernel_call *ev)
{
	const struct sl__tensor *t = sl__ref_input_tensor(ev, 0);
	const double *x = sl__ref_input_doubles(ev, 0);
	double *y = sl__ref_scratch_output(ev, 0), *mean, *variance;
	struct sl__strided_iterator w;
	int64_t n;

	if (ev->failure || sl__strided_iterator_over_output(ev, &w))
		return ev->failure;
	w.n = 1;
	n = statistics_steps(ev->node, t, w.strides[0]);
	if (n < 0)
		return sl__ref_reject(ev, "no such axis");
	mean = sl__ref_scratch_doubles(ev, n);
	variance = sl__ref_scratch_doubles(ev, n);
	if (ev->failure)
		return ev->failure;
	gather_statistics(&w, x, NULL, mean);
	gather_statistics(&w, x, mean, variance);
	for (uint64_t i = 0; i < t->n_elements; i++) {
		int64_t to = w.offsets[0];

		y[i] = (x[i] - mean[to]) / (sqrt(variance[to]) + 1e-9);
		sl__strided_iterator_next(&w);
	}
	return sl__ref_output_store_doubles(ev, 0, y);
}

/* Tables of rows, and which rows to take. */
struct embedding {
	int64_t batch, length, width;
	const int64_t *words, *segments, *mask, *places;
	int64_t n_places_rows; /* of 'places': batch, or 1 for all */
	const double *tables[3], *scale, *bias; /* words, places, segments */
	int64_t sizes[3];
	double *sum, *y;
};

static enum sl_status
read_tables(struct embedding *e, struct sl__kernel_call *ev)
{
	for (size_t i = 0; i < 3; i++) {
		const struct sl__tensor *t = sl__ref_input_tensor(ev, i + 2);

		if (t && (t->rank != 2 || t->dims[1] != e->width))
			return sl__ref_reject(
				ev, "table %zu has rows of another width", i);
		e->sizes[i] = t ? t->dims[0] : 0;
		e->tables[i] = sl__ref_optional_doubles(ev, i + 2);
	}
	e->scale = read_vector(ev, 5, e->width);
	e->bias = read_vector(ev, 6, e->width);
	return ev->failure;
}

static enum sl_status
read_ids(struct embedding *e, struct sl__kernel_call *ev)
{
	const struct sl__tensor *places = sl__ref_input_tensor(ev, 8);
	const struct sl__tensor *segments = sl__ref_input_tensor(ev, 1);
	const struct sl__tensor *mask = sl__ref_input_tensor(ev, 7);
	uint64_t n = (uint64_t)(e->batch * e->length);

	e->words = sl__ref_input_integers(ev, 0);
	e->segments = sl__ref_optional_integers(ev, 1);
	e->mask = sl__ref_optional_integers(ev, 7);
	e->places = sl__ref_optional_integers(ev, 8);
	e->n_places_rows = places && places->n_elements == n ? e->batch : 1;
	if ((segments && segments->n_elements != n) ||
	    (mask && mask->n_elements != n) ||
	    (places &&
	     places->n_elements != (uint64_t)(e->n_places_rows * e->length)))
		return sl__ref_reject(
			ev, "segments, places or mask are not as many as "
			    "the ids");
	return ev->failure;
}

/* Adds row 'id' of a table to a row of sums. */
static enum sl_status
add_row(struct sl__kernel_call *ev, const struct embedding *e, size_t table,
	int64_t id, double *sum)
{
	if (!e->tables[table])
		return SL_OK;
	if (id < 0 || id >= e->sizes[table])
		return sl__ref_reject(ev, "a table of %lld has no row %lld",
				      (long long)e->sizes[table],
				      (long long)id);
	for (int64_t k = 0; k < e->width; k++)
		sum[k] += e->tables[table][id * e->width + k];
	return SL_OK;
}

static enum sl_status
embed(struct sl__kernel_call *ev, const struct embedding *e, double epsilon)
{
	for (int64_t i = 0; i < e->batch * e->length; i++) {
		int64_t row = i / e->length % e->n_places_rows;
		int64_t at = row * e->length + i % e->length;
		double *sum = e->sum + i * e->width, *y = e->y + i * e->width;
		struct moments m;
		double factor;

		if (add_row(ev, e, 0, e->words[i], sum) ||
		    add_row(ev, e, 1, e->places ? e->places[at] : i % e->length,
			    sum) ||
		    (e->segments && add_row(ev, e, 2, e->segments[i], sum)))
			return ev->failure;
		m = measure(sum, e->width, 1);
		factor = 1 / sqrt(m.variance + epsilon);
		for (int64_t k = 0; k < e->width; k++)
			y[k] = (sum[k] - m.mean) * factor *
				       (e->scale ? e->scale[k] : 1) +
			       (e->bias ? e->bias[k] : 0);
	}
	return SL_OK;
}

/* How many tokens of each text the mask leaves. */
static enum sl_status
count_tokens(const struct embedding *e, struct sl__kernel_call *ev)
{
	int64_t *n = sl__ref_scratch_integers(ev, e->batch);

	for (int64_t i = 0; n && e->mask && i < e->batch * e->length; i++)
		n[i / e->length] += e->mask[i] == 1;
	return sl__ref_output_store_integers(ev, 1, n);
}

enum sl_status
sl__ref_embed_layer_norm(struct sl__kernel_call *ev)
{
	const struct sl__tensor *ids = sl__ref_input_tensor(ev, 0);
	struct embedding e = {0};
	size_t n;

	if (!ids || ids->rank != 2 || sl__ref_input_rank(ev, 2) != 2)
		return sl__ref_reject(ev, "it lacks ids or a table");
	e.batch = ids->dims[0];
	e.length = ids->dims[1];
	e.width = sl__ref_input_dim(ev, 2, 1);
	if (read_tables(&e, ev) || read_ids(&e, ev))
		return ev->failure;
	if (__builtin_mul_overflow((size_t)ids->n_elements, (size_t)e.width,
				   &n))
		return sl__ref_nomem(ev);
	e.sum = sl__ref_scratch(ev, n, sizeof(*e.sum));
	e.y = sl__ref_scratch(ev, n, sizeof(*e.y));
	if (ev->failure ||
	    embed(ev, &e, sl__attribute_float(ev->node, "epsilon", 1e-12)) ||
	    count_tokens(&e, ev))
		return ev->failure;
	sl__ref_output_store_doubles(ev, 0, e.y);
	return sl__ref_output_store_doubles(ev, 2, e.sum);
}
