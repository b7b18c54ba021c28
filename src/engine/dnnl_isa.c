/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnnl_isa.c - the instruction sets that oneDNN may use.
 *
 * dnnl_set_max_cpu_isa() overrules the user's ONEDNN_MAX_CPU_ISA, so that a
 * lower cap of the user's must be found first: asking oneDNN for it would end
 * the time in which a cap is taken.
 */
#include "engine/dnnl_isa.h"
#include "base/buf.h"
#include "base/status.h"
#include "engine/dnnl_context.h"
#include "machine/isa.h"

#include <dnnl_debug.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/banned.h"

/* Of what users may ask for and no trial has proved. */
#define NEVER (1u << 31)

/* As oneDNN spells them, from the lowest on. */
static const struct {
	const char *name;
	dnnl_cpu_isa_t isa;
	unsigned needs; /* sets of isa.h */
} caps[] = {
	{"SSE41", dnnl_cpu_isa_sse41, 0},
	{"AVX", dnnl_cpu_isa_avx, NEVER},
	{"AVX2", dnnl_cpu_isa_avx2, SL__ISA_AVX2},
	{"AVX2_VNNI", dnnl_cpu_isa_avx2_vnni, SL__ISA_AVX_VNNI},
#if DNNL_VERSION_MAJOR >= 3
	{"AVX2_VNNI_2", dnnl_cpu_isa_avx2_vnni_2, NEVER},
#endif
	{"AVX512_CORE", dnnl_cpu_isa_avx512_core, SL__ISA_AVX512},
	{"AVX512_CORE_VNNI", dnnl_cpu_isa_avx512_core_vnni,
	 SL__ISA_AVX512_VNNI},
	{"AVX512_CORE_BF16", dnnl_cpu_isa_avx512_core_bf16,
	 SL__ISA_AVX512_BF16},
};
enum { N_CAPS = sizeof(caps) / sizeof(caps[0]) };

size_t
sl__dnnl_isa_rank(const char *value)
{
	size_t i = 0;

	/* Upper and lower case are one to oneDNN. */
	while (i < N_CAPS && !(value && !strcasecmp(value, caps[i].name)))
		i++;
	return i;
}

/* The newer name comes first, and an empty value is none, as in oneDNN. */
static const char *
user_cap(void)
{
	const char *value = getenv("ONEDNN_MAX_CPU_ISA");

	return value && *value ? value : getenv("DNNL_MAX_CPU_ISA");
}

const char *
sl__dnnl_user_cap(void)
{
	size_t rank = sl__dnnl_isa_rank(user_cap());

	return rank < N_CAPS ? caps[rank].name : NULL;
}

static unsigned
in_use(void)
{
	return (unsigned)dnnl_get_effective_cpu_isa();
}

/* The highest that sets allow. */
static size_t
rank_of_sets(unsigned usable)
{
	size_t i = N_CAPS - 1;

	while (caps[i].needs & ~usable)
		i--;
	return i;
}

enum sl_status
sl__dnnl_cap_isa_at(unsigned usable, struct sl_error *err)
{
	size_t cap = rank_of_sets(usable);
	dnnl_status_t status = dnnl_success;

	if (sl__dnnl_isa_rank(user_cap()) > cap)
		status = dnnl_set_max_cpu_isa(caps[cap].isa);
	if (!(in_use() & ~(unsigned)caps[cap].isa))
		return SL_OK;
	return sl__fail(err, SL_E_ABSENT,
			"oneDNN would use instruction sets beyond %s, which "
			"are out of use here; %s%s",
			caps[cap].name,
			status == dnnl_invalid_arguments
				? "it was in use before Sleuth could cap it: "
				  "set ONEDNN_MAX_CPU_ISA="
				: "this build of it takes no cap",
			status == dnnl_invalid_arguments ? caps[cap].name : "");
}

enum sl_status
sl__dnnl_cap_isa(struct sl_error *err)
{
	const struct sl__isa *isa = sl__isa_decided();

	/* It uses nothing where it is not allowed. */
	if (isa->shown == isa->usable || !sl__dnnl_is_allowed())
		return SL_OK;
	return sl__dnnl_cap_isa_at(isa->usable, err);
}

int
sl__dnnl_is_allowed(void)
{
	return !sl__isa_is_scalar();
}

int
sl__dnnl_uses_isa(dnnl_cpu_isa_t isa)
{
	return sl__dnnl_is_allowed() && sl__dnnl_cap_isa(NULL) == SL_OK &&
	       (in_use() & (unsigned)isa) == (unsigned)isa;
}

void
sl__dnnl_describe(struct sl_buf *out)
{
	enum sl_status rc = sl__dnnl_cap_isa(NULL);
	const dnnl_version_t *v = dnnl_version();
	const char *cap = user_cap();
	const char *isa = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());

	isa += strncmp(isa, "cpu_isa_", 8) ? 0 : 8;
	sl__buf_format(out,
		       "oneDNN: %d.%d.%d; threads: %s; instruction sets: %s",
		       v->major, v->minor, v->patch,
		       dnnl_runtime2str(v->cpu_runtime), isa);
	if (cap)
		sl__buf_format(out, "; cap of the environment: %s", cap);
	if (!sl__dnnl_is_allowed())
		sl__buf_text(out, "; not used at the level scalar");
	sl__buf_text(out, rc ? "; cannot be used here\n" : "\n");
}
