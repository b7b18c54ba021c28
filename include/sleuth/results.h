/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - results that were saved, rendered again. */
#ifndef SLEUTH_RESULTS_H
#define SLEUTH_RESULTS_H

#include "sleuth/basics.h"
#include "sleuth/rendering.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A result of any kind, as a file of JSON has it. */
struct sl_result;

/*
 * Reads what SL_FORMAT_JSON or SL_FORMAT_HTML wrote.  SL_E_DATA names what is wrong in the text,
 * a schema that this library does not know, or a kind of result that it cannot
 * read.  *out owns all it holds, and is for sl_result_free(); NULL after a
 * failure.  'allocator' NULL: malloc and free.
 */
SL_API enum sl_status sl_result_read(struct sl_result **out, const char *text,
				     size_t n_bytes,
				     const struct sl_allocator *allocator,
				     struct sl_error *err) SL_CHECKED;

/* The same from a file; SL_E_IO when it cannot be read. */
SL_API enum sl_status sl_result_open(struct sl_result **out, const char *path,
				     struct sl_error *err) SL_CHECKED;
SL_API void sl_result_free(struct sl_result *result); /* NULL is fine */

/* What it is, such as "bench" or "profile"; and the command that made it. */
SL_API const char *sl_result_kind(const struct sl_result *result);
SL_API const char *sl_result_command(const struct sl_result *result);

/*
 * Appends it to 'out' in a format that its kind has.  JSON is the bytes that
 * were read.  Nothing is measured, and nothing but the result is looked at:
 * the page is the same on every machine.
 */
SL_API enum sl_status sl_result_render(const struct sl_result *result,
				       const struct sl_render_options *how,
				       struct sl_buf *out,
				       struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
