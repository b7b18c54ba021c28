/* SPDX-License-Identifier: Apache-2.0 */
/* topics.h - ideas that `sleuth help` explains. */
#ifndef SL_TOPICS_H
#define SL_TOPICS_H

#include "sleuth.h"

/*
 * One idea in plain words, and what it looks like: on this machine where the
 * machine has a say, in an example otherwise.  numbers() prints figures that
 * it finds while it is called.
 */
struct topic {
	const char *name;
	const char *about; /* one line */
	const char *text;  /* paragraphs, filled when they are printed */
	int is_example;    /* the figures are the same on every machine */
	void (*numbers)(void);
	const char *tries; /* commands, one a line */
};

/* All of them, in the order they build on each other; ends with a NULL name. */
const struct topic *all_topics(void);

/* NULL where there is no such topic. */
const struct topic *find_topic(const char *name);

/* Prints the topic; an exit code. */
int print_topic(const struct topic *topic);

#endif
