/* SPDX-License-Identifier: Apache-2.0 */
/* paired_accuracy.h - which of two models is right more often. */
#ifndef SL_PAIRED_ACCURACY_H
#define SL_PAIRED_ACCURACY_H

#include "sleuth/evaluating.h"

/*
 * b less a, over the same n samples; each holds how right a model is about a
 * sample, 0 to 1.  The test is the sign e-process over samples on which they
 * differ (sl__sign_log_e()), which for 0 and 1 is McNemar's exact question: a
 * difference is proved where E >= 1 / alpha.
 *
 * The interval, of confidence 95 %: where all are 0 or 1, shares of samples
 * gained and lost have Clopper and Pearson's interval of 97.5 % each, and their
 * difference lies within what the two allow (Bonferroni); it holds for any n
 * and where nothing was gained or lost.  Else Student's, of the differences,
 * for which 'scratch' has room for n.
 */
struct sl_accuracy_difference sl__paired_accuracy(const double *a,
						  const double *b, size_t n,
						  double alpha,
						  double *scratch);

#endif
