/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_narrative.c - a sweep in sentences: what grows how, and where it
 * turns. */
#include "report/sweep_narrative.h"
#include "report/phrase.h"
#include "report/unit.h"
#include "result/sweep_laws.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { ABSENT_SHOWN = 3 };

struct narrator {
	struct sl__narrative *to;
	const struct sl_sweep *sweep;
	const struct sl_sweep_series *series;
	const char *axis;
	/* The points between which all else is said; NULL where nothing was
	 * measured. */
	const struct sl_sweep_point *first, *last;
};

static const char *
rate_words(struct sl__phrase *w, double rate, enum sl_rate_unit unit)
{
	struct sl__text t;

	if (unit == SL_RATE_FLOPS)
		snprintf(w->s, sizeof(w->s), "%.3g GFLOP/s", rate / 1e9);
	else
		snprintf(w->s, sizeof(w->s), "%.40s%.60s",
			 sl__si_prefix_text(&t, rate), sl_rate_unit_text(unit));
	return w->s;
}

/* "batch 16", "1 thread", "4 threads": where a point is. */
static const char *
place_words(struct sl__phrase *w, const struct narrator *t, double value)
{
	if (t->sweep->axis == SL_AXIS_THREADS)
		snprintf(w->s, sizeof(w->s), "%.0f thread%s", value,
			 value > 1 ? "s" : "");
	else
		snprintf(w->s, sizeof(w->s), "%.40s %.0f", t->axis, value);
	return w->s;
}

/* "0.99 [0.97, 1.01]"; 'open' stands for bounds that are not there. */
static const char *
bounded_words(struct sl__phrase *w, const struct sl_estimate *e,
	      const char *open)
{
	if (isfinite(e->lo) && isfinite(e->hi))
		snprintf(w->s, sizeof(w->s), "%.2f [%.2f, %.2f]", e->value,
			 e->lo, e->hi);
	else
		snprintf(w->s, sizeof(w->s), "%.2f%s", e->value, open);
	return w->s;
}

static const char *
exponent_words(struct sl__phrase *w, const struct sl_estimate *e)
{
	return bounded_words(w, e, isnan(e->lo) ? "" : " [bounds beyond +-6]");
}

/* "raises samples/s by 12 % [10, 14]", or "lowers" it. */
static const char *
gain_words(struct sl__phrase *w, const struct sl_estimate *e, const char *unit)
{
	int is_loss = e->value < 0 && !(e->hi > 0);
	const char *verb = is_loss        ? "lowers"
			   : e->value < 0 ? "changes"
					  : "raises";
	double value = 100 * (is_loss ? -e->value : e->value);
	double lo = 100 * (is_loss ? -e->hi : e->lo);
	double hi = 100 * (is_loss ? -e->lo : e->hi);

	if (isfinite(lo) && isfinite(hi))
		snprintf(w->s, sizeof(w->s), "%s %s by %.0f %% [%.0f, %.0f]",
			 verb, unit, value, lo, hi);
	else
		snprintf(w->s, sizeof(w->s), "%s %s by %.0f %%, no interval",
			 verb, unit, value);
	return w->s;
}

/* "1.81 [1.70, 1.92]", of b against a; which one is faster is not asked. */
static const char *
ratio_words(struct sl__phrase *w, const struct sl_estimate *b,
	    const struct sl_estimate *a)
{
	const struct sl_estimate ratio = {.value = b->value / a->value,
					  .lo = b->lo / a->hi,
					  .hi = b->hi / a->lo};

	return bounded_words(w, &ratio, " (no interval)");
}

/* ", in proportion" and the like, of an exponent. */
static const char *
manner_of(const struct sl_estimate *e)
{
	if (e->lo > 0.8 && e->lo <= 1 && e->hi >= 1 && e->hi < 1.2)
		return "linearly, exponent ";
	if (e->hi < 1)
		return "sublinearly, exponent ";
	if (e->lo > 1)
		return "superlinearly, exponent ";
	return "with exponent ";
}

