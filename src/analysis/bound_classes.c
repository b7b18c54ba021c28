/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_classes.c - how an operation's responses resemble those of a bound.
 *
 * A response is the logarithm of a ratio, as the bound under test sees it:
 * bytes against the roof of that memory, a second run against what a nearer
 * cache would gain, twice the batch against what then has to be moved or
 * computed.  In these units every pure kernel of a bound answers alike on any
 * machine, near IDEAL.  Known kernels of this very machine move the location
 * of a class and say how far kernels of one bound lie apart; correlations are
 * shrunk to none, since a handful of kernels cannot tell them.
 */
#include "analysis/bound_classes.h"
#include "base/status.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { N = SL__N_EXPERIMENTS };

/* Of Student's t; outliers of a shared machine are heavier than normal. */
static const double FREEDOM = 4;
/* How many kernels the ideal and the spread below stand for. */
static const double PRIOR_KERNELS = 1, SPREAD_KERNELS = 2;
/* The variance of a uniform distribution is the square of its width / this. */
static const double UNIFORM = 12;
/* How likely none of these is before anything is known, a bound being 1. */
static const double NONE = 0.2;
/* What a reading of the clock may be off by. */
static const double CLOCK_NS = 20;
/* What costs a candidate more than that tells no more: odds of 55 to 1. */
static const double MOST = 4;
/* Empty steps, of which an operation that long is not one. */
static const double SEVERAL = 5;
/* Threads that are busy for more of the time than this wait for none. */
static const double BALANCED = 0.9;
/* Where operands would fit nearer, they rather are there: odds of 4.5 to 1. */
static const double FARTHER = 1.5;
/* Memories whose rates differ by less cannot be told apart by them. */
static const double AS_FAST = 0.25;
/* What no cache explains moves no faster than its memory by more than this:
 * ceilings of a shared machine vary by a third. */
static const double ABOVE_ROOF = 0.3;

/* Where a response can lie, beyond which it says no more, and how far kernels
 * of one bound lie apart. */
static const struct {
	double lo, hi, spread;
} RANGE[N] = {
	[SL__EXPERIMENT_ARITHMETIC] = {-2, 0.3, 0.25},
	[SL__EXPERIMENT_BYTES] = {-3, 2, 0.35},
	[SL__EXPERIMENT_SIZE] = {-0.5, 3, 0.4},
	[SL__EXPERIMENT_WARM] = {-0.5, 1, 0.08},
	[SL__EXPERIMENT_COLD] = {-0.5, 2, 0.15},
	[SL__EXPERIMENT_HOG] = {-1, 2, 0.35},
	[SL__EXPERIMENT_THREADS] = {-1, 0.5, 0.12},
	[SL__EXPERIMENT_BATCH] = {-0.5, 1.5, 0.2},
};

/*
 * What a pure kernel answers.  It reaches 70 to 90 % of its own roof, moves
 * with data where it lies beyond or nowhere else, scales with threads unless
 * they share what it waits for, and is much longer than an empty step.
 */
static const double IDEAL[SL_N_BOUNDS][N] = {
	/*                    arith bytes size warm cold  hog threads batch */
	[SL_BOUND_COMPUTE] = {-0.3, -2.5, 3, 0, 0, 0, 0, 0},
	[SL_BOUND_INSTRUCTIONS] = {-1.6, -2.5, 3, 0, 0, 0, 0, 0},
	[SL_BOUND_LATENCY] = {-2, -2.5, 0, 0, 0, 0, -0.7, 0.1},
	[SL_BOUND_LAYOUT] = {-2, -1.4, 3, 0, 0, 0.5, -0.1, 0},
	[SL_BOUND_L2] = {-2, -0.1, 3, 0, -0.2, 0, 0, 0},
	[SL_BOUND_L3] = {-2, -0.1, 3, 0, -0.2, 0.2, -0.1, 0},
	[SL_BOUND_DRAM] = {-2, -0.2, 3, 0, 0, 1, -0.3, 0},
	[SL_BOUND_OVERHEAD] = {-2, -2.5, -0.3, 0, 1.5, 0, -0.6, 0},
	[SL_BOUND_IMBALANCE] = {-2, -1.2, 3, 0, 0.2, 0, -0.5, 0.3},
};

