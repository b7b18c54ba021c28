/* SPDX-License-Identifier: Apache-2.0 */
/* isa.h - instruction sets that the CPU shows although they cannot be used. */
#ifndef SL_ISA_H
#define SL_ISA_H

#include "base/arena.h"

/* What the CPUID instruction answers to one leaf and subleaf. */
struct sl__cpuid {
	uint32_t eax, ebx, ecx, edx;
};

/* Answers as CPUID would; all zero for a leaf that is not known. */
typedef struct sl__cpuid sl__cpuid_fn(const void *ctx, uint32_t leaf,
				      uint32_t subleaf);

/*
 * Whether CPUID shows AMX and yet does not describe its tiles.  Libraries take
 * the shape of the tiles from that description (oneDNN and PyTorch do), set up
 * tiles of no size where it is missing, and die of an illegal instruction.
 */
int sl__isa_amx_is_unusable(sl__cpuid_fn *answer, const void *ctx);

/* The same of the CPU that runs this; 0 on other architectures.  Any thread
 * may ask. */
int sl__isa_amx_is_unusable_here(void);

/*
 * Fills m->caps from the CPU, or from 'root'/cpuid.txt where 'root' is not "".
 * That file has a line "leaf 00000007 sub 0: eax 00000002 ebx ... ecx ... edx
 * ..." for each answer, all but the subleaf in hexadecimal; without it nothing
 * is capped.  Only running out of memory fails.
 */
enum sl_status sl__isa_read_unusable(struct sl_machine *m, const char *root,
				     struct sl__arena *arena,
				     struct sl_error *err) SL_CHECKED;

#endif
