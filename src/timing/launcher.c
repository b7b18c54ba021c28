/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.c - running whole commands and seeing what they used.
 *
 * The launcher reads an index from a socket, starts that program with
 * posix_spawn (vfork underneath: its cost does not grow with our memory), takes
 * the time when it ended, looks at the zombie's run delay, reaps it with
 * wait4() for times and peak memory, and writes the answer back.  Standard
 * error goes through a pipe, of which the launcher keeps the end: when a
 * command fails, that says why.  A command that writes nothing there is not
 * delayed by it, and one that leaves children behind is not waited for longer.
 *
 * The launcher ignores SIGINT, which a terminal sends to the whole group, so
 * that the run in progress ends by its own handling of it; SIGUSR1 from the
 * caller iterations an interrupt on, and SIGTERM, which the kernel sends when
 * the caller dies, ends everything.  The commands get the defaults back.
 */
#define _GNU_SOURCE
#include "timing/launcher.h"
#include "base/clock.h"
#include "base/status.h"
#include "timing/proc_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"

extern char **environ;

/* 0 when 'path' may be executed, or an errno value that says why not. */
static int
why_not_program(const char *path)
{
	struct stat known;

	if (stat(path, &known))
		return errno;
	if (S_ISDIR(known.st_mode))
		return EISDIR;
	if (!S_ISREG(known.st_mode) || access(path, X_OK))
		return EACCES;
	return 0;
}

/* An empty entry, at either end too, is the current folder. */
static const char *
find_in_path(const char *name, struct sl__arena *arena)
{
	const char *at = getenv("PATH");

	if (!at)
		at = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t n = strcspn(at, ":");
		const char *path = sl__arena_format(
			arena, "%.*s/%s", n ? (int)n : 1, n ? at : ".", name);

		if (path && !why_not_program(path))
			return path;
		if (!at[n])
			return NULL;
		at += n + 1;
	}
}

const char *
sl__launcher_find_program(const char *name, struct sl__arena *arena,
			  struct sl_error *err)
{
	const char *path;

	if (strchr(name, '/')) {
		int error = why_not_program(name);

		path = sl__arena_string(arena, name);
		if (!error && path)
			return path;
		sl__fail_errno(err, SL_E_MEASURE, error ? error : ENOMEM,
			       "cannot run '%s'", name);
		return NULL;
	}
	path = *name ? find_in_path(name, arena) : NULL;
	if (!path)
		sl__fail(err, SL_E_MEASURE,
			 "cannot run '%s': no such command in PATH", name);
	return path;
}

/* Whether the commands will be able to open it: told before they run. */
static enum sl_status
try_open(const char *path, int flags, struct sl_error *err)
{
	int fd = open(path, flags | O_CLOEXEC, 0666);

	if (fd < 0)
		return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
	close(fd);
	return SL_OK;
}

enum sl_status
sl__launcher_set_output(struct sl__executable *program, const char *where,
			struct sl_error *err)
{
	program->sink =
		!where || strcmp(where, "null") == 0 ? SL__STDOUT_SINK_NULL
		: strcmp(where, "pipe") == 0         ? SL__STDOUT_SINK_PIPE
		: strcmp(where, "inherit") == 0      ? SL__STDOUT_SINK_INHERIT
						     : SL__STDOUT_SINK_FILE;
	program->output = program->sink == SL__STDOUT_SINK_FILE ? where : NULL;
	if (!program->output)
		return SL_OK;
	return try_open(where, O_WRONLY | O_CREAT, err);
}

/* A pipe that commands write to; both ends stay open between runs. */
struct drain {
	int ends[2];
};

struct office {
	const struct sl__executable *programs;
	const char *input;
	posix_spawnattr_t attributes;
	struct drain errors, output;
	sigset_t while_waiting; /* SIGCHLD is blocked at all other times */
	pid_t caller;
	int fd;
};

/* Messages keep their bounds on this kind of socket: whole or nothing. */
static int
receive(int fd, void *message, size_t n_bytes)
{
	ssize_t n;

	do {
		n = recv(fd, message, n_bytes, 0);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)n_bytes;
}

static int
send_whole(int fd, const void *message, size_t n_bytes)
{
	ssize_t n;

	do {
		n = send(fd, message, n_bytes, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)n_bytes;
}

/* The program that runs, for the handlers; 0 between runs. */
static volatile sig_atomic_t running_pid;

static void
pass_interrupt(int number)
{
	(void)number;
	if (running_pid)
		kill(running_pid, SIGINT);
}

static void
end_everything(int number)
{
	(void)number;
	if (running_pid)
		kill(running_pid, SIGTERM);
	_exit(0);
}

static double
timeval_ns(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static void
read_run_delay(struct sl__run_result *run, pid_t pid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)pid);
	run->has_run_delay = sl__proc_read_file(path, text, sizeof(text)) &&
			     sl__proc_parse_run_delay(&run->run_delay_ns, text);
}

