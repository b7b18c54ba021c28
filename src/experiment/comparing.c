/* SPDX-License-Identifier: Apache-2.0 */
/* comparing.c - an output against its reference. */
#include "comparing.h"
#include "dtype.h"
#include "status.h"

#include <math.h>
#include <string.h>

#include "banned.h"

const char *
sl_check_rule_text(enum sl_check_rule rule)
{
	switch (rule) {
	case SL_CHECK_LARGEST:
		return "largest difference / largest |reference|";
	case SL_CHECK_EXACT:
		return "elements that differ";
	case SL_CHECK_STEPS:
		return "largest difference in steps";
	case SL_CHECK_RMS:
		return "RMS of differences / RMS of reference";
	case SL_CHECK_NONE:
	default:
		return "not compared";
	}
}

/* ---------------------------------------------------------------- the rule */

static int
is_quantized(const struct sl_graph *graph)
{
	static const char *const words[] = {"QuantizeLinear", "QLinear",
					    "Integer", "DynamicQuantize"};

	for (size_t i = 0; i < graph->n_nodes; i++) {
		for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++) {
			if (strstr(graph->nodes[i].type, words[w]))
				return 1;
		}
	}
	return 0;
}

static int
is_half(enum sl_dtype dtype)
{
	return dtype == SL_DTYPE_F16 || dtype == SL_DTYPE_BF16;
}

static int
stores_halves(const struct sl_graph *graph)
{
	for (size_t i = 0; i < graph->n_values; i++) {
		const struct sl__value *v = &graph->values[i];

		if ((v->tensor && is_half(v->tensor->dtype)) ||
		    is_half(v->declared.dtype))
			return 1;
	}
	return 0;
}

/* The scale of the DequantizeLinear that makes the value, seen through
 * views; 0 where it is made otherwise. */
static double
step_of(const struct sl_graph *graph, uint32_t value)
{
	const struct sl__node *node;
	const struct sl__tensor *scale;
	double step;

	if (graph->values[value].producer == SL__NONE)
		return 0;
	node = &graph->nodes[graph->values[value].producer];
	if (node->op && node->op->cost == sl__cost_view && node->n_inputs)
		return step_of(graph, node->inputs[0]);
	if (strcmp(node->type, "DequantizeLinear") != 0)
		return 0;
	scale = graph->values[node->inputs[1]].tensor;
	if (!scale || scale->n_elements != 1 ||
	    !sl__tensor_doubles(scale, 0, 1, &step))
		return 0;
	return fabs(step);
}

struct sl__comparing
sl__comparing_of(const struct sl_graph *graph, uint32_t output,
		 double tolerance)
{
	struct sl__comparing how = {SL_CHECK_LARGEST, 1e-4, 0};

	if (is_quantized(graph)) {
		how.step = step_of(graph, output);
		how.rule = how.step > 0 ? SL_CHECK_STEPS : SL_CHECK_RMS;
		how.limit = how.step > 0 ? 3 : .02;
	} else if (stores_halves(graph)) {
		how.limit = 5e-3;
	}
	if (tolerance > 0)
		how.limit = tolerance;
	return how;
}

/* ------------------------------------------------------------ the elements */

/* Walks 'got' and, in step with it, 'want' repeated as often as it takes. */
struct pair_walk {
	const struct sl__tensor *got, *want;
	int64_t at[SL__RANK_MOST], want_strides[SL__RANK_MOST];
	uint64_t i;
};

static uint64_t
want_index(const struct pair_walk *w)
{
	int64_t index = 0;

	for (size_t d = 0; d < w->got->rank; d++)
		index += w->at[d] % w->want->dims[d] * w->want_strides[d];
	return (uint64_t)index;
}

static int
step_on(struct pair_walk *w)
{
	w->i++;
	for (size_t d = w->got->rank; d-- > 0;) {
		if (++w->at[d] < w->got->dims[d])
			return 1;
		w->at[d] = 0;
	}
	return 0;
}

/* Why sizes or types cannot be compared; NULL when they can. */
static const char *
mismatch(const struct sl__tensor *got, const struct sl__tensor *want,
	 struct sl__arena *arena)
{
	if (got->dtype != want->dtype)
		return sl__arena_format(arena, "is %s, the reference %s",
					sl_dtype_text(got->dtype),
					sl_dtype_text(want->dtype));
	if (got->rank != want->rank || got->rank > SL__RANK_MOST)
		return sl__arena_format(arena,
					"has %zu dimensions, the reference %zu",
					got->rank, want->rank);
	for (size_t d = 0; d < got->rank; d++) {
		if (want->dims[d] == got->dims[d] ||
		    (want->dims[d] > 0 && got->dims[d] > 0 &&
		     got->dims[d] % want->dims[d] == 0))
			continue;
		return sl__arena_format(
			arena, "dimension %zu is %lld, in the reference %lld",
			d, (long long)got->dims[d], (long long)want->dims[d]);
	}
	return NULL;
}

