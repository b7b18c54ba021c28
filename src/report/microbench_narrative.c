/* SPDX-License-Identifier: Apache-2.0 */
/* microbench_narrative.c - operators over sizes in sentences. */
#include "report/microbench_narrative.h"
#include "report/fact_text.h"
#include "report/phrase.h"
#include "result/sweep_laws.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

enum { LINE = 640 };

struct narrator {
	struct sl__narrative *to;
	const struct sl_microbench *of;
	const struct sl_micro_series *series;
};

const char *
sl__micro_size_text(struct sl__micro_size_buffer *text, int64_t value)
{
	const int64_t ki = 1024, mi = 1024 * 1024;

	if (value >= mi && value % mi == 0)
		snprintf(text->s, sizeof(text->s), "%lld Mi",
			 (long long)(value / mi));
	else if (value >= 4 * ki && value % ki == 0)
		snprintf(text->s, sizeof(text->s), "%lld Ki",
			 (long long)(value / ki));
	else
		snprintf(text->s, sizeof(text->s), "%lld", (long long)value);
	return text->s;
}

/* Of a symbol a size is said as an equation, of things as a number. */
static int
is_symbol(enum sl_micro_axis axis)
{
	return axis == SL_MICRO_AXIS_N || axis == SL_MICRO_AXIS_SEQ;
}

/* Two places: the unit stands once. */
static const char *
span(struct sl__phrase *w, const struct sl_micro_series *s, size_t a, size_t b,
     const char *between)
{
	struct sl__micro_size_buffer first, last;
	struct sl__phrase sizes;

	snprintf(sizes.s, sizeof(sizes.s), "%s%s%s",
		 sl__micro_size_text(&first, s->points[a].value), between,
		 a == b ? "" : sl__micro_size_text(&last, s->points[b].value));
	if (is_symbol(s->axis))
		snprintf(w->s, sizeof(w->s), "%s = %.200s",
			 sl_micro_axis_text(s->axis), sizes.s);
	else
		snprintf(w->s, sizeof(w->s), "%.200s %s", sizes.s,
			 sl_micro_axis_text(s->axis));
	return w->s;
}

/* "N = 256", "256 Ki elements". */
static const char *
place(struct sl__phrase *w, const struct sl_micro_series *s, size_t i)
{
	return span(w, s, i, i, "");
}

static int
is_compute(const struct sl_micro_point *p)
{
	return p->roof == SL_LEVEL_COMPUTE;
}

/* In the unit of its roof. */
static const char *
rate_words(struct sl__phrase *w, const struct sl_micro_point *p, int in_flops)
{
	double rate = (in_flops ? p->flops_per_s : p->bytes_per_s) / 1e9;

	snprintf(w->s, sizeof(w->s), rate < 100 ? "%.3g %s" : "%.0f %s", rate,
		 in_flops ? "GFLOP/s" : "GB/s");
	return w->s;
}

/* Goes on with a line; what does not fit is cut. */
static void add(char line[LINE], const char *format, ...)
	__attribute__((format(__printf__, 2, 3)));

static void
add(char line[LINE], const char *format, ...)
{
	size_t at = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(line + at, LINE - at, format, args);
	va_end(args);
}

/* The last measured point from i on with the same verdict. */
static size_t
end_of_run(const struct sl_micro_series *s, size_t i)
{
	size_t next = sl__micro_next_measured_point(s, i + 1);

	while (next < s->n_points &&
	       sl__micro_same_smoothed_verdict(s, i, next)) {
		i = next;
		next = sl__micro_next_measured_point(s, i + 1);
	}
	return i;
}

