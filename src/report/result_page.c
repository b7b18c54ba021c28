/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result_page.c - the parts of a page that several results share.
 *
 * Every figure stands with its interval, or with what it would take to have
 * one; what could not be measured is said in the same breath.
 */
#include "report/result_page.h"
#include "base/buf.h"
#include "report/histogram.h"
#include "report/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/banned.h"

void
sl__page_percentiles(struct sl__doc *doc, const struct sl_latency *l,
		     const char *unit, int is_brief)
{
	const struct {
		const char *name;
		const struct sl_estimate *e;
	} all[] = {{"p90", &l->p90}, {"p95", &l->p95}, {"p99", &l->p99}};
	struct sl__text text;

	sl__doc_plain_pair(doc, "tail", "%s", "");
	for (size_t i = 0; i < 3; i++) {
		const struct sl_estimate *e = all[i].e;

		if (e->needs_n && is_brief) {
			sl__doc_append_dim(
				doc, "%sno %s: %zu measured, %zu needed",
				i ? ", " : "", all[i].name, l->n, e->needs_n);
			return;
		}
		sl__doc_append(doc,
			       e->needs_n ? SL__STYLE_DIM : SL__STYLE_PLAIN,
			       "%s%s %s", i ? ", " : "", all[i].name,
			       sl__time_percentile(&text, e, unit));
		if (!e->needs_n && !is_brief)
			sl__doc_append_dim(
				doc, " %s",
				sl__time_bounds_text(&text, e, unit));
	}
}

static void
add_beginning(struct sl__doc *doc, const struct sl_latency *l, const char *unit)
{
	struct sl__text first;

	sl__doc_plain_pair(doc, "first", "%s",
			   sl__time_text_in_unit(&first, l->first_ns, unit));
	if (l->n_warmup)
		sl__doc_append_dim(doc, "  then %s: %zu left out as warm-up",
				   sl_warmup_text(l->warmup), l->n_warmup);
	else if (l->warmup == SL_WARMUP_NONE)
		sl__doc_append(doc, SL__STYLE_WARN,
			       "  never reached a steady state");
	else if (l->warmup != SL_WARMUP_UNKNOWN)
		sl__doc_append_dim(doc, "  then %s", sl_warmup_text(l->warmup));
}

void
sl__page_latency(struct sl__doc *doc, const struct sl_latency *l,
		 const char *noun, const char *unit)
{
	struct sl__text a, b, c;

	sl__doc_pair(doc, "median", SL__STYLE_STRONG, "%s",
		     sl__time_value(&a, &l->median, unit));
	sl__doc_append_plain(doc, "  %s",
			     sl__time_bounds_text(&b, &l->median, unit));
	sl__doc_append_dim(doc, "  %zu %s%s, %s", l->n, noun,
			   l->n == 1 ? "" : "s",
			   sl_method_text(l->median.method));
	sl__doc_plain_pair(doc, "mean", "%s",
			   sl__time_value(&a, &l->mean, unit));
	sl__doc_append_plain(doc, "  %s",
			     sl__time_bounds_text(&b, &l->mean, unit));
	if (l->n > 1)
		sl__doc_append_dim(doc, "  sd %s",
				   sl__time_text_in_unit(&c, l->std_ns, unit));
	sl__doc_plain_pair(doc, "range", "%s to %s",
			   sl__time_text_in_unit(&a, l->min_ns, unit),
			   sl__time_text_in_unit(&b, l->max_ns, unit));
	if (l->n_outliers_low + l->n_outliers_high)
		sl__doc_append_dim(doc, "  outliers: %zu low, %zu high",
				   l->n_outliers_low, l->n_outliers_high);
	sl__page_percentiles(doc, l, unit, 0);
	add_beginning(doc, l, unit);
}

void
sl__page_histogram(struct sl__doc *doc, const double *x, size_t n,
		   const struct sl_latency *l,
		   const struct sl_render_options *how)
{
	char line[3 * SL__HISTOGRAM_MAX_BINS + 1];
	struct sl__histogram h;
	struct sl__text lo, hi;
	size_t width = how->n_columns ? how->n_columns : 80;

	/* Key, two times and gaps take about 36 columns of the line. */
	if (n < 10 || width < 60 || how->format != SL_FORMAT_TEXT)
		return;
	sl__histogram_of(&h, x, n, l->median.value, width - 36);
	sl__doc_pair(doc, "shape", SL__STYLE_DIM, "%s ",
		     sl__time_text_in_unit(&lo, h.lo, how->unit));
	sl__doc_append_plain(doc, " %s",
			     sl__histogram_line(line, &h, how->ascii));
	sl__doc_append_dim(doc, " %s",
			   sl__time_text_in_unit(&hi, h.hi, how->unit));
	if (h.n_beyond)
		sl__doc_append_dim(doc, " +%zu", h.n_beyond);
}

/* One reading of the certificate and when it is worth a warning. */
struct remark {
	const char *name;
	struct sl_reading reading;
	double warn_above;
	int is_share;
};

