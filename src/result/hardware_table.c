/* SPDX-License-Identifier: Apache-2.0 */
/* hardware_table.c - fields of a model's bounds on machines on paper. */
#include "result/inspect_tables.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define MS   .factor = 1e3
#define GIGA .unit = 1e9

/* What a bound is the reason of is absent with it. */
#define BOUND SL__REASON(sl_hardware_row, no_bound)

SL__WHY(no_memory, sl_hardware, h, h->memory_bytes > 0 ? NULL : "not given")
SL__WHY(no_money, sl_hardware_row, r,
	isnan(r->hardware->price_per_hour) ? "no price is given"
	: r->no_bound                      ? r->no_bound
					   : "it does not fit")
SL__WHY(no_fit, sl_hardware_row, r,
	r->fits >= 0     ? NULL
	: r->fits_absent ? r->fits_absent
			 : "not known")
SL__WHY(no_train_fit, sl_hardware_row, r,
	r->train_fits >= 0 ? NULL
	: r->fits_absent   ? r->fits_absent
			   : "not known")
SL__WHY(no_place, sl_hardware_row, r, r->best_batch ? NULL : "not possible")
SL__MAKE(is_possible, sl_hardware_row, r, BOOLEAN, whole, r->best_batch > 0)
SL__MAKE(make_bound, sl_hardware_operation, o, TEXT, text,
	 o->is_compute ? "compute" : "memory")

/* Whether a rate, a service or a training was asked of the report. */
static const struct sl_hardware_report *
report_of(const void *parent)
{
	return parent;
}

SL__WHY(no_rate, sl_hardware_row, r,
	!r->best_batch || !(report_of(parent)->rate_per_s > 0) ? "not asked"
							       : NULL)
SL__WHY(no_service, sl_hardware_row, r,
	r && (report_of(parent)->rate_per_s > 0 ||
	      report_of(parent)->latency_s > 0)
		? NULL
		: "not asked")
SL__WHY(no_training, sl_hardware_row, r,
	r &&report_of(parent)->n_samples > 0 ? NULL : "not asked")
SL__MAKE(make_basis, sl_hardware_row, r, TEXT, text,
	 r &&report_of(parent)->n_unknown_values ? "at least" : "predicted")

static const struct sl__field machine_fields[] = {
	SL__F(TEXT, sl_hardware, id, "id", "by which it is asked for"),
	SL__F(TEXT, sl_hardware, name, "name", "its maker's"),
	SL__F(TEXT, sl_hardware, kind, "kind", "cpu, gpu or accelerator"),
	SL__F(NUMBER, sl_hardware, bandwidth_bytes_per_s,
	      "bandwidth_gbytes_per_s", "of its memory", GIGA),
	SL__F(NUMBER, sl_hardware, memory_bytes, "memory_bytes", "that it has",
	      .why = no_memory),
	SL__F(NUMBER, sl_hardware, price_per_hour, "price_per_hour", "USD",
	      .absent = "no price is given"),
	SL__F(TEXT, sl_hardware, source, "source",
	      "where the figures come from"),
	SL__F(NUMBER_BY_WORD, sl_hardware, peak_ops_per_s, "peak_ops_per_s",
	      "of each type; 0: it does not compute in that",
	      .words = &sl__words_dtype),
};

static void
settle_machine(void *record)
{
	struct sl_hardware *h = record;

	if (isnan(h->memory_bytes))
		h->memory_bytes = 0;
}

static SL__RECORD(machine, "hardware", sl_hardware, machine_fields,
		  .settle = settle_machine);

static const struct sl__field service_fields[] = {
	SL__F_MADE(is_possible, "possible", "the rate and latency asked for"),
	SL__F(SIGNED, sl_hardware_row, best_batch, "batch", "batch size",
	      .why = no_place, .is_left_out = 1),
	SL__F(NUMBER, sl_hardware_row, best_bound_s, "bound_ms",
	      "least time of it", MS, .why = no_place, .is_left_out = 1),
	SL__F(NUMBER, sl_hardware_row, best_wait_s, "wait_ms",
	      "for its last sample", MS, .why = no_place, .is_left_out = 1),
	SL__F(NUMBER, sl_hardware_row, best_per_million, "cost_per_million",
	      "USD at that batch", .why = no_place, .because = no_money,
	      .is_left_out = 1),
	SL__F(NUMBER, sl_hardware_row, n_machines, "machines",
	      "that hold the rate", .why = no_rate, .is_left_out = 1),
	SL__F(NUMBER, sl_hardware_row, cost_per_month, "cost_per_month", "USD",
	      .why = no_rate, .because = no_money, .is_left_out = 1),
};
static SL__RECORD(service, "hardware.serving", sl_hardware_row, service_fields,
		  0);

static const struct sl__field training_fields[] = {
	SL__F(NUMBER, sl_hardware_row, train_hours, "hours",
	      "by arithmetic alone", BOUND),
	SL__F(NUMBER, sl_hardware_row, train_cost, "cost", "USD",
	      .because = no_money),
	SL__F(NUMBER, sl_hardware_row, train_bytes, "memory_bytes", "needed"),
	SL__F(BOOLEAN, sl_hardware_row, train_fits, "fits", "into its memory",
	      .why = no_train_fit),
};
static SL__RECORD(training, "hardware.training", sl_hardware_row,
		  training_fields, 0);

