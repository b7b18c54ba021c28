/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_live.c - measurements that run just now, and how far they are.
 *
 * A row is written again every second or so.  One that was not for a while is
 * of a process that died or a machine that is off: readers pass over it, and
 * the next measurement that begins removes it.
 */
#include "base/arena.h"
#include "base/status.h"
#include "machine/machine.h"
#include "store/store.h"

#include <math.h>

#include "base/banned.h"

static const double STALE_S = 15, REMOVED_S = 60;

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
insert(struct sl_store *store, struct sl_live_run *run, struct sl_error *err)
{
	const struct sl__sql_value old[] = {
		sl__sql_number(sl__store_now_s() - REMOVED_S)};
	struct sl__arena arena;
	const char *machine = run->machine;
	enum sl_status rc;

	sl__arena_init(&arena, NULL);
	rc = machine ? SL_OK : sl__machine_identify(&machine, &arena, err);
	if (!rc)
		rc = sl__store_run(store,
				   "DELETE FROM sleuth_live WHERE beat_at < $1",
				   old, 1, err);
	if (!rc) {
		const struct sl__sql_value args[] = {
			sl__sql_text(machine),
			sl__sql_number(sl__store_now_s()),
			sl__sql_text(run->command),
			sl__sql_text(run->name),
			sl__sql_text(run->phase),
			sl__sql_number(run->share),
			sl__sql_number(run->remaining_s)};
		const struct sl__statement add = {
			.sql = "INSERT INTO sleuth_live (machine, started_at,"
			       " beat_at, command, name, phase, share,"
			       " remaining_s)"
			       " VALUES ($1, $2, $2, $3, $4, $5, $6, $7)"
			       " RETURNING id",
			.args = args,
			.n_args = sizeof(args) / sizeof(args[0]),
			.row = take_id,
			.ctx = &run->id};

		rc = store->kind->run(store->db, &add, err);
	}
	sl__arena_release(&arena);
	return rc;
}

enum sl_status
sl_store_live_put(struct sl_store *store, struct sl_live_run *run,
		  struct sl_error *err)
{
	const struct sl__sql_value args[] = {sl__sql_whole(run->id),
					     sl__sql_number(sl__store_now_s()),
					     sl__sql_text(run->phase),
					     sl__sql_number(run->share),
					     sl__sql_number(run->remaining_s),
					     sl__sql_text(run->name)};

	if (!run->id)
		return insert(store, run, err);
	return sl__store_run(store,
			     "UPDATE sleuth_live SET beat_at = $2, phase = $3,"
			     " share = $4, remaining_s = $5, name = $6"
			     " WHERE id = $1",
			     args, sizeof(args) / sizeof(args[0]), err);
}

enum sl_status
sl_store_live_end(struct sl_store *store, uint64_t id, struct sl_error *err)
{
	const struct sl__sql_value arg = sl__sql_whole(id);

	return sl__store_run(store, "DELETE FROM sleuth_live WHERE id = $1",
			     &arg, 1, err);
}

struct reader {
	struct sl__arena *arena;
	struct sl_live_run *list;
	size_t n, cap;
};

static enum sl_status
take_run(const struct sl__sql_value *row, size_t n, void *ctx,
	 struct sl_error *err)
{
	struct reader *r = ctx;
	struct sl_live_run *run;

	(void)n;
	if (!sl__arena_grow(r->arena, &r->list, r->n, &r->cap,
			    sizeof(*r->list)))
		return sl__fail_nomem(err);
	run = &r->list[r->n++];
	*run = (struct sl_live_run){
		.id = (uint64_t)row[0].whole,
		.machine = sl__arena_string(r->arena, row[1].bytes),
		.started_at_s = row[2].number,
		.beat_at_s = row[3].number,
		.command = sl__arena_string(r->arena, row[4].bytes),
		.name = sl__arena_string(r->arena, row[5].bytes),
		.phase = sl__arena_string(r->arena, row[6].bytes),
		.share = row[7].number,
		.remaining_s = row[8].kind == SL__SQL_NULL ? (double)NAN
							   : row[8].number};
	return run->machine && run->command && run->name && run->phase
		       ? SL_OK
		       : sl__fail_nomem(err);
}

enum sl_status
sl_store_live_find(struct sl_live_runs **out, struct sl_store *store,
		   struct sl_error *err)
{
	const struct sl__sql_value since =
		sl__sql_number(sl__store_now_s() - STALE_S);
	struct reader reader = {.n = 0};
	struct sl_live_runs *runs;
	enum sl_status rc;

	*out = NULL;
	runs = sl__arena_object_new(&reader.arena, NULL, sizeof(*runs));
	if (!runs)
		return sl__fail_nomem(err);
	rc = store->kind->run(
		store->db,
		&(struct sl__statement){
			.sql = "SELECT id, machine, started_at, beat_at,"
			       " command, name, phase, share, remaining_s"
			       " FROM sleuth_live WHERE beat_at >= $1"
			       " ORDER BY id",
			.args = &since,
			.n_args = 1,
			.row = take_run,
			.ctx = &reader},
		err);
	runs->list = reader.list;
	runs->n = reader.n;
	*out = sl__arena_object_free_on_error(runs, rc);
	return rc;
}

void
sl_live_runs_free(struct sl_live_runs *runs)
{
	sl__arena_object_free(runs);
}
