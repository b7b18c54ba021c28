/* SPDX-License-Identifier: Apache-2.0 */
/* bench_run.h - running commands: what `bench` and `compare` share. */
#ifndef SL_BENCH_RUN_H
#define SL_BENCH_RUN_H

#include "command_line.h"
#include "output.h"

struct bench_arguments {
	struct command_options commands;
	struct sl_bench_options bench;
	struct output output;
	struct repeated_values gates; /* `bench` only */
	double margin;
	size_t seed;
	int show_output;
	const char *style, *ignored;
};

/*
 * Reads the options ('extra' are the command's own), runs the commands and
 * writes what was asked for.  On 0 *out is the result and *n the number of
 * commands; otherwise an exit code, and *out may still be a result that was
 * interrupted.  'check' looks at the arguments before anything runs and
 * refuses what is wrong.
 */
typedef void bench_check(struct bench_arguments *a, size_t n_commands);

int bench_run(const struct command_help *help, struct bench_arguments *a,
	      const struct option_group *extra, char **argv, bench_check *check,
	      struct sl_bench **out);

#endif
