/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - limits that turn a result into an exit code. */
#ifndef SL_GATE_H
#define SL_GATE_H

#include "output.h"

struct gate {
	int has_time, has_memory, has_accuracy;
	double time, memory; /* shares by which B may be worse than A */
	double accuracy;     /* share of samples, as they were measured */
};

/*
 * Reads "1%", "time=1%" or "memory=5%", each at most once; refuses
 * other words.  From 1 on, a number is of percent without the sign too.
 */
void gate_read(struct gate *gate, const struct repeated_values *texts,
	       const char *command, size_t n_commands);

/*
 * The exit code: 1 when any later command is proved worse than the first,
 * 3 when a limit could not be measured, 2 when time did not suffice for all,
 * 0 when all are proved within the limits.  Says a line for each that is not,
 * or one that all are: on standard output where 'output' leaves that free and
 * is quiet or all is well, else on stderr.
 */
int gate_check_bench(const struct gate *gate, const struct sl_bench *bench,
		     const struct output *output, const char *command);

/* What one verdict means as an exit code. */
int gate_verdict_exit_code(enum sl_gate gate);

#endif
