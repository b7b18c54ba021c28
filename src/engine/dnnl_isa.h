/* SPDX-License-Identifier: Apache-2.0 */
/* dnnl_isa.h - the instruction sets that oneDNN may use. */
#ifndef SL_DNNL_ISA_H
#define SL_DNNL_ISA_H

#include "engine/dnnl_version.h"

/*
 * Keeps oneDNN from instruction sets that this CPU shows although they cannot
 * be used (isa.h).  oneDNN takes such a cap only before anything else is asked
 * of it, so this comes before every other call; it may come again, from any
 * thread.  SL_E_ABSENT where somebody else in the process was first and oneDNN
 * would use them.
 */
enum sl_status sl__dnnl_cap_isa(struct sl_error *err) SL_CHECKED;

/* The same as if the tiles of this CPU were hidden, or not; for tests. */
enum sl_status sl__dnnl_cap_isa_if(int hides_tiles,
				   struct sl_error *err) SL_CHECKED;

/* Whether oneDNN uses all of 'isa', once it is capped. */
int sl__dnnl_uses_isa(dnnl_cpu_isa_t isa);

/* Adds a line: version, threads, instruction sets and their cap. */
void sl__dnnl_describe(struct sl_buf *out);

/*
 * Whether a value of ONEDNN_MAX_CPU_ISA keeps oneDNN from tiles by itself;
 * NULL, and what oneDNN does not know and therefore ignores, do not.
 */
int sl__dnnl_isa_excludes_amx(const char *value);

#endif
