/* SPDX-License-Identifier: Apache-2.0 */
/* empty_step.h - what a step takes that does nothing. */
#ifndef SL_EMPTY_STEP_H
#define SL_EMPTY_STEP_H

#include "sleuth.h"

/*
 * The median time, with its interval, of waking n_threads of the engine for
 * nothing: no step that uses them all takes less.  Takes a few milliseconds.
 */
struct sl_estimate sl__empty_step_ns(int n_threads);

#endif
