/* SPDX-License-Identifier: Apache-2.0 */
/* section.h - parts that reports on scopes, memory and functions share. */
#ifndef SL_SECTION_H
#define SL_SECTION_H

#include "doc.h"
#include "insight.h"
#include "json.h"

/* Opens the document: schema, tool and command.  The caller ends it. */
void sl__section_open(struct sl__json *json, struct sl_buf *out,
		      const char *command);

/* key_ms, or why the percentile was refused. */
void sl__section_quantile(struct sl__json *json, const char *key,
			  const struct sl_estimate *e);

/* "ci95_ms": { lo, hi }, or why there is none. */
void sl__section_interval(struct sl__json *json, const struct sl_estimate *e);

/* What stands out, as a list; nothing when there is nothing. */
void sl__section_insights(struct sl__doc *doc,
			  const struct sl__insights *insights);
void sl__section_json_insights(struct sl__json *json,
			       const struct sl__insights *insights);

/* The members of "allocation" and the page about it. */
void sl__section_memory(struct sl__doc *doc, const struct sl_memory *m,
			int verbose);
void sl__section_json_memory(struct sl__json *json, const struct sl_memory *m);

#endif
