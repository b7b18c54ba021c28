/* SPDX-License-Identifier: Apache-2.0 */
/* bar.c - a share as a bar of characters. */
#include "report/bar.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* Returns the columns that it takes; *at becomes its end. */
static size_t
draw(struct sl__bar *bar, double share, size_t n_columns, size_t *at)
{
	static const char *const eighths[] = {"",  "▏", "▎", "▍",
					      "▌", "▋", "▊", "▉"};
	size_t n, n_rest;

	if (n_columns > SL__BAR_COLUMNS_MOST)
		n_columns = SL__BAR_COLUMNS_MOST;
	/* fmax() and fmin() make 0 of NaN. */
	n = (size_t)lround(fmin(fmax(share, 0), 1) * (double)n_columns * 8);
	*at = 0;
	for (size_t i = 0; i < n / 8; i++, *at += 3)
		memcpy(bar->s + *at, "█", 3);
	n_rest = strlen(eighths[n % 8]);
	memcpy(bar->s + *at, eighths[n % 8], n_rest);
	*at += n_rest;
	bar->s[*at] = '\0';
	return n / 8 + (n % 8 != 0);
}

const char *
sl__bar_text(struct sl__bar *bar, double share, size_t n_columns)
{
	size_t at;

	(void)draw(bar, share, n_columns, &at);
	return bar->s;
}

const char *
sl__bar_padded(struct sl__bar *bar, double share, size_t n_columns)
{
	size_t at, n = draw(bar, share, n_columns, &at);

	for (; n < n_columns && n < SL__BAR_COLUMNS_MOST; n++)
		bar->s[at++] = ' ';
	bar->s[at] = '\0';
	return bar->s;
}

size_t
sl__bar_columns_that_fit(size_t page_columns, size_t n_bars, size_t beside,
			 size_t most)
{
	const size_t least = 6;
	size_t page = page_columns ? page_columns : 80;
	size_t n = page > beside ? (page - beside) / n_bars : 0;

	return n > most ? most : n > least ? n : least;
}
