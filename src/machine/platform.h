/* SPDX-License-Identifier: Apache-2.0 */
/* platform.h - what /proc and /sys say about a machine. */
#ifndef SL_PLATFORM_H
#define SL_PLATFORM_H

#include "base/arena.h"
#include "sleuth/machines.h"

/*
 * Fills model, architecture, kernel, microcode, memory_bytes, isa, caps,
 * governor, turbo, huge_pages, smt, hypervisor and energy of 'm' from files
 * under 'root' ("" is this machine).  What cannot be read is absent with the
 * reason; only running out of memory fails.
 */
enum sl_status sl__platform_read(struct sl_machine *m, const char *root,
				 struct sl__arena *arena,
				 struct sl_error *err) SL_CHECKED;

/* Memory that may be taken without harm: what the kernel says is available,
 * or less where the control group allows less.  0 when neither is known. */
size_t sl__platform_free_bytes(const char *root);

/* All memory that there is, or less where the control group allows less.  0
 * when neither is known. */
size_t sl__platform_total_bytes(const char *root);

#endif
