/* SPDX-License-Identifier: Apache-2.0 */
/* outlier.h - labels for values far from the rest. */
#ifndef SL_OUTLIER_H
#define SL_OUTLIER_H

#include <stddef.h>

struct sl__outliers {
	size_t n_low, n_high;
	double low_fence, high_fence; /* values beyond are outliers */
};

/*
 * Iglewicz and Hoaglin (1993): 0.6745 |x - median| / MAD > 3.5, with the MAD
 * of the left and of the right half taken separately because times are
 * skewed.  A side whose MAD is 0 uses the mean absolute deviation of that
 * side instead (their advice: |x - median| / (1.253314 MeanAD) > 3.5).  A side
 * without any spread has its fence at the median.  'sorted' is in ascending
 * order, n >= 1.
 */
void sl__outliers_count(struct sl__outliers *out, const double *sorted,
			size_t n);

#endif
