/* SPDX-License-Identifier: Apache-2.0 */
/* word_split.h - a line as the words that a shell would make of it. */
#ifndef SL_WORD_SPLIT_H
#define SL_WORD_SPLIT_H

/*
 * The words of 'line', NULL at the end: blanks part them, quotes and
 * backslashes work as in a POSIX shell (2.2 of its language), and nothing else
 * is expanded.  A line without words or with a quote that is not closed is
 * refused in the name of 'command'.
 */
const char **split_words(const char *command, const char *line);

#endif
