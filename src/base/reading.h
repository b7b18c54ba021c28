/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - a figure that a machine may not have. */
#ifndef SL_READING_H
#define SL_READING_H

#include "sleuth/basics.h"

struct sl_reading sl__present(double value);

/* 'reason' must live as long as the reading. */
struct sl_reading sl__absent(const char *reason);

#endif
