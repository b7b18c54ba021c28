/* SPDX-License-Identifier: Apache-2.0 */
/* build_text.c - how the library was built, and what it computes with. */
#include "base/buf.h"
#include "engine/dnnl_context.h"
#include "timing/counter_names.h"
#include "sleuth.h"

#include "base/banned.h"

/* Set by the build; no compiler tells of all of them. */
#ifndef SL_SANITIZERS
#define SL_SANITIZERS ""
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

#ifdef NDEBUG
#define ASSERTIONS "off"
#else
#define ASSERTIONS "on"
#endif

enum sl_status
sl_build_text(struct sl_buf *out, struct sl_error *err)
{
	static const char sanitizers[] = SL_SANITIZERS;

	sl__buf_format(out, "compiler: %s; assertions: %s; sanitizers: %s\n",
		       COMPILER, ASSERTIONS, *sanitizers ? sanitizers : "none");
	sl__dnnl_describe(out);
	sl__buf_format(out,
		       "hardware counters: perf_event, names by %s; energy: "
		       "RAPL\n",
		       sl__counter_has_libpfm() ? "libpfm4" : "the kernel");
	return sl__buf_status(out, err);
}
