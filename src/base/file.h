/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - whole files in and out. */
#ifndef SL_FILE_H
#define SL_FILE_H

#include "sleuth.h"

/*
 * Appends the contents of 'path' to 'out', at most 'max_bytes' of them;
 * SL_E_IO with the reason when it cannot be read.  Works on /proc and /sys,
 * whose files have no size.
 */
enum sl_status sl__file_read(struct sl_buf *out, const char *path,
			     size_t max_bytes, struct sl_error *err) SL_CHECKED;

/* Like sl__file_read(), but reads what is open as 'fd' and leaves it open;
 * 'path' is for messages. */
enum sl_status sl__file_read_open(struct sl_buf *out, int fd, const char *path,
				  size_t max_bytes,
				  struct sl_error *err) SL_CHECKED;

/*
 * Makes 'path' hold exactly these bytes, or leaves it as it was: they are
 * written to a file beside it that then takes its name and its mode.  Links
 * are followed.  A path that is not a regular file (/dev/stdout, a pipe) and
 * a link to nothing are written directly.
 */
enum sl_status sl__file_write(const char *path, const char *bytes,
			      size_t n_bytes, struct sl_error *err) SL_CHECKED;

#endif
