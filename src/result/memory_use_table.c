/* SPDX-License-Identifier: Apache-2.0 */
/* memory_use_table.c - fields of the memory that a model takes. */
#include "result/profile_tables.h"
#include "result/words.h"

#include <math.h>

#include "base/banned.h"

#define BYTES(member, name, ...) \
	SL__F(WHOLE, sl_memory_use, member, name, __VA_ARGS__)
#define READ(member, name, ...) \
	SL__F(READING, sl_memory_use, member, name, __VA_ARGS__)
/* What stands or falls with the tracked run. */
#define TRACKED   SL__REASON(sl_memory_use, tracked_bytes.absent)
#define INFERENCE "see training; of inference there are none"

SL__WHY(no_efficiency, sl_memory_use, m,
	m->resident_peak_bytes.absent   ? m->resident_peak_bytes.absent
	: m->resident_base_bytes.absent ? m->resident_base_bytes.absent
	: m->unplanned                  ? m->unplanned
					: "resident memory did not grow")

/* One from figures that cannot be is no fact. */
static const struct sl_fact *
no_true_efficiency(const void *record)
{
	const struct sl_memory_use *m = record;

	return m->resident_peak_bytes.absent || m->resident_base_bytes.absent ||
			       m->unplanned
		       ? NULL
		       : m->impossible;
}

/* The plan's timeline stands in where no run was tracked. */
static const char *
no_timeline(const struct sl_memory_use *m, const char *otherwise)
{
	if (m->n_timeline)
		return NULL;
	return m->tracked_bytes.absent ? m->tracked_bytes.absent : otherwise;
}

static const char *
no_basis(const void *record, const void *parent)
{
	(void)parent;
	return no_timeline(record, "no step ran");
}

SL__MAKE(make_basis, sl_memory_use, m, TEXT, text,
	 m->tracked_bytes.absent ? "planned" : "tracked")

/* The operation at the peak; a memory by itself knows none. */
static const struct sl_operation *
peak_operation(const struct sl_memory_use *m, const struct sl_profile *p)
{
	return p && m->n_timeline && m->peak_operation < p->n_operations
		       ? &p->operations[m->peak_operation]
		       : NULL;
}

SL__WHY(no_peak, sl_memory_use, m,
	m->tracked_bytes.absent ? m->tracked_bytes.absent
				: "no run was tracked")

enum { make_peak_kind = SL__FIELD_TEXT };

static void
make_peak(struct sl__computed_value *out, const void *record,
	  const void *parent)
{
	const struct sl_operation *o = peak_operation(record, parent);

	out->text = o ? o->name : NULL;
}

SL__MAKE(make_is_least, sl_memory_use, m, BOOLEAN, whole, !m->is_peak_reset)

static const struct sl__field moment_fields[] = {
	SL__F(WHOLE, sl_memory_moment, operation, "operation", "by its index"),
	SL__F(WHOLE, sl_memory_moment, live_bytes, "live_bytes",
	      "while it runs"),
};
static SL__RECORD(moment, "memory.timeline", sl_memory_moment, moment_fields,
		  0);

static const struct sl__field tensor_fields[] = {
	SL__F(TEXT, sl_memory_tensor, name, "name",
	      "of the value that lies in it first"),
	SL__F(WORD, sl_memory_tensor, category, "category", "what it is for",
	      .words = &sl__words_memory_category),
	SL__F(WHOLE, sl_memory_tensor, n_bytes, "bytes",
	      "in whole lines of 64"),
	SL__F(WHOLE, sl_memory_tensor, first, "first",
	      "place in the timeline from which it is in memory"),
	SL__F(WHOLE, sl_memory_tensor, last, "last", "and up to which"),
};
static SL__RECORD(tensor, "memory.tensors", sl_memory_tensor, tensor_fields, 0);

