/* SPDX-License-Identifier: Apache-2.0 */
/* microscope_words.h - operations over sizes in sentences. */
#ifndef SL_MICROSCOPE_WORDS_H
#define SL_MICROSCOPE_WORDS_H

#include "base/arena.h"

/* Fills focus, reason and sentences of a series from its points and turns. */
enum sl_status sl__micro_tell(struct sl_micro_series *series,
			      const struct sl_microscope *of,
			      struct sl__arena *arena,
			      struct sl_error *err) SL_CHECKED;

/* Fills sentences about all of them. */
enum sl_status sl__micro_tell_all(struct sl_microscope *out,
				  struct sl__arena *arena,
				  struct sl_error *err) SL_CHECKED;

/* "512 Ki", "8 Mi", "96"; numbers that are not of that kind as they are. */
struct sl__micro_size {
	char s[32];
};
const char *sl__micro_size_text(struct sl__micro_size *text, int64_t value);

#endif
