/* SPDX-License-Identifier: Apache-2.0 */
/* found_caches.h - the ladder of this machine: measured once, then recalled. */
#ifndef SL_FOUND_CACHES_H
#define SL_FOUND_CACHES_H

#include "machine/cache_ladder.h"
#include "sleuth/machines.h"

struct sl__found_caches_options {
	const char *fingerprint;  /* of the machine; names the file */
	const char *cache_folder; /* as in struct sl_machine_options */
	int fresh;                /* measure although a file fits */
	int is_quick;             /* measure once, and keep nothing */
	size_t memory_bytes;      /* that the process may have: an eighth of
				     it is used, 512 MiB at most; 0: where
				     there is no file, nothing is measured */
};

/*
 * The caches of this machine, from the file of its ladder, or measured and
 * kept there, which takes 3 to 4 s; what cannot be kept is measured again the
 * next time.  SL_E_NOMEM; SL_E_ABSENT where nothing may be measured.
 */
enum sl_status sl__found_caches_get(struct sl__found_caches *out,
				    const struct sl__found_caches_options *how,
				    struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;

/*
 * The caches that were found as rows like those the system shows: sizes are
 * the larger of both edges, who shares them is what it shows of the same
 * level, else the last is taken to be shared by all of n_cpus.  out[] holds
 * SL__LADDER_STEPS_MOST; returns how many.
 */
size_t sl__found_caches_as_rows(struct sl_cache *out,
				const struct sl_found_cache *found,
				size_t n_found, const struct sl_machine *shown,
				size_t n_cpus);

#endif
