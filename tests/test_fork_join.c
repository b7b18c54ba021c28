/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fork_join.c - proves that each rank of a region runs once and is done
 * when the region is, with more threads than CPUs, on one CPU, in a child and
 * for several callers; that a barrier keeps its ranks together, that a region
 * inside another is one rank, that signal handlers have a stack of their own on
 * each thread, and that a thread that cannot be started is an error.
 */
#define _GNU_SOURCE
#include "compute/fork_join.h"
#include "emulator.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of ThreadSanitizer: a child may start threads. */
const char *__tsan_default_options(void);
const char *
__tsan_default_options(void)
{
	return "die_after_fork=0";
}

enum { RANKS_MOST = 9, N_REGIONS = 3000 };

struct tally {
	int of[RANKS_MOST]; /* not atomic: the region's end orders them */
	int n, n_wrong;
};

static void
count_rank(void *data)
{
	struct tally *t = data;
	int rank = sl__fork_join_rank();

	if (sl__fork_join_n_ranks() == t->n && rank >= 0 && rank < t->n)
		t->of[rank]++;
}

/* How many ranks did not run exactly once in each of n_regions. */
static int
n_miscounted(int n_regions)
{
	int n_wrong = 0;

	for (int n = 1; n <= RANKS_MOST; n++) {
		struct tally t = {.n = n};

		for (int i = 0; i < n_regions; i++)
			n_wrong += sl__fork_join_run(n, count_rank, &t) != 0;
		for (int rank = 0; rank < n; rank++)
			n_wrong += t.of[rank] != n_regions;
	}
	return n_wrong;
}

static void
each_rank_runs_once(void **state)
{
	(void)state;
	assert_int_equal(n_miscounted(N_REGIONS), 0);
	assert_int_equal(sl__fork_join_rank(), 0);
	assert_int_equal(sl__fork_join_n_ranks(), 1);
	assert_false(sl__fork_join_is_parallel());
}

enum { N_PHASES = 50 };

struct phases {
	int at[RANKS_MOST]; /* written by its rank, read by all */
	atomic_int n_wrong;
};

static void
keep_together(void *data)
{
	struct phases *p = data;
	int rank = sl__fork_join_rank(), n = sl__fork_join_n_ranks();

	for (int phase = 1; phase <= N_PHASES; phase++) {
		p->at[rank] = phase;
		sl__fork_join_barrier();
		for (int i = 0; i < n; i++)
			p->n_wrong += p->at[i] != phase;
		sl__fork_join_barrier();
	}
}

static void
a_barrier_keeps_ranks_together(void **state)
{
	(void)state;
	for (int n = 1; n <= 5; n++) {
		struct phases p = {.n_wrong = 0};

		for (int i = 0; i < 40; i++)
			assert_int_equal(
				sl__fork_join_run(n, keep_together, &p), 0);
		assert_int_equal(p.n_wrong, 0);
		assert_int_equal(p.at[n - 1], N_PHASES);
	}
}

struct nested {
	struct tally inner[2];
	atomic_int n_parallel, n_restored;
};

static void
enter_another(void *data)
{
	struct nested *n = data;
	int rank = sl__fork_join_rank();

	n->inner[rank].n = 1;
	n->n_parallel += sl__fork_join_is_parallel();
	if (sl__fork_join_run(4, count_rank, &n->inner[rank]) == 0)
		n->n_restored += sl__fork_join_rank() == rank &&
				 sl__fork_join_n_ranks() == 2;
}

static void
a_region_inside_another_is_one_rank(void **state)
{
	struct nested n = {.n_parallel = 0};

	(void)state;
	assert_int_equal(sl__fork_join_run(2, enter_another, &n), 0);
	assert_int_equal(n.n_parallel, 2);
	assert_int_equal(n.n_restored, 2);
	assert_int_equal(n.inner[0].of[0], 1);
	assert_int_equal(n.inner[1].of[0], 1);
}

/* Asked for once, and by the thread that ran it. */
static void
the_widest_region_is_told(void **state)
{
	struct nested n = {.n_parallel = 0};
	struct tally t = {.n = 3};

	(void)state;
	(void)sl__fork_join_take_widest();
	assert_int_equal(sl__fork_join_take_widest(), 1);
	assert_int_equal(sl__fork_join_run(3, count_rank, &t), 0);
	assert_int_equal(sl__fork_join_run(2, enter_another, &n), 0);
	assert_int_equal(sl__fork_join_run(1, count_rank, &t), 0);
	assert_int_equal(sl__fork_join_take_widest(), 3);
	assert_int_equal(sl__fork_join_take_widest(), 1);
}

