/* SPDX-License-Identifier: Apache-2.0 */
/* adviser.h - what rules of advice share; for advice*.c only. */
#ifndef SL_ADVISER_H
#define SL_ADVISER_H

#include "analysis/advice.h"

enum { SL__PROPOSALS_MOST = 16 };

struct sl__adviser {
	const struct sl_profile *profile;
	size_t n_cpus; /* that the process may use */
	int has_fixed_batch;
	struct sl_advice proposals[SL__PROPOSALS_MOST];
	size_t n;
	double iteration_ns; /* of a bare iteration, the median */
	double scale; /* of operations' medians, to make up that iteration */
};

typedef int sl__adviser_choice(const struct sl_operation *op);

/* Adds a proposal whose gain is between 1 and 'most', what it is of and what
 * would test it; one that is too small, or not bounded, is dropped. */
void sl__adviser_propose(struct sl__adviser *a, const struct sl_advice *advice);

/* Whether a text is one of a list that ends with NULL. */
int sl__adviser_is_among(const char *text, const char *const *list);

/* Whether shapes are the user's to the last number, so that no trial can ask
 * for other sizes. */
int sl__adviser_has_fixed_shapes(const struct sl_request *request);

/* What an operation takes of a bare iteration, by the median of its calls. */
double sl__adviser_now_ns(const struct sl__adviser *a,
			  const struct sl_operation *op);

/* The most that could be had if the chosen operations took no time, by
 * ablations as far as there are some of them, by their shares else.
 * INFINITY: all of it. */
double sl__adviser_limit(const struct sl__adviser *a,
			 sl__adviser_choice *is_chosen);

/* Whether it runs on a reference kernel. */
int sl__adviser_is_slow_path(const struct sl_operation *op);

/* The rules of advice_machine.c. */
void sl__advise_threads(struct sl__adviser *a);
void sl__advise_batch(struct sl__adviser *a);
void sl__advise_types(struct sl__adviser *a);
void sl__advise_cache(struct sl__adviser *a);

#endif
