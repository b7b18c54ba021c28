/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arm_set.c - several candidates against the first, round by round.
 *
 * What functions and commands have in common once their times are known:
 * which rounds count, when the question is settled, and what is said then.
 */
#include "stats/arm_set.h"
#include "base/status.h"
#include "stats/sign_test.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__arm_set_defaults(double *margin, double *alpha, struct sl_error *err)
{
	if (*margin == 0)
		*margin = 0.01;
	if (*margin < 0)
		*margin = 0;
	if (*alpha == 0)
		*alpha = 0.05;
	if (!(*margin < 1))
		return sl__fail(err, SL_E_USAGE,
				"margin of %g: must be below 1", *margin);
	if (!(*alpha > 0 && *alpha < 0.5))
		return sl__fail(err, SL_E_USAGE,
				"alpha of %g: must be between 0 and 0.5",
				*alpha);
	return SL_OK;
}

enum sl_status
sl__arm_set_init(struct sl__arm_set *set, size_t n, double margin, double alpha,
		 struct sl__rng *coin, struct sl__arena *arena)
{
	memset(set, 0, sizeof(*set));
	set->n = n;
	set->arms = sl__arena_array(arena, n, sizeof(*set->arms));
	if (!set->arms)
		return SL_E_NOMEM;
	if (n > 2)
		alpha /= (double)(n - 1);
	for (size_t i = 1; i < n; i++) {
		struct sl__arm_tests *o = &set->arms[i];

		sl__paired_test_init(&o->wall, NULL, 0, margin, alpha, coin);
		sl__paired_test_init(&o->cpu, NULL, 0, margin, alpha, coin);
		o->decided_s = (double)NAN;
	}
	return SL_OK;
}

static int
grow(struct sl__paired_test *test, size_t cap, struct sl__arena *arena)
{
	double *larger = sl__arena_array(arena, cap, sizeof(*larger));

	if (!larger)
		return 0;
	if (test->n)
		memcpy(larger, test->log_ratios, test->n * sizeof(*larger));
	test->log_ratios = larger;
	test->cap = cap;
	return 1;
}

enum sl_status
sl__arm_set_reserve(struct sl__arm_set *set, size_t cap,
		    struct sl__arena *arena)
{
	set->scratch = sl__arena_array(arena, cap, sizeof(double));
	if (!set->scratch)
		return SL_E_NOMEM;
	for (size_t i = 1; i < set->n; i++) {
		struct sl__arm_tests *o = &set->arms[i];

		if (!grow(&o->wall, cap, arena) || !grow(&o->cpu, cap, arena))
			return SL_E_NOMEM;
	}
	set->cap_rounds = cap;
	return SL_OK;
}

void
sl__arm_set_add(struct sl__arm_set *set, const struct sl__round *round)
{
	set->n_taken++;
	set->n_disturbed += round->is_disturbed != 0;
	set->n_left_out += round->is_left_out != 0;
	if (round->is_left_out)
		return;
	for (size_t i = 1; i < set->n; i++) {
		struct sl__arm_tests *o = &set->arms[i];

		sl__paired_test_add(&o->wall, round->wall[0], round->wall[i]);
		sl__paired_test_add(&o->cpu, round->cpu[0], round->cpu[i]);
		if (o->wall.verdict && isnan(o->decided_s))
			o->decided_s = round->now_s;
	}
}

int
sl__arm_set_is_decided(const struct sl__arm_set *set)
{
	for (size_t i = 1; i < set->n; i++) {
		if (!set->arms[i].wall.verdict)
			return 0;
	}
	return 1;
}

int
sl__arm_set_passes(const struct sl__arm_set *set)
{
	for (size_t i = 1; i < set->n; i++) {
		if (set->arms[i].wall.gate != SL_GATE_OK)
			return 0;
	}
	return 1;
}

int
sl__arm_set_is_settled(const struct sl__arm_set *set, size_t min_rounds)
{
	if (!sl__arm_set_is_decided(set))
		return 0;
	for (size_t i = 1; i < set->n; i++) {
		const struct sl__paired_test *test = &set->arms[i].wall;
		struct sl_estimate ratio;

		if (test->n >= min_rounds)
			continue;
		ratio = sl__paired_test_ratio(test, set->scratch);
		if (ratio.needs_n ||
		    ratio.hi - ratio.lo > test->margin * ratio.value)
			return 0;
	}
	return 1;
}

void
sl__arm_set_comparison(const struct sl__arm_set *set, size_t which,
		       struct sl_comparison *out)
{
	const struct sl__arm_tests *o = &set->arms[which];
	const struct sl__paired_test *test = &o->wall;

	out->ratio = sl__paired_test_ratio(test, set->scratch);
	out->speedup = 1 / out->ratio.value;
	out->cpu_ratio = sl__paired_test_ratio(&o->cpu, set->scratch);
	out->verdict = test->verdict;
	out->gate = test->gate;
	out->margin = test->margin;
	out->n_rounds = test->n;
	out->n_disturbed = set->n_disturbed;
	out->n_left_out = set->n_left_out;
	out->log_e = sl__sign_log_e(test->n, test->n_above_zero);
	out->minimum_detectable =
		sl__paired_test_minimum_detectable(test, set->scratch);
	out->decided_after_s = o->decided_s;
}
