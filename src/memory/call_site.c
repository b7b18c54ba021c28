/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_site.c - names for addresses in the running program.
 *
 * Done after a recording, never during one: dladdr() may lock.
 */
#define _GNU_SOURCE
#include "memory/call_site.h"
#include "base/buf.h"

#include <dlfcn.h>
#include <string.h>

#include "base/banned.h"

/* A return address points behind its call, which may be the next function. */
static void
write_name(struct sl_buf *out, uintptr_t address)
{
	uintptr_t call = address - 1;
	const char *slash;
	Dl_info info;

	if (!dladdr((void *)call, &info) || !info.dli_fname) {
		sl__buf_format(out, "0x%zx", (size_t)address);
		return;
	}
	if (info.dli_sname) {
		sl__buf_format(out, "%s+0x%zx", info.dli_sname,
			       (size_t)(address - (uintptr_t)info.dli_saddr));
		return;
	}
	slash = strrchr(info.dli_fname, '/');
	sl__buf_format(out, "%s+0x%zx", slash ? slash + 1 : info.dli_fname,
		       (size_t)(address - (uintptr_t)info.dli_fbase));
}

const char *
sl__call_site_text(struct sl__arena *arena, const uintptr_t *addresses,
		   size_t n)
{
	struct sl_buf buf = {0};
	const char *text = NULL;

	for (size_t i = 0; i < n; i++) {
		if (i)
			sl__buf_text(&buf, " < ");
		write_name(&buf, addresses[i]);
	}
	if (!sl__buf_status(&buf, NULL))
		text = sl__arena_string(arena, buf.data ? buf.data : "");
	sl_buf_release(&buf);
	return text;
}