/* Which part of the time the fixed cost is, by the law. */
static double
fixed_share(const struct sl_sweep_exponent *law, double n)
{
	return law->offset /
	       (law->offset + law->scale * pow(n, law->exponent.value));
}

static void
tell_fixed(struct narrator *t, const struct sl_sweep_exponent *law)
{
	double first = (double)t->first->value, last = (double)t->last->value;
	struct sl__phrase w, cost, from, at;

	sl__phrase_time(&cost, law->offset);
	place_words(&at, t, first);
	if (law->tail.n)
		sl__narrative_add_sentence(
			t->to,
			"From %s on, time grows %s%s; below that, a fixed cost "
			"of %s shows: %.0f %% of the fitted time at %s.",
			place_words(&from, t, (double)law->tail_from),
			manner_of(&law->tail), exponent_words(&w, &law->tail),
			cost.s, 100 * fixed_share(law, first), at.s);
	else
		sl__narrative_add_sentence(
			t->to,
			"Above a fixed cost of %s, time grows %s%s; that cost "
			"is %.0f %% of the fitted time at %s and %.0f %% at "
			"%.0f.",
			cost.s, manner_of(&law->exponent),
			exponent_words(&w, &law->exponent),
			100 * fixed_share(law, first), at.s,
			100 * fixed_share(law, last), last);
	if (law->offset > t->first->latency_ns.value)
		sl__narrative_add_sentence(
			t->to,
			"The fitted cost exceeds the %s measured at %s: take "
			"it as an upper bound.",
			sl__phrase_time(&w, t->first->latency_ns.value), at.s);
}

static void
tell_time(struct narrator *t, const struct sl_sweep_exponent *law)
{
	struct sl__phrase w;

	if (law->absent)
		return;
	if (law->offset > 0)
		tell_fixed(t, law);
	else
		sl__narrative_add_sentence(t->to,
					   "Time grows %s%s over all points.",
					   manner_of(&law->exponent),
					   exponent_words(&w, &law->exponent));
	/* A fixed part is no growth: what remains is compared. */
	if (!isnan(law->formula) && law->exponent.lo > law->formula)
		sl__narrative_add_sentence(
			t->to,
			"That is faster than the FLOPs, which grow as n^%.2f: "
			"each operation costs more at larger sizes.",
			law->formula);
	else if (!isnan(law->formula) && law->exponent.hi < law->formula)
		sl__narrative_add_sentence(
			t->to,
			"That is slower than the FLOPs, which grow as "
			"n^%.2f: larger sizes run at a higher rate.",
			law->formula);
}

/* The largest number of threads against the smallest. */
static void
tell_threads(struct narrator *t)
{
	const struct sl_sweep_point *a = t->first, *b = t->last;
	double times = (double)b->value / (double)a->value;
	double ratio = a->latency_ns.value / b->latency_ns.value;
	struct sl__phrase w;

	if (a == b)
		return;
	sl__narrative_add_sentence(
		t->to,
		"%lld threads are %s × as fast as %lld: a parallel "
		"efficiency of %.0f %%.",
		(long long)b->value,
		ratio_words(&w, &a->latency_ns, &b->latency_ns),
		(long long)a->value, 100 * ratio / times);
}

static int
is_law_of_kind(const struct sl_sweep_exponent *e)
{
	return e->figure == SL_SWEEP_KIND && !e->absent &&
	       isfinite(e->exponent.lo) && isfinite(e->exponent.hi) &&
	       fmax(e->share_first, e->share_last) >= 0.03;
}

