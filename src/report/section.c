/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.c - parts of documents that several reports share.
 *
 * Only what at least two of them write; the pages themselves are in the
 * report_ files.
 */
#include "report/section.h"

#include "base/banned.h"

void
sl__section_insights(struct sl__doc *doc, const struct sl__insights *insights)
{
	if (!insights->n)
		return;
	sl__doc_heading(doc, "What stands out");
	for (size_t i = 0; i < insights->n; i++)
		sl__doc_text(doc, SL__STYLE_PLAIN, "%s", insights->lines[i]);
}

void
sl__section_json_insights(struct sl__json *json, const char *key,
			  const struct sl__insights *insights)
{
	sl__json_array(json, key);
	for (size_t i = 0; i < insights->n; i++)
		sl__json_text(json, NULL, insights->lines[i]);
	sl__json_end_array(json);
}
