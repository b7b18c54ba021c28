/* SPDX-License-Identifier: Apache-2.0 */
/* step_responses.h - how steps of a plan answer changed conditions. */
#ifndef SL_STEP_RESPONSES_H
#define SL_STEP_RESPONSES_H

#include "sleuth/profiling.h"

struct sl__step_responses {
	const struct sl_response *responses; /* as steps[] were given */
	size_t n;
	struct sl_hog_effect hog; /* NaN where there is none */
	struct sl_noise noise; /* of the calling thread, and of the machine */
	size_t n_rounds;
	double hot_share; /* as the options say */
	double elapsed_s;
	int is_interrupted;
	/* Reasons; NULL: done. */
	const char *no_alone, *no_cold, *no_hog, *no_doubled;
};

/* Operations that experiments time: a slot is a byte, and 255 is none. */
enum { SL__HOT_MOST = 250 };

#endif
