/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_file.h - a file that gets its name when it is whole. */
#ifndef SL_ATOMIC_FILE_H
#define SL_ATOMIC_FILE_H

#include "sleuth/basics.h"

/*
 * All files are written this way: bytes are added one after the other, and
 * only sl__atomic_file_commit() makes them the contents of the path asked for.
 * Until then the file has no name at all, so that nothing stays of it even
 * when the program is killed; on file systems that do not have files without
 * names it has one beside the path, which sl__atomic_file_free() removes.
 *
 * The first failed write sticks and is reported by sl__atomic_file_commit().
 */
struct sl__atomic_file;

/*
 * A file that exists keeps its mode, and must be writable.  Links are followed.
 * A path that is not a regular file (/dev/stdout, a pipe) and a link to nothing
 * are written directly.
 */
enum sl_status sl__atomic_file_open(struct sl__atomic_file **out,
				    const char *path,
				    const struct sl_allocator *allocator,
				    struct sl_error *err) SL_CHECKED;

/* Like sl__atomic_file_open(), but for a regular or missing file that only the
 * user may read: a link is not followed but replaced, whatever it leads to. */
enum sl_status
sl__atomic_file_open_private(struct sl__atomic_file **out, const char *path,
			     const struct sl_allocator *allocator,
			     struct sl_error *err) SL_CHECKED;

void sl__atomic_file_add(struct sl__atomic_file *draft, const void *bytes,
			 size_t n_bytes);

/* Whether a write has failed: a long loop may end. */
int sl__atomic_file_has_failed(const struct sl__atomic_file *draft);

/* Writes what is left and reports any failure so far; the name comes with
 * sl__atomic_file_commit(), which implies it. */
enum sl_status sl__atomic_file_flush(struct sl__atomic_file *draft,
				     struct sl_error *err) SL_CHECKED;
enum sl_status sl__atomic_file_commit(struct sl__atomic_file *draft,
				      struct sl_error *err) SL_CHECKED;
void sl__atomic_file_free(struct sl__atomic_file *draft); /* NULL is fine */

#endif
