/* SPDX-License-Identifier: Apache-2.0 */
/* suite_table.c - fields of a suite of benchmarks. */
#include "result/tables.h"
#include "result/words.h"
#include "sleuth/suites.h"

#include "base/banned.h"

SL__WHY(no_figure, sl_suite_limit, l,
	l->verdict == SL_GATE_UNDECIDED ? "not measured" : NULL)

static const struct sl__field limit_fields[] = {
	SL__F(WORD, sl_suite_limit, metric, "metric", "what is limited",
	      .words = &sl__words_gate_metric),
	SL__F(NUMBER, sl_suite_limit, limit, "limit",
	      "ns or bytes at most; of accuracy at least"),
	SL__F(NUMBER, sl_suite_limit, value, "value", "of the cell",
	      .because = no_figure),
	SL__F(WORD, sl_suite_limit, verdict, "verdict", "of this limit",
	      .words = &sl__words_gate),
};
static SL__RECORD(limit, "suite.cells.limits", sl_suite_limit, limit_fields, 0);

SL__WHY(no_time, sl_suite_cell, c,
	c->failed      ? "the cell failed"
	: c->time_ns.n ? NULL
		       : "no repetition was finished")
SL__WHY(no_ratio, sl_suite_cell, c,
	c->failed    ? "the cell failed"
	: c->ratio.n ? NULL
		     : "the baseline failed, or no repetition was finished")
SL__WHY(has_failed, sl_suite_cell, c, c->failed ? "the cell failed" : NULL)

static const struct sl__field cell_fields[] = {
	SL__F(TEXT, sl_suite_cell, name, "name", "of its section"),
	SL__F(TEXT, sl_suite_cell, model, "model", "as it was opened"),
	SL__F(TEXT, sl_suite_cell, source, "source", "path, or zoo"),
	SL__F(TEXT, sl_suite_cell, variant, "variant", "of the model"),
	SL__F(WORD, sl_suite_cell, scenario, "scenario", "of MLPerf",
	      .words = &sl__words_scenario),
	SL__F(SIGNED, sl_suite_cell, batch, "batch", "samples of a query"),
	SL__F(WORD, sl_suite_cell, dtype, "dtype", "that it computes in",
	      .words = &sl__words_dtype),
	SL__F(WHOLE, sl_suite_cell, n_threads, "threads", "that it runs on",
	      .why = has_failed),
	SL__F(TEXT, sl_suite_cell, failed, "failed", "why there are no figures",
	      .is_left_out = 1),
	SL__F(TEXT, sl_suite_cell, choices, "choices",
	      "hash of what computes each step", .absent = "it has no plan"),
	SL__F_TIME(sl_suite_cell, time_ns, "median",
		   "of a query, over repetitions", no_time),
	SL__F(WHOLE, sl_suite_cell, baseline, "baseline",
	      "number of the cell that it is compared with, from 0"),
	SL__F_ESTIMATE(sl_suite_cell, ratio, "time_ratio",
		       "time / baseline's, in the same rounds", no_ratio),
	SL__F(WHOLE, sl_suite_cell, memory_bytes, "memory_bytes",
	      "planned and weights", .why = has_failed),
	SL__F(WHOLE, sl_suite_cell, size_bytes, "size_bytes",
	      "stored parameters", .why = has_failed),
	SL__F(NUMBER, sl_suite_cell, accuracy.value, "accuracy",
	      "on the data of its section",
	      SL__REASON(sl_suite_cell, accuracy_absent)),
	SL__F(INTERVAL, sl_suite_cell, accuracy, "accuracy_ci95",
	      "its 95 % interval", SL__REASON(sl_suite_cell, accuracy_absent)),
	SL__F(WHOLE, sl_suite_cell, accuracy.n, "accuracy_n",
	      "samples behind it", SL__REASON(sl_suite_cell, accuracy_absent)),
	SL__F(WORD, sl_suite_cell, accuracy_kind, "accuracy_kind",
	      "what it counts", .words = &sl__words_accuracy_kind,
	      SL__REASON(sl_suite_cell, accuracy_absent)),
	SL__F(READING, sl_suite_cell, energy_j, "energy_j",
	      "of the CPU package, for a query"),
	SL__F(WHOLE, sl_suite_cell, batch_nth, "together",
	      "cells of the same number ran in the same rounds"),
	SL__F_LIST(LIST, sl_suite_cell, limits, n_limits, "limits",
		   "that the suite sets", .of = &limit, .is_flat = 1),
};
static SL__RECORD(cell, "suite.cells", sl_suite_cell, cell_fields, 0);

