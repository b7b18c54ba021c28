/* SPDX-License-Identifier: Apache-2.0 */
/* record_sentence.c - sentences that documents have beside the figures they are
 * of. */
#include "report/record_sentence.h"
#include "base/buf.h"
#include "report/profile_page.h"

#include "base/banned.h"

static void
speak_part(struct sl_buf *out, const struct sl_profile *p,
	   const struct sl_amdahl *row)
{
	struct sl__arena arena;
	const char *text;

	sl__arena_init(&arena, NULL);
	text = sl__amdahl_target_name(&arena, p, row);
	if (text)
		sl__buf_text(out, text);
	else
		sl__buf_mark_failed(out);
	sl__arena_release(&arena);
}

void
sl__record_sentence_write(struct sl_buf *out, enum sl__sentence_kind speech,
			  const void *record, const void *parent)
{
	enum sl_status rc = SL_OK;

	switch (speech) {
	case SL__SENTENCE_EXPECTED:
		rc = sl_advice_expected(record, out, NULL);
		break;
	case SL__SENTENCE_COMMAND:
		rc = sl_advice_command(parent, record, out, NULL);
		break;
	case SL__SENTENCE_PART:
		speak_part(out, parent, record);
		break;
	}
	if (rc)
		sl__buf_mark_failed(out);
}
