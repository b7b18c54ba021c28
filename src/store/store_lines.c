/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_lines.c - results as lines of JSON, from a store and into one.
 *
 * A line is an object: what the store knows of the result, and last, under
 * "result", its document, whose line breaks are left out.
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/status.h"
#include "sleuth/results.h"
#include "store/store.h"
#include "store/stored_points.h"

#include <math.h>
#include <string.h>

#include "base/banned.h"

/* A text, or nothing where there is none. */
static void
add_text(struct sl__json *json, const char *key, const char *text)
{
	if (text)
		sl__json_text(json, key, text);
}

static void
write_labels(struct sl_buf *out, const struct sl_stored_run *run)
{
	struct sl__json json;

	sl__json_init(&json, out);
	json.is_flat = 1;
	sl__json_object(&json, NULL);
	sl__json_integer(&json, "run", run->id);
	sl__json_number(&json, "saved_at_s", run->saved_at_s);
	sl__json_text(&json, "machine", run->machine);
	add_text(&json, "commit", run->commit);
	add_text(&json, "branch", run->branch);
	sl__json_boolean(&json, "dirty", run->is_dirty);
	sl__json_object(&json, "tags");
	for (size_t i = 0; i < run->n_tags; i++)
		sl__json_text(&json, run->tags[i].name, run->tags[i].value);
	sl__json_end_object(&json);
	sl__json_array(&json, "hashes");
	for (size_t i = 0; i < run->n_points; i++)
		sl__json_text(&json, NULL,
			      run->points[i].hash ? run->points[i].hash : "");
	sl__json_end_array(&json);
	if (!run->anchor.version)
		return;
	sl__json_integer(&json, "anchor", run->anchor.version);
	sl__json_number(&json, "anchor_ns", run->anchor.time_ns.value);
	sl__json_number(&json, "anchor_lo_ns", run->anchor.time_ns.lo);
	sl__json_number(&json, "anchor_hi_ns", run->anchor.time_ns.hi);
	sl__json_integer(&json, "anchor_n", run->anchor.time_ns.n);
}

/* A text in JSON holds no line break as such: all of them are between. */
static void
add_flat(struct sl_buf *out, const struct sl_buf *document)
{
	const char *at = document->data, *end = at + document->n_bytes;

	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));

		line = line ? line : end;
		sl__buf_add(out, at, (size_t)(line - at));
		at = line;
		while (at < end && (*at == '\n' || *at == ' '))
			at++;
	}
}

enum sl_status
sl_store_export(struct sl_store *store, uint64_t id, struct sl_buf *line,
		struct sl_error *err)
{
	const struct sl_store_query query = {
		.struct_size = sizeof(query), .ids = &id, .n_ids = 1};
	struct sl_buf document = {0};
	struct sl_stored_runs *runs;
	enum sl_status rc = sl_store_find(&runs, store, &query, err);

	if (!rc)
		rc = sl_store_get(store, id, &document, err);
	if (!rc && !runs->n)
		rc = sl__fail(err, SL_E_DATA, "deleted meanwhile");
	if (!rc) {
		write_labels(line, runs->list);
		sl__buf_text(line, ", \"" SL__STORE_LINE_RESULT "\": ");
		add_flat(line, &document);
		sl__buf_text(line, "}\n");
		rc = sl__buf_status(line, err);
	}
	sl_stored_runs_free(runs);
	sl_buf_release(&document);
	return rc;
}

static enum sl_status
read_tags(struct sl_stored_run *run, const struct sl__json_value *line,
	  struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__json_value *tags = sl__json_member(line, "tags");
	struct sl_parameter *list;

	if (!tags || tags->kind != SL__JSON_OBJECT)
		return SL_OK;
	list = sl__arena_array(arena, tags->n, sizeof(*list));
	if (!list)
		return sl__fail_nomem(err);
	run->tags = list;
	for (const struct sl__json_value *t = tags->first; t; t = t->next) {
		if (t->kind != SL__JSON_TEXT)
			return sl__fail(err, SL_E_DATA,
					"tag '%s' is not a text", t->key);
		list[run->n_tags++] = (struct sl_parameter){t->key, t->text};
	}
	return SL_OK;
}

