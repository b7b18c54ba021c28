/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bottleneck_score.c - what each candidate predicts, against what was seen.
 *
 * The ranges below are the whole theory.  They are wide where real kernels
 * differ (arithmetic that is not multiply-adds stays far below the ceiling),
 * narrow where physics leaves no choice (nothing moves bytes faster than the
 * memory they come from).
 */
#include "analysis/bottleneck.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* The most that one experiment costs a candidate: odds of 55 to 1. */
static const double MOST = 4;
/* A low rate alone speaks little against compute where experiments show that
 * it does not matter where data lies: odds of 4.5 to 1. */
static const double LOW_RATE_MOST = 1.5;
/* What would come from farther off than it need. */
static const double FARTHER = 1.5;
/* Where even the best candidate costs more, none explains what was seen. */
static const double UNEXPLAINED = 6;
/* What odds a candidate starts with, as a logarithm: others have 0. */
static const double IMBALANCE_PRIOR = -0.7;

struct range {
	double lo, hi;
};

/* A case with what follows from it. */
struct view {
	const struct sl__bottleneck_evidence *c;
	double t_ns;       /* in place */
	double disturbed;  /* what it took beyond its least, less a tenth */
	double compute_ns; /* at the ceilings; NaN: not known */
	double memory_ns[SL__N_MEMORIES]; /* likewise, all bytes from there */
	double share_bytes;               /* of a thread */
	enum sl__memory_kind home;        /* the nearest that holds it all */
};

/* The logarithm of how far x lies outside, in deviations. */
static double
cost(double x, struct range r, double deviation)
{
	double z = 0;

	if (!isfinite(x) && !(x > 0))
		return 0;
	if (x < r.lo)
		z = log(r.lo / fmax(x, 1e-12)) / deviation;
	else if (x > r.hi)
		z = log(x / r.hi) / deviation;
	return -fmin(z * z / 2, MOST);
}

static double
deviation_of(const struct sl__bottleneck_evidence *c, double model, int a,
	     int b)
{
	double sa = c->spread[a], sb = c->spread[b];
	double sum = model * model;

	/* From quartile to median are 0.67 deviations of a normal sample. */
	sum += isnan(sa) ? 0 : 2.2 * sa * sa;
	sum += isnan(sb) ? 0 : 2.2 * sb * sb;
	return sqrt(sum);
}

static int
fits(const struct view *v, enum sl__memory_kind kind)
{
	return v->share_bytes <= 1.1 * v->c->size_bytes[kind];
}

/* Whether any experiment with where data lies was made. */
static int
is_tried(const struct sl__bottleneck_evidence *c)
{
	return !isnan(c->at_ns[SL_CONDITION_WARM]) ||
	       !isnan(c->at_ns[SL_CONDITION_COLD]) ||
	       !isnan(c->at_ns[SL_CONDITION_HOGGED]);
}

static double
score_arithmetic(const struct view *v, enum sl_bound b)
{
	double r = v->t_ns / v->compute_ns;

	if (isnan(v->compute_ns))
		return 0;
	if (b == SL_BOUND_COMPUTE)
		return is_tried(v->c)
			       ? fmax(cost(r, (struct range){0, 2.5}, 0.8),
				      -LOW_RATE_MOST)
			       : cost(r, (struct range){0, 1.6}, 0.25);
	/* So near to the ceiling nothing else holds it up. */
	return cost(r, (struct range){1.5, (double)INFINITY}, 0.1);
}

int
sl__bound_memory(enum sl_bound b)
{
	return b == SL_BOUND_L2     ? SL__MEMORY_L2
	       : b == SL_BOUND_L3   ? SL__MEMORY_L3
	       : b == SL_BOUND_DRAM ? SL__MEMORY_DRAM
				    : -1;
}

