/* SPDX-License-Identifier: Apache-2.0 */
/* amdahl.h - what a model would gain if only a part of it were faster. */
#ifndef SL_AMDAHL_H
#define SL_AMDAHL_H

#include "base/arena.h"
#include "result/ablation.h"
#include "sleuth/profiling.h"

enum { SL__AMDAHL_OPERATIONS = 5, SL__AMDAHL_TYPES = 3 };

/* Less of an iteration than this is no candidate. */
#define SL__AMDAHL_SHARE 0.01

/* Amdahl's law: the speed-up of the whole when 'share' of it becomes 'factor'
 * times as fast; INFINITY is a factor, and what all of it at once gives. */
double sl__amdahl_speedup(double share, double factor);

/* The share of a bare iteration that some nanoseconds of each iteration are: of
 * the wall less the cost of recording.  From 0 to 1. */
double sl__amdahl_share(const struct sl_profile *profile, double ns);

/*
 * Invariants: row k and target k are of the same operations.  A target's
 * steps are the operations' steps.
 */
struct sl__amdahl_rows {
	struct sl_amdahl *rows;
	struct sl__ablation *targets;
	size_t n;
};

/*
 * Chooses the hottest operations and types of two operations or more, largest
 * share first, and predicts their rows.  The operations of 'profile' and its
 * time accounting are there.  All storage is from 'arena'.
 */
enum sl_status sl__amdahl_rows_predict(struct sl__amdahl_rows *out,
				       const struct sl_profile *profile,
				       struct sl__arena *arena,
				       struct sl_error *err) SL_CHECKED;

/* Takes what ablation found into the rows; without it 'why' says why there is
 * no measurement (static). */
void sl__amdahl_rows_add_ablation(struct sl__amdahl_rows *amdahl,
				  const char *why);

#endif
