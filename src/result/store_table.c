/* SPDX-License-Identifier: Apache-2.0 */
/* store_table.c - fields of the list of results in a store. */
#include "result/tables.h"
#include "sleuth/storing.h"

#include <math.h>

#include "base/banned.h"

SL__WHY(no_interval, sl_stored_point, p,
	isnan(p->time_ns.lo) ? "none was measured" : NULL)

static const struct sl__field point_fields[] = {
	SL__F(TEXT, sl_stored_point, name, "name",
	      "of the model, or the command"),
	SL__F(TEXT, sl_stored_point, hash, "hash",
	      "of the model's file: XXH3, 128 bits", .absent = "no file"),
	SL__F(TEXT, sl_stored_point, settings, "settings",
	      "sizes, type and threads that it ran with",
	      .absent = "none are said"),
	SL__F(NUMBER, sl_stored_point, time_ns.value, "median_ms",
	      "where a time was measured", .unit = SL__NS_PER_MS),
	SL__F(INTERVAL, sl_stored_point, time_ns, "ci95_ms",
	      "its 95 % interval", .unit = SL__NS_PER_MS, .why = no_interval),
	SL__F(WHOLE, sl_stored_point, time_ns.n, "n", "samples behind it"),
};
static SL__RECORD(point, "run_points", sl_stored_point, point_fields, 0);

SL__WHY(no_anchor, sl_stored_run, r,
	r->anchor.version ? NULL : "none was timed")
SL__WHY(no_anchor_interval, sl_stored_run, r,
	isnan(r->anchor.time_ns.lo) || !r->anchor.version
		? "none was timed, or too few times"
		: NULL)

static const struct sl__field run_fields[] = {
	SL__F(WHOLE, sl_stored_run, id, "id", "N of run:N"),
	SL__F(DATE, sl_stored_run, saved_at_s, "saved_at", "in UTC"),
	SL__F(TEXT, sl_stored_run, command, "command", "that made it"),
	SL__F(TEXT, sl_stored_run, kind, "kind", "of result"),
	SL__F(TEXT, sl_stored_run, version, "version", "of the program"),
	SL__F(TEXT, sl_stored_run, machine, "machine", "its fingerprint"),
	SL__F(TEXT, sl_stored_run, commit, "commit", "that was checked out",
	      .absent = "not in a repository"),
	SL__F(TEXT, sl_stored_run, branch, "branch", "likewise",
	      .absent = "none"),
	SL__F(BOOLEAN, sl_stored_run, is_dirty, "dirty",
	      "files differed from the commit"),
	SL__F_LIST(PAIRS, sl_stored_run, tags, n_tags, "tags",
		   "that the user gave"),
	SL__F_LIST(LIST, sl_stored_run, points, n_points, "points",
		   "its models or commands", .of = &point),
	SL__F(WHOLE, sl_stored_run, anchor.version, "anchor",
	      "version of the work that was timed beside it; 0: none"),
	SL__F(NUMBER, sl_stored_run, anchor.time_ns.value, "anchor_ms",
	      "its median", .unit = SL__NS_PER_MS, .why = no_anchor),
	SL__F(INTERVAL, sl_stored_run, anchor.time_ns, "anchor_ci95_ms",
	      "its 95 % interval", .unit = SL__NS_PER_MS,
	      .why = no_anchor_interval),
	SL__F(WHOLE, sl_stored_run, anchor.time_ns.n, "anchor_n",
	      "samples behind it"),
};
static SL__RECORD(run, "runs", sl_stored_run, run_fields, 0);

static const struct sl__field list_fields[] = {
	SL__F_LIST(LIST, sl_stored_runs, list, n, "runs", "results by number",
		   .of = &run),
};
SL__RECORD(sl__table_stored_runs, "stored", sl_stored_runs, list_fields, 0);
