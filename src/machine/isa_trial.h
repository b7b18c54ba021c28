/* SPDX-License-Identifier: Apache-2.0 */
/* isa_trial.h - instruction sets, each tried in a child process. */
#ifndef SL_ISA_TRIAL_H
#define SL_ISA_TRIAL_H

#include "machine/isa.h"

/* Executes a few instructions of one set and compares what they compute.  Runs
 * in a child of a process that may have threads: it calls nothing but the
 * kernel. */
typedef enum sl__isa_outcome sl__isa_trial(void);

/* One for each set, in the order of their bits; NULL where the architecture
 * has none of them. */
sl__isa_trial *const *sl__isa_trials(void);

/*
 * Runs trials[i] for each bit i of 'sets' in a child process and fills
 * outcomes[], which are SL__ISA_UNTRIED for other sets.  A trial that traps
 * ends its child and is noted; another child takes the rest.  SL_E_IO where
 * there can be no child: the rest is untried then.
 */
enum sl_status sl__isa_try(enum sl__isa_outcome outcomes[SL__N_ISA_SETS],
			   sl__isa_trial *const *trials, unsigned sets,
			   struct sl_error *err) SL_CHECKED;

/*
 * Like sl__isa_try(), unless 'folder' holds what was found since the machine
 * was started, for the same sets and a CPU of the same 'identity'; keeps what
 * was found there.  An empty folder keeps nothing.  Only running out of memory
 * fails: where there can be no child, sets are left untried.
 */
enum sl_status sl__isa_try_cached(enum sl__isa_outcome outcomes[SL__N_ISA_SETS],
				  unsigned sets, uint64_t identity,
				  const char *folder,
				  struct sl_error *err) SL_CHECKED;

#endif
