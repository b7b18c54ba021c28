/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - what other folders ask a measured machine. */
#ifndef SL_MACHINE_H
#define SL_MACHINE_H

#include "base/arena.h"
#include "sleuth/machines.h"

/* Sets m->fingerprint from what the machine is and max_threads: two results
 * may stand for each other only when theirs are the same. */
enum sl_status sl__machine_set_fingerprint(struct sl_machine *m,
					   struct sl__arena *arena,
					   struct sl_error *err) SL_CHECKED;

/* The fingerprint of this machine, which is not measured for it. */
enum sl_status sl__machine_identify(const char **fingerprint,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

/* Fills what the machine is and the caches that were found, which are measured
 * the first time.  'm' is all zeros. */
enum sl_status sl__machine_find_caches(struct sl_machine *m,
				       struct sl__arena *arena,
				       struct sl_error *err) SL_CHECKED;

#endif
