/* SPDX-License-Identifier: Apache-2.0 */
/* cache_file.h - small files kept in the user's cache folder. */
#ifndef SL_CACHE_FILE_H
#define SL_CACHE_FILE_H

#include "sleuth/basics.h"

enum {
	SL__CACHE_PATH = 4096,
	SL__CACHE_MOST_BYTES = 1 << 24 /* far above what is ever kept */
};

/*
 * Where files are kept: in 'given', or with NULL in $XDG_CACHE_HOME/sleuth or
 * $HOME/.cache/sleuth, as the XDG standard has it.  SL_E_ABSENT with the
 * reason where nothing is kept: 'given' is empty, neither variable names an
 * absolute path, or what lies two folders above, such as the home, is missing.
 * Makes nothing.
 */
enum sl_status sl__cache_folder(char folder[SL__CACHE_PATH], const char *given,
				struct sl_error *err) SL_CHECKED;

/*
 * Appends the contents of 'path' to 'out'.  SL_E_ABSENT where there is no such
 * file.  SL_E_IO with the reason for a symbolic link, for anything else that is
 * not a regular file, for a file of another user, and for one of more than
 * SL__CACHE_MOST_BYTES; none of them is read, and a pipe is not waited for.
 */
enum sl_status sl__cache_read(struct sl_buf *out, const char *path,
			      struct sl_error *err) SL_CHECKED;

/*
 * Makes 'path' hold exactly these bytes, or leaves it as it was.  The folder
 * and the one above it are made where they are missing, for the user alone;
 * a home is not made.  What sl__cache_read() would not read is not replaced,
 * unless by its size alone: SL_E_IO with the reason.
 */
enum sl_status sl__cache_write(const char *path, const char *bytes,
			       size_t n_bytes, struct sl_error *err) SL_CHECKED;

#endif
