/* SPDX-License-Identifier: Apache-2.0 */
/* generation_narrative.c - a decoding loop in sentences: what a cache does. */
#include "report/generation_narrative.h"
#include "report/phrase.h"
#include "report/unit.h"

#include <math.h>
#include <stdio.h>

#include "base/banned.h"

struct narrator {
	struct sl__narrative *to;
	const struct sl_generation *of;
};

/* " [2.1, 2.4]"; nothing where there is no interval. */
static const char *
bounds_words(struct sl__phrase *w, const struct sl_estimate *e)
{
	w->s[0] = '\0';
	if (!e->needs_n && isfinite(e->lo) && isfinite(e->hi))
		snprintf(w->s, sizeof(w->s), " [%.2f, %.2f]", e->lo, e->hi);
	return w->s;
}

static const char *
way_of(const struct sl_decoding *d)
{
	return d->has_cache ? "With a cache" : "Without a cache";
}

/* How much longer a step takes at the end of the loop than at its start. */
static void
tell_growth(struct narrator *t, const struct sl_decoding *d)
{
	const struct sl_estimate *e = &d->growth_ns;
	double n = (double)(t->of->n_tokens - 1);
	struct sl__phrase at, slope, lo, hi;
	struct sl__text share;

	if (d->growth_absent || e->needs_n || n < 1)
		return;
	if (e->lo <= 0 && e->hi >= 0) {
		sl__narrative_add_sentence(
			t->to,
			"%s, a decode step does not take significantly "
			"longer with more context: %s [%s, %s] per token.",
			way_of(d), sl__phrase_time(&slope, e->value),
			sl__phrase_time(&lo, e->lo),
			sl__phrase_time(&hi, e->hi));
		return;
	}
	sl__narrative_add_sentence(
		t->to,
		"%s, a decode step takes %s %s for each token of context [%s, "
		"%s]: over the loop that is %s of the %s at its middle.",
		way_of(d), sl__phrase_time(&slope, fabs(e->value)),
		e->value > 0 ? "more" : "less", sl__phrase_time(&lo, e->lo),
		sl__phrase_time(&hi, e->hi),
		sl__percent_text(&share, fabs(e->value) * n / d->growth_at_ns),
		sl__phrase_time(&at, d->growth_at_ns));
}

static size_t
n_measured(const struct sl_decoding *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_steps; i++)
		n += d->steps[i].nth > 0 && d->steps[i].n_visits > 0;
	return n;
}

static void
tell_fitted(struct narrator *t)
{
	const struct sl_generation *g = t->of;
	int is_fitted = 0;
	char text[128];
	int n = 0;

	for (size_t i = 0; i < g->n_loops; i++) {
		const struct sl_decoding *d = &g->loops[i];

		is_fitted |= !d->is_complete;
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "%s%zu %s a cache", i ? ", " : "", n_measured(d),
			      d->has_cache ? "with" : "without");
	}
	if (is_fitted)
		sl__narrative_add_sentence(
			t->to,
			"Measured, of %lld tokens: %s. Extrapolated figures "
			"come from a line over the context length through "
			"these.",
			(long long)g->n_tokens, text);
}

/* Whose keys and values a step with a cache computes with. */
static void
tell_states(struct narrator *t)
{
	const struct sl_generation *g = t->of;
	int has_cache = 0;

	for (size_t i = 0; i < g->n_loops; i++)
		has_cache |= g->loops[i].has_cache;
	if (has_cache)
		sl__narrative_add_sentence(
			t->to, "With a cache, keys and values are those that "
			       "the previous step returned where it ran just "
			       "before, and synthetic otherwise; times do not "
			       "depend on them.");
}

static void
tell_repeated(struct narrator *t)
{
	const struct sl_cache_effect *c = &t->of->cache;
	struct sl__phrase a, b;

	if (c->absent || t->of->n_tokens < 2)
		return;
	sl__narrative_add_sentence(
		t->to,
		"Without a cache, %.1f %% of the FLOPs recompute what the "
		"previous decode step had: %s of %s (%s).",
		100 * c->repeated_share,
		sl__phrase_flops(&a, c->repeated_share * c->flops_without),
		sl__phrase_flops(&b, c->flops_without),
		c->is_counted ? "by the counts of both models"
			      : "from how the model's FLOPs grow");
}

static void
tell_most(struct narrator *t)
{
	const struct sl_cache_effect *c = &t->of->cache;
	struct sl__phrase bytes, time;

	if (isnan(c->most))
		return;
	if (c->roofline_absent) {
		sl__narrative_add_sentence(
			t->to,
			"Predicted: with a cache a decode step is at most "
			"%.1f × as fast, by its arithmetic; the memory "
			"bound is not known: %s.",
			c->most, c->roofline_absent);
		return;
	}
	sl__phrase_bytes(&bytes, c->step_bytes);
	sl__phrase_time(&time, c->step_bytes / c->bytes_per_s * 1e9);
	if (c->most >= c->most_arithmetic) {
		sl__narrative_add_sentence(
			t->to,
			"Predicted: with a cache a decode step is at most "
			"%.1f × as fast, by its FLOPs; the %s that it still "
			"reads take at least %s at the measured %.3g GB/s.",
			c->most, bytes.s, time.s, c->bytes_per_s / 1e9);
		return;
	}
	sl__narrative_add_sentence(
		t->to,
		"Predicted: with a cache a decode step is at most %.1f × as "
		"fast, because it still reads %s: at least %s at the %.3g GB/s "
		"measured here. By its FLOPs alone it would be %.1f ×.",
		c->most, bytes.s, time.s, c->bytes_per_s / 1e9,
		c->most_arithmetic);
}

