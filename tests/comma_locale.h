/* SPDX-License-Identifier: Apache-2.0 */
/* comma_locale.h - a program whose user writes 1,5 for one and a half. */
#ifndef SL_TEST_COMMA_LOCALE_H
#define SL_TEST_COMMA_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Switches to a locale with a decimal comma: an installed one, or one made in
 * a folder below the current one, which takes a second.  Returns 0, and says
 * so, where neither can be had.  End with comma_locale_end().
 */
static inline int
comma_locale_begin(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
					    "fr_FR.UTF-8", "de_DE"};
	char folder[] = "comma_locale.XXXXXX", line[256];
	int made;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (setlocale(LC_NUMERIC, names[i]))
			return 1;
	}
	if (!mkdtemp(folder))
		return 0;
	snprintf(line, sizeof(line),
		 "localedef -c -i de_DE -f UTF-8 ./%s/comma 2>/dev/null",
		 folder);
	made = system(line) == 0;
	setenv("LOCPATH", folder, 1);
	made = made && setlocale(LC_NUMERIC, "comma");
	unsetenv("LOCPATH");
	snprintf(line, sizeof(line), "rm -r ./%s", folder);
	if (system(line) != 0)
		fprintf(stderr, "cannot remove %s\n", folder);
	if (!made)
		fprintf(stderr, "no locale with a decimal comma here\n");
	return made;
}

static inline void
comma_locale_end(void)
{
	setlocale(LC_NUMERIC, "C");
}

#endif
