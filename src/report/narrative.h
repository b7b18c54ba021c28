/* SPDX-License-Identifier: Apache-2.0 */
/* narrative.h - what a result means, one sentence after the other. */
#ifndef SL_NARRATIVE_H
#define SL_NARRATIVE_H

#include "base/json.h"
#include "report/doc.h"

enum { SL__SENTENCES_MOST = 16 };

/*
 * Sentences are made from the typed figures of a result when it is rendered,
 * and are no part of it.  Adding one returns no error: the first failed
 * allocation sticks, and the page or the document that they go into fails.
 */
struct sl__narrative {
	struct sl__arena arena;
	const char *list[SL__SENTENCES_MOST];
	size_t n;
	int has_failed;
};

void sl__narrative_init(struct sl__narrative *narrative,
			const struct sl_allocator *allocator);
void sl__narrative_release(struct sl__narrative *narrative);

/* Adds a sentence, cut at 1023 characters; beyond SL__SENTENCES_MOST there is
 * none. */
void sl__narrative_add_sentence(struct sl__narrative *to, const char *format,
				...) __attribute__((format(__printf__, 2, 3)));

/* The first n_most of them as a list on a page, or all under "sentences". */
void sl__narrative_page(struct sl__doc *doc,
			const struct sl__narrative *narrative, size_t n_most);
void sl__narrative_json(struct sl__json *json,
			const struct sl__narrative *narrative);

/* Says all there is to say about a record, which is part of 'parent' (NULL at
 * the top). */
typedef void sl__narrator(struct sl__narrative *to, const void *record,
			  const void *parent);

/* The same of what a narrator says. */
void sl__narrator_page(struct sl__doc *doc, sl__narrator *narrator,
		       const void *record, const void *parent, size_t n_most);
void sl__narrator_json(struct sl__json *json, sl__narrator *narrator,
		       const void *record, const void *parent);

#endif
