/* SPDX-License-Identifier: Apache-2.0 */
/* machine_cache.h - ceilings kept in a file. */
#ifndef SL_MACHINE_CACHE_H
#define SL_MACHINE_CACHE_H

#include "base/arena.h"
#include "sleuth/machines.h"

/*
 * Fills the half of 'm' under "What it can do" from the file that belongs to
 * m->fingerprint; storage from 'arena'.  SL_E_ABSENT when there is no file,
 * SL_E_IO with the reason for what sl__cache_read() refuses, SL_E_DATA for a
 * file that is damaged or of another version; 'm' is then unchanged.
 */
enum sl_status sl__machine_cache_load(struct sl_machine *m, const char *folder,
				      struct sl__arena *arena,
				      struct sl_error *err) SL_CHECKED;

/* As sl__cache_write() does: the folder where needed, the file whole or not at
 * all. */
enum sl_status sl__machine_cache_save(const struct sl_machine *m,
				      const char *folder,
				      struct sl_error *err) SL_CHECKED;

#endif
