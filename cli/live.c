/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.c - the progress of a measurement, told to the store.
 *
 * A database waits for disks and for other writers, and takes memory: in the
 * process that measures it would be measured along.  So a second process, which
 * is nobody's child, gets messages through a socket and writes about once a
 * second.  When the first process ends, however it ends, the socket is closed.
 */
#define _GNU_SOURCE
#include "live.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BEAT_MS = 1000 };

struct message {
	double share, remaining_s;
	char name[128], phase[64];
};

static int outlet = -1;

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Waits for BEAT_MS and takes the last message of that time; 0: it is over. */
static int
take_messages(int inlet, struct message *last)
{
	double until = now_s() + 1e-3 * BEAT_MS;

	for (double left = 1e-3 * BEAT_MS; left > 0; left = until - now_s()) {
		struct pollfd at = {.fd = inlet, .events = POLLIN};

		if (poll(&at, 1, (int)ceil(1e3 * left)) > 0 &&
		    recv(inlet, last, sizeof(*last), 0) <= 0)
			return 0;
	}
	return 1;
}

static void
tell(struct sl_store *store, struct sl_live_run *run, const struct message *m)
{
	run->name = m->name;
	run->phase = m->phase;
	run->share = m->share;
	run->remaining_s = m->remaining_s;
	/* Nobody waits for this: the next beat tries again. */
	if (sl_store_live_put(store, run, NULL))
		return;
}

/* The second process.  A measurement of less than a second is not told. */
static void
keep_telling(int inlet, const char *db, const char *command)
{
	const struct sl_store_options where = {.struct_size = sizeof(where),
					       .where = db};
	struct sl_live_run run = {.command = command};
	struct message last = {.name = ""};
	struct sl_store *store = NULL;

	while (take_messages(inlet, &last)) {
		if (!*last.name)
			continue;
		if (!store && sl_store_open(&store, &where, NULL))
			return;
		tell(store, &run, &last);
	}
	if (run.id && sl_store_live_end(store, run.id, NULL))
		return; /* its row becomes stale */
	sl_store_close(store);
}

/* No terminal, no standard streams: whoever waits for their end waits for the
 * measurement alone, and Ctrl-C is for that. */
static void
leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
}

void
live_begin(const char *db, const char *command)
{
	int ends[2];
	pid_t child;

	if (outlet >= 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	child = fork();
	if (child == 0) {
		close(ends[1]);
		if (fork() == 0) {
			leave_terminal();
			keep_telling(ends[0], db, command);
		}
		_exit(0);
	}
	close(ends[0]);
	if (child < 0) {
		close(ends[1]);
		return;
	}
	while (waitpid(child, NULL, 0) < 0)
		;
	outlet = ends[1];
}

int
live_is_on(void)
{
	return outlet >= 0;
}

void
live_note(const char *name, const char *phase, double share, double remaining_s)
{
	static double last_s;
	struct message m = {.share = share, .remaining_s = remaining_s};

	if (outlet < 0 || now_s() - last_s < 0.2)
		return;
	last_s = now_s();
	snprintf(m.name, sizeof(m.name), "%s", name);
	snprintf(m.phase, sizeof(m.phase), "%s", phase);
	/* Where it is full, the last messages will do. */
	if (send(outlet, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}
