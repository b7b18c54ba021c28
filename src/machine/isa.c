/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa.c - instruction sets that the CPU shows although they cannot be used.
 *
 * Leaves and bits are those of Intel's manual, volume 2, "CPUID".  Hypervisors
 * choose the leaves that a guest sees.  Many pass on leaf 7, where AMX stands,
 * and end their list before leaf 1Dh, where the tiles are described.
 */
#include "machine/isa.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/banned.h"

enum {
	LEAF_FEATURES = 7,
	AMX_TILE = 1 << 24, /* in EDX of leaf 7 */
	LEAF_TILES = 0x1d,  /* EAX: the highest palette */
	PALETTE = 1,        /* the only one so far; EBX: names, row bytes */
	PATH_BYTES = 4096,
	MAX_FILE_BYTES = 65536
};

/* Leaves beyond the highest one answer as the highest one does: they must not
 * be read. */
static int
describes_tiles(sl__cpuid_fn *answer, const void *ctx)
{
	if (answer(ctx, 0, 0).eax < LEAF_TILES)
		return 0;
	return answer(ctx, LEAF_TILES, 0).eax >= PALETTE &&
	       answer(ctx, LEAF_TILES, PALETTE).ebx >> 16 > 0;
}

int
sl__isa_amx_is_unusable(sl__cpuid_fn *answer, const void *ctx)
{
	if (answer(ctx, 0, 0).eax < LEAF_FEATURES)
		return 0;
	return answer(ctx, LEAF_FEATURES, 0).edx & AMX_TILE &&
	       !describes_tiles(answer, ctx);
}

#if defined(__x86_64__)
static struct sl__cpuid
ask_cpu(const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	struct sl__cpuid is;

	(void)ctx;
	__cpuid_count(leaf, subleaf, is.eax, is.ebx, is.ecx, is.edx);
	return is;
}
#else
static struct sl__cpuid
ask_cpu(const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	(void)ctx;
	(void)leaf;
	(void)subleaf;
	return (struct sl__cpuid){0, 0, 0, 0};
}
#endif

int
sl__isa_amx_is_unusable_here(void)
{
	return sl__isa_amx_is_unusable(ask_cpu, NULL);
}

/* 'ctx' is the text of a recording, NULL for an empty one. */
static struct sl__cpuid
ask_recording(const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	struct sl__cpuid is = {0, 0, 0, 0};
	const char *line = ctx;
	uint32_t l, s;

	while (line) {
		if (sscanf(line,
			   "leaf %" SCNx32 " sub %" SCNu32 ": eax %" SCNx32
			   " ebx %" SCNx32 " ecx %" SCNx32 " edx %" SCNx32,
			   &l, &s, &is.eax, &is.ebx, &is.ecx, &is.edx) == 6 &&
		    l == leaf && s == subleaf)
			return is;
		line = strchr(line, '\n');
		line += line != NULL;
	}
	return (struct sl__cpuid){0, 0, 0, 0};
}

static int
recording_hides_tiles(const char *root)
{
	struct sl_buf text = {0};
	char path[PATH_BYTES];
	int is_hidden = 0;

	snprintf(path, sizeof(path), "%s/cpuid.txt", root);
	/* A recording without answers of CPUID is one that caps nothing. */
	if (sl__file_read(&text, path, MAX_FILE_BYTES, NULL) == SL_OK)
		is_hidden = sl__isa_amx_is_unusable(ask_recording, text.data);
	sl_buf_release(&text);
	return is_hidden;
}

enum sl_status
sl__isa_read_unusable(struct sl_machine *m, const char *root,
		      struct sl__arena *arena, struct sl_error *err)
{
	int is_hidden = root[0] ? recording_hides_tiles(root)
				: sl__isa_amx_is_unusable_here();
	struct sl_isa_cap *cap;

	if (!is_hidden)
		return SL_OK;
	cap = sl__arena_alloc(arena, sizeof(*cap));
	if (!cap)
		return sl__fail_nomem(err);
	cap->isa = "AMX";
	cap->instead = "AVX-512";
	cap->cause = SL_ISA_TILES_HIDDEN;
	m->caps = cap;
	m->n_caps = 1;
	return SL_OK;
}
