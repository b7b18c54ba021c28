/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_file_send.c - proves that all bytes arrive, in order, through a pipe
 * that takes them piece by piece, whatever interrupts a piece.
 */
#include "base/file.h"
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { N_BYTES = 300000, PIECE_BYTES = 65536 /* of a pipe */ };

static volatile sig_atomic_t n_caught;

static void
note(int number)
{
	(void)number;
	n_caught = n_caught + 1;
}

struct reader {
	int fd;
	pthread_t writer;
	unsigned char got[N_BYTES];
	size_t n_got;
};

/* The writer waits in the middle of a piece: the signal ends that one. */
static void
interrupt_writer(const struct reader *r)
{
	int n_waiting = 0, before = n_caught;

	while (n_waiting < PIECE_BYTES)
		assert_int_equal(ioctl(r->fd, FIONREAD, &n_waiting), 0);
	while (n_caught < before + 3) {
		(void)pthread_kill(r->writer, SIGUSR1);
		sched_yield();
	}
}

static void *
read_all(void *ctx)
{
	struct reader *r = ctx;

	while (r->n_got < N_BYTES) {
		ssize_t n;

		if (N_BYTES - r->n_got > 2 * PIECE_BYTES)
			interrupt_writer(r);
		n = read(r->fd, r->got + r->n_got, N_BYTES - r->n_got);
		assert_true(n > 0);
		r->n_got += (size_t)n;
	}
	return NULL;
}

static void
all_arrives_whatever_interrupts(void **state)
{
	static unsigned char bytes[N_BYTES];
	static struct reader r;
	/* Without SA_RESTART: write() returns early. */
	struct sigaction action = {.sa_handler = note};
	pthread_t thread;
	int ends[2];

	(void)state;
	for (size_t i = 0; i < N_BYTES; i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 13);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pipe(ends), 0);
	r.fd = ends[0];
	r.writer = pthread_self();
	assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
	assert_int_equal(sl__file_send(ends[1], bytes, N_BYTES), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(n_caught >= 3);
	assert_int_equal(r.n_got, N_BYTES);
	assert_memory_equal(r.got, bytes, N_BYTES);
	close(ends[0]);
	close(ends[1]);
}

static void
failures_are_told(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(sl__file_send(ends[0], "x", 1), EBADF);
	assert_int_equal(sl__file_send(ends[0], "x", 0), 0);
	(void)signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	assert_int_equal(sl__file_send(ends[1], "x", 1), EPIPE);
	close(ends[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_arrives_whatever_interrupts),
		cmocka_unit_test(failures_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
