/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - which name was probably meant. */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

#include "base/banned.h"

/* Letters compared after what both begin and end with. */
enum { LETTERS_MOST = 63 };

static int
is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The table of Wagner and Fischer, of which three rows are kept in turn. */
static unsigned
table_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	unsigned rows[3][LETTERS_MOST + 1];

	for (size_t k = 0; k <= n_b; k++)
		rows[0][k] = (unsigned)k;
	for (size_t i = 1; i <= n_a; i++) {
		const unsigned *before = rows[(i + 2) % 3];
		unsigned *row = rows[i % 3];

		row[0] = (unsigned)i;
		for (size_t k = 1; k <= n_b; k++) {
			unsigned least =
				before[k - 1] + !is_same(a[i - 1], b[k - 1]);

			if (before[k] + 1 < least)
				least = before[k] + 1;
			if (row[k - 1] + 1 < least)
				least = row[k - 1] + 1;
			if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) &&
			    is_same(a[i - 2], b[k - 1]) &&
			    rows[(i + 1) % 3][k - 2] + 1 < least)
				least = rows[(i + 1) % 3][k - 2] + 1;
			row[k] = least;
		}
	}
	return rows[n_a % 3][n_b];
}

unsigned
sl__edit_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	/* What both begin and end with needs no edit. */
	while (n_a && n_b && is_same(*a, *b)) {
		a++;
		b++;
		n_a--;
		n_b--;
	}
	while (n_a && n_b && is_same(a[n_a - 1], b[n_b - 1])) {
		n_a--;
		n_b--;
	}
	return n_a > LETTERS_MOST || n_b > LETTERS_MOST
		       ? SL__EDITS_MANY
		       : table_distance(a, n_a, b, n_b);
}

const char *
sl_text_nearer(const char *word, const char *best, const char *name)
{
	size_t n = strlen(word), n_name = strlen(name);
	unsigned edits = sl__edit_distance(word, n, name, n_name);

	if (edits > 2 || 2 * edits >= n_name ||
	    (best && sl__edit_distance(word, n, best, strlen(best)) <= edits))
		return best;
	return name;
}
