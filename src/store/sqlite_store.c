/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_store.c - a store in a file of SQLite.
 *
 * The journal is a write-ahead log: readers never wait, writers wait for each
 * other for up to BUSY_MS.  A transaction is on the disk when its commit
 * returns, so that neither a killed program nor a power cut loses one.
 */
#include "base/arena.h"
#include "base/status.h"
#include "store/database.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	BUSY_MS = 30000, /* hundreds of other writers' turns */
	COLUMNS_MOST = 32
};

struct sl__database {
	sqlite3 *handle;
	const char *path;
};

/* What went wrong, as one of ours.  The text of SQLite says why. */
static enum sl_status
fail(const struct sl__database *db, int code, struct sl_error *err)
{
	enum sl_status status = SL_E_IO;

	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return sl__fail_nomem(err);
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		status = SL_E_DATA;
		break;
	case SQLITE_ERROR:
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
		status = SL_E_BUG;
		break;
	default:
		break;
	}
	return sl__fail(err, status, "%s: %s", db->path,
			db->handle ? sqlite3_errmsg(db->handle)
				   : sqlite3_errstr(code));
}

static void
close_file(struct sl__database *db)
{
	if (!db)
		return;
	sqlite3_close(db->handle);
	sl__arena_object_free(db);
}

static enum sl_status
prepare_connection(struct sl__database *db, struct sl_error *err)
{
	/* Whoever may only read can set neither, and need not. */
	static const char setup[] = "PRAGMA journal_mode = WAL;"
				    "PRAGMA synchronous = FULL";
	int code;

	code = sqlite3_busy_timeout(db->handle, BUSY_MS);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db->handle, "PRAGMA foreign_keys = ON",
				    NULL, NULL, NULL);
	if (code == SQLITE_OK && !sqlite3_db_readonly(db->handle, "main"))
		code = sqlite3_exec(db->handle, setup, NULL, NULL, NULL);
	return code == SQLITE_OK ? SL_OK : fail(db, code, err);
}

static enum sl_status
open_file(struct sl__database **out, const char *where, int must_exist,
	  struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl__database *db;
	enum sl_status rc;
	int code;

	*out = NULL;
	if (must_exist && access(where, F_OK) && errno == ENOENT)
		return sl__fail(err, SL_E_ABSENT,
				"%s: nothing is saved there yet", where);
	db = sl__arena_object_new(&arena, NULL, sizeof(*db));
	if (!db)
		return sl__fail_nomem(err);
	rc = sl__arena_copy_text(arena, &db->path, where, err);
	if (rc)
		goto out;
	code = sqlite3_open_v2(where, &db->handle,
			       SQLITE_OPEN_READWRITE |
				       (must_exist ? 0 : SQLITE_OPEN_CREATE),
			       NULL);
	rc = code == SQLITE_OK ? prepare_connection(db, err)
			       : fail(db, code, err);
out:
	if (rc)
		close_file(db);
	else
		*out = db;
	return rc;
}

static int
bind(sqlite3_stmt *statement, const struct sl__sql_value *args, size_t n)
{
	int code = SQLITE_OK;

	for (size_t i = 0; i < n && code == SQLITE_OK; i++) {
		const struct sl__sql_value *v = &args[i];
		char name[32];
		int at;

		snprintf(name, sizeof(name), "$%zu", i + 1);
		at = sqlite3_bind_parameter_index(statement, name);
		if (v->kind == SL__SQL_WHOLE)
			code = sqlite3_bind_int64(statement, at, v->whole);
		else if (v->kind == SL__SQL_NUMBER && isfinite(v->number))
			code = sqlite3_bind_double(statement, at, v->number);
		else if (v->kind == SL__SQL_TEXT)
			code = sqlite3_bind_text64(statement, at, v->bytes,
						   v->n_bytes, SQLITE_STATIC,
						   SQLITE_UTF8);
		else if (v->kind == SL__SQL_BYTES)
			code = sqlite3_bind_blob64(statement, at, v->bytes,
						   v->n_bytes, SQLITE_STATIC);
		else
			code = sqlite3_bind_null(statement, at);
	}
	return code;
}

static struct sl__sql_value
column(sqlite3_stmt *statement, int i)
{
	struct sl__sql_value v = {.kind = SL__SQL_NULL};

	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_INTEGER:
		v.kind = SL__SQL_WHOLE;
		v.whole = sqlite3_column_int64(statement, i);
		v.number = (double)v.whole;
		break;
	case SQLITE_FLOAT:
		v.kind = SL__SQL_NUMBER;
		v.number = sqlite3_column_double(statement, i);
		break;
	case SQLITE_TEXT:
		v.kind = SL__SQL_TEXT;
		v.bytes = (const char *)sqlite3_column_text(statement, i);
		break;
	case SQLITE_BLOB:
		v.kind = SL__SQL_BYTES;
		v.bytes = sqlite3_column_blob(statement, i);
		break;
	default:
		break;
	}
	v.n_bytes = (size_t)sqlite3_column_bytes(statement, i);
	return v;
}

static enum sl_status
hand_row(sqlite3_stmt *prepared, const struct sl__statement *statement,
	 struct sl_error *err)
{
	struct sl__sql_value row[COLUMNS_MOST];
	int n = sqlite3_column_count(prepared);

	if (!statement->row)
		return SL_OK;
	n = n < COLUMNS_MOST ? n : COLUMNS_MOST;
	for (int i = 0; i < n; i++)
		row[i] = column(prepared, i);
	return statement->row(row, (size_t)n, statement->ctx, err);
}

static enum sl_status
run(struct sl__database *db, const struct sl__statement *statement,
    struct sl_error *err)
{
	sqlite3_stmt *prepared = NULL;
	enum sl_status rc = SL_OK;
	int code;

	code = sqlite3_prepare_v2(db->handle, statement->sql, -1, &prepared,
				  NULL);
	if (code == SQLITE_OK)
		code = bind(prepared, statement->args, statement->n_args);
	if (code == SQLITE_OK)
		code = sqlite3_step(prepared);
	for (; !rc && code == SQLITE_ROW; code = sqlite3_step(prepared))
		rc = hand_row(prepared, statement, err);
	if (!rc && code != SQLITE_DONE)
		rc = fail(db, code, err);
	sqlite3_finalize(prepared);
	return rc;
}

const struct sl__database_kind sl__sqlite_database = {
	/* Numbers of results that were deleted are not given again. */
	.serial = "INTEGER PRIMARY KEY AUTOINCREMENT",
	.position = "instr",
	.begin = "BEGIN IMMEDIATE",
	.state = "SELECT data_version || ' ' || total_changes()"
		 " FROM pragma_data_version",
	.probe = "SELECT CASE"
		 " WHEN EXISTS (SELECT 1 FROM sqlite_master"
		 " WHERE name = 'sleuth_schema') THEN 1"
		 " WHEN EXISTS (SELECT 1 FROM sqlite_master) THEN -1"
		 " ELSE 0 END",
	.open = open_file,
	.close = close_file,
	.run = run,
};
