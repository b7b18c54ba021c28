/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - chatter on its way to the caller. */
#ifndef SL_LOG_H
#define SL_LOG_H

#include "sleuth/basics.h"

/*
 * Hands one formatted line, without a newline, to the caller's log.  NULL or
 * a log without a function drops it.  Never called inside a timed stretch.
 */
void sl__log(const struct sl_log *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
