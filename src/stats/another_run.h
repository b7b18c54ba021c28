/* SPDX-License-Identifier: Apache-2.0 */
/* another_run.h - where the figure of another run would lie. */
#ifndef SL_ANOTHER_RUN_H
#define SL_ANOTHER_RUN_H

#include "sleuth/basics.h"

/*
 * The median of the figures x[0..n-1], n >= 1, of a run's repetitions, all above 0, which
 * it sorts, with the interval that holds the figure of one more repetition with
 * 95 %: with the r-th smallest and the r-th largest, r = floor(0.025 (n + 1)),
 * of any continuous distribution (Wilks 1941); below n = 39, where there is no
 * such r, Student's t over the logarithms, which supposes that they are normal.
 *
 * A run whose repetitions depend on each other, because the machine changes
 * more slowly than they come (its clock, where a hypervisor puts its CPUs), is
 * worth few of them, at worst one: then its median is no surer than one
 * repetition, and this interval is what another run keeps to.  It is too wide
 * where they are independent.  It holds as long as the run is some six times as
 * long as such a change.  Refused below n = 6.
 */
struct sl_estimate sl__another_run_estimate(double *x, size_t n);

#endif
