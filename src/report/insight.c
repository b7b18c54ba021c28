/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight.c - what stands out in the numbers, in plain words.
 *
 * Each rule is one function: a condition on figures and a sentence that
 * quotes them.  A rule whose figures are absent or refused stays silent.
 */
#include "report/insight.h"
#include "report/unit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/banned.h"

enum {
	N_LOOKED_AT = 5, /* the dearest scopes; the rest is noise to a reader */
	MANY_FAULTS = 100 /* a call: about 50 us of it at 0.5 us a fault */
};

static const double MOST_OF_TIME = 0.8;   /* Pareto's */
static const double HIGH_VARIATION = 3;   /* p99 / p50 */
static const double OFF_CPU = 0.1;        /* of the wall time */
static const double COSTLY_SCOPE = 0.1;   /* pair cost / mean of a call */
static const double TEMPORARY_SHARE = 10; /* allocated / peak above baseline */

__attribute__((format(__printf__, 2, 3))) static void
say(struct sl__insights *out, const char *format, ...)
{
	va_list args;

	if (out->n == SL__CAP_INSIGHTS)
		return;
	va_start(args, format);
	vsnprintf(out->lines[out->n++], sizeof(out->lines[0]), format, args);
	va_end(args);
}

/* "80 % of the time is in 2 of 9 scopes: matmul, softmax". */
static void
concentration(struct sl__insights *out, const struct sl_scopes *s)
{
	double share = 0;
	size_t n = 0;
	struct sl__text text;

	while (n < s->n_rows && share < MOST_OF_TIME)
		share += s->rows[n++].share;
	if (share < MOST_OF_TIME || s->n_scopes < 3 || 2 * n > s->n_scopes)
		return;
	say(out, "%s of the time is in %zu of %zu scopes, most of it in %s.",
	    sl__percent_text(&text, share), n, s->n_scopes, s->rows[0].name);
}

/* How a rate can be above its ceiling, as the end of a sentence. */
static const char *
above_text(char *text, size_t size, const struct sl__roof_share *roof)
{
	text[0] = '\0';
	if (roof->place == SL__ROOF_UNCLEAR)
		return ", which the errors of both may explain";
	if (roof->place == SL__ROOF_ABOVE)
		snprintf(text, size, ": %s%s%s", roof->because,
			 roof->or_threads
				 ? ", or more threads work than opened it"
				 : "",
			 roof->or_wrong ? ", or the declared work is too large"
					: "");
	return text;
}

static void
rate(struct sl__insights *out, const char *name, double value,
     const struct sl__roof_share *roof, const char *unit)
{
	struct sl__text share, now, ceiling;
	char above[128];

	if (!roof->of)
		return;
	sl__si_prefix_text(&now, value);
	sl__si_prefix_text(&ceiling, roof->ceiling);
	if (roof->place == SL__ROOF_IMPOSSIBLE)
		say(out,
		    "%s would run at %s%s, which is impossible (%s reaches "
		    "%s%s): the declared work is too large, or was done "
		    "elsewhere.",
		    name, now.s, unit, roof->of, ceiling.s, unit);
	else
		say(out, "%s runs at %s of %s (%s%s of %s%s)%s.", name,
		    sl__percent_text(&share, roof->share.value), roof->of,
		    now.s, unit, ceiling.s, unit,
		    above_text(above, sizeof(above), roof));
}

void
sl__insight_rates(struct sl__insights *out, const char *name,
		  const struct sl__achieved_rates *rates,
		  const struct sl_machine *machine)
{
	struct sl__roof_share flops = sl__flops_share_of_roof(machine, rates);
	struct sl__roof_share bytes = sl__bytes_share_of_roof(machine, rates);

	rate(out, name, rates->flops_per_s.value, &flops, "FLOP/s");
	rate(out, name, rates->bytes_per_s.value, &bytes, "B/s");
}

void
sl__insight_variation(struct sl__insights *out, const char *name,
		      const struct sl_estimate *median,
		      const struct sl_estimate *p99)
{
	double ratio = p99->value / median->value;

	if (p99->needs_n || !(ratio >= HIGH_VARIATION))
		return;
	say(out, "%s varies a lot: p99 is %.1f × p50.", name, ratio);
}

static void
cost_of_measuring(struct sl__insights *out, const struct sl_scopes *s,
		  const struct sl_scope_row *row)
{
	struct sl__text mean, pair;

	if (!(row->mean.value < s->pair_ns / COSTLY_SCOPE))
		return;
	say(out,
	    "%s takes %s per call and measuring it %s: a scope around its loop "
	    "would disturb less.",
	    row->name, sl__time_text(&mean, row->mean.value),
	    sl__time_text(&pair, s->pair_ns));
}

static void
waiting(struct sl__insights *out, const struct sl_scope_row *row)
{
	double share = 1 - row->cpu_ns.value / row->mean.value;
	struct sl__text text;

	if (row->cpu_ns.absent || !(share >= OFF_CPU))
		return;
	say(out, "%s is off the CPU for %s of its time: waiting or preempted.",
	    row->name, sl__percent_text(&text, share));
}

static void
faults(struct sl__insights *out, const struct sl_scope_row *row)
{
	if (row->n_minor_faults.absent ||
	    !(row->n_minor_faults.value >= MANY_FAULTS))
		return;
	say(out,
	    "%s takes %.0f page faults per call: it uses fresh memory each "
	    "time.",
	    row->name, row->n_minor_faults.value);
}

static void
retention(struct sl__insights *out, const struct sl_scope_row *row)
{
	double kept = row->allocated_bytes.value - row->freed_bytes.value;
	struct sl__text text;

	/* A page a call; NaN, when absent, is not. */
	if (!(kept >= 4096) || row->n_calls < 2)
		return;
	say(out, "%s keeps %s more after each call.", row->name,
	    sl__bytes_text(&text, kept));
}

void
sl__insights_of_scopes(struct sl__insights *out, const struct sl_scopes *s)
{
	size_t n = s->n_rows < N_LOOKED_AT ? s->n_rows : N_LOOKED_AT;

	out->n = 0;
	concentration(out, s);
	for (size_t i = 0; i < n; i++) {
		const struct sl_scope_row *row = &s->rows[i];
		struct sl__achieved_rates rates = sl__rates_of_scope(s, row);

		sl__insight_rates(out, row->name, &rates, s->machine);
		sl__insight_variation(out, row->name, &row->median, &row->p99);
		waiting(out, row);
		faults(out, row);
		retention(out, row);
		cost_of_measuring(out, s, row);
	}
}

void
sl__insight_memory(struct sl__insights *out, const struct sl_memory *m)
{
	double above = m->peak_bytes - m->baseline_bytes;
	double turnover = m->allocated_bytes.value / above;
	struct sl__text text;

	if (m->pattern != SL_MEMORY_FLAT)
		say(out, "Memory is %s: %s.",
		    sl_memory_pattern_text(m->pattern), m->evidence);
	if (m->allocated_bytes.absent || !(turnover >= TEMPORARY_SHARE) ||
	    !(above > 0))
		return;
	say(out,
	    "It allocates %s in all, %.0f × its peak: buffers could be "
	    "reused.",
	    sl__bytes_text(&text, m->allocated_bytes.value), turnover);
}
