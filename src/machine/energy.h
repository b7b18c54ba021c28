/* SPDX-License-Identifier: Apache-2.0 */
/* energy.h - whether the energy used can be read. */
#ifndef SL_ENERGY_H
#define SL_ENERGY_H

#include "base/arena.h"
#include "sleuth/machines.h"

/*
 * The energy meter of the CPU package (RAPL) under 'root': its name when it
 * can be read by this process, else absent with the reason.
 */
enum sl_status sl__energy_availability(struct sl_text_reading *out,
				       const char *root,
				       struct sl__arena *arena,
				       struct sl_error *err) SL_CHECKED;

#endif
