/* SPDX-License-Identifier: Apache-2.0 */
/* database.h - one interface for the databases that a store can lie in. */
#ifndef SL_DATABASE_H
#define SL_DATABASE_H

#include "sleuth/basics.h"

enum sl__sql_kind {
	SL__SQL_NULL = 0,
	SL__SQL_WHOLE,
	SL__SQL_NUMBER,
	SL__SQL_TEXT,
	SL__SQL_BYTES
};

/* A parameter of a statement, or a column of a row it gave. */
struct sl__sql_value {
	enum sl__sql_kind kind;
	int64_t whole;     /* of WHOLE */
	double number;     /* of NUMBER and WHOLE */
	const char *bytes; /* of TEXT, which ends with a zero, and BYTES */
	size_t n_bytes;
};

/* Gets one row, which lives until the function returns. */
typedef enum sl_status sl__row_function(const struct sl__sql_value *row,
					size_t n_columns, void *ctx,
					struct sl_error *err);

/* A statement and what goes into it: $1 is args[0]. */
struct sl__statement {
	const char *sql;
	const struct sl__sql_value *args;
	size_t n_args;
	sl__row_function *row; /* NULL: rows are passed over */
	void *ctx;
};

struct sl__database;

/*
 * A kind of database: the words in which its SQL differs, and four functions.
 * Messages of failures name the database and never hold a password.
 */
struct sl__database_kind {
	const char *serial;    /* type of a key that counts itself */
	const char *position;  /* function: where text 2 is in text 1, or 0 */
	const char *begin;     /* a transaction that will write */
	const char *serialise; /* within one: waits for other migrations;
				  NULL: 'begin' does */
	const char *state; /* one text: while it stays the same, so does what
				  this connection sees */
	const char *probe; /* one number: 1, the tables are there; 0, it is
				  empty; -1, it is somebody else's */
	const char *may_write; /* one number, within a transaction that is
				  taken back: whether results can be added */

	/* 'where' is a path or a URL.  With 'must_exist', SL_E_ABSENT for a
	 * file that is not there, which is made otherwise. */
	enum sl_status (*open)(struct sl__database **out, const char *where,
			       int must_exist, struct sl_error *err);
	void (*close)(struct sl__database *db); /* NULL is fine */
	/* How messages call it: a path, or a URL without user and password. */
	const char *(*name)(const struct sl__database *db);
	enum sl_status (*run)(struct sl__database *db,
			      const struct sl__statement *statement,
			      struct sl_error *err);
};

extern const struct sl__database_kind sl__sqlite_database,
	sl__postgres_database;

#endif
