/* SPDX-License-Identifier: Apache-2.0 */
/* isa.h - which instruction sets may be used. */
#ifndef SL_ISA_H
#define SL_ISA_H

#include "base/arena.h"
#include "sleuth/machines.h"

#include <stdatomic.h>

/* The sets that kernels are written for, as bits; each belongs to a level. */
enum {
	SL__ISA_SSE4 = 1 << 0, /* SSSE3 and SSE4.1 */
	SL__ISA_AVX2 = 1 << 1, /* with FMA */
	SL__ISA_AVX_VNNI = 1 << 2,
	SL__ISA_AVX512 = 1 << 3, /* F, BW, DQ and VL */
	SL__ISA_AVX512_VNNI = 1 << 4,
	SL__ISA_AVX512_BF16 = 1 << 5,
	SL__ISA_AMX = 1 << 6, /* tiles of bf16 and int8 */
	SL__ISA_DECIDED = 1 << 30
};
enum { SL__N_ISA_SETS = 7 };

/* How a trial of a set ended (isa_trial.h). */
enum sl__isa_outcome {
	SL__ISA_UNTRIED = 0,
	SL__ISA_RIGHT,
	SL__ISA_WRONG,   /* another result than arithmetic has */
	SL__ISA_TRAPPED, /* a signal ended it */
	SL__ISA_REFUSED, /* the kernel grants no use of it */
	SL__N_ISA_OUTCOMES
};

/*
 * Invariants: usable and proved are parts of shown.  A set of 'shown' that is
 * not usable has a cause.  SL__ISA_AMX may be proved and not usable: tiles
 * that work, but that oneDNN cannot set up.
 */
struct sl__isa {
	unsigned shown;  /* CPUID has them, and the kernel saves their state */
	unsigned usable; /* shown, proved or untried, and within the limit */
	unsigned proved; /* a trial was right */
	enum sl_isa_cause causes[SL__N_ISA_SETS];
};

/* What the CPUID instruction answers to one leaf and subleaf. */
struct sl__cpuid {
	uint32_t eax, ebx, ecx, edx;
};

/* Answers as CPUID would; all zero for a leaf that is not known. */
typedef struct sl__cpuid sl__cpuid_fn(const void *ctx, uint32_t leaf,
				      uint32_t subleaf);

/* No leaf of CPUID: EAX is the lower half of XCR0, what the kernel saves. */
#define SL__LEAF_XCR0 0xffffffffu

/* Which sets CPUID shows. */
unsigned sl__isa_shown(sl__cpuid_fn *answer, const void *ctx);

/*
 * Whether CPUID shows AMX and yet does not describe its tiles.  Libraries take
 * the shape of the tiles from that description (oneDNN and PyTorch do), set up
 * tiles of no size where it is missing, and die of an illegal instruction.
 */
int sl__isa_amx_is_unusable(sl__cpuid_fn *answer, const void *ctx);

/* Decides by what CPUID answers, outcomes[] of each set's trial, and a limit.
 */
void sl__isa_judge(struct sl__isa *out, sl__cpuid_fn *answer, const void *ctx,
		   const enum sl__isa_outcome *outcomes,
		   enum sl_isa_level most);

/* The level of a collection of sets: the highest whose first set, and the
 * first sets of all levels below, are there. */
enum sl_isa_level sl__isa_level(unsigned sets);

/*
 * Decides for this process, unless that was done: sets of this CPU are tried
 * in a child process (what was found since the last boot is kept in
 * 'cache_folder', as sl__cache_folder() takes it), and the level of SLEUTH_ISA
 * is the limit.  SL_E_USAGE for a value that is no level, SL_E_ABSENT for a
 * level that this CPU cannot be used at; nothing is decided then.  Any thread
 * may call it.
 */
enum sl_status sl__isa_prepare(const char *cache_folder,
			       struct sl_error *err) SL_CHECKED;

/* What was decided; decides, without a cache and without a limit that is
 * wrong, where nothing was. */
const struct sl__isa *sl__isa_decided(void);

/* Sets that may be used, with SL__ISA_DECIDED once that was decided. */
extern _Atomic unsigned sl__isa_usable;

/* Whether all of 'sets' may be used: one load once that was decided. */
static inline int
sl__isa_has(unsigned sets)
{
	unsigned usable =
		atomic_load_explicit(&sl__isa_usable, memory_order_acquire);

	if (!(usable & SL__ISA_DECIDED))
		usable = sl__isa_decided()->usable;
	return (usable & sets) == sets;
}

/* Whether nothing beyond what the compiler makes of plain C may be used, in
 * libraries either. */
int sl__isa_is_scalar(void);

/*
 * Fills what 'm' says of instruction sets from the decision or, where 'root'
 * is not "", from 'root'/cpuid.txt without trials.  That file has a line "leaf
 * 00000007 sub 0: eax 00000002 ebx ... ecx ... edx ..." for each answer, all
 * but the subleaf in hexadecimal; without it no set is shown.
 */
enum sl_status sl__isa_read(struct sl_machine *m, const char *root,
			    struct sl__arena *arena,
			    struct sl_error *err) SL_CHECKED;

#endif
