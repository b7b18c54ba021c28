/* SPDX-License-Identifier: Apache-2.0 */
/* bottleneck_words.h - judgements put into words. */
#ifndef SL_BOTTLENECK_WORDS_H
#define SL_BOTTLENECK_WORDS_H

#include "analysis/bottleneck.h"

/* Fills evidence and against of a judgement whose bound is decided. */
enum sl_status sl__bottleneck_words(struct sl_judgement *out,
				    const struct sl__case *c,
				    const struct sl__scores *scores,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

/* Likewise of a model's verdict. */
enum sl_status sl__finding_words(struct sl_finding *out,
				 const struct sl_profile *profile,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

#endif
