/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paired_test.c - A against B, one round at a time.
 *
 * Only counts of rounds above zero and above the two margins enter the
 * e-processes, so that a round costs the same at the start and after a
 * hundred thousand others.  The log-ratios are kept for the interval.
 * Assumed: the order of A and B in a round was decided by a fair coin, and
 * rounds were left out, if at all, by a rule that cannot tell A from B.
 */
#include "stats/paired_test.h"
#include "stats/quantile.h"
#include "stats/sign_test.h"
#include "stats/summary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

void
sl__paired_test_init(struct sl__paired_test *test, double *storage, size_t cap,
		     double margin, double alpha, struct sl__rng *coin)
{
	assert(alpha > 0 && alpha < 1);
	*test = (struct sl__paired_test){.log_ratios = storage,
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
decide(struct sl__paired_test *test, enum sl_verdict verdict)
{
	if (test->verdict)
		return;
	test->verdict = verdict;
	test->decided_at = test->n;
}

static void
pass_gate(struct sl__paired_test *test, enum sl_gate gate)
{
	if (!test->gate)
		test->gate = gate;
}

static void
judge_any_difference(struct sl__paired_test *test)
{
	size_t n = test->n, wins = test->n_above_zero;

	if (sl__sign_log_e(n, wins) < -log(test->alpha))
		return;
	if (2 * wins > n) {
		decide(test, SL_VERDICT_SLOWER);
		pass_gate(test, SL_GATE_REGRESSED);
	} else {
		decide(test, SL_VERDICT_FASTER);
		pass_gate(test, SL_GATE_OK);
	}
}

static void
judge_against_margin(struct sl__paired_test *test)
{
	size_t n = test->n;
	double either = 2 / test->alpha, one = 1 / test->alpha;

	/* "Slower" and "ok" deny each other: the first proof stands. */
	if (test->gate != SL_GATE_OK && reaches(n, test->n_above_hi, either)) {
		decide(test, SL_VERDICT_SLOWER);
		pass_gate(test, SL_GATE_REGRESSED);
	}
	if (reaches(n, n - test->n_above_lo, either))
		decide(test, SL_VERDICT_FASTER);
	if (reaches(n, n - test->n_above_hi, one)) {
		test->below_hi_proved = 1;
		pass_gate(test, SL_GATE_OK);
	}
	if (reaches(n, test->n_above_lo, one))
		test->above_lo_proved = 1;
	if (test->below_hi_proved && test->above_lo_proved)
		decide(test, SL_VERDICT_SAME);
}

void
sl__paired_test_add(struct sl__paired_test *test, double a, double b)
{
	double bound = log1p(test->margin);
	double d;

	assert(a > 0 && b > 0);
	if (test->n >= test->cap)
		return;
	d = log(b / a);
	test->log_ratios[test->n++] = d;
	test->n_above_zero += is_above(d, 0, test->coin);
	test->n_above_hi += is_above(d, bound, test->coin);
	test->n_above_lo += is_above(d, -bound, test->coin);
	if (test->margin > 0)
		judge_against_margin(test);
	else
		judge_any_difference(test);
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
sl__paired_test_ratio(const struct sl__paired_test *test, double *scratch)
{
	size_t n = test->n, rank = sl__sign_interval_rank(n, test->alpha);
	struct sl_estimate ratio = {.value = (double)NAN,
				    .lo = (double)NAN,
				    .hi = (double)NAN,
				    .n = n,
				    .method = SL_METHOD_SIGN};

	if (n > 0) {
		memcpy(scratch, test->log_ratios, n * sizeof(*scratch));
		sl__sort(scratch, n);
		ratio.value = exp(sl__median_sorted(scratch, n));
	}
	if (rank) {
		ratio.lo = exp(scratch[rank - 1]);
		ratio.hi = exp(scratch[n - rank]);
	} else {
		ratio.needs_n = rounds_for_interval(test->alpha);
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
sl__paired_test_minimum_detectable(const struct sl__paired_test *test,
				   double *scratch)
{
	const double z_power = 0.8416212335729143; /* normal quantile of 0.8 */
	size_t n = test->n, needed = sl__sign_wins_needed(n, test->alpha);
	double share, win_rate, middle;

	if (needed >= n)
		return (double)NAN;
	share = (double)needed / (double)n;
	win_rate = share + z_power * sqrt(share * (1 - share) / (double)n);
	if (win_rate >= 1)
		return (double)NAN;
	memcpy(scratch, test->log_ratios, n * sizeof(*scratch));
	middle = sl__median_in_place(scratch, n);
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(scratch[i] - middle);
	sl__sort(scratch, n);
	return (1 + test->margin) *
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
