/* SPDX-License-Identifier: Apache-2.0 */
/* suite_cells.h - the cells of a suite while it runs. */
#ifndef SL_SUITE_CELLS_H
#define SL_SUITE_CELLS_H

#include "driver/suite_file.h"
#include "experiment/step_pairing.h"
#include "experiment/subject.h"
#include "experiment/suite_rounds.h"

/* A model that cells share, by its name. */
struct sl__suite_model {
	const char *name;
	struct sl_graph *graph; /* NULL: 'failed' says why */
	const char *failed;
};

/*
 * A cell and its figures of each repetition.  Invariant: a time that is not NaN
 * was measured, and is not measured again.
 */
struct sl__suite_run_cell {
	const struct sl__suite_section *section;
	const struct sl__suite_variant *variant;
	struct sl__suite_model *model;
	struct sl_suite_cell *out;
	size_t first; /* the cell of the first scenario, whose variant and
			 accuracy it has; itself where it is that */
	struct sl_variant *changed; /* owned by the first; NULL: the model as it
				       is */
	int has_accuracy;
	double *ns, *ratios, *joules; /* [n_most]; NaN: not made */

	/* While its batch of cells runs. */
	struct sl_sizes sizes;
	struct sl__subject_model subject;
	struct sl__suite_arm *arm; /* NULL: not in the batch */
};

struct sl__suite_run {
	struct sl_suite_options how; /* defaults filled in */
	struct sl__suite_file file;
	struct sl__arena *arena; /* of the result */
	struct sl__arena scratch;
	struct sl_suite *out;
	struct sl__suite_model *models;
	size_t n_models;
	struct sl__suite_run_cell *cells;
	size_t n_cells;
	struct sl__shared_tuning_cache choices;
	struct sl__energy_meter meter;
	struct sl__monitor monitor;
	size_t n_least, n_most; /* repetitions */
	double measured_s;      /* by repetitions that are finished */
	uint64_t kept_ns;       /* when they were last written */
	const char *identity;   /* a hash of what defines the measurement */
	uint64_t start_ns;
};

/* Facts that are known before the first plan, and 'identity' from them. */
enum sl_status sl__suite_facts_find(struct sl__suite_run *run, const char *text,
				    size_t n_bytes,
				    struct sl_error *err) SL_CHECKED;

/* Takes over what an earlier run of the same identity finished. */
enum sl_status sl__suite_partial_read(struct sl__suite_run *run,
				      struct sl_error *err) SL_CHECKED;

/* As below, unless that was done less than a second ago. */
enum sl_status sl__suite_partial_keep(struct sl__suite_run *run,
				      struct sl_error *err) SL_CHECKED;

/* Keeps what is finished; where that fails, out->unsaved says why. */
enum sl_status sl__suite_partial_write(struct sl__suite_run *run,
				       struct sl_error *err) SL_CHECKED;

/* Adds the choices of algorithms to the facts, finds what differs from the lock
 * file, writes it where there is none, and removes what was partial. */
enum sl_status sl__suite_lock_compare(struct sl__suite_run *run,
				      struct sl_error *err) SL_CHECKED;

#endif