static void
reap(struct sl__run_result *run, pid_t pid)
{
	struct rusage usage, own;
	int status;

	getrusage(RUSAGE_SELF, &own);
	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno == EINTR)
			continue;
		run->start_error = errno; /* nothing is known of its end */
		return;
	}
	run->user_ns = timeval_ns(usage.ru_utime);
	run->system_ns = timeval_ns(usage.ru_stime);
	run->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
	run->floor_bytes = (uint64_t)own.ru_maxrss * 1024;
	run->n_involuntary = (uint64_t)usage.ru_nivcsw;
	run->signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	run->exit_code = run->signal_number ? 128 + run->signal_number
					    : WEXITSTATUS(status);
}

/* Fills in 'streams', to be destroyed where 0 is returned. */
static int
open_streams(posix_spawn_file_actions_t *streams, const struct office *office,
	     const struct sl__executable *program)
{
	int is_file = program->sink == SL__STDOUT_SINK_FILE;
	int error = posix_spawn_file_actions_init(streams);

	if (error)
		return error;
	error = posix_spawn_file_actions_addopen(streams, STDIN_FILENO,
						 office->input, O_RDONLY, 0);
	if (!error && program->sink != SL__STDOUT_SINK_INHERIT)
		error = posix_spawn_file_actions_adddup2(
			streams, office->errors.ends[1], STDERR_FILENO);
	if (!error && program->sink == SL__STDOUT_SINK_PIPE)
		error = posix_spawn_file_actions_adddup2(
			streams, office->output.ends[1], STDOUT_FILENO);
	else if (!error && program->sink != SL__STDOUT_SINK_INHERIT)
		error = posix_spawn_file_actions_addopen(
			streams, STDOUT_FILENO,
			is_file ? program->output : "/dev/null",
			is_file ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY,
			0666);
	if (error)
		posix_spawn_file_actions_destroy(streams);
	return error;
}

/* Adds 'n' bytes to the end that is kept. */
static void
keep_tail(struct sl__run_result *run, const char *bytes, size_t n)
{
	const size_t cap = sizeof(run->stderr_tail) - 1;
	size_t held = strlen(run->stderr_tail);

	if (n > cap) {
		bytes += n - cap;
		n = cap;
	}
	if (held + n > cap) {
		size_t gone = held + n - cap;

		memmove(run->stderr_tail, run->stderr_tail + gone, held - gone);
		held -= gone;
	}
	memcpy(run->stderr_tail + held, bytes, n);
	run->stderr_tail[held + n] = '\0';
}

/*
 * Empties a pipe; 'run' (NULL: nobody) keeps the end.  A pipe holds at most
 * 1 MiB: whoever still writes after that many reads is a child left behind.
 */
static void
empty(const struct drain *drain, struct sl__run_result *run)
{
	char bytes[16384];

	for (size_t i = 0; i < (1 << 20) / sizeof(bytes); i++) {
		ssize_t n = read(drain->ends[0], bytes, sizeof(bytes));

		if (n <= 0)
			return;
		for (ssize_t k = 0; k < n; k++) {
			if (!bytes[k])
				bytes[k] = '?'; /* the tail is a string */
		}
		if (run)
			keep_tail(run, bytes, (size_t)n);
	}
}

/* Until the program ended; it stays a zombie. */
static void
await_end(const struct office *office, pid_t pid, struct sl__run_result *run)
{
	struct pollfd pipes[] = {
		{.fd = office->errors.ends[0], .events = POLLIN},
		{.fd = office->output.ends[0], .events = POLLIN}};
	siginfo_t ended = {0};

	while (!waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT | WNOHANG) &&
	       !ended.si_pid) {
		if (ppoll(pipes, 2, NULL, &office->while_waiting) <= 0)
			continue;
		empty(&office->errors, run);
		empty(&office->output, NULL);
	}
}

static void
run_program(const struct office *office, const struct sl__executable *program,
	    struct sl__run_result *run)
{
	posix_spawn_file_actions_t streams;
	pid_t pid;

	memset(run, 0, sizeof(*run));
	empty(&office->errors, NULL);
	run->start_error = open_streams(&streams, office, program);
	if (run->start_error)
		return;
	uint64_t start_ns = sl__clock_now_ns(NULL);

