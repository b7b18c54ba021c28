/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - what other folders ask a measured machine. */
#ifndef SL_MACHINE_H
#define SL_MACHINE_H

#include "base/arena.h"

/*
 * The best row for a type and a number of threads, over all instruction
 * sets; where n_threads was not measured, of the largest number below it.
 * NULL when there is none.
 */
const struct sl_peak *sl__machine_peak(const struct sl_machine *m,
				       enum sl_dtype dtype, size_t n_threads);

/* Likewise the row of an access to a level. */
const struct sl_memory_level *sl__machine_level(const struct sl_machine *m,
						enum sl_level level,
						enum sl_access access,
						size_t n_threads);

/* Likewise the fastest stream of a level, by bytes that the program names. */
const struct sl_memory_level *sl__machine_bandwidth(const struct sl_machine *m,
						    enum sl_level level,
						    size_t n_threads);

/* Whether the CPU has, or may have, arithmetic that was not measured: it could
 * be faster than all that was. */
int sl__machine_hides_peaks(const struct sl_machine *m);

/* Sets m->fingerprint from what the machine is and max_threads: two results
 * may stand for each other only when theirs are the same. */
enum sl_status sl__machine_set_fingerprint(struct sl_machine *m,
					   struct sl__arena *arena,
					   struct sl_error *err) SL_CHECKED;

#endif
