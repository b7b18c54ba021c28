/* SPDX-License-Identifier: Apache-2.0 */
/* history_table.c - fields of the history of a model. */
#include "result/tables.h"
#include "sleuth/storing.h"

#include <math.h>

#include "base/banned.h"

#define MS .unit = SL__NS_PER_MS

SL__WHY(no_interval, sl_history_point, p,
	isnan(p->time_ns.lo) ? "none was measured" : NULL)
SL__WHY(no_anchor, sl_history_point, p,
	isnan(p->anchor_ns) ? "none was timed" : NULL)
SL__WHY(no_drawn_interval, sl_history_point, p,
	isnan(p->drawn_ns.lo) ? "one of the two has none" : NULL)
SL__WHY(no_anchors, sl_history_series, s,
	isnan(s->anchor_ns) ? "none was timed" : NULL)

static const struct sl__field series_fields[] = {
	SL__F(TEXT, sl_history_series, name, "name",
	      "of the model, or the command"),
	SL__F(TEXT, sl_history_series, settings, "settings",
	      "sizes, type and threads", .absent = "none are said"),
	SL__F(TEXT, sl_history_series, machine, "machine", "its fingerprint"),
	SL__F(WHOLE, sl_history_series, first, "first",
	      "its first point, counted from 0"),
	SL__F(WHOLE, sl_history_series, n_points, "n", "points"),
	SL__F(WHOLE, sl_history_series, anchor, "anchor",
	      "version of the work that was timed beside it; 0: none, bare "
	      "times are drawn"),
	SL__F(NUMBER, sl_history_series, anchor_ns, "anchor_ms",
	      "median of its runs", MS, .why = no_anchors),
};
static SL__RECORD(series, "history_series", sl_history_series, series_fields,
		  0);

static const struct sl__field point_fields[] = {
	SL__F(WHOLE, sl_history_point, series, "series", "counted from 0"),
	SL__F(WHOLE, sl_history_point, run, "run", "N of run:N"),
	SL__F(DATE, sl_history_point, saved_at_s, "saved_at", "in UTC"),
	SL__F(TEXT, sl_history_point, commit, "commit", "that was checked out",
	      .absent = "not in a repository"),
	SL__F(TEXT, sl_history_point, branch, "branch", "likewise",
	      .absent = "none"),
	SL__F(BOOLEAN, sl_history_point, is_dirty, "dirty",
	      "files differed from the commit"),
	SL__F(NUMBER, sl_history_point, time_ns.value, "median_ms",
	      "of its samples", MS),
	SL__F(INTERVAL, sl_history_point, time_ns, "ci95_ms",
	      "its 95 % interval", MS, .why = no_interval),
	SL__F(WHOLE, sl_history_point, time_ns.n, "n", "samples"),
	SL__F(NUMBER, sl_history_point, anchor_ns, "anchor_ms",
	      "time of the anchor in the same run", MS, .why = no_anchor),
	SL__F(NUMBER, sl_history_point, drawn_ns.value, "drawn_ms",
	      "median_ms / anchor_ms, times the series' anchor_ms; without an "
	      "anchor median_ms",
	      MS),
	SL__F(INTERVAL, sl_history_point, drawn_ns, "drawn_ci95_ms",
	      "its 95 % interval", MS, .why = no_drawn_interval),
};
static SL__RECORD(point, "history_points", sl_history_point, point_fields, 0);

static const struct sl__field change_fields[] = {
	SL__F(WHOLE, sl_history_change, series, "series", "counted from 0"),
	SL__F(WHOLE, sl_history_change, point, "point",
	      "the first after it, counted from 0"),
	SL__F(WHOLE, sl_history_change, run, "run", "N of its run:N"),
	SL__F(TEXT, sl_history_change, commit, "commit",
	      "the first after the change", .absent = "not in a repository"),
	SL__F(TEXT, sl_history_change, commit_before, "commit_before",
	      "the last before it", .absent = "not in a repository"),
	SL__F(NUMBER, sl_history_change, before_ns, "before_ms",
	      "median from the change before", MS),
	SL__F(NUMBER, sl_history_change, after_ns, "after_ms",
	      "median up to the next change", MS),
	SL__F(NUMBER, sl_history_change, share, "change",
	      "after / before - 1: above 0 is slower"),
	SL__F(NUMBER, sl_history_change, p, "p",
	      "of so large a change without a cause"),
};
static SL__RECORD(change, "history_changes", sl_history_change, change_fields,
		  0);

static const struct sl__field inner_fields[] = {
	SL__F_LIST(LIST, sl_history, series, n_series, "series",
		   "machines and settings, whose times are not joined",
		   .of = &series),
	SL__F_LIST(LIST, sl_history, points, n_points, "points",
		   "by series, then by number", .of = &point),
	SL__F_LIST(LIST, sl_history, changes, n_changes, "changes",
		   "lasting changes of level", .of = &change),
};
static SL__RECORD(inner, "history", sl_history, inner_fields, 0);

/* A reader finds points by these numbers. */
static const char *
check(const void *record)
{
	const struct sl_history *h = record;

	for (size_t i = 0; i < h->n_series; i++) {
		const struct sl_history_series *s = &h->series[i];

		if (s->first > h->n_points ||
		    s->n_points > h->n_points - s->first)
			return "a series has points that are not there";
	}
	for (size_t i = 0; i < h->n_changes; i++) {
		if (h->changes[i].point >= h->n_points ||
		    h->changes[i].series >= h->n_series)
			return "a change is at a point that is not there";
	}
	return NULL;
}

static const struct sl__field document_fields[] = {
	SL__F_GROUP(&inner, "history", "times over the results of a store"),
};
SL__RECORD(sl__table_history, "history", sl_history, document_fields,
	   .check = check);
