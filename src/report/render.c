/* SPDX-License-Identifier: Apache-2.0 */
/* render.c - how a caller wants a result, checked. */
#include "render.h"
#include "status.h"

#include "banned.h"

enum sl_status
sl__render_check(const struct sl_render_options **how, struct sl_error *err)
{
	static const struct sl_render_options defaults = {
		.struct_size = sizeof(defaults)};

	if (!*how)
		*how = &defaults;
	if ((*how)->struct_size != sizeof(**how))
		return sl__fail(err, SL_E_USAGE,
				"sl_render_options: struct_size is wrong");
	return SL_OK;
}

enum sl_status
sl__render_refuse(struct sl_error *err, const char *result)
{
	return sl__fail(err, SL_E_USAGE, "%s has no such format", result);
}
