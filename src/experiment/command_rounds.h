/* SPDX-License-Identifier: Apache-2.0 */
/* command_rounds.h - whole commands, run in random-order rounds. */
#ifndef SL_COMMAND_ROUNDS_H
#define SL_COMMAND_ROUNDS_H

#include "base/arena.h"
#include "stats/arm_set.h"
#include "timing/launcher.h"
#include "timing/runner.h"

/* What a command may bring along; each is a program of its own. */
enum sl__command_stage {
	SL__COMMAND_STAGE_MAIN = 0,
	SL__COMMAND_STAGE_SETUP,
	SL__COMMAND_STAGE_PREPARE,
	SL__COMMAND_STAGE_CONCLUDE,
	SL__COMMAND_STAGE_CLEANUP,
	SL__N_COMMAND_STAGES
};

/*
 * Invariants: programs[i * SL__N_COMMAND_STAGES + part] runs that part of
 * command i; its file is NULL where the command has no such part.  The last
 * program is the shell with nothing to do.  Everything lives in the arena.
 */
struct sl__command_table {
	struct sl_command *commands; /* [n] deep copies, names filled in */
	size_t n;
	struct sl__executable *programs; /* [n * SL__N_COMMAND_STAGES + 1] */
	int uses_shell;
};

/*
 * Copies the commands and finds their programs; 'how' has its defaults.
 * SL_E_MEASURE when one does not exist, SL_E_USAGE when a command is empty or
 * has both forms.
 */
enum sl_status sl__command_table_init(struct sl__command_table *table,
				      const struct sl_command *commands,
				      size_t n,
				      const struct sl_bench_options *how,
				      struct sl__arena *arena,
				      struct sl_error *err) SL_CHECKED;

/* The runs of one command, without what the shell took of them. */
struct sl__command_samples {
	double *wall_ns, *user_ns, *system_ns, *resident_bytes;
	int *exit_codes;
	size_t n_failed;
	double first_ns;
	struct sl__run_result latest;
};

/* Invariants: a column and the arms are over the same rounds, whole ones. */
struct sl__command_rounds {
	struct sl__command_samples *columns; /* [commands] */
	struct sl__arm_set arms;             /* ties by 'coin' */
	struct sl__rng coin;
	size_t n_rounds;
	struct sl_estimate shell_ns; /* n is 0 where no command needs one */
	double shell_user_ns, shell_system_ns; /* CPU time of that, medians */
	double elapsed_s;                      /* of measuring */
	enum sl_stop stopped_by;
};

/* Runs a program of the table to its end, like sl__launcher_run(). */
typedef enum sl_status sl__launch_function(size_t program,
					   struct sl__run_result *out,
					   void *ctx, struct sl_error *err);

struct sl__command_rounds_options {
	const struct sl_bench_options *how; /* defaults filled in, but for the
					       time */
	const struct sl__command_table *table;
	sl__launch_function *launch;
	void *launch_ctx;
	struct sl__monitor
		*monitor; /* open; what disturbs runs is added to it */
	const struct sl_clock *clock; /* NULL: monotonic */
};

/*
 * Sets the commands up, warms up and runs them in rounds until medians are
 * precise or verdicts fallen, the time is spent, or after the number of runs
 * asked for; then cleans up, whatever happened.  A budget that the user gave
 * is kept to half a round; the default one gives way to the smallest number of
 * runs.  SL_E_MEASURE when a command cannot be run or fails, SL_E_INTERRUPTED
 * when no round is whole.  Everything lives in 'arena' and 'out', which must
 * not move; columns grow between rounds.
 */
enum sl_status
sl__command_rounds_run(struct sl__command_rounds *out,
		       const struct sl__command_rounds_options *options,
		       struct sl__arena *arena,
		       struct sl_error *err) SL_CHECKED;

#endif
