/* SPDX-License-Identifier: Apache-2.0 */
/* file_mapping.h - files seen as memory, read when touched. */
#ifndef SL_FILE_MAPPING_H
#define SL_FILE_MAPPING_H

#include "sleuth/basics.h"

/*
 * Invariants: 'bytes' is NULL exactly when n_bytes is 0.  The pages are
 * private and read-only; a read behind the end of a file that shrank under its
 * mapping raises SIGBUS, in whichever thread reads.  The library catches no
 * signals: that is for the program.
 */
struct sl__file_mapping {
	const unsigned char *bytes;
	size_t n_bytes;
};

/* SL_E_IO when 'path' cannot be opened or is not a regular file. */
enum sl_status sl__file_mapping_open(struct sl__file_mapping *out,
				     const char *path,
				     struct sl_error *err) SL_CHECKED;
void sl__file_mapping_close(struct sl__file_mapping *mapping);

/*
 * Lets go of the pages that lie wholly in the stretch: they leave the
 * resident set and are read again when touched.  A stretch of memory that
 * is no mapping must not be given.
 */
void sl__file_mapping_drop_pages(const void *bytes, size_t n_bytes);

#endif
