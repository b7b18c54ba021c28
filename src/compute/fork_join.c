/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_join.c - parallel regions on threads that yield to their neighbours.
 *
 * GNU's OpenMP threads wait by spinning for milliseconds.  Where others use
 * the CPUs too, the scheduler puts two of them on one CPU, and the one that
 * has work waits until the other has spun out its time slice: a model of
 * 20 us takes 50 ms.  Three things avoid that here:
 *
 *   - A rank belongs to whoever claims it first.  A worker that was not
 *     scheduled in time finds its rank done by the caller.  That is safe with
 *     barriers inside a region: where there is one, no rank ends before all
 *     have begun, so there is nothing left to claim.
 *   - Who waits sleeps at once when it sits on the CPU of the thread that it
 *     waits for, which lets that one run.
 *   - Who notices that it was preempted while spinning tells the others:
 *     for a while all of them spin for microseconds instead of milliseconds.
 *     The first time it is a short while, since waking threads by the kernel
 *     may double the time of a small model; each time that it happens again
 *     soon after, the while doubles.
 *
 * On a still machine none of this happens, and a region starts and ends by
 * two cache misses.
 */
#define _GNU_SOURCE
#include "compute/fork_join.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"

#if defined(__x86_64__)
#define RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ volatile("isb" ::: "memory")
#else
#define RELAX() ((void)0)
#endif

enum {
	RANK_BITS = 16,         /* of a region's number: how many ranks */
	SPINS_PER_LOOK = 32,    /* at the clock: half a microsecond or so */
	CALM_SPIN_NS = 2000000, /* longer than most steps of one thread */
	BUSY_SPIN_NS = 3000,    /* a little more than waking a thread takes */
	PREEMPTED_NS = 400000,  /* interrupts take less, time slices more */
	STOPPED_NS = 150000000, /* time slices and quotas' pauses take less */
	BUSY_LEAST_NS = 10000000,
	BUSY_MOST_NS = 160000000,
	BUSY_SOON = 4, /* whiles after one, in which another doubles it */
	SIGNAL_STACK_BYTES = 32768 /* a frame with AMX's tiles takes 12 KiB */
};

struct crew;

/* What a rank has for itself, on a cache line of its own. */
struct place {
	_Alignas(64) _Atomic uint64_t claimed; /* the last region in which it
						  was */
	_Atomic int cpu; /* of the thread that works or waits here; -1: idle */
	int rank;
	pthread_t thread; /* rank 0 has the caller's */
	struct crew *crew;
};

/* A word that threads wait for: they spin, then sleep in the kernel. */
struct gate {
	_Alignas(64) _Atomic uint32_t word;
	_Atomic uint32_t n_sleepers;
};

struct crew {
	_Alignas(64) _Atomic uint64_t region; /* a count, above RANK_BITS */
	sl__region_function *fn;              /* both valid while n_left is
						 not 0 */
	void *data;
	struct gate begun;  /* the count's low half: workers wait here */
	struct gate n_left; /* ranks not done: the caller waits here */
	struct gate passed; /* barriers so far: ranks wait here */
	_Atomic uint32_t n_arrived;
	_Atomic uint64_t busy_until_ns; /* others want these CPUs */
	_Atomic uint64_t busy_for_ns;   /* how long that was assumed last */
	_Atomic int is_ending;
	int n_places;
	int n_started; /* threads; known to the caller alone */
	size_t n_bytes;
	struct place places[];
};

/* Where the calling thread is. */
static _Thread_local struct {
	struct crew *crew; /* of the region; NULL: outside, or nested */
	int rank, n_ranks, is_parallel;
} here = {NULL, 0, 1, 0};

/* Ranks of the widest region that the calling thread ran, or less than 2. */
static _Thread_local int widest;

/* The workers of the calling thread; NULL: none yet. */
static _Thread_local struct crew *own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t end_key;

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static long
futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value,
		       NULL, NULL, 0);
}

static void
open_gate(struct gate *gate)
{
	if (atomic_load(&gate->n_sleepers))
		futex(&gate->word, FUTEX_WAKE, INT_MAX);
}

/* Somebody was held up for 'held_ns' until now.  Threads that note the same
 * event at once may write over each other's while. */
static void
note_held_up(struct crew *crew, uint64_t now, uint64_t held_ns)
{
	uint64_t until = atomic_load_explicit(&crew->busy_until_ns,
					      memory_order_relaxed);
	uint64_t length =
		atomic_load_explicit(&crew->busy_for_ns, memory_order_relaxed);

	if (held_ns < PREEMPTED_NS || held_ns >= STOPPED_NS)
		return;
	if (now >= until + BUSY_SOON * length)
		length = BUSY_LEAST_NS;
	else if (now >= until && length < BUSY_MOST_NS)
		length *= 2;
	atomic_store_explicit(&crew->busy_for_ns, length, memory_order_relaxed);
	atomic_store_explicit(&crew->busy_until_ns, now + length,
			      memory_order_relaxed);
}

