/* SPDX-License-Identifier: Apache-2.0 */
/* energy_meter.h - the energy that the CPU package has used. */
#ifndef SL_ENERGY_METER_H
#define SL_ENERGY_METER_H

#include "base/arena.h"

/*
 * Invariants: once open, either 'absent' says why there is no meter, or
 * readings add up: the counter begins anew at 'range_uj' and is read more
 * often than that.  Its file stays open.  One thread at a time.
 */
struct sl__energy_meter {
	int fd; /* -1: none */
	double range_uj, last_uj, sum_uj;
	const char *absent; /* lives as long as the arena of opening */
};

/* The first package's meter (RAPL) under 'root' ("": this machine); to be
 * closed, also where it failed. */
enum sl_status sl__energy_open(struct sl__energy_meter *meter, const char *root,
			       struct sl__arena *arena,
			       struct sl_error *err) SL_CHECKED;

/* Nothing can be read after it; twice is fine. */
void sl__energy_close(struct sl__energy_meter *meter);

/* Joules since it was opened, of everything on the package; NaN without a
 * meter, and from then on when it cannot be read any longer.  One read of an
 * open file. */
double sl__energy_joules(struct sl__energy_meter *meter);

#endif
