/* SPDX-License-Identifier: Apache-2.0 */
/* generation_narrative.h - a decoding loop in sentences: what a cache does. */
#ifndef SL_GENERATION_NARRATIVE_H
#define SL_GENERATION_NARRATIVE_H

#include "report/narrative.h"
#include "sleuth/generating.h"

void sl__generation_narrate(struct sl__narrative *to,
			    const struct sl_generation *generation);

#endif