	/* The argument type predates const; the strings are not changed. */
	run->start_error =
		posix_spawn(&pid, program->file, &streams, &office->attributes,
			    (char *const *)(uintptr_t)program->argv, environ);
	if (!run->start_error) {
		running_pid = pid;
		await_end(office, pid, run);
		run->wall_ns = (double)(sl__clock_now_ns(NULL) - start_ns);
		running_pid = 0;
		empty(&office->errors, run);
		read_run_delay(run, pid);
		reap(run, pid);
	}
	posix_spawn_file_actions_destroy(&streams);
}

/* SIGCHLD only ends the wait in ppoll(). */
static void
note_end(int number)
{
	(void)number;
}

static _Noreturn void
serve(struct office *office)
{
	struct sigaction child = {.sa_handler = note_end,
				  .sa_flags = SA_NOCLDSTOP | SA_RESTART};
	sigset_t blocked;
	uint64_t which;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &office->while_waiting);
	sigdelset(&office->while_waiting, SIGCHLD);
	signal(SIGINT, SIG_IGN);
	sigaction(SIGCHLD, &child, NULL);
	signal(SIGUSR1, pass_interrupt);
	signal(SIGTERM, end_everything);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != office->caller)
		_exit(0); /* it died before the line above */
	while (receive(office->fd, &which, sizeof(which))) {
		struct sl__run_result run;

		run_program(office, &office->programs[which], &run);
		if (!send_whole(office->fd, &run, sizeof(run)))
			break;
	}
	_exit(0);
}

static int
set_signals(struct office *office)
{
	static const int caught[] = {SIGINT,  SIGPIPE, SIGCHLD,
				     SIGUSR1, SIGTERM, SIGXFSZ};
	sigset_t defaults, none;

	sigemptyset(&none);
	sigemptyset(&defaults);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&defaults, caught[i]);
	posix_spawnattr_setsigdefault(&office->attributes, &defaults);
	posix_spawnattr_setsigmask(&office->attributes, &none);
	return posix_spawnattr_setflags(&office->attributes,
					POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSIGMASK);
}

/* Forks, connected by a socket pair; returns an errno value. */
static int
fork_office(struct sl__launcher *launcher, struct office *office)
{
	int ends[2];
	int error = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return errno;
	launcher->fd = ends[0];
	office->fd = ends[1];
	office->caller = getpid();
	launcher->pid = fork();
	if (launcher->pid == 0) {
		close(ends[0]);
		serve(office);
	}
	if (launcher->pid < 0) {
		error = errno;
		close(ends[0]);
	}
	close(ends[1]);
	return error;
}

/* A pipe of which only the reading end does not wait. */
static int
open_drain(struct drain *drain)
{
	if (pipe2(drain->ends, O_CLOEXEC))
		return errno;
	return fcntl(drain->ends[0], F_SETFL, O_NONBLOCK) ? errno : 0;
}

static void
close_drain(struct drain *drain)
{
	for (size_t i = 0; i < 2; i++) {
		if (drain->ends[i] >= 0)
			close(drain->ends[i]);
	}
}

enum sl_status
sl__launcher_open(struct sl__launcher *launcher,
		  const struct sl__executable *programs, const char *input,
		  struct sl_error *err)
{
	struct office office = {.programs = programs,
				.input = input,
				.errors = {{-1, -1}},
				.output = {{-1, -1}}};
	enum sl_status rc = try_open(input, O_RDONLY, err);
	int error;

	if (rc)
		return rc;
	error = posix_spawnattr_init(&office.attributes);
	if (error)
		return sl__fail_errno(err, SL_E_NOMEM, error,
				      "cannot prepare to run commands");
	error = set_signals(&office);
	if (!error)
		error = open_drain(&office.errors);
	if (!error)
		error = open_drain(&office.output);
	if (!error)
		error = fork_office(launcher, &office);
	close_drain(&office.errors);
	close_drain(&office.output);
	posix_spawnattr_destroy(&office.attributes);
	if (error)
		return sl__fail_errno(err, SL_E_MEASURE, error,
				      "cannot start a process");
	return SL_OK;
}

void
sl__launcher_close(struct sl__launcher *launcher)
{
	close(launcher->fd);
	while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

enum sl_status
sl__launcher_run(struct sl__launcher *launcher, size_t which,
		 struct sl__run_result *out,
		 const volatile sig_atomic_t *interrupt, struct sl_error *err)
{
	uint64_t index = which;
	ssize_t n;

	if (!send_whole(launcher->fd, &index, sizeof(index)))
		goto gone;
	while ((n = recv(launcher->fd, out, sizeof(*out), 0)) < 0) {
		if (errno != EINTR)
			goto gone;
		if (interrupt && *interrupt)
			kill(launcher->pid, SIGUSR1);
	}
	if (n == (ssize_t)sizeof(*out))
		return SL_OK;
gone:
	return sl__fail(err, SL_E_MEASURE,
			"the process that runs the commands is gone");
}
