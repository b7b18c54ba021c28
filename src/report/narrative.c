/* SPDX-License-Identifier: Apache-2.0 */
/* narrative.c - what a result means, one sentence after the other. */
#include "report/narrative.h"
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/banned.h"

void
sl__narrative_init(struct sl__narrative *narrative,
		   const struct sl_allocator *allocator)
{
	*narrative = (struct sl__narrative){.n = 0};
	sl__arena_init(&narrative->arena, allocator);
}

void
sl__narrative_release(struct sl__narrative *narrative)
{
	sl__arena_release(&narrative->arena);
}

void
sl__narrative_add_sentence(struct sl__narrative *to, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (to->n == SL__SENTENCES_MOST)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	to->list[to->n] = sl__arena_string(&to->arena, text);
	if (to->list[to->n])
		to->n++;
	else
		to->has_failed = 1;
}

void
sl__narrative_page(struct sl__doc *doc, const struct sl__narrative *narrative,
		   size_t n_most)
{
	doc->failed |= narrative->has_failed;
	for (size_t i = 0; i < narrative->n && i < n_most; i++)
		sl__doc_text(doc, SL__STYLE_PLAIN, "- %s", narrative->list[i]);
}

void
sl__narrative_json(struct sl__json *json, const struct sl__narrative *narrative)
{
	if (narrative->has_failed)
		sl__buf_mark_failed(json->out);
	sl__json_array(json, "sentences");
	for (size_t i = 0; i < narrative->n; i++)
		sl__json_text(json, NULL, narrative->list[i]);
	sl__json_end_array(json);
}

void
sl__narrator_page(struct sl__doc *doc, sl__narrator *narrator,
		  const void *record, const void *parent, size_t n_most)
{
	struct sl__narrative narrative;

	sl__narrative_init(&narrative, NULL);
	narrator(&narrative, record, parent);
	sl__narrative_page(doc, &narrative, n_most);
	sl__narrative_release(&narrative);
}

void
sl__narrator_json(struct sl__json *json, sl__narrator *narrator,
		  const void *record, const void *parent)
{
	struct sl__narrative narrative;

	sl__narrative_init(&narrative, NULL);
	narrator(&narrative, record, parent);
	sl__narrative_json(json, &narrative);
	sl__narrative_release(&narrative);
}
