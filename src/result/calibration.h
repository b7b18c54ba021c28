/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.h - what kernels answered whose bound is known. */
#ifndef SL_CALIBRATION_H
#define SL_CALIBRATION_H

#include "result/step_evidence.h"

struct sl__known_step {
	struct sl__step_evidence evidence;
	enum sl_bound bound;
	size_t kernel; /* of one size; below the number of steps */
	int is_repeat; /* the kernel is in the list before */
	size_t number; /* of the kernel in the table of those that are known */
};

/* Of this machine, at one number of threads. */
struct sl__calibration {
	const struct sl__known_step *steps;
	size_t n;
	size_t n_missing; /* kernels not measured yet: others were busy */
	double elapsed_s; /* that measuring took */
};

#endif
