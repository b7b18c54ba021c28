/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_schema.c - the tables of a store, version by version.
 *
 * Every version is a list of statements that turns the tables of the version
 * before it into its own.  A version that was released is never edited.  The
 * statements are the same for all kinds of database but for the type of a key
 * that counts itself.
 */
#include "base/buf.h"
#include "base/status.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/banned.h"

/* Where 'after' is set, the type of a key that counts itself comes between. */
struct step {
	uint64_t version;
	const char *sql, *after;
};

static const struct step steps[] = {
	{1, "CREATE TABLE sleuth_schema (version BIGINT NOT NULL)", NULL},
	{1, "INSERT INTO sleuth_schema VALUES (0)", NULL},
	{1, "CREATE TABLE sleuth_run (id ",
	 ", saved_at DOUBLE PRECISION NOT NULL, command TEXT NOT NULL,"
	 " kind TEXT NOT NULL, version TEXT NOT NULL, machine TEXT NOT NULL,"
	 " commit_id TEXT, branch TEXT, dirty BIGINT NOT NULL,"
	 " tags TEXT NOT NULL)"},
	{1,
	 "CREATE TABLE sleuth_point ("
	 "run BIGINT NOT NULL REFERENCES sleuth_run (id) ON DELETE CASCADE,"
	 " nth BIGINT NOT NULL, name TEXT NOT NULL, hash TEXT, settings TEXT,"
	 " time_ns DOUBLE PRECISION, lo_ns DOUBLE PRECISION,"
	 " hi_ns DOUBLE PRECISION, n BIGINT NOT NULL, PRIMARY KEY (run, nth))",
	 NULL},
	{1, "CREATE INDEX sleuth_point_name ON sleuth_point (name, run)", NULL},
	{1, "CREATE INDEX sleuth_point_hash ON sleuth_point (hash, run)", NULL},
	{1,
	 "CREATE TABLE sleuth_document (run BIGINT PRIMARY KEY"
	 " REFERENCES sleuth_run (id) ON DELETE CASCADE,"
	 " deflated BYTEA NOT NULL)",
	 NULL},
	{2, "CREATE TABLE sleuth_live (id ",
	 ", machine TEXT NOT NULL, started_at DOUBLE PRECISION NOT NULL,"
	 " beat_at DOUBLE PRECISION NOT NULL, command TEXT NOT NULL,"
	 " name TEXT NOT NULL, phase TEXT NOT NULL,"
	 " share DOUBLE PRECISION NOT NULL, remaining_s DOUBLE PRECISION)"},
	/* NULL: no anchor was timed. */
	{3, "ALTER TABLE sleuth_run ADD COLUMN anchor BIGINT", NULL},
	{3, "ALTER TABLE sleuth_run ADD COLUMN anchor_ns DOUBLE PRECISION",
	 NULL},
	{3, "ALTER TABLE sleuth_run ADD COLUMN anchor_lo_ns DOUBLE PRECISION",
	 NULL},
	{3, "ALTER TABLE sleuth_run ADD COLUMN anchor_hi_ns DOUBLE PRECISION",
	 NULL},
	{3, "ALTER TABLE sleuth_run ADD COLUMN anchor_n BIGINT", NULL},
};
enum { N_STEPS = sizeof(steps) / sizeof(steps[0]) };

uint64_t
sl__store_version(void)
{
	return steps[N_STEPS - 1].version;
}

static enum sl_status
take_number(const struct sl__sql_value *row, size_t n, void *ctx,
	    struct sl_error *err)
{
	int64_t *out = ctx;

	(void)n;
	(void)err;
	*out = row[0].whole;
	return SL_OK;
}

static enum sl_status
ask_number(int64_t *out, struct sl_store *store, const char *sql,
	   struct sl_error *err)
{
	const struct sl__statement ask = {
		.sql = sql, .row = take_number, .ctx = out};

	*out = 0;
	return store->kind->run(store->db, &ask, err);
}

/* The version of the tables that are there; 0: none are. */
static enum sl_status
find_version(uint64_t *out, struct sl_store *store, struct sl_error *err)
{
	int64_t found;
	enum sl_status rc = ask_number(&found, store, store->kind->probe, err);

	*out = 0;
	if (!rc && found < 0)
		return sl__fail(err, SL_E_DATA,
				"%s: a database with other tables, not a store "
				"of results",
				store->kind->name(store->db));
	if (rc || !found)
		return rc;
	rc = ask_number(&found, store, "SELECT version FROM sleuth_schema",
			err);
	*out = (uint64_t)found;
	if (!rc && *out > sl__store_version())
		return sl__fail(err, SL_E_DATA,
				"%s: the store is of version %" PRIu64
				", made by a newer Sleuth; this one knows "
				"versions up to %" PRIu64,
				store->kind->name(store->db), *out,
				sl__store_version());
	return rc;
}

static enum sl_status
take_step(struct sl_store *store, const struct step *step, struct sl_error *err)
{
	struct sl_buf sql = {0};
	enum sl_status rc;

	sl__buf_text(&sql, step->sql);
	if (step->after) {
		sl__buf_text(&sql, store->kind->serial);
		sl__buf_text(&sql, step->after);
	}
	rc = sl__buf_status(&sql, err);
	if (!rc)
		rc = sl__store_run(store, sql.data, NULL, 0, err);
	sl_buf_release(&sql);
	return rc;
}

/* Within a transaction: another process may have migrated meanwhile. */
static enum sl_status
migrate_alone(struct sl_store *store, uint64_t version, struct sl_error *err)
{
	const struct sl__sql_value to = sl__sql_whole(version);
	enum sl_status rc = SL_OK;
	uint64_t from = 0;

	if (store->kind->serialise)
		rc = sl__store_run(store, store->kind->serialise, NULL, 0, err);
	if (!rc)
		rc = find_version(&from, store, err);
	for (size_t i = 0; !rc && i < N_STEPS; i++) {
		if (steps[i].version > from && steps[i].version <= version)
			rc = take_step(store, &steps[i], err);
	}
	if (!rc && from < version)
		rc = sl__store_run(store,
				   "UPDATE sleuth_schema SET version = "
				   "$1",
				   &to, 1, err);
	return rc;
}

enum sl_status
sl__store_migrate(struct sl_store *store, uint64_t version,
		  struct sl_error *err)
{
	uint64_t from;
	enum sl_status rc = find_version(&from, store, err);
	char step[96];

	if (rc || from >= version)
		return rc;
	rc = sl__store_begin(store, err);
	if (!rc)
		rc = sl__store_end(store, migrate_alone(store, version, err),
				   err);
	if (rc && from) {
		snprintf(step, sizeof(step),
			 "bringing the store from version %" PRIu64
			 " to %" PRIu64,
			 from, version);
		rc = sl__error_prefix(err, rc, step);
	}
	return rc;
}

enum sl_status
sl__store_check_writable(struct sl_store *store, struct sl_error *err)
{
	enum sl_status rc = sl__store_begin(store, err);
	int64_t may = 0;

	if (!rc)
		rc = ask_number(&may, store, store->kind->may_write, err);
	if (!rc)
		rc = sl__store_run(store, "ROLLBACK", NULL, 0, err);
	if (!rc && !may)
		rc = sl__fail(err, SL_E_IO, "%s: this user may not add results",
			      store->kind->name(store->db));
	return rc;
}
