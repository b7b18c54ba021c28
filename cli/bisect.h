/* SPDX-License-Identifier: Apache-2.0 */
/* bisect.h - commits of a repository, measured against each other. */
#ifndef SL_BISECT_H
#define SL_BISECT_H

struct bisect {
	const char *command; /* that asks, for messages */
	const char *line;    /* to be measured, in a checkout of each commit */
	const char *build;   /* a line that builds it there; NULL: none */
	const char *good, *bad; /* commits, in words of git */
	double time_s;          /* of measuring two commits */
	int is_quiet;
};

/* Measures 'bad' against 'good' and says what it finds.  The program's exit
 * code: 0 not slower, 1 slower, 2 undecided. */
int bisect_confirm(const struct bisect *how);

/* Finds the first commit after 'good', on the way to 'bad', that is slower.
 * 0: found; 2: undecided, or 'bad' is not slower. */
int bisect_find(const struct bisect *how);

#endif
