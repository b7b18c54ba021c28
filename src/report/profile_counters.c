/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_counters.c - what the CPU's counters said about operations.
 *
 * Where they take turns, counts are scaled up from the time they had: these
 * are marked with '~'.
 */
#include "report/doc_names.h"
#include "report/profile_page.h"
#include "report/unit.h"

#include <math.h>

#include "base/banned.h"

/* Below it a counter took turns; above, it only began a little late. */
static const double ALL_TURNS = 0.995;

/* Why none of them was read; NULL: some were. */
static const char *
why_none(const struct sl_profile *p)
{
	if (p->n_counted)
		return NULL;
	return p->no_counter ? p->no_counter : "no operation was counted";
}

static void
add_count(struct sl__doc *doc, const struct sl_profile *p,
	  const struct sl_operation *o, enum sl_event event)
{
	double count = o->counts->of[event];
	const char *mark = p->counters[event].running_share < ALL_TURNS ? "~"
									: "";
	struct sl__text t;

	if (!isfinite(count))
		sl__doc_absent_cell(doc);
	else if (count < 1000)
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s%.0f", mark, count);
	else
		sl__doc_cell(doc, SL__STYLE_PLAIN, "%s%s", mark,
			     sl__si_prefix_text(&t, count));
}

static void
add_row(struct sl__doc *doc, const struct sl_profile *p,
	const struct sl_operation *o, size_t n_label)
{
	const double *of = o->counts->of;
	double pace = of[SL_EVENT_INSTRUCTIONS] / of[SL_EVENT_CYCLES];
	double stalled = of[SL_EVENT_STALLS] / of[SL_EVENT_CYCLES];
	struct sl__text t;

	sl__doc_plain_cell(doc, sl__doc_layer_name(doc, o->name, n_label));
	add_count(doc, p, o, SL_EVENT_CYCLES);
	sl__doc_cell(doc, isfinite(pace) ? SL__STYLE_STRONG : SL__STYLE_DIM,
		     "%s", sl__three_digit_text(&t, pace));
	if (isfinite(stalled))
		sl__doc_cell(doc, SL__STYLE_STRONG, "%.0f%%", 100 * stalled);
	else
		sl__doc_absent_cell(doc);
	add_count(doc, p, o, SL_EVENT_L1_MISSES);
	add_count(doc, p, o, SL_EVENT_L2_MISSES);
	add_count(doc, p, o, SL_EVENT_L3_MISSES);
}

/* Which counters stand for the events, and how long each had its turn. */
static void
add_uses(struct sl__doc *doc, const struct sl_profile *p)
{
	for (int e = 0; e < SL_N_EVENTS; e++) {
		const struct sl_counter_use *use = &p->counters[e];
		const char *event = sl_event_text((enum sl_event)e);
		struct sl__text t;

		if (!use->counter) {
			sl__doc_pair(doc, event, SL__STYLE_DIM, "none: %s",
				     use->absent ? use->absent : "not counted");
			continue;
		}
		sl__doc_plain_pair(doc, event, "%s", use->counter);
		if (use->running_share < ALL_TURNS)
			sl__doc_append(
				doc, SL__STYLE_WARN,
				", for %s of the time, scaled up (~)",
				sl__percent_text(&t, use->running_share));
	}
}

void
sl__profile_counters(struct sl__doc *doc, const struct sl__profile_sheet *sheet)
{
	static const struct sl__column columns[] = {
		{"operation", 0, 0}, {"cycles", 1, 1},  {"instr/cycle", 1, 0},
		{"stalled", 1, 0},   {"L1 miss", 1, 3}, {"L2 miss", 1, 2},
		{"L3 miss", 1, 0},
	};
	enum { LABEL_COLUMNS = 24, N_COLUMNS = 7 };
	const struct sl_profile *p = sheet->profile;
	const char *none = why_none(p);

	if (none) {
		sl__doc_pair(doc, "counters", SL__STYLE_DIM,
			     "not available, because %s", none);
		sl__profile_explain(doc, SL__TOPIC_COUNTERS, sheet);
		return;
	}
	sl__doc_heading(doc, "What the CPU counted");
	sl__doc_append_dim(doc, "  a call, all threads");
	sl__doc_table(doc, columns, N_COLUMNS);
	for (size_t i = 0; i < p->n_operations; i++) {
		const struct sl_operation *o = &p->operations[p->by_time[i]];

		if (o->counts)
			add_row(doc, p, o, LABEL_COLUMNS);
	}
	add_uses(doc, p);
	sl__profile_explain(doc, SL__TOPIC_COUNTERS, sheet);
}
