/* SPDX-License-Identifier: Apache-2.0 */
/* ref_regex.h - regular expressions as ONNX writes them. */
#ifndef SL_REF_REGEX_H
#define SL_REF_REGEX_H

#include "base/arena.h"

/*
 * A pattern of RE2 as an extended one of POSIX that matches whole strings,
 * in the arena.  Greedy and not makes no difference there; "\d" and its kin
 * become classes; "\b" is left to the C library, which may know it.
 * SL_E_ABSENT for what cannot be said: flags, properties of Unicode.  Strings
 * are matched byte by byte.
 */
enum sl_status sl__regex_re2_to_posix(const char **out, const char *pattern,
				      struct sl__arena *arena,
				      struct sl_error *err) SL_CHECKED;

#endif
