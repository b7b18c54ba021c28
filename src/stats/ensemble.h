/* SPDX-License-Identifier: Apache-2.0 */
/* ensemble.h - A against B, seen in several ways at once. */
#ifndef SL_ENSEMBLE_H
#define SL_ENSEMBLE_H

#include "stats/anytime_t.h"
#include "stats/paired_test.h"

enum { SL__ENSEMBLE_MOST = 4 };

struct sl__ensemble_options {
	size_t n_members;     /* at most SL__ENSEMBLE_MOST */
	unsigned is_silent;   /* bit i: member i has nothing to say */
	double margin, alpha; /* as of struct sl__paired_test */
	struct sl__rng *coin; /* decides ties; the caller's */
	int is_placed;        /* verdicts need placements, see below */
};

/*
 * Several series of log-ratios over the same rounds; member 0 is the total.
 *
 * Each member has its e-processes, all of them under one coin.  Their average
 * is an e-process too, whatever their dependence.  "Slower" when the average of
 * the one-sided e-processes of D > ln(1 + m) reaches 2 / alpha, "faster" when
 * that of D < -ln(1 + m) does, and if the majority of the total's rounds lies
 * on that side.  "Same", and the gate's "ok", are the total's own, at
 * 1 / alpha; a proof of the total takes back a verdict that rests on others
 * and says the contrary.
 *
 * Rounds say whether one thing that lies somewhere in memory differs from
 * another; where they happen to lie moves both by some percent for as long as
 * they lie there.  What they are is said by placements, of which each is one
 * figure, the median of its rounds: where they are needed, the average of the
 * members' anytime-valid t-tests over placements has to reach the same bounds.
 * A difference is taken back when the evidence of rounds or placements falls
 * below even.  All that only makes verdicts rarer, so that the error rates of
 * the averages hold.
 *
 * Invariants: which members are silent, and whether placements are needed, is
 * decided before the first round, or for a reason that has nothing to do with
 * times.
 */
struct sl__ensemble {
	struct sl__paired_test members[SL__ENSEMBLE_MOST];
	struct sl__anytime_t placements[SL__ENSEMBLE_MOST];
	struct sl__ensemble_options how;
	enum sl_verdict verdict;
	enum sl_gate gate;
	size_t decided_at; /* the total's rounds when the verdict fell; 0 */
	size_t decided_by; /* the member with the largest e-value then */
};

/* 'storage' is the caller's: cap doubles for each member. */
void sl__ensemble_init(struct sl__ensemble *ensemble,
		       const struct sl__ensemble_options *options,
		       double *storage, size_t cap);

/*
 * Adds a round: ln(B / A) of each member, NaN where it has nothing to say this
 * time (never the total).  Whether it does must not depend on who is A.
 * Allocates nothing.
 */
void sl__ensemble_add(struct sl__ensemble *ensemble, const double *log_ratios);

/* Adds a placement: medians over its rounds of ln(B / A), NaN where a member
 * had nothing to say. */
void sl__ensemble_add_placement(struct sl__ensemble *ensemble,
				const double *log_ratios);

/* What a member says by itself, of rounds and of placements where these are
 * needed. */
enum sl_verdict sl__ensemble_member_verdict(const struct sl__ensemble *ensemble,
					    size_t member);

/*
 * tB / tA of a member as sl__paired_test_ratio() has it, the interval widened
 * to hold that of the placements where these are needed; where they are too few
 * for one, needs_n says how many rounds may do.  'scratch' as there.
 */
struct sl_estimate sl__ensemble_ratio(const struct sl__ensemble *ensemble,
				      size_t member, double *scratch);

/* ln of the average of the two-sided e-values against "no change". */
double sl__ensemble_log_e(const struct sl__ensemble *ensemble);

/* The same of one member. */
double sl__ensemble_member_log_e(const struct sl__ensemble *ensemble,
				 size_t member);

/*
 * One of many series, of which e-BH picks those that differ: counts only.
 */
struct sl__sign_count {
	size_t n, n_above_hi, n_above_lo; /* D > ln(1 + m), D > -ln(1 + m) */
};
void sl__sign_count_add(struct sl__sign_count *count, double log_ratio,
			double margin, struct sl__rng *coin);

/* ln of an e-value against |D| <= ln(1 + m): the average of both sides'. */
double sl__sign_count_log_e(const struct sl__sign_count *count);

#endif
