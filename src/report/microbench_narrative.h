/* SPDX-License-Identifier: Apache-2.0 */
/* microbench_narrative.h - operators over sizes in sentences. */
#ifndef SL_MICROBENCH_NARRATIVE_H
#define SL_MICROBENCH_NARRATIVE_H

#include "report/narrative.h"
#include "report/phrase.h"
#include "result/micro_series.h"

/* What bounds the operator at its sizes; the first sentence is about
 * verdicts. */
void sl__micro_narrate(struct sl__narrative *to, const struct sl_microbench *of,
		       const struct sl_micro_series *series);

/* Several operators together; nothing where there is one. */
void sl__micro_narrate_all(struct sl__narrative *to,
			   const struct sl_microbench *of);

/* Why that is what to optimise, or why nothing is, with figures. */
const char *sl__micro_optimize_reason(struct sl__phrase *words,
				      const struct sl_microbench *of,
				      const struct sl_micro_series *series);

/* "512 Ki", "8 Mi", "96"; numbers that are not of that kind as they are. */
struct sl__micro_size_buffer {
	char s[32];
};
const char *sl__micro_size_text(struct sl__micro_size_buffer *text,
				int64_t value);

#endif
