/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_store.c - a store on a PostgreSQL server, through libpq.
 *
 * Values go and come as text, but for bytes.  libpq's messages may quote a URL
 * that it cannot read, and with it a password, so that such a message is not
 * shown; in others a password is blotted out.
 */
#include "base/arena.h"
#include "base/status.h"
#include "store/database.h"

#ifdef SL_WITH_LIBPQ
#include "base/number.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>
#endif

#include "base/banned.h"

#ifdef SL_WITH_LIBPQ

enum {
	ARGS_MOST = 32,
	COLUMNS_MOST = 32,
	/* Types of columns, from the server's catalogue (pg_type.dat). */
	TYPE_BYTEA = 17,
	TYPE_INT8 = 20,
	TYPE_INT4 = 23,
	TYPE_TEXT = 25,
	TYPE_FLOAT8 = 701
};

struct sl__database {
	PGconn *connection;
	const char *name;     /* "postgresql://host/database" */
	const char *password; /* NULL: none was said */
};

/* The first line of a message, without the password. */
static enum sl_status
fail(const struct sl__database *db, enum sl_status status, const char *message,
     struct sl_error *err)
{
	int n = (int)strcspn(message, "\n");
	const char *hidden = db->password && *db->password
				     ? strstr(message, db->password)
				     : NULL;

	if (hidden && hidden < message + n)
		return sl__fail(err, status, "%s: %.*s***", db->name,
				(int)(hidden - message), message);
	return sl__fail(err, status, "%s: %.*s", db->name, n, message);
}

static void
close_connection(struct sl__database *db)
{
	if (!db)
		return;
	PQfinish(db->connection);
	sl__arena_object_free(db);
}

static const char *
setting(const PQconninfoOption *options, const char *keyword)
{
	for (; options->keyword; options++) {
		if (strcmp(options->keyword, keyword) == 0)
			return options->val;
	}
	return NULL;
}

/* Remembers what the database is called, and what must not be shown. */
static enum sl_status
read_url(struct sl__database *db, const char *url, struct sl__arena *arena,
	 struct sl_error *err)
{
	PQconninfoOption *options = PQconninfoParse(url, NULL);
	const char *host, *name;

	if (!options)
		return sl__fail(err, SL_E_DATA,
				"the URL of the database cannot be read; it is "
				"like postgresql://USER@HOST:PORT/NAME");
	host = setting(options, "host");
	name = setting(options, "dbname");
	db->password = sl__arena_string(arena, setting(options, "password"));
	db->name = sl__arena_format(arena, "postgresql://%s/%s",
				    host ? host : "", name ? name : "");
	PQconninfoFree(options);
	return db->name ? SL_OK : sl__fail_nomem(err);
}

/* Remarks of the server, which libpq would print. */
static void
pass_over(void *ctx, const char *message)
{
	(void)ctx;
	(void)message;
}

static enum sl_status
open_server(struct sl__database **out, const char *where, int must_exist,
	    struct sl_error *err)
{
	/* The URL's own settings count where they say another. */
	const char *const keys[] = {
		"connect_timeout", "fallback_application_name", "dbname", NULL};
	const char *const values[] = {"10", "sleuth", where, NULL};
	struct sl__arena *arena;
	struct sl__database *db;
	enum sl_status rc;

	(void)must_exist; /* a server makes no database */
	*out = NULL;
	db = sl__arena_object_new(&arena, NULL, sizeof(*db));
	if (!db)
		return sl__fail_nomem(err);
	rc = read_url(db, where, arena, err);
	if (!rc) {
		db->connection = PQconnectdbParams(keys, values, 1);
		if (!db->connection)
			rc = sl__fail_nomem(err);
		else if (PQstatus(db->connection) != CONNECTION_OK)
			rc = fail(db, SL_E_IO, PQerrorMessage(db->connection),
				  err);
		else
			PQsetNoticeProcessor(db->connection, pass_over, NULL);
	}
	if (rc)
		close_connection(db);
	else
		*out = db;
	return rc;
}

static const char *
name_of(const struct sl__database *db)
{
	return db->name;
}

/* What PQexecParams() takes. */
struct arguments {
	const char *values[ARGS_MOST];
	int lengths[ARGS_MOST];
	int formats[ARGS_MOST]; /* 1: bytes */
	char texts[ARGS_MOST][SL__NUMBER_BYTES];
};

static void
write_arguments(struct arguments *out, const struct sl__statement *statement)
{
	for (size_t i = 0; i < statement->n_args; i++) {
		const struct sl__sql_value *v = &statement->args[i];

		out->values[i] = NULL;
		out->formats[i] = v->kind == SL__SQL_BYTES;
		out->lengths[i] = (int)v->n_bytes;
		if (v->kind == SL__SQL_WHOLE) {
			snprintf(out->texts[i], sizeof(out->texts[i]),
				 "%" PRId64, v->whole);
			out->values[i] = out->texts[i];
		} else if (v->kind == SL__SQL_NUMBER) {
			out->values[i] =
				sl__number_text(out->texts[i], v->number);
		} else if (v->kind != SL__SQL_NULL) {
			out->values[i] = v->bytes;
		}
	}
}

