/* SPDX-License-Identifier: Apache-2.0 */
/* file_kind.h - what a file seems to be that is not a model. */
#ifndef SL_FILE_KIND_H
#define SL_FILE_KIND_H

#include <stddef.h>

/* "a PNG image", "a text file", ...; NULL when it cannot be told. */
const char *sl__file_kind(const unsigned char *bytes, size_t n_bytes);

#endif
