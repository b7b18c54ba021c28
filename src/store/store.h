/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - an open store, for the files of this folder. */
#ifndef SL_STORE_H
#define SL_STORE_H

#include "sleuth/storing.h"
#include "store/database.h"

#define SL__STORE_LINE_RESULT "result" /* last key of an exported line */

struct sl_store {
	const struct sl__database_kind *kind;
	struct sl__database *db;
};

/* Runs SQL that gives no rows; 'args' NULL: it takes nothing. */
enum sl_status sl__store_run(struct sl_store *store, const char *sql,
			     const struct sl__sql_value *args, size_t n_args,
			     struct sl_error *err) SL_CHECKED;

/* Begins what is to happen as a whole; and ends it, well where 'status' is
 * SL_OK, else as if nothing had been. Returns 'status', or what failed. */
enum sl_status sl__store_begin(struct sl_store *store,
			       struct sl_error *err) SL_CHECKED;
enum sl_status sl__store_end(struct sl_store *store, enum sl_status status,
			     struct sl_error *err) SL_CHECKED;

/* The version of the tables that this library reads and writes. */
uint64_t sl__store_version(void);

/* Makes the tables, or brings older ones up to 'version'; SL_E_DATA for newer
 * ones and for a database that is somebody else's. */
enum sl_status sl__store_migrate(struct sl_store *store, uint64_t version,
				 struct sl_error *err) SL_CHECKED;

/* SL_E_IO where results can be read and not added. */
enum sl_status sl__store_check_writable(struct sl_store *store,
					struct sl_error *err) SL_CHECKED;

/* Appends a text that stays the same while what this store holds does. */
enum sl_status sl__store_state(struct sl_store *store, struct sl_buf *out,
			       struct sl_error *err) SL_CHECKED;

/* Seconds since 1970, now. */
double sl__store_now_s(void);

/* Values of statements. */
struct sl__sql_value sl__sql_text(const char *text); /* NULL: null */
struct sl__sql_value sl__sql_whole(uint64_t whole);
struct sl__sql_value sl__sql_number(double number); /* NaN: null */

/* The column of tags, as text; SL_E_USAGE for one that cannot be. */
enum sl_status sl__store_tags_text(struct sl_buf *out,
				   const struct sl_stored_run *run,
				   struct sl_error *err) SL_CHECKED;

/* Adds a result whose points have their hashes already. */
enum sl_status sl__store_put_run(struct sl_store *store, uint64_t *id,
				 const struct sl_stored_run *run,
				 const char *json, size_t n_bytes,
				 struct sl_error *err) SL_CHECKED;

#endif
