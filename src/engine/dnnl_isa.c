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
#include "machine/isa.h"

#include <dnnl_debug.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/banned.h"

int
sl__dnnl_isa_excludes_amx(const char *value)
{
	/* Upper and lower case are one to oneDNN; 2 ignores the last three. */
	static const char *const below[] = {
		"SSE41",
		"AVX",
		"AVX2",
		"AVX2_VNNI",
		"AVX512_CORE",
		"AVX512_CORE_VNNI",
		"AVX512_CORE_BF16",
		"AVX2_VNNI_2",
		"AVX512_CORE_FP16",
		"AVX10_1_512",
	};
	const size_t n = sizeof(below) / sizeof(below[0]) -
			 (DNNL_VERSION_MAJOR < 3 ? 3 : 0);

	for (size_t i = 0; value && i < n; i++) {
		if (!strcasecmp(value, below[i]))
			return 1;
	}
	return 0;
}

/* The newer name comes first, and an empty value is none, as in oneDNN. */
static const char *
user_cap(void)
{
	const char *value = getenv("ONEDNN_MAX_CPU_ISA");

	return value && *value ? value : getenv("DNNL_MAX_CPU_ISA");
}

static unsigned
in_use(void)
{
	return (unsigned)dnnl_get_effective_cpu_isa();
}

enum sl_status
sl__dnnl_cap_isa_if(int hides_tiles, struct sl_error *err)
{
	const unsigned allowed = SL__DNNL_ISA_BELOW_AMX;
	const unsigned tiles = dnnl_cpu_isa_avx512_core_amx & ~allowed;
	dnnl_status_t status = dnnl_success;

	if (!hides_tiles)
		return SL_OK;
	if (!sl__dnnl_isa_excludes_amx(user_cap()))
		status = dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
	if (!(in_use() & tiles))
		return SL_OK;
	return sl__fail(err, SL_E_ABSENT,
			"oneDNN would use AMX, which this CPU shows without "
			"describing its tiles, and crash; %s",
			status == dnnl_invalid_arguments
				? "it was in use before Sleuth could cap it: "
				  "set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"
				: "this build of it takes no cap");
}

enum sl_status
sl__dnnl_cap_isa(struct sl_error *err)
{
	return sl__dnnl_cap_isa_if(sl__isa_amx_is_unusable_here(), err);
}

int
sl__dnnl_uses_isa(dnnl_cpu_isa_t isa)
{
	return sl__dnnl_cap_isa(NULL) == SL_OK &&
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
	sl__buf_text(out, rc ? "; cannot be used here\n" : "\n");
}
