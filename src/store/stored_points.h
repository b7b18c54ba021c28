/* SPDX-License-Identifier: Apache-2.0 */
/* stored_points.h - what is searched of a result, taken from its document. */
#ifndef SL_STORED_POINTS_H
#define SL_STORED_POINTS_H

#include "base/json_read.h"
#include "sleuth/storing.h"

/*
 * Sets command, kind, version and points of 'run', without hashes, from a
 * document; SL_E_DATA where it is no result of this schema.  What it points to
 * is from 'arena', or lives as long as 'root'.
 */
enum sl_status sl__stored_run_read(struct sl_stored_run *run,
				   const struct sl__json_value *root,
				   struct sl__arena *arena,
				   struct sl_error *err) SL_CHECKED;

/* The hash of a model's file, 32 hexadecimal digits; NULL: the document names
 * no file that can be read.  'nth' counts the points of the document. */
const char *sl__stored_model_hash(const struct sl__json_value *root, size_t nth,
				  struct sl__arena *arena);

/* The nth model or command of a document; NULL: there are fewer. */
const struct sl__json_value *
sl__stored_subject(const struct sl__json_value *root, size_t nth);

/* A member that is a text; NULL: none. */
const char *sl__json_member_text(const struct sl__json_value *object,
				 const char *key);

#endif
