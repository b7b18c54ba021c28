/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_store.c - a store in a file of SQLite.
 *
 * The journal is a write-ahead log: readers never wait, writers wait for each
 * other for up to BUSY_MS.  A transaction is on the disk when its commit
 * returns, so that neither a killed program nor a power cut loses one.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "store/database.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

enum {
	BUSY_MS = 30000, /* hundreds of other writers' turns */
	COLUMNS_MOST = 32
};

struct sl__database {
	sqlite3 *handle;
	const char *path;
	int is_unlogged;     /* see open_unlogged() */
	struct stat at_open; /* of such a file */
};

static enum sl_status
status_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return SL_E_NOMEM;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return SL_E_DATA;
	case SQLITE_ERROR:
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
		return SL_E_BUG;
	default:
		return SL_E_IO;
	}
}

/* Why a file cannot be opened, as a value of errno; 0: it can.  SQLite tries in
 * several ways and knows of the last one alone. */
static int
explain(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct sl_buf folder = {0};
	struct stat found;
	int error = 0;

	if (!stat(path, &found)) {
		if (S_ISDIR(found.st_mode))
			return EISDIR;
		return access(path, R_OK) ? errno : 0;
	}
	if (errno != ENOENT)
		return errno;
	sl__buf_format(&folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		       slash ? path : ".");
	if (sl__buf_status(&folder, NULL) || access(folder.data, W_OK | X_OK))
		error = errno;
	sl_buf_release(&folder);
	return error;
}

/* What went wrong, as one of ours.  The text of SQLite says why, that of the
 * system where it knows better. */
static enum sl_status
fail(const struct sl__database *db, int code, struct sl_error *err)
{
	enum sl_status status = status_of(code);
	int error = 0;

	if ((code & 0xff) == SQLITE_CANTOPEN)
		error = explain(db->path);
	else if ((code & 0xff) == SQLITE_IOERR && db->handle)
		error = sqlite3_system_errno(db->handle);
	if (status == SL_E_NOMEM)
		return sl__fail_nomem(err);
	if ((code & 0xff) == SQLITE_READONLY)
		return sl__fail(err, status,
				"%s: the file, or its folder, may only be read",
				db->path);
	if (error)
		return sl__fail_errno(err, status, error, "%s", db->path);
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

static int
prepare_connection(struct sl__database *db)
{
	/* Whoever may only read can set neither, and need not. */
	static const char setup[] = "PRAGMA journal_mode = WAL;"
				    "PRAGMA synchronous = FULL";
	int code = sqlite3_busy_timeout(db->handle, BUSY_MS);

	if (code == SQLITE_OK)
		code = sqlite3_exec(db->handle, "PRAGMA foreign_keys = ON",
				    NULL, NULL, NULL);
	if (code == SQLITE_OK && !sqlite3_db_readonly(db->handle, "main"))
		code = sqlite3_exec(db->handle, setup, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db->handle, "SELECT 1 FROM sqlite_master",
				    NULL, NULL, NULL);
	return code;
}

/* Whether all is in the file itself, and none of it in a log beside it. */
static int
has_no_log(const char *path)
{
	struct sl_buf log = {0};
	struct stat found;
	int is_sure;

	sl__buf_format(&log, "%s-wal", path);
	is_sure = !sl__buf_status(&log, NULL) && stat(log.data, &found) &&
		  errno == ENOENT && !stat(path, &found) &&
		  S_ISREG(found.st_mode) && !access(path, R_OK);
	sl_buf_release(&log);
	return is_sure;
}

/*
 * Opens a file that is to be read without a log and without locks.  Readers of
 * a log make a file beside it, which a folder that may only be read forbids.
 * SQLite takes such a file as one that never changes; run() looks whether it
 * did.  Returns 'code' where it cannot be done.
 */
static int
open_unlogged(struct sl__database *db, int code)
{
	struct sl_buf uri = {0};

	if (!has_no_log(db->path) || stat(db->path, &db->at_open))
		return code;
	sl__buf_text(&uri, "file:");
	for (const char *c = db->path; *c; c++)
		sl__buf_format(&uri, strchr("?#%", *c) ? "%%%02x" : "%c",
			       (unsigned)(unsigned char)*c);
	sl__buf_text(&uri, "?immutable=1");
	if (!sl__buf_status(&uri, NULL)) {
		sqlite3_close(db->handle);
		code = sqlite3_open_v2(uri.data, &db->handle,
				       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
				       NULL);
		if (code == SQLITE_OK)
			code = prepare_connection(db);
		db->is_unlogged = code == SQLITE_OK;
	}
	sl_buf_release(&uri);
	return code;
}

static enum sl_status
connect(struct sl__database *db, int flags, struct sl_error *err)
{
	int code = sqlite3_open_v2(db->path, &db->handle,
				   SQLITE_OPEN_READWRITE | flags, NULL);

	if (code == SQLITE_OK)
		code = prepare_connection(db);
	if ((code & 0xff) == SQLITE_READONLY ||
	    (code & 0xff) == SQLITE_CANTOPEN)
		code = open_unlogged(db, code);
	return code == SQLITE_OK ? SL_OK : fail(db, code, err);
}

/* Opens a file anew that was opened without its log and has changed since. */
static enum sl_status
follow_changes(struct sl__database *db, struct sl_error *err)
{
	struct stat now;

	if (!db->is_unlogged ||
	    (has_no_log(db->path) && !stat(db->path, &now) &&
	     now.st_size == db->at_open.st_size &&
	     now.st_ino == db->at_open.st_ino &&
	     now.st_mtim.tv_sec == db->at_open.st_mtim.tv_sec &&
	     now.st_mtim.tv_nsec == db->at_open.st_mtim.tv_nsec))
		return SL_OK;
	sqlite3_close(db->handle);
	db->handle = NULL;
	db->is_unlogged = 0;
	return connect(db, 0, err);
}

static enum sl_status
open_file(struct sl__database **out, const char *where, int must_exist,
	  struct sl_error *err)
{
	struct sl__arena *arena;
	struct sl__database *db;
	enum sl_status rc;

	*out = NULL;
	if (must_exist && access(where, F_OK) && errno == ENOENT)
		return sl__fail(err, SL_E_ABSENT,
				"%s: nothing is saved there yet", where);
	db = sl__arena_object_new(&arena, NULL, sizeof(*db));
	if (!db)
		return sl__fail_nomem(err);
	rc = sl__arena_copy_text(arena, &db->path, where, err);
	if (!rc)
		rc = connect(db, must_exist ? 0 : SQLITE_OPEN_CREATE, err);
	if (rc)
		close_file(db);
	else
		*out = db;
	return rc;
}

static const char *
path_of(const struct sl__database *db)
{
	return db->path;
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
	enum sl_status rc = follow_changes(db, err);
	int code;

	if (rc)
		return rc;
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
	/* Fails where it cannot. */
	.may_write = "UPDATE sleuth_schema SET version = version RETURNING 1",
	.open = open_file,
	.close = close_file,
	.name = path_of,
	.run = run,
};
