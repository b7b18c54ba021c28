/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - chatter on its way to the caller: the library never prints. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/banned.h"

void
sl__log(const struct sl_log *log, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!log || !log->line)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	log->line(line, log->ctx);
}