static enum sl_status
read_hashes(struct sl_stored_run *run, const struct sl__json_value *line,
	    struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__json_value *hashes = sl__json_member(line, "hashes");
	const struct sl__json_value *at = hashes ? hashes->first : NULL;
	struct sl_stored_point *points =
		sl__arena_realloc_array(arena, run->points, run->n_points,
					run->n_points, sizeof(*points));

	if (!points)
		return sl__fail_nomem(err);
	for (size_t i = 0; at && i < run->n_points; i++, at = at->next) {
		if (at->kind == SL__JSON_TEXT && *at->text)
			points[i].hash = at->text;
	}
	run->points = points;
	return SL_OK;
}

static double
number_at(const struct sl__json_value *line, const char *key)
{
	const struct sl__json_value *v = sl__json_member(line, key);

	return v && v->kind == SL__JSON_NUMBER ? v->number : (double)NAN;
}

/* Lines of versions that had no anchor have none. */
static void
read_anchor(struct sl_stored_run *run, const struct sl__json_value *line)
{
	double version = number_at(line, "anchor");
	double n = number_at(line, "anchor_n");

	if (!(version >= 1 && version < 1e9))
		return;
	run->anchor = (struct sl_anchor_reading){
		.version = (uint64_t)version,
		.time_ns = {.value = number_at(line, "anchor_ns"),
			    .lo = number_at(line, "anchor_lo_ns"),
			    .hi = number_at(line, "anchor_hi_ns"),
			    .n = n >= 1 && n < 1e9 ? (size_t)n : 0}};
}

static enum sl_status
read_line(struct sl_stored_run *run, const struct sl__json_value *line,
	  struct sl__arena *arena, struct sl_error *err)
{
	const struct sl__json_value *result =
		sl__json_member(line, SL__STORE_LINE_RESULT);
	const struct sl__json_value *saved =
		sl__json_member(line, "saved_at_s");
	const struct sl__json_value *dirty = sl__json_member(line, "dirty");
	enum sl_status rc;

	run->machine = sl__json_member_text(line, "machine");
	if (!result || !saved || saved->kind != SL__JSON_NUMBER ||
	    !run->machine)
		return sl__fail(err, SL_E_DATA,
				"no line of an export: result, saved_at_s or "
				"machine is not there");
	run->saved_at_s = saved->number;
	run->commit = sl__json_member_text(line, "commit");
	run->branch = sl__json_member_text(line, "branch");
	run->is_dirty = dirty && dirty->number > 0;
	read_anchor(run, line);
	rc = sl__stored_run_read(run, result, arena, err);
	if (!rc)
		rc = read_tags(run, line, arena, err);
	return rc ? rc : read_hashes(run, line, arena, err);
}

/* The document as the line has it: an object behind its key, up to the end of
 * the line's object.  A tag of that name is a text. */
static const char *
find_document(const char *line, size_t n_bytes, size_t *n)
{
	static const char key[] = "\"" SL__STORE_LINE_RESULT "\":";
	const char *end = line + n_bytes;
	size_t n_key = sizeof(key) - 1;

	while (end > line && end[-1] != '}')
		end--;
	for (const char *at = line; (size_t)(end - at) > n_key; at++) {
		const char *value = at + n_key;

		if (memcmp(at, key, n_key) != 0)
			continue;
		while (*value == ' ')
			value++;
		*n = (size_t)(end - value) - 1;
		if (*value == '{')
			return value;
	}
	*n = 0;
	return end;
}

enum sl_status
sl_store_import(struct sl_store *store, uint64_t *id, const char *line,
		size_t n_bytes, struct sl_error *err)
{
	const struct sl__json_value *root;
	struct sl_stored_run run = {0};
	struct sl_result *result = NULL;
	struct sl__arena arena;
	const char *document;
	enum sl_status rc;
	size_t n;

	*id = 0;
	sl__arena_init(&arena, NULL);
	rc = sl__json_read(&root, line, n_bytes, &arena, err);
	if (!rc)
		rc = read_line(&run, root, &arena, err);
	document = find_document(line, n_bytes, &n);
	if (!rc)
		rc = sl_result_read(&result, document, n, NULL, err);
	if (!rc)
		rc = sl__store_put_run(store, id, &run, document, n, err);
	sl_result_free(result);
	sl__arena_release(&arena);
	return rc;
}
