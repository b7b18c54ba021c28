/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_words.h - why the books of a profile do not close. */
#ifndef SL_LEDGER_WORDS_H
#define SL_LEDGER_WORDS_H

#include "sleuth.h"

enum { SL__LEDGER_WHY = 320 }; /* bytes that any reason fits in */

/*
 * Which entry is uncertain and what would help; text[] is cut at n bytes.
 * Empty where the books close, or where nothing was recorded.
 */
void sl__ledger_why(char *text, size_t n, const struct sl_profile *profile);

#endif
