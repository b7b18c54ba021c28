/* SPDX-License-Identifier: Apache-2.0 */
/* gate_table.c - fields of a result against its baseline. */
#include "result/tables.h"
#include "result/words.h"
#include "sleuth/gating.h"

#include "base/banned.h"

static const struct sl__field row_fields[] = {
	SL__F(WORD, sl_gate_row, metric, "metric", "what is limited",
	      .words = &sl__words_gate_metric),
	SL__F(TEXT, sl_gate_row, name, "name", "of the model, or the command"),
	SL__F(TEXT, sl_gate_row, settings, "settings",
	      "sizes, type and threads", .absent = "none are said"),
	SL__F(TEXT, sl_gate_row, layer, "layer", "of the model",
	      .is_left_out = 1),
	SL__F(NUMBER, sl_gate_row, limit, "limit",
	      "share by which it may be worse; of accuracy a difference"),
	SL__F(NUMBER, sl_gate_row, before, "before",
	      "of the baseline: ns, bytes, FLOPs or a share",
	      SL__REASON(sl_gate_row, invalid)),
	SL__F(NUMBER, sl_gate_row, now, "now", "of the result",
	      SL__REASON(sl_gate_row, invalid)),
	SL__F(NUMBER, sl_gate_row, ratio.value, "ratio",
	      "now / before; of accuracy now - before",
	      SL__REASON(sl_gate_row, invalid)),
	SL__F(INTERVAL, sl_gate_row, ratio, "ratio_ci95", "its 95 % interval",
	      SL__REASON(sl_gate_row, invalid)),
	SL__F(WHOLE, sl_gate_row, ratio.n, "baselines", "that have it"),
	SL__F(WORD, sl_gate_row, verdict, "verdict", "of this limit",
	      .words = &sl__words_gate),
	SL__F(TEXT, sl_gate_row, invalid, "invalid",
	      "why there is nothing to judge", .is_left_out = 1),
};
static SL__RECORD(row, "limits", sl_gate_row, row_fields, 0);

static const struct sl__field inner_fields[] = {
	SL__F_LIST(LIST, sl_gate_check, rows, n_rows, "limits",
		   "a figure of a model each", .of = &row),
	SL__F(WORD, sl_gate_check, verdict, "verdict",
	      "of all: regressed before undecided", .words = &sl__words_gate),
	SL__F(BOOLEAN, sl_gate_check, is_invalid, "invalid",
	      "a figure is missing, or all are"),
	SL__F(BOOLEAN, sl_gate_check, is_fresh, "fresh",
	      "both sides were measured now, in the same rounds"),
	SL__F(BOOLEAN, sl_gate_check, is_disturbed, "disturbed",
	      "so often that times within their limit are undecided"),
	SL__F(WHOLE, sl_gate_check, n_baselines, "baselines",
	      "results that stand for the baseline"),
};
static SL__RECORD(inner, "gate", sl_gate_check, inner_fields, 0);

static const struct sl__field document_fields[] = {
	SL__F_GROUP(&inner, "gate", "a result against its baseline"),
};
SL__RECORD(sl__table_gate, "gate", sl_gate_check, document_fields, 0);
