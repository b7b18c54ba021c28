/* SPDX-License-Identifier: Apache-2.0 */
/* hardware.h - machines on paper: their descriptions. */
#ifndef SL_HARDWARE_H
#define SL_HARDWARE_H

#include "sleuth/inspecting.h"

/*
 * A description is lines of "what figure source": name, kind, "peak DTYPE",
 * bandwidth, memory, price; '#' starts a remark.  Reads one from text;
 * 'id' names it in messages.  SL_E_DATA names the line.
 */
enum sl_status sl__hardware_parse(struct sl_hardware **out, const char *id,
				  const char *text,
				  struct sl_error *err) SL_CHECKED;

/*
 * The type in which the machine computes what a model has in 'dtype': that
 * one, else the nearest that holds it, else, for f32 alone, a narrower real
 * one: bf16, then f16.  Real numbers are never computed as integers, and f64
 * as nothing else.  Integers go through the units of real numbers where the
 * machine has no figure for theirs.  SL_DTYPE_NONE: it does not compute that.
 */
enum sl_dtype sl__hardware_compute_dtype(const struct sl_hardware *h,
					 enum sl_dtype dtype);

#endif