static void
add_run(char line[LINE], const struct sl_micro_series *s, size_t first,
	size_t last)
{
	const struct sl_micro_point *p =
		&s->points[sl__micro_smoothed_verdict_source(s, first)];
	int is_silent = p->micro_class == SL_MICRO_UNKNOWN &&
			isnan(p->roof_share);
	int is_first = first == sl__micro_next_measured_point(s, 0);
	struct sl__phrase a;

	add(line, "%s%s ", *line ? ", " : "",
	    is_silent ? "no verdict" : sl__micro_bottleneck_text(p));
	if (is_first && last == s->largest)
		add(line, s->n_measured > 1 ? "at every size" : "at %s",
		    place(&a, s, first));
	else if (is_first && first != last)
		add(line, "up to %s", place(&a, s, last));
	else if (first == last)
		add(line, "at %s", place(&a, s, first));
	else if (last == s->largest)
		add(line, "from %s on", place(&a, s, first));
	else
		add(line, "from %s", span(&a, s, first, last, " to "));
}

static void
tell_verdicts(struct narrator *t)
{
	const struct sl_micro_series *s = t->series;
	const struct sl_estimate *step = &t->of->ceilings.step_ns;
	size_t i = sl__micro_next_measured_point(s, 0);
	int has_overhead = 0;
	char line[LINE] = "";
	struct sl__phrase w;

	while (i < s->n_points) {
		size_t last = end_of_run(s, i);

		has_overhead |=
			s->points[sl__micro_smoothed_verdict_source(s, i)]
				.micro_class == SL_MICRO_OVERHEAD;
		add_run(line, s, i, last);
		i = sl__micro_next_measured_point(s, last + 1);
	}
	if (has_overhead && step->n)
		add(line, "; an empty step takes %s",
		    sl__phrase_time(&w, step->value));
	sl__narrative_add_sentence(t->to, "%s: %s.", s->name, line);
}

static const struct sl_micro_crossover *
find_crossover(const struct sl_micro_series *s,
	       enum sl_micro_crossover_kind what)
{
	for (size_t i = 0; i < s->n_crossovers; i++) {
		if (s->crossovers[i].what == what)
			return &s->crossovers[i];
	}
	return NULL;
}

/* On which side of the roofline's ridge, and from where on. */
static void
tell_roofs(struct narrator *t)
{
	const struct sl_micro_series *s = t->series;
	const struct sl_micro_crossover *crossover =
		find_crossover(s, SL_MICRO_CROSSOVER_ROOF);
	const struct sl_micro_point *last = &s->points[s->largest];
	double ridge = t->of->ceilings.ridge;
	int is_up = crossover && is_compute(&s->points[crossover->at]);
	struct sl__phrase w;

	if (!last->roof)
		return;
	if (crossover)
		sl__narrative_add_sentence(
			t->to,
			"It is on the %s side of the roofline from %s on "
			"(%.3g FLOP/B), on the %s side before.",
			is_up ? "compute" : "memory",
			place(&w, s, crossover->at),
			s->points[crossover->at].intensity,
			is_up ? "memory" : "compute");
	else if (!last->flops)
		sl__narrative_add_sentence(
			t->to,
			"It does no arithmetic, so memory is its only bound.");
	else if (!isfinite(ridge))
		sl__narrative_add_sentence(
			t->to,
			"The compute peak is not known here, so memory is "
			"its only known bound: %.3g FLOP/B at %s.",
			last->intensity, place(&w, s, s->largest));
	else
		sl__narrative_add_sentence(
			t->to,
			"It is on the %s side of the roofline at every "
			"size: %.3g FLOP/B at %s; the ridge is at %.3g FLOP/B "
			"for data in DRAM, lower for caches.",
			is_compute(last) ? "compute" : "memory",
			last->intensity, place(&w, s, s->largest), ridge);
}