static double
score_bytes(const struct view *v, enum sl_bound b)
{
	struct range r = {0.85, 1.8};
	int k = sl__bound_memory(b);
	double x;

	/* What moves bytes nearly as fast as their memory waits for it. */
	if (k < 0)
		return cost(
			v->t_ns / v->memory_ns[v->home],
			(struct range){v->home == SL__MEMORY_DRAM ? 2.2 : 1.3,
				       (double)INFINITY},
			0.25);
	if (isnan(v->memory_ns[k]))
		return -MOST;
	/* What is too large for a cache does not come from there. */
	if (k != SL__MEMORY_DRAM && !fits(v, (enum sl__memory_kind)k))
		return -MOST;
	/* Ceilings are of the best way through a memory: plain stores move
	 * their lines twice.  What no cache holds does come from memory, even
	 * when that has become faster than its ceiling was. */
	if (k == SL__MEMORY_DRAM)
		r = (struct range){v->home == SL__MEMORY_DRAM ? 0 : 0.85, 2.2};
	x = cost(v->t_ns / v->memory_ns[k], r, 0.3);
	/* Caches may be equally fast: the nearest that holds it is likelier. */
	if (k == SL__MEMORY_L3 && fits(v, SL__MEMORY_L2))
		x -= FARTHER;
	/* Nor does a rate alone say that data comes from farther off. */
	if (k > (int)v->home && !is_tried(v->c))
		x -= 2 * FARTHER;
	return fmax(x, -MOST);
}

static double
score_size(const struct view *v, enum sl_bound b)
{
	double r = v->t_ns / v->c->step_ns, work = 0, x;

	if (isnan(v->c->step_ns))
		return b == SL_BOUND_OVERHEAD ? -MOST : 0;
	if (b != SL_BOUND_OVERHEAD)
		return cost(r, (struct range){2.5, (double)INFINITY}, 0.5);
	work = fmax(isnan(v->compute_ns) ? 0 : v->compute_ns,
		    isnan(v->memory_ns[v->home]) ? 0 : v->memory_ns[v->home]);
	x = cost(r, (struct range){0, 3}, 0.4) +
	    cost(work / v->t_ns, (struct range){0, 0.4}, 0.5);
	return fmax(x, -MOST);
}

static struct range
warm_range(const struct view *v, enum sl_bound b)
{
	const double *rate = v->c->bytes_per_s;
	const struct range same = {0.9, 1.12};
	double gain;

	if (b == SL_BOUND_L3 && fits(v, SL__MEMORY_L2)) {
		gain = rate[SL__MEMORY_L2] / rate[SL__MEMORY_L3];
		return (struct range){1.05, fmax(1.3, 1.3 * gain)};
	}
	if (b == SL_BOUND_DRAM && fits(v, SL__MEMORY_L3)) {
		gain = rate[v->home] / rate[SL__MEMORY_DRAM];
		return (struct range){1.25, fmax(1.6, 1.2 * gain)};
	}
	/* What is small warms up its code as well. */
	if (b == SL_BOUND_OVERHEAD)
		return (struct range){0.9, 1.6};
	return same;
}

static double
score_warm(const struct view *v, enum sl_bound b)
{
	const struct sl__bottleneck_evidence *c = v->c;
	double d =
		deviation_of(c, 0.06, SL_CONDITION_IN_PLACE, SL_CONDITION_WARM);

	return cost(v->t_ns / c->at_ns[SL_CONDITION_WARM], warm_range(v, b),
		    hypot(d, 500 / v->t_ns));
}

static double
score_cold(const struct view *v, enum sl_bound b)
{
	const double slack_ns = 20000; /* code and tables are cold too */
	const struct sl__bottleneck_evidence *c = v->c;
	double slack = slack_ns / v->t_ns;
	double fetch = v->memory_ns[SL__MEMORY_DRAM] / v->t_ns;
	double d =
		deviation_of(c, 0.08, SL_CONDITION_IN_PLACE, SL_CONDITION_COLD);
	struct range r = {0.92, 1 + 1.3 * fetch + slack};

	if (isnan(fetch))
		return 0;
	if (b == SL_BOUND_DRAM)
		r = (struct range){0.85, 1.15 + slack};
	else if (sl__bound_memory(b) >= 0)
		r.lo = fmax(0.92, 0.7 * fetch);
	else if (b == SL_BOUND_IMBALANCE)
		r.hi += 1.3 * fetch;
	return cost(c->at_ns[SL_CONDITION_COLD] / v->t_ns, r, d);
}

