/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h - what would make a model faster, and by how much at most. */
#ifndef SL_ADVICE_H
#define SL_ADVICE_H

#include "base/arena.h"

enum { SL__ADVICE_MOST = 5 };

/* Gains below this are not worth a word. */
#define SL__ADVICE_LEAST 1.03

/*
 * Fills 'advice' of a profile that has everything else, on a machine of which
 * the process may use n_cpus: at most SL__ADVICE_MOST, those first that can be
 * tried, then by gain.  A gain is bounded by a measurement of this profile or
 * it is not given; times are medians.  Storage is from 'arena'.
 */
enum sl_status sl__advise(struct sl_profile *profile, size_t n_cpus,
			  struct sl__arena *arena,
			  struct sl_error *err) SL_CHECKED;

#endif
