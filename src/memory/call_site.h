/* SPDX-License-Identifier: Apache-2.0 */
/* call_site.h - names for addresses in the running program. */
#ifndef SL_CALL_SITE_H
#define SL_CALL_SITE_H

#include "base/arena.h"

/*
 * "make_row+0x1c < main+0x40" for return addresses, innermost first.  Only
 * symbols that the dynamic linker knows have names (link with -rdynamic for
 * the program's own); others are "program+0x12a0", which addr2line takes.
 * NULL when out of memory.
 */
const char *sl__call_site_text(struct sl__arena *arena,
			       const uintptr_t *addresses, size_t n);

#endif
