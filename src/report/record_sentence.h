/* SPDX-License-Identifier: Apache-2.0 */
/* record_sentence.h - sentences that documents have beside the figures they are
 * of. */
#ifndef SL_RECORD_SENTENCE_H
#define SL_RECORD_SENTENCE_H

#include "base/json.h"

/* For struct sl__json: the sentence about a record, a part of 'parent'.  A
 * failure is the buffer's. */
void sl__record_sentence_write(struct sl_buf *out,
			       enum sl__sentence_kind speech,
			       const void *record, const void *parent);

#endif
