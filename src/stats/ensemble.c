/* SPDX-License-Identifier: Apache-2.0 */
/* ensemble.c - A against B, seen in several ways at once. */
#include "stats/ensemble.h"
#include "stats/sign_test.h"

#include <assert.h>
#include <math.h>

#include "base/banned.h"

void
sl__ensemble_init(struct sl__ensemble *e,
		  const struct sl__ensemble_options *options, double *storage,
		  size_t cap)
{
	assert(options->n_members >= 1 &&
	       options->n_members <= SL__ENSEMBLE_MOST);
	assert(!(options->is_silent & 1u));
	*e = (struct sl__ensemble){.how = *options};
	for (size_t i = 0; i < options->n_members; i++)
		sl__paired_test_init(&e->members[i], storage + i * cap, cap,
				     options->margin, options->alpha,
				     options->coin);
}

static int
speaks(const struct sl__ensemble *e, size_t member)
{
	return !(e->how.is_silent >> member & 1u);
}

/* Rounds of a member on the far side of a margin. */
static size_t
wins_of(const struct sl__paired_test *test, int is_above)
{
	return is_above ? test->n_above_hi : test->n - test->n_above_lo;
}

/* ln of the average over members of the t-tests over placements: of a mean
 * above the upper margin, or below the lower one. */
static double
placed_log_e(const struct sl__ensemble *e, int is_above)
{
	double bound = log1p(e->members[0].margin), log_e[SL__ENSEMBLE_MOST];
	size_t n = 0;

	for (size_t i = 0; i < e->how.n_members; i++) {
		if (speaks(e, i))
			log_e[n++] = sl__anytime_t_log_e(
				&e->placements[i], is_above ? bound : -bound,
				is_above);
	}
	return sl__e_values_log_mean(log_e, n);
}

/* Likewise of rounds. */
static double
rounds_log_e(const struct sl__ensemble *e, int is_above)
{
	double log_e[SL__ENSEMBLE_MOST];
	size_t n = 0;

	for (size_t i = 0; i < e->how.n_members; i++) {
		const struct sl__paired_test *test = &e->members[i];

		if (speaks(e, i))
			log_e[n++] = sl__sign_log_e_above(
				test->n, wins_of(test, is_above));
	}
	return sl__e_values_log_mean(log_e, n);
}

/* Whether placements, where they are needed, prove a member to lie on this
 * side of a margin. */
static int
is_placed_on(const struct sl__ensemble *e, size_t member, double margin,
	     int is_above, double bound)
{
	return !e->how.is_placed ||
	       sl__anytime_t_log_e(&e->placements[member],
				   margin > 0 ? log1p(margin) : -log1p(-margin),
				   is_above) >= log(bound);
}

/*
 * Whether the average of the one-sided e-processes reaches 'e'; then *largest
 * is the member that says most.
 */
static int
reaches(const struct sl__ensemble *e, int is_above, double bound,
	size_t *largest)
{
	double most = -(double)INFINITY, limit = 0;

	/* No e-process is above twice the two-sided one, and without a
	 * majority it is below 1: this saves the incomplete beta in most
	 * rounds. */
	for (size_t i = 0; i < e->how.n_members; i++) {
		const struct sl__paired_test *test = &e->members[i];
		size_t wins = wins_of(test, is_above);

		if (speaks(e, i) && 2 * wins > test->n)
			limit = fmax(limit,
				     sl__sign_log_e(test->n, wins) + log(2));
	}
	if (limit < log(bound))
		return 0;
	for (size_t i = 0; i < e->how.n_members; i++) {
		const struct sl__paired_test *test = &e->members[i];
		double log_e =
			sl__sign_log_e_above(test->n, wins_of(test, is_above));

		if (!speaks(e, i) || log_e <= most)
			continue;
		most = log_e;
		*largest = i;
	}
	return rounds_log_e(e, is_above) >= log(bound);
}

/* Whether the total by itself has proved the contrary of a verdict. */
static int
is_denied(const struct sl__paired_test *total, enum sl_verdict verdict)
{
	if (verdict == SL_VERDICT_SLOWER)
		return total->below_hi_proved ||
		       total->verdict == SL_VERDICT_FASTER;
	return total->above_lo_proved || total->verdict == SL_VERDICT_SLOWER;
}

/* Whether most rounds of the total lie on that side. */
static int
leans(const struct sl__paired_test *total, enum sl_verdict verdict)
{
	size_t above = total->n_above_zero;

	return verdict == SL_VERDICT_SLOWER ? 2 * above > total->n
					    : 2 * above < total->n;
}

static void
decide(struct sl__ensemble *e, enum sl_verdict verdict, size_t by)
{
	e->verdict = verdict;
	e->decided_at = e->members[0].n;
	e->decided_by = by;
}

static void
judge_difference(struct sl__ensemble *e, enum sl_verdict verdict)
{
	const struct sl__paired_test *total = &e->members[0];
	size_t by = 0;

	if (e->verdict || is_denied(total, verdict) || !leans(total, verdict) ||
	    !reaches(e, verdict == SL_VERDICT_SLOWER, 2 / e->how.alpha, &by))
		return;
	if (e->how.is_placed && placed_log_e(e, verdict == SL_VERDICT_SLOWER) <
					log(2 / e->how.alpha))
		return;
	decide(e, verdict, by);
}

