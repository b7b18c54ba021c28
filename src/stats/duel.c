/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duel.c - A against B, one round at a time.
 *
 * Only counts of rounds above zero and above the two margins enter the
 * e-processes, so that a round costs the same at the start and after a
 * hundred thousand others.  The log-ratios are kept for the interval.
 * Assumed: the order of A and B in a round was decided by a fair coin, and
 * rounds were left out, if at all, by a rule that cannot tell A from B.
 */
#include "stats/duel.h"
#include "stats/quantile.h"
#include "stats/sign_test.h"
#include "stats/summary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

void
sl__duel_init(struct sl__duel *duel, double *storage, size_t cap, double margin,
	      double alpha, struct sl__rng *coin)
{
	assert(alpha > 0 && alpha < 1);
	*duel = (struct sl__duel){.log_ratios = storage,
				  .cap = cap,
				  .margin = fmax(margin, 0),
				  .alpha = alpha,
				  .coin = coin};
}

/* 1 when 'value' lies above 'bound'; a tie is decided by the coin. */
static size_t
is_above(double value, double bound, struct sl__rng *coin)
{
	if (value > bound)
		return 1;
	if (value < bound)
		return 0;
	return (size_t)sl__rng_coin(coin);
}

/* Whether the one-sided e-process reaches 'e' with these wins. */
static int
reaches(size_t n, size_t wins, double e)
{
	double bound = log(e);

	/* With no majority E <= 1, and it is never above 2 times the
	 * two-sided one: this saves the incomplete beta in most rounds. */
	if (2 * wins <= n || sl__sign_log_e(n, wins) + log(2) < bound)
		return 0;
	return sl__sign_log_e_above(n, wins) >= bound;
}

static void
decide(struct sl__duel *duel, enum sl_verdict verdict)
{
	if (duel->verdict)
		return;
	duel->verdict = verdict;
	duel->decided_at = duel->n;
}

static void
pass_gate(struct sl__duel *duel, enum sl_gate gate)
{
	if (!duel->gate)
		duel->gate = gate;
}

static void
judge_any_difference(struct sl__duel *duel)
{
	size_t n = duel->n, wins = duel->n_above_zero;

	if (sl__sign_log_e(n, wins) < -log(duel->alpha))
		return;
	if (2 * wins > n) {
		decide(duel, SL_VERDICT_SLOWER);
		pass_gate(duel, SL_GATE_REGRESSED);
	} else {
		decide(duel, SL_VERDICT_FASTER);
		pass_gate(duel, SL_GATE_OK);
	}
}

static void
judge_against_margin(struct sl__duel *duel)
{
	size_t n = duel->n;
	double either = 2 / duel->alpha, one = 1 / duel->alpha;

	/* "Slower" and "ok" deny each other: the first proof stands. */
	if (duel->gate != SL_GATE_OK && reaches(n, duel->n_above_hi, either)) {
		decide(duel, SL_VERDICT_SLOWER);
		pass_gate(duel, SL_GATE_REGRESSED);
	}
	if (reaches(n, n - duel->n_above_lo, either))
		decide(duel, SL_VERDICT_FASTER);
	if (reaches(n, n - duel->n_above_hi, one)) {
		duel->below_hi_proved = 1;
		pass_gate(duel, SL_GATE_OK);
	}
	if (reaches(n, duel->n_above_lo, one))
		duel->above_lo_proved = 1;
	if (duel->below_hi_proved && duel->above_lo_proved)
		decide(duel, SL_VERDICT_SAME);
}

void
sl__duel_add(struct sl__duel *duel, double a, double b)
{
	double bound = log1p(duel->margin);
	double d;

	assert(a > 0 && b > 0);
	if (duel->n >= duel->cap)
		return;
	d = log(b / a);
	duel->log_ratios[duel->n++] = d;
	duel->n_above_zero += is_above(d, 0, duel->coin);
	duel->n_above_hi += is_above(d, bound, duel->coin);
	duel->n_above_lo += is_above(d, -bound, duel->coin);
	if (duel->margin > 0)
		judge_against_margin(duel);
	else
		judge_any_difference(duel);
}

/* The fewest rounds with a bounded interval: all of them won. */
static size_t
rounds_for_interval(double alpha)
{
	size_t n = 1;

	while (!sl__sign_interval_rank(n, alpha))
		n++;
	return n;
}

struct sl_estimate
sl__duel_ratio(const struct sl__duel *duel, double *scratch)
{
	size_t n = duel->n, rank = sl__sign_interval_rank(n, duel->alpha);
	struct sl_estimate ratio = {.value = (double)NAN,
				    .lo = (double)NAN,
				    .hi = (double)NAN,
				    .n = n,
				    .method = SL_METHOD_SIGN};

	if (n > 0) {
		memcpy(scratch, duel->log_ratios, n * sizeof(*scratch));
		sl__sort(scratch, n);
		ratio.value = exp(sl__median_sorted(scratch, n));
	}
	if (rank) {
		ratio.lo = exp(scratch[rank - 1]);
		ratio.hi = exp(scratch[n - rank]);
	} else {
		ratio.needs_n = rounds_for_interval(duel->alpha);
	}
	return ratio;
}

/*
 * A shift d makes a win of each round with D - median > -d.  The coin makes
 * D symmetric around its median, so that this is one half plus half the share
 * of |D - median| < d: the quantile of |D - median| gives d for a win rate.
 * The win rate is that of W >= wins needed with 80 % probability.
 */
double
sl__duel_minimum_detectable(const struct sl__duel *duel, double *scratch)
{
	const double z_power = 0.8416212335729143; /* normal quantile of 0.8 */
	size_t n = duel->n, needed = sl__sign_wins_needed(n, duel->alpha);
	double share, win_rate, middle;

	if (needed >= n)
		return (double)NAN;
	share = (double)needed / (double)n;
	win_rate = share + z_power * sqrt(share * (1 - share) / (double)n);
	if (win_rate >= 1)
		return (double)NAN;
	memcpy(scratch, duel->log_ratios, n * sizeof(*scratch));
	middle = sl__median_in_place(scratch, n);
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(scratch[i] - middle);
	sl__sort(scratch, n);
	return (1 + duel->margin) *
		       exp(sl__quantile_sorted(scratch, n, 2 * win_rate - 1)) -
	       1;
}

const char *
sl_verdict_text(enum sl_verdict verdict)
{
	static const char *const texts[] = {"undecided", "faster", "slower",
					    "same"};

	return (unsigned)verdict <= SL_VERDICT_SAME ? texts[verdict]
						    : "undecided";
}
