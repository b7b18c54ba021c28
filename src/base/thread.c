/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.c - a team of threads that run the same function together.
 *
 * Waiting between runs is a condition variable (a team may idle for long);
 * gathering inside a run is a spinning barrier (the start of a timed stretch
 * must not depend on a wake-up).  The barrier counts generations, so that a
 * fast member cannot pass it twice.
 */
#define _GNU_SOURCE
#include "base/thread.h"
#include "base/arena.h"
#include "base/control_group.h"
#include "base/status.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/banned.h"

struct member {
	pthread_t thread;
	struct sl__team *team;
	size_t rank;
	int started;
};

struct sl__team {
	const struct sl_allocator *allocator;
	size_t n;
	struct member *members; /* [n]; member 0 has no thread of its own */
	cpu_set_t caller_cpus;

	pthread_mutex_t lock; /* guards the four fields below */
	pthread_cond_t changed;
	uint64_t run_id; /* grows by one per run */
	size_t n_running;
	int ending;
	sl__team_function *fn;
	void *ctx;

	_Atomic size_t n_gathered;
	_Atomic uint64_t generation;
};

size_t
sl__thread_limit(const char *root, const char *openmp)
{
	struct sl__group_limits group;
	unsigned long long n = 0;
	char *end;

	sl__control_group_limits(&group, root);
	if (openmp)
		n = strtoull(openmp, &end, 10);
	if (!openmp || end == openmp || n == 0 || n > CPU_SETSIZE)
		n = CPU_SETSIZE;
	/* A part of a CPU is one that is not always there. */
	return group.cpus < (double)n ? (size_t)ceil(group.cpus) : (size_t)n;
}

size_t
sl__thread_n_cpus(void)
{
	/* Read once: 0, not yet. */
	static _Atomic size_t limit;
	size_t most = atomic_load(&limit);
	cpu_set_t cpus;

	if (!most) {
		most = sl__thread_limit("", getenv("OMP_THREAD_LIMIT"));
		atomic_store(&limit, most);
	}
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 1;
	return (size_t)CPU_COUNT(&cpus) < most ? (size_t)CPU_COUNT(&cpus)
					       : most;
}

/* Binds the calling thread to the rank-th CPU of 'allowed', wrapping. */
static void
bind_to(const cpu_set_t *allowed, size_t rank)
{
	size_t left = rank % (size_t)CPU_COUNT(allowed);
	cpu_set_t one;

	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, allowed))
			continue;
		if (left--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		/* A refusal leaves the thread where it is: still a thread. */
		(void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
		return;
	}
}

static void *
member_main(void *arg)
{
	struct member *self = arg;
	struct sl__team *team = self->team;
	uint64_t seen = 0;

	bind_to(&team->caller_cpus, self->rank);
	pthread_mutex_lock(&team->lock);
	for (;;) {
		while (team->run_id == seen && !team->ending)
			pthread_cond_wait(&team->changed, &team->lock);
		if (team->ending)
			break;
		seen = team->run_id;
		pthread_mutex_unlock(&team->lock);
		team->fn(self->rank, team->ctx);
		pthread_mutex_lock(&team->lock);
		if (--team->n_running == 0)
			pthread_cond_broadcast(&team->changed);
	}
	pthread_mutex_unlock(&team->lock);
	return NULL;
}

static enum sl_status
start_members(struct sl__team *team, struct sl_error *err)
{
	for (size_t i = 0; i < team->n; i++) {
		struct member *member = &team->members[i];

		member->team = team;
		member->rank = i;
		if (i == 0)
			continue;
		int error = pthread_create(&member->thread, NULL, member_main,
					   member);
		if (error)
			return sl__fail_errno(err, SL_E_NOMEM, error,
					      "cannot start thread %zu of %zu",
					      i + 1, team->n);
		member->started = 1;
	}
	return SL_OK;
}

enum sl_status
sl__team_new(struct sl__team **out, size_t n_threads,
	     const struct sl_allocator *allocator, struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl__team *team;
	enum sl_status rc;

	*out = NULL;
	team = sl__arena_object_new(&arena, allocator, sizeof(*team));
	if (!team)
		return sl__fail_nomem(err);
	team->members =
		sl__arena_array(arena, n_threads, sizeof(*team->members));
	if (!team->members) {
		sl__arena_object_free(team);
		return sl__fail_nomem(err);
	}
	team->n = n_threads;
	if (sched_getaffinity(0, sizeof(team->caller_cpus),
			      &team->caller_cpus)) {
		CPU_ZERO(&team->caller_cpus);
		CPU_SET(0, &team->caller_cpus);
	}
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->changed, NULL);
	rc = start_members(team, err);
	if (rc) {
		sl__team_free(team);
		return rc;
	}
	bind_to(&team->caller_cpus, 0);
	*out = team;
	return SL_OK;
}

void
sl__team_free(struct sl__team *team)
{
	if (!team)
		return;
	pthread_mutex_lock(&team->lock);
	team->ending = 1;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
	for (size_t i = 1; i < team->n; i++) {
		if (team->members[i].started)
			pthread_join(team->members[i].thread, NULL);
	}
	pthread_setaffinity_np(pthread_self(), sizeof(team->caller_cpus),
			       &team->caller_cpus);
	pthread_cond_destroy(&team->changed);
	pthread_mutex_destroy(&team->lock);
	sl__arena_object_free(team);
}

void
sl__team_run(struct sl__team *team, sl__team_function *fn, void *ctx)
{
	pthread_mutex_lock(&team->lock);
	team->fn = fn;
	team->ctx = ctx;
	team->n_running = team->n - 1;
	team->run_id++;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);

	fn(0, ctx);

	pthread_mutex_lock(&team->lock);
	while (team->n_running)
		pthread_cond_wait(&team->changed, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

void
sl__team_barrier(struct sl__team *team)
{
	uint64_t mine =
		atomic_load_explicit(&team->generation, memory_order_acquire);

	if (atomic_fetch_add(&team->n_gathered, 1) + 1 == team->n) {
		atomic_store(&team->n_gathered, 0);
		atomic_fetch_add(&team->generation, 1);
		return;
	}
	for (unsigned spins = 1;
	     atomic_load_explicit(&team->generation, memory_order_acquire) ==
	     mine;
	     spins++) {
#if defined(__x86_64__)
		_mm_pause();
#endif
		if (spins % 4096 == 0)
			sched_yield(); /* more members than CPUs */
	}
}
