/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.c - parts that reports on scopes, memory and functions share.
 *
 * Only what at least two of them write; the pages themselves are in the
 * report_ files.
 */
#include "section.h"

#include <math.h>
#include <stdio.h>

#include "banned.h"

void
sl__section_open(struct sl__json *json, struct sl_buf *out, const char *command)
{
	sl__json_init(json, out);
	sl__json_object(json, NULL);
	sl__json_integer(json, "schema", 1);
	sl__json_object(json, "tool");
	sl__json_text(json, "name", "sleuth");
	sl__json_text(json, "version", sl_version());
	sl__json_end_object(json);
	sl__json_text(json, "command", command);
}

void
sl__section_quantile(struct sl__json *json, const char *key,
		     const struct sl_estimate *e)
{
	char name[32], reason[48];

	snprintf(name, sizeof(name), "%s_ms", key);
	if (!e->needs_n) {
		sl__json_number(json, name, 1e-6 * e->value);
		return;
	}
	snprintf(reason, sizeof(reason), "needs n >= %zu", e->needs_n);
	sl__json_absent(json, name, reason);
}

void
sl__section_interval(struct sl__json *json, const struct sl_estimate *e)
{
	char reason[48];

	if (e->needs_n) {
		snprintf(reason, sizeof(reason), "needs n >= %zu", e->needs_n);
		sl__json_absent(json, "ci95_ms", reason);
		return;
	}
	sl__json_object(json, "ci95_ms");
	sl__json_number(json, "lo", 1e-6 * e->lo);
	sl__json_number(json, "hi", 1e-6 * e->hi);
	sl__json_end_object(json);
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
sl__section_json_insights(struct sl__json *json,
			  const struct sl__insights *insights)
{
	sl__json_array(json, "insights");
	for (size_t i = 0; i < insights->n; i++)
		sl__json_text(json, NULL, insights->lines[i]);
	sl__json_end_array(json);
}