/* Where data leave a cache, as far as that is what bounds. */
static void
tell_levels(struct narrator *t)
{
	const struct sl_micro_series *s = t->series;
	struct sl__phrase a, x, y;

	for (size_t i = 0; i < s->n_crossovers; i++) {
		const struct sl_micro_crossover *crossover = &s->crossovers[i];
		const struct sl_micro_point *before =
			&s->points[crossover->before];
		const struct sl_micro_point *at = &s->points[crossover->at];

		if (crossover->what != SL_MICRO_CROSSOVER_LEVEL ||
		    is_compute(at) || before->micro_class == SL_MICRO_UNKNOWN ||
		    at->micro_class == SL_MICRO_UNKNOWN)
			continue;
		sl__narrative_add_sentence(
			t->to,
			"Its working set leaves %s between %s: %s before, %s "
			"after%s.",
			sl_level_text(before->level),
			span(&a, s, crossover->before, crossover->at, " and "),
			rate_words(&x, before, 0), rate_words(&y, at, 0),
			!crossover->is_sure ? ", a difference within the error"
			: crossover->rate_ratio > 1 ? ", not slower yet"
						    : "");
	}
}

/* By what a point is best. */
enum measure { BY_SHARE, BY_FLOPS, BY_BYTES };

static double
measure_of(const struct sl_micro_point *p, enum measure by)
{
	return by == BY_SHARE   ? p->roof_share
	       : by == BY_FLOPS ? p->flops_per_s
				: p->bytes_per_s;
}

/* Whether background load left no verdict: nothing is concluded from it. */
static int
is_spoilt(const struct sl_micro_point *p)
{
	return p->micro_class == SL_MICRO_UNKNOWN && !isnan(p->roof_share) &&
	       p->disturbance > SL__SWEEP_DISTURBED;
}

/* Sizes whose rates are compared. */
struct compared {
	size_t n, largest, best;
};

/* The best is the largest size, unless another one is better. */
static struct compared
compare_sizes(const struct sl_micro_series *s, enum measure by)
{
	struct compared c = {0, s->largest, s->largest};

	for (size_t i = 0; i < s->n_points; i++) {
		if (s->points[i].absent || is_spoilt(&s->points[i]))
			continue;
		c.n++;
		c.largest = c.best = i;
	}
	for (size_t i = 0; i < s->n_points; i++) {
		if (!s->points[i].absent && !is_spoilt(&s->points[i]) &&
		    measure_of(&s->points[i], by) >
			    measure_of(&s->points[c.best], by))
			c.best = i;
	}
	return c;
}

static void
tell_reached(struct narrator *t)
{
	const struct sl_micro_series *s = t->series;
	const struct compared c = compare_sizes(s, BY_SHARE);
	double most = 100 * s->points[c.best].roof_share;
	struct sl__phrase a, b;

	if (isnan(most) || c.n < 2)
		return;
	if (s->reached == sl__micro_next_measured_point(s, 0))
		sl__narrative_add_sentence(
			t->to,
			"It reaches 80 %% of its roof at every size, and "
			"at most %.0f %%, at %s.",
			most, place(&b, s, c.best));
	else if (s->reached != SIZE_MAX)
		sl__narrative_add_sentence(
			t->to,
			"It reaches 80 %% of its roof from %s on, and at "
			"most %.0f %%, at %s.",
			place(&a, s, s->reached), most, place(&b, s, c.best));
	else if (c.best == c.largest)
		sl__narrative_add_sentence(
			t->to, "It reaches at most %.0f %% of its roof, at %s.",
			most, place(&b, s, c.best));
	else
		sl__narrative_add_sentence(
			t->to,
			"It reaches at most %.0f %% of its roof, at %s, "
			"and %.0f %% at %s.",
			most, place(&b, s, c.best),
			100 * s->points[c.largest].roof_share,
			place(&a, s, c.largest));
}

static void
tell_fastest(struct narrator *t)
{
	const struct sl_micro_series *s = t->series;
	int in_flops = is_compute(&s->points[s->largest]);
	const struct compared c =
		compare_sizes(s, in_flops ? BY_FLOPS : BY_BYTES);
	struct sl__phrase a, b, x, y;

	if (c.n < 2)
		return;
	if (c.best == c.largest)
		sl__narrative_add_sentence(
			t->to, "It is fastest at the largest size%s: %s at %s.",
			c.n < s->n_measured ? " compared" : "",
			rate_words(&x, &s->points[c.best], in_flops),
			place(&a, s, c.best));
	else
		sl__narrative_add_sentence(
			t->to, "It is fastest at %s: %s, against %s at %s.",
			place(&a, s, c.best),
			rate_words(&x, &s->points[c.best], in_flops),
			rate_words(&y, &s->points[c.largest], in_flops),
			place(&b, s, c.largest));
}

