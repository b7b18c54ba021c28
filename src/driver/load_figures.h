/* SPDX-License-Identifier: Apache-2.0 */
/* load_figures.h - what a run under load says. */
#ifndef SL_LOAD_FIGURES_H
#define SL_LOAD_FIGURES_H

#include "experiment/load_run.h"
#include "sleuth/loading.h"

/* LoadGen's rules (MLPerf Inference 4): 600 s, and offline 24,576 samples. */
enum {
	SL__LOADGEN_SECONDS = 600,
	SL__LOADGEN_OFFLINE_SAMPLES = 24576,
	SL__LOAD_STRETCHES = 120
};

/* Whether the limit that 'load' has holds, and the figures that say so. */
void sl__load_judge(struct sl_load *load, struct sl__load_run *run);

/* All figures of a run but those of a search; sl__load_judge() comes first.
 * Lists are from 'arena'. */
enum sl_status sl__load_summarize(struct sl_load *load,
				  const struct sl__load_run *run,
				  struct sl__arena *arena,
				  struct sl_error *err) SL_CHECKED;

#endif