static void
add_remark(struct sl_buf *line, const struct remark *r)
{
	double percent = 100 * r->reading.value;

	if (line->n_bytes)
		sl__buf_text(line, ", ");
	if (r->is_share && percent > 0 && percent < 0.1)
		sl__buf_format(line, "%s under 0.1 %%", r->name);
	else if (r->is_share)
		sl__buf_format(line, "%s %.*f %%", r->name,
			       percent > 0 && percent < 10, percent);
	else
		sl__buf_format(line, "%s %.0f", r->name, r->reading.value);
}

static void
add_absent(struct sl_buf *line, const struct remark *r, int verbose)
{
	if (line->n_bytes)
		sl__buf_text(line, verbose ? "; " : ", ");
	sl__buf_text(line, r->name);
	if (verbose)
		sl__buf_format(line, " (%s)", r->reading.absent);
}

enum { N_REMARKS = 7 };

/* Levels at which a verdict of 1 % begins to take longer. */
static void
list_remarks(struct remark out[N_REMARKS], const struct sl_noise *noise)
{
	const struct remark all[N_REMARKS] = {
		{"background load", noise->neighbour_share, 0.1, 1},
		{"steal", noise->steal_share, 0.01, 1},
		{"run-queue wait", noise->run_delay_share, 0.02, 1},
		{"preemptions", noise->involuntary_switches, 1e18, 0},
		{"migrations", noise->migrations, 1e18, 0},
		{"frequency spread", noise->frequency_drift, 0.02, 1},
		{"throttling events", noise->throttle_events, 0, 0},
	};

	memcpy(out, all, sizeof(all));
}

static int
are_many_disturbed(const struct sl_noise *noise)
{
	return noise->n_disturbed * 10 > noise->n_slots;
}

static void
add_disturbed(struct sl__doc *doc, const struct sl_noise *noise,
	      const char *noun, int warn)
{
	double share = noise->n_slots ? (double)noise->n_disturbed /
						(double)noise->n_slots
				      : 0;
	struct sl__text text;

	sl__doc_pair(doc, "noise", warn ? SL__STYLE_WARN : SL__STYLE_PLAIN,
		     "%s of %zu %ss disturbed", sl__percent_text(&text, share),
		     noise->n_slots, noun);
}

void
sl__page_noise_warning(struct sl__doc *doc, const struct sl_noise *noise,
		       const char *noun)
{
	struct remark remarks[N_REMARKS];
	struct sl_buf seen = {0};

	list_remarks(remarks, noise);
	for (size_t i = 0; i < N_REMARKS; i++) {
		if (!remarks[i].reading.absent &&
		    remarks[i].reading.value > remarks[i].warn_above)
			add_remark(&seen, &remarks[i]);
	}
	if (noise->n_slots && (are_many_disturbed(noise) || seen.n_bytes))
		add_disturbed(doc, noise, noun, 1);
	if (noise->n_slots && seen.n_bytes)
		sl__doc_append_dim(doc, "; %s", seen.data);
	else if (seen.n_bytes)
		sl__doc_pair(doc, "noise", SL__STYLE_WARN, "%s", seen.data);
	sl_buf_release(&seen);
}

void
sl__page_noise(struct sl__doc *doc, const struct sl_noise *noise,
	       const char *noun, int verbose)
{
	struct remark remarks[N_REMARKS];
	struct sl_buf seen = {0}, missing = {0};
	int warn = are_many_disturbed(noise);

	list_remarks(remarks, noise);
	for (size_t i = 0; i < N_REMARKS; i++) {
		const struct remark *r = &remarks[i];

		if (r->reading.absent) {
			add_absent(&missing, r, verbose);
			continue;
		}
		warn |= r->reading.value > r->warn_above;
		add_remark(&seen, r);
	}
	add_disturbed(doc, noise, noun, warn);
	if (seen.n_bytes)
		sl__doc_append_dim(doc, "; %s", seen.data);
	if (missing.n_bytes)
		sl__doc_pair(doc, "", SL__STYLE_DIM, "not measured: %s",
			     missing.data);
	sl_buf_release(&seen);
	sl_buf_release(&missing);
}

enum sl__style
sl__page_verdict_style(enum sl_verdict verdict)
{
	static const enum sl__style styles[] = {
		[SL_VERDICT_UNDECIDED] = SL__STYLE_WARN,
		[SL_VERDICT_FASTER] = SL__STYLE_GOOD,
		[SL_VERDICT_SLOWER] = SL__STYLE_BAD,
		[SL_VERDICT_SAME] = SL__STYLE_PLAIN};

	return (unsigned)verdict <= SL_VERDICT_SAME ? styles[verdict]
						    : SL__STYLE_WARN;
}

/* "1.34 times" of the larger over the smaller, with the interval turned the
 * same way. */
static struct sl_estimate
inverse(const struct sl_estimate *e)
{
	struct sl_estimate inverted = *e;

	inverted.value = 1 / e->value;
	inverted.lo = 1 / e->hi;
	inverted.hi = 1 / e->lo;
	return inverted;
}