/* One column as a value; *owned is to be freed by PQfreemem(). */
static struct sl__sql_value
column(const PGresult *rows, int row, int i, unsigned char **owned)
{
	struct sl__sql_value v = {.bytes = PQgetvalue(rows, row, i),
				  .n_bytes = (size_t)PQgetlength(rows, row, i)};

	if (PQgetisnull(rows, row, i))
		return v;
	switch (PQftype(rows, i)) {
	case TYPE_INT4:
	case TYPE_INT8:
		v.kind = SL__SQL_WHOLE;
		v.whole = strtoimax(v.bytes, NULL, 10);
		v.number = (double)v.whole;
		break;
	case TYPE_FLOAT8:
		v.kind = SL__SQL_NUMBER;
		v.number = sl__number_read(v.bytes);
		break;
	case TYPE_BYTEA:
		*owned = PQunescapeBytea((const unsigned char *)v.bytes,
					 &v.n_bytes);
		v.kind = *owned ? SL__SQL_BYTES : SL__SQL_NULL;
		v.bytes = (const char *)*owned;
		break;
	default:
		v.kind = SL__SQL_TEXT;
		break;
	}
	return v;
}

static enum sl_status
hand_rows(const PGresult *rows, const struct sl__statement *statement,
	  struct sl_error *err)
{
	int n_columns = PQnfields(rows);
	enum sl_status rc = SL_OK;

	for (int row = 0; !rc && row < PQntuples(rows); row++) {
		struct sl__sql_value values[COLUMNS_MOST];
		unsigned char *owned[COLUMNS_MOST] = {NULL};
		int n = n_columns < COLUMNS_MOST ? n_columns : COLUMNS_MOST;

		for (int i = 0; i < n; i++)
			values[i] = column(rows, row, i, &owned[i]);
		rc = statement->row(values, (size_t)n, statement->ctx, err);
		for (int i = 0; i < n; i++)
			PQfreemem(owned[i]);
	}
	return rc;
}

static enum sl_status
run(struct sl__database *db, const struct sl__statement *statement,
    struct sl_error *err)
{
	struct arguments args;
	enum sl_status rc = SL_OK;
	ExecStatusType status;
	PGresult *rows;

	write_arguments(&args, statement);
	rows = PQexecParams(db->connection, statement->sql,
			    (int)statement->n_args, NULL, args.values,
			    args.lengths, args.formats, 0);
	status = PQresultStatus(rows);
	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		rc = fail(db, SL_E_IO, PQerrorMessage(db->connection), err);
	else if (statement->row)
		rc = hand_rows(rows, statement, err);
	PQclear(rows);
	return rc;
}

#else

static enum sl_status
open_server(struct sl__database **out, const char *where, int must_exist,
	    struct sl_error *err)
{
	(void)where;
	(void)must_exist;
	*out = NULL;
	return sl__fail(err, SL_E_ABSENT,
			"this build has no PostgreSQL (libpq)");
}

static void
close_connection(struct sl__database *db)
{
	(void)db; /* NULL: none is ever open */
}

static const char *
name_of(const struct sl__database *db)
{
	(void)db;
	return "PostgreSQL";
}

static enum sl_status
run(struct sl__database *db, const struct sl__statement *statement,
    struct sl_error *err)
{
	(void)db;
	(void)statement;
	return sl__fail(err, SL_E_BUG, "no database is open");
}

#endif

const struct sl__database_kind sl__postgres_database = {
	.serial = "BIGSERIAL PRIMARY KEY",
	.position = "strpos",
	.begin = "BEGIN",
	/* Any number: "sleuth" as bytes. */
	.serialise = "SELECT pg_advisory_xact_lock(126943972912744)",
	.state = "SELECT txid_current_snapshot()::text",
	.probe = "SELECT count(*) FROM information_schema.tables"
		 " WHERE table_schema = current_schema()"
		 " AND table_name = 'sleuth_schema'",
	/* A number as SQL's COUNT gives it, a type that column() knows. */
	.may_write = "SELECT COUNT(*) FROM (SELECT 1"
		     " WHERE has_table_privilege('sleuth_run', 'INSERT')"
		     " AND has_table_privilege('sleuth_document', 'INSERT')"
		     " AND current_setting('transaction_read_only') = 'off') t",
	.open = open_server,
	.close = close_connection,
	.name = name_of,
	.run = run,
};
