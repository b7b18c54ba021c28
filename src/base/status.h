/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - failures with one line of explanation. */
#ifndef SL_STATUS_H
#define SL_STATUS_H

#include "sleuth/basics.h"

#include <signal.h>
#include <stdarg.h>

/*
 * Fills 'err' (NULL is fine) and returns 'status', so that a leaf can write
 * "return sl__fail(err, SL_E_DATA, ...)".  Text that does not fit is cut,
 * and made one printable line (sl_text_sanitize()).
 */
enum sl_status sl__fail(struct sl_error *err, enum sl_status status,
			const char *format, ...)
	__attribute__((format(printf, 3, 4)));
enum sl_status sl__fail_list(struct sl_error *err, enum sl_status status,
			     const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* Like sl__fail(), and adds ": " and the text of errno value 'error'. */
enum sl_status sl__fail_errno(struct sl_error *err, enum sl_status status,
			      int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The failure that every failed allocation reports. */
enum sl_status sl__fail_nomem(struct sl_error *err);

/* SL_E_INTERRUPTED once the caller's flag is set; NULL is fine. */
static inline enum sl_status
sl__check_interrupt(const volatile sig_atomic_t *flag, struct sl_error *err)
{
	return flag && *flag ? sl__fail(err, SL_E_INTERRUPTED, "interrupted")
			     : SL_OK;
}

/*
 * Says what the caller could do about a failure, whose text is there already.
 * Returns 'status'; does nothing when that is SL_OK.
 */
enum sl_status sl__error_set_hint(struct sl_error *err, enum sl_status status,
				  enum sl_hint hint);

/*
 * Puts "where: " before the text of a failure on its way up; does nothing
 * when 'status' is SL_OK.  Returns 'status'.
 */
enum sl_status sl__error_prefix(struct sl_error *err, enum sl_status status,
				const char *where);

#endif