static const struct sl__field operation_fields[] = {
	SL__F(TEXT, sl_hardware_operation, name, "name", "of the layer"),
	SL__F(NUMBER, sl_hardware_operation, bound_s, "bound_ms", "least time",
	      MS),
	SL__F_MADE(make_bound, "bound", "compute or memory"),
	SL__F(BOOLEAN, sl_hardware_operation, is_compute, "is_compute",
	      "bound by arithmetic"),
};
static SL__RECORD(operation, "hardware.operations", sl_hardware_operation,
		  operation_fields, 0);

SL__MAKE(make_peak, sl_hardware_row, r, NUMBER, number,
	 r->hardware->peak_ops_per_s[r->dtype] / 1e9)

static const struct sl__field row_fields[] = {
	SL__F(POINTER, sl_hardware_row, hardware, NULL, NULL, .of = &machine),
	SL__F(WORD, sl_hardware_row, dtype_model, "dtype_model",
	      "that the model has most arithmetic in",
	      .words = &sl__words_dtype),
	SL__F(WORD, sl_hardware_row, dtype, "dtype", "that it is done in",
	      .words = &sl__words_dtype, BOUND),
	SL__F_MADE(make_peak, "peak_gflops_per_s", "in that type", BOUND),
	SL__F(NUMBER, sl_hardware_row, bound_s, "bound_ms",
	      "least time, every layer from and to memory", MS, BOUND),
	SL__F(NUMBER, sl_hardware_row, floor_s, "floor_ms",
	      "least time, everything fused or cached", MS, BOUND),
	SL__F(NUMBER, sl_hardware_row, compute_share, "compute_share",
	      "of bound_ms, in layers bound by arithmetic", BOUND,
	      .absent = "nothing is computed"),
	SL__F(NUMBER, sl_hardware_row, needs_bytes, "needs_bytes",
	      "parameters and live set"),
	SL__F_MADE(make_basis, "needs_basis", "at least, or predicted"),
	SL__F(BOOLEAN, sl_hardware_row, fits, "fits", "into its memory",
	      .why = no_fit),
	SL__F(REASON, sl_hardware_row, fits_absent, "fits_absent",
	      "why that is not known"),
	SL__F(NUMBER, sl_hardware_row, cost_per_million, "cost_per_million",
	      "USD for samples at bound_ms", .because = no_money),
	SL__F_GROUP(&service, "serving", "the rate and latency asked for",
		    .why = no_service, .is_left_out = 1),
	SL__F_GROUP(&training, "training", "of the samples asked for",
		    .why = no_training, .is_left_out = 1),
	SL__F_LIST(LIST, sl_hardware_row, operations, n_operations,
		   "operations", "as they run", .of = &operation, .is_flat = 1),
};

static void
settle_row(void *record)
{
	struct sl_hardware_row *r = record;

	if (r->fits_absent)
		r->fits = r->train_fits = -1;
}

static SL__RECORD(row, "hardware", sl_hardware_row, row_fields,
		  .settle = settle_row);

SL__WHY(nothing_asked, sl_hardware_report, r,
	r->rate_per_s > 0 || r->latency_s > 0 ? NULL : "not asked")
SL__WHY(no_crossing, sl_hardware_report, r,
	r->crossing.kind ? NULL
			 : "there are not both a CPU and a GPU with room")

static const struct sl__field asked_fields[] = {
	SL__F(SIGNED, sl_hardware_report, batch, "batch", "batch size"),
	SL__F(TEXT, sl_hardware_report, batch_limit, "batch_limit",
	      "why no larger batch was tried", .is_left_out = 1),
	SL__F(NUMBER, sl_hardware_report, rate_per_s, "rate_per_s",
	      "samples wanted; 0: not asked"),
	SL__F(NUMBER, sl_hardware_report, latency_s, "latency_ms",
	      "limit on one batch; 0: none", MS),
	SL__F(NUMBER, sl_hardware_report, n_samples, "samples",
	      "of a training run; 0: not asked"),
	SL__F(NUMBER, sl_hardware_report, n_epochs, "epochs", "of it"),
	SL__F(WORD, sl_hardware_report, optimizer, "optimizer", "of it",
	      .words = &sl__words_optimizer),
	SL__F(NUMBER, sl_hardware_report, hours_per_month, "hours_per_month",
	      "in the cost of a month"),
	SL__F(WHOLE, sl_hardware_report, n_unknown_values, "unknown_values",
	      "whose size is not known"),
};
static SL__RECORD(asked, "hardware_asked", sl_hardware_report, asked_fields, 0);

static const struct sl__field report_fields[] = {
	SL__F_GROUP(&asked, "hardware_asked", "of the machines on paper"),
	SL__F_LIST(LIST, sl_hardware_report, rows, n_rows, "hardware",
		   "shortest bound first, then those without room, then those "
		   "without a bound",
		   .of = &row),
	SL__F(WHOLE, sl_hardware_report, n_unknown_nodes,
	      "hardware_unknown_nodes", "whose arithmetic is in no bound"),
	SL__F(SIGNED, sl_hardware_report, largest_batch,
	      "hardware_largest_batch", "that was tried"),
	SL__F(TEXT, sl_hardware_report, cheapest, "cheapest",
	      "machine that holds rate and latency", .why = nothing_asked,
	      .absent = "none with a price holds the limit", .is_left_out = 1),
	SL__F(FACT, sl_hardware_report, crossing, "crossing",
	      "CPU or GPU, and at which batches", .why = no_crossing),
};
SL__RECORD(sl__table_hardware, "on_paper", sl_hardware_report, report_fields,
	   0);
