/* SPDX-License-Identifier: Apache-2.0 */
/* exit_code.h - what the program's exit codes mean. */
#ifndef SL_EXIT_CODE_H
#define SL_EXIT_CODE_H

#include "sleuth.h"

enum exit_code {
	EXIT_DONE = -1, /* help was printed: exit 0, do nothing more */
	EXIT_FINE = 0,
	EXIT_REGRESSED = 1, /* regressed, over budget, mismatch */
	EXIT_UNDECIDED = 2,
	EXIT_INVALID = 3, /* nothing measured, or what was measured failed */
	EXIT_USAGE = 64,
	EXIT_DATA = 65,
	EXIT_ABSENT = 69,
	EXIT_BUG = 70,
	EXIT_NOMEM = 71,
	EXIT_IO = 74,
	EXIT_INTERRUPTED = 130
};

/* The exit code for a failed library call; tells the user on stderr. */
int exit_for(const char *command, const struct sl_error *err);

/* The same for one that does not name the model that it was about. */
int exit_for_model(const char *command, const char *model,
		   const struct sl_error *err);

/* The status that has this exit code; SL_E_BUG where none has. */
enum sl_status status_of_exit_code(int code);

/* 'code', or EXIT_INTERRUPTED for a result that is fine but was interrupted. */
int exit_unless_stopped(int code, enum sl_stop stopped_by);

#endif
