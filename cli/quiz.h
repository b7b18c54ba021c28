/* SPDX-License-Identifier: Apache-2.0 */
/* quiz.h - questions whose answers Sleuth computes. */
#ifndef SL_QUIZ_H
#define SL_QUIZ_H

#include <stddef.h>

/*
 * Question n, counted from 1, or all questions for n 0.  On a terminal each
 * waits for the reader and then shows the answer; elsewhere answers are shown
 * where 'with_answer'.  They are computed here and now.  A number that no
 * question has is refused.
 */
void print_quiz(size_t n, int with_answer);

#endif