/* A case with what follows from it. */
struct view {
	const struct sl__step_evidence *c;
	double t_ns;      /* in place */
	double disturbed; /* what it took beyond its least, less a tenth */
	double unsteady;  /* variance that impossible answers give away */
	double memory_ns[SL__N_MEMORIES]; /* all bytes from there */
	enum sl__memory_kind home;        /* the nearest that holds it all */
};

/* Responses as a bound sees them, NaN where there is none, and the variance
 * that their noise adds. */
struct responses {
	double x[N], noise[N];
};

int
sl__bound_memory(enum sl_bound b)
{
	return b == SL_BOUND_L2     ? SL__MEMORY_L2
	       : b == SL_BOUND_L3   ? SL__MEMORY_L3
	       : b == SL_BOUND_DRAM ? SL__MEMORY_DRAM
				    : -1;
}

static double
square(double x)
{
	return x * x;
}

/* Of what was not measured there is none. */
static double
variance_of(double deviation)
{
	return isnan(deviation) ? 0 : square(deviation);
}

/* From quartile to median are 0.67 deviations of a normal sample. */
static double
noise_of(const struct view *v, int a, int b)
{
	const struct sl__step_evidence *c = v->c;
	double sa = c->spread[a], sb = c->spread[b];

	return 2.2 * (variance_of(sa) + variance_of(sb)) +
	       variance_of(CLOCK_NS / c->at_ns[a]) +
	       variance_of(CLOCK_NS / c->at_ns[b]) + v->unsteady;
}

/*
 * Nothing is faster from empty caches, beside a hog or for twice the batch, or
 * slower for having just run.  By as much as it seems to be, times of this
 * operation are off, whatever a few rounds say of their spread.
 */
static double
unsteadiness(const struct sl__step_evidence *c, double t_ns)
{
	const double *at = c->at_ns;
	double most = fmax(0, log(t_ns / at[SL_CONDITION_COLD]));

	most = fmax(most, log(t_ns / at[SL_CONDITION_DOUBLED]));
	most = fmax(most, log(at[SL_CONDITION_WARM] / t_ns));
	most = fmax(most,
		    log(at[SL_CONDITION_ALONE] / at[SL_CONDITION_HOGGED]));
	return square(most);
}

/*
 * Work of others on the same CPUs looks like threads that wait.  It shows in
 * what the system counts, and in times that are never as short as they have
 * been, warm or not.
 */
static double
disturbance(const struct sl__step_evidence *c, double t_ns)
{
	double excess = fmin(t_ns, c->at_ns[SL_CONDITION_WARM]) / c->least_ns;
	double others = c->n_threads * c->others_share;

	return fmax(fmax(excess - 1.1, 0), others > 0 ? others : 0);
}

static void
look(struct view *v, const struct sl__step_evidence *c)
{
	double in_place = c->at_ns[SL_CONDITION_IN_PLACE];
	double share_bytes = c->n_bytes / fmax(c->n_threads, 1);

	v->c = c;
	v->t_ns = isnan(in_place) ? c->time_ns : in_place;
	v->disturbed = disturbance(c, v->t_ns);
	v->unsteady = unsteadiness(c, v->t_ns);
	v->home = SL__MEMORY_DRAM;
	for (int k = SL__MEMORY_DRAM; k >= 0; k--) {
		v->memory_ns[k] = c->n_bytes / c->bytes_per_s[k] * 1e9;
		if (share_bytes <= c->size_bytes[k] && !isnan(v->memory_ns[k]))
			v->home = (enum sl__memory_kind)k;
	}
}

/* Into its range; no response stays none. */
static double
kept(double x, int k)
{
	return isnan(x) ? x : fmin(fmax(x, RANGE[k].lo), RANGE[k].hi);
}

