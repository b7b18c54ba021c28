/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match.c - several candidates against the first, round by round.
 *
 * What functions and commands have in common once their times are known:
 * which rounds count, when the question is settled, and what is said then.
 */
#include "stats/match.h"
#include "base/status.h"
#include "stats/sign_test.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

enum sl_status
sl__match_defaults(double *margin, double *alpha, struct sl_error *err)
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
sl__match_init(struct sl__match *match, size_t n, double margin, double alpha,
	       struct sl__rng *coin, struct sl__arena *arena)
{
	memset(match, 0, sizeof(*match));
	match->n = n;
	match->opponents = sl__arena_array(arena, n, sizeof(*match->opponents));
	if (!match->opponents)
		return SL_E_NOMEM;
	if (n > 2)
		alpha /= (double)(n - 1);
	for (size_t i = 1; i < n; i++) {
		struct sl__opponent *o = &match->opponents[i];

		sl__duel_init(&o->wall, NULL, 0, margin, alpha, coin);
		sl__duel_init(&o->cpu, NULL, 0, margin, alpha, coin);
		o->decided_s = (double)NAN;
	}
	return SL_OK;
}

static int
grow(struct sl__duel *duel, size_t cap, struct sl__arena *arena)
{
	double *larger = sl__arena_array(arena, cap, sizeof(*larger));

	if (!larger)
		return 0;
	if (duel->n)
		memcpy(larger, duel->log_ratios, duel->n * sizeof(*larger));
	duel->log_ratios = larger;
	duel->cap = cap;
	return 1;
}

enum sl_status
sl__match_reserve(struct sl__match *match, size_t cap, struct sl__arena *arena)
{
	match->scratch = sl__arena_array(arena, cap, sizeof(double));
	if (!match->scratch)
		return SL_E_NOMEM;
	for (size_t i = 1; i < match->n; i++) {
		struct sl__opponent *o = &match->opponents[i];

		if (!grow(&o->wall, cap, arena) || !grow(&o->cpu, cap, arena))
			return SL_E_NOMEM;
	}
	match->cap_rounds = cap;
	return SL_OK;
}

void
sl__match_add(struct sl__match *match, const struct sl__round *round)
{
	match->n_taken++;
	match->n_disturbed += round->is_disturbed != 0;
	match->n_left_out += round->is_left_out != 0;
	if (round->is_left_out)
		return;
	for (size_t i = 1; i < match->n; i++) {
		struct sl__opponent *o = &match->opponents[i];

		sl__duel_add(&o->wall, round->wall[0], round->wall[i]);
		sl__duel_add(&o->cpu, round->cpu[0], round->cpu[i]);
		if (o->wall.verdict && isnan(o->decided_s))
			o->decided_s = round->now_s;
	}
}

int
sl__match_is_decided(const struct sl__match *match)
{
	for (size_t i = 1; i < match->n; i++) {
		if (!match->opponents[i].wall.verdict)
			return 0;
	}
	return 1;
}

int
sl__match_is_settled(const struct sl__match *match, size_t min_rounds)
{
	if (!sl__match_is_decided(match))
		return 0;
	for (size_t i = 1; i < match->n; i++) {
		const struct sl__duel *duel = &match->opponents[i].wall;
		struct sl_estimate ratio;

		if (duel->n >= min_rounds)
			continue;
		ratio = sl__duel_ratio(duel, match->scratch);
		if (ratio.needs_n ||
		    ratio.hi - ratio.lo > duel->margin * ratio.value)
			return 0;
	}
	return 1;
}

void
sl__match_conclude(const struct sl__match *match, size_t which,
		   struct sl_comparison *out)
{
	const struct sl__opponent *o = &match->opponents[which];
	const struct sl__duel *duel = &o->wall;

	out->ratio = sl__duel_ratio(duel, match->scratch);
	out->speedup = 1 / out->ratio.value;
	out->cpu_ratio = sl__duel_ratio(&o->cpu, match->scratch);
	out->verdict = duel->verdict;
	out->gate = duel->gate;
	out->margin = duel->margin;
	out->n_rounds = duel->n;
	out->n_disturbed = match->n_disturbed;
	out->n_left_out = match->n_left_out;
	out->log_e = sl__sign_log_e(duel->n, duel->n_above_zero);
	out->minimum_detectable =
		sl__duel_minimum_detectable(duel, match->scratch);
	out->decided_after_s = o->decided_s;
}
