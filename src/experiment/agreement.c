/* SPDX-License-Identifier: Apache-2.0 */
/* agreement.c - how far models agree with the first on synthetic inputs. */
#include "experiment/agreement.h"
#include "base/status.h"
#include "graph/tensor.h"
#include "stats/bootstrap.h"
#include "stats/proportion.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { AT_ONCE = 1024 }; /* numbers that are converted together */

struct sums {
	double squares, differences;
	double most, furthest; /* largest |number| and |difference| */
	uint64_t n_rows, n_same;
	int is_one; /* rows have one number */
};

/* Of a row of both: where the highest of it lies. */
struct highest {
	double value;
	uint64_t at;
};

static void
look(struct highest *h, double x, uint64_t at)
{
	if (!at || x > h->value) {
		h->value = x;
		h->at = at;
	}
}

static struct sl__tensor
tensor_of(const struct sl_array *a)
{
	return (struct sl__tensor){.dtype = a->dtype,
				   .rank = a->rank,
				   .dims = a->dims,
				   .n_elements = a->n_elements,
				   .n_stored = a->n_elements,
				   .n_bytes = a->n_bytes,
				   .bytes = a->data};
}

/* 0: they are no numbers. */
static int
add_output(struct sums *s, const struct sl_array *a, const struct sl_array *b)
{
	struct sl__tensor x = tensor_of(a), y = tensor_of(b);
	uint64_t n_row = (uint64_t)a->dims[a->rank - 1];
	double p[AT_ONCE], q[AT_ONCE];
	struct highest of_a = {0}, of_b = {0};

	for (uint64_t i = 0; i < a->n_elements; i += AT_ONCE) {
		size_t n = (size_t)(a->n_elements - i < AT_ONCE
					    ? a->n_elements - i
					    : AT_ONCE);

		if (!sl__tensor_doubles(&x, i, n, p) ||
		    !sl__tensor_doubles(&y, i, n, q))
			return 0;
		for (size_t k = 0; k < n; k++) {
			uint64_t at = (i + k) % n_row;

			s->squares += p[k] * p[k];
			s->differences += (p[k] - q[k]) * (p[k] - q[k]);
			s->most = fmax(s->most, fabs(p[k]));
			s->furthest = fmax(s->furthest, fabs(p[k] - q[k]));
			look(&of_a, p[k], at);
			look(&of_b, q[k], at);
			if (at + 1 < n_row)
				continue;
			s->n_rows++;
			s->n_same += of_a.at == of_b.at;
		}
	}
	return 1;
}

static const char *
why_not(const struct sl_array *a, const struct sl_array *b)
{
	if (a->dtype == SL_DTYPE_NONE || b->dtype == SL_DTYPE_NONE ||
	    !a->rank || !a->n_elements)
		return "the first output is no tensor with dimensions";
	if (a->rank != b->rank ||
	    memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) != 0)
		return "the first output has other sizes than the baseline's";
	return NULL;
}

static enum sl_status
run(struct sl_plan *plan, struct sl_array *out, struct sl_error *err)
{
	const struct sl_graph *graph = plan->graph;
	enum sl_status rc = sl_plan_run(plan, err);

	return rc ? rc
		  : sl_plan_output(plan,
				   sl_graph_value_name(
					   graph, sl_graph_output(graph, 0)),
				   out, err);
}

/* Both on the inputs they have; *share is of rows whose highest is the same. */
static enum sl_status
compare(struct sl__agreement *out, struct sums *total, double *share,
	struct sl_plan *baseline, struct sl_plan *plan, struct sl_error *err)
{
	struct sums s = {0};
	struct sl_array a, b;
	enum sl_status rc = run(baseline, &a, err);

	if (!rc)
		rc = run(plan, &b, err);
	if (rc)
		return rc;
	out->absent = why_not(&a, &b);
	if (!out->absent && !add_output(&s, &a, &b))
		out->absent = "the first output is not of numbers";
	if (out->absent)
		return SL_OK;
	*share = (double)s.n_same / (double)s.n_rows;
	total->is_one = a.dims[a.rank - 1] == 1;
	total->squares += s.squares;
	total->differences += s.differences;
	total->most = fmax(total->most, s.most);
	total->furthest = fmax(total->furthest, s.furthest);
	total->n_rows += s.n_rows;
	total->n_same += s.n_same;
	return SL_OK;
}

static void
conclude(struct sl__agreement *out, const struct sums *s, const double *shares,
	 size_t n)
{
	if (out->absent)
		return;
	if (s->squares > 0) {
		out->error = sqrt(s->differences / s->squares);
		out->largest = s->furthest / s->most;
	}
	if (s->is_one)
		out->absent = "the first output has one number for each sample";
	else if (s->n_rows == n)
		out->share = sl__proportion((size_t)s->n_same, n, 0.05);
	else
		out->share = sl__student_mean(shares, n, 0.05);
}

enum sl_status
sl__agreement_on(struct sl__agreement *out, struct sl_plan *baseline,
		 struct sl_plan *plan,
		 const struct sl__agreement_inputs *inputs,
		 struct sl_error *err)
{
	double shares[SL__AGREEMENT_INPUTS_MOST];
	struct sums total = {0};
	enum sl_status rc = SL_OK;

	*out = (struct sl__agreement){.error = (double)NAN,
				      .largest = (double)NAN};
	for (size_t i = 0; !rc && !out->absent && i < inputs->n; i++) {
		rc = inputs->set(inputs->ctx, baseline, i, err);
		if (!rc)
			rc = inputs->set(inputs->ctx, plan, i, err);
		if (!rc)
			rc = compare(out, &total, &shares[i], baseline, plan,
				     err);
	}
	conclude(out, &total, shares, inputs->n);
	return rc;
}

static enum sl_status
fill_by_seed(const void *ctx, struct sl_plan *plan, size_t i,
	     struct sl_error *err)
{
	const uint64_t *seed = ctx;

	return sl_plan_fill_inputs(plan, *seed + i, err);
}

enum sl_status
sl__agreement(struct sl__agreement *out, struct sl_plan *baseline,
	      struct sl_plan *plan, size_t n_inputs, uint64_t seed,
	      struct sl_error *err)
{
	const struct sl__agreement_inputs inputs = {
		.set = fill_by_seed, .ctx = &seed, .n = n_inputs};

	return sl__agreement_on(out, baseline, plan, &inputs, err);
}

enum sl_status
sl__agreement_as_set(struct sl__agreement *out, struct sl_plan *baseline,
		     struct sl_plan *plan, struct sl_error *err)
{
	struct sums total = {0};
	enum sl_status rc;
	double share = 0;

	*out = (struct sl__agreement){.error = (double)NAN,
				      .largest = (double)NAN};
	rc = compare(out, &total, &share, baseline, plan, err);
	conclude(out, &total, &share, 1);
	return rc;
}