/* A narrower type that was asked for is not what every kernel computes in. */
static void
tell_type(struct narrator *t)
{
	const struct sl_micro_series *s = t->series;
	const char *type = sl_dtype_text(t->of->dtype), *kernel = NULL;

	if (t->of->dtype != SL_DTYPE_BF16)
		return;
	for (size_t i = 0; i < s->n_points; i++) {
		if (s->points[i].absent || !s->points[i].kernel)
			continue;
		kernel = s->points[i].kernel;
		if (strstr(kernel, type))
			return;
	}
	if (kernel)
		sl__narrative_add_sentence(
			t->to,
			"By its name, the kernel %s does not compute in "
			"%s: these may be figures of f32.",
			kernel, type);
}

static void
tell_impossible(struct narrator *t, const char *where,
		const struct sl_fact *fact)
{
	const char *words = sl__fact_sentence(&t->to->arena, fact);

	t->to->has_failed |= !words;
	if (words)
		sl__narrative_add_sentence(t->to, "At %s: %s.", where, words);
}

static const char *
spoilt_words(struct sl__phrase *w, size_t n)
{
	if (n)
		snprintf(w->s, sizeof(w->s),
			 "%zu %s too disturbed for a verdict, and %s not "
			 "compared with others",
			 n, n == 1 ? "is" : "are", n == 1 ? "is" : "are");
	else
		snprintf(w->s, sizeof(w->s), "the verdicts allow for it");
	return w->s;
}

static void
tell_remarks(struct narrator *t)
{
	const struct sl_micro_series *s = t->series;
	size_t n_disturbed = 0, n_spoilt = 0, n_unsure = 0;
	struct sl__phrase w;

	for (size_t i = 0; i < s->n_points; i++) {
		const struct sl_micro_point *p = &s->points[i];

		if (p->absent)
			continue;
		n_disturbed += p->disturbance > SL__SWEEP_DISTURBED;
		n_spoilt += (size_t)is_spoilt(p);
		n_unsure += p->micro_class != SL_MICRO_UNKNOWN && !p->is_sure;
		if (p->impossible)
			tell_impossible(t, place(&w, s, i), p->impossible);
	}
	if (n_unsure)
		sl__narrative_add_sentence(
			t->to,
			"The intervals of %zu of %zu sizes allow another "
			"verdict (marked ?).",
			n_unsure, s->n_measured);
	if (n_disturbed)
		sl__narrative_add_sentence(
			t->to, "Background load touched %zu of %zu sizes; %s.",
			n_disturbed, s->n_measured, spoilt_words(&w, n_spoilt));
}

static const char *
no_focus(const struct sl_micro_series *s)
{
	const struct sl_micro_point *p = &s->points[s->largest];

	return p->impossible        ? "its rate is impossible"
	       : isnan(p->bound_ns) ? "no ceiling was measured"
				    : "background load disturbed it";
}

