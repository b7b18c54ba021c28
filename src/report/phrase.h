/* SPDX-License-Identifier: Apache-2.0 */
/* phrase.h - figures as parts of sentences. */
#ifndef SL_PHRASE_H
#define SL_PHRASE_H

/* Room for part of a sentence. */
struct sl__phrase {
	char s[256];
};

/* "12.3 ms", "2.1 MB" and "3 GFLOPs": three digits, in the unit that fits. */
const char *sl__phrase_time(struct sl__phrase *words, double ns);
const char *sl__phrase_bytes(struct sl__phrase *words, double n_bytes);
const char *sl__phrase_flops(struct sl__phrase *words, double flops);

#endif
