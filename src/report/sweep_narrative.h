/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_narrative.h - a sweep in sentences: what grows how, and where it
 * turns. */
#ifndef SL_SWEEP_NARRATIVE_H
#define SL_SWEEP_NARRATIVE_H

#include "report/narrative.h"
#include "sleuth/sweeping.h"

/* About one model of the sweep. */
void sl__sweep_narrate(struct sl__narrative *to, const struct sl_sweep *sweep,
		       const struct sl_sweep_series *series);

/* About several models; nothing where there is one. */
void sl__sweep_narrate_all(struct sl__narrative *to,
			   const struct sl_sweep *sweep);

#endif