const char *
sl__micro_optimize_reason(struct sl__phrase *w, const struct sl_microbench *of,
			  const struct sl_micro_series *s)
{
	const struct sl_micro_point *p;
	const char *roof;
	double share;

	if (s->largest == SIZE_MAX)
		return "not measured";
	p = &s->points[s->largest];
	roof = sl_level_text(p->roof);
	share = 100 * p->roof_share;
	switch (s->focus) {
	case SL_MICRO_FOCUS_NONE:
		return no_focus(s);
	case SL_MICRO_FOCUS_PRECISION:
		snprintf(w->s, sizeof(w->s),
			 "%.0f %% of the compute roof: a better kernel gains "
			 "at most %.2f ×",
			 share, 1 / p->roof_share);
		break;
	case SL_MICRO_FOCUS_BYTES:
		snprintf(w->s, sizeof(w->s),
			 "%.0f %% of the %s roof: faster arithmetic gains "
			 "nothing",
			 share, roof);
		break;
	case SL_MICRO_FOCUS_CALLS:
		snprintf(w->s, sizeof(w->s),
			 "it takes as long as %.1f empty steps",
			 p->median_ns.value / of->ceilings.step_ns.value);
		break;
	case SL_MICRO_FOCUS_KERNEL:
		snprintf(w->s, sizeof(w->s),
			 "%.0f %% of the %s roof: neither bytes nor arithmetic "
			 "explain the time",
			 share, roof);
		break;
	case SL_MICRO_FOCUS_INSTRUCTIONS:
		snprintf(w->s, sizeof(w->s),
			 "%.0f %% of the %s roof, and %.2f × its rate from "
			 "nearer memory: it does not wait for data",
			 share, roof,
			 sl__micro_large_to_small_bandwidth_ratio(s));
		break;
	case SL_MICRO_FOCUS_BOTH:
		snprintf(w->s, sizeof(w->s),
			 "%.0f %% of the %s roof, but %.2f × its rate from "
			 "nearer memory: it partly waits for data",
			 share, roof,
			 sl__micro_large_to_small_bandwidth_ratio(s));
		break;
	}
	return w->s;
}

void
sl__micro_narrate(struct sl__narrative *to, const struct sl_microbench *of,
		  const struct sl_micro_series *series)
{
	struct narrator t = {to, of, series};

	if (!series->n_measured)
		return;
	tell_verdicts(&t);
	tell_roofs(&t);
	tell_levels(&t);
	tell_reached(&t);
	tell_fastest(&t);
	tell_type(&t);
	tell_remarks(&t);
}

/* Names of the series whose largest size is of a class. */
static void
tell_classes(struct narrator *t)
{
	static const struct {
		enum sl_micro_class wanted;
		const char *words;
	} classes[] = {
		{SL_MICRO_COMPUTE, "Compute-bound"},
		{SL_MICRO_MEMORY, "Memory-bound"},
		{SL_MICRO_OVERHEAD, "Overhead-bound"},
		{SL_MICRO_BELOW, "Below both roofs, so bound by neither"},
		{SL_MICRO_UNKNOWN, "No verdict (background load, an impossible "
				   "rate, or no ceilings)"},
	};

	for (size_t k = 0; k < sizeof(classes) / sizeof(classes[0]); k++) {
		char line[LINE] = "";

		for (size_t i = 0; i < t->of->n_series; i++) {
			const struct sl_micro_series *s = &t->of->series[i];

			if (s->largest != SIZE_MAX &&
			    s->points[s->largest].micro_class ==
				    classes[k].wanted)
				add(line, "%s%s", *line ? ", " : "", s->name);
		}
		if (*line)
			sl__narrative_add_sentence(t->to, "%s: %s.",
						   classes[k].words, line);
	}
}

static void
tell_extremes(struct narrator *t)
{
	const struct sl_microbench *m = t->of;
	const struct sl_micro_series *a, *b;
	const struct sl_micro_point *p, *q;

	if (m->most_efficient == SIZE_MAX)
		return;
	a = &m->series[m->most_efficient];
	b = &m->series[m->least_efficient];
	p = &a->points[a->largest];
	q = &b->points[b->largest];
	sl__narrative_add_sentence(
		t->to,
		"Most efficient: %s, %.0f %% of its %s roof; least: %s, %.0f "
		"%% of its %s roof.",
		a->name, 100 * p->roof_share, sl_level_text(p->roof), b->name,
		100 * q->roof_share, sl_level_text(q->roof));
}

void
sl__micro_narrate_all(struct sl__narrative *to, const struct sl_microbench *of)
{
	struct narrator t = {.to = to, .of = of};

	if (of->n_series < 2)
		return;
	tell_classes(&t);
	tell_extremes(&t);
}
