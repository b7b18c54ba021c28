/* SPDX-License-Identifier: Apache-2.0 */
/* fact_text.h - facts in words, and in documents. */
#ifndef SL_FACT_TEXT_H
#define SL_FACT_TEXT_H

#include "report/doc.h"
#include "sleuth/facts.h"

/* Appends what the fact says; a failure is the buffer's. */
void sl__fact_append_sentence(struct sl_buf *out, const struct sl_fact *fact);

/* Likewise, from 'arena'; NULL when out of memory. */
const char *sl__fact_sentence(struct sl__arena *arena,
			      const struct sl_fact *fact);

/* Likewise, for a page, which fails then; never NULL. */
const char *sl__doc_fact_sentence(struct sl__doc *doc,
				  const struct sl_fact *fact);

/* The template of a kind, for the test that reads them all. */
const char *sl__fact_template(enum sl_fact_kind kind);

#endif
