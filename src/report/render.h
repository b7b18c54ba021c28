/* SPDX-License-Identifier: Apache-2.0 */
/* render.h - how a caller wants a result, checked. */
#ifndef SL_RENDER_H
#define SL_RENDER_H

#include "sleuth.h"

/*
 * Puts the defaults in place of NULL.  SL_E_USAGE when the struct is not the
 * one this library knows.
 */
enum sl_status sl__render_check(const struct sl_render_options **how,
				struct sl_error *err) SL_CHECKED;

/* The failure of a result, such as "a measurement", without that format. */
enum sl_status sl__render_refuse(struct sl_error *err, const char *result);

#endif
