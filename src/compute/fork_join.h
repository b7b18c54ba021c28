/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.h - parallel regions on threads that yield to their neighbours. */
#ifndef SL_FORK_JOIN_H
#define SL_FORK_JOIN_H

/* Called once for each rank of a region; sl__fork_join_rank() says which. */
typedef void sl__region_function(void *data);

/*
 * Runs fn for ranks 0 to n - 1, rank 0 on the caller, and returns when all
 * are done.  Each calling thread has workers of its own, started when first
 * needed and ended with it.  Inside a region it runs one rank, on the caller.
 * 0, or the errno of starting a thread: then nothing has run.
 */
int sl__fork_join_run(int n, sl__region_function *fn, void *data);

/* Starts the workers that regions of n ranks need; 0 or an errno. */
int sl__fork_join_reserve(int n);

/* The most ranks of a region that the calling thread has run since it last
 * asked; 1: there was none with several. */
int sl__fork_join_take_widest(void);

/* Of the calling thread: its rank and the number of ranks in the region that
 * it is in, 0 and 1 outside; whether it is in one with several. */
int sl__fork_join_rank(void);
int sl__fork_join_n_ranks(void);
int sl__fork_join_is_parallel(void);

/* Inside a region: waits until all of its ranks have come here. */
void sl__fork_join_barrier(void);

#endif