static const struct sl__field memory_fields[] = {
	BYTES(parameters_bytes, "parameters_bytes", "as the model stores them"),
	BYTES(activations_bytes, "activations_bytes",
	      "at the peak, with the three below all that is live", TRACKED),
	BYTES(input_bytes, "input_bytes", "likewise", TRACKED),
	BYTES(output_bytes, "output_bytes", "likewise", TRACKED),
	BYTES(workspace_bytes, "workspace_bytes", "likewise", TRACKED),
	SL__F_NEVER("gradients_bytes", "of a training step", INFERENCE),
	SL__F_NEVER("optimizer_bytes", "likewise", INFERENCE),
	BYTES(live_bytes, "live_bytes", "the plan's bound",
	      SL__REASON(sl_memory_use, unplanned)),
	BYTES(path_bytes, "path_bytes", "over the steps that ran", TRACKED),
	BYTES(values_bytes, "values_bytes",
	      "lower bound without workspaces: bytes that must be accessed"),
	BYTES(planned_bytes, "planned_bytes", "the block for activations"),
	BYTES(reserved_bytes, "reserved_bytes",
	      "planned, packed, records and rounding"),
	BYTES(packed_bytes, "packed_bytes", "weights that were made"),
	BYTES(mapped_bytes, "mapped_bytes",
	      "weights used where the file has "
	      "them"),
	BYTES(records_bytes, "records_bytes",
	      "graph as it is run, steps, shapes"),
	BYTES(rounding_bytes, "rounding_bytes", "to whole large pages"),
	READ(tracked_bytes, "tracked_bytes",
	     "largest sum seen by the tracker in a run"),
	READ(resident_base_bytes, "resident_base_bytes", "before planning"),
	READ(resident_bytes, "resident_bytes", "after the runs"),
	READ(resident_peak_bytes, "resident_peak_bytes", "the most"),
	READ(touched_bytes, "touched_bytes",
	     "resident growth after the runs, files left out"),
	READ(file_bytes, "file_bytes", "that of mapped files"),
	SL__F(WORD, sl_memory_use, peak_moment, "resident_peak_moment",
	      "when the process was largest", .words = &sl__words_peak_moment,
	      .absent = "not known"),
	SL__F(BOOLEAN, sl_memory_use, is_peak_reset, "resident_peak_is_reset",
	      "the peak is of these runs alone"),
	SL__F_MADE(make_is_least, "resident_peak_is_least",
		   "a lower bound where it did not rise"),
	SL__F(NUMBER, sl_memory_use, library_bytes, "library_bytes",
	      "of the accessed bytes, oneDNN's"),
	SL__F(NUMBER, sl_memory_use, predicted_bytes, "predicted_bytes",
	      "bytes accessed, from the plan", .absent = "not predicted"),
	SL__F(NUMBER, sl_memory_use, predicted_least_bytes,
	      "predicted_least_bytes",
	      "likewise, without pages that have nothing but workspace",
	      .absent = "not predicted"),
	SL__F(NUMBER, sl_memory_use, efficiency, "efficiency",
	      "(live + parameters) / (peak - base)", .fact = no_true_efficiency,
	      .because = no_efficiency),
	SL__F_MADE(make_peak, "peak_operation", "that runs at the peak",
		   .because = no_peak),
	BYTES(peak_operation, "peak_operation_index", "its index"),
	SL__F_LIST(LIST, sl_memory_use, alive, n_alive, "alive_at_peak",
		   "largest first", .of = &sl__table_alive_at_peak),
	SL__F_MADE(make_basis, "timeline_basis", "tracked, or planned",
		   .why = no_basis),
	SL__F_LIST(LIST, sl_memory_use, timeline, n_timeline, "timeline",
		   "operations that ran", .of = &moment, .is_flat = 1),
	SL__F_LIST(LIST, sl_memory_use, tensors, n_tensors, "tensors",
		   "in memory at some place of the timeline, whose bytes they "
		   "sum to",
		   .of = &tensor, .is_flat = 1),
	SL__F(FACT_AT, sl_memory_use, impossible, "impossible",
	      "what cannot be"),
};
SL__RECORD(sl__table_memory_use, "memory", sl_memory_use, memory_fields, 0);
