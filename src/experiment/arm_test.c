/* SPDX-License-Identifier: Apache-2.0 */
/* arm_test.c - one arm against the first: what rounds say of it and its layers. */
#include "experiment/arm_test.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

static void
sum_pairs(double *ns, const double *step_ns, size_t n_steps,
	  const size_t *pair_of, size_t n_pairs)
{
	memset(ns, 0, n_pairs * sizeof(*ns));
	for (size_t s = 0; s < n_steps; s++)
		ns[pair_of[s]] += step_ns[s];
}

void
sl__arm_test_time_pairs(struct sl__arm_test *c,
			const struct sl__iteration_times *a,
			const struct sl__iteration_times *b)
{
	const struct sl__step_pairing *p = &c->pairing;

	sum_pairs(c->a_ns, a->step_ns, p->n_steps_a, p->of_a, p->n);
	sum_pairs(c->b_ns, b->step_ns, p->n_steps_b, p->of_b, p->n);
}

/* Whether ln(B / A) of a pair has something to say. */
static int
is_judged(const struct sl__arm_test *c, size_t pair)
{
	return c->is_tested[pair] && c->a_ns[pair] > 0 && c->b_ns[pair] > 0;
}

void
sl__arm_test_count_layers(struct sl__arm_test *c,
			  const struct sl__iteration_times *a,
			  const struct sl__iteration_times *b,
			  double per_sample, double margin,
			  struct sl__rng *coin)
{
	sl__arm_test_time_pairs(c, a, b);
	for (size_t i = 0; i < c->pairing.n; i++) {
		double log_ratio;

		if (!is_judged(c, i))
			continue;
		log_ratio = log(c->b_ns[i] / c->a_ns[i]) + per_sample;
		sl__sign_count_add(&c->counts[i], log_ratio, margin, coin);
		sl__sign_count_add(&c->here[i], log_ratio, margin, coin);
	}
}

void
sl__arm_test_compare(struct sl__arm_test *c,
		     const struct sl__iteration_times *a,
		     const struct sl__iteration_times *b, double per_sample,
		     double *log_ratios)
{
	size_t n = 0;

	sl__arm_test_time_pairs(c, a, b);
	for (size_t i = 0; i < c->pairing.n; i++) {
		if (is_judged(c, i))
			c->logs[n++] = log(c->b_ns[i] / c->a_ns[i]);
	}
	log_ratios[SL_COMPARISON_BASIS_WALL] =
		log(b->wall_ns / a->wall_ns) + per_sample;
	log_ratios[SL_COMPARISON_BASIS_CPU] =
		log(b->cpu_ns / a->cpu_ns) + per_sample;
	log_ratios[SL_COMPARISON_BASIS_LAYERS] =
		n ? sl__median_select(c->logs, n) + per_sample : (double)NAN;
}

void
sl__arm_test_close_placement(struct sl__arm_test *c)
{
	for (size_t i = 0; i < c->pairing.n; i++) {
		struct sl__sign_count *here = &c->here[i];

		c->n_slower[i] += 2 * here->n_above_hi > here->n;
		c->n_faster[i] += 2 * here->n_above_lo < here->n;
		*here = (struct sl__sign_count){0};
	}
}

int
sl__differs_in_most_placements(const struct sl__arm_test *c, size_t pair,
			       size_t n_placements)
{
	size_t slower = c->n_slower[pair], faster = c->n_faster[pair];

	return !(slower && faster) && 4 * (slower + faster) >= 3 * n_placements;
}
