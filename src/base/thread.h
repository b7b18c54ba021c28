/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - a team of threads that run the same function together. */
#ifndef SL_THREAD_H
#define SL_THREAD_H

#include "sleuth/basics.h"

/* Called by each member with its rank, 0 to n - 1. */
typedef void sl__team_function(size_t rank, void *ctx);

/*
 * Invariants: member 0 is the thread that calls sl__team_run(); the others
 * wait between runs without spinning.  Member i is bound to the i-th CPU
 * the process may use, while the team lives; the caller's own binding is put
 * back by sl__team_free().  A team is used by the thread that made it.
 */
struct sl__team;

/* How many CPUs this process may use; at least 1: those of its affinity, of
 * its control groups' quotas, and OMP_THREAD_LIMIT. */
size_t sl__thread_n_cpus(void);

/* What the last two allow, read below 'root' and from the variable's value
 * (NULL: not set); at most as many as an affinity has. */
size_t sl__thread_limit(const char *root, const char *openmp);

enum sl_status sl__team_new(struct sl__team **out, size_t n_threads,
			    const struct sl_allocator *allocator,
			    struct sl_error *err) SL_CHECKED;
void sl__team_free(struct sl__team *team); /* NULL is fine */

/* Runs fn on every member and returns when all are done. */
void sl__team_run(struct sl__team *team, sl__team_function *fn, void *ctx);

/*
 * Called by members inside a run: waits, spinning, until all have come, so
 * that they start a stretch of work within a fraction of a microsecond.
 */
void sl__team_barrier(struct sl__team *team);

#endif