static void *
call_many(void *arg)
{
	*(int *)arg = n_miscounted(N_REGIONS / 10);
	return NULL;
}

static void
callers_have_workers_of_their_own(void **state)
{
	enum { N_CALLERS = 4 };
	pthread_t threads[N_CALLERS];
	int n_wrong[N_CALLERS];

	(void)state;
	for (int i = 0; i < N_CALLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_many,
						&n_wrong[i]),
				 0);
	for (int i = 0; i < N_CALLERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(n_wrong[i], 0);
	}
}

/* What 'run' returns in a child of this process. */
static int
in_child(int (*run)(void))
{
	int status = -1;
	pid_t child;

	skip_in_emulator("a child that was forked cannot start threads");
	child = fork();
	if (child == 0)
		_exit(run());
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
count_few(void)
{
	return n_miscounted(N_REGIONS / 10) != 0;
}

static int
count_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	return sched_setaffinity(0, sizeof(one), &one) || count_few();
}

static void
a_child_starts_its_own(void **state)
{
	struct tally t = {.n = 3};

	(void)state;
	assert_int_equal(sl__fork_join_run(3, count_rank, &t), 0);
	assert_int_equal(in_child(count_few), 0);
	assert_int_equal(sl__fork_join_run(3, count_rank, &t), 0);
	assert_int_equal(t.of[2], 2);
}

static void
one_cpu_is_enough(void **state)
{
	(void)state;
	assert_int_equal(in_child(count_on_one_cpu), 0);
}

/* 0: a thread could not be started, and nothing has run. */
static int
start_without_memory(void)
{
	struct rlimit none = {1 << 20, 1 << 20};
	struct tally t = {.n = RANKS_MOST};

	if (setrlimit(RLIMIT_AS, &none))
		return 1;
	return sl__fork_join_reserve(RANKS_MOST) == 0 ||
	       sl__fork_join_run(RANKS_MOST, count_rank, &t) == 0 || t.of[0];
}

enum { N_SIGNALLED = 3 };

/* Which ranks had a stack for handlers, and whose handler ran there. */
static struct {
	_Atomic int has_stack[N_SIGNALLED], is_there[N_SIGNALLED];
} signalled;

static void
note_stack(int number)
{
	int rank = sl__fork_join_rank();
	stack_t now;

	(void)number;
	signalled.is_there[rank] = sigaltstack(NULL, &now) == 0 &&
				   (now.ss_flags & SS_ONSTACK) != 0;
}

static void
raise_one(void *data)
{
	int rank = sl__fork_join_rank();
	stack_t now;

	(void)data;
	sl__fork_join_barrier(); /* so that each rank has a thread */
	signalled.has_stack[rank] = sigaltstack(NULL, &now) == 0 &&
				    (now.ss_flags & SS_DISABLE) == 0;
	if (rank)
		raise(SIGBUS);
}

/* What a kernel leaves in the stack pointer is nothing to a handler. */
static void
handlers_have_a_stack_on_workers(void **state)
{
	struct sigaction action, before;

	(void)state;
	memset(&action, 0, sizeof(action));
	action.sa_handler = note_stack;
	action.sa_flags = SA_ONSTACK;
	assert_int_equal(sigaction(SIGBUS, &action, &before), 0);
	assert_int_equal(sl__fork_join_run(N_SIGNALLED, raise_one, NULL), 0);
	assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
	for (int rank = 1; rank < N_SIGNALLED; rank++) {
		assert_true(signalled.has_stack[rank]);
		assert_true(signalled.is_there[rank]);
	}
}

static void
a_thread_that_cannot_start_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(in_child(start_without_memory), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rank_runs_once),
		cmocka_unit_test(a_barrier_keeps_ranks_together),
		cmocka_unit_test(a_region_inside_another_is_one_rank),
		cmocka_unit_test(the_widest_region_is_told),
		cmocka_unit_test(callers_have_workers_of_their_own),
		cmocka_unit_test(a_child_starts_its_own),
		cmocka_unit_test(one_cpu_is_enough),
		cmocka_unit_test(handlers_have_a_stack_on_workers),
		cmocka_unit_test(a_thread_that_cannot_start_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
