/* SPDX-License-Identifier: Apache-2.0 */
/* fact_json.h - facts in documents: what they say, and what they are. */
#ifndef SL_FACT_JSON_H
#define SL_FACT_JSON_H

#include "base/json.h"
#include "base/json_read.h"

/* The document must know how facts are said. */

/* "key": what it says, and "key_fact": { kind, values, names }. */
void sl__json_fact(struct sl__json *json, const char *key,
		   const struct sl_fact *fact);

/* "key": [what they say], and "key_facts": [{ kind, values, names }]. */
void sl__json_facts(struct sl__json *json, const char *key,
		    const struct sl_fact *facts, size_t n);

/* "key": null, and "key_absent": what the fact says. */
void sl__json_absent_because(struct sl__json *json, const char *key,
			     const struct sl_fact *fact);

/* Fills a fact from { kind, values, names }; SL_E_DATA where it is none. */
enum sl_status sl__fact_read(struct sl_fact *out,
			     const struct sl__json_value *value,
			     struct sl_error *err) SL_CHECKED;

#endif
