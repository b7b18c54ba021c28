/* SPDX-License-Identifier: Apache-2.0 */
/* hardware.h - machines on paper: their descriptions. */
#ifndef SL_HARDWARE_H
#define SL_HARDWARE_H

#include "sleuth.h"

/*
 * A description is lines of "what figure source": name, kind, "peak DTYPE",
 * bandwidth, memory, price; '#' starts a remark.  Reads one from text;
 * 'id' names it in messages.  SL_E_DATA names the line.
 */
enum sl_status sl__hardware_read(struct sl_hardware **out, const char *id,
				 const char *text,
				 struct sl_error *err) SL_CHECKED;

/*
 * The type in which the machine computes what a model has in 'dtype': that
 * one, or the nearest that holds it (f16 and bf16 stand for each other, else
 * f32, else f64, else the narrowest it has).  SL_DTYPE_NONE: no figure.
 */
enum sl_dtype sl__hardware_dtype(const struct sl_hardware *h,
				 enum sl_dtype dtype);

#endif
