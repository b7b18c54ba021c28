/* SPDX-License-Identifier: Apache-2.0 */
/* fact_text.h - facts in words, and in documents. */
#ifndef SL_FACT_TEXT_H
#define SL_FACT_TEXT_H

#include "base/json.h"
#include "report/doc.h"

/* Appends what the fact says; a failure is the buffer's. */
void sl__fact_write(struct sl_buf *out, const struct sl_fact *fact);

/* Likewise, from 'arena'; NULL when out of memory. */
const char *sl__fact_words(struct sl__arena *arena, const struct sl_fact *fact);

/* Likewise, for a page, which fails then; never NULL. */
const char *sl__doc_fact(struct sl__doc *doc, const struct sl_fact *fact);

/* "key": what it says, and "key_fact": { kind, values, names }. */
void sl__json_fact(struct sl__json *json, const char *key,
		   const struct sl_fact *fact);

/* "key": [what they say], and "key_facts": [{ kind, values, names }]. */
void sl__json_facts(struct sl__json *json, const char *key,
		    const struct sl_fact *facts, size_t n);

/* "key": null, and "key_absent": what the fact says. */
void sl__json_absent_fact(struct sl__json *json, const char *key,
			  const struct sl_fact *fact);

/* The template of a kind, for the test that reads them all. */
const char *sl__fact_template(enum sl_fact_kind kind);

#endif
