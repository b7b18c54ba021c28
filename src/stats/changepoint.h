/* SPDX-License-Identifier: Apache-2.0 */
/* changepoint.h - where a series changes its level. */
#ifndef SL_CHANGEPOINT_H
#define SL_CHANGEPOINT_H

#include "arena.h"

/*
 * PELT (Killick, Fearnhead and Eckley 2012) for changes in mean of x[0..n-1]
 * scaled by a robust estimate of its noise (1.4826 * MAD of first
 * differences / sqrt 2): exact minimum of sum of squared deviations plus
 * 'penalty' (<= 0: 15 ln n) per change, segments of at least 'min_segment'
 * points.  starts[] receives the first index of each segment, starts[0] = 0;
 * it holds cap entries and *n_segments is at most cap.  Scratch from 'arena'.
 */
enum sl_status sl__pelt(size_t *starts, size_t cap, size_t *n_segments,
			const double *x, size_t n, double penalty,
			size_t min_segment, struct sl__arena *arena,
			struct sl_error *err) SL_CHECKED;

#endif
