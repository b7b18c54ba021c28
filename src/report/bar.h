/* SPDX-License-Identifier: Apache-2.0 */
/* bar.h - a share as a bar of characters. */
#ifndef SL_BAR_H
#define SL_BAR_H

#include <stddef.h>

enum { SL__BAR_COLUMNS_MOST = 32 };

/* Room for a bar in UTF-8. */
struct sl__bar {
	char s[3 * SL__BAR_COLUMNS_MOST + 1];
};

/*
 * "███▌": that share, 0 to 1, of n_columns columns, at most
 * SL__BAR_COLUMNS_MOST, in eighths of one; nothing for NaN.  The page spells
 * it in ASCII where it must.
 */
const char *sl__bar_text(struct sl__bar *bar, double share, size_t n_columns);

/* The same with spaces up to n_columns behind it. */
const char *sl__bar_padded(struct sl__bar *bar, double share, size_t n_columns);

/*
 * Columns of each of n_bars bars on a page of page_columns (0: 80), of which
 * 'beside' are for other things: no more than 'most', no fewer than 6.
 */
size_t sl__bar_columns_that_fit(size_t page_columns, size_t n_bars,
				size_t beside, size_t most);

#endif
