/* SPDX-License-Identifier: Apache-2.0 */
/* live_table.c - fields of the list of measurements that run just now. */
#include "result/tables.h"
#include "sleuth/storing.h"

#include "base/banned.h"

static const struct sl__field run_fields[] = {
	SL__F(WHOLE, sl_live_run, id, "id", "of the measurement, not of a run"),
	SL__F(TEXT, sl_live_run, command, "command", "that measures"),
	SL__F(TEXT, sl_live_run, name, "name", "of the model, or the command"),
	SL__F(TEXT, sl_live_run, machine, "machine", "its fingerprint"),
	SL__F(TEXT, sl_live_run, phase, "phase", "what it does just now"),
	SL__F(NUMBER, sl_live_run, share, "share", "that is done, 0 to 1"),
	SL__F(NUMBER, sl_live_run, remaining_s, "remaining_s",
	      "seconds that it will take yet", .absent = "not known yet"),
	SL__F(DATE, sl_live_run, started_at_s, "started_at", "in UTC"),
	SL__F(DATE, sl_live_run, beat_at_s, "beat_at", "when it said so"),
};
static SL__RECORD(run, "live_runs", sl_live_run, run_fields, 0);

static const struct sl__field list_fields[] = {
	SL__F_LIST(LIST, sl_live_runs, list, n, "live",
		   "measurements that run just now", .of = &run),
};
SL__RECORD(sl__table_live_runs, "live", sl_live_runs, list_fields, 0);
