/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - results kept in a database.
 *
 * A result is a row of sleuth_run, a row of sleuth_point for each model or
 * command in it, and its document, deflated, in a table of its own so that
 * searching does not read it.  Tags stand in one column as lines NAME=VALUE,
 * with a line break before the first and after the last.
 */
#include "store/store.h"
#include "base/buf.h"
#include "base/deflate.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "machine/machine.h"
#include "store/stored_points.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/banned.h"

enum { PATH_MOST = 4096 };

/* A profile of a model with 10,000 nodes takes some 20 MB. */
static const size_t DOCUMENT_MOST_BYTES = (size_t)1 << 30;

struct sl__sql_value
sl__sql_text(const char *text)
{
	return (struct sl__sql_value){.kind = text ? SL__SQL_TEXT
						   : SL__SQL_NULL,
				      .bytes = text,
				      .n_bytes = text ? strlen(text) : 0};
}

struct sl__sql_value
sl__sql_whole(uint64_t whole)
{
	return (struct sl__sql_value){.kind = SL__SQL_WHOLE,
				      .whole = (int64_t)whole,
				      .number = (double)whole};
}

struct sl__sql_value
sl__sql_number(double number)
{
	return (struct sl__sql_value){.kind = isfinite(number) ? SL__SQL_NUMBER
							       : SL__SQL_NULL,
				      .number = number};
}

enum sl_status
sl__store_run(struct sl_store *store, const char *sql,
	      const struct sl__sql_value *args, size_t n_args,
	      struct sl_error *err)
{
	const struct sl__statement statement = {
		.sql = sql, .args = args, .n_args = n_args};

	return store->kind->run(store->db, &statement, err);
}

enum sl_status
sl__store_begin(struct sl_store *store, struct sl_error *err)
{
	return sl__store_run(store, store->kind->begin, NULL, 0, err);
}

enum sl_status
sl__store_end(struct sl_store *store, enum sl_status status,
	      struct sl_error *err)
{
	if (!status)
		status = sl__store_run(store, "COMMIT", NULL, 0, err);
	/* Without a connection the server does so by itself. */
	if (status && sl__store_run(store, "ROLLBACK", NULL, 0, NULL))
		return status;
	return status;
}

static enum sl_status
take_text(const struct sl__sql_value *row, size_t n, void *ctx,
	  struct sl_error *err)
{
	struct sl_buf *out = ctx;

	(void)n;
	sl__buf_add(out, row[0].bytes, row[0].n_bytes);
	return sl__buf_status(out, err);
}

enum sl_status
sl__store_state(struct sl_store *store, struct sl_buf *out,
		struct sl_error *err)
{
	const struct sl__statement ask = {
		.sql = store->kind->state, .row = take_text, .ctx = out};

	return store->kind->run(store->db, &ask, err);
}

/* Opening. */

/* Makes the folders of 'path' that are missing, for the user alone. */
static enum sl_status
make_folders(char *path, struct sl_error *err)
{
	for (char *slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return sl__fail_errno(err, SL_E_IO, errno, "%s", path);
		*slash = '/';
	}
	return SL_OK;
}

static enum sl_status
default_place(char path[PATH_MOST], int must_exist, struct sl_error *err)
{
	const char *base = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	int has_base = base && base[0] == '/';
	int n;

	if (!has_base && !(home && home[0] == '/'))
		return sl__fail(err, SL_E_ABSENT,
				"neither XDG_DATA_HOME nor HOME names a "
				"folder for results");
	n = snprintf(path, PATH_MOST, "%s%s/sleuth/results.db",
		     has_base ? base : home, has_base ? "" : "/.local/share");
	if (n < 0 || n >= PATH_MOST)
		return sl__fail(err, SL_E_IO,
				"the name of the data folder is too long");
	return must_exist ? SL_OK : make_folders(path, err);
}

/* Whether it begins as a URL does, with a scheme (RFC 3986, section 3.1), ':'
 * and '/'.  One letter is none: "C:/" begins a path elsewhere. */
static int
is_url(const char *where)
{
	size_t n = strspn(where, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

	return n > 1 && where[n] == ':' && where[n + 1] == '/';
}

/* The kind of database that 'where' names.  The text of a URL that names none
 * is not shown: it may hold a password. */
static enum sl_status
find_kind(const struct sl__database_kind **out, const char *where,
	  struct sl_error *err)
{
	static const char *const schemes[] = {"postgresql://", "postgres://"};

	*out = &sl__sqlite_database;
	if (!is_url(where))
		return SL_OK;
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (!strncmp(where, schemes[i], strlen(schemes[i]))) {
			*out = &sl__postgres_database;
			return SL_OK;
		}
	}
	return sl__fail(err, SL_E_DATA,
			"a store is a file, or a URL that begins with "
			"postgresql://; this URL begins with %.*s:",
			(int)strcspn(where, ":"), where);
}

