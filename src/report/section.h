/* SPDX-License-Identifier: Apache-2.0 */
/* section.h - parts of documents that several reports share. */
#ifndef SL_SECTION_H
#define SL_SECTION_H

#include "base/json.h"
#include "report/doc.h"
#include "report/insight.h"
#include "result/field.h"

/* What stands out, as a list; nothing when there is nothing. */
void sl__section_insights(struct sl__doc *doc,
			  const struct sl__insights *insights);
void sl__section_json_insights(struct sl__json *json, const char *key,
			       const struct sl__insights *insights);

/* The page of a struct sl_measurement. */
void sl__section_measurement(struct sl__doc *doc, const void *result,
			     const struct sl_render_options *how);

/* The page about memory. */
void sl__section_memory(struct sl__doc *doc, const struct sl_memory *m,
			int verbose);

#endif
