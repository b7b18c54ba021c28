/* SPDX-License-Identifier: Apache-2.0 */
/* advice_rules.h - the rules that advice is made by. */
#ifndef SL_ADVICE_RULES_H
#define SL_ADVICE_RULES_H

#include "analysis/advice.h"

enum { SL__PROPOSALS_MOST = 16 };

struct sl__adviser {
	const struct sl_profile *profile;
	size_t n_cpus; /* that the process may use */
	struct sl_advice proposals[SL__PROPOSALS_MOST];
	size_t n;
	double pass_ns; /* of a bare pass, the median */
	double scale;   /* of operations' medians, to make up that pass */
};

/* Whether shapes are the user's to the last number, so that no trial can ask
 * for other sizes. */
int sl__has_fixed_shapes(const struct sl_request *request);

/* Adds a proposal whose gain is between 1 and 'most', what it is of and what
 * would test it; one that is too small, or not bounded, is dropped. */
void sl__propose(struct sl__adviser *a, const struct sl_advice *advice);

/* What an operation takes of a bare pass, by the median of its calls. */
double sl__advice_now_ns(const struct sl__adviser *a,
			 const struct sl_operation *op);

typedef int sl__chooses(const struct sl_operation *op);

/*
 * The most that could be had if the chosen operations took no time, by
 * ablations as far as there are some of them, by their shares else.
 * INFINITY: all of it.
 */
double sl__advice_limit(const struct sl__adviser *a, sl__chooses *is_chosen);

/* Whether a text is one of a list that ends with NULL. */
int sl__is_among(const char *text, const char *const *list);

/* Bounded by what the machine does: threads, batch, types, a cache of keys
 * and values (advice_machine.c). */
void sl__advise_threads(struct sl__adviser *a);
void sl__advise_batch(struct sl__adviser *a);
void sl__advise_types(struct sl__adviser *a);
void sl__advise_cache(struct sl__adviser *a);

#endif
