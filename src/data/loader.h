/* SPDX-License-Identifier: Apache-2.0 */
/* loader.h - what experiments ask of a loader. */
#ifndef SL_LOADER_H
#define SL_LOADER_H

#include "sleuth/data_sets.h"

/* How many batches may be ready, or in use, at a time. */
size_t sl__loader_n_slots(const struct sl_loader *loader);

/* Waits until all of them are ready: its threads rest then, until the next
 * batch is asked for. */
void sl__loader_settle(struct sl_loader *loader);

#endif
