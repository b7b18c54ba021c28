/* SPDX-License-Identifier: Apache-2.0 */
/* rendered_profile.h - a recorded profile in any format, and what is in it. */
#ifndef SL_TEST_RENDERED_PROFILE_H
#define SL_TEST_RENDERED_PROFILE_H

#include "harness.h"
#include "recorded_profile.h"

static inline struct sl_buf
render_view(const struct recorded_profile *r, enum sl_format format,
	    size_t n_columns, int verbose, const struct sl_profile_view *view)
{
	struct sl_render_options how = {.struct_size = sizeof(how),
					.format = format,
					.n_columns = n_columns,
					.verbose = verbose};
	const struct sl_profile *profile = &r->profile;
	struct sl_buf out = {0};
	struct sl_error err;

	if (sl_profile_render(&profile, 1, view, &how, &out, &err))
		fail_msg("%s", err.text);
	assert_non_null(out.data);
	return out;
}

static inline struct sl_buf
render(const struct recorded_profile *r, enum sl_format format,
       size_t n_columns, int verbose)
{
	return render_view(r, format, n_columns, verbose, NULL);
}

static inline void
assert_has(const struct sl_buf *out, const char *part)
{
	if (!strstr(out->data, part)) {
		print_error("no \"%s\" in:\n%s\n", part, out->data);
		fail();
	}
}

static inline void
assert_has_not(const struct sl_buf *out, const char *part)
{
	if (strstr(out->data, part)) {
		print_error("\"%s\" in:\n%s\n", part, out->data);
		fail();
	}
}

static inline size_t
lines_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

#endif
