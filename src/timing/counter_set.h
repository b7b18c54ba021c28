/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_set.h - hardware counters of several threads, read together.
 *
 * A counter counts one thread, and is opened by it.  So whoever has the threads
 * lets each of them join, settles, and then lets each of them read.
 */
#ifndef SL_COUNTER_SET_H
#define SL_COUNTER_SET_H

#include "timing/counters.h"

struct sl__counter_set;

/*
 * A set for n_threads threads, none of which has joined.  Where no event can
 * be counted, it says so and costs nothing more.  A NULL 'source' asks the
 * kernel.  The set is from 'arena', and to be closed in any case; another
 * 'source' outlives it.
 */
enum sl_status sl__counter_set_open(struct sl__counter_set **out,
				    const struct sl__counter_backend *source,
				    size_t n_threads, struct sl__arena *arena,
				    struct sl_error *err) SL_CHECKED;
void sl__counter_set_close(struct sl__counter_set *set); /* NULL is fine */

/* How many events are counted. */
size_t sl__counter_set_n_events(const struct sl__counter_set *set);

/* Name of the counter of an event, or NULL and why there is none. */
const char *sl__counter_set_name(const struct sl__counter_set *set,
				 enum sl_event event, const char **absent);

/* Opens all counters for the calling thread, which is the rank-th; threads may
 * do so at the same time, each once. */
void sl__counter_set_join(struct sl__counter_set *set, size_t rank);

/* To be called when all have joined: an event that some thread could not open
 * is counted for none, since sums would lack a part. */
enum sl_status sl__counter_set_drop_unopened(struct sl__counter_set *set,
					     struct sl_error *err) SL_CHECKED;

/* Reads the counters of a thread; those of absent events are all 0.  Fails
 * with SL_E_MEASURE where one that was open cannot be read. */
enum sl_status sl__counter_set_read(const struct sl__counter_set *set,
				    size_t rank,
				    struct sl__counter_reading out[SL_N_EVENTS],
				    struct sl_error *err) SL_CHECKED;

/* What a counter counted over several stretches. */
struct sl__counter_tally {
	double value, enabled_ns, running_ns;
};

/* Adds a stretch between two readings; SL_E_MEASURE where it is negative. */
enum sl_status sl__counter_tally_add(struct sl__counter_tally *tally,
				     const struct sl__counter_reading *before,
				     const struct sl__counter_reading *after,
				     struct sl_error *err) SL_CHECKED;

/* As if it had counted all the time; NaN where it never did, though its
 * thread ran. */
double sl__counter_tally_scaled(const struct sl__counter_tally *tally);

#endif
