/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa.c - which instruction sets may be used.
 *
 * Leaves and bits are those of Intel's manual, volume 2, "CPUID".  Hypervisors
 * choose the leaves that a guest sees.  Many pass on leaf 7, where AMX stands,
 * and end their list before leaf 1Dh, where the tiles are described.
 *
 * The decision is one for the process: oneDNN takes a cap only once.
 */
#include "machine/isa.h"
#include "base/buf.h"
#include "base/cache_file.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"
#include "machine/isa_trial.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/banned.h"

enum {
	LEAF_BASIC = 1,
	LEAF_FEATURES = 7,
	LEAF_STATE = 0xd,  /* EAX: what XCR0 may hold */
	LEAF_TILES = 0x1d, /* EAX: the highest palette */
	PALETTE = 1,       /* the only one so far; EBX: names, row bytes */
	/* Bits of XCR0: SSE and AVX, masks and registers of 512 bits, tiles. */
	STATE_AVX = 0x6,
	STATE_AVX512 = STATE_AVX | 0xe0,
	STATE_AMX = STATE_AVX512 | 0x60000,
	PATH_BYTES = 4096,
	MAX_FILE_BYTES = 65536
};

/* Words of CPUID that show sets. */
enum { BASIC_C, FEATURES_B, FEATURES_C, FEATURES_D, MORE_A, XCR0, N_WORDS };

#define BIT(n) (1u << (n))

/* In the order of the bits of sets.  'below' must be usable as well. */
static const struct {
	const char *name;
	enum sl_isa_level level;
	unsigned below;
	uint32_t needs[N_WORDS];
} sets[SL__N_ISA_SETS] = {
	{"SSE4", SL_ISA_SSE4, 0, {[BASIC_C] = BIT(9) | BIT(19)}},
	{"AVX2",
	 SL_ISA_AVX2,
	 SL__ISA_SSE4,
	 {[BASIC_C] = BIT(12) | BIT(27) | BIT(28),
	  [FEATURES_B] = BIT(5),
	  [XCR0] = STATE_AVX}},
	{"AVX-VNNI", SL_ISA_AVX2, SL__ISA_AVX2, {[MORE_A] = BIT(4)}},
	{"AVX-512",
	 SL_ISA_AVX512,
	 SL__ISA_AVX2,
	 {[FEATURES_B] = BIT(16) | BIT(17) | BIT(30) | BIT(31),
	  [XCR0] = STATE_AVX512}},
	{"AVX512-VNNI",
	 SL_ISA_AVX512,
	 SL__ISA_AVX512,
	 {[FEATURES_C] = BIT(11)}},
	{"AVX512-BF16", SL_ISA_AVX512, SL__ISA_AVX512, {[MORE_A] = BIT(5)}},
	{"AMX",
	 SL_ISA_AMX,
	 SL__ISA_AVX512,
	 {[FEATURES_D] = BIT(22) | BIT(24) | BIT(25), [XCR0] = STATE_AMX}},
};

const char *
sl_isa_level_text(enum sl_isa_level level)
{
	static const char *const words[SL_N_ISA_LEVELS] = {
		"scalar", "sse4", "avx2", "avx512", "amx"};

	return words[(unsigned)level < SL_N_ISA_LEVELS ? level : SL_ISA_SCALAR];
}

const char *
sl_isa_cause_text(enum sl_isa_cause cause)
{
	static const char *const words[SL_N_ISA_CAUSES] = {
		"none",         "tiles-hidden", "limit",
		"wrong-result", "trapped",      "refused"};

	return words[(unsigned)cause < SL_N_ISA_CAUSES ? cause : 0];
}

/* Leaves beyond the highest one answer as the highest one does: they must not
 * be read. */
static struct sl__cpuid
ask(sl__cpuid_fn *answer, const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	if (answer(ctx, 0, 0).eax < leaf)
		return (struct sl__cpuid){0, 0, 0, 0};
	return answer(ctx, leaf, subleaf);
}