/* Whether an interval shows that a ratio is not 1. */
static int
is_significant(const struct sl_estimate *e)
{
	return !e->needs_n && isfinite(e->lo) && isfinite(e->hi) &&
	       (e->lo > 1 || e->hi < 1);
}

static void
tell_measured(struct narrator *t)
{
	const struct sl_cache_effect *c = &t->of->cache;
	struct sl__phrase a, of;

	if (!c->measured.n)
		return;
	if (isnan(c->most))
		snprintf(of.s, sizeof(of.s), "%s",
			 "with no prediction to compare");
	else if (c->measured.value > c->most)
		snprintf(of.s, sizeof(of.s), "%s", "more than predicted");
	else
		snprintf(of.s, sizeof(of.s), "%.0f %% of the predicted maximum",
			 100 * c->measured.value / c->most);
	sl__narrative_add_sentence(
		t->to, "Measured: a decode step is %.2f%s × as fast%s, %s.",
		c->measured.value, bounds_words(&a, &c->measured),
		is_significant(&c->measured) ? "" : " (not significant)", of.s);
}

/* "5.2 s with a cache (extrapolated), 1.8 s without". */
static const char *
totals_words(struct sl__phrase *w, const struct sl_generation *g)
{
	const struct sl_decoding *without = &g->loops[0], *with = &g->loops[1];
	struct sl__phrase a, b;

	snprintf(w->s, sizeof(w->s), "%.60s with%s, %.60s without%s",
		 sl__phrase_time(&a, with->total_ns.value),
		 with->total_is_fitted ? " (extrapolated)" : "",
		 sl__phrase_time(&b, without->total_ns.value),
		 without->total_is_fitted ? " (extrapolated)" : "");
	return w->s;
}

/* What it comes to, before why. */
static void
tell_total(struct narrator *t)
{
	const struct sl_generation *g = t->of;
	struct sl_estimate e = g->cache.measured_total;
	int is_slower = e.value < 1;
	struct sl__phrase a, totals;

	if (!e.n || g->n_loops < 2)
		return;
	if (is_slower)
		e = (struct sl_estimate){.value = 1 / e.value,
					 .lo = 1 / e.hi,
					 .hi = 1 / e.lo,
					 .needs_n = e.needs_n};
	totals_words(&totals, g);
	if (is_significant(&e))
		sl__narrative_add_sentence(
			t->to,
			"Overall, the loop with a cache %s %.2f%s × as %s: %s.",
			is_slower ? "takes" : "is", e.value,
			bounds_words(&a, &e), is_slower ? "long" : "fast",
			totals.s);
	else
		sl__narrative_add_sentence(
			t->to,
			"Overall, not decided whether a cache pays: %s; the "
			"ratio is %.2f%s.",
			totals.s, e.value,
			*bounds_words(&a, &e) ? a.s : ", without an interval");
}

/* A model that takes one token at a time pays for the prompt. */
static void
tell_prompt(struct narrator *t, const struct sl_decoding *with)
{
	const struct sl_decoding *without = &t->of->loops[0];
	struct sl__phrase a, b;

	if (!with->is_by_token || !with->first_ns.n || t->of->prompt < 2)
		return;
	if (!without->has_cache && without->first_ns.n)
		sl__narrative_add_sentence(
			t->to,
			"%s takes one token at a time, so the first token "
			"waits for %lld steps: %s, where %s computes the "
			"prompt in one step of %s.",
			with->name, (long long)t->of->prompt,
			sl__phrase_time(&a, with->first_ns.value),
			without->name,
			sl__phrase_time(&b, without->first_ns.value));
	else
		sl__narrative_add_sentence(
			t->to,
			"%s takes one token at a time, so the first token "
			"waits for %lld steps: %s.",
			with->name, (long long)t->of->prompt,
			sl__phrase_time(&a, with->first_ns.value));
}

static void
tell_price(struct narrator *t)
{
	const struct sl_reading *r = &t->of->cache.bytes_per_token;
	struct sl__phrase a;

	if (r->absent)
		return;
	sl__narrative_add_sentence(t->to,
				   "The cache takes %s per token and sample.",
				   sl__phrase_bytes(&a, r->value));
}

void
sl__generation_narrate(struct sl__narrative *to,
		       const struct sl_generation *generation)
{
	struct narrator t = {to, generation};

	tell_total(&t);
	for (size_t i = 0; i < generation->n_loops; i++)
		tell_prompt(&t, &generation->loops[i]);
	tell_repeated(&t);
	tell_most(&t);
	tell_measured(&t);
	tell_price(&t);
	for (size_t i = 0; i < generation->n_loops; i++)
		tell_growth(&t, &generation->loops[i]);
	tell_fitted(&t);
	tell_states(&t);
}