/* A second run gains what a nearer cache that holds all of it is faster. */
static void
respond_warm(struct responses *r, const struct view *v, int memory)
{
	const struct sl__step_evidence *c = v->c;
	const int k = SL__EXPERIMENT_WARM;
	double gain = 0;

	if (memory > (int)v->home)
		gain = fmax(0, log(c->bytes_per_s[v->home] /
				   c->bytes_per_s[memory]));
	r->x[k] = kept(log(v->t_ns / c->at_ns[SL_CONDITION_WARM]), k) -
		  0.7 * gain;
	/* A short step warms up its code as well. */
	r->noise[k] = noise_of(v, SL_CONDITION_IN_PLACE, SL_CONDITION_WARM) +
		      square(500 / v->t_ns) + square(0.3 * gain);
}

/* A flushed one fetches from DRAM what it had nearer. */
static void
respond_cold(struct responses *r, const struct view *v, int memory)
{
	const struct sl__step_evidence *c = v->c;
	const int k = SL__EXPERIMENT_COLD;
	double fetch = v->memory_ns[SL__MEMORY_DRAM] / v->t_ns;
	double shift = 0, open = 0;

	if (memory < 0)
		open = 0.5 * log1p(fetch); /* fetching may overlap */
	else if (memory != SL__MEMORY_DRAM)
		open = 0.3 * (shift = fmax(0, log(fetch)));
	r->x[k] = kept(log(c->at_ns[SL_CONDITION_COLD] / v->t_ns), k) - shift;
	/* Code and tables of 20 us are cold too. */
	r->noise[k] = noise_of(v, SL_CONDITION_IN_PLACE, SL_CONDITION_COLD) +
		      square(open) + square(fmin(20000 / v->t_ns, 2));
}

/* As a share of what a pure stream from DRAM suffers; nothing where the hog
 * hardly hurts even that. */
static void
respond_hog(struct responses *r, const struct view *v)
{
	const struct sl__step_evidence *c = v->c;
	const int k = SL__EXPERIMENT_HOG;
	double contrast = log(c->hog.dram / c->hog.compute);
	double seen = log(c->at_ns[SL_CONDITION_HOGGED] /
			  c->at_ns[SL_CONDITION_ALONE] / c->hog.compute);

	if (!(contrast >= 0.15))
		return;
	r->x[k] = kept(seen / contrast, k);
	r->noise[k] = noise_of(v, SL_CONDITION_ALONE, SL_CONDITION_HOGGED) /
		      square(contrast);
}

/* Whether one thread does it as fast as all. */
static int
is_as_fast_alone(const struct view *v)
{
	const struct sl__step_evidence *c = v->c;

	return c->n_threads >= 2 && c->is_same_alone &&
	       BALANCED * c->at_ns[SL_CONDITION_ALONE] <= v->t_ns;
}

/* How long one thread must be busy before starting the others pays, shares
 * being even: t = t / n + step. */
static double
worth_sharing_ns(const struct sl__step_evidence *c)
{
	return c->step_ns * c->n_threads / (c->n_threads - 1);
}

/*
 * What starting a step takes: an empty one, and what its threads add to the time
 * of one thread that does the same alone.  What one thread does as fast may be
 * as long as starting the others would take: it is too small to be shared.
 */
static double
start_ns(const struct view *v)
{
	const struct sl__step_evidence *c = v->c;
	double added = v->t_ns - c->at_ns[SL_CONDITION_ALONE];
	double start = c->step_ns;

	if (c->n_threads >= 2 && c->is_same_alone && added > 0)
		start += added;
	return is_as_fast_alone(v)
		       ? fmax(start, fmin(v->t_ns, worth_sharing_ns(c)))
		       : start;
}

/* Whether one thread does it as fast, though it is so long that even shares
 * would pay for starting the others. */
static int
leaves_threads_idle(const struct view *v)
{
	return is_as_fast_alone(v) && v->t_ns > worth_sharing_ns(v->c);
}

/* Likewise, and it is not. */
static int
is_too_small_to_share(const struct view *v)
{
	return is_as_fast_alone(v) && v->t_ns <= worth_sharing_ns(v->c);
}

/*
 * Weights count once however large the batch is: what waits for memory takes
 * as much longer as there are more bytes, what computes as there is more to
 * compute, what only starts takes no longer.
 */
