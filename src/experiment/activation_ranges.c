/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activation_ranges.c - what values of a model reach while it runs.
 *
 * The values are made outputs of a copy of the model, whose plan then keeps
 * them.  A first iteration over the samples finds the largest and the smallest;
 * rules that look at how numbers are spread take a second one, which counts
 * them in bins of that range.
 */
#include "experiment/activation_ranges.h"
#include "base/status.h"
#include "experiment/sample_inputs.h"
#include "graph/graph_construction.h"

#include <math.h>

#include "base/banned.h"

enum {
	N_BINS = 2048,
	BATCH_MOST = 16,     /* samples that run at a time */
	SYNTHETIC_MOST = 16, /* normal numbers are alike: more tell nothing */
	CLIPS = 64           /* ranges that the squared error is compared for */
};

struct measuring {
	const struct sl__activation_ranges_options *what;
	struct sl__arena scratch;
	struct sl_graph *graph; /* with the values as outputs */
	const char **names;     /* of the outputs */
	uint32_t *values;
	size_t n_values;
	struct sl__sample_inputs inputs;
	struct sl_plan *plan;
	struct sl__value_range *ranges; /* by value of the graph */
	uint64_t *bins;                 /* [n_values][N_BINS] */
	size_t n_done, n_iterations;
};

/* The bins in the codes of a range: what falls outside is moved to its ends,
 * what is inside is rounded. */
static double
squared_error(struct sl__value_range seen, const uint64_t *bins, size_t n,
	      struct sl__value_range range)
{
	double width = (seen.high - seen.low) / (double)n, sum = 0;
	double step = (range.high - range.low) / 255;

	for (size_t i = 0; i < n; i++) {
		double x = seen.low + ((double)i + 0.5) * width;
		double code = nearbyint((x - range.low) / step);
		double y = range.low + fmin(255, fmax(0, code)) * step;

		sum += (double)bins[i] * (x - y) * (x - y);
	}
	return sum;
}

static struct sl__value_range
least_squares(struct sl__value_range seen, const uint64_t *bins, size_t n)
{
	struct sl__value_range best = seen;
	double least = squared_error(seen, bins, n, seen);

	for (int i = 1; i < CLIPS; i++) {
		double share = 1 - (double)i / CLIPS;
		struct sl__value_range try = {seen.low * share,
					      seen.high * share};
		double error = squared_error(seen, bins, n, try);

		if (error < least) {
			least = error;
			best = try;
		}
	}
	return best;
}

/* As many of the outermost numbers as are one in 10,000 are left out, from
 * whichever end the next bin has fewer. */
static struct sl__value_range
percentile(struct sl__value_range seen, const uint64_t *bins, size_t n)
{
	double width = (seen.high - seen.low) / (double)n;
	uint64_t total = 0, left;
	size_t first = 0, end = n;

	for (size_t i = 0; i < n; i++)
		total += bins[i];
	left = total / 10000;
	while (first + 1 < end) {
		size_t at = bins[first] <= bins[end - 1] ? first : end - 1;

		if (bins[at] > left)
			break;
		left -= bins[at];
		if (at == first)
			first++;
		else
			end--;
	}
	return (struct sl__value_range){
		fmin(0, seen.low + (double)first * width),
		fmax(0, seen.low + (double)end * width)};
}

struct sl__value_range
sl__calibration_choose(enum sl_calibration rule, struct sl__value_range seen,
		       const uint64_t *bins, size_t n)
{
	if (!(seen.high > seen.low))
		return seen;
	if (rule == SL_CALIBRATION_PERCENTILE)
		return percentile(seen, bins, n);
	return rule == SL_CALIBRATION_MSE ? least_squares(seen, bins, n) : seen;
}

/* A copy of the model that gives the wanted values. */
static enum sl_status
extend_graph(struct measuring *m, struct sl_error *err)
{
	const struct sl_graph *from = m->what->graph;
	uint32_t *outputs =
		sl__arena_array(&m->scratch, from->n_values, sizeof(*outputs));
	enum sl_status rc;

	m->names =
		sl__arena_array(&m->scratch, from->n_values, sizeof(*m->names));
	m->values = outputs;
	if (!outputs || !m->names)
		return sl__fail_nomem(err);
	rc = sl__graph_new(&m->graph, m->what->how->allocator, err);
	if (!rc)
		rc = sl__graph_copy(m->graph, from, err);
	for (uint32_t v = 0; !rc && v < from->n_values; v++) {
		const char *name =
			sl__arena_format(&m->graph->arena, "value %u", v);

		if (!m->what->is_wanted[v])
			continue;
		if (!name)
			return sl__fail_nomem(err);
		if (m->graph->values[v].kind == SL_VALUE_INPUT)
			name = m->graph->values[v].name;
		m->graph->values[v].name = name;
		m->names[m->n_values] = name;
		outputs[m->n_values++] = v;
	}
	if (!rc)
		rc = sl__graph_set_outputs(m->graph, 0, outputs, m->n_values,
					   err);
	return rc ? rc : sl__graph_freeze(m->graph, err);
}

