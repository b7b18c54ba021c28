/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - the progress of a measurement, told to the store. */
#ifndef SL_LIVE_H
#define SL_LIVE_H

#include "sleuth.h"

/*
 * From here on, live_note() tells the store at 'db' (NULL: the default) how far
 * the measurement is, and the end of this process that it is over.  A process
 * of its own writes, so that nothing is measured along.  Where it cannot be
 * started, nothing is told: the result does not depend on it.
 */
void live_begin(const char *db, const char *command);

/* Whether live_begin() was called. */
int live_is_on(void);

/* What is measured and how far it is; costs a message between two processes, a
 * few times a second. */
void live_note(const char *name, const char *phase, double share,
	       double remaining_s);

#endif