static void
respond_batch(struct responses *r, const struct view *v, enum sl_bound b)
{
	const struct sl__step_evidence *c = v->c;
	const int k = SL__EXPERIMENT_BATCH;
	int memory = sl__bound_memory(b);
	double share_bytes = c->doubled_bytes / fmax(c->n_threads, 1);
	double bytes = log(c->doubled_bytes / c->n_bytes);
	double flops = c->flops > 0 ? log(c->doubled_flops / c->flops) : bytes;

	if (!(fmax(flops, bytes) > 0.4)) /* it does not grow */
		return;
	r->x[k] = kept(log(c->at_ns[SL_CONDITION_DOUBLED] / v->t_ns), k);
	r->noise[k] = noise_of(v, SL_CONDITION_IN_PLACE, SL_CONDITION_DOUBLED) +
		      square(v->disturbed);
	if (memory >= 0 || b == SL_BOUND_LAYOUT) {
		/* More to compute meanwhile shows in part. */
		r->x[k] -= bytes;
		r->noise[k] += square(0.3 * (flops - bytes));
		/* Of what comes from elsewhere then it says nothing. */
		if (memory >= 0 && share_bytes > c->size_bytes[memory])
			r->noise[k] += 1;
	} else if (b == SL_BOUND_COMPUTE || b == SL_BOUND_INSTRUCTIONS) {
		r->x[k] -= flops;
	} else if (b != SL_BOUND_OVERHEAD ||
		   c->at_ns[SL_CONDITION_DOUBLED] < 2 * c->step_ns ||
		   is_too_small_to_share(v)) {
		/* Idle threads may take it, twice of what is over before they
		 * wake is too small as well, and one thread that works alone
		 * takes as long as there is work. */
		r->noise[k] += square(flops) / UNIFORM;
		if (b == SL_BOUND_OVERHEAD && is_too_small_to_share(v))
			r->x[k] -= flops / 2;
	}
}

/* Whether any experiment with where data lies was made. */
static int
is_tried(const struct sl__step_evidence *c)
{
	return !isnan(c->at_ns[SL_CONDITION_WARM]) ||
	       !isnan(c->at_ns[SL_CONDITION_COLD]) ||
	       !isnan(c->at_ns[SL_CONDITION_HOGGED]);
}

/*
 * How much longer than its start: of a recurrence, each of its steps.  What
 * takes several times as long as an empty step spends most of it on something
 * else, and how much longer it is says no more, but of what is bound by its
 * start.  Nor is the size of what one thread does by itself any start of others.
 */
static double
size_response(const struct view *v, enum sl_bound b)
{
	const int k = SL__EXPERIMENT_SIZE;
	double x = log(v->t_ns / v->c->step_ns);

	if (b == SL_BOUND_OVERHEAD)
		x = log(v->t_ns / start_ns(v));
	else if (b == SL_BOUND_LATENCY)
		x -= log(v->c->n_dependent);
	else if (b == SL_BOUND_IMBALANCE && leaves_threads_idle(v))
		x = RANGE[k].hi;
	else
		x *= RANGE[k].hi / log(SEVERAL);
	return kept(x, k);
}

/*
 * What is over before an empty step of all threads would be: conditions change
 * it by less than calls, clock and code around it do, so that its answers to
 * them are left out.  It is small, and that is all that is known.
 */
static int
is_over_at_once(const struct view *v)
{
	return v->t_ns <= v->c->step_ns;
}

static void
forget_conditions(struct responses *r)
{
	static const int conditions[] = {
		SL__EXPERIMENT_WARM, SL__EXPERIMENT_COLD, SL__EXPERIMENT_HOG,
		SL__EXPERIMENT_THREADS, SL__EXPERIMENT_BATCH};

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		r->x[conditions[i]] = (double)NAN;
}

/*
 * How evenly threads share what is left when they have started.  Whether they
 * were is not known of a step that one does as fast: then nothing is left out.
 * Who waits for one thread waits for its start as well, and threads that share a
 * memory gain from nothing to all, as far as they reach its roof.
 */
