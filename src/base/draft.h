/* SPDX-License-Identifier: Apache-2.0 */
/* draft.h - a file that gets its name when it is whole. */
#ifndef SL_DRAFT_H
#define SL_DRAFT_H

#include "sleuth.h"

/*
 * All files are written this way: bytes are added one after the other, and
 * only sl__draft_commit() makes them the contents of the path asked for.
 * Until then the file has no name at all, so that nothing stays of it even
 * when the program is killed; on file systems that do not have files without
 * names it has one beside the path, which sl__draft_free() removes.
 *
 * The first failed write sticks and is reported by sl__draft_commit().
 */
struct sl__draft;

/*
 * A file that exists keeps its mode, and must be writable.  Links are followed.
 * A path that is not a regular file (/dev/stdout, a pipe) and a link to nothing
 * are written directly.
 */
enum sl_status sl__draft_open(struct sl__draft **out, const char *path,
			      const struct sl_allocator *allocator,
			      struct sl_error *err) SL_CHECKED;

/* Like sl__draft_open(), but for a regular or missing file that only the user
 * may read: a link is not followed but replaced, whatever it leads to. */
enum sl_status sl__draft_open_private(struct sl__draft **out, const char *path,
				      const struct sl_allocator *allocator,
				      struct sl_error *err) SL_CHECKED;

void sl__draft_add(struct sl__draft *draft, const void *bytes, size_t n_bytes);

/* Whether a write has failed: a long loop may end. */
int sl__draft_has_failed(const struct sl__draft *draft);

/* Writes what is left and reports any failure so far; the name comes with
 * sl__draft_commit(), which implies it. */
enum sl_status sl__draft_finish(struct sl__draft *draft,
				struct sl_error *err) SL_CHECKED;
enum sl_status sl__draft_commit(struct sl__draft *draft,
				struct sl_error *err) SL_CHECKED;
void sl__draft_free(struct sl__draft *draft); /* NULL is fine */

#endif
