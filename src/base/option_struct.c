/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_struct.c - option structs of callers that know another version of
 * them.
 *
 * A struct grows at its end and zero means the default, so that two versions
 * agree on what both of them have.
 */
#include "base/option_struct.h"
#include "base/status.h"
#include "sleuth.h"

#include <ctype.h>
#include <string.h>

#include "base/banned.h"

/* More than any struct will have: struct_size was never set. */
enum { SIZE_MOST = 4096 };

static enum sl_status
refuse_size(size_t size, const char *name, struct sl_error *err)
{
	char macro[64] = "";

	for (size_t i = 0; name[i] && i < sizeof(macro) - 1; i++)
		macro[i] = (char)toupper((unsigned char)name[i]);
	return sl__fail(err, SL_E_USAGE,
			"struct %s: struct_size is %zu; initialize the struct "
			"with %s_INIT, or set struct_size to sizeof(struct "
			"%s)",
			name, size, macro, name);
}

enum sl_status
sl__options_copy(void *out, size_t size_bytes, const void *options,
		 const char *name, struct sl_error *err)
{
	const unsigned char *bytes = options;
	size_t n;

	memset(out, 0, size_bytes);
	if (options) {
		memcpy(&n, options, sizeof(n));
		if (n < sizeof(n) || n > SIZE_MOST)
			return refuse_size(n, name, err);
		for (size_t i = size_bytes; i < n; i++) {
			if (bytes[i])
				return sl__fail(
					err, SL_E_USAGE,
					"struct %s: byte %zu is set, but this "
					"library (%s) knows %zu bytes only; "
					"leave newer members zero, or use a "
					"newer library",
					name, i, sl_version(), size_bytes);
		}
		memcpy(out, options, n < size_bytes ? n : size_bytes);
	}
	memcpy(out, &size_bytes, sizeof(size_bytes));
	return SL_OK;
}

enum sl_status
sl__sizes_copy(struct sl_sizes *copy, const struct sl_sizes **sizes,
	       struct sl_error *err)
{
	enum sl_status rc =
		sl__options_copy(copy, sizeof(*copy), *sizes, "sl_sizes", err);

	if (*sizes)
		*sizes = copy;
	return rc;
}

enum sl_status
sl__plan_options_copy(struct sl__plan_options_storage *copy,
		      const struct sl_plan_options **plan, struct sl_error *err)
{
	enum sl_status rc = sl__options_copy(&copy->plan, sizeof(copy->plan),
					     *plan, "sl_plan_options", err);

	if (!rc)
		rc = sl__sizes_copy(&copy->sizes, &copy->plan.sizes, err);
	if (*plan)
		*plan = &copy->plan;
	return rc;
}