static void
respond_threads(struct responses *r, const struct view *v, enum sl_bound b)
{
	const struct sl__step_evidence *c = v->c;
	const int k = SL__EXPERIMENT_THREADS, memory = sl__bound_memory(b);
	double even = c->at_ns[SL_CONDITION_ALONE] / c->n_threads;
	double start = 0, shared = 0;

	if (!(c->n_threads >= 2) || !c->is_same_alone)
		return;
	if (memory > SL__MEMORY_L2)
		shared = log(c->n_threads) *
			 fmin(v->memory_ns[memory] / v->t_ns, 1);
	else if (b != SL_BOUND_OVERHEAD && b != SL_BOUND_IMBALANCE &&
		 !is_as_fast_alone(v))
		start = -log1p(-fmin(c->step_ns / v->t_ns, 0.5));
	r->x[k] = kept(log(even / v->t_ns) + start, k);
	/* What threads make slower pays for starting them. */
	if (b == SL_BOUND_OVERHEAD)
		r->x[k] = fmax(r->x[k], -log(c->n_threads));
	/* Starting them may overlap with the work of the first. */
	r->noise[k] = noise_of(v, SL_CONDITION_IN_PLACE, SL_CONDITION_ALONE) +
		      square(v->disturbed) +
		      (square(start) + square(shared)) / UNIFORM;
}

static void
respond(struct responses *r, const struct view *v, enum sl_bound b)
{
	const struct sl__step_evidence *c = v->c;
	int memory = sl__bound_memory(b);
	double own = noise_of(v, SL_CONDITION_IN_PLACE, SL_CONDITION_IN_PLACE);
	double compute_ns = c->flops / c->flops_per_s * 1e9;
	/* What moves elements stays below the roof of where they lie. */
	double roof_ns = v->memory_ns[b == SL_BOUND_LAYOUT ? (int)v->home
				      : memory < 0         ? SL__MEMORY_DRAM
							   : memory];

	for (int k = 0; k < N; k++) {
		r->x[k] = (double)NAN;
		r->noise[k] = own / 2 + square(log1p(v->disturbed));
	}
	/* How far below a roof it stays that is not its own says little; nor
	 * does a low rate of a matmul where other experiments were made. */
	if (memory < 0 && b != SL_BOUND_LAYOUT)
		r->noise[SL__EXPERIMENT_BYTES] += b == SL_BOUND_OVERHEAD ? 0.25
									 : 1;
	if (b == SL_BOUND_COMPUTE && is_tried(c) && c->core_flops > 0)
		r->noise[SL__EXPERIMENT_ARITHMETIC] += 1;
	if (b != SL_BOUND_COMPUTE && b != SL_BOUND_INSTRUCTIONS)
		r->noise[SL__EXPERIMENT_ARITHMETIC] += 0.25;
	r->x[SL__EXPERIMENT_ARITHMETIC] =
		kept(log(fmax(compute_ns / v->t_ns, 1e-9)),
		     SL__EXPERIMENT_ARITHMETIC);
	r->x[SL__EXPERIMENT_BYTES] =
		kept(log(fmax(roof_ns / v->t_ns, 1e-9)), SL__EXPERIMENT_BYTES);
	/* How far it stays below says no more than that it does. */
	if (b == SL_BOUND_LAYOUT)
		r->x[SL__EXPERIMENT_BYTES] =
			fmax(r->x[SL__EXPERIMENT_BYTES], -2);
	r->x[SL__EXPERIMENT_SIZE] = size_response(v, b);
	respond_warm(r, v, memory);
	respond_cold(r, v, memory);
	respond_hog(r, v);
	/* What jumps through memory suffers from nothing to twice as much, and
	 * so does the code of many small steps. */
	if (b == SL_BOUND_LAYOUT || b == SL_BOUND_OVERHEAD)
		r->noise[SL__EXPERIMENT_HOG] += square(2) / UNIFORM;
	respond_threads(r, v, b);
	respond_batch(r, v, b);
	if (is_over_at_once(v))
		forget_conditions(r);
}

