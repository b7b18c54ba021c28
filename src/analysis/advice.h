/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h - what would make a model faster, and by how much at most. */
#ifndef SL_ADVICE_H
#define SL_ADVICE_H

#include "base/arena.h"

enum { SL__ADVICE_MOST = 5 };

/* Gains below this are not worth a word. */
#define SL__ADVICE_LEAST 1.03

struct sl__advice_options {
	const struct sl_plan_options *plan; /* as the user gave it; NULL:
					       defaults */
	size_t n_cpus;                      /* that the process may use */
	/* Of a layer that was taken out of a model, how commands name both;
	 * 'plan' is the model's then.  NULL: a model, by its own name. */
	const char *model, *layer;
};

/*
 * Fills 'advice' of a profile that has everything else: at most
 * SL__ADVICE_MOST, those first that a command can try, then by gain.  A gain
 * is bounded by a measurement of this profile or it is not given; times are
 * medians.  Storage is from 'arena'.
 */
enum sl_status sl__advise(struct sl_profile *profile,
			  const struct sl__advice_options *how,
			  struct sl__arena *arena,
			  struct sl_error *err) SL_CHECKED;

#endif
