/* SPDX-License-Identifier: Apache-2.0 */
/* gate_against.h - two models, or commands, measured together for a gate. */
#ifndef SL_GATE_AGAINST_H
#define SL_GATE_AGAINST_H

#include "sleuth.h"

struct gate_against {
	const char *command;       /* that asks */
	const char *now, *against; /* models, or lines of commands */
	int are_commands;
	double time_s; /* of measuring */
	const struct sl_gate_limit *limits;
	size_t n_limits;
	int is_quiet;
};

/* Measures both in the same rounds and judges what is there now; ends the
 * program after one line on stderr where that fails. */
struct sl_gate_check *gate_measure(const struct gate_against *how);

#endif