/* Whether what has proved a difference now speaks against it. */
static int
is_withdrawn(const struct sl__ensemble *e)
{
	int is_above = e->verdict == SL_VERDICT_SLOWER;

	if (e->decided_by && is_denied(&e->members[0], e->verdict))
		return 1;
	return rounds_log_e(e, is_above) < 0 ||
	       (e->how.is_placed && placed_log_e(e, is_above) < 0);
}

static void
judge(struct sl__ensemble *e)
{
	const struct sl__paired_test *total = &e->members[0];
	double one = 1 / e->how.alpha;
	int is_below_hi = is_placed_on(e, 0, total->margin, 0, one);
	int is_open = e->verdict != SL_VERDICT_SLOWER &&
		      e->verdict != SL_VERDICT_FASTER;

	if (!is_open && is_withdrawn(e)) {
		e->verdict = SL_VERDICT_UNDECIDED;
		e->gate = SL_GATE_UNDECIDED;
		e->decided_at = e->decided_by = 0;
	}
	judge_difference(e, SL_VERDICT_SLOWER);
	judge_difference(e, SL_VERDICT_FASTER);
	if (!e->verdict && total->below_hi_proved && total->above_lo_proved &&
	    is_below_hi && is_placed_on(e, 0, -total->margin, 1, one))
		decide(e, SL_VERDICT_SAME, 0);
	if (!e->gate && e->verdict == SL_VERDICT_SLOWER)
		e->gate = SL_GATE_REGRESSED;
	else if (!e->gate && total->gate == SL_GATE_OK && is_below_hi)
		e->gate = SL_GATE_OK;
}

void
sl__ensemble_add(struct sl__ensemble *e, const double *log_ratios)
{
	assert(!isnan(log_ratios[0]));
	for (size_t i = 0; i < e->how.n_members; i++) {
		if (!isnan(log_ratios[i]))
			sl__paired_test_add(&e->members[i], 1,
					    exp(log_ratios[i]));
	}
	judge(e);
}

void
sl__ensemble_add_placement(struct sl__ensemble *e, const double *log_ratios)
{
	for (size_t i = 0; i < e->how.n_members; i++) {
		if (!isnan(log_ratios[i]))
			sl__anytime_t_add(&e->placements[i], log_ratios[i]);
	}
	judge(e);
}

enum sl_verdict
sl__ensemble_member_verdict(const struct sl__ensemble *e, size_t i)
{
	const struct sl__paired_test *test = &e->members[i];
	double margin = test->margin, one = 1 / e->how.alpha;
	int is_proved = 1;

	if (test->verdict == SL_VERDICT_SLOWER)
		is_proved = is_placed_on(e, i, margin, 1, 2 * one);
	else if (test->verdict == SL_VERDICT_FASTER)
		is_proved = is_placed_on(e, i, -margin, 0, 2 * one);
	else if (test->verdict == SL_VERDICT_SAME)
		is_proved = is_placed_on(e, i, margin, 0, one) &&
			    is_placed_on(e, i, -margin, 1, one);
	return is_proved ? test->verdict : SL_VERDICT_UNDECIDED;
}

struct sl_estimate
sl__ensemble_ratio(const struct sl__ensemble *e, size_t i, double *scratch)
{
	const struct sl__anytime_t *t = &e->placements[i];
	struct sl_estimate ratio =
		sl__paired_test_ratio(&e->members[i], scratch);
	double half = sl__anytime_t_half_width(t, e->how.alpha);
	size_t n = e->members[i].n;

	if (!e->how.is_placed || !n)
		return ratio;
	if (isfinite(half)) {
		ratio.lo = fmin(ratio.lo, exp(t->mean - half));
		ratio.hi = fmax(ratio.hi, exp(t->mean + half));
		return ratio;
	}
	/* Four placements of as many rounds as these had. */
	ratio.lo = ratio.hi = (double)NAN;
	ratio.needs_n = t->n ? 4 * ((n + t->n - 1) / t->n) : 4 * n;
	return ratio;
}

double
sl__ensemble_member_log_e(const struct sl__ensemble *e, size_t member)
{
	const struct sl__paired_test *test = &e->members[member];
	const struct sl__anytime_t *t = &e->placements[member];
	double rounds = sl__sign_log_e(test->n, test->n_above_zero);

	return e->how.is_placed
		       ? fmin(rounds, sl__anytime_t_log_e(t, 0, t->mean > 0))
		       : rounds;
}

double
sl__ensemble_log_e(const struct sl__ensemble *e)
{
	double log_e[SL__ENSEMBLE_MOST];
	size_t n = 0;

	for (size_t i = 0; i < e->how.n_members; i++) {
		if (speaks(e, i))
			log_e[n++] = sl__ensemble_member_log_e(e, i);
	}
	return sl__e_values_log_mean(log_e, n);
}

static size_t
is_above(double value, double bound, struct sl__rng *coin)
{
	if (value == bound)
		return (size_t)sl__rng_coin(coin);
	return value > bound;
}

void
sl__sign_count_add(struct sl__sign_count *t, double log_ratio, double margin,
		   struct sl__rng *coin)
{
	double bound = log1p(margin);

	t->n++;
	t->n_above_hi += is_above(log_ratio, bound, coin);
	t->n_above_lo += is_above(log_ratio, -bound, coin);
}

double
sl__sign_count_log_e(const struct sl__sign_count *t)
{
	double both[] = {sl__sign_log_e_above(t->n, t->n_above_hi),
			 sl__sign_log_e_above(t->n, t->n - t->n_above_lo)};

	return sl__e_values_log_mean(both, 2);
}