static void
tell_kind(struct narrator *t, const struct sl_sweep_exponent *e)
{
	struct sl__phrase w, at, formula = {""};

	if (!isnan(e->formula))
		snprintf(formula.s, sizeof(formula.s), " (its FLOPs: %.2f)",
			 e->formula);
	sl__narrative_add_sentence(
		t->to,
		"%s: exponent %s%s, %.1f %% of the operations' time at %s, "
		"%.1f %% at %lld.",
		sl__sweep_law_quantity_text(e),
		exponent_words(&w, &e->exponent), formula.s,
		100 * e->share_first,
		place_words(&at, t, (double)t->first->value),
		100 * e->share_last, (long long)t->last->value);
}

/* The kind that grows fastest, and the one that takes most time. */
static void
tell_kinds(struct narrator *t)
{
	const struct sl_sweep_exponent *steep = NULL, *large = NULL;

	for (size_t i = 0; i < t->series->n_exponents; i++) {
		const struct sl_sweep_exponent *e = &t->series->exponents[i];

		if (!is_law_of_kind(e))
			continue;
		if (!steep || e->exponent.value > steep->exponent.value)
			steep = e;
		if (!large || e->share_last > large->share_last)
			large = e;
	}
	if (!steep || t->sweep->axis == SL_AXIS_BATCH)
		return;
	tell_kind(t, steep);
	if (large != steep)
		tell_kind(t, large);
}

static void
tell_knee(struct narrator *t)
{
	const struct sl_sweep_knee *k = &t->series->knee;
	struct sl__phrase w, at;

	if (k->absent)
		return;
	gain_words(&w, &k->gain, sl_rate_unit_text(t->sweep->rate_unit));
	place_words(&at, t, (double)(k->at ? k->at : t->last->value));
	if (!k->at)
		sl__narrative_add_sentence(
			t->to, "No knee up to %s: the last doubling %s%s.",
			at.s, w.s, k->is_proved ? "" : " (not significant)");
	else if (k->is_proved)
		sl__narrative_add_sentence(
			t->to, "Knee at %s: a doubling from there %s%s.", at.s,
			w.s,
			k->gain.value > 0 ? ", below the 10 % threshold" : "");
	else
		sl__narrative_add_sentence(
			t->to,
			"From %s on, a doubling gains nothing significant: it "
			"%s.",
			at.s, w.s);
}

static const char *
limit_words(struct sl__phrase *w, const struct sl_sweep *sweep)
{
	struct sl__phrase memory = {""}, latency = {""};

	if (sweep->memory_bytes > 0)
		sl__phrase_bytes(&memory, sweep->memory_bytes);
	if (sweep->latency_s > 0)
		sl__phrase_time(&latency, sweep->latency_s * 1e9);
	snprintf(w->s, sizeof(w->s), "%.30s%s%.30s", memory.s,
		 *memory.s && *latency.s ? " and " : "", latency.s);
	return w->s;
}

static void
tell_none(struct narrator *t)
{
	const struct sl_sweep_best *b = &t->series->best;
	struct sl__phrase limits;

	if (!t->series->n_measured)
		return;
	if (b->is_disturbed) {
		sl__narrative_add_sentence(t->to, "No best point is named: %s.",
					   b->absent);
		return;
	}
	sl__narrative_add_sentence(
		t->to,
		"No point is within %s: %zu exceed the memory limit; the "
		"latency of %zu has an upper bound above the limit, or none.",
		limit_words(&limits, t->sweep), b->n_over_memory,
		b->n_over_latency);
}

/* "; not distinguishable from it (intervals overlap): batch 8, 32".  Of points
 * that were chosen within limits, only the smallest is known to be within
 * them. */
static void
close_words(struct sl__phrase *w, const struct narrator *t, int is_limited)
{
	const struct sl_sweep_best *b = &t->series->best;
	const struct sl_sweep_point *best = &t->series->points[b->point];
	size_t n = 0;

	for (size_t i = 0; i < t->series->n_points; i++) {
		const struct sl_sweep_point *p = &t->series->points[i];
		size_t at = strlen(w->s);

		if (p == best || p->absent ||
		    (is_limited ? p->value != b->as_good
				: !(p->rate_per_s.hi >= best->rate_per_s.lo)))
			continue;
		snprintf(w->s + at, sizeof(w->s) - at, "%s%s %lld",
			 n ? ","
			   : "; not distinguishable from it (intervals "
			     "overlap): ",
			 n ? "" : t->axis, (long long)p->value);
		n++;
	}
}