static void
read_words(uint32_t words[N_WORDS], sl__cpuid_fn *answer, const void *ctx)
{
	struct sl__cpuid features = ask(answer, ctx, LEAF_FEATURES, 0);

	words[BASIC_C] = ask(answer, ctx, LEAF_BASIC, 0).ecx;
	words[FEATURES_B] = features.ebx;
	words[FEATURES_C] = features.ecx;
	words[FEATURES_D] = features.edx;
	words[MORE_A] = features.eax ? ask(answer, ctx, LEAF_FEATURES, 1).eax
				     : 0;
	words[XCR0] = answer(ctx, SL__LEAF_XCR0, 0).eax;
}

unsigned
sl__isa_shown(sl__cpuid_fn *answer, const void *ctx)
{
	uint32_t words[N_WORDS];
	unsigned shown = 0;

	read_words(words, answer, ctx);
	for (unsigned i = 0; i < SL__N_ISA_SETS; i++) {
		int is_shown = (shown & sets[i].below) == sets[i].below;

		for (size_t k = 0; k < N_WORDS; k++)
			is_shown &= (words[k] & sets[i].needs[k]) ==
				    sets[i].needs[k];
		shown |= (unsigned)is_shown << i;
	}
	return shown;
}

int
sl__isa_amx_is_unusable(sl__cpuid_fn *answer, const void *ctx)
{
	return sl__isa_shown(answer, ctx) & SL__ISA_AMX &&
	       !(ask(answer, ctx, LEAF_TILES, 0).eax >= PALETTE &&
		 ask(answer, ctx, LEAF_TILES, PALETTE).ebx >> 16 > 0);
}

static enum sl_isa_cause
cause_of_outcome(enum sl__isa_outcome outcome)
{
	switch (outcome) {
	case SL__ISA_WRONG:
		return SL_ISA_WRONG_RESULT;
	case SL__ISA_TRAPPED:
		return SL_ISA_TRAPPED;
	case SL__ISA_REFUSED:
		return SL_ISA_REFUSED;
	case SL__ISA_UNTRIED:
	case SL__ISA_RIGHT:
	case SL__N_ISA_OUTCOMES:
		break;
	}
	return SL_ISA_USED;
}

void
sl__isa_judge(struct sl__isa *out, sl__cpuid_fn *answer, const void *ctx,
	      const enum sl__isa_outcome *outcomes, enum sl_isa_level most)
{
	memset(out, 0, sizeof(*out));
	out->shown = sl__isa_shown(answer, ctx);
	for (unsigned i = 0; i < SL__N_ISA_SETS; i++) {
		unsigned missing = sets[i].below & ~out->usable;
		enum sl_isa_cause *cause = &out->causes[i];

		if (!(out->shown >> i & 1))
			continue;
		out->proved |= (unsigned)(outcomes[i] == SL__ISA_RIGHT) << i;
		*cause = cause_of_outcome(outcomes[i]);
		if (!*cause && BIT(i) == SL__ISA_AMX &&
		    sl__isa_amx_is_unusable(answer, ctx))
			*cause = SL_ISA_TILES_HIDDEN;
		/* What it is built on is out of use for the same reason. */
		for (unsigned k = 0; k < i && !*cause; k++) {
			if (missing >> k & 1)
				*cause = out->causes[k];
		}
		if (sets[i].level > most)
			*cause = SL_ISA_LIMITED;
		out->usable |= (unsigned)!*cause << i;
	}
}

enum sl_isa_level
sl__isa_level(unsigned of)
{
	if (!(of & SL__ISA_SSE4))
		return SL_ISA_SCALAR;
	if (!(of & SL__ISA_AVX2))
		return SL_ISA_SSE4;
	if (!(of & SL__ISA_AVX512))
		return SL_ISA_AVX2;
	return of & SL__ISA_AMX ? SL_ISA_AMX : SL_ISA_AVX512;
}

#if defined(__x86_64__)
__attribute__((target("xsave"))) static uint32_t
read_xcr0(void)
{
	return (uint32_t)__builtin_ia32_xgetbv(0);
}

