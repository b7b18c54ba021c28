/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - failures with one line of explanation.
 *
 * Errors are written into storage the caller owns, so that the path of a
 * failure never allocates and two threads never share a message.
 */
#include "base/status.h"
#include "sleuth.h"

#include <stdio.h>
#include <string.h>

#include "base/banned.h"

#define TO_TEXT(x)  #x
#define TO_VALUE(x) TO_TEXT(x)

const char *
sl_version(void)
{
	return TO_VALUE(SL_VERSION_MAJOR) "." TO_VALUE(
		SL_VERSION_MINOR) "." TO_VALUE(SL_VERSION_PATCH);
}

const char *
sl_status_text(enum sl_status status)
{
	switch (status) {
	case SL_OK:
		return "no error";
	case SL_E_NOMEM:
		return "out of memory";
	case SL_E_USAGE:
		return "wrong usage";
	case SL_E_DATA:
		return "malformed model or data";
	case SL_E_ABSENT:
		return "not available on this machine";
	case SL_E_IO:
		return "input/output failed";
	case SL_E_MEASURE:
		return "invalid measurement";
	case SL_E_INTERRUPTED:
		return "interrupted";
	case SL_E_BUG:
		return "internal defect";
	}
	return "unknown status";
}

enum sl_status
sl__fail_list(struct sl_error *err, enum sl_status status, const char *format,
	      va_list args)
{
	if (!err)
		return status;
	err->status = status;
	err->hint = SL_HINT_NONE;
	err->n_missing = 0;
	err->stderr_tail[0] = '\0';
	vsnprintf(err->text, sizeof(err->text), format, args);
	/* A name from outside may hold a newline or an escape sequence. */
	sl_text_sanitize(err->text);
	return status;
}

enum sl_status
sl__fail(struct sl_error *err, enum sl_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sl__fail_list(err, status, format, args);
	va_end(args);
	return status;
}

enum sl_status
sl__fail_errno(struct sl_error *err, enum sl_status status, int error,
	       const char *format, ...)
{
	char reason[128];
	va_list args;
	size_t used;

	if (!err)
		return status;
	va_start(args, format);
	sl__fail_list(err, status, format, args);
	va_end(args);
	if (strerror_r(error, reason, sizeof(reason)))
		snprintf(reason, sizeof(reason), "error %d", error);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", reason);
	return status;
}

enum sl_status
sl__fail_nomem(struct sl_error *err)
{
	return sl__fail(err, SL_E_NOMEM, "out of memory");
}

enum sl_status
sl__error_prefix(struct sl_error *err, enum sl_status status, const char *where)
{
	struct sl_error inner;

	if (!status || !err)
		return status;
	inner = *err;
	inner.text[sizeof(inner.text) - 1] = '\0';
	sl__fail(err, status, "%s: %s", where, inner.text);
	/* What was said of sizes does not stand first any more. */
	if (inner.hint != SL_HINT_SIZE && inner.hint != SL_HINT_SIZE_OR_DIM) {
		err->hint = inner.hint;
		err->n_missing = inner.n_missing;
	}
	return status;
}

enum sl_status
sl__error_set_hint(struct sl_error *err, enum sl_status status,
		   enum sl_hint hint)
{
	if (status && err)
		err->hint = hint;
	return status;
}
