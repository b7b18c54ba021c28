/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.c - parts of documents that several reports share.
 *
 * Only what at least two of them write; the pages themselves are in the
 * report_ files.
 */
#include "report/section.h"
#include "report/unit.h"

#include <stdio.h>

#include "base/banned.h"

void
sl__section_bounds(struct sl__json *json, const char *key,
		   const struct sl_estimate *e, double unit)
{
	struct sl__text needs;

	if (e->needs_n) {
		sl__json_absent(json, key, sl__needs_text(&needs, e));
		return;
	}
	sl__json_object(json, key);
	sl__json_number(json, "lo", e->lo / unit);
	sl__json_number(json, "hi", e->hi / unit);
	sl__json_end_object(json);
}

void
sl__section_quantile(struct sl__json *json, const char *key,
		     const struct sl_estimate *e)
{
	struct sl__text needs;
	char name[32];

	snprintf(name, sizeof(name), "%s_ms", key);
	if (e->needs_n)
		sl__json_absent(json, name, sl__needs_text(&needs, e));
	else
		sl__json_number(json, name, e->value / SL__NS_PER_MS);
}

void
sl__section_percentile(struct sl__json *json, const char *key,
		       const struct sl_estimate *e)
{
	char name[32];

	sl__section_quantile(json, key, e);
	snprintf(name, sizeof(name), "%s_ci95_ms", key);
	sl__section_bounds(json, name, e, SL__NS_PER_MS);
}

void
sl__section_interval(struct sl__json *json, const struct sl_estimate *e)
{
	sl__section_bounds(json, "ci95_ms", e, SL__NS_PER_MS);
}

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