/* What no measurement could make true. */
static int
is_candidate(const struct view *v, enum sl_bound b)
{
	const struct sl__step_evidence *c = v->c;
	int memory = sl__bound_memory(b);
	double alone = c->at_ns[SL_CONDITION_ALONE] / v->t_ns / c->n_threads;

	if (b == SL_BOUND_UNKNOWN || b == SL_BOUND_REFERENCE)
		return 0;
	if (b == SL_BOUND_IMBALANCE)
		return c->n_threads >= 2 && c->is_same_alone &&
		       !(alone > BALANCED);
	if (b == SL_BOUND_OVERHEAD)
		return !isnan(c->step_ns);
	if (b == SL_BOUND_LAYOUT) /* it only moves */
		return !(c->flops > 0);
	if (b == SL_BOUND_LATENCY)
		return c->n_dependent > 1;
	/* Work that keeps to no ceiling: a low rate alone does not show it,
	 * and what memory gives no faster waits for memory. */
	if (b == SL_BOUND_INSTRUCTIONS)
		return c->flops > 0 && !(c->core_flops > 0) && is_tried(c) &&
		       !(v->home == SL__MEMORY_DRAM &&
			 v->t_ns <= v->memory_ns[SL__MEMORY_DRAM]);
	if (memory < 0)
		return c->flops > 0;
	/* What a farther one gives as fast is not waited for. */
	if (memory > (int)v->home &&
	    log(v->memory_ns[memory] / v->memory_ns[v->home]) < AS_FAST)
		return 0;
	/* What is too fast for it comes from a nearer one that holds it. */
	if (memory > (int)v->home &&
	    log(v->memory_ns[memory] / v->t_ns) > ABOVE_ROOF)
		return 0;
	return memory == SL__MEMORY_DRAM || /* it must hold all of it */
	       (!isnan(v->memory_ns[memory]) &&
		c->n_bytes / fmax(c->n_threads, 1) <= c->size_bytes[memory]);
}

/* The logarithm of Student's density in as many dimensions as were seen. */
static double
log_density(const struct responses *r, const struct sl__bound_class *class,
	    double *costs)
{
	double distance = 0, log_scale = 0, n = 0;

	for (int k = 0; k < N; k++) {
		double variance = class->variance[k] + r->noise[k];
		double z2 = square(r->x[k] - class->location[k]) / variance;

		if (isnan(r->x[k]))
			continue;
		costs[k] = -fmin(z2 / 2, MOST);
		distance += z2;
		log_scale += log(variance) / 2;
		n++;
	}
	return lgamma((FREEDOM + n) / 2) - lgamma(FREEDOM / 2) -
	       n / 2 * log(FREEDOM * acos(-1)) - log_scale -
	       (FREEDOM + n) / 2 * log1p(distance / FREEDOM);
}

/* None of these: anywhere that a response can lie. */
static double
log_none(const struct responses *r)
{
	double sum = 0;

	for (int k = 0; k < N; k++) {
		if (!isnan(r->x[k]))
			sum -= log(RANGE[k].hi - RANGE[k].lo);
	}
	return sum;
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

/* Arithmetic and other instructions shade into each other: where it is one of
 * them for sure, it is the likelier. */
static void
decide_computing(struct sl__bound_scores *out)
{
	double compute = out->probability[SL_BOUND_COMPUTE];
	double others = out->probability[SL_BOUND_INSTRUCTIONS];

	if (!out->bound && compute + others >= SL__PROBABILITY_LEAST)
		out->bound = compute > others ? SL_BOUND_COMPUTE
					      : SL_BOUND_INSTRUCTIONS;
}

void
sl__bound_classes_score(struct sl__bound_scores *out,
			const struct sl__step_evidence *c,
			const struct sl__bound_classes *classes)
{
	double logs[SL_N_BOUNDS], most, sum = 0;
	struct responses r;
	struct view v;

	memset(out, 0, sizeof(*out));
	look(&v, c);
	if (is_plain(out, &v) || !(v.t_ns > 0) || isnan(c->flops_per_s) ||
	    isnan(c->bytes_per_s[SL__MEMORY_DRAM]))
		return;
	respond(&r, &v, SL_BOUND_COMPUTE);
	logs[SL_BOUND_UNKNOWN] = most = log_none(&r) + log(NONE);
	for (int b = 1; b < SL_N_BOUNDS; b++) {
		logs[b] = -(double)INFINITY;
		if (!is_candidate(&v, (enum sl_bound)b))
			continue;
		respond(&r, &v, (enum sl_bound)b);
		logs[b] = log_density(&r, &classes->at[b], out->costs[b]);
		if (sl__bound_memory((enum sl_bound)b) > (int)v.home)
			logs[b] -= FARTHER;
		most = fmax(most, logs[b]);
	}
	for (int b = 0; b < SL_N_BOUNDS; b++)
		sum += exp(logs[b] - most);
	for (int b = 0; b < SL_N_BOUNDS; b++) {
		out->probability[b] = exp(logs[b] - most) / sum;
		if (b && out->probability[b] >= SL__PROBABILITY_LEAST)
			out->bound = (enum sl_bound)b;
	}
	decide_computing(out);
}

/* The k-th responses of one kernel, as its own bound sees them; how many. */
static size_t
gather(double *x, const struct sl__calibration *all, size_t kernel, int k)
{
	size_t n_seen = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct sl__known_step *known = &all->steps[i];
		struct responses r;
		struct view v;

		if (known->kernel != kernel)
			continue;
		look(&v, &known->evidence);
		respond(&r, &v, known->bound);
		if (!isnan(r.x[k]))
			x[n_seen++] = r.x[k];
	}
	return n_seen;
}

