/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel.c - the threads that own kernels run on: those that oneDNN uses.
 *
 * oneDNN runs on GNU's OpenMP library.  A second pool beside it would fight
 * for the same cores, so ours is the same one, called by the names that
 * compilers use for `#pragma omp parallel`: they are that library's stable
 * interface and work whichever compiler built this file.  A program may have
 * other threads behind the same names (openmp.c); ours does.  Where oneDNN is
 * not built in, those threads are called directly (fork_join.c).
 */
#include "compute/parallel.h"
#include "base/clock.h"
#include "base/status.h"
#include "compute/fork_join.h"
#include "sleuth/running.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/banned.h"

#ifdef SL_WITHOUT_DNNL
#define omp_get_thread_num         sl__fork_join_rank
#define omp_get_num_threads        sl__fork_join_n_ranks
#define sleuth_threads_start       sl__fork_join_reserve
#define sleuth_threads_take_widest sl__fork_join_take_widest
#else
/* libgomp; its own omp.h is not found by other compilers. */
extern void GOMP_parallel(void (*fn)(void *), void *data, unsigned n_threads,
			  unsigned flags);
extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int n);
/* Of openmp.c; NULL where the threads are libgomp's. */
extern int sleuth_threads_start(int n) __attribute__((weak));
extern int sleuth_threads_take_widest(void) __attribute__((weak));
#endif

/* The library's barriers are not seen by ThreadSanitizer. */
#if defined(__SANITIZE_THREAD__)
#define SL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SL_TSAN 1
#endif
#endif
#ifdef SL_TSAN
void __tsan_acquire(void *at);
void __tsan_release(void *at);
#define ACQUIRE(at) __tsan_acquire(at)
#define RELEASE(at) __tsan_release(at)
#else
#define ACQUIRE(at) ((void)(at))
#define RELEASE(at) ((void)(at))
#endif

int
sl_threads_yield(void)
{
#ifdef SL_WITHOUT_DNNL
	return 1;
#else
	return sleuth_threads_start != NULL;
#endif
}

enum sl_status
sl__parallel_start(int n, struct sl_error *err)
{
	int error = sl_threads_yield() ? sleuth_threads_start(n) : 0;

	return error ? sl__fail_errno(err, SL_E_NOMEM, error,
				      "cannot start %d threads", n)
		     : SL_OK;
}

struct call {
	sl__parallel_function *fn;
	void *ctx;
};

static void
enter(void *data)
{
	struct call *call = data;

	ACQUIRE(data);
	call->fn(omp_get_thread_num(), omp_get_num_threads(), call->ctx);
	RELEASE(data);
}

void
sl__parallel_run(int n, sl__parallel_function *fn, void *ctx)
{
	struct call call = {fn, ctx};

	if (n <= 1) {
		fn(0, 1, ctx);
		return;
	}
	RELEASE(&call);
#ifdef SL_WITHOUT_DNNL
	/* Plans start their threads beforehand, where a failure is an error. */
	if (sl__fork_join_run(n, enter, &call))
		fn(0, 1, ctx);
#else
	GOMP_parallel(enter, &call, (unsigned)n, 0);
#endif
	ACQUIRE(&call);
}

static void
meet(int rank, int n, void *ctx)
{
	enum { PATIENCE_NS = 1000000 };
	atomic_int *n_here = ctx;
	uint64_t begin_ns = sl__clock_now_ns(NULL);

	(void)rank;
	atomic_fetch_add(n_here, 1);
	while (atomic_load(n_here) < n &&
	       sl__clock_now_ns(NULL) - begin_ns < PATIENCE_NS)
		;
}

void
sl__parallel_wake(int n)
{
	atomic_int n_here = 0;

	if (n > 1)
		sl__parallel_run(n, meet, &n_here);
}

int
sl__parallel_take_widest(void)
{
	return sl_threads_yield() ? sleuth_threads_take_widest() : 0;
}

void
sl__parallel_range(int64_t total, int rank, int n, int64_t *first, int64_t *end)
{
	int64_t share = total / n, rest = total % n;

	*first = rank * share + (rank < rest ? rank : rest);
	*end = *first + share + (rank < rest);
}

int
sl__threads_for_bytes(int n_threads, uint64_t n_bytes)
{
	/* Below some 20 microseconds waking others costs more than it saves:
	 * that is 256 KiB at 12 GB/s. */
	return n_bytes < 262144 ? 1 : n_threads;
}

int
sl__threads_at_most(int n_threads, int64_t most)
{
	return n_threads <= most ? n_threads : most < 1 ? 1 : (int)most;
}

int
sl__parallel_set_threads(int n_threads)
{
#ifdef SL_WITHOUT_DNNL
	return n_threads;
#else
	int before = omp_get_max_threads();

	omp_set_num_threads(n_threads);
	return before;
#endif
}