static int
is_busy(struct crew *crew, uint64_t now)
{
	return now <
	       atomic_load_explicit(&crew->busy_until_ns, memory_order_relaxed);
}

/* Whether another thread of the crew that has work sits on the same CPU. */
static int
shares_cpu(struct crew *crew, int rank)
{
	int cpu = sched_getcpu();

	for (int i = 0; i < crew->n_places; i++) {
		if (i != rank &&
		    atomic_load_explicit(&crew->places[i].cpu,
					 memory_order_relaxed) == cpu)
			return 1;
	}
	return 0;
}

/* Returns when the gate's word is no longer 'value', some time after. */
static void
wait_at(struct crew *crew, struct gate *gate, uint32_t value, int rank)
{
	uint64_t begin = now_ns(), last = begin, now;
	int is_open = 0;

	for (;;) {
		for (int i = 0; i < SPINS_PER_LOOK && !is_open; i++) {
			RELAX();
			is_open = atomic_load_explicit(&gate->word,
						       memory_order_acquire) !=
				  value;
		}
		now = now_ns();
		note_held_up(crew, now, now - last);
		last = now;
		if (is_open)
			return;
		if (now - begin >= (is_busy(crew, now) ? BUSY_SPIN_NS
						       : CALM_SPIN_NS) ||
		    shares_cpu(crew, rank))
			break;
	}
	atomic_fetch_add(&gate->n_sleepers, 1);
	while (atomic_load(&gate->word) == value)
		futex(&gate->word, FUTEX_WAIT, value);
	atomic_fetch_sub(&gate->n_sleepers, 1);
}

/* Whether the rank is now the calling thread's in this region. */
static int
claim(struct place *place, uint64_t region)
{
	uint64_t last =
		atomic_load_explicit(&place->claimed, memory_order_relaxed);

	/* Of a region that has ended everything was claimed. */
	return last < region &&
	       atomic_compare_exchange_strong(&place->claimed, &last, region);
}

static void
run_rank(struct crew *crew, int rank)
{
	here.rank = rank;
	crew->fn(crew->data);
	if (atomic_fetch_sub(&crew->n_left.word, 1) == 1)
		open_gate(&crew->n_left);
}

/* Runs what nobody else has begun, from the thread's own rank on. */
static void
run_unclaimed(struct crew *crew, uint64_t region, int first)
{
	int n = (int)(region & ((1u << RANK_BITS) - 1));

	here.crew = crew;
	here.n_ranks = n;
	here.is_parallel = n > 1;
	for (int i = 0; i < n && first < n; i++) {
		int rank = (first + i) % n;

		if (claim(&crew->places[rank], region))
			run_rank(crew, rank);
	}
	here.crew = NULL;
	here.rank = 0;
	here.n_ranks = 1;
	here.is_parallel = 0;
}

/* Handlers of the process with SA_ONSTACK run there on the calling thread,
 * unless it has another stack for them. */
static void
use_signal_stack(char *bytes)
{
	const stack_t stack = {.ss_sp = bytes, .ss_size = SIGNAL_STACK_BYTES};
	stack_t before;

	if (sigaltstack(NULL, &before) == 0 && before.ss_flags & SS_DISABLE)
		(void)sigaltstack(&stack, NULL);
}

static void *
worker_main(void *arg)
{
	/* The code of a kernel may use the stack pointer for data. */
	_Alignas(64) char signal_stack[SIGNAL_STACK_BYTES];
	struct place *place = arg;
	struct crew *crew = place->crew;
	uint32_t seen = 0;

	use_signal_stack(signal_stack);
	for (;;) {
		uint64_t region;

		wait_at(crew, &crew->begun, seen, place->rank);
		if (atomic_load(&crew->is_ending))
			return NULL;
		atomic_store_explicit(&place->cpu, sched_getcpu(),
				      memory_order_relaxed);
		region = atomic_load(&crew->region);
		seen = (uint32_t)(region >> RANK_BITS);
		run_unclaimed(crew, region, place->rank);
		atomic_store_explicit(&place->cpu, -1, memory_order_relaxed);
	}
}

static void
end_crew(void *arg)
{
	struct crew *crew = arg;

	atomic_store(&crew->is_ending, 1);
	atomic_fetch_add(&crew->begun.word, 1);
	open_gate(&crew->begun);
	for (int i = 1; i <= crew->n_started; i++)
		pthread_join(crew->places[i].thread, NULL);
	munmap(crew, crew->n_bytes);
}

/* A child has none of its parent's threads. */
static void
forget_crew(void)
{
	own = NULL;
	pthread_setspecific(end_key, NULL);
}

