/* SPDX-License-Identifier: Apache-2.0 */
/* needs_dnnl.h - cases about what oneDNN does, which not every level and build
 * has. */
#ifndef SL_TEST_NEEDS_DNNL_H
#define SL_TEST_NEEDS_DNNL_H

#include "harness.h"
#include "engine/dnnl_context.h"

/* Reports the case as skipped at the level of instruction sets "scalar", and
 * without oneDNN. */
static inline void
needs_dnnl(void)
{
	if (!sl__dnnl_is_allowed())
		skip();
}

#endif
