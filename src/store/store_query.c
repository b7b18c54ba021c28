/* SPDX-License-Identifier: Apache-2.0 */
/* store_query.c - results found in a store, and deleted from it. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/option_struct.h"
#include "base/status.h"
#include "machine/machine.h"
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/banned.h"

enum { TAGS_MOST = 16, ARGS_MOST = 11 + TAGS_MOST };

/* A query as SQL that selects the numbers of results. */
struct selection {
	struct sl_buf sql;
	struct sl__sql_value args[ARGS_MOST];
	size_t n_args;
	struct sl_buf tags[TAGS_MOST]; /* lines that are looked for */
	size_t n_tags;
	struct sl__arena arena; /* of the name of this machine */
};

static void
release(struct selection *s)
{
	sl__arena_release(&s->arena);
	sl_buf_release(&s->sql);
	for (size_t i = 0; i < s->n_tags; i++)
		sl_buf_release(&s->tags[i]);
}

/* " AND before$N", and the value for it. */
static void
add_condition(struct selection *s, const char *before,
	      struct sl__sql_value value)
{
	s->args[s->n_args++] = value;
	sl__buf_format(&s->sql, " AND %s$%zu", before, s->n_args);
}

static void
add_tags(struct selection *s, const struct sl_store_query *q,
	 const struct sl__database_kind *kind)
{
	for (size_t i = 0; i < q->n_tags; i++) {
		struct sl_buf *line = &s->tags[s->n_tags++];

		sl__buf_format(line, "\n%s=%s\n", q->tags[i].name,
			       q->tags[i].value);
		s->args[s->n_args++] = sl__sql_text(line->data);
		sl__buf_format(&s->sql, " AND %s(tags, $%zu) > 0",
			       kind->position, s->n_args);
	}
}

static void
add_ids(struct selection *s, const struct sl_store_query *q)
{
	if (!q->n_ids)
		return;
	sl__buf_text(&s->sql, " AND id IN (");
	for (size_t i = 0; i < q->n_ids; i++)
		sl__buf_format(&s->sql, "%s%" PRIu64, i ? ", " : "", q->ids[i]);
	sl__buf_text(&s->sql, ")");
}

static enum sl_status
read_query(struct sl_store_query *q, const struct sl_store_query *query,
	   struct sl__arena *arena, struct sl_error *err)
{
	enum sl_status rc =
		sl__options_copy(q, sizeof(*q), query, "sl_store_query", err);

	if (!rc && q->is_here)
		rc = sl__machine_identify(&q->machine, arena, err);
	return rc;
}

static enum sl_status
select_runs(struct selection *s, const struct sl_store_query *query,
	    const struct sl__database_kind *kind, struct sl_error *err)
{
	struct sl_store_query q;
	enum sl_status rc = read_query(&q, query, &s->arena, err);
	const struct {
		const char *column, *value;
	} texts[] = {
		{"command = ", q.command},
		{"branch = ", q.branch},
	};
	const struct {
		const char *column, *start;
	} starts[] = {{"machine", q.machine}, {"commit_id", q.commit}};

	if (rc)
		return rc;
	if (q.n_tags > TAGS_MOST)
		return sl__fail(err, SL_E_USAGE,
				"%zu tags are looked for; at most %d can be",
				q.n_tags, TAGS_MOST);
	sl__buf_text(&s->sql, "SELECT id FROM sleuth_run WHERE 1 = 1");
	add_ids(s, &q);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].value)
			add_condition(s, texts[i].column,
				      sl__sql_text(texts[i].value));
	}
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!starts[i].start)
			continue;
		s->args[s->n_args++] = sl__sql_text(starts[i].start);
		sl__buf_format(&s->sql, " AND %s(%s, $%zu) = 1", kind->position,
			       starts[i].column, s->n_args);
	}
	if (q.before_s > 0)
		add_condition(s, "saved_at < ", sl__sql_number(q.before_s));
	if (q.since_s > 0)
		add_condition(s, "saved_at >= ", sl__sql_number(q.since_s));
	if (q.is_latest)
		sl__buf_text(&s->sql, " AND id IN (SELECT MAX(run) FROM "
				      "sleuth_point p JOIN sleuth_run r ON "
				      "r.id = p.run WHERE time_ns > 0 GROUP BY "
				      "name, settings, machine)");
	if (q.model) {
		add_condition(s,
			      "id IN (SELECT run FROM sleuth_point WHERE "
			      "name = ",
			      sl__sql_text(q.model));
		s->args[s->n_args++] = sl__sql_text(q.model);
		sl__buf_format(&s->sql, " OR hash = $%zu)", s->n_args);
	}
	add_tags(s, &q, kind);
	/* The newest have the largest numbers. */
	sl__buf_format(&s->sql,
		       " ORDER BY id DESC LIMIT %" PRId64 " OFFSET %zu",
		       q.n_most ? (int64_t)q.n_most : INT64_MAX, q.n_skipped);
	rc = sl__buf_status(&s->sql, err);
	for (size_t i = 0; !rc && i < s->n_tags; i++)
		rc = sl__buf_status(&s->tags[i], err);
	return rc;
}