static void
prepare_process(void)
{
	pthread_key_create(&end_key, end_crew);
	pthread_atfork(NULL, NULL, forget_crew);
}

/* Signals are for the caller's thread; faults are for whoever makes them: one
 * that is blocked ends the process, whatever handler it has. */
static int
start_worker(struct place *place)
{
	static const int faults[] = {SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP};
	sigset_t others, before;
	int error;

	sigfillset(&others);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&others, faults[i]);
	pthread_sigmask(SIG_SETMASK, &others, &before);
	error = pthread_create(&place->thread, NULL, worker_main, place);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static int
new_crew(struct crew **out, int n)
{
	size_t n_bytes = sizeof(struct crew) + (size_t)n * sizeof(struct place);
	struct crew *crew = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int error = 0;

	if (crew == MAP_FAILED)
		return errno;
	crew->n_bytes = n_bytes;
	for (int i = 0; i < n; i++) {
		crew->places[i].rank = i;
		crew->places[i].crew = crew;
		atomic_init(&crew->places[i].cpu, -1);
	}
	crew->n_places = n;
	for (int i = 1; i < n && !error; i++) {
		error = start_worker(&crew->places[i]);
		crew->n_started += !error;
	}
	if (error) {
		end_crew(crew);
		return error;
	}
	*out = crew;
	return 0;
}

int
sl__fork_join_reserve(int n)
{
	int error;

	if (n <= 1 || (own && own->n_places >= n))
		return 0;
	pthread_once(&once, prepare_process);
	if (own)
		end_crew(own);
	own = NULL;
	error = new_crew(&own, n);
	pthread_setspecific(end_key, own);
	return error;
}

static void
run_alone(sl__region_function *fn, void *data)
{
	struct crew *crew = here.crew;
	int rank = here.rank, n_ranks = here.n_ranks;

	here.crew = NULL;
	here.rank = 0;
	here.n_ranks = 1;
	fn(data);
	here.crew = crew;
	here.rank = rank;
	here.n_ranks = n_ranks;
}

/* Until all ranks are done, which took the caller's part 'part_ns'. */
static void
wait_for_all(struct crew *crew, uint64_t part_ns)
{
	uint64_t begin = now_ns(), took;
	uint32_t n;

	while ((n = atomic_load_explicit(&crew->n_left.word,
					 memory_order_acquire)))
		wait_at(crew, &crew->n_left, n, 0);
	/* Far longer than the same work took here: somebody was preempted. */
	took = now_ns() - begin;
	if (took > part_ns / 2)
		note_held_up(crew, begin + took, took);
}

int
sl__fork_join_run(int n, sl__region_function *fn, void *data)
{
	int error = n > 1 && !here.is_parallel ? sl__fork_join_reserve(n) : 0;
	uint64_t region, begin;
	struct crew *crew = own;

	if (error)
		return error;
	if (n <= 1 || here.is_parallel) {
		run_alone(fn, data);
		return 0;
	}
	if (n > widest)
		widest = n;
	begin = now_ns();
	region =
		(((atomic_load(&crew->region) >> RANK_BITS) + 1) << RANK_BITS) |
		(uint64_t)n;
	crew->fn = fn;
	crew->data = data;
	atomic_store(&crew->n_left.word, (uint32_t)n);
	atomic_store(&crew->places[0].claimed, region);
	atomic_store_explicit(&crew->places[0].cpu, sched_getcpu(),
			      memory_order_relaxed);
	atomic_store(&crew->region, region);
	atomic_store(&crew->begun.word, (uint32_t)(region >> RANK_BITS));
	open_gate(&crew->begun);
	here.crew = crew;
	here.n_ranks = n;
	here.is_parallel = 1;
	run_rank(crew, 0);
	run_unclaimed(crew, region, 0);
	wait_for_all(crew, now_ns() - begin);
	return 0;
}

int
sl__fork_join_take_widest(void)
{
	int n = widest > 1 ? widest : 1;

	widest = 1;
	return n;
}

int
sl__fork_join_rank(void)
{
	return here.rank;
}

int
sl__fork_join_n_ranks(void)
{
	return here.n_ranks;
}

int
sl__fork_join_is_parallel(void)
{
	return here.is_parallel;
}

void
sl__fork_join_barrier(void)
{
	struct crew *crew = here.crew;
	uint32_t turn;

	if (!crew)
		return;
	turn = atomic_load(&crew->passed.word);
	if ((int)atomic_fetch_add(&crew->n_arrived, 1) + 1 < here.n_ranks) {
		wait_at(crew, &crew->passed, turn, here.rank);
		return;
	}
	atomic_store(&crew->n_arrived, 0);
	atomic_store(&crew->passed.word, turn + 1);
	open_gate(&crew->passed);
}
