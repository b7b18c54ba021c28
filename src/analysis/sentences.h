/* SPDX-License-Identifier: Apache-2.0 */
/* sentences.h - findings in words, one sentence after the other. */
#ifndef SL_SENTENCES_H
#define SL_SENTENCES_H

#include "base/arena.h"

enum { SL__SENTENCES_MOST = 16 };

/* Room for part of a sentence. */
struct sl__words {
	char s[256];
};

/* "12.3 ms" and "2.1 MB": three digits, in the unit that fits. */
const char *sl__words_time(struct sl__words *words, double ns);
const char *sl__words_bytes(struct sl__words *words, double n_bytes);

/* What is said, in the memory of 'arena'. */
struct sl__sentences {
	struct sl__arena *arena;
	const char **list;
	size_t n;
	int has_failed; /* out of memory: some of it is missing */
};

enum sl_status sl__sentences_begin(struct sl__sentences *out,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/* Adds a sentence, cut at 1023 characters; beyond SL__SENTENCES_MOST there is
 * none. */
void sl__say(struct sl__sentences *to, const char *format, ...)
	__attribute__((format(__printf__, 2, 3)));

/* Hands over what was said; SL_E_NOMEM where some of it is missing. */
enum sl_status sl__sentences_end(const struct sl__sentences *said,
				 const char *const **list, size_t *n,
				 struct sl_error *err) SL_CHECKED;

#endif
