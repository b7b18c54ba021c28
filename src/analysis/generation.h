/* SPDX-License-Identifier: Apache-2.0 */
/* generation.h - a decoding loop: what its steps come to, and what a cache
 * does. */
#ifndef SL_GENERATION_H
#define SL_GENERATION_H

#include "base/arena.h"
#include "result/decoding.h"
#include "sleuth/generating.h"

#include <stdint.h>

/* FLOPs of one step over n tokens: constant + linear n + quadratic n^2.  What
 * is done for every token is linear, products of attention are quadratic. */
struct sl__work_law {
	double constant, linear, quadratic;
};

/* The law through counts at 'first' and the next three sizes; 0 where no such
 * law gives all four. */
int sl__work_law_fit(struct sl__work_law *out, const double flops[4],
		     int64_t first);

/* A step that computes all n tokens. */
double sl__work_pass(const struct sl__work_law *law, int64_t n);

/* Iterations of first to last tokens, all together; 0 where last < first. */
double sl__work_passes(const struct sl__work_law *law, int64_t first,
		       int64_t last);

/* The part of it that belongs to their newest tokens: own rows of linear
 * layers, and one query against n keys.  The rest is what the step before did
 * already, and queries against a key that their mask hides. */
double sl__flops_of_new_tokens(const struct sl__work_law *law, int64_t first,
			       int64_t last);

/* How the FLOPs of a loop's steps grow with the context. */
struct sl__decode_flops_growth {
	struct sl__work_law law; /* of a step at a context; of the prompt where
				    it goes in at once, see 'prompt' */
	double prompt;           /* FLOPs of the prompt's one step; NaN: none */
	const char *absent;      /* why nothing is known; NULL */
};

/* Fills everything of a loop but its name and FLOPs from its visits. */
enum sl_status sl__decoding_summarize(struct sl_decoding *out,
				      const struct sl__decode_timings *loop,
				      int64_t prompt, int64_t n_tokens,
				      struct sl__arena *arena,
				      struct sl_error *err) SL_CHECKED;

/* Fills the loop's FLOPs and those of its steps. */
void sl__decoding_count_flops(struct sl_decoding *out,
			      const struct sl__decode_flops_growth *work,
			      int64_t prompt, int64_t n_tokens);

/* What the effect of a cache is computed from; 'with' and its work are NULL
 * where it was not run. */
struct sl__kv_cache_effect_sources {
	const struct sl_decoding *without, *with;
	const struct sl__decode_flops_growth *work_without, *work_with;
	const struct sl_ceilings *ceilings;
	enum sl_dtype dtype;
	int64_t batch, prompt, n_tokens;
	struct sl_reading once_bytes; /* that a step of one token reads and
					 writes, keys and values left out */
	struct sl_reading bytes_per_token;
};

void sl__kv_cache_effect_of(struct sl_cache_effect *out,
			    const struct sl__kv_cache_effect_sources *sources);

#endif