static double
score_hog(const struct view *v, enum sl_bound b)
{
	const struct sl__bottleneck_evidence *c = v->c;
	const struct sl_hog_effect *hog = &c->hog;
	double d =
		deviation_of(c, 0.06, SL_CONDITION_ALONE, SL_CONDITION_HOGGED);
	double contrast = hog->dram - hog->compute;
	/* It takes the last cache away, too: a little is no proof. */
	struct range r = {0.92 * hog->compute,
			  hog->compute + fmax(0.2 * contrast, 0.1)};

	/* A hog that hardly hurts a pure stream says nothing. */
	if (!(contrast >= 0.15))
		return 0;
	if (b == SL_BOUND_DRAM)
		r = (struct range){hog->compute + 0.35 * contrast,
				   1.3 * hog->dram};
	else if (b == SL_BOUND_L3)
		r = (struct range){fmin(hog->compute, hog->l3),
				   1.2 * fmax(hog->dram, hog->l3)};
	else if (b == SL_BOUND_L2)
		r = (struct range){0.92 * fmin(hog->l2, hog->compute),
				   1.1 * fmax(hog->l2, hog->compute)};
	return cost(c->at_ns[SL_CONDITION_HOGGED] /
			    c->at_ns[SL_CONDITION_ALONE],
		    r, d);
}

static double
score_threads(const struct view *v, enum sl_bound b)
{
	static const struct range shares[SL_N_BOUNDS] = {
		[SL_BOUND_COMPUTE] = {0.9, 1.1},
		[SL_BOUND_L2] = {0.85, 1.25},
		[SL_BOUND_L3] = {0.6, 1.15},
		[SL_BOUND_DRAM] = {0, 1.15},
		[SL_BOUND_OVERHEAD] = {0, 0.8},
		[SL_BOUND_IMBALANCE] = {0, 0.82},
	};
	const struct sl__bottleneck_evidence *c = v->c;
	double d = deviation_of(c, 0.05, SL_CONDITION_ALONE,
				SL_CONDITION_IN_PLACE);

	if (c->n_threads < 2 || !c->is_same_alone)
		return 0;
	return cost(c->at_ns[SL_CONDITION_ALONE] / v->t_ns / c->n_threads,
		    shares[b], hypot(d, v->disturbed));
}

/* How much more there is to do at twice the batch; both 1 where that is not
 * known, or where the step is none of samples. */
static void
growth(const struct sl__bottleneck_evidence *c, double *flops, double *bytes)
{
	*flops = c->doubled_flops / c->flops;
	*bytes = c->doubled_bytes / c->n_bytes;
	/* What counts no operations does its instructions by the byte. */
	if (!(c->flops > 0))
		*flops = *bytes;
	if (!isfinite(*flops) || !isfinite(*bytes))
		*flops = *bytes = 1;
}

/*
 * Weights count once however large the batch is: what waits for them takes
 * hardly longer for more samples (some, for there is more to do meanwhile),
 * what computes takes as much longer as there is to compute, what only starts
 * takes no longer either.  More samples are easier
 * to divide among threads.  What comes from another memory than before says
 * nothing about this one.
 */
static double
score_batch(const struct view *v, enum sl_bound b)
{
	const struct sl__bottleneck_evidence *c = v->c;
	double d = deviation_of(c, 0.06, SL_CONDITION_IN_PLACE,
				SL_CONDITION_DOUBLED);
	double share_bytes = c->doubled_bytes / fmax(c->n_threads, 1);
	double flops, bytes;
	int k = sl__bound_memory(b);
	struct range r;

	growth(c, &flops, &bytes);
	if (fmax(flops, bytes) < 1.5)
		return 0;
	if (b == SL_BOUND_COMPUTE)
		r = (struct range){0.85 * flops, 1.1 * flops};
	else if (b == SL_BOUND_OVERHEAD)
		r = (struct range){0.85, 1.4};
	else if (b == SL_BOUND_IMBALANCE)
		r = (struct range){0.45 * flops, 1.1 * flops};
	else
		r = (struct range){0.85 * bytes,
				   1.2 * bytes + 0.3 * fmax(flops - bytes, 0)};
	if (k >= 0 && k != SL__MEMORY_DRAM &&
	    share_bytes > 1.1 * c->size_bytes[k])
		return 0;
	return cost(c->at_ns[SL_CONDITION_DOUBLED] / v->t_ns, r,
		    hypot(d, v->disturbed));
}

