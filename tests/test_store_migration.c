/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_migration.c - a store that an older version made, built from the
 * text of its tables: opening it brings it up to date and keeps what it has;
 * several processes that open it at once all can; where a step fails, the store
 * stays as it was.  The same on a server whose URL is in $SL_TEST_DB.
 */
#include "store_case.h"

#include <sys/wait.h>

/* The document that is in each of them as run:1. */
static const char old_document[] =
	"{\"schema\": 1, \"tool\": {\"name\": \"sleuth\", \"version\": "
	"\"0.0.9\"}, \"command\": \"profile\", \"kind\": \"profile\", "
	"\"model\": {\"name\": \"kept\", \"source\": \"zoo\", \"sizes\": "
	"\"batch 1\"}, \"plan\": {\"dtype\": \"f32\", \"threads\": 2}, "
	"\"latency\": {\"n\": 9, \"median_ms\": 2, \"ci95_ms\": {\"lo\": 1.5, "
	"\"hi\": 2.5}}}";

static const struct sl__database_kind *
old_kind(void)
{
	return store_is_on_server() ? &sl__postgres_database
				    : &sl__sqlite_database;
}

/* Runs SQL without the library's tables. */
static void
run_plainly(const char *sql)
{
	const struct sl__statement statement = {.sql = sql};
	struct sl__database *db;
	struct sl_error err;

	if (old_kind()->open(&db, store_path, 0, &err) ||
	    old_kind()->run(db, &statement, &err))
		fail_msg("%s: %s", sql, err.text);
	old_kind()->close(db);
}

/* Builds the store of tests/data/store/version-N.sql at store_path. */
static void
build_old_store(int version)
{
	char line[4096];
	FILE *file;

	snprintf(line, sizeof(line), "%s/store/version-%d.sql", SL_TEST_DATA,
		 version);
	file = fopen(line, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		int is_other = line[0] == (store_is_on_server() ? 'S' : 'P');
		int is_marked = line[1] == ' ';

		assert_non_null(strchr(line, '\n'));
		if (line[0] != '-' && !(is_marked && is_other))
			run_plainly(line + (is_marked ? 2 : 0));
	}
	fclose(file);
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

static int64_t
ask(const char *sql)
{
	int64_t number = -1;
	const struct sl__statement statement = {
		.sql = sql, .row = take_number, .ctx = &number};
	struct sl__database *db;
	struct sl_error err;

	if (old_kind()->open(&db, store_path, 1, &err) ||
	    old_kind()->run(db, &statement, &err))
		fail_msg("%s: %s", sql, err.text);
	old_kind()->close(db);
	return number;
}

static void
assert_kept(struct sl_store *store)
{
	struct sl_stored_runs *runs = find(store, NULL);
	const struct sl_stored_run *run = &runs->list[0];
	struct sl_buf json = {0};

	assert_int_equal(runs->n, 1);
	assert_int_equal(run->id, 1);
	assert_true(run->saved_at_s == 1000000000.5 && run->is_dirty);
	assert_string_equal(run->version, "0.0.9");
	assert_string_equal(run->machine, "0123456789abcdef");
	assert_string_equal(run->commit, "c0ffee");
	assert_string_equal(run->branch, "main");
	assert_int_equal(run->n_tags, 2);
	assert_string_equal(run->tags[1].name, "pinned");
	assert_int_equal(run->n_points, 1);
	assert_string_equal(run->points[0].settings, "batch 1, f32, 2 threads");
	assert_true(run->points[0].time_ns.value == 2e6);
	assert_int_equal(run->points[0].time_ns.n, 9);
	assert_int_equal(sl_store_get(store, 1, &json, NULL), SL_OK);
	assert_string_equal(json.data, old_document);
	sl_buf_release(&json);
	sl_stored_runs_free(runs);
}

/* All that a store can do works on tables that were brought up to date. */
static void
assert_works(struct sl_store *store)
{
	struct sl_live_run live = {.command = "c", .name = "n", .phase = "p"};
	const struct sl_parameter tag = {"new", "tag"};
	struct sl_error err;

	/* 2 was deleted before: its number is not given again. */
	assert_int_equal(put(store, document_of("new", 1), NULL), 3);
	if (sl_store_live_put(store, &live, &err) ||
	    sl_store_tag(store, 1, &tag, 0, &err))
		fail_msg("%s", err.text);
}

static void
test_brought_up(void **state)
{
	struct sl_store *store;

	(void)state;
	for (int version = 1; version < (int)sl__store_version(); version++) {
		make_store_folder(NULL);
		build_old_store(version);
		assert_int_equal(ask("SELECT version FROM sleuth_schema"),
				 version);
		store = store_at(store_path);
		assert_kept(store);
		assert_works(store);
		sl_store_close(store);
		assert_int_equal(ask("SELECT version FROM sleuth_schema"),
				 sl__store_version());
		remove_store_folder(NULL);
	}
}

/* Each is held at a pipe until all are there. */
static void
test_at_once(void **state)
{
	enum { N = 6 };
	int gate[2];
	char c;

	(void)state;
	build_old_store(1);
	assert_int_equal(pipe(gate), 0);
	for (int i = 0; i < N; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0) {
			const struct sl_store_options how = {
				.struct_size = sizeof(how),
				.where = store_path};
			struct sl_store *store;
			struct sl_error err;

			close(gate[1]);
			if (read(gate[0], &c, 1) < 0)
				_exit(2);
			if (sl_store_open(&store, &how, &err)) {
				fprintf(stderr, "%s\n", err.text);
				_exit(1);
			}
			sl_store_close(store);
			_exit(0);
		}
	}
	close(gate[0]);
	close(gate[1]);
	for (int i = 0; i < N; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(ask("SELECT version FROM sleuth_schema"),
			 sl__store_version());
	assert_int_equal(ask("SELECT COUNT(*) FROM sleuth_schema"), 1);
}

static void
assert_refused(enum sl_status status, const char *why)
{
	const struct sl_store_options how = {.struct_size = sizeof(how),
					     .where = store_path,
					     .must_exist = 1};
	struct sl_store *store;
	struct sl_error err;

	assert_int_equal(sl_store_open(&store, &how, &err), status);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
}

/* A table of the same name is in the way of the first step. */
static void
test_failing_step(void **state)
{
	struct sl_store *store;

	(void)state;
	build_old_store(1);
	run_plainly("CREATE TABLE sleuth_live (x BIGINT)");
	assert_refused(store_is_on_server() ? SL_E_IO : SL_E_BUG,
		       "bringing the store from version 1 to ");
	assert_int_equal(ask("SELECT version FROM sleuth_schema"), 1);
	assert_int_equal(ask("SELECT COUNT(*) FROM sleuth_document"), 1);
	run_plainly("DROP TABLE sleuth_live");
	store = store_at(store_path);
	assert_kept(store);
	sl_store_close(store);
}

#define CASE(test)                                               \
	cmocka_unit_test_setup_teardown(test, make_store_folder, \
					remove_store_folder)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brought_up),
		CASE(test_at_once),
		CASE(test_failing_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