/* Finding. */

struct reader {
	struct sl__arena *arena;
	struct sl_stored_run *runs;
	struct sl_stored_point *points; /* of the last run */
	size_t n, cap, n_points, cap_points;
};

/* A text of a row, kept; NULL where the column is null. */
static const char *
keep(struct reader *r, const struct sl__sql_value *column)
{
	return column->kind == SL__SQL_TEXT
		       ? sl__arena_string(r->arena, column->bytes)
		       : NULL;
}

static double
number_or_nan(const struct sl__sql_value *column)
{
	return column->kind == SL__SQL_NULL ? (double)NAN : column->number;
}

/* Value, lower and upper end, and number of samples, in columns that follow
 * each other. */
static struct sl_estimate
read_estimate(const struct sl__sql_value *columns)
{
	return (struct sl_estimate){.value = number_or_nan(&columns[0]),
				    .lo = number_or_nan(&columns[1]),
				    .hi = number_or_nan(&columns[2]),
				    .n = (size_t)columns[3].whole};
}

/* Cuts the column of tags, which is "" or "\nNAME=VALUE\n...", into them. */
static int
read_tags(struct sl_stored_run *run, char *text, struct sl__arena *arena)
{
	struct sl_parameter *tags = NULL;
	size_t cap = 0;

	while (*text && text[1]) {
		char *name = text + 1;
		char *value = strchr(name, '=');
		char *end = value ? strchr(value, '\n') : NULL;

		if (!end || !sl__arena_grow(arena, &tags, run->n_tags, &cap,
					    sizeof(*tags)))
			return 0;
		*text = *value++ = '\0'; /* ends the value before, too */
		tags[run->n_tags++] = (struct sl_parameter){name, value};
		text = end;
	}
	*text = '\0';
	run->tags = tags;
	return 1;
}

enum {
	AT_ID,
	AT_SAVED,
	AT_COMMAND,
	AT_KIND,
	AT_VERSION,
	AT_MACHINE,
	AT_COMMIT,
	AT_BRANCH,
	AT_DIRTY,
	AT_TAGS,
	AT_ANCHOR,
	AT_ANCHOR_TIME,
	AT_ANCHOR_LO,
	AT_ANCHOR_HI,
	AT_ANCHOR_N,
	AT_NAME,
	AT_HASH,
	AT_SETTINGS,
	AT_TIME,
	AT_LO,
	AT_HI,
	AT_N
};

static int
add_run(struct reader *r, const struct sl__sql_value *row)
{
	struct sl_stored_run *run;
	char *tags;

	if (!sl__arena_grow(r->arena, &r->runs, r->n, &r->cap,
			    sizeof(*r->runs)))
		return 0;
	run = &r->runs[r->n++];
	*run = (struct sl_stored_run){
		.id = (uint64_t)row[AT_ID].whole,
		.saved_at_s = row[AT_SAVED].number,
		.command = keep(r, &row[AT_COMMAND]),
		.kind = keep(r, &row[AT_KIND]),
		.version = keep(r, &row[AT_VERSION]),
		.machine = keep(r, &row[AT_MACHINE]),
		.commit = keep(r, &row[AT_COMMIT]),
		.branch = keep(r, &row[AT_BRANCH]),
		.is_dirty = row[AT_DIRTY].whole != 0,
		.anchor = {.version = (uint64_t)row[AT_ANCHOR].whole,
			   .time_ns = read_estimate(&row[AT_ANCHOR_TIME])},
	};
	r->points = NULL;
	r->n_points = r->cap_points = 0;
	tags = sl__arena_string(r->arena, row[AT_TAGS].bytes);
	return run->command && run->kind && run->version && run->machine &&
	       tags && read_tags(run, tags, r->arena);
}

