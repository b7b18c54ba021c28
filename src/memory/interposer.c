/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interposer.c - finding libsleuth-alloc in the running program.
 *
 * The library is looked for by name, not linked against: it must work as a
 * preload, and a program without it must start.
 */
#define _GNU_SOURCE
#include "memory/interposer.h"

#include <dlfcn.h>
#include <string.h>

#include "base/banned.h"

const struct sl__interposer *
sl__interposer_find(const char **reason)
{
	void *symbol = dlsym(RTLD_DEFAULT, SL__INTERPOSER_SYMBOL);
	const struct sl__interposer *(*find)(void);
	const struct sl__interposer *found;

	*reason = "libsleuth-alloc is neither linked nor preloaded";
	if (!symbol)
		return NULL;
	memcpy(&find, &symbol, sizeof(symbol)); /* C has no such cast */
	found = find();
	if (found->record_bytes != sizeof(struct sl__alloc_recording) ||
	    found->counts_bytes != sizeof(struct sl__alloc_counts)) {
		*reason = "libsleuth-alloc is of another version";
		return NULL;
	}
	*reason = NULL;
	return found;
}
