/* SPDX-License-Identifier: Apache-2.0 */
/* stderr_lines.h - what a command said last, fit to be printed. */
#ifndef SL_STDERR_LINES_H
#define SL_STDERR_LINES_H

#include "sleuth/basics.h"

enum { SL__STDERR_BYTES = 256, SL__STDERR_LINES = 4 };

/*
 * Writes the last lines of 'tail', at most SL__STDERR_LINES of them, into
 * 'out': each printable (sl_text_sanitize()), a newline between two, none at
 * the end. Of a line that was written over with carriage returns, as progress
 * is, the last state stays.  Where 'tail' fills its room, its first line may be
 * a part of one and is left out, unless it is the only one.
 */
void sl__stderr_last_lines(char out[SL__STDERR_BYTES],
			   const char tail[SL__STDERR_BYTES]);

#endif