enum sl_status
sl_store_open(struct sl_store **out, const struct sl_store_options *options,
	      struct sl_error *err)
{
	const char *chosen = getenv("SLEUTH_DB");
	struct sl_store_options o;
	struct sl__arena *arena;
	struct sl_store *store;
	char place[PATH_MOST];
	enum sl_status rc;

	*out = NULL;
	rc = sl__options_copy(&o, sizeof(o), options, "sl_store_options", err);
	if (!rc && !o.where && chosen && *chosen)
		o.where = chosen;
	if (!rc && !o.where) {
		rc = default_place(place, o.must_exist, err);
		o.where = place;
	}
	if (rc)
		return rc;
	store = sl__arena_object_new(&arena, NULL, sizeof(*store));
	if (!store)
		return sl__fail_nomem(err);
	rc = find_kind(&store->kind, o.where, err);
	if (!rc)
		rc = store->kind->open(&store->db, o.where, o.must_exist, err);
	if (!rc)
		rc = sl__store_migrate(store, sl__store_version(), err);
	if (!rc && o.must_write)
		rc = sl__store_check_writable(store, err);
	if (rc) {
		sl_store_close(store);
		return rc;
	}
	*out = store;
	return SL_OK;
}

void
sl_store_close(struct sl_store *store)
{
	if (!store)
		return;
	store->kind->close(store->db);
	sl__arena_object_free(store);
}

/* Putting. */

enum sl_status
sl__store_tags_text(struct sl_buf *out, const struct sl_stored_run *run,
		    struct sl_error *err)
{
	sl__buf_text(out, run->n_tags ? "\n" : "");
	for (size_t i = 0; i < run->n_tags; i++) {
		const struct sl_parameter *tag = &run->tags[i];

		if (!*tag->name || strpbrk(tag->name, "=\n") ||
		    strchr(tag->value, '\n'))
			return sl__fail(err, SL_E_USAGE,
					"tag '%s=%s': a name has no '=', and "
					"neither a name nor a value has a "
					"line break",
					tag->name, tag->value);
		sl__buf_format(out, "%s=%s\n", tag->name, tag->value);
	}
	return sl__buf_status(out, err);
}

static enum sl_status
take_id(const struct sl__sql_value *row, size_t n, void *ctx,
	struct sl_error *err)
{
	uint64_t *id = ctx;

	(void)n;
	(void)err;
	*id = (uint64_t)row[0].whole;
	return SL_OK;
}

static enum sl_status
put_row(struct sl_store *store, uint64_t *id, const struct sl_stored_run *run,
	struct sl_error *err)
{
	struct sl_buf tags = {0};
	enum sl_status rc = sl__store_tags_text(&tags, run, err);
	const struct sl_anchor_reading *anchor = &run->anchor;
	const struct sl__sql_value none = {.kind = SL__SQL_NULL};
	const struct sl__sql_value args[] = {
		sl__sql_number(run->saved_at_s),
		sl__sql_text(run->command),
		sl__sql_text(run->kind),
		sl__sql_text(run->version),
		sl__sql_text(run->machine),
		sl__sql_text(run->commit),
		sl__sql_text(run->branch),
		sl__sql_whole(run->is_dirty != 0),
		sl__sql_text(tags.data ? tags.data : ""),
		anchor->version ? sl__sql_whole(anchor->version) : none,
		anchor->version ? sl__sql_number(anchor->time_ns.value) : none,
		anchor->version ? sl__sql_number(anchor->time_ns.lo) : none,
		anchor->version ? sl__sql_number(anchor->time_ns.hi) : none,
		anchor->version ? sl__sql_whole(anchor->time_ns.n) : none,
	};
	const struct sl__statement insert = {
		.sql = "INSERT INTO sleuth_run (saved_at, command, kind,"
		       " version, machine, commit_id, branch, dirty, tags,"
		       " anchor, anchor_ns, anchor_lo_ns, anchor_hi_ns,"
		       " anchor_n) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,"
		       " $10, $11, $12, $13, $14)"
		       " RETURNING id",
		.args = args,
		.n_args = sizeof(args) / sizeof(args[0]),
		.row = take_id,
		.ctx = id};

	if (!rc)
		rc = store->kind->run(store->db, &insert, err);
	sl_buf_release(&tags);
	return rc;
}

static enum sl_status
put_point(struct sl_store *store, uint64_t id, size_t nth,
	  const struct sl_stored_point *point, struct sl_error *err)
{
	const struct sl__sql_value args[] = {
		sl__sql_whole(id),
		sl__sql_whole(nth),
		sl__sql_text(point->name),
		sl__sql_text(point->hash),
		sl__sql_text(point->settings),
		sl__sql_number(point->time_ns.value),
		sl__sql_number(point->time_ns.lo),
		sl__sql_number(point->time_ns.hi),
		sl__sql_whole(point->time_ns.n),
	};

	return sl__store_run(store,
			     "INSERT INTO sleuth_point (run, nth, name, hash,"
			     " settings, time_ns, lo_ns, hi_ns, n)"
			     " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
			     args, sizeof(args) / sizeof(args[0]), err);
}

