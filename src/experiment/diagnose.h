/* SPDX-License-Identifier: Apache-2.0 */
/* diagnose.h - steps of a plan timed under changed conditions. */
#ifndef SL_DIAGNOSE_H
#define SL_DIAGNOSE_H

#include "experiment/subject.h"
#include "machine/beside.h"
#include "result/diagnosis.h"
#include "timing/runner.h"

struct sl__diagnose_options {
	const size_t *steps; /* of the plan, each once */
	size_t n_steps;
	struct sl__beside *beside; /* NULL: neither cold nor hogged */
	uint64_t cache_bytes;      /* of the last level; 0: not known */
	double hot_share;          /* of the time, wanted; 0: not said */
	double time_s;             /* budget; three rounds at least, two where
				      three take twice as long */
	uint64_t seed;             /* of the order of passes in a round */
	struct sl__control control;
};

/*
 * Runs the subject's plan, another one of a single thread and one for twice the
 * batch, in rounds of passes of which each puts one condition to all the
 * steps.  Steps on reference paths are run but not timed.  Everything the plan
 * holds is as after any run when it returns, unless an interrupt ended it
 * early; what was measured then stands.  Fails as a pass does, and with
 * SL_E_INTERRUPTED before there are plans.  The result is from 'arena'.
 */
enum sl_status sl__diagnose(struct sl__diagnosis *out,
			    struct sl__subject *subject,
			    const struct sl__diagnose_options *options,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

#endif
