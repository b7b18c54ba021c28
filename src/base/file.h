/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - whole files in and out. */
#ifndef SL_FILE_H
#define SL_FILE_H

#include "sleuth/basics.h"

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

/* Makes 'path' hold exactly these bytes, or leaves it as it was; links, pipes
 * and devices are treated as sl__atomic_file_open() does. */
enum sl_status sl__file_write(const char *path, const char *bytes,
			      size_t n_bytes, struct sl_error *err) SL_CHECKED;

/* Writes all of it to what is open as 'fd', in as many pieces as that takes;
 * returns 0, or the errno value of what failed. */
int sl__file_send(int fd, const void *bytes, size_t n_bytes);

#endif
