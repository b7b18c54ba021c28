/* SPDX-License-Identifier: Apache-2.0 */
/* quiz.h - questions whose answers Sleuth computes. */
#ifndef SL_QUIZ_H
#define SL_QUIZ_H

#include <stddef.h>

/*
 * Question n, counted from 1, and, where it is asked for, the answer, found
 * when it is called; all questions for n 0.  A number that no question has
 * is refused.
 */
void print_quiz(size_t n, int with_answer);

#endif