struct sums {
	double largest, top; /* of differences, of |reference| */
	double difference_squared, reference_squared;
	uint64_t worst, n_different;
};

static void
add_pair(struct sums *s, double a, double b, uint64_t i)
{
	double error = isnan(a) && isnan(b) ? 0 : fabs(a - b);

	if (isinf(a) && isinf(b) && (a > 0) == (b > 0))
		error = 0;
	if (isnan(error))
		error = (double)INFINITY;
	if (error > 0)
		s->n_different++;
	if (error > s->largest) {
		s->largest = error;
		s->worst = i;
	}
	if (!isfinite(b))
		return;
	if (fabs(b) > s->top)
		s->top = fabs(b);
	s->difference_squared += error * error;
	s->reference_squared += b * b;
}

static int
compare_elements(struct sums *s, const struct sl__tensor *got,
		 const struct sl__tensor *want)
{
	struct pair_walk w = {.got = got, .want = want};
	double a, b;

	memset(s, 0, sizeof(*s));
	if (got->n_elements == 0)
		return 1;
	(void)sl__ref_strides(w.want_strides, want->rank, want->dims);
	do {
		uint64_t k = want_index(&w);

		if (got->dtype == SL_DTYPE_STRING) {
			s->n_different += strcmp(got->strings[w.i],
						 want->strings[k]) != 0;
			continue;
		}
		if (!sl__tensor_doubles(got, w.i, 1, &a) ||
		    !sl__tensor_doubles(want, k, 1, &b))
			return 0;
		add_pair(s, a, b, w.i);
	} while (step_on(&w));
	return 1;
}

/* Whether the largest element of every row is in the same place, where that
 * of the reference is ahead of the next by more than a step. */
static int
has_same_top(const struct sl__tensor *got, const struct sl__tensor *want)
{
	uint64_t width = want->rank ? (uint64_t)want->dims[want->rank - 1] : 1;

	for (uint64_t row = 0; width && row < got->n_elements / width; row++) {
		uint64_t base = row * width % want->n_elements;
		uint64_t top[2] = {0, 0};
		double most[2], x;

		for (uint64_t i = 0; i < width; i++) {
			(void)sl__tensor_doubles(got, row * width + i, 1, &x);
			if (i == 0 || x > most[0]) {
				most[0] = x;
				top[0] = i;
			}
			(void)sl__tensor_doubles(want, base + i, 1, &x);
			if (i == 0 || x > most[1]) {
				most[1] = x;
				top[1] = i;
			}
		}
		if (top[0] == top[1])
			continue;
		/* A tie in the reference has no one top. */
		(void)sl__tensor_doubles(want, base + top[0], 1, &x);
		if (x < most[1])
			return 0;
	}
	return 1;
}

/* --------------------------------------------------------------- judgement */

static void
judge(struct sl_run_output *out, const struct sl__comparing *how,
      const struct sums *s)
{
	out->rule = how->rule;
	out->limit = how->limit;
	out->largest_error = s->largest;
	out->worst = s->worst;
	if (sl__dtype_family(out->dtype) != SL__DTYPE_FLOAT) {
		out->rule = SL_CHECK_EXACT;
		out->limit = 0;
		out->error = (double)s->n_different;
	} else if (how->rule == SL_CHECK_STEPS) {
		out->error = s->largest / how->step;
		/* Both are whole numbers of steps, each in f32. */
		out->error = nearbyint(out->error * 1e3) / 1e3;
	} else if (how->rule == SL_CHECK_RMS) {
		out->error = s->difference_squared > 0
				     ? sqrt(s->difference_squared /
					    s->reference_squared)
				     : 0;
	} else {
		out->error = s->largest > 0 ? s->largest / s->top : 0;
	}
	out->is_ok = out->error <= out->limit;
}

enum sl_status
sl__compare_output(struct sl_run_output *out, const struct sl__comparing *how,
		   const struct sl__tensor *got, const struct sl__tensor *want,
		   struct sl__arena *arena, struct sl_error *err)
{
	struct sums s;

	(void)err;
	out->why = mismatch(got, want, arena);
	if (!out->why && !compare_elements(&s, got, want))
		out->why = "its type cannot be compared";
	if (out->why) {
		out->rule = how->rule;
		out->limit = how->limit;
		out->error = (double)NAN;
		return SL_OK;
	}
	judge(out, how, &s);
	if (out->is_ok && out->rule == SL_CHECK_STEPS &&
	    !has_same_top(got, want)) {
		out->is_ok = 0;
		out->why = "another element is the largest";
	}
	return SL_OK;
}