static void
tell_best(struct narrator *t)
{
	const struct sl_sweep_best *b = &t->series->best;
	const struct sl_sweep_point *p;
	struct sl__phrase limits, rate, latency, size, at;
	struct sl__phrase memory = {""}, close = {""}, within = {""};

	if (b->absent) {
		tell_none(t);
		return;
	}
	p = &t->series->points[b->point];
	limit_words(&limits, t->sweep);
	if (*limits.s)
		snprintf(within.s, sizeof(within.s), " within %.60s", limits.s);
	close_words(&close, t, *limits.s != 0);
	if (p->memory_bytes)
		snprintf(memory.s, sizeof(memory.s), ", %.60s of memory",
			 sl__phrase_bytes(&size, (double)p->memory_bytes));
	sl__narrative_add_sentence(
		t->to, "Best%s: %s with %s, %s per iteration%s%s.", within.s,
		place_words(&at, t, (double)b->at),
		rate_words(&rate, p->rate_per_s.value, t->sweep->rate_unit),
		sl__phrase_time(&latency, p->latency_ns.value), memory.s,
		close.s);
}

static void
tell_memory(struct narrator *t)
{
	const struct sl_sweep_point *a = NULL, *b = NULL;
	struct sl__phrase first, last, at;

	for (size_t i = 0; i < t->series->n_points; i++) {
		const struct sl_sweep_point *p = &t->series->points[i];

		if (p->absent || !p->memory_bytes)
			continue;
		a = a ? a : p;
		b = p;
	}
	if (!a || a == b || a->memory_bytes == b->memory_bytes)
		return;
	sl__narrative_add_sentence(
		t->to, "Memory: %s at %s, %s at %lld.",
		sl__phrase_bytes(&first, (double)a->memory_bytes),
		place_words(&at, t, (double)a->value),
		sl__phrase_bytes(&last, (double)b->memory_bytes),
		(long long)b->value);
}

static void
tell_absent(struct narrator *t)
{
	size_t n = 0, n_absent = 0, n_noted = 0; /* said, and left over */

	for (size_t i = 0; i < t->series->n_points; i++) {
		const struct sl_sweep_point *p = &t->series->points[i];

		if (!p->absent && !p->note)
			continue;
		if (n < ABSENT_SHOWN) {
			sl__narrative_add_sentence(
				t->to, "%s %lld was %s: %s.", t->axis,
				(long long)p->value,
				p->absent ? "not measured"
					  : "measured less often",
				p->absent ? p->absent : p->note);
			n++;
		} else if (p->absent) {
			n_absent++;
		} else {
			n_noted++;
		}
	}
	if (n_absent)
		sl__narrative_add_sentence(
			t->to, "And %zu more %s not measured.", n_absent,
			n_absent == 1 ? "point was" : "points were");
	if (n_noted)
		sl__narrative_add_sentence(
			t->to, "And %zu more %s measured less often.", n_noted,
			n_noted == 1 ? "point was" : "points were");
}

/* Visits to the points of a series, and those that others disturbed. */
struct visits {
	size_t n, n_disturbed;
};

static void
count_visits(struct visits *v, const struct sl_sweep_series *series)
{
	for (size_t i = 0; i < series->n_points; i++) {
		v->n += series->points[i].n_visits;
		v->n_disturbed += series->points[i].n_disturbed;
	}
}

/* Where others disturbed most visits, what grows how may be their doing. */
static int
is_doubtful(const struct visits *v)
{
	return 2 * v->n_disturbed > v->n;
}