static enum sl_status
put_parts(struct sl_store *store, uint64_t *id, const struct sl_stored_run *run,
	  const struct sl_buf *deflated, struct sl_error *err)
{
	struct sl__sql_value args[] = {{.kind = SL__SQL_NULL},
				       {.kind = SL__SQL_BYTES,
					.bytes = deflated->data,
					.n_bytes = deflated->n_bytes}};
	enum sl_status rc = put_row(store, id, run, err);

	for (size_t i = 0; !rc && i < run->n_points; i++)
		rc = put_point(store, *id, i, &run->points[i], err);
	args[0] = sl__sql_whole(*id);
	if (!rc)
		rc = sl__store_run(store,
				   "INSERT INTO sleuth_document (run, deflated)"
				   " VALUES ($1, $2)",
				   args, 2, err);
	return rc;
}

enum sl_status
sl__store_put_run(struct sl_store *store, uint64_t *id,
		  const struct sl_stored_run *run, const char *json,
		  size_t n_bytes, struct sl_error *err)
{
	struct sl_buf small = {0};
	enum sl_status rc = sl__deflate(&small, json, n_bytes, err);

	*id = 0;
	if (!rc)
		rc = sl__store_begin(store, err);
	if (!rc)
		rc = sl__store_end(store,
				   put_parts(store, id, run, &small, err), err);
	if (rc)
		*id = 0;
	sl_buf_release(&small);
	return rc;
}

double
sl__store_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum sl_status
describe(struct sl_stored_run *run, const struct sl_labels *labels,
	 const struct sl__json_value *root, struct sl__arena *arena,
	 struct sl_error *err)
{
	struct sl_stored_point *points;
	enum sl_status rc = sl__stored_run_read(run, root, arena, err);

	run->saved_at_s = labels->saved_at_s > 0 ? labels->saved_at_s
						 : sl__store_now_s();
	run->machine = labels->machine;
	run->commit = labels->commit;
	run->branch = labels->branch;
	run->is_dirty = labels->is_dirty;
	run->tags = labels->tags;
	run->n_tags = labels->n_tags;
	run->anchor = labels->anchor;
	if (!rc && !run->machine)
		rc = sl__machine_identify(&run->machine, arena, err);
	if (rc)
		return rc;
	points = sl__arena_realloc_array(arena, run->points, run->n_points,
					 run->n_points, sizeof(*points));
	if (!points)
		return sl__fail_nomem(err);
	for (size_t i = 0; i < run->n_points; i++)
		points[i].hash = sl__stored_model_hash(root, i, arena);
	run->points = points;
	return SL_OK;
}

enum sl_status
sl_store_put(struct sl_store *store, uint64_t *id, const char *json,
	     size_t n_bytes, const struct sl_labels *labels,
	     struct sl_error *err)
{
	const struct sl__json_value *root;
	struct sl_stored_run run = {0};
	struct sl_labels mine;
	struct sl__arena arena;
	enum sl_status rc;

	*id = 0;
	sl__arena_init(&arena, NULL);
	rc = sl__options_copy(&mine, sizeof(mine), labels, "sl_labels", err);
	if (!rc)
		rc = sl__json_read(&root, json, n_bytes, &arena, err);
	if (!rc)
		rc = describe(&run, &mine, root, &arena, err);
	if (!rc)
		rc = sl__store_put_run(store, id, &run, json, n_bytes, err);
	sl__arena_release(&arena);
	return rc;
}

/* Getting. */

struct document {
	struct sl_buf *json;
	int is_found;
};

static enum sl_status
inflate(const struct sl__sql_value *row, size_t n, void *ctx,
	struct sl_error *err)
{
	struct document *d = ctx;

	(void)n;
	d->is_found = 1;
	return sl__inflate_all(d->json, DOCUMENT_MOST_BYTES, row[0].bytes,
			       row[0].n_bytes, SL__DEFLATE_ZLIB, err);
}

enum sl_status
sl_store_get(struct sl_store *store, uint64_t id, struct sl_buf *json,
	     struct sl_error *err)
{
	const struct sl__sql_value args[] = {sl__sql_whole(id)};
	struct document found = {.json = json};
	const struct sl__statement select = {
		.sql = "SELECT deflated FROM sleuth_document WHERE run = $1",
		.args = args,
		.n_args = 1,
		.row = inflate,
		.ctx = &found};
	enum sl_status rc = store->kind->run(store->db, &select, err);

	if (!rc && !found.is_found)
		rc = sl__fail(err, SL_E_DATA,
			      "run:%" PRIu64 " is not in the store", id);
	return rc;
}
