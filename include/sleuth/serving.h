/* SPDX-License-Identifier: Apache-2.0 */
/* serving.h - a store of results as a site for browsers and programs. */
#ifndef SLEUTH_SERVING_H
#define SLEUTH_SERVING_H

#include "sleuth/basics.h"

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sl_serve_options {
	size_t struct_size;
	const char *where;   /* the store, as in sl_store_options; must exist */
	const char *address; /* to listen on, in numbers; default 127.0.0.1 */
	unsigned port;       /* up to 65535; default: one that is free */
	void (*ready)(const char *url, void *ctx); /* once it listens */
	void *ready_ctx;
	const volatile sig_atomic_t *interrupt; /* ends it; must be set */
	const char *token; /* whoever has it may tag, pin and delete results and
			      move the baseline; at least 16 characters.  NULL:
			      nobody may change anything */
};
#define SL_SERVE_OPTIONS_INIT SL_OPTIONS_INIT(struct sl_serve_options)

/*
 * Answers requests over HTTP (docs/serving.md) until *interrupt is not zero,
 * lets replies that are being sent come to their end, and returns SL_OK.  On a
 * loopback address it answers clients that call it by such a name alone.
 * SL_E_USAGE for an address that is none, SL_E_IO where it cannot listen there,
 * SL_E_ABSENT in a build without libmicrohttpd, and as sl_store_open().
 */
SL_API enum sl_status sl_serve(const struct sl_serve_options *options,
			       struct sl_error *err) SL_CHECKED;

#ifdef __cplusplus
}
#endif

#endif