static void
tell_doubt(struct narrator *t, const struct visits *v)
{
	sl__narrative_add_sentence(
		t->to,
		"Background load disturbed %zu of %zu visits, so the "
		"growth is not reliable. Repeat on an idle machine.",
		v->n_disturbed, v->n);
}

static void
tell_disturbed(struct narrator *t, const struct visits *v)
{
	size_t n_spoilt = 0;

	for (size_t i = 0; i < t->series->n_points; i++)
		n_spoilt += (size_t)sl__sweep_point_is_disturbed(
			&t->series->points[i]);
	if (v->n_disturbed)
		sl__narrative_add_sentence(
			t->to,
			"Background load disturbed %zu of %zu visits: the "
			"intervals are wider for it.",
			v->n_disturbed, v->n);
	if (n_spoilt)
		sl__narrative_add_sentence(
			t->to,
			"It disturbed every visit to %zu %s: the growth "
			"laws leave %s out.",
			n_spoilt, n_spoilt == 1 ? "size" : "sizes",
			n_spoilt == 1 ? "it" : "them");
}

static void
tell_growth(struct narrator *t)
{
	if (t->sweep->axis == SL_AXIS_THREADS)
		tell_threads(t);
	else
		tell_time(t, &t->series->exponents[0]);
	tell_kinds(t);
	tell_knee(t);
}

void
sl__sweep_narrate(struct sl__narrative *to, const struct sl_sweep *sweep,
		  const struct sl_sweep_series *series)
{
	struct narrator t = {.to = to,
			     .sweep = sweep,
			     .series = series,
			     .axis = sl_axis_text(sweep->axis)};
	struct visits visits = {0, 0};

	for (size_t i = 0; i < series->n_points; i++) {
		if (series->points[i].absent)
			continue;
		t.first = t.first ? t.first : &series->points[i];
		t.last = &series->points[i];
	}
	count_visits(&visits, series);
	if (is_doubtful(&visits))
		tell_doubt(&t, &visits);
	else if (t.first)
		tell_growth(&t);
	tell_best(&t);
	tell_memory(&t);
	tell_absent(&t);
	if (!is_doubtful(&visits))
		tell_disturbed(&t, &visits);
}

/* The models with the highest and second highest rate at a point. */
static void
tell_fastest(struct narrator *t, size_t point, int is_in_doubt)
{
	const struct sl_sweep_series *first = NULL, *second = NULL;
	const struct sl_estimate *a = NULL, *b = NULL;
	struct sl__phrase w, at;

	for (size_t i = 0; i < t->sweep->n_series; i++) {
		const struct sl_sweep_series *s = &t->sweep->series[i];
		const struct sl_estimate *rate = &s->points[point].rate_per_s;

		if (s->points[point].absent)
			continue;
		if (!a || rate->value > a->value) {
			second = first;
			b = a;
			first = s;
			a = rate;
		} else if (!b || rate->value > b->value) {
			second = s;
			b = rate;
		}
	}
	if (!second)
		return;
	sl__narrative_add_sentence(
		t->to, "At %s, %s does %s × as many %s as %s%s.",
		place_words(&at, t, (double)first->points[point].value),
		first->name, ratio_words(&w, a, b),
		sl_rate_unit_text(t->sweep->rate_unit), second->name,
		a->lo > b->hi && !is_in_doubt ? "" : " (not significant)");
}

void
sl__sweep_narrate_all(struct sl__narrative *to, const struct sl_sweep *sweep)
{
	struct narrator t = {
		.to = to, .sweep = sweep, .axis = sl_axis_text(sweep->axis)};
	struct visits visits = {0, 0};
	size_t n = sweep->series[0].n_points;

	if (sweep->n_series < 2)
		return;
	for (size_t i = 0; i < sweep->n_series; i++)
		count_visits(&visits, &sweep->series[i]);
	tell_fastest(&t, 0, is_doubtful(&visits));
	if (n > 1)
		tell_fastest(&t, n - 1, is_doubtful(&visits));
}
