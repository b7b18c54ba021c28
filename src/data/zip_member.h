/* SPDX-License-Identifier: Apache-2.0 */
/* zip_member.h - one file of a ZIP archive. */
#ifndef SL_ZIP_MEMBER_H
#define SL_ZIP_MEMBER_H

#include "base/arena.h"
#include "base/file_mapping.h"

/*
 * Puts what the member holds into the arena, stored or deflated; *out is NULL
 * where the archive has none of this name.  SL_E_DATA for an archive that is
 * cut off or damaged, and for one of 4 GiB or more.
 */
enum sl_status sl__zip_member(const unsigned char **out, size_t *n_out_bytes,
			      const struct sl__file_mapping *archive,
			      const char *name, struct sl__arena *arena,
			      struct sl_error *err) SL_CHECKED;

#endif
