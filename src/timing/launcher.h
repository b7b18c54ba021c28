/* SPDX-License-Identifier: Apache-2.0 */
/* launcher.h - running whole commands and seeing what they used. */
#ifndef SL_LAUNCHER_H
#define SL_LAUNCHER_H

#include "base/arena.h"

#include <signal.h>

/*
 * A small process of its own that starts the commands it was given and waits
 * for them.  It exists because the kernel counts the memory of the process
 * that starts a command into that command's peak: the launcher is forked
 * before much memory is used, and says with each run what its own share is.
 *
 * Invariants: the table of commands is fixed before sl__launcher_open().
 * One request at a time, from the thread that opened it.
 */
struct sl__launcher {
	int fd; /* of a socket pair */
	int pid;
};

/* Where standard output goes. */
enum sl__stdout_sink {
	SL__STDOUT_SINK_NULL = 0, /* nowhere: /dev/null */
	SL__STDOUT_SINK_PIPE,     /* nowhere, but through a pipe that is read */
	SL__STDOUT_SINK_FILE,     /* a file, written anew by each run */
	SL__STDOUT_SINK_INHERIT /* where the caller's goes, standard error too */
};

/* One thing that can be run: a resolved file, its arguments and its output. */
struct sl__executable {
	const char *file;
	const char *const *argv; /* NULL-terminated */
	enum sl__stdout_sink sink;
	const char *output; /* of SL__STDOUT_SINK_FILE */
};

/* What one run did. */
struct sl__run_result {
	double wall_ns; /* from before the start to after the end */
	double user_ns, system_ns;
	uint64_t peak_bytes;  /* as the kernel counts: at least floor_bytes */
	uint64_t floor_bytes; /* peak of the launcher itself by then */
	uint64_t n_involuntary;
	uint64_t run_delay_ns;
	int has_run_delay;
	int exit_code;         /* 128 + signal_number when a signal ended it */
	int signal_number;     /* 0 when it ended by itself */
	int start_error;       /* errno when it could not be started, or 0 */
	char stderr_tail[256]; /* the end of its standard error, raw; "" where
				  that was inherited */
};

/*
 * Finds 'name' as a shell would: as it is when it has a slash, in PATH
 * otherwise.  NULL, with the reason in 'err', when there is no such program
 * that may be executed.  The result lives in 'arena'.
 */
const char *sl__launcher_find_program(const char *name, struct sl__arena *arena,
				      struct sl_error *err);

/*
 * Says where the output of a program goes: "null", "pipe" or "inherit", or the
 * name of a file, which is kept, not copied; NULL is "null".  SL_E_IO when
 * there can be no such file.
 */
enum sl_status sl__launcher_set_output(struct sl__executable *program,
				       const char *where,
				       struct sl_error *err) SL_CHECKED;

/*
 * Forks the launcher.  'programs' must stay as they are until it closes.  Each
 * run reads the file 'input' from its beginning.  When the caller dies, the
 * launcher ends the running program and itself.
 */
enum sl_status sl__launcher_open(struct sl__launcher *launcher,
				 const struct sl__executable *programs,
				 const char *input,
				 struct sl_error *err) SL_CHECKED;
void sl__launcher_close(struct sl__launcher *launcher);

/*
 * Runs programs[which] to its end.  A run that fails is not a failure here:
 * 'out' says how it ended.  When a signal arrives and 'interrupt' (NULL: none)
 * is set by then, the program is sent SIGINT.  SL_E_MEASURE when the launcher
 * itself is gone.
 */
enum sl_status sl__launcher_run(struct sl__launcher *launcher, size_t which,
				struct sl__run_result *out,
				const volatile sig_atomic_t *interrupt,
				struct sl_error *err) SL_CHECKED;

#endif
