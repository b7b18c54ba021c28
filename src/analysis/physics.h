/* SPDX-License-Identifier: Apache-2.0 */
/* physics.h - what cannot be: rates that no machine reaches. */
#ifndef SL_PHYSICS_H
#define SL_PHYSICS_H

#include "base/arena.h"

/*
 * Looks at a placed profile (see roofline_place.h) for figures that this
 * machine cannot reach.  An operation is flagged when its executed operations
 * a second, or its bytes, at the upper bound of its median time are above the
 * upper bound of the peak of its type, or of the fastest cache: 'impossible'
 * says so with the likely cause, ceiling_share and bound_ns become NaN.  Where the type
 * is not known only the highest peak counts.  All that is found, the sum of
 * operations above the wall included, is listed in profile->impossible.
 * Nominal rates above the peak, as Winograd's, are a remark.
 */
enum sl_status sl__physics_check(struct sl_profile *profile,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

#endif
