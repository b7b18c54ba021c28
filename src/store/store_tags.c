/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_tags.c - tags of results that are in the store already.
 *
 * Tags are read and written in one transaction that other writers wait for, so
 * that of two changes at a time none is lost.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "store/store.h"

#include <inttypes.h>
#include <string.h>

#include "base/banned.h"

static enum sl_status
write_tags(struct sl_store *store, const struct sl_stored_run *run,
	   struct sl_error *err)
{
	struct sl_buf text = {0};
	enum sl_status rc = sl__store_tags_text(&text, run, err);
	const struct sl__sql_value args[] = {
		sl__sql_text(text.data ? text.data : ""),
		sl__sql_whole(run->id)};

	if (!rc)
		rc = sl__store_run(store,
				   "UPDATE sleuth_run SET tags = $1 WHERE id = "
				   "$2",
				   args, 2, err);
	sl_buf_release(&text);
	return rc;
}

/* The run's tags but for that name, and 'tag' where it has a value. */
static enum sl_status
change(struct sl_store *store, const struct sl_stored_run *run,
       const struct sl_parameter *tag, struct sl_error *err)
{
	struct sl_stored_run changed = *run;
	struct sl_parameter *tags;
	struct sl__arena arena;
	enum sl_status rc;

	sl__arena_init(&arena, NULL);
	tags = sl__arena_array(&arena, run->n_tags + 1, sizeof(*tags));
	changed.tags = tags;
	changed.n_tags = 0;
	for (size_t i = 0; tags && i < run->n_tags; i++) {
		if (strcmp(run->tags[i].name, tag->name) != 0)
			tags[changed.n_tags++] = run->tags[i];
	}
	if (tags && tag->value)
		tags[changed.n_tags++] = *tag;
	rc = tags ? write_tags(store, &changed, err) : sl__fail_nomem(err);
	sl__arena_release(&arena);
	return rc;
}

static enum sl_status
change_one(struct sl_store *store, uint64_t id, const struct sl_parameter *tag,
	   struct sl_error *err)
{
	const struct sl_store_query query = {
		.struct_size = sizeof(query), .ids = &id, .n_ids = 1};
	struct sl_stored_runs *runs;
	enum sl_status rc = sl_store_find(&runs, store, &query, err);

	if (rc)
		return rc;
	rc = runs->n ? change(store, runs->list, tag, err)
		     : sl__fail(err, SL_E_DATA,
				"run:%" PRIu64 " is not in the store", id);
	sl_stored_runs_free(runs);
	return rc;
}

/* Takes the tag away from all that have it with this value. */
static enum sl_status
take_away(struct sl_store *store, const struct sl_parameter *tag,
	  struct sl_error *err)
{
	const struct sl_store_query query = {
		.struct_size = sizeof(query), .tags = tag, .n_tags = 1};
	const struct sl_parameter none = {tag->name, NULL};
	struct sl_stored_runs *runs;
	enum sl_status rc = sl_store_find(&runs, store, &query, err);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < runs->n; i++)
		rc = change(store, &runs->list[i], &none, err);
	sl_stored_runs_free(runs);
	return rc;
}

enum sl_status
sl_store_tag(struct sl_store *store, uint64_t id,
	     const struct sl_parameter *tag, int is_unique,
	     struct sl_error *err)
{
	enum sl_status rc = sl__store_begin(store, err);

	if (rc)
		return rc;
	if (store->kind->serialise)
		rc = sl__store_run(store, store->kind->serialise, NULL, 0, err);
	if (!rc && is_unique && tag->value)
		rc = take_away(store, tag, err);
	if (!rc)
		rc = change_one(store, id, tag, err);
	return sl__store_end(store, rc, err);
}
