/* SPDX-License-Identifier: Apache-2.0 */
/* choice_evidence.h - whether steps take what their algorithms were chosen for.
 */
#ifndef SL_CHOICE_EVIDENCE_H
#define SL_CHOICE_EVIDENCE_H

#include "engine/observer.h"
#include "engine/planner.h"

/* Of a step whose algorithm was measured. */
struct sl__choice_evidence {
	const char *key;      /* of the choice */
	uint64_t expected_ns; /* what the algorithm took, reorders included */
	uint64_t least_ns;    /* of the runs looked at; UINT64_MAX: none yet */
};

/* NULL where the time is of other sizes, or after a failure. */
struct sl__choice_evidence *sl__choice_evidence_new(struct sl__planner *pl,
						    const char *key,
						    uint64_t expected_ns);

/* Looks at a recorded run, one of the program's first few. */
void sl__choice_evidence_note(struct sl__program *program,
			      const struct sl__event_buffer *events);

/* Whether the step took much longer in every run that was looked at: what
 * disturbs one run does not disturb all. */
int sl__choice_is_contradicted(const struct sl__program *program,
			       const struct sl__choice_evidence *evidence);

/* Whether most steps took longer than expected: then it is the machine, or what
 * was tried on it, and no choice. */
int sl__choice_runs_are_slow(const struct sl__program *program);

#endif
