/* SPDX-License-Identifier: Apache-2.0 */
/* ensemble.h - A against B, seen in several ways at once. */
#ifndef SL_ENSEMBLE_H
#define SL_ENSEMBLE_H

#include "duel.h"

enum { SL__ENSEMBLE_MOST = 4 };

struct sl__ensemble_options {
	size_t n_members;     /* at most SL__ENSEMBLE_MOST */
	unsigned is_silent;   /* bit i: member i has nothing to say */
	double margin, alpha; /* as of struct sl__duel */
	struct sl__rng *coin; /* decides ties; the caller's */
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
 * and says the contrary.  All that only makes verdicts rarer, so that the
 * error rates of the averages hold.
 *
 * Invariants: which members are silent is decided before the first round.
 */
struct sl__ensemble {
	struct sl__duel members[SL__ENSEMBLE_MOST];
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