static struct sl__cpuid
ask_cpu(const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	struct sl__cpuid is = {0, 0, 0, 0};

	(void)ctx;
	if (leaf == SL__LEAF_XCR0) { /* where the kernel has switched it on */
		__cpuid(LEAF_BASIC, is.eax, is.ebx, is.ecx, is.edx);
		is.eax = is.ecx & BIT(27) ? read_xcr0() : 0;
	} else {
		__cpuid_count(leaf, subleaf, is.eax, is.ebx, is.ecx, is.edx);
	}
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

/* The decision of this process. */

static pthread_mutex_t deciding = PTHREAD_MUTEX_INITIALIZER;
static struct sl__isa decided;
static int limit = -1; /* enum sl_isa_level; -1: none */

_Atomic unsigned sl__isa_usable;

/* What must be the same for trials to hold: the CPU, and what it shows. */
static uint64_t
identity_here(void)
{
	uint32_t words[N_WORDS + 1];

	read_words(words, ask_cpu, NULL);
	words[N_WORDS] = ask_cpu(NULL, LEAF_BASIC, 0).eax;
	return sl__hash(words, sizeof(words), 0);
}

/* The level of that name; unknown ones are refused. */
static enum sl_status
read_level(enum sl_isa_level *out, const char *name, struct sl_error *err)
{
	const char *near = NULL;

	for (int i = 0; i < SL_N_ISA_LEVELS; i++) {
		const char *level = sl_isa_level_text((enum sl_isa_level)i);

		*out = (enum sl_isa_level)i;
		if (!strcmp(name, level))
			return SL_OK;
		near = sl_text_nearer(name, near, level);
	}
	return sl__fail(err, SL_E_USAGE,
			"%s: must be scalar, sse4, avx2, avx512 or amx%s%s%s",
			name, near ? "; did you mean '" : "", near ? near : "",
			near ? "'?" : "");
}

/* Why this CPU cannot be used at a level. */
static enum sl_status
refuse_level(enum sl_isa_level level, const struct sl__isa *is,
	     struct sl_error *err)
{
	const char *name = sl_isa_level_text(level);
	const char *most = sl_isa_level_text(sl__isa_level(is->usable));
	size_t i = 0;

	if (level > sl__isa_level(is->shown))
		return sl__fail(err, SL_E_ABSENT,
				"%s: this CPU does not have it; the highest "
				"level here is %s",
				name, most);
	while (sets[i].level < level)
		i++;
	return sl__fail(err, SL_E_ABSENT,
			"%s: this CPU shows it, but it cannot be used (%s); "
			"the highest level here is %s",
			name, sl_isa_cause_text(is->causes[i]), most);
}

/* With 'deciding' locked; 'name' is a level, or NULL for no limit. */
static enum sl_status
decide(const char *name, const char *folder, struct sl_error *err)
{
	enum sl__isa_outcome outcomes[SL__N_ISA_SETS];
	enum sl_isa_level most = SL_ISA_AMX;
	enum sl_status rc = name ? read_level(&most, name, err) : SL_OK;
	struct sl__isa is;

	if (rc)
		return rc;
	rc = sl__isa_try_cached(outcomes, sl__isa_shown(ask_cpu, NULL),
				identity_here(), folder, err);
	if (rc)
		return rc;
	sl__isa_judge(&is, ask_cpu, NULL, outcomes, SL_ISA_AMX);
	if (name && most > sl__isa_level(is.usable))
		return refuse_level(most, &is, err);
	sl__isa_judge(&decided, ask_cpu, NULL, outcomes, most);
	limit = name ? (int)most : -1;
	atomic_store_explicit(&sl__isa_usable, decided.usable | SL__ISA_DECIDED,
			      memory_order_release);
	return SL_OK;
}

/* An empty value is none. */
static const char *
level_of_environment(void)
{
	const char *name = getenv("SLEUTH_ISA");

	return name && *name ? name : NULL;
}

enum sl_status
sl__isa_prepare(const char *cache_folder, struct sl_error *err)
{
	char folder[SL__CACHE_PATH];
	enum sl_status rc = SL_OK;

	pthread_mutex_lock(&deciding);
	if (!sl__isa_usable) {
		if (sl__cache_folder(folder, cache_folder, NULL))
			folder[0] = '\0';
		rc = decide(level_of_environment(), folder, err);
		if (rc != SL_E_NOMEM)
			rc = sl__error_prefix(err, rc, "SLEUTH_ISA");
	}
	pthread_mutex_unlock(&deciding);
	return rc;
}

const struct sl__isa *
sl__isa_decided(void)
{
	pthread_mutex_lock(&deciding);
	/* A wrong limit is refused where something can be. */
	if (!sl__isa_usable && decide(level_of_environment(), "", NULL))
		(void)!decide(NULL, "", NULL);
	pthread_mutex_unlock(&deciding);
	return &decided;
}

/* A limit that changes nothing is not too late. */
static enum sl_status
limit_late(const char *name, struct sl_error *err)
{
	enum sl_isa_level most, now = sl__isa_level(decided.usable);
	enum sl_status rc = read_level(&most, name, err);

	if (rc || (int)most == limit || (most == now && most != SL_ISA_SCALAR))
		return rc;
	return sl__fail(err, SL_E_USAGE,
			"%s: instruction sets up to %s are in use already",
			name, sl_isa_level_text(now));
}

enum sl_status
sl_isa_limit(const char *level, struct sl_error *err)
{
	char folder[SL__CACHE_PATH];
	enum sl_status rc;

	if (!level)
		return sl__isa_prepare(NULL, err);
	if (sl__cache_folder(folder, NULL, NULL))
		folder[0] = '\0';
	pthread_mutex_lock(&deciding);
	rc = sl__isa_usable ? limit_late(level, err)
			    : decide(level, folder, err);
	pthread_mutex_unlock(&deciding);
	return rc;
}

int
sl__isa_is_scalar(void)
{
	const struct sl__isa *is = sl__isa_decided();

	return limit == SL_ISA_SCALAR ||
	       (is->shown & ~is->usable & SL__ISA_SSE4) != 0;
}

/* What a machine is said to be. */

/* 'ctx' is the text of a recording, NULL for an empty one. */
static struct sl__cpuid
ask_recording(const void *ctx, uint32_t leaf, uint32_t subleaf)
{
	struct sl__cpuid is = {0, 0, 0, 0};
	const char *line = ctx;
	uint32_t l, s;

	if (leaf == SL__LEAF_XCR0) /* not recorded: all that it may hold */
		leaf = LEAF_STATE;
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

static void
judge_recording(struct sl__isa *out, const char *root)
{
	const enum sl__isa_outcome untried[SL__N_ISA_SETS] = {SL__ISA_UNTRIED};
	struct sl_buf text = {0};
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/cpuid.txt", root);
	/* A recording without answers of CPUID is one that shows nothing. */
	(void)!sl__file_read(&text, path, MAX_FILE_BYTES, NULL);
	sl__isa_judge(out, ask_recording, text.data, untried, SL_ISA_AMX);
	sl_buf_release(&text);
}

static const char *
name_of_level(enum sl_isa_level level)
{
	for (size_t i = 0; level && i < SL__N_ISA_SETS; i++) {
		if (sets[i].level == level)
			return sets[i].name;
	}
	return "plain C";
}

static enum sl_status
describe(struct sl_machine *m, const struct sl__isa *is,
	 struct sl__arena *arena, struct sl_error *err)
{
	struct sl_isa_set *rows =
		sl__arena_array(arena, SL__N_ISA_SETS, sizeof(*rows));
	struct sl_isa_cap *caps =
		sl__arena_array(arena, SL__N_ISA_SETS, sizeof(*caps));

	if (!rows || !caps)
		return sl__fail_nomem(err);
	m->isa_sets = rows;
	m->caps = caps;
	m->isa_shown = sl__isa_level(is->shown);
	m->isa_used = sl__isa_level(is->usable);
	for (unsigned i = 0; i < SL__N_ISA_SETS; i++) {
		if (!(is->shown >> i & 1))
			continue;
		rows[m->n_isa_sets++] = (struct sl_isa_set){
			sets[i].name, sets[i].level, (int)(is->proved >> i & 1),
			(int)(is->usable >> i & 1)};
		if (is->causes[i])
			caps[m->n_caps++] = (struct sl_isa_cap){
				sets[i].name, name_of_level(m->isa_used),
				is->causes[i]};
	}
	return SL_OK;
}

enum sl_status
sl__isa_read(struct sl_machine *m, const char *root, struct sl__arena *arena,
	     struct sl_error *err)
{
	struct sl__isa is;

	if (root[0])
		judge_recording(&is, root);
	else
		is = *sl__isa_decided();
	return describe(m, &is, arena, err);
}
