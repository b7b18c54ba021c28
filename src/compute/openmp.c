/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp.c - the functions of GNU's OpenMP library that oneDNN calls, on
 * threads that yield to their neighbours.
 *
 * A program that has this file takes these calls away from libgomp, which is
 * loaded but never starts a thread.  It has what oneDNN and parallel.c call
 * and no more, so it is not a part of the library: a program may use OpenMP
 * itself.  It needs nothing of the library either, so that libsleuth-threads
 * can have it.
 */
#define _GNU_SOURCE
#include "compute/fork_join.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

void GOMP_parallel(void (*fn)(void *), void *data, unsigned n_threads,
		   unsigned flags);
void GOMP_barrier(void);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_in_parallel(void);
void omp_set_num_threads(int n);
/* What parallel.c looks for: starts n threads, 0 or an errno. */
int sleuth_threads_start(int n);
/* How many the regions had that the caller ran since it last asked. */
int sleuth_threads_take_widest(void);

/* What the calling thread asked for; 0: as many as CPUs. */
static _Thread_local int n_asked;

/* Fewer threads than a kernel was made for could compute something else, and
 * there is no way to tell a caller.  Plans start their threads beforehand,
 * where a failure is an error like others. */
static _Noreturn void
give_up(int error)
{
	char line[160];
	int n = snprintf(line, sizeof(line),
			 "sleuth: cannot start a thread: %s\n",
			 strerror(error));

	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		_exit(71);
	_exit(71);
}

void
GOMP_parallel(void (*fn)(void *), void *data, unsigned n_threads,
	      unsigned flags)
{
	int n = n_threads ? (int)n_threads : omp_get_max_threads();
	int error;

	(void)flags;
	error = sl__fork_join_run(n, fn, data);
	if (error)
		give_up(error);
}

void
GOMP_barrier(void)
{
	sl__fork_join_barrier();
}

int
omp_get_thread_num(void)
{
	return sl__fork_join_rank();
}

int
omp_get_num_threads(void)
{
	return sl__fork_join_n_ranks();
}

int
omp_in_parallel(void)
{
	return sl__fork_join_is_parallel();
}

int
omp_get_max_threads(void)
{
	cpu_set_t cpus;

	if (n_asked > 0)
		return n_asked;
	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
}

void
omp_set_num_threads(int n)
{
	n_asked = n;
}

int
sleuth_threads_start(int n)
{
	return sl__fork_join_reserve(n);
}

int
sleuth_threads_take_widest(void)
{
	return sl__fork_join_take_widest();
}