/* How many samples there are, and how they become inputs. */
static enum sl_status
choose_samples(struct measuring *m, struct sl_error *err)
{
	const struct sl_variant_options *how = m->what->how;
	size_t n = how->n_samples;

	if (!how->data && n > SYNTHETIC_MOST)
		n = SYNTHETIC_MOST;
	if (how->data) {
		m->inputs.data = sl_dataset_source(how->data);
		if (n > m->inputs.data->n_samples[SL_SPLIT_TRAIN])
			n = m->inputs.data->n_samples[SL_SPLIT_TRAIN];
	}
	m->inputs.n_samples = n;
	m->inputs.seed = how->seed;
	if (n < SL__CALIBRATION_SAMPLES_LEAST)
		return sl__fail(err, SL_E_DATA,
				"%zu sample%s cannot calibrate: at least %d "
				"are needed",
				n, n == 1 ? "" : "s",
				SL__CALIBRATION_SAMPLES_LEAST);
	return sl__sample_inputs_init(&m->inputs, m->graph, BATCH_MOST,
				      &m->scratch, err);
}

static enum sl_status
make_plan(struct measuring *m, struct sl_error *err)
{
	struct sl_plan_options plan = *m->what->plan;
	struct sl_sizes sizes;

	sl__sample_inputs_size(&m->inputs, &plan, &sizes);
	plan.dtype = SL_DTYPE_F32;
	plan.algorithms = SL_ALGORITHMS_FIXED;
	plan.interrupt = m->what->how->interrupt;
	plan.allocator = m->what->how->allocator;
	return sl_plan_new(&m->plan, m->graph, &plan, err);
}

static enum sl_status
widen_range(struct measuring *m, size_t k, const struct sl_array *a,
	    struct sl_error *err)
{
	struct sl__value_range *r = &m->ranges[m->values[k]];
	const float *x = a->data;
	float low = (float)r->low, high = (float)r->high;

	for (uint64_t i = 0; i < a->n_elements; i++) {
		low = x[i] < low ? x[i] : low;
		high = x[i] > high ? x[i] : high;
		if (!(x[i] - x[i] >= 0)) /* NaN or infinite */
			return sl__fail(
				err, SL_E_DATA,
				"'%.100s' is not finite on a "
				"calibration sample",
				m->what->graph->values[m->values[k]].name);
	}
	*r = (struct sl__value_range){(double)low, (double)high};
	return SL_OK;
}

static void
count_bins(struct measuring *m, size_t k, const struct sl_array *a)
{
	const struct sl__value_range *r = &m->ranges[m->values[k]];
	uint64_t *bins = m->bins + k * N_BINS;
	const float *x = a->data;
	float low = (float)r->low;
	float factor = (float)(N_BINS / (r->high - r->low));

	for (uint64_t i = 0; r->high > r->low && i < a->n_elements; i++) {
		float at = (x[i] - low) * factor;

		bins[at >= N_BINS - 1 ? N_BINS - 1 : at > 0 ? (int)at : 0]++;
	}
}

static enum sl_status
look_at_values(struct measuring *m, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t k = 0; !rc && k < m->n_values; k++) {
		struct sl_array array;

		rc = sl_plan_output(m->plan, m->names[k], &array, err);
		if (!rc && m->bins)
			count_bins(m, k, &array);
		else if (!rc)
			rc = widen_range(m, k, &array, err);
	}
	return rc;
}

static void
tell_progress(struct measuring *m)
{
	const struct sl_variant_options *how = m->what->how;
	struct sl_progress now = {.what = "calibrating",
				  .n_done = m->n_done,
				  .median_ns = (double)NAN};

	now.share = (double)m->n_done / (double)m->n_iterations;
	if (how->progress)
		how->progress(&now, how->progress_ctx);
}

/* One iteration over all samples. */
static enum sl_status
run_samples(struct measuring *m, struct sl_error *err)
{
	enum sl_status rc = SL_OK;

	for (size_t i = 0; !rc && i < m->inputs.n_sets; i++) {
		rc = sl__sample_inputs_set(&m->inputs, m->plan, i, err);
		if (!rc)
			rc = sl_plan_run(m->plan, err);
		if (!rc)
			rc = look_at_values(m, err);
		m->n_done++;
		tell_progress(m);
	}
	return rc;
}

static enum sl_status
measure(struct measuring *m, struct sl_error *err)
{
	enum sl_calibration rule = m->what->how->calibration;
	enum sl_status rc = extend_graph(m, err);

	if (!rc)
		rc = choose_samples(m, err);
	m->n_iterations =
		m->inputs.n_sets * (rule == SL_CALIBRATION_MIN_MAX ? 1 : 2);
	if (!rc)
		rc = make_plan(m, err);
	if (!rc)
		rc = run_samples(m, err);
	if (rc || rule == SL_CALIBRATION_MIN_MAX)
		return rc;
	m->bins = sl__arena_array(&m->scratch, m->n_values * N_BINS,
				  sizeof(*m->bins));
	if (!m->bins)
		return sl__fail_nomem(err);
	rc = run_samples(m, err);
	for (size_t k = 0; !rc && k < m->n_values; k++) {
		struct sl__value_range *r = &m->ranges[m->values[k]];

		*r = sl__calibration_choose(rule, *r, m->bins + k * N_BINS,
					    N_BINS);
	}
	return rc;
}

enum sl_status
sl__activation_ranges_measure(struct sl__value_range *ranges, size_t *n_samples,
			      const struct sl__activation_ranges_options *what,
			      struct sl_error *err)
{
	struct measuring m = {.what = what, .ranges = ranges};
	enum sl_status rc;

	sl__arena_init(&m.scratch, what->how->allocator);
	rc = measure(&m, err);
	*n_samples = m.inputs.n_samples;
	sl_plan_free(m.plan);
	sl_graph_free(m.graph);
	sl__arena_release(&m.scratch);
	return rc;
}
