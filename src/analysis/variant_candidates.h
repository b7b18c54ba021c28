/* SPDX-License-Identifier: Apache-2.0 */
/* variant_candidates.h - which changes of a model are worth a trial. */
#ifndef SL_VARIANT_CANDIDATES_H
#define SL_VARIANT_CANDIDATES_H

#include "sleuth/optimizing.h"
#include "sleuth/profiling.h"

/* What model, machine and data allow. */
enum sl__variant_needs {
	SL__NEEDS_MATMUL = 1u << 0, /* or a convolution, of reals */
	SL__NEEDS_CONV = 1u << 1,   /* of reals */
	SL__NEEDS_LINEAR = 1u << 2, /* a matmul, of reals */
	SL__NEEDS_DATA = 1u << 3,   /* to be fine-tuned on */
	SL__NEEDS_BF16 = 1u << 4,   /* a CPU that computes faster in it */
	SL__NEEDS_THREADS = 1u << 5 /* more than one */
};

struct sl__variant_candidate {
	const char *changes; /* lives as long as the profile does */
	enum sl_variant_reason reason;
	double promised; /* the most that it may gain; NaN: nobody knows */
};

enum { SL__VARIANT_CANDIDATES_MOST = SL_MODEL_ARMS_MAX - 1 };

/* LEFT_OUT are last. */
struct sl__variant_candidates {
	struct sl__variant_candidate list[2 * SL__VARIANT_CANDIDATES_MOST];
	size_t n, n_left_out;
};

/*
 * First what the profile advises and a change can do, then what suits the
 * verdict; without a verdict, what is for more than one bound.  Where a
 * smaller model is the objective, all changes that make it smaller and no
 * others.  'profile' may be NULL; 'met' are enum sl__variant_needs.
 */
void sl__variant_candidates(struct sl__variant_candidates *out,
			    const struct sl_profile *profile, unsigned met,
			    enum sl_objective objective);

/* Whether a gain, with its interval, is beyond what was promised. */
int sl__variant_breaks_promise(const struct sl_variant_result *variant);

#endif
