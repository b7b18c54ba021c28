/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_isa.h - the instruction sets that oneDNN may use. */
#ifndef SL_DNNL_ISA_H
#define SL_DNNL_ISA_H

#include "engine/dnnl_version.h"

/*
 * Keeps oneDNN from instruction sets that may not be used (isa.h).  oneDNN
 * takes such a cap only before anything else is asked of it, so this comes
 * before every other call; it may come again, from any thread.  SL_E_ABSENT
 * where somebody else in the process was first and oneDNN would use them.
 */
enum sl_status sl__dnnl_cap_isa(struct sl_error *err) SL_CHECKED;

/* The same as if 'usable' were the sets that may be used; for tests. */
enum sl_status sl__dnnl_cap_isa_at(unsigned usable,
				   struct sl_error *err) SL_CHECKED;

/* Whether oneDNN uses all of 'isa', once it is capped. */
int sl__dnnl_uses_isa(dnnl_cpu_isa_t isa);

/* The user's own cap of oneDNN, as oneDNN spells it; NULL where there is none
 * that it obeys below tiles. */
const char *sl__dnnl_user_cap(void);

/*
 * The place of a value of ONEDNN_MAX_CPU_ISA among the caps that Sleuth sets,
 * from the lowest on, and beyond all of them for NULL, for tiles, and for what
 * oneDNN does not know and therefore ignores.
 */
size_t sl__dnnl_isa_rank(const char *value);

#endif
