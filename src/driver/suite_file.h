/* SPDX-License-Identifier: Apache-2.0 */
/* suite_file.h - the text that describes a suite. */
#ifndef SL_SUITE_FILE_H
#define SL_SUITE_FILE_H

#include "base/arena.h"
#include "sleuth/suites.h"
#include "sleuth/variants.h"

/* A model in another way or form. */
struct sl__suite_variant {
	const char *name;    /* as the file has it */
	const char *model;   /* the model that it is of */
	const char *changes; /* of it, for sl_variant_new(); NULL: none */
};

/* What a section describes; above the first section stand the defaults. */
struct sl__suite_section {
	const char *name;                           /* NULL: of the defaults */
	const char *model, *data, *labels, *inputs; /* NULL: not said */
	const char *variant_words;                  /* between commas */
	const char *scenario_words;
	size_t variants_line, variants_column;
	size_t scenarios_line, scenarios_column;
	double batch, seq, threads;       /* 0: not said */
	double limits[SL_N_GATE_METRICS]; /* ns, bytes, share; 0: none */

	struct sl__suite_variant *variants; /* the first is the baseline */
	size_t n_variants;
	enum sl_scenario scenarios[SL_N_SCENARIOS];
	size_t n_scenarios;
	size_t line;
};

struct sl__suite_file {
	size_t n_repetitions; /* at least */
	size_t n_most;        /* of them */
	double time_s;        /* they go on until they took as long */
	size_t n_rounds;
	uint64_t seed;
	struct sl__suite_section *sections;
	size_t n_sections; /* at least 1 */
};

/* SL_E_DATA as "line 3, column 1: ...", with the nearest key or word.  All that
 * it points to is from 'arena'. */
enum sl_status sl__suite_file_read(struct sl__suite_file *out, const char *text,
				   size_t n_bytes, struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

#endif