static enum sl_status
take_row(const struct sl__sql_value *row, size_t n, void *ctx,
	 struct sl_error *err)
{
	struct reader *r = ctx;
	struct sl_stored_point *point;

	(void)n;
	if (!r->n || r->runs[r->n - 1].id != (uint64_t)row[AT_ID].whole) {
		if (!add_run(r, row))
			return sl__fail_nomem(err);
	}
	if (row[AT_NAME].kind == SL__SQL_NULL)
		return SL_OK;
	if (!sl__arena_grow(r->arena, &r->points, r->n_points, &r->cap_points,
			    sizeof(*r->points)))
		return sl__fail_nomem(err);
	point = &r->points[r->n_points++];
	*point = (struct sl_stored_point){
		.name = keep(r, &row[AT_NAME]),
		.hash = keep(r, &row[AT_HASH]),
		.settings = keep(r, &row[AT_SETTINGS]),
		.time_ns = read_estimate(&row[AT_TIME])};
	r->runs[r->n - 1].points = r->points;
	r->runs[r->n - 1].n_points = r->n_points;
	return point->name ? SL_OK : sl__fail_nomem(err);
}

enum sl_status
sl_store_find(struct sl_stored_runs **out, struct sl_store *store,
	      const struct sl_store_query *query, struct sl_error *err)
{
	struct selection s = {.n_args = 0};
	struct sl_buf sql = {0};
	struct sl_stored_runs *runs;
	struct reader reader = {.n = 0};
	enum sl_status rc;

	*out = NULL;
	runs = sl__arena_object_new(&reader.arena, NULL, sizeof(*runs));
	if (!runs)
		return sl__fail_nomem(err);
	rc = select_runs(&s, query, store->kind, err);
	sl__buf_format(&sql,
		       "SELECT r.id, saved_at, command, kind, version, machine,"
		       " commit_id, branch, dirty, tags, anchor, anchor_ns,"
		       " anchor_lo_ns, anchor_hi_ns, anchor_n, name, hash,"
		       " settings, time_ns, lo_ns, hi_ns, n"
		       " FROM sleuth_run r LEFT JOIN sleuth_point p"
		       " ON p.run = r.id WHERE r.id IN (%s) ORDER BY r.id, nth",
		       s.sql.data ? s.sql.data : "");
	if (!rc)
		rc = sl__buf_status(&sql, err);
	if (!rc)
		rc = store->kind->run(
			store->db,
			&(struct sl__statement){.sql = sql.data,
						.args = s.args,
						.n_args = s.n_args,
						.row = take_row,
						.ctx = &reader},
			err);
	runs->list = reader.runs;
	runs->n = reader.n;
	sl_buf_release(&sql);
	release(&s);
	*out = sl__arena_object_free_on_error(runs, rc);
	return rc;
}

void
sl_stored_runs_free(struct sl_stored_runs *runs)
{
	sl__arena_object_free(runs);
}

/* Deleting. */

static enum sl_status
count_row(const struct sl__sql_value *row, size_t n, void *ctx,
	  struct sl_error *err)
{
	size_t *count = ctx;

	(void)row;
	(void)n;
	(void)err;
	++*count;
	return SL_OK;
}

enum sl_status
sl_store_delete(struct sl_store *store, size_t *n_deleted,
		const struct sl_store_query *query, struct sl_error *err)
{
	struct selection s = {.n_args = 0};
	struct sl_buf sql = {0};
	enum sl_status rc = select_runs(&s, query, store->kind, err);

	*n_deleted = 0;
	sl__buf_format(&sql, "DELETE FROM sleuth_run WHERE id IN (%s)",
		       s.sql.data ? s.sql.data : "");
	if (!query || !query->n_ids) {
		s.args[s.n_args++] = sl__sql_text("\n" SL_TAG_PINNED "=");
		sl__buf_format(&sql, " AND %s(tags, $%zu) = 0",
			       store->kind->position, s.n_args);
	}
	sl__buf_text(&sql, " RETURNING id");
	if (!rc)
		rc = sl__buf_status(&sql, err);
	if (!rc)
		rc = store->kind->run(
			store->db,
			&(struct sl__statement){.sql = sql.data,
						.args = s.args,
						.n_args = s.n_args,
						.row = count_row,
						.ctx = n_deleted},
			err);
	sl_buf_release(&sql);
	release(&s);
	return rc;
}