static const struct sl__field difference_fields[] = {
	SL__F(TEXT, sl_suite_difference, name, "name", "of what differs"),
	SL__F(TEXT, sl_suite_difference, locked, "locked", "in the lock file",
	      .absent = "the lock file lacks it"),
	SL__F(TEXT, sl_suite_difference, now, "now", "in this run",
	      .absent = "this run lacks it"),
};
static SL__RECORD(difference, "suite.lock.differences", sl_suite_difference,
		  difference_fields, 0);

static const struct sl__field lock_fields[] = {
	SL__F(TEXT, sl_suite, lock_path, "file", "of the lock",
	      .absent = "none was asked for"),
	SL__F(BOOLEAN, sl_suite, is_new_lock, "written", "by this run"),
	SL__F_LIST(PAIRS, sl_suite, facts, n_facts, "facts",
		   "what defines the results"),
	SL__F_LIST(LIST, sl_suite, differences, n_differences, "differences",
		   "from the lock file", .of = &difference, .is_flat = 1),
	SL__F(TEXT, sl_suite, unsaved, "unsaved",
	      "why the lock, or finished repetitions, could not be written",
	      .is_left_out = 1),
};
static SL__RECORD(lock, "suite.lock", sl_suite, lock_fields, 0);

static const struct sl__field inner_fields[] = {
	SL__F(TEXT, sl_suite, name, "name", "of the suite"),
	SL__F_LIST(LIST, sl_suite, cells, n_cells, "cells",
		   "a model in a variant and scenario each", .of = &cell),
	SL__F(WHOLE, sl_suite, n_repetitions, "repetitions",
	      "asked for, or made in the time; each makes all plans anew"),
	SL__F(NUMBER, sl_suite, asked_s, "asked_s",
	      "seconds that repetitions were to take at least; 0: their "
	      "number decides"),
	SL__F(WHOLE, sl_suite, n_rounds, "rounds",
	      "of a repetition: every cell once, in random order"),
	SL__F(WHOLE, sl_suite, n_done, "done",
	      "repetitions that all cells have"),
	SL__F(WHOLE, sl_suite, n_resumed, "resumed",
	      "of these, made by an earlier run"),
	SL__F(WHOLE, sl_suite, n_batches, "batches",
	      "of cells: above 1 where not all fit into the memory"),
	SL__F(WHOLE, sl_suite, memory_bytes, "memory_bytes",
	      "for plans that are open together"),
	SL__F(WORD, sl_suite, verdict, "verdict",
	      "of all limits: regressed before undecided",
	      .words = &sl__words_gate),
	SL__F_GROUP(&lock, "lock", "what defines the results"),
};
static SL__RECORD(inner, "suite", sl_suite, inner_fields, 0);

static const struct sl__field document_fields[] = {
	SL__F_GROUP(&inner, "suite", "one interleaved experiment"),
	SL__F(OBJECT, sl_suite, noise, "noise",
	      "what disturbed the measurement", .of = &sl__table_noise),
	SL__F_ENDING(sl_suite),
};

static const char *
check_suite(const void *record)
{
	const struct sl_suite *s = record;

	for (size_t i = 0; i < s->n_cells; i++) {
		if (s->cells[i].baseline >= s->n_cells)
			return "a cell's baseline is no cell";
	}
	return NULL;
}

SL__RECORD(sl__table_suite, "suite", sl_suite, document_fields,
	   .check = check_suite);