static void
add_undecided(struct sl__doc *doc, const struct sl_comparison *c)
{
	struct sl__text text;

	if (c->gate == SL_GATE_OK)
		sl__doc_text(doc, SL__STYLE_GOOD,
			     "'%s' is not slower than '%s' by more than %s;",
			     c->b, c->a, sl__percent_text(&text, c->margin));
	sl__doc_text(doc, SL__STYLE_WARN, "%s after %zu round%s:",
		     c->gate == SL_GATE_OK ? "faster or the same is undecided"
					   : "undecided",
		     c->n_rounds, c->n_rounds == 1 ? "" : "s");
	sl__doc_append_plain(doc, " '%s' takes %s × as long as '%s'", c->b,
			     sl__ratio_estimate(&text, &c->ratio), c->a);
}

void
sl__page_rounds(struct sl__doc *doc, const struct sl_comparison *c)
{
	sl__doc_append_dim(doc, "  (%zu rounds", c->n_rounds);
	if (c->n_left_out)
		sl__doc_append_dim(doc, ", %zu disturbed round%s excluded",
				   c->n_left_out,
				   c->n_left_out == 1 ? "" : "s");
	sl__doc_append_dim(doc, ")");
}

void
sl__page_verdict(struct sl__doc *doc, const struct sl_comparison *c)
{
	enum sl__style style = sl__page_verdict_style(c->verdict);
	struct sl_estimate factor = c->ratio;
	struct sl__text text, margin;

	if (c->verdict == SL_VERDICT_UNDECIDED) {
		add_undecided(doc, c);
		return;
	}
	if (c->verdict == SL_VERDICT_SAME) {
		sl__doc_text(doc, style,
			     "'%s' is the same as '%s' within %s:", c->b, c->a,
			     sl__percent_text(&margin, c->margin));
		sl__doc_append_plain(doc, " ratio %s",
				     sl__ratio_estimate(&text, &c->ratio));
	} else {
		if (c->verdict == SL_VERDICT_FASTER)
			factor = inverse(&c->ratio);
		sl__doc_text(doc, style, "'%s' is %s:", c->b,
			     sl_verdict_text(c->verdict));
		sl__doc_append(doc, SL__STYLE_STRONG, " %s ×",
			       sl__ratio_estimate(&text, &factor));
		sl__doc_append_plain(doc, " %s '%s'",
				     c->verdict == SL_VERDICT_FASTER
					     ? "as fast as"
					     : "as long as",
				     c->a);
	}
	sl__page_rounds(doc, c);
}

/*
 * "detects changes from 3.2 % in 4 of 5 runs; from 1 % in about 10 s in all".
 * 'reach' is what can be seen and shrinks with the square root of the time, 'goal' is 1 %
 * on the same scale, 'target' what the goal is as a change.  As there is a
 * reach, the time spent gave an interval; so no time printed is too short for
 * one.
 */
static void
add_sensitivity(struct sl__doc *doc, double change, double reach, double goal,
		const char *target, double elapsed_s)
{
	double factor = reach / goal, needed_s = elapsed_s * factor * factor;
	struct sl__text t;

	sl__doc_pair(doc, "sensitivity", SL__STYLE_DIM,
		     "detects changes from %s in 4 of 5 runs",
		     sl__percent_text(&t, change));
	if (factor <= 1)
		return;
	sl__doc_append_dim(doc, "; from %s in about ", target);
	if (needed_s < 99.5)
		sl__doc_append_dim(doc, "%.2g s in all", needed_s);
	else
		sl__doc_append_dim(doc, "%.0f min in all", needed_s / 60);
}

void
sl__page_detectable_change(struct sl__doc *doc, const struct sl_latency *l,
			   double elapsed_s)
{
	if (!isnan(l->minimum_detectable))
		add_sensitivity(doc, l->minimum_detectable,
				l->minimum_detectable, 0.01, "1 %", elapsed_s);
}

/* The margin stays however long it takes: only what is beyond it shrinks. */
void
sl__page_comparison_detectable(struct sl__doc *doc,
			       const struct sl_comparison *c, double elapsed_s)
{
	double reach = log1p(c->minimum_detectable) - log1p(c->margin);
	double percent = 100 * (1.01 * (1 + c->margin) - 1);
	char target[96] = "1 %";

	if (isnan(c->minimum_detectable))
		return;
	if (c->margin > 0)
		snprintf(target, sizeof(target),
			 "%.*f %% (1 %% above the margin of %.3g %%)",
			 percent < 10, percent, 100 * c->margin);
	add_sensitivity(doc, c->minimum_detectable, reach, log1p(0.01), target,
			elapsed_s);
}

void
sl__page_interrupted(struct sl__doc *doc, enum sl_stop stopped_by)
{
	if (stopped_by == SL_STOP_INTERRUPT)
		sl__doc_text(
			doc, SL__STYLE_WARN,
			"interrupted: this is what was measured until then");
}

void
sl__page_stop_and_seed(struct sl__doc *doc, enum sl_stop stopped_by,
		       uint64_t seed)
{
	sl__doc_pair(doc, "seed", SL__STYLE_DIM, "%" PRIu64, seed);
	if (stopped_by == SL_STOP_INTERRUPT)
		sl__doc_gap(doc);
	sl__page_interrupted(doc, stopped_by);
}
