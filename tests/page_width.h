/* SPDX-License-Identifier: Apache-2.0 */
/* page_width.h - how wide a page is. */
#ifndef SL_TEST_PAGE_WIDTH_H
#define SL_TEST_PAGE_WIDTH_H

#include <stddef.h>

/* Columns of the widest line: bytes that begin a character. */
static inline size_t
width_of(const char *text)
{
	size_t most = 0, n = 0;

	for (; *text; text++) {
		if (*text == '\n')
			n = 0;
		else if (((unsigned char)*text & 0xc0) != 0x80)
			n++;
		most = n > most ? n : most;
	}
	return most;
}

#endif