/* Medians of kernels, and the deviations of all responses from theirs. */
struct column {
	double *medians; /* by kernel; NaN: none */
	double *deviations, *scratch;
	size_t n_deviations;
};

static void
fill_column(struct column *to, const struct sl__calibration *all, int k)
{
	to->n_deviations = 0;
	for (size_t kernel = 0; kernel < all->n; kernel++) {
		size_t n_seen = gather(to->scratch, all, kernel, k);
		double median = (double)NAN;

		if (n_seen)
			median = sl__median_in_place(to->scratch, n_seen);
		for (size_t i = 0; n_seen >= 3 && i < n_seen; i++)
			to->deviations[to->n_deviations++] =
				fabs(to->scratch[i] - median);
		to->medians[kernel] = median;
	}
}

/*
 * Location: the mean over kernels, the ideal among them.  Variance: between
 * kernels, shrunk to the spread of RANGE, and within them, by the median
 * absolute deviation of all kernels together (without any, the spread again).
 */
static void
fit_response(struct sl__bound_classes *out, struct column *column,
	     const struct sl__calibration *all, int k)
{
	double within = RANGE[k].spread;

	fill_column(column, all, k);
	if (column->n_deviations)
		within = 1.4826 * sl__median_in_place(column->deviations,
						      column->n_deviations);
	for (int b = 1; b < SL_N_BOUNDS; b++) {
		struct sl__bound_class *class = &out->at[b];
		double sum = PRIOR_KERNELS * IDEAL[b][k];
		double n_kernels = PRIOR_KERNELS, squares;

		for (size_t pass = 0; pass < 2; pass++) {
			squares = square(IDEAL[b][k] - class->location[k]);
			for (size_t i = 0; i < all->n; i++) {
				const struct sl__known_step *known =
					&all->steps[i];
				double x = column->medians[known->kernel];

				/* Once for each kernel. */
				if ((int)known->bound != b || isnan(x) ||
				    known->is_repeat)
					continue;
				squares += square(x - class->location[k]);
				sum += pass ? 0 : x;
				n_kernels += !pass;
			}
			class->location[k] = sum / n_kernels;
		}
		class->variance[k] =
			(squares + SPREAD_KERNELS * square(RANGE[k].spread)) /
				(n_kernels - 1 + SPREAD_KERNELS) +
			square(within);
	}
}

enum sl_status
sl__bound_classes_fit(struct sl__bound_classes *out,
		      const struct sl__calibration *known,
		      struct sl__arena *arena, struct sl_error *err)
{
	size_t n = known->n;
	struct column column = {
		.medians = sl__arena_array(arena, n + 1, sizeof(double)),
		.deviations = sl__arena_array(arena, n + 1, sizeof(double)),
		.scratch = sl__arena_array(arena, n + 1, sizeof(double))};

	memset(out, 0, sizeof(*out));
	if (!column.medians || !column.deviations || !column.scratch)
		return sl__fail_nomem(err);
	for (int k = 0; k < N; k++)
		fit_response(out, &column, known, k);
	return SL_OK;
}