/*
 * Work of others on the same CPUs looks like threads that wait.  It shows in
 * what the system counts, and in times that are never as short as they have
 * been, warm or not.
 */
static double
disturbance(const struct sl__bottleneck_evidence *c, double t_ns)
{
	double excess = fmin(t_ns, c->at_ns[SL_CONDITION_WARM]) / c->least_ns;
	double others = c->n_threads * c->others_share;

	return fmax(fmax(excess - 1.1, 0), others > 0 ? others : 0);
}

static void
look(struct view *v, const struct sl__bottleneck_evidence *c)
{
	double in_place = c->at_ns[SL_CONDITION_IN_PLACE];

	v->c = c;
	v->t_ns = isnan(in_place) ? c->time_ns : in_place;
	v->disturbed = disturbance(c, v->t_ns);
	v->compute_ns = c->flops / c->flops_per_s * 1e9;
	v->share_bytes = c->n_bytes / fmax(c->n_threads, 1);
	v->home = SL__MEMORY_DRAM;
	for (int k = SL__MEMORY_DRAM; k >= 0; k--) {
		v->memory_ns[k] = c->n_bytes / c->bytes_per_s[k] * 1e9;
		if (fits(v, (enum sl__memory_kind)k) && !isnan(v->memory_ns[k]))
			v->home = (enum sl__memory_kind)k;
	}
}

static int
is_candidate(const struct sl__bottleneck_evidence *c, enum sl_bound b)
{
	if (b == SL_BOUND_UNKNOWN || b == SL_BOUND_REFERENCE)
		return 0;
	return b != SL_BOUND_IMBALANCE ||
	       (c->n_threads >= 2 && c->is_same_alone);
}

static void
score_candidate(const struct view *v, enum sl_bound b, double *costs)
{
	costs[SL__EXPERIMENT_ARITHMETIC] = score_arithmetic(v, b);
	costs[SL__EXPERIMENT_BYTES] = score_bytes(v, b);
	costs[SL__EXPERIMENT_SIZE] = score_size(v, b);
	costs[SL__EXPERIMENT_WARM] = score_warm(v, b);
	costs[SL__EXPERIMENT_COLD] = score_cold(v, b);
	costs[SL__EXPERIMENT_HOG] = score_hog(v, b);
	costs[SL__EXPERIMENT_THREADS] = score_threads(v, b);
	costs[SL__EXPERIMENT_BATCH] = score_batch(v, b);
}

/* A reference path that takes long is its own reason; one that is over at
 * once is too small, like any other. */
static int
is_plain(struct sl__bound_scores *out, const struct view *v)
{
	int is_small = v->t_ns <= 3 * v->c->step_ns;

	if (!v->c->is_reference)
		return 0;
	out->bound = is_small ? SL_BOUND_OVERHEAD : SL_BOUND_REFERENCE;
	out->probability[out->bound] = 1;
	return 1;
}

void
sl__bound_candidates_score(struct sl__bound_scores *out,
			   const struct sl__bottleneck_evidence *c)
{
	double total[SL_N_BOUNDS] = {0}, sum = 0;
	struct view v;

	memset(out, 0, sizeof(*out));
	look(&v, c);
	if (is_plain(out, &v) || !(v.t_ns > 0) || isnan(c->flops_per_s) ||
	    isnan(c->bytes_per_s[SL__MEMORY_DRAM]))
		return;
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		if (!is_candidate(c, (enum sl_bound)b))
			continue;
		score_candidate(&v, (enum sl_bound)b, out->costs[b]);
		for (int k = 0; k < SL__N_EXPERIMENTS; k++)
			total[b] += out->costs[b][k];
		if (b == SL_BOUND_IMBALANCE)
			total[b] += IMBALANCE_PRIOR;
		sum += exp(total[b]);
	}
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		if (is_candidate(c, (enum sl_bound)b))
			out->probability[b] = exp(total[b]) / sum;
		if (out->probability[b] >= SL__PROBABILITY_LEAST &&
		    total[b] >= -UNEXPLAINED)
			out->bound = (enum sl_bound)b;
	}
}
